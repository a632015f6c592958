"""Store, manager and two servers on PostgreSQL, which is restarted and crashes meanwhile."""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsdash.runs.errors import StoreError
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.experiments import Store
from tests.runs.work import (
    ENDLESS,
    assert_same_rows,
    base,
    finished_experiment,
    frozen,
    over,
    until,
)
from tools.postgres import Postgres, find_programs

pytest.importorskip("psycopg", reason="`make test-services` installs it")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.services,
    pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed"),
]
_numbers = itertools.count()


@pytest.fixture(scope="module")
def postgres():
    with Postgres() as postgres:
        yield postgres


@pytest.fixture
def store(postgres):
    store = Store(postgres.new_database(f"runs{next(_numbers)}"))
    yield store
    store.close()


def rows(store, id):
    return store.experiment(id).runs[0].rows


def test_a_class_answers_at_the_same_time(store):
    tasks = store.class_tasks
    task, secret = tasks.add("choose_t", {"budget": "4"}, "Which?", ("A", "B"))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: tasks.answer(task.id, f"browser-{n % 20}", n % 2), range(60)))
    assert tasks.values(task.id, secret) == [0] * 10 + [1] * 10
    tasks.delete(task.id, secret)
    assert tasks.count(task.id) == 0


def test_an_experiment_is_stored_exported_and_imported(store):
    specs = base(replications=2), frozen()
    experiment = finished_experiment(store, *specs, name="all of it")
    again = store.experiment(store.import_(store.export(experiment.id), "you"))
    for kept in (experiment, again):
        for run, spec in zip(kept.runs, specs, strict=True):
            assert_same_rows(store.rows([run.id]), spec)
            assert store.policy_steps(run.id)
    assert {e.id for e in store.experiments(text="ALL of")} == {again.id, experiment.id}
    store.delete(again.id)
    assert store.size().experiments == 1
    assert Store(store.url).experiment(experiment.id).name == "all of it"


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_runs_continue_by_themselves_after_a_restart(store, postgres, mode):
    specs = base(iterations=500), frozen(iterations=150)
    with Manager(store, workers=2) as manager:
        id = manager.submit("me", "two", specs)
        until(lambda: all(run.rows > 5 for run in store.experiment(id).runs))
        pids = {r.pid for run in store.experiment(id).runs for r in run.replications}
        postgres.stop(mode)
        with pytest.raises(StoreError):
            store.experiment(id)
        until(lambda: manager.problem, "a report of the outage")
        postgres.start()
        returned = time.monotonic()
        before = rows(store, id)
        until(lambda: rows(store, id) > before, "new rows")
        assert time.monotonic() - returned < 10
        experiment = over(store, id)
        until(lambda: not manager.problem)
    assert experiment.status == "finished"
    assert {r.pid for run in experiment.runs for r in run.replications} == pids
    for run, spec in zip(experiment.runs, specs, strict=True):
        assert_same_rows(store.rows([run.id]), spec)


def test_two_servers_share_a_database(store):
    other = Store(store.url)
    with (
        ThreadPoolExecutor(1) as here,
        ThreadPoolExecutor(1) as there,
        Manager(store, workers=1, executor=here) as one,
        Manager(other, workers=1, executor=there) as two,
    ):
        id = two.submit("them", "theirs", [base(ENDLESS)])
        until(lambda: rows(store, id) > 2)
        assert one.queue("them").mine == 0
        one.cancel(id)
        assert over(other, id).status == "cancelled"
        for manager in (one, two):
            assert over(store, manager.submit("me", "mine", [base()])).status == "finished"
