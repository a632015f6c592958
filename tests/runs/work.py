"""Small runs for the tests of store and manager, and what they should have recorded."""

import time

import pandas as pd

from fsdash.runs.columns import NAMES
from fsdash.runs.engine import execute
from fsdash.runs.server.work_queue import Ledger
from fsdash.runs.server.worker import replicate
from fsdash.runs.spec import RunSpec

ENDLESS = 10_000_000
DEADLINE = 120
TIMELESS = [name for name in NAMES if name != "seconds"]


def base(iterations=3, replications=1, **changes):
    parameters = {"M": 5}
    return RunSpec(
        "inventory",
        "e-vi",
        parameters=parameters,
        iterations=iterations,
        replications=replications,
        **changes,
    )


def frozen(iterations=3, replications=1, T=3):
    parameters = {"M_u": 5}
    return RunSpec(
        "inventory",
        "e-fsvi",
        T,
        parameters=parameters,
        iterations=iterations,
        replications=replications,
    )


def until(condition, what="the condition"):
    """Wait until it holds, and return what it gave."""
    end = time.monotonic() + DEADLINE
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come true in {DEADLINE} s"
        time.sleep(0.01)
    return value


def over(store, id):
    until(lambda: not store.experiment(id).active, f"the end of {id}")
    return store.experiment(id)


def expected(spec):
    """The records of all replications, computed here and now."""
    records = []
    for i in range(spec.replications):
        execute(spec, i, records.append)
    return records


def assert_same_rows(frame, spec):
    """The rows of a run are those of `execute`, to the last digit; only time is not."""
    rows = pd.DataFrame([record.row for record in expected(spec)], columns=list(NAMES))
    pd.testing.assert_frame_equal(
        frame[TIMELESS].reset_index(drop=True),
        rows[TIMELESS].astype({"T": "Int64"}),
        check_exact=True,
        check_dtype=False,
    )
    for _, seconds in frame.groupby(["run", "replication"])["seconds"]:
        assert seconds.is_monotonic_increasing


def compute(store, id):
    """Do all the work of an experiment in this process, one replication after the other."""
    ledger = Ledger(store.database)
    ledger.open_lease()
    ledger.enqueue([run.id for run in store.experiment(id).runs])
    while waiting := ledger.waiting():
        attempt = ledger.claim(waiting[0].id)
        replicate(store.database.url, attempt.run, attempt.replication, attempt.number)
    ledger.close_lease("")


def kept(store, *specs, owner="me", name="an experiment"):
    """A finished experiment."""
    id = store.add_experiment(owner, name, specs)
    compute(store, id)
    return store.experiment(id)
