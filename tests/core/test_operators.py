"""The operators against dense matrices, for every shape that a model can have."""

import numpy as np
import pytest
from hypothesis import given

from fsdash.core.operators import (
    H,
    H_frozen,
    H_frozen_policy,
    H_policy,
    bellman,
    expect,
    follow,
    q_values,
)
from tests.models import SHAPES, random_model, seeds, shapes, sizes, transition_matrix
from tests.operators import F, F_policy


def random_values(model, seed=1):
    return np.random.default_rng(seed).normal(size=(model.n_slow, model.n_fast))


def random_policies(model, n, seed=2):
    rng = np.random.default_rng(seed)
    return rng.integers(model.n_actions, size=(n, model.n_slow, model.n_fast))


def dense_q(model, dynamics, U_XY):
    future = transition_matrix(model, dynamics) @ U_XY.ravel()
    return model.reward_XYA + model.gamma * future.reshape(model.reward_XYA.shape)


@given(seeds, sizes, shapes)
def test_backups_equal_the_dense_sum(seed, sizes, shape):
    model = random_model(seed, sizes, shape)
    U_XY = random_values(model)
    for dynamics in (model.true, model.frozen):
        Q_XYA = dense_q(model, dynamics, U_XY)
        np.testing.assert_allclose(q_values(model, dynamics, U_XY), Q_XYA, atol=1e-12)
        HU_XY, greedy_XY = bellman(model, dynamics, U_XY)
        np.testing.assert_allclose(HU_XY, Q_XYA.max(axis=2), atol=1e-12)
        chosen = np.take_along_axis(Q_XYA, greedy_XY[:, :, None], 2)[:, :, 0]
        np.testing.assert_allclose(chosen, Q_XYA.max(axis=2), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_policy_operators_equal_the_dense_sum(shape):
    model = random_model(3, shape=shape, frozen="XYAW")
    U_XY, [policy_XY] = random_values(model), random_policies(model, 1)
    for dynamics, step in ((model.true, H_policy), (model.frozen, H_frozen_policy)):
        Q_XYA = dense_q(model, dynamics, U_XY)
        picked = np.take_along_axis(Q_XYA, policy_XY[:, :, None], 2)[:, :, 0]
        np.testing.assert_allclose(step(model, policy_XY, U_XY), picked, atol=1e-12)


def test_named_operators_use_their_dynamics():
    model = random_model(4, frozen="XYA.")
    U_XY = random_values(model)
    np.testing.assert_allclose(H(model, U_XY), dense_q(model, model.true, U_XY).max(axis=2))
    np.testing.assert_allclose(
        H_frozen(model, U_XY), dense_q(model, model.frozen, U_XY).max(axis=2)
    )


def dense_upper_q(model, J1_XY, lower, V_XY):
    """E[R̃(s₀, a, J₁) + γᵀ V(s_T(a, π))] with the T-step kernel written out."""
    P = transition_matrix(model, model.true)
    rows = np.arange(model.n_states)
    K = np.eye(model.n_states)
    for policy_XY in lower:
        K = K @ P[rows, policy_XY.ravel()]
    T = len(lower) + 1
    future = model.gamma * P @ J1_XY.ravel() + model.gamma**T * P @ (K @ V_XY.ravel())
    return model.reward_XYA + future.reshape(model.reward_XYA.shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("T", [1, 2, 5])
def test_upper_operator_equals_its_t_step_kernel(shape, T):
    model = random_model(5, shape=shape)
    J1_XY, V_XY = random_values(model, 1), random_values(model, 2)
    lower, [mu_XY] = random_policies(model, T - 1), random_policies(model, 1, seed=9)
    Q_XYA = dense_upper_q(model, J1_XY, lower, V_XY)
    np.testing.assert_allclose(F(model, J1_XY, lower, V_XY), Q_XYA.max(axis=2), atol=1e-12)
    picked = np.take_along_axis(Q_XYA, mu_XY[:, :, None], 2)[:, :, 0]
    np.testing.assert_allclose(F_policy(model, J1_XY, lower, mu_XY, V_XY), picked, atol=1e-12)


@given(seeds, shapes)
def test_contraction_and_monotonicity(seed, shape):
    model = random_model(seed, shape=shape)
    U_XY, V_XY = random_values(model, 1), random_values(model, 2)
    lower, J1_XY = random_policies(model, 2), random_values(model, 3)
    gap = np.abs(U_XY - V_XY).max()
    assert np.abs(H(model, U_XY) - H(model, V_XY)).max() <= model.gamma * gap + 1e-12
    upper_gap = np.abs(F(model, J1_XY, lower, U_XY) - F(model, J1_XY, lower, V_XY)).max()
    assert upper_gap <= model.gamma**3 * gap + 1e-12
    assert (H(model, np.maximum(U_XY, V_XY)) >= H(model, U_XY) - 1e-12).all()


def test_inputs_are_never_changed():
    model = random_model(6)
    U_XY = random_values(model)
    before = U_XY.copy()
    bellman(model, model.true, U_XY)
    F(model, U_XY, random_policies(model, 2), U_XY)
    assert np.array_equal(U_XY, before)


def test_ties_go_to_the_first_action():
    model = random_model(7, sizes=(2, 3, 1, 2))
    from dataclasses import replace

    doubled = replace(
        model,
        reward_XYA=np.repeat(model.reward_XYA, 2, axis=2),
        feasible_XYA=np.repeat(model.feasible_XYA, 2, axis=2),
        next_slow=np.repeat(model.next_slow, 2, axis=2),
        next_fast=np.repeat(model.next_fast, 2, axis=2),
        frozen_next_fast=None,
        actions=None,
    )
    assert (bellman(doubled, doubled.true, random_values(model))[1] == 0).all()


def test_following_a_policy_leaves_an_action_axis_of_one():
    model = random_model(8, shape=("X..W", "XYA."))
    [policy_XY] = random_policies(model, 1)
    followed = follow(model.true, policy_XY)
    assert followed.next_slow is model.next_slow and followed.separable
    assert followed.next_fast.shape == (3, 4, 1, 1)
    assert expect(model, followed, random_values(model)).shape == (3, 4, 1)
