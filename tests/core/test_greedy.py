"""The steps for large models give the results of the plain ones, and modified policy iteration
certifies errors that are never below the true ones."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.algorithms import mpi, run_until
from fsdash.algorithms.optimum import optimum
from fsdash.core import greedy
from fsdash.core.greedy import GreedySteps, OwnRows, greedy_steps
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from tests.models import in_rows, random_model, random_rows, seeds

KINDS = ("feasible", "padded", "exogenous", "one slow state")


def model_of(kind, seed):
    """A random model in row form."""
    if kind == "exogenous":
        return exogenous_rows(seed)
    if kind == "one slow state":
        return random_rows(seed, sizes=(1, 12, 4))
    return random_rows(seed, padded=kind == "padded")


def exogenous_rows(seed, sizes=(3, 5, 4)):
    """x' has a kernel of its own; y' is random in every pair; some actions are infeasible."""
    rng = np.random.default_rng(seed)
    X, Y, A = sizes
    x, y, a, new = np.indices((X, Y, A, X)).reshape(4, -1)
    feasible_XYA = rng.random(sizes) < 0.7
    feasible_XYA[..., 0] = True
    P_XX = rng.dirichlet(np.ones(X), size=X)
    kept = feasible_XYA[x, y, a]
    target = new * Y + rng.integers(Y, size=new.size)
    return FastSlowMDP(
        reward_XYA=np.where(feasible_XYA, rng.normal(size=sizes), -np.inf),
        rows=Rows.from_entries(
            sizes, ((x * Y + y) * A + a)[kept], target[kept], P_XX[x, new][kept]
        ),
        gamma=0.9,
    )


def with_ties(model):
    """The same model with rewards of which many are equal."""
    return replace(model, reward_XYA=np.round(model.reward_XYA))


@settings(max_examples=60, deadline=None)
@given(
    seeds,
    st.sampled_from(KINDS),
    st.booleans(),
    st.sampled_from([-1.0, 0.2, 1.0]),
    st.sampled_from([0.0, 1.0, 1e9]),
)
def test_own_rows_take_the_same_steps_as_any_model(seed, kind, ties, few, jump):
    """Bit for bit, whether all rows are read (few = −1) or only the needed ones (few = 1).

    Values converge, and now and then they jump: nothing may rely on small changes.
    """
    model = model_of(kind, seed)
    model = with_ties(model) if ties else model
    plain, own = GreedySteps(model), OwnRows(model, model.rows)
    own.few = few
    rng = np.random.default_rng(seed)
    U_XY = np.zeros(model.real_XY.shape)
    for step in range(12):
        (HU_XY, greedy_XY), (ours_XY, our_greedy_XY) = plain.greedy(U_XY), own.greedy(U_XY)
        assert np.array_equal(HU_XY, ours_XY) and np.array_equal(greedy_XY, our_greedy_XY)
        goal = rng.random() * 0.1
        assert own.sweeps(ours_XY, 12, goal) == plain.sweeps(HU_XY, 12, goal)
        assert np.array_equal(ours_XY, HU_XY)
        U_XY = ours_XY + jump * rng.normal(size=ours_XY.shape) if step % 4 == 0 else ours_XY


@pytest.mark.slow
def test_few_rows_are_read_once_the_values_have_converged():
    """Rows that are not needed may hold anything: they are not read."""
    model = exogenous_rows(1, sizes=(3, 40, 6))
    U_XY = optimum(model, tolerance=1e-9).U_XY
    steps = OwnRows(model, model.rows)
    steps.few = 1.0
    expected = steps.greedy(U_XY)
    needed_R = np.unique(np.take_along_axis(model.rows.row_XYA, expected[1][..., None], axis=2))
    spoilt_N = model.rows.probability_N.copy()
    others_R = np.setdiff1d(np.arange(model.rows.n_rows), needed_R)
    for row in others_R:
        spoilt_N[model.rows.start_R[row] : model.rows.start_R[row + 1]] = np.nan
    steps.law = (*steps.law[:4], spoilt_N)
    for ours, theirs in zip(steps.greedy(U_XY + 1e-9), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    assert len(others_R) > len(needed_R)


def test_the_form_of_the_steps_follows_from_the_model(monkeypatch):
    table, rows = random_model(0), random_rows(0)
    assert type(greedy_steps(table)) is type(greedy_steps(rows)) is GreedySteps
    monkeypatch.setattr(greedy, "LARGE", 1)
    assert type(greedy_steps(table)) is GreedySteps
    assert type(greedy_steps(rows)) is OwnRows
    # All pairs of a fast state share a row, so expectations are computed once for all of them.
    shared = in_rows(random_model(0, sizes=(2, 3, 8, 2), shape=("X..W", "...W")))
    assert type(greedy_steps(shared)) is GreedySteps


@settings(max_examples=60, deadline=None)
@given(seeds, st.sampled_from((*KINDS, "tables")), st.booleans(), st.sampled_from([0, 3, 400]))
def test_certified_errors_of_mpi_are_never_below_the_true_errors(seed, kind, large, m):
    model = random_model(seed) if kind == "tables" else model_of(kind, seed)
    best = optimum(model, tolerance=1e-9)
    rng = np.random.default_rng(seed)
    U0_XY = 10 * rng.normal(size=model.real_XY.shape)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(greedy, "LARGE", 1)
        for snapshot in islice(mpi(model, m=m, U0_XY=U0_XY), 8):
            true_XY = np.abs(snapshot.values_XY - best.U_XY)
            assert true_XY[model.real_XY].max() <= snapshot.error + best.error
        last = run_until(mpi(model, m=m), tolerance=1e-6)
    assert np.abs(last.values_XY - best.U_XY)[model.real_XY].max() <= 1e-6 + best.error
    assert last.error <= 1e-6
