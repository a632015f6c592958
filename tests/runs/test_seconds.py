"""Seconds: the algorithm's own time, and budgets in seconds, on a clock that the test moves."""

import time
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from fsdash.algorithms.registry import ALGORITHMS, Algorithm
from fsdash.algorithms.snapshot import Snapshot
from fsdash.runs import engine
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec

SMALL = {"y_max": 4, "d_max": 2, "order_max": 5}
STEP, EVALUATION = 2.0, 5.0
"""Seconds that the algorithm below needs for a snapshot, and an evaluation for a policy."""


def run(**budget):
    recorded = []
    spec = RunSpec("inventory", "e-vi", domain_parameters=SMALL, replications=1, **budget)
    outcome = execute(spec, 0, recorded.append)
    return [record.row["seconds"] for record in recorded], outcome


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still except for STEP per snapshot and EVALUATION per new policy."""
    now = SimpleNamespace(seconds=1000.0)

    def snapshots(model, rng, U0_XY):
        for k in count():
            now.seconds += STEP
            policy_PXY = np.full((1, model.n_slow, model.n_fast), k % 2, np.int32)
            yield Snapshot("base", k, k, policy_PXY, U0_XY, np.nan, k, "stationary")

    exact = engine.policy_values

    def policy_values(*arguments, **options):
        now.seconds += EVALUATION
        return exact(*arguments, **options)

    monkeypatch.setattr(engine, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    monkeypatch.setattr(engine, "policy_values", policy_values)
    method = Algorithm("e-vi", "test", "", snapshots, initial="U0_XY")
    monkeypatch.setitem(ALGORITHMS, "e-vi", method)
    return now


def test_seconds_are_those_of_the_algorithm_without_evaluation(clock):
    seconds, outcome = run(iterations=4)
    assert seconds == [2, 4, 6, 8, 10]
    assert (outcome.algorithm_seconds, outcome.evaluation_seconds) == (10, 25)
    assert clock.seconds == 1000 + 10 + 25


@pytest.mark.parametrize(
    ("budget", "last"), [(1.0, 2), (2.0, 2), (2.1, 4), (5.9, 6), (6.0, 6), (6.1, 8)]
)
def test_a_run_ends_with_the_first_policy_after_its_budget_of_seconds(clock, budget, last):
    seconds, outcome = run(seconds=budget)
    assert seconds == list(range(2, last + 1, 2))
    assert outcome.status == "finished"
    assert outcome.reason == f"the budget of {budget:,} seconds is spent"
    assert outcome.algorithm_seconds == last


def test_a_budget_of_seconds_is_spent_on_the_real_clock():
    run(iterations=1)  # loads the kernels
    started = time.perf_counter()
    seconds, outcome = run(seconds=0.02)
    elapsed = time.perf_counter() - started
    assert all(0 < before < 0.02 for before in seconds[:-1])
    assert 0.02 <= seconds[-1] == outcome.algorithm_seconds
    assert seconds == sorted(seconds)
    assert outcome.algorithm_seconds + outcome.evaluation_seconds <= elapsed
