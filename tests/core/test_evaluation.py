"""Exact values against linear algebra, closed forms and their certificates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.certificate import Certificate, attainable, slow_kernel
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import dense_optimum, dense_policy_values, random_model, seeds, shapes, sizes

gammas = st.sampled_from([0.0, 0.5, 0.9, 0.99])


@given(seeds, sizes, shapes, gammas, st.integers(1, 4))
def test_policy_values_equal_linear_algebra(seed, sizes, shape, gamma, phases):
    model = random_model(seed, sizes, shape, gamma)
    rng = np.random.default_rng(seed)
    policy_PXY = rng.integers(model.n_actions, size=(phases, model.n_slow, model.n_fast))
    values = policy_values(model, policy_PXY, tolerance=1e-9)
    exact = dense_policy_values(model, policy_PXY)
    assert values.error <= 1e-9
    assert np.abs(values.U_XY - exact).max() <= values.error + 1e-11


@pytest.mark.parametrize("slow", ["X.AW", "X.A."])
def test_a_periodic_policy_may_move_the_slow_state_of_a_single_fast_state(slow):
    model = random_model(0, (5, 1, 3, 2), (slow, "...."), 0.9)
    policy_PXY = np.random.default_rng(0).integers(3, size=(3, 5, 1))
    values = policy_values(model, policy_PXY, tolerance=1e-9)
    assert np.abs(values.U_XY - dense_policy_values(model, policy_PXY)).max() <= values.error


@given(seeds, sizes, shapes, gammas)
def test_optimum_equals_policy_iteration(seed, sizes, shape, gamma):
    model = random_model(seed, sizes, shape, gamma)
    best = optimum(model, tolerance=1e-9)
    exact = dense_optimum(model)
    assert np.abs(best.U_XY - exact).max() <= best.error + 1e-11 <= 1.1e-9
    assert regret(model, best.policy_PXY, best=best).max_regret <= 1e-6


@given(seeds, sizes, shapes)
def test_the_certificate_holds_for_any_values(seed, sizes, shape):
    model = random_model(seed, sizes, shape)
    exact = dense_optimum(model)
    U_XY = np.random.default_rng(seed).normal(scale=10, size=exact.shape)
    delta_XY = H(model, U_XY) - U_XY
    shift_X1, error = Certificate(model).shift(delta_XY)
    assert np.abs(U_XY + shift_X1 - exact).max() <= error + 1e-9
    # Never wider than the classical bounds with one constant for all states.
    assert error <= np.ptp(delta_XY) / (1 - model.gamma) / 2 + 1e-9


def test_errors_that_depend_on_the_slow_state_alone_vanish_in_one_step():
    model = random_model(1, shape=("X..W", "XYAW"))
    exact = dense_optimum(model)
    U_XY = exact + np.array([[5.0], [-3.0], [40.0]])
    shift_X1, error = Certificate(model).shift(H(model, U_XY) - U_XY)
    assert error < 1e-10
    np.testing.assert_allclose(U_XY + shift_X1, exact, atol=1e-10)


def test_slow_kernel_rows_are_distributions():
    for shape in (("X..W", "XYA."), ("X...", "XYA.")):
        P_XX = slow_kernel(random_model(2, shape=shape))
        np.testing.assert_allclose(P_XX.sum(axis=1), 1)


def test_two_state_chain_in_closed_form():
    # One fast state. In slow state 0 reward 1, in slow state 1 reward 0; it flips with q.
    q, gamma = 0.3, 0.9
    model = FastSlowMDP(
        reward_XYA=[[[1.0]], [[0.0]]],
        noise_W=[1 - q, q],
        next_slow=np.array([[0, 1], [1, 0]])[:, None, None, :],
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=gamma,
    )
    # The sum of both values is 1/(1 − γ), their difference 1/(1 − γ(1 − 2q)).
    total, difference = 1 / (1 - gamma), 1 / (1 - gamma * (1 - 2 * q))
    expected = [(total + difference) / 2, (total - difference) / 2]
    assert optimum(model).U_XY[:, 0] == pytest.approx(expected)
    assert model.mean(optimum(model).U_XY) == pytest.approx(total / 2)


def test_regret_of_a_known_mistake():
    # Two actions that only differ in reward: always taking the worse one loses 1/(1 − γ).
    model = FastSlowMDP(
        reward_XYA=[[[1.0, 0.0]]],
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.95,
    )
    result = regret(model, np.ones((1, 1), int))
    assert result.max_regret == pytest.approx(20)
    assert result.mean_regret == pytest.approx(20)
    assert (result.mean_value, result.optimal_mean_value) == pytest.approx((0, 20))
    # Alternating: worse first, better second.
    alternating = regret(model, np.array([[[1]], [[0]]]))
    assert alternating.mean_value == pytest.approx(0.95 / (1 - 0.95**2))


def test_a_constant_reward_shift_changes_no_regret():
    from dataclasses import replace

    model = make("inventory").build()
    shifted = replace(model, reward_XYA=model.reward_XYA + 220)
    policy_XY = np.zeros((model.n_slow, model.n_fast), int)
    a, b = regret(model, policy_XY), regret(shifted, policy_XY)
    assert b.max_regret == pytest.approx(a.max_regret, abs=1e-5)
    assert b.mean_value == pytest.approx(a.mean_value + 220 / (1 - model.gamma))


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_certified_optimum_of_each_domain_is_a_fixed_point(name):
    model = make(name).build()
    best = optimum(model, tolerance=1e-6)
    assert best.error <= 1e-6
    # ‖U − U*‖ ≤ e implies ‖H U − U‖ ≤ (1 + γ) e.
    residual = np.abs(H(model, best.U_XY) - best.U_XY).max()
    assert residual <= (1 + model.gamma) * best.error + 1e-9
    warm = policy_values(model, best.policy_PXY, start_XY=best.U_XY)
    assert np.abs(warm.U_XY - best.U_XY).max() <= 1e-4


def test_a_tolerance_below_rounding_is_raised_to_what_can_be_certified():
    model = random_model(3, gamma=0.999999)
    goal = attainable(model, 1e-15)
    assert 1e-15 < goal < 1e-1
    assert optimum(model, tolerance=1e-15).error <= goal
    assert attainable(model, 0.5) == 0.5


def test_start_values_may_be_integers():
    model = random_model(3)
    policy_XY = np.zeros((3, 4), int)
    warm = policy_values(model, policy_XY, start_XY=np.ones((3, 4), int))
    np.testing.assert_allclose(warm.U_XY, dense_policy_values(model, policy_XY[None]), atol=1e-5)


def test_errors_name_what_is_wrong_with_a_policy():
    model = random_model(4)
    with pytest.raises(InputError, match=r"shape \(1, 4, 3\) is not"):
        policy_values(model, np.zeros((4, 3), int))
    with pytest.raises(InputError, match="one or more phases"):
        policy_values(model, np.zeros((0, 3, 4), int))
    with pytest.raises(InputError, match="float64; give integers"):
        policy_values(model, np.zeros((3, 4)))
    with pytest.raises(InputError, match="tolerance = nan"):
        policy_values(model, np.zeros((3, 4), int), tolerance=float("nan"))
    bad = np.zeros((2, 3, 4), int)
    bad[1, 2, 3] = 2
    with pytest.raises(InputError, match=r"policy\[1, 2, 3\] = 2 is not an action"):
        policy_values(model, bad)
