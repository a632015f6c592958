"""The step of the reward-error proof that the paper takes on one side only (docs/proofs.md).

Term B holds D = H̃ⁿU − H̃ⁿ0 with n = T − 1. It lies between γⁿ min U and γⁿ max U over the states
(x, y) that n frozen transitions reach.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_frozen
from tests.models import random_model, seeds, shapes, transition_matrix

thorough = settings(max_examples=300, deadline=None, derandomize=True, database=None)


def term(model, n, U_XY):
    """D = H̃ⁿU − H̃ⁿ0."""
    with_XY, without_XY = U_XY, np.zeros_like(U_XY)
    for _ in range(n):
        with_XY, without_XY = H_frozen(model, with_XY), H_frozen(model, without_XY)
    return with_XY - without_XY


def ends(model, n, U_XY):
    """γⁿ times the smallest and the largest U that n frozen transitions reach from each state."""
    step_SS = transition_matrix(model, model.frozen).any(axis=1)
    reached_SS = np.eye(model.n_states, dtype=bool)
    for _ in range(n):
        reached_SS = reached_SS @ step_SS
    low = np.where(reached_SS, U_XY.ravel(), np.inf).min(axis=1)
    high = np.where(reached_SS, U_XY.ravel(), -np.inf).max(axis=1)
    return (model.gamma**n * end.reshape(U_XY.shape) for end in (low, high))


@thorough
@given(seeds, shapes, st.integers(0, 5))
def test_the_term_lies_between_the_smallest_and_the_largest_reachable_value(seed, shape, n):
    model = random_model(seed, (2, 6, 2, 2), shape)
    U_XY = np.random.default_rng(seed).normal(size=(2, 6))
    D_XY = term(model, n, U_XY)
    low_XY, high_XY = ends(model, n, U_XY)
    assert (low_XY - 1e-12 <= D_XY).all() and (high_XY + 1e-12 >= D_XY).all()


def test_the_upper_end_alone_does_not_bound_the_distance():
    # Action 0 earns 1 and leads to y = 1, where U = 0; action 1 earns 0 and leads to y = 2, where
    # U = 1. With γ = 0.9 action 0 is the better one with and without U, so H̃U − H̃0 = 0, the lower
    # end. The upper end is γ U(2) = 0.9. If y_T = 2, replacing D by the upper end gives the
    # distance 0, but it is 0.9.
    model = FastSlowMDP(
        reward_XYA=[[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]],
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.array([[1, 2], [1, 1], [2, 2]])[None, :, :, None],
        gamma=0.9,
    )
    U_XY = np.array([[0.0, 0.0, 1.0]])
    D = term(model, 1, U_XY)[0, 0]
    low_XY, high_XY = ends(model, 1, U_XY)
    true_end = 0.9 * U_XY[0, 2]
    assert (D, low_XY[0, 0], high_XY[0, 0]) == pytest.approx((0, 0, 0.9))
    assert abs(D - true_end) > abs(high_XY[0, 0] - true_end)
