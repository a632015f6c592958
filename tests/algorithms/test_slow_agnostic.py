"""Slow-agnostic E-VI: by hand, and against VI on the model averaged over the slow state."""

import numpy as np
import pytest

from fsdash.algorithms import vi
from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.sampling import Sampling
from tests.algorithms.driving import at, reach, seed, take
from tests.models import SHAPES, random_model


def two_slow_states():
    """Two slow states that never move. In fast state 0 one can stay or leave for fast state 1.

    r(x, 0, stay) = 4x, r(·, 0, leave) = 1, r(·, 1, ·) = 2; γ = 1/2. Seen without x, staying is
    worth 2 on average; with x it pays only when x = 1.
    """
    stay, leave = 0, 1
    reward_XYA = np.zeros((2, 2, 2))
    reward_XYA[:, 0, stay], reward_XYA[:, 0, leave], reward_XYA[:, 1, :] = [0, 4], 1, 2
    return FastSlowMDP(
        reward_XYA,
        np.ones(1),
        np.arange(2)[:, None, None, None],
        np.array([[stay, leave], [1, 1]])[None, :, :, None],
        gamma=0.5,
    )


def test_slow_agnostic_matches_a_calculation_by_hand():
    model, k, M = two_slow_states(), 40, 100_000
    last = at(slow_agnostic(model, seed(13), sampling=Sampling(M=M, ties="first")), k)
    # U(1) = 2/(1 − γ) = 4 exactly, and U(0) = max(2/(1 − γ), 1 + γ·4) = 4, from noisy rewards of
    # standard deviation 2; errors of one sweep add up to 1/(1 − γ) of it.
    assert last.values_XY[:, 1] == pytest.approx(4, abs=1e-9)
    assert last.values_XY[:, 0] == pytest.approx(4, abs=6 * 2 / np.sqrt(M) * 2)
    # The same action in both slow states, although staying is optimal in only one of them.
    assert (last.policy_PXY == 0).all()
    best = optimum(model)
    assert best.policy_PXY[0].tolist() == [[1, 0], [0, 0]]
    gap_XY = best.U_XY - policy_values(model, last.policy_PXY).U_XY
    np.testing.assert_allclose(gap_XY, [[3, 0], [0, 0]], atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_slow_agnostic_approaches_vi_on_the_averaged_model(shape):
    """Drawing x uniformly is like a model with one slow state and noise (x, w)."""
    model, k, M = random_model(14, shape=shape), 3, 20_000
    X, Y, A = model.reward_XYA.shape
    W = len(model.noise_W)
    next_fast = np.broadcast_to(model.next_fast, (X, Y, A, W))
    mixed = FastSlowMDP(
        model.reward_XYA.mean(axis=0)[None],
        np.tile(model.noise_W / X, X),
        np.zeros((1, 1, 1, 1), int),
        np.moveaxis(next_fast, 0, 2).reshape(1, Y, A, X * W),
        gamma=model.gamma,
    )
    exact = at(vi(mixed), k).values_XY[0]
    sampled = at(slow_agnostic(model, seed(15), sampling=Sampling(M=M)), k).values_XY
    sigma = (np.ptp(model.reward_XYA) + model.gamma * np.ptp(exact)) / 2
    assert (sampled == sampled[0]).all()
    bound = 6 * sigma / np.sqrt(M) * reach(model, k, model.gamma)
    assert np.abs(sampled[0] - exact).max() <= bound


def test_slow_agnostic_with_one_slow_state_and_no_noise_is_vi():
    model = random_model(16, sizes=(1, 5, 3, 1))
    ours = take(slow_agnostic(model, seed(17), sampling=Sampling(snapshots_per_sweep=1)), 6)
    for a, b in zip(ours, take(vi(model), 6), strict=True):
        assert np.array_equal(a.values_XY, b.values_XY)
        assert np.array_equal(a.policy_PXY, b.policy_PXY)
