"""The manager with real worker processes, killed workers and killed servers, on both databases."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from unittest.mock import Mock

import pytest

from fsdash.errors import InputError
from fsdash.runs.errors import QueueFull, StoreError, WorkerDied
from fsdash.runs.limits import Limits
from fsdash.runs.records import progress_of
from fsdash.runs.server.manager import Manager
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store.experiments import Store
from fsdash.runs.workers.executor import _cause_of_death
from fsdash.runs.workers.processes import is_running
from tests.databases import DATABASES, new_url
from tests.runs.work import (
    ENDLESS,
    ThreadWorkers,
    assert_same_rows,
    base,
    end_worker,
    frozen,
    over,
    until,
    worker_pids,
)

pytestmark = [pytest.mark.processes]


@pytest.fixture(scope="module", params=DATABASES)
def manager(request, tmp_path_factory):
    """One manager with two workers for all tests of this file."""
    store = Store(new_url(request.param, request, tmp_path_factory.mktemp("data")))
    with Manager(store, workers=2) as manager:
        yield manager
    assert [s for s in ("queued", "running") if store.experiments(status=s)] == []


@pytest.fixture
def store(manager):
    """The manager's store; limits are restored and work is cancelled after the test."""
    limits = manager.limits
    yield manager.store
    manager.limits = limits
    for status in ("queued", "running"):
        for experiment in manager.store.experiments(status=status):
            manager.cancel(experiment.id)
    until(lambda: manager.queue("").total_running == 0, "an idle manager")


def replications(store, id):
    return store.experiment(id).runs[0].replications


def running(store, id, rows=1):
    """Wait for some rows of the first replication, and return it."""

    def first():
        replication = replications(store, id)[0]
        assert replication.status in ("queued", "running"), replication
        return replication.rows >= rows and replication

    return until(first, f"{rows} rows of {id}")


def progress_now(store, id):
    experiment = store.experiment(id)
    rows = store.rows([run.id for run in experiment.runs]).groupby(["run", "replication"]).last()
    return progress_of(experiment, rows.to_dict("index"))


def test_workers_compute_the_same_rows_as_this_process(manager, store):
    specs = base(replications=3), frozen(replications=2)
    id = manager.submit("me", "both", specs)
    experiment = over(store, id)
    assert experiment.status == "finished"
    for run, spec in zip(experiment.runs, specs, strict=True):
        assert_same_rows(store.rows([run.id]), spec)
        assert "budget of 3 iterations" in run.reason
        assert all(r.pid not in (None, os.getpid()) for r in run.replications)
    for progress in progress_now(store, id):
        assert (progress.fraction, progress.seconds_left) == (1.0, None)
        assert progress.finished == progress.replications


def test_the_progress_of_a_running_experiment(manager, store):
    id = manager.submit("me", "long", [base(iterations=100_000, replications=3)])
    running(store, id, rows=10)
    [progress] = until(lambda: [p for p in progress_now(store, id) if p.fraction > 0])
    assert progress.status == "running" and 0 < progress.fraction < 1
    assert progress.seconds_left > 0
    queue = manager.queue("me")
    assert (queue.mine, queue.running, queue.total, queue.total_running) == (1, 2, 1, 2)


def test_cancel_ends_running_and_queued_replications(manager, store):
    id = manager.submit("me", "long", [base(ENDLESS, replications=5)])
    running(store, id)
    manager.cancel(id)
    experiment = over(store, id)
    assert {r.status for r in replications(store, id)} == {"cancelled"}
    assert experiment.runs[0].rows > 0
    assert not manager.store_error


def test_cancel_one_run_of_two(manager, store):
    id = manager.submit("me", "two", [base(ENDLESS), frozen()])
    manager.cancel(store.experiment(id).runs[0].id)
    assert [run.status for run in over(store, id).runs] == ["cancelled", "finished"]


