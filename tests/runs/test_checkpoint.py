"""A replication that continues from a checkpoint has the rows of an undisturbed one."""

import numpy as np
import pytest

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.regression import Deep, Linear, needs_only_values
from fsdash.runs import checkpoint
from fsdash.runs.checkpoint import random_state, restored
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec

pytestmark = pytest.mark.slow  # together; see `make test-fast`

WITHOUT = {"mpi", "e-thaw"}
"""Algorithms that are computed again from their seed, as the documentation says."""
SPECS = [
    *(
        RunSpec("inventory", name, T=3 if entry.freezes else None, iterations=3, replications=2)
        for name, entry in ALGORITHMS.items()
    ),
    RunSpec("inventory", "e-fsvi", T=4, parameters={"terminal": "last"}, iterations=2),
    RunSpec("inventory", "lin-fsfvi", T=4, parameters={"terminal": "reward"}, iterations=2),
    RunSpec("inventory", "deep-fvi", parameters={"warm_start": True}, iterations=2),
    RunSpec("pricing", "lin-fsfvi", T=3, parameters={"extract": "kept"}, iterations=2),
]


class Collected:
    """Takes a checkpoint wherever it can."""

    def __init__(self, last=b""):
        self.last, self.packed = checkpoint.read(last), []

    def are_due(self):
        return True

    def keep(self, new):
        self.packed.append(new.pack())


def rows(spec, checkpoints=None):
    found = []
    outcome = execute(spec, spec.replications - 1, found.append, checkpoints=checkpoints)
    return outcome, [{k: v for k, v in r.row.items() if k != "seconds"} for r in found], found


def identifier(spec):
    return f"{spec.algorithm} {dict(spec.parameters) if spec in SPECS[-4:] else ''}"


@pytest.mark.parametrize("spec", SPECS, ids=identifier)
def test_every_checkpoint_continues_with_the_same_rows(spec):
    _, undisturbed, records = rows(spec)
    taken = Collected()
    assert rows(spec, taken)[1] == undisturbed, "taking checkpoints changes nothing"
    warm = dict(spec.parameters).get("warm_start", False)
    assert bool(taken.packed) != (spec.algorithm in WITHOUT or warm)
    for data in taken.packed:
        outcome, continued, again = rows(spec, Collected(data))
        expected = undisturbed[len(undisturbed) - len(continued) :]
        assert continued == expected and outcome.rows == len(undisturbed)
        for one, other in zip(records[len(records) - len(again) :], again, strict=True):
            assert np.array_equal(one.policy_PXY, other.policy_PXY)
            assert np.array_equal(one.values_XY, other.values_XY)
            assert other.seconds > 0


def test_checkpoints_reach_into_both_levels():
    taken = Collected()
    rows(RunSpec("inventory", "e-fsvi", T=4, iterations=2), taken)
    assert [checkpoint.read(data).resume["t"] for data in taken.packed] == [2, 1, 0, 0]


def test_a_generator_is_restored_with_its_children():
    def some(rng):
        return rng.random(3).tolist(), [child.random() for child in rng.spawn(2)]

    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(2)[1])
    some(rng)
    state = random_state(rng)
    again = restored(np.random.default_rng(np.random.SeedSequence(3).spawn(2)[1]), state)
    assert some(again) == some(rng)


def test_a_large_checkpoint_or_one_of_another_version_is_not_used(monkeypatch):
    taken = Collected()
    rows(RunSpec("inventory", "vi", iterations=2), taken)
    made = checkpoint.read(taken.packed[0])
    monkeypatch.setattr(checkpoint, "MAX_BYTES", made.size - 1)
    assert made.pack() == b"" and checkpoint.read(b"") is None
    monkeypatch.setattr(checkpoint, "__version__", "0")
    assert checkpoint.read(taken.packed[0]) is None


def test_an_unknown_regression_has_no_checkpoints():
    assert needs_only_values(Linear()) and needs_only_values(Deep())
    assert not needs_only_values(Deep(warm_start=True)) and not needs_only_values(object())
