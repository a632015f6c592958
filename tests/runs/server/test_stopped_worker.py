"""A worker that is stopped in the middle of a transaction does not block its server."""

import time

import pytest

from fsdash.runs.server.manager import Manager
from fsdash.runs.store.database import LOCK_TIMEOUT
from tests.runs.work import base, over, stop_while_writing, until


@pytest.mark.processes
def test_a_worker_that_holds_a_lock_is_replaced(store, monkeypatch):
    """The manager needs the lock for everything, also for its lease."""
    with Manager(store, workers=1) as manager:
        with monkeypatch.context() as patch:
            patch.setattr("fsdash.runs.server.manager.replicate", stop_while_writing)
            id = manager.submit("me", "locked", [base()])
            until(lambda: manager._jobs, "a worker with the task")
        pid = until(manager._executor.pids, "the worker's process")[0]
        until(lambda: pid not in manager._executor.pids(), "the end of the stopped worker")
        began = time.monotonic()
        assert over(store, id).status == "finished"
        assert time.monotonic() - began < LOCK_TIMEOUT