def test_an_unresponsive_worker_is_killed(manager, store):
    """A stopped process simulates a snapshot that never ends."""
    id = manager.submit("me", "deaf", [base(ENDLESS)])
    pid = running(store, id).pid
    os.kill(pid, signal.SIGSTOP)
    manager.cancel(id)
    assert over(store, id).status == "cancelled"
    assert not is_running(pid)
    assert over(store, manager.submit("me", "next", [base(replications=2)])).status == "finished"


def test_a_resumed_run_has_the_same_numbers(manager, store):
    specs = base(iterations=1500), frozen(iterations=400)  # seconds, while a pause takes tenths
    id = manager.submit("me", "paused", specs)
    until(lambda: all(run.rows for run in store.experiment(id).runs))
    manager.pause(id)
    paused = over(store, id)
    assert [run.status for run in paused.runs] == ["paused", "paused"]
    until(lambda: manager.queue("me").running == 0)
    assert manager.resume(id) == 2
    experiment = over(store, id)
    assert experiment.status == "finished"
    for before, run, spec in zip(paused.runs, experiment.runs, specs, strict=True):
        assert 0 < before.rows < run.rows
        assert_same_rows(store.rows([run.id]), spec)
        assert store.policy_steps(run.id)[-1] == run.rows - 1


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_replication_of_a_dead_or_stopped_worker_runs_again(manager, store, signal_number):
    spec = base(iterations=400)
    id = manager.submit("me", "struck", [spec, base(replications=3)])
    pid = running(store, id, rows=5).pid
    os.kill(pid, signal_number)
    struck = time.monotonic()
    until(lambda: replications(store, id)[0].pid != pid, "another worker")
    assert time.monotonic() - struck < 5  # tenths of a second if the machine is not overloaded
    experiment = over(store, id)
    assert [run.status for run in experiment.runs] == ["finished", "finished"]
    assert_same_rows(store.rows([experiment.runs[0].id]), spec)
    assert not is_running(pid)
    until(lambda: len(worker_pids(manager)) == 3, "a new worker for the dead one")


def test_a_replication_without_progress_is_not_tried_for_ever(manager, store, monkeypatch):
    monkeypatch.setattr("fsdash.runs.server.work_queue.MAX_RETRIES", 1)
    id = manager.submit("me", "struck twice", [base(ENDLESS)])
    pid = running(store, id).pid
    with monkeypatch.context() as patch:
        patch.setattr("fsdash.runs.server.manager.replicate", end_worker)
        os.kill(pid, signal.SIGKILL)
        [run] = over(store, id).runs
    assert run.status == "interrupted" and run.rows > 0
    assert "exit code 3" in run.reason and "can be resumed" in run.reason
    assert manager.resume(id) == 1
    running(store, id, rows=run.rows + 1)


def test_workers_that_cannot_be_started_are_tried_again(manager, store, monkeypatch):
    """`fork` fails when memory or file descriptors run out."""
    id = manager.submit("me", "two", [base(ENDLESS, replications=2)])
    until(lambda: manager.queue("me").running == 2)
    with monkeypatch.context() as patch:
        no_memory = OSError(errno.ENOMEM, "Cannot allocate memory")
        patch.setattr("fsdash.runs.workers.executor._start_worker", Mock(side_effect=no_memory))
        for pid in worker_pids(manager):
            os.kill(pid, signal.SIGKILL)
        until(lambda: {r.status for r in replications(store, id)} == {"queued"})
        # A spare worker that was killed while it started is reported until it is tried again.
        until(lambda: "cannot be started (Cannot allocate memory)" in manager.problem)
        manager.pause(id)
        assert over(store, id).status == "paused"
        manager.resume(id)
    until(lambda: manager.queue("me").running == 2, "two new workers")
    until(lambda: manager.problem == "", "the spare worker")


