"""Leases: whose work counts as abandoned."""

import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from fsdash.runs.errors import Superseded
from fsdash.runs.server.work_queue import LEASE_SECONDS, MAX_RETRIES, OUTAGE_SECONDS, WorkQueue
from fsdash.runs.store.attempts import AttemptWriter, Batch
from fsdash.runs.store.schema import servers
from fsdash.runs.workers import processes
from tests.runs.work import base, expected, stored_values


def change_lease(store, **values):
    with store.database.writing() as connection:
        connection.execute(servers.update().values(**values))


def leases(store):
    """The servers that hold a lease."""
    with store.database.reading() as connection:
        return set(connection.execute(select(servers.c.id)).scalars())


def queued_experiment(store, queue):
    return store.add_experiment("me", "one", [base()], status="queued", server=queue.server)


def test_the_work_of_a_running_server_is_left_alone(store, queue):
    id = queued_experiment(store, queue)
    assert WorkQueue(store.database).recover_abandoned() == 0
    assert store.experiment(id).status == "queued"


@pytest.mark.parametrize(
    "lease",
    [
        {"pid": 2**22 + 1},
        {"born": "1"},
        {"host": "elsewhere", "heartbeat": time.time() - 2 * LEASE_SECONDS},
    ],
)
def test_the_work_of_an_ended_server_is_interrupted(store, queue, lease):
    id = queued_experiment(store, queue)
    change_lease(store, **lease)
    assert WorkQueue(store.database).recover_abandoned() == 1
    run = store.experiment(id).runs[0]
    assert run.status == "interrupted"
    assert "can be resumed" in run.reason


def test_the_lease_of_an_ended_server_is_removed_and_no_other(store, queue):
    change_lease(store, pid=2**22 + 1)
    ended = queue.server
    queue.open_lease()
    assert leases(store) == {ended, queue.server}
    assert WorkQueue(store.database).recover_abandoned() == 0  # it had no work
    assert leases(store) == {queue.server}


def test_a_server_that_closes_removes_its_own_lease(store, queue):
    other = WorkQueue(store.database)
    other.open_lease()
    id = queued_experiment(store, queue)
    queue.close_lease("closed")
    assert leases(store) == {other.server}
    assert store.experiment(id).runs[0].reason == "closed"


def test_a_server_on_another_computer_keeps_its_work_while_it_renews_its_lease(store, queue):
    queued_experiment(store, queue)
    change_lease(store, host="elsewhere", pid=2**22 + 1)
    assert WorkQueue(store.database).recover_abandoned() == 0


def test_a_lease_without_a_start_time_depends_on_the_process_only(store, queue):
    queued_experiment(store, queue)
    change_lease(store, born="")
    assert WorkQueue(store.database).recover_abandoned() == 0
    change_lease(store, born="", pid=2**22 + 1)
    assert WorkQueue(store.database).recover_abandoned() == 1


def test_a_server_takes_over_the_work_of_an_ended_one(store, queue):
    id = store.add_experiment(
        "me", "two", [base(replications=2)], status="queued", server=queue.server
    )
    attempt = queue.claim(queue.waiting()[0].next_id)
    change_lease(store, pid=2**22 + 1)
    other = WorkQueue(store.database)
    other.open_lease()
    assert other.recover_abandoned() == 2
    assert [q.queued for q in other.waiting()] == [2] and queue.waiting() == []
    assert [r.reason for r in store.experiment(id).runs[0].replications] == [
        "its server has ended; it continues automatically",
        "",
    ]
    with pytest.raises(Superseded):
        AttemptWriter(store.database, attempt).append(Batch(), 0, 1.0)


def test_retries_without_a_new_row_are_limited(store, queue):
    id = queued_experiment(store, queue)

    def attempt():
        return queue.claim(queue.waiting()[0].next_id)

    def lose(times):
        for _ in range(times):
            queue.retry(attempt(), "its worker died")

    lose(MAX_RETRIES)
    row = stored_values(expected(base())[0].row)
    writer = AttemptWriter(store.database, attempt())
    writer.append(Batch([row]), 1, 1.0)  # progress: the count starts again
    queue.retry(writer.attempt, "its worker died")
    lose(MAX_RETRIES - 1)
    assert store.experiment(id).status == "queued"
    lose(1)
    [run] = store.experiment(id).runs
    assert run.status == "interrupted"
    assert "its worker died; it was tried 6 times without a new row" in run.reason
    queue.enqueue([run.id])
    lose(1)
    assert store.experiment(id).status == "queued"


def test_work_that_was_asked_to_stop_is_not_retried(store, queue):
    id = queued_experiment(store, queue)
    attempt = queue.claim(queue.waiting()[0].next_id)
    queue.request_stop(store.run_ids(id), "paused", "by request")
    queue.retry(attempt, "its worker died")
    [run] = store.experiment(id).runs
    assert (run.status, run.reason) == ("paused", "by request")
    queue.retry(attempt, "its worker died")  # it has ended already
    assert store.experiment(id).status == "paused"


@pytest.mark.slow
def test_a_request_to_stop_is_never_lost(store, queue):
    """Also where the replication begins or gives way at the same moment."""
    for _ in range(30):
        id = queued_experiment(store, queue)
        [next_id] = [q.next_id for q in queue.waiting()]
        began = threading.Event()

        def take_turns(id=next_id, began=began):
            for _ in range(1_000):
                if (attempt := queue.claim(id)) is None:
                    return
                queue.end(attempt, "queued", "others were waiting")
                began.set()

        with ThreadPoolExecutor() as threads:
            turns = threads.submit(take_turns)
            assert began.wait(30)
            queue.request_stop(store.run_ids(id), "paused", "by request")
            turns.result()
        [run] = store.experiment(id).runs
        assert (run.status, run.reason) == ("paused", "by request")
        assert run.finished is not None


