"""Owners share the workers: long replications give way, and continue with the same numbers."""

import os
import signal
import time
from concurrent.futures import Future
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from fsdash.runs.server import sharing
from fsdash.runs.server.manager import Manager
from fsdash.runs.server.sharing import SHORT_TURN, TURN, Job, in_order, who_gives_way
from fsdash.runs.server.work_queue import OwnerQueue
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import recorder, schema
from fsdash.runs.store.attempts import Attempt
from tests.runs.work import ENDLESS, ThreadWorkers, assert_same_rows, base, frozen, over, until

pytestmark = pytest.mark.slow  # together; see `make test-fast`


def job(owner, age):
    """A replication that has run for some seconds at the time 100."""
    return Job(owner, Attempt(1, 1, 1), Future(), 100 - age)


def waiting(*owners):
    return [
        OwnerQueue(owner, n, 1, lost_worker=False, begun=True) for n, owner in enumerate(owners)
    ]


def test_an_owner_with_several_workers_gives_up_the_one_that_ran_longest():
    a, b, c = job("me", 5), job("me", 9), job("you", 9)
    assert who_gives_way(waiting("third"), [a, b, c], 100) == [b]
    assert who_gives_way(waiting("me", "you"), [a, b, c], 100) == []
    b.gives_way = True
    assert who_gives_way(waiting("third"), [a, b, c], 100) == []


def test_single_replications_take_turns():
    jobs = [job("me", TURN + 2), job("you", TURN - 1)]
    assert who_gives_way(waiting("third", "fourth"), jobs, 100) == jobs[:1]
    young = [job("me", SHORT_TURN / 2), job("me", SHORT_TURN / 2)]
    assert who_gives_way(waiting("you"), young, 100) == []


def test_two_visitors_get_two_workers_from_an_owner_of_three():
    jobs = [job("me", 5), job("me", 4), job("me", 3)]
    assert who_gives_way(waiting("a", "b"), jobs, 100) == jobs[:2]


def order(waiting, jobs, last_served, most=2):
    return [q.owner for q in in_order(waiting, jobs, last_served, most, 100)]


def test_the_owner_with_the_fewest_running_is_served_first():
    queues = waiting("me", "you", "third")
    assert order(queues, [job("me", 1)], {"you": 5.0}) == ["third", "you", "me"]
    assert order(queues, [job("me", 1)], {}, most=1) == ["you", "third"]


def test_a_new_experiment_comes_first_unless_its_owner_was_just_served():
    new = [replace(queue, begun=queue.owner == "me") for queue in waiting("me", "you", "third")]
    assert order(new, [], {"me": 10.0, "you": 70.0, "third": 80.0}) == ["you", "third", "me"]
    assert order(new, [], {"me": 10.0, "you": 99.0, "third": 80.0}) == ["third", "me", "you"]


def test_a_replication_that_lost_its_worker_is_served_first():
    lost = [replace(queue, lost_worker=queue.owner == "me") for queue in waiting("you", "me")]
    assert order(lost, [job("me", 1)], {"me": 99.0}) == ["me", "you"]


def checkpoints(store):
    with store.database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(schema.checkpoints))


def attempts(store, id):
    query = select(schema.replications.c.attempt).where(
        schema.replications.c.run.in_(store.run_ids(id))
    )
    with store.database.reading() as connection:
        return list(connection.scalars(query))


@pytest.mark.processes
def test_long_replications_make_room_for_another_visitor(store):
    specs = base(iterations=1500), frozen(iterations=500)
    with Manager(store, workers=2) as manager:
        long = manager.submit("first", "holds both workers", specs)
        until(lambda: all(run.rows > 10 for run in store.experiment(long).runs))
        short, arrived = manager.submit("second", "short", [base()]), time.monotonic()
        assert over(store, short).status == "finished"
        assert time.monotonic() - arrived < 10
        statuses = [run.status for run in store.experiment(long).runs]
        assert all(status in ("queued", "running") for status in statuses)
        assert checkpoints(store) > 0
        experiment = over(store, long)
        assert sorted(attempts(store, long)) == [1, 2]
    assert [run.status for run in experiment.runs] == ["finished"] * 2
    assert checkpoints(store) == 0
    for run, spec in zip(experiment.runs, specs, strict=True):
        assert_same_rows(store.rows([run.id]), spec)


@pytest.mark.processes
def test_a_killed_replication_continues_from_its_checkpoint(store):
    spec = frozen(iterations=1500)
    with Manager(store, workers=1) as manager:
        id = manager.submit("me", "struck", [spec])
        until(lambda: checkpoints(store), "a checkpoint")
        [before] = store.experiment(id).runs[0].replications
        os.kill(before.pid, signal.SIGKILL)
        until(lambda: attempts(store, id) == [2], "another attempt")
        experiment = over(store, id)
    assert experiment.status == "finished" and checkpoints(store) == 0
    assert_same_rows(store.rows([experiment.runs[0].id]), spec)


@pytest.fixture
def one_worker(store, monkeypatch):
    """A manager that computes in a thread of this process, with short turns."""
    monkeypatch.setattr(sharing, "TURN", 0.2)
    monkeypatch.setattr("fsdash.runs.server.manager.SHARING_INTERVAL", 0.0)
    monkeypatch.setattr(recorder, "GIVE_WAY_SECONDS", 0.1)
    with ThreadWorkers() as here, Manager(store, executor=here) as manager:
        yield manager


def test_three_visitors_take_turns_on_one_worker(one_worker, store):
    spec = base(iterations=120)
    ids = [one_worker.submit(owner, "long", [spec]) for owner in ("a", "b", "c")]
    until(lambda: all(store.experiment(id).runs[0].rows for id in ids), "rows of everyone")
    assert sum(store.experiment(id).active for id in ids) >= 2
    for id in ids:
        assert_same_rows(store.rows(store.run_ids(over(store, id).id)), spec)


def test_without_checkpoints_a_replication_gives_way_and_gets_further_each_time(one_worker, store):
    """E-Thaw is computed again from its seed."""
    spec = RunSpec("gridworld", "e-thaw", iterations=ENDLESS, replications=1)
    long = one_worker.submit("me", "long", [spec])
    until(lambda: store.experiment(long).runs[0].rows > 5)
    one_worker.submit("you", "endless", [base(ENDLESS)])
    until(lambda: attempts(store, long)[0] > 1, "the second turn")
    first_turn = store.experiment(long).runs[0].rows
    until(lambda: store.experiment(long).runs[0].rows > first_turn, "more than in the first turn")
    rows = store.rows([store.experiment(long).runs[0].id])
    assert_same_rows(rows, replace(spec, iterations=int(rows["iteration"].max())))


def test_a_cancelled_replication_has_no_checkpoint(one_worker, store, monkeypatch):
    monkeypatch.setattr(recorder, "CHECKPOINT_INTERVAL", 0.0)
    id = one_worker.submit("me", "long", [base(ENDLESS)])
    until(lambda: checkpoints(store))
    one_worker.pause(id)
    assert over(store, id).status == "paused" and checkpoints(store) == 1
    one_worker.cancel(id)
    assert over(store, id).status == "cancelled" and checkpoints(store) == 0