def test_stopped_workers_are_still_found_after_a_lack_of_open_files(manager, store, monkeypatch):
    with monkeypatch.context() as patch:
        check = Mock(side_effect=OSError(errno.EMFILE, "Too many open files"))
        patch.setattr("fsdash.runs.workers.executor.is_stopped", check)
        until(lambda: check.call_count > 5)
    id = manager.submit("me", "struck", [base(ENDLESS)])
    pid = running(store, id).pid
    os.kill(pid, signal.SIGSTOP)
    until(lambda: replications(store, id)[0].pid != pid, "another worker")


def test_a_claim_is_undone_if_it_cannot_be_handed_out(tmp_path, caplog):
    store = Store(tmp_path / "runs.db")
    with ThreadWorkers() as here, Manager(store, executor=here) as manager:
        submit = manager._executor.submit
        manager._executor.submit = Mock(side_effect=RuntimeError("no scheduler"))
        id = manager.submit("me", "later", [base()])
        until(lambda: manager._executor.submit.call_count > 2)
        assert len(caplog.records) == 1  # the same error is logged once
        assert "internal error (RuntimeError: no scheduler)" in manager.problem
        manager._executor.submit = submit
        assert over(store, id).status == "finished"
        until(lambda: not manager.problem)


def test_a_claim_whose_answer_was_lost_is_queued_again(tmp_path, monkeypatch):
    """As when PostgreSQL ends after it has stored the claim: no worker knows of it."""
    monkeypatch.setattr("fsdash.runs.server.manager.LOST_INTERVAL", 0.1)
    store = Store(tmp_path / "runs.db")
    with ThreadWorkers() as here, Manager(store, executor=here) as manager:
        claim = manager._queue.claim

        def claim_and_fail(id):
            monkeypatch.setattr(manager._queue, "claim", claim)
            assert claim(id) is not None
            raise StoreError("the connection was lost")

        monkeypatch.setattr(manager._queue, "claim", claim_and_fail)
        assert over(store, manager.submit("me", "lost", [base()])).status == "finished"


def test_no_workers_are_left_behind_if_the_store_fails_at_the_start(sqlite_store, monkeypatch):
    workers = Mock()
    monkeypatch.setattr("fsdash.runs.server.manager.WorkerExecutor", workers)
    monkeypatch.setattr(WorkQueue, "open_lease", Mock(side_effect=StoreError("locked")))
    with pytest.raises(StoreError, match="locked"):
        Manager(sqlite_store, workers=1)
    workers.return_value.shutdown.assert_called_once_with(wait=False)


def test_a_worker_may_be_killed_by_a_signal_without_a_name():
    assert _cause_of_death(Mock(wait=lambda: -40)) == "was killed by signal 40"


def test_a_lost_claim_does_not_occupy_the_manager(tmp_path, monkeypatch):
    """As when the file of the store was replaced: the queue shows work that cannot be claimed."""
    store = Store(tmp_path / "runs.db")
    with ThreadWorkers() as here, Manager(store, executor=here) as manager:
        claims = []
        monkeypatch.setattr(manager._queue, "claim", lambda _: claims.append(time.monotonic()))
        manager.submit("me", "lost", [base()])
        until(lambda: len(claims) > 3)
        # The first two may follow each other at once: the check that was due, and the new work's.
        assert claims[3] - claims[1] > 1.5


def test_owners_take_turns(manager, store, monkeypatch):
    monkeypatch.setattr("fsdash.runs.server.sharing.SHORT_TURN", 1000)
    block = manager.submit("other", "block", [base(ENDLESS, replications=2)])
    until(lambda: manager.queue("other").running == 2)
    many = manager.submit("many", "hundreds", [base(replications=20)])
    one = manager.submit("one", "single", [base()])
    queue = manager.queue("one")
    assert (queue.mine, queue.total, queue.ahead) == (1, 21, 1)
    with pytest.raises(InputError, match="running or queued"):
        store.delete(many)
    manager.cancel(block)
    over(store, one)
    earlier = [r for r in replications(store, many) if r.started]
    assert sum(r.started < replications(store, one)[0].started for r in earlier) <= 2
    assert over(store, many).status == "finished"