def test_a_claim_that_is_undone_keeps_the_request_to_stop(store, queue):
    id = queued_experiment(store, queue)
    attempt = queue.claim(queue.waiting()[0].next_id)
    queue.release(attempt)
    assert store.experiment(id).status == "queued"
    attempt = queue.claim(queue.waiting()[0].next_id)
    queue.request_stop(store.run_ids(id), "cancelled", "by request")
    queue.release(attempt)
    assert store.experiment(id).status == "cancelled"


def test_running_work_without_a_heartbeat_is_found(store, queue):
    queued_experiment(store, queue)
    attempt = queue.claim(queue.waiting()[0].next_id)
    assert queue.silent(5.0) == set()
    assert queue.silent(-5.0) == {attempt}


@pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
def test_the_clock_of_a_server_does_not_matter(store, queue, monkeypatch, seconds):
    queued_experiment(store, queue)
    change_lease(store, host="elsewhere")
    wrong = time.time() + seconds
    monkeypatch.setattr("time.time", lambda: wrong)
    other = WorkQueue(store.database)
    other.open_lease()
    assert other.recover_abandoned() == 0 and queue.recover_abandoned() == 0


def test_an_outage_of_the_database_does_not_end_the_leases_of_others(store, queue, monkeypatch):
    """Nobody could renew a lease meanwhile."""
    now = time.monotonic()
    monkeypatch.setattr("fsdash.runs.server.work_queue.time.monotonic", lambda: now)
    id = queued_experiment(store, queue)
    change_lease(store, host="elsewhere", heartbeat=time.time() - 2 * LEASE_SECONDS)
    other = WorkQueue(store.database)
    other.open_lease()  # a server that has just started knows nothing about the time before
    assert other.recover_abandoned() == 0
    now += 5
    other.renew_lease()
    now += OUTAGE_SECONDS + 1
    other.renew_lease()
    assert other.recover_abandoned() == 0
    now += OUTAGE_SECONDS
    other.renew_lease()
    assert other.recover_abandoned() == 1
    assert store.experiment(id).active


def test_a_container_with_the_same_host_name_is_another_computer(store, queue, monkeypatch):
    """Its process numbers mean other processes."""
    queued_experiment(store, queue)
    change_lease(store, pid=2**22 + 1)
    name = processes.computer() + " another namespace"
    monkeypatch.setattr("fsdash.runs.server.work_queue.computer", lambda: name)
    other = WorkQueue(store.database)
    other.open_lease()
    assert other.recover_abandoned() == 0
    assert socket.gethostname() in name and len(name) < 255


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs the Linux /proc folder")
def test_leases_of_earlier_versions_are_understood(store, queue):
    """They held field 22 of /proc/PID/stat, the start in clock ticks."""
    with open("/proc/self/stat") as file:
        ticks = file.read().rpartition(")")[2].split()[19]
    if os.sysconf("SC_CLK_TCK") != 100:
        pytest.skip("clock ticks are not hundredths of a second")
    queued_experiment(store, queue)
    change_lease(store, born=ticks)
    assert WorkQueue(store.database).recover_abandoned() == 0


def test_a_server_gets_its_lease_back_after_it_was_taken_for_ended(store, queue):
    change_lease(store, host="elsewhere", heartbeat=0.0)
    WorkQueue(store.database).recover_abandoned()
    queue.renew_lease()
    id = queued_experiment(store, queue)
    assert WorkQueue(store.database).recover_abandoned() == 0
    assert [q.owner for q in queue.waiting()] == ["me"]
    assert store.experiment(id).active


def test_work_of_a_server_without_a_lease_is_taken_over(store, queue):
    """It was taken for ended, queued more work, and died before it renewed its lease."""
    change_lease(store, host="elsewhere", heartbeat=0.0)
    WorkQueue(store.database).recover_abandoned()
    id = queued_experiment(store, queue)
    assert queue.recover_abandoned() == 0  # it lives, and gets its lease back
    other = WorkQueue(store.database)
    other.open_lease()
    assert other.recover_abandoned() == 1
    assert [q.owner for q in other.waiting()] == ["me"] and store.experiment(id).active


def test_a_replication_that_lost_its_worker_is_the_next_of_its_owner(store, queue):
    spec = base(replications=3)
    store.add_experiment("me", "three", [spec], status="queued", server=queue.server)
    [first] = queue.waiting()
    queue.claim(first.next_id)
    [second] = queue.waiting()
    attempt = queue.claim(second.next_id)
    assert second.next_id > first.next_id and not second.lost_worker
    queue.retry(attempt, "its worker died")
    [lost] = queue.waiting()
    assert (lost.next_id, lost.queued, lost.lost_worker) == (second.next_id, 2, True)


def test_a_replication_that_gave_way_has_no_right_to_be_first(store, queue):
    """It may have lost a worker before, and has not recorded a new row since."""
    queued_experiment(store, queue)
    [waiting] = queue.waiting()
    queue.retry(queue.claim(waiting.next_id), "its worker died")
    attempt = queue.claim(waiting.next_id)
    queue.ask_to_give_way(attempt)
    queue.end(attempt, "queued", "others were waiting")
    assert [q.lost_worker for q in queue.waiting()] == [False]
