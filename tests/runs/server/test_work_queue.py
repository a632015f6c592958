"""Leases: whose work counts as abandoned."""

import os
import time

import pytest
from sqlalchemy import select

from fsdash.runs.server.work_queue import LEASE_SECONDS, WorkQueue
from fsdash.runs.store.schema import servers
from tests.runs.work import base


@pytest.fixture
def queue(store):
    queue = WorkQueue(store.database)
    queue.open_lease()
    return queue


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
    assert WorkQueue(store.database).interrupt_abandoned() == 0
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
    assert WorkQueue(store.database).interrupt_abandoned() == 1
    run = store.experiment(id).runs[0]
    assert run.status == "interrupted"
    assert "can be resumed" in run.reason


def test_the_lease_of_an_ended_server_is_removed_and_no_other(store, queue):
    change_lease(store, pid=2**22 + 1)
    ended = queue.server
    queue.open_lease()
    assert leases(store) == {ended, queue.server}
    assert WorkQueue(store.database).interrupt_abandoned() == 0  # it had no work
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
    assert WorkQueue(store.database).interrupt_abandoned() == 0


def test_a_lease_without_a_start_time_depends_on_the_process_only(store, queue):
    queued_experiment(store, queue)
    change_lease(store, born="")
    assert WorkQueue(store.database).interrupt_abandoned() == 0
    change_lease(store, born="", pid=2**22 + 1)
    assert WorkQueue(store.database).interrupt_abandoned() == 1


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs the Linux /proc folder")
def test_leases_of_earlier_versions_are_understood(store, queue):
    """They held field 22 of /proc/PID/stat, the start in clock ticks."""
    with open("/proc/self/stat") as file:
        ticks = file.read().rpartition(")")[2].split()[19]
    if os.sysconf("SC_CLK_TCK") != 100:
        pytest.skip("clock ticks are not hundredths of a second")
    queued_experiment(store, queue)
    change_lease(store, born=ticks)
    assert WorkQueue(store.database).interrupt_abandoned() == 0


def test_a_server_gets_its_lease_back_after_it_was_taken_for_ended(store, queue):
    change_lease(store, host="elsewhere", heartbeat=0.0)
    WorkQueue(store.database).interrupt_abandoned()
    queue.renew_lease()
    id = queued_experiment(store, queue)
    assert WorkQueue(store.database).interrupt_abandoned() == 0
    assert [q.owner for q in queue.waiting()] == ["me"]
    assert store.experiment(id).active