def test_the_queue_knows_which_experiments_have_begun(manager, store):
    first = manager.submit("early", "long", [base(ENDLESS, replications=6)])
    until(lambda: manager.queue("early").running == 2)
    other = manager.submit("other", "new", [base(ENDLESS)])
    begun = {q.owner: q.begun for q in manager._queue.waiting()}
    assert begun["early"] and not begun.get("other")
    for id in (first, other):
        manager.cancel(id)


def test_a_full_queue_refuses_with_a_reason(manager, store):
    manager.limits = Limits(queued_per_owner=6, queued=8, running_per_owner=1)
    mine = manager.submit("me", "mine", [base(ENDLESS, replications=5)])
    until(lambda: manager.queue("me").running == 1)
    with pytest.raises(QueueFull, match="you have 4 queued replications, and 3 more"):
        manager.submit("me", "more", [base(replications=2), frozen()])
    assert len(store.experiments(owner="me", text="more")) == 0
    manager.submit("you", "yours", [base(ENDLESS, replications=4)])
    until(lambda: manager.queue("you").running == 1)
    with pytest.raises(QueueFull, match="this server has 7 queued replications"):
        manager.submit("third", "no room", [base(replications=2)])
    manager.pause(mine)
    over(store, mine)
    manager.limits = replace(manager.limits, queued_per_owner=4)
    with pytest.raises(
        QueueFull, match="5 queued replications at once are too many: the limit is 4"
    ):
        manager.resume(mine)
    with pytest.raises(InputError, match="queued = 0"):
        Limits(queued=0)


def test_visitors_with_one_address_share_a_limit(manager, store):
    manager.limits = Limits(queued_per_address=6, running_per_owner=1)
    for name in "abc":
        manager.submit(name, "one of many names", [base(ENDLESS, replications=2)], address="x")
    until(lambda: manager.queue("").total_running == 2)
    with pytest.raises(QueueFull, match="your network has 4 queued replications, and 3 more"):
        manager.submit("d", "another name", [base(replications=3)], address="x")
    manager.submit("e", "elsewhere", [base(replications=6)], address="y")
    manager.submit("f", "on this computer", [base(replications=6)])
    paused = manager.submit("g", "paused", [base(ENDLESS, replications=3)], address="z")
    manager.pause(paused)
    over(store, paused)
    with pytest.raises(QueueFull, match="your network has 4 queued replications, and 3 more"):
        manager.resume(paused, address="x")


def test_time_and_memory_of_a_run_are_limited(manager, store):
    manager.limits = Limits(seconds=0.01)
    slow = over(store, manager.submit("me", "slow", [base(ENDLESS, replications=4)])).runs[0]
    assert {r.status for r in slow.replications} == {"failed"}
    assert "0.01 seconds" in slow.reason
    manager.limits = Limits(megabytes=10)
    fat = over(store, manager.submit("me", "fat", [base(ENDLESS)])).runs[0]
    assert fat.status == "failed" and "10 MB" in fat.reason


def test_unusable_requests_are_refused(manager, store):
    for specs in ([], [base()] * 51):
        with pytest.raises(InputError, match="use 1 to 50"):
            manager.submit("me", "x", specs)
    for chosen in ("nothing", 10**6):
        with pytest.raises(InputError, match="is not in the store"):
            manager.cancel(chosen)
    with pytest.raises(InputError, match="workers = 1000"):
        Manager(store, workers=1000)


def test_a_variable_says_how_many_workers_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv("FSDASH_WORKERS", "3")
    store = Store(tmp_path / "runs.db")
    in_threads = lambda count, **_options: ThreadWorkers(count)  # noqa: E731
    monkeypatch.setattr("fsdash.runs.server.manager.WorkerExecutor", in_threads)
    with Manager(store) as manager:
        assert manager.workers == 3
    monkeypatch.setenv("FSDASH_WORKERS", "many")
    with pytest.raises(InputError, match="FSDASH_WORKERS = many"):
        Manager(store)


