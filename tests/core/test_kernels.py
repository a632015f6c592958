"""The inner loops in closed form: averages, next states, and when the sweeps of a policy end."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.core import kernels
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import follow
from tests.models import random_model, seeds


def absorbing_model(reward_XY, noisy):
    """Under action 0 every state leads to itself; action 1 leads to y = 0.

    `noisy` lets the second outcome of action 1 lead to the last y, so that the dynamics are not
    separable.
    With γ = 1/2, n sweeps from 0 make U(x, y) = 2 r(x, y) (1 − 2⁻ⁿ), and the last of them adds
    r(x, y) 2¹⁻ⁿ. Both are exact in floating point for small whole rewards.
    """
    X, Y = np.shape(reward_XY)
    next_fast_YAW = np.repeat(np.outer(np.arange(Y), [1, 0])[:, :, None], 2, axis=2)
    next_fast_YAW[:, 1, 1] = Y - 1 if noisy else 0
    return FastSlowMDP(
        reward_XYA=np.repeat(np.array(reward_XY, float)[:, :, None], 2, axis=2),
        noise_W=[0.5, 0.5],
        next_slow=np.repeat(np.arange(X)[:, None, None, None], 2, axis=3),
        next_fast=next_fast_YAW[None],
        gamma=0.5,
    )


def sweeps(model, m, goal):
    """The number of sweeps that were made, and the values after them."""
    policy_XY, U_XY = np.zeros((model.n_slow, model.n_fast), int), np.zeros(model.initial_XY.shape)
    d, reward_XY = follow(model.true, policy_XY), model.reward_XYA[:, :, 0].copy()
    n = kernels.policy_sweeps(
        reward_XY, d.next_slow, d.next_fast, d.noise_W, d.separable, model.gamma, m, goal, U_XY
    )
    return n, U_XY


# The last sweep of n changes the values by 0 in y = 0 and by 8·2¹⁻ⁿ = 2⁴⁻ⁿ in y = 1.
REWARD = [[0, 8]]


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize(
    ("m", "goal", "made"),
    [
        (100, 2.0**-6, 10),  # reached exactly, by the first sweep that is measured
        (100, np.nextafter(2.0**-6, 0), 20),
        (100, 2.0**-16, 20),
        (100, np.nextafter(2.0**-16, 0), 30),
        (100, 2.0**4, 10),  # the first sweep is good enough, but only every tenth is measured
        (10, 2.0**-6, 10),
        (15, 2.0**-16, 15),
        (9, 2.0**4, 9),
        (37, -1.0, 37),
        (1, 1.0, 1),
        (0, 1.0, 0),
    ],
)
def test_the_sweeps_end_when_a_measured_change_is_small_enough(noisy, m, goal, made):
    model = absorbing_model(REWARD, noisy)
    assert model.true.separable == (not noisy)
    n, U_XY = sweeps(model, m, goal)
    assert n == made
    np.testing.assert_array_equal(U_XY, [[0, 16 * (1 - 2.0**-made)]])


def test_a_change_of_all_values_of_a_slow_state_does_not_count():
    # In x = 1 the change is the same for both y, however large it is.
    n, U_XY = sweeps(absorbing_model([[0, 8], [512, 512]], noisy=False), 100, 2.0**-6)
    assert n == 10
    np.testing.assert_array_equal(U_XY[1], 1024 * (1 - 2.0**-10))


@pytest.mark.parametrize(
    ("before", "after", "widest"),
    [
        ([[0, 0]], [[3, 3]], 0),
        ([[0, 0, 0]], [[1, 4, 2]], 3),
        ([[0, 0, 0]], [[-1, -4, -2]], 3),
        ([[5, 1]], [[6, 0]], 2),  # δ = 1, −1
        ([[0, 0], [0, 0]], [[0, 1], [10, 10.5]], 1),  # each x for itself, the largest counts
        ([[0, 0], [0, 0]], [[10, 10.5], [0, 1]], 1),
        ([[7], [8]], [[0], [90]], 0),
    ],
)
def test_the_widest_change_of_a_slow_state(before, after, widest):
    assert kernels.widest_change(np.array(before, float), np.array(after, float)) == widest


@given(seeds, st.integers(1, 7), st.booleans())
def test_the_average_over_the_slow_state_for_any_number_of_outcomes(seed, W, depends):
    rng = np.random.default_rng(seed)
    X, Y = 3, 4
    next_slow = rng.integers(X, size=(X if depends else 1, 1, 1, W)).astype(np.uint32)
    noise_W, U_XY = rng.dirichlet(np.ones(W)), rng.normal(size=(X, Y))
    for table in (next_slow, noise_W):
        table.setflags(write=False)  # as in a model: no other version of the kernel is compiled
    out_XY = np.full((X, Y), np.nan)
    kernels.average_slow(next_slow, noise_W, U_XY, out_XY)
    expected = np.einsum("w,xwy->xy", noise_W, U_XY[next_slow[:, 0, 0]])
    np.testing.assert_allclose(out_XY, np.broadcast_to(expected, (X, Y)), atol=1e-14)


@given(seeds, st.sampled_from([("X..W", "XYA."), ("X..W", "XYAW"), ("XYAW", "XYAW")]))
def test_flat_successors_are_the_indices_of_the_next_states(seed, shape):
    model = random_model(seed, (2, 5, 3, 2), shape)
    d = follow(model.true, np.random.default_rng(seed).integers(3, size=(2, 5)))
    W = len(d.noise_W)
    next_WS = kernels.flat_successors(d.next_slow, d.next_fast, d.separable, 2, 5, W)
    slow, fast = (
        np.broadcast_to(t[:, :, 0], (2, 5, W)).astype(int) for t in (d.next_slow, d.next_fast)
    )
    if d.separable:  # `average_slow` averages over x'
        slow, fast = np.arange(2)[:, None, None], fast[:, :, :1]
    expected = np.moveaxis(slow * 5 + fast, 2, 0).reshape(-1, 10)
    np.testing.assert_array_equal(next_WS, expected)


@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="needs NUMBA_BOUNDSCHECK=1")
def test_an_index_outside_an_array_is_found():
    with pytest.raises(IndexError):
        kernels.widest_change(np.zeros((2, 3)), np.zeros((2, 2)))
