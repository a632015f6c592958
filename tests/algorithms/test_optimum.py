"""U* where certificates improve late, policies cycle, or γ is near 1; results that miss."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsdash
from fsdash.algorithms import e_vi, mpi, rolling, run_until, vi
from fsdash.algorithms import optimum as module
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman
from fsdash.errors import InputError
from fsdash.sampling import Sampling
from tests.models import exact_values, in_rows, random_model, seeds, shapes

TOLERANCE = 1e-6
NEAR_1 = [1 - 1e-4, 1 - 1e-5, 1 - 1e-6, 1 - 1e-9]


def fast_model(reward_YA, next_fast_YAW, gamma, noise_W=(1.0,)):
    """A model with one slow state."""
    return FastSlowMDP(
        np.asarray(reward_YA, float)[None],
        noise_W,
        np.zeros((1, 1, 1, 1), int),
        np.asarray(next_fast_YAW)[None],
        gamma,
    )


def river_swim(n, gamma):
    """Upstream with the current against it: 1 at the source, .005 at the mouth."""
    y, reward_YA = np.arange(n), np.zeros((n, 2))
    reward_YA[0, 0], reward_YA[-1, 1] = 0.005, 1.0
    down = np.maximum(y - 1, 0)
    up = np.stack([np.minimum(y + 1, n - 1), y, down], axis=1)
    next_fast = np.stack([np.stack([down] * 3, axis=1), up], axis=1)
    return fast_model(reward_YA, next_fast, gamma, [0.35, 0.6, 0.05])


def cliff(height, width, gamma):
    """CliffWalking: −1 a step, −100 and back to the start from the last row; the goal ends it."""
    n = height * width
    row, column = np.divmod(np.arange(n), width)
    start, goal = n - width, n - 1
    reward_YA, next_fast = np.full((n, 4), -1.0), np.empty((n, 4, 1), int)
    for a, (down, right) in enumerate([(-1, 0), (0, 1), (1, 0), (0, -1)]):
        to_row = np.clip(row + down, 0, height - 1)
        to_column = np.clip(column + right, 0, width - 1)
        falls = (to_row == height - 1) & (to_column > 0) & (to_column < width - 1)
        next_fast[:, a, 0] = np.where(falls, start, to_row * width + to_column)
        reward_YA[falls, a] = -100
    next_fast[goal], reward_YA[goal] = goal, 0
    return fast_model(reward_YA, next_fast, gamma)


def period_2(gamma):
    """Two slow states that stay, two fast states that alternate, one action."""
    return FastSlowMDP(
        [[[0.0], [1.0]], [[0.3], [0.7]]],
        [1.0],
        np.arange(2)[:, None, None, None],
        np.array([1, 0])[None, :, None, None],
        gamma,
    )


@pytest.mark.parametrize(
    "model",
    [
        river_swim(1000, 0.999),
        cliff(100, 150, 0.99),
        cliff(100, 150, 0.9999),
        cliff(4, 12, 1 - 1e-6),
    ],
    ids=["RiverSwim", "cliff .99", "cliff .9999", "CliffWalking"],
)
def test_a_certificate_that_improves_late_is_waited_for(model):
    """Its first hundreds of iterates do not improve it: the reward has a long way to travel."""
    best = optimum(model)
    assert best.error <= TOLERANCE and best.within_tolerance
    assert (bellman(model, model.true, best.U_XY)[1] == best.policy_PXY[0]).mean() > 0.9
    found = regret(model, best.policy_PXY, best=best)
    assert found.max_regret <= 2 * TOLERANCE and found.within_tolerance


def test_cliff_walking_in_closed_form():
    gamma = 1 - 1e-6
    best = optimum(cliff(4, 12, gamma))
    # 13 steps from the start: up, along the cliff, down.
    exact = -sum(Fraction(gamma) ** t for t in range(13))
    assert abs(Fraction(best.U_XY[0, 36]) - exact) <= Fraction(best.error)
    assert best.error <= 1e-8


@pytest.mark.parametrize("gamma", NEAR_1)
def test_a_policy_that_cycles_is_evaluated_to_the_tolerance_near_gamma_1(gamma):
    model, discount = period_2(gamma), Fraction(gamma)
    best, values = optimum(model), policy_values(model, np.zeros((2, 2), int))
    for found in (best, values):
        assert found.error <= TOLERANCE
        for first, second, row in zip((0.0, 0.3), (1.0, 0.7), found.U_XY, strict=True):
            exact = (Fraction(first) + discount * Fraction(second)) / (1 - discount**2)
            assert abs(Fraction(row[0]) - exact) <= Fraction(found.error)


@given(seeds, shapes, st.sampled_from(NEAR_1), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_tolerance_is_met_near_gamma_1_in_exact_arithmetic(seed, shape, gamma, rows):
    plain = random_model(seed, (2, 2, 2, 2), shape, gamma)
    # Both forms have the same probabilities, whose sums in rows may be rounded.
    plain = FastSlowMDP(plain.reward_XYA, [0.375, 0.625], plain.next_slow, plain.next_fast, gamma)
    model = in_rows(plain) if rows else plain
    best, values = optimum(model), []
    for policy_S in product((0, 1), repeat=4):
        exact = exact_values(plain, policy_S)
        found = policy_values(model, np.reshape(policy_S, (2, 2)))
        assert found.error <= TOLERANCE
        for value, truth in zip(found.U_XY.flat, exact, strict=True):
            assert abs(Fraction(value) - truth) <= Fraction(found.error)
        values.append(exact)
    assert best.error <= TOLERANCE
    for value, truth in zip(best.U_XY.flat, map(max, zip(*values, strict=True)), strict=True):
        assert abs(Fraction(value) - truth) <= Fraction(best.error)


@pytest.mark.parametrize("gamma", [1 - 1e-6, 1 - 1e-9])
def test_a_long_cycle_is_solved_directly(gamma):
    n = 1_000
    reward_Y = np.random.default_rng(0).uniform(size=n)
    model = fast_model(reward_Y[:, None], (np.arange(1, n + 1) % n)[:, None, None], gamma)
    values = policy_values(model, np.zeros((1, n), int))
    discount, total = Fraction(gamma), Fraction(0)
    for reward in reward_Y[::-1]:
        total = Fraction(reward) + discount * total
    assert abs(Fraction(values.U_XY[0, 0]) - total / (1 - discount**n)) <= Fraction(values.error)
    assert values.error <= TOLERANCE


def test_a_result_that_misses_its_tolerance_says_so(monkeypatch):
    model = river_swim(1000, 0.999)
    assert "above the tolerance" not in repr(optimum(model))
    monkeypatch.setattr(module, "MOST_ITERATIONS", 10)
    monkeypatch.setattr(module, "MAX_REFINED", 0)
    best = optimum(model)
    assert not best.within_tolerance and "above the tolerance" in repr(best)
    found = fsdash.regret(model, best.policy_PXY, best=best)
    assert not found.within_tolerance and "above the tolerance" in repr(found)


def test_run_until_waits_for_a_certificate_that_improves_late():
    model = river_swim(1000, 0.999)
    last = run_until(mpi(model), tolerance=TOLERANCE)
    assert last.error <= TOLERANCE and last.iteration > 200
    assert np.abs(last.values_XY - optimum(model).U_XY).max() <= 2 * TOLERANCE


def test_run_until_refuses_what_rounding_cannot_certify():
    model = random_model(3, gamma=0.999)
    least = run_until(vi(model), tolerance=1e-8).error
    assert 0 < least <= 1e-8
    with pytest.raises(InputError, match=r"rounding .* larger tolerance"):
        run_until(vi(model), tolerance=1e-16)


def test_run_until_refuses_a_tolerance_for_values_without_a_certificate():
    model, rng = random_model(4), np.random.default_rng(0)
    for snapshots in (e_vi(model, rng, sampling=Sampling(M=3)), rolling(model, 3)):
        with pytest.raises(InputError, match=r"does not certify .* number of iterations"):
            run_until(snapshots, tolerance=TOLERANCE)
    with pytest.raises(InputError, match="at iteration 2, and the algorithm has ended"):
        run_until(iter([s for s, _ in zip(vi(model), range(3), strict=False)]), tolerance=1e-9)