def test_a_failing_task_does_not_affect_others(manager, store):
    """Uses the executor directly."""
    executor = manager._executor
    sleeping = executor.submit(time.sleep, 600)
    assert executor.submit(os.path.join, "a", "b").result() == "a/b"
    with pytest.raises(RuntimeError, match="FileNotFoundError"):
        executor.submit(os.stat, "/nowhere/at/all").result()
    with pytest.raises(ValueError, match="cannot import"):
        executor.submit(lambda: 1)
    until(lambda: executor.pid(sleeping))
    assert executor.kill(sleeping)
    with pytest.raises(WorkerDied, match="SIGKILL"):
        sleeping.result()
    assert not executor.kill(sleeping)


def test_the_manager_reports_a_store_error_and_recovers(tmp_path, monkeypatch):
    store = Store(tmp_path / "runs.db", lock_timeout=0.05)
    with ThreadWorkers() as here, Manager(store, executor=here) as manager:
        other = sqlite3.connect(store.file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            manager.submit("me", "not now", [base()])
        other.execute("ROLLBACK")

        with monkeypatch.context() as broken:
            broken.setattr(manager._queue, "claim", Mock(side_effect=StoreError("no room")))
            id = manager.submit("me", "later", [base()])
            until(lambda: manager.store_error == "no room")
        assert over(store, id).status == "finished"
        until(lambda: manager.store_error == "")


def test_a_deleted_store_is_replaced_while_the_server_runs(tmp_path):
    store = Store(tmp_path / "runs.db")
    with Manager(store, workers=1) as manager:
        lost = manager.submit("me", "lost", [base(ENDLESS)])
        running(store, lost)
        for file in tmp_path.glob("runs.db*"):
            file.unlink()
        spec = base(iterations=20)
        id = manager.submit("me", "new", [spec])
        experiment = over(store, id)
        assert experiment.status == "finished"
        assert_same_rows(store.rows([experiment.runs[0].id]), spec)
        assert [e.id for e in Store(store.file).experiments()] == [id]
        until(lambda: manager.queue("me").total_running == 0)


SERVER = """
import sys
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.experiments import Store
from tests.runs.work import base, frozen

manager = Manager(Store(sys.argv[1]), workers=1)
for spec in frozen(iterations=300, replications=2), base():
    print(manager.submit("them", "theirs", [spec]), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def server(store):
    """Another server on the same file: its process, and its two experiments."""
    command = [sys.executable, "-c", SERVER, store.url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process, *(process.stdout.readline().strip() for _ in range(2))
        process.kill()


def test_work_of_a_killed_server_is_continued_by_another(manager, store, server):
    process, theirs, waiting = server
    manager.cancel(waiting)
    assert store.experiment(waiting).status == "cancelled"
    mine = manager.submit("me", "mine", [base(ENDLESS)])
    pid = running(store, theirs, rows=5).pid
    assert WorkQueue(store.database).recover_abandoned() == 0
    assert store.experiment(theirs).active

    process.kill()
    process.wait()
    until(lambda: not is_running(pid), "the end of the orphaned worker")
    with ThreadWorkers() as here, Manager(store, executor=here):
        [left] = store.experiment(theirs).runs
        assert left.rows >= 5
        assert over(store, theirs).status == "finished"
    running(store, mine)
    assert_same_rows(store.rows([left.id]), frozen(iterations=300, replications=2))


def test_two_servers_share_a_file_until_one_is_closed(manager, store):
    """The second server computes in a thread: any workers can be used."""
    with ThreadWorkers() as here, Manager(store, executor=here) as second:
        asked = second.submit("them", "to be cancelled by the other server", [base(ENDLESS)])
        running(store, asked)
        manager.cancel(asked)
        assert over(store, asked).status == "cancelled"
        left = second.submit("them", "running", [base(ENDLESS, replications=2)])
        running(store, left)
        second.close()
    [run] = store.experiment(left).runs
    assert {r.status for r in run.replications} == {"interrupted"}
    assert "server was stopped" in run.reason and run.rows > 0
