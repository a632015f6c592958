"""A worker that is stopped in the middle of a transaction does not block its server or the next."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from fsdash.runs.server.manager import Manager
from fsdash.runs.store.database import LOCK_TIMEOUT
from fsdash.runs.workers.processes import is_running
from tests.runs.work import base, over, stop_while_writing, until, worker_pids


@pytest.mark.processes
def test_a_worker_that_holds_a_lock_is_replaced(store, monkeypatch):
    """The manager needs the lock for everything, also for its lease."""
    with Manager(store, workers=1) as manager:
        with monkeypatch.context() as patch:
            patch.setattr("fsdash.runs.server.manager.replicate", stop_while_writing)
            id = manager.submit("me", "locked", [base()])
            [job] = until(lambda: manager._jobs, "a worker with the task")
        pid = until(lambda: manager._executor.pid(job.future), "the worker's process")
        until(lambda: pid not in worker_pids(manager), "the end of the stopped worker")
        began = time.monotonic()
        assert over(store, id).status == "finished"
        assert time.monotonic() - began < LOCK_TIMEOUT


SERVER = """
import sys
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.experiments import Store
from tests.runs.work import worker_pids

with Manager(Store(sys.argv[1]), workers=1) as manager:
    print(worker_pids(manager)[0], flush=True)
    sys.stdin.read()
"""


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can do it")
def test_a_stopped_worker_ends_with_its_server(sqlite_store):
    command = [sys.executable, "-c", SERVER, sqlite_store.url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        pid = int(server.stdout.readline())
        until(lambda: psutil.Process(pid).nice() > os.nice(0), "a worker that has started")
        server.send_signal(signal.SIGSTOP)  # so that it cannot kill the worker itself
        os.kill(pid, signal.SIGSTOP)
        server.kill()
    until(lambda: not is_running(pid), "the end of the stopped worker")
