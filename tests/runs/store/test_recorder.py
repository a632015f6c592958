"""A recorder continues a replication from its checkpoint."""

import pytest

from fsdash.runs import checkpoint
from fsdash.runs.engine import execute
from fsdash.runs.store import recorder as module
from fsdash.runs.store.attempts import AttemptWriter
from fsdash.runs.store.recorder import Recorder
from tests.runs.work import assert_same_rows, base


class Stopped(Exception):
    """As if the worker was killed."""


@pytest.fixture
def begin(store, queue):
    """Begin another attempt at the only run of the store."""
    id = store.add_experiment("me", "one", [base(iterations=40)])

    def begin():
        queue.enqueue(store.run_ids(id))
        writer = AttemptWriter(store.database, queue.claim(queue.waiting()[0].next_id))
        return writer, writer.begin(pid=1)

    return begin


def compute(writer, start, until=None):
    """Compute until some row; return the steps that the engine has recorded."""
    steps = []
    with Recorder(writer, start) as recorder:

        def on_record(record):
            steps.append(record.step)
            recorder.record(record)
            if record.step == until:
                raise Stopped

        outcome = execute(base(iterations=40), 0, on_record, checkpoints=recorder)
        recorder.end(outcome.status, outcome.reason)
    return steps


def test_only_the_rows_after_the_checkpoint_are_computed_again(store, begin, monkeypatch):
    monkeypatch.setattr(module, "CHECKPOINT_INTERVAL", 0.0)
    writer, start = begin()
    assert start.checkpoint is None
    with pytest.raises(Stopped):
        compute(writer, start, until=20)
    writer.end("interrupted", "killed")
    writer, start = begin()
    assert 0 < start.checkpoint.rows <= start.rows == 21
    steps = compute(writer, start)
    assert steps[0] == start.checkpoint.rows and len(steps) < 120
    assert_same_rows(store.rows(store.run_ids(store.experiments()[0].id)), base(iterations=40))


@pytest.mark.parametrize("change", ["damaged", "another version", "too large"])
def test_without_a_usable_checkpoint_it_starts_from_the_seed(store, begin, monkeypatch, change):
    monkeypatch.setattr(module, "CHECKPOINT_INTERVAL", 0.0)
    if change == "too large":
        monkeypatch.setattr(checkpoint, "MAX_BYTES", 100)
    writer, start = begin()
    with pytest.raises(Stopped):
        compute(writer, start, until=20)
    writer.end("interrupted", "killed")
    if change == "another version":
        monkeypatch.setattr(checkpoint, "__version__", "0")
    writer, start = begin()
    assert (start.checkpoint is None) == (change == "too large")
    if change == "damaged":
        object.__setattr__(start.checkpoint, "content", b"damaged")
    assert compute(writer, start)[0] == 0
    assert_same_rows(store.rows(store.run_ids(store.experiments()[0].id)), base(iterations=40))
