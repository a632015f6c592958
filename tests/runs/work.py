"""Small runs for the tests of store and manager, and the rows they should record."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import pandas as pd

from fsdash.runs.columns import DTYPES, NAMES, ROW_COLUMNS
from fsdash.runs.engine import execute
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.server.worker import replicate
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import Database
from fsdash.runs.store.schema import servers
from fsdash.runs.workers.executor import Workers, no_row

ENDLESS = 10_000_000
DEADLINE = 120
WITHOUT_TIME = [name for name in NAMES if name != "seconds"]


def base(iterations=3, replications=1, **changes):
    """A short run of Base E-VI."""
    return RunSpec(
        "inventory",
        "e-vi",
        parameters={"M": 5},
        iterations=iterations,
        replications=replications,
        **changes,
    )


def frozen(iterations=3, replications=1, T=3):
    """A short run of E-FSVI."""
    return RunSpec(
        "inventory",
        "e-fsvi",
        T=T,
        parameters={"M_u": 5},
        iterations=iterations,
        replications=replications,
    )


def until(condition, what="the condition"):
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + DEADLINE
    while not (value := condition()):
        assert time.monotonic() < end, f"{what}: not reached within {DEADLINE} s"
        time.sleep(0.01)
    return value


class ThreadWorkers(Workers):
    """Computes in threads of this process, which end after their tasks."""

    def __init__(self, workers=1):
        super().__init__(workers)
        self._threads = ThreadPoolExecutor(workers)

    def submit(self, fn, /, *args, on_row=no_row):
        return self._threads.submit(fn, *args)

    def __exit__(self, *_):
        self._threads.shutdown()


def worker_pids(manager):
    """The processes of all living workers of a manager, with the spare one."""
    return [slot.pid for slot in manager._executor._slots if slot.pid is not None]


def end_worker(*_arguments):
    """A task that ends its worker."""
    os._exit(3)


def stop_while_writing(url, *_arguments):
    """A task that is stopped by a signal in the middle of a transaction."""
    with Database(url).writing() as connection:
        connection.execute(servers.update().values(heartbeat=servers.c.heartbeat))
        os.kill(os.getpid(), signal.SIGSTOP)


def over(store, id):
    """Wait until an experiment is no longer active, and return it."""
    until(lambda: not store.experiment(id).active, f"the end of {id}")
    return store.experiment(id)


def expected(spec):
    """The records of all replications, computed in this process."""
    records = []
    for i in range(spec.replications):
        execute(spec, i, records.append)
    return records


@lru_cache(maxsize=8)
def expected_rows(spec):
    """The rows of all replications, computed in this process."""
    return pd.DataFrame([record.row for record in expected(spec)]).astype(DTYPES)


def stored_values(row):
    """The values of a row that are stored in the table of rows."""
    return {column.name: row[column.name] for column in ROW_COLUMNS}


def assert_same_rows(frame, spec):
    """The stored rows equal those of `execute` to the last digit, except for the time."""
    rows = expected_rows(spec)
    pd.testing.assert_frame_equal(
        frame[WITHOUT_TIME].reset_index(drop=True), rows[WITHOUT_TIME], check_exact=True
    )
    for _, seconds in frame.groupby(["run", "replication"])["seconds"]:
        assert seconds.is_monotonic_increasing


def overwrite(store):
    """Damage the file of a store while it is in use: its content and its log."""
    store.file.write_bytes(b"overwritten " * 5000)
    os.truncate(store.file.with_name(store.file.name + "-wal"), 0)


def compute(store, id):
    """Compute an experiment in this process, one replication after the other."""
    queue = WorkQueue(store.database)
    queue.open_lease()
    queue.enqueue(store.run_ids(id))
    while waiting := queue.waiting():
        attempt = queue.claim(waiting[0].next_id)
        replicate(store.url, attempt.run, attempt.replication, attempt.number)
    queue.close_lease("")


def finished_experiment(store, *specs, owner="me", name="an experiment"):
    """Store an experiment, compute it and return it."""
    id = store.add_experiment(owner, name, specs)
    compute(store, id)
    return store.experiment(id)
