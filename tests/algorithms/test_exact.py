"""The exact algorithms against each other, their definitions and plain dynamic programming."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, mpi, run_until, vi
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.evaluation import policy_values
from fsdash.core.operators import H, H_frozen, H_policy, bellman
from fsdash.domains import make
from fsdash.errors import InputError
from tests.algorithms.driving import take
from tests.models import SHAPES, dense_optimum, random_model, seeds, shapes, sizes
from tests.operators import F, F_policy


@given(seeds, sizes, shapes)
def test_vi_is_repeated_application_of_H(seed, sizes, shape):
    model = random_model(seed, sizes, shape)
    U_XY = np.zeros((model.n_slow, model.n_fast))
    for k, snapshot in enumerate(take(vi(model), 4)):
        np.testing.assert_allclose(snapshot.values_XY, U_XY, atol=1e-12)
        assert snapshot.iteration == k
        assert snapshot.backups == k * model.n_states * model.n_actions
        assert np.array_equal(snapshot.policy_PXY[0], bellman(model, model.true, U_XY)[1])
        U_XY = H(model, U_XY)


@given(seeds, shapes)
def test_fsvi_with_one_period_is_vi(seed, shape):
    model = random_model(seed, shape=shape)
    for ours, base in zip(take(fsvi(model, 1), 6), take(vi(model), 6), strict=True):
        assert np.array_equal(ours.values_XY, base.values_XY)
        assert np.array_equal(ours.policy_PXY, base.policy_PXY)
        assert (ours.iteration, ours.backups) == (base.iteration, base.backups)


@given(seeds, sizes, shapes, st.integers(2, 5))
def test_fsvi_follows_algorithm_2(seed, sizes, shape, T):
    model = random_model(seed, sizes, shape, frozen="XYAW")
    *lower, first, second = take(fsvi(model, T), T + 1)
    assert [s.phase for s in lower] == ["lower"] * (T - 1)
    J_XY, policies = np.zeros((model.n_slow, model.n_fast)), []
    for n, snapshot in enumerate(lower, start=1):
        policies.insert(0, bellman(model, model.frozen, J_XY)[1])
        J_XY = H_frozen(model, J_XY)
        np.testing.assert_allclose(snapshot.values_XY, J_XY, atol=1e-12)
        assert np.array_equal(snapshot.policy_PXY, policies)
        assert snapshot.backups == n * model.n_states * model.n_actions
    assert (first.phase, first.iteration, first.policy_PXY.shape[0]) == ("upper", 0, T)
    assert np.array_equal(first.policy_PXY[1:], policies)
    np.testing.assert_allclose(second.values_XY, F(model, J_XY, policies, first.values_XY))
    upper = model.n_states * (model.n_actions + T - 1)
    assert second.backups - first.backups == upper


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_fsvi_reaches_the_fixed_point_it_certifies(shape):
    model = random_model(5, shape=shape, gamma=0.95)
    last = run_until(fsvi(model, 4), tolerance=1e-8)
    lower = last.policy_PXY[1:]
    J1_XY = [s for s in take(fsvi(model, 4), 3)][-1].values_XY
    V_XY = last.values_XY
    for _ in range(400):
        V_XY = F(model, J1_XY, lower, V_XY)
    assert np.abs(last.values_XY - V_XY).max() <= last.error <= 1e-8
    # μ is greedy for V: its own upper-level step attains the maximum.
    mu_step = F_policy(model, J1_XY, lower, last.policy_PXY[0], last.values_XY)
    np.testing.assert_allclose(mu_step, F(model, J1_XY, lower, last.values_XY), atol=1e-12)


def test_a_zero_terminal_value_changes_nothing():
    model = make("inventory").build()
    zero_XY = np.zeros((model.n_slow, model.n_fast))
    plain = run_until(fsvi(model, 6), iterations=5)
    explicit = run_until(fsvi(model, 6, terminal_XY=zero_XY), iterations=5)
    np.testing.assert_allclose(explicit.values_XY, plain.values_XY)
    assert np.array_equal(explicit.policy_PXY, plain.policy_PXY)
    # The extra policy evaluation is counted: T − 1 frozen sweeps of a policy.
    assert explicit.backups - plain.backups == 5 * model.n_states


def test_a_terminal_value_affects_the_policy_but_not_J1():
    """If only y moves and J_T = U*, the lower policy is optimal, and so is FSVI."""
    model = random_model(6, sizes=(3, 5, 3, 1), shape=("X...", "XYA."), gamma=0.95)
    from dataclasses import replace

    still = replace(model, next_slow=np.arange(3)[:, None, None, None])
    best = optimum(still, tolerance=1e-10)
    last = run_until(fsvi(still, 4, terminal_XY=best.U_XY), tolerance=1e-9)
    assert regret(still, last.policy_PXY, best=best).max_regret <= 1e-6
    # V is the value of the periodic policy itself, so J₁ did not contain U*.
    values = policy_values(still, last.policy_PXY, tolerance=1e-9).U_XY
    np.testing.assert_allclose(last.values_XY, values, atol=1e-6)


@pytest.mark.slow
@given(seeds, sizes, shapes, st.sampled_from([0, 1, 5, 60]), st.sampled_from([0.0, 0.1]))
def test_mpi_certifies_the_optimum(seed, sizes, shape, m, enough):
    model = random_model(seed, sizes, shape, gamma=0.9)
    exact = dense_optimum(model)
    for snapshot in take(mpi(model, m=m, enough=enough), 30):
        assert np.abs(snapshot.values_XY - exact).max() <= snapshot.error + 1e-9
        if snapshot.error < 1e-8:
            break
    last = run_until(mpi(model, m=m, enough=enough), tolerance=1e-7)
    assert np.abs(last.values_XY - exact).max() <= 1e-7 + 1e-9


def test_mpi_counts_the_sweeps_it_makes():
    model = random_model(7)
    zeroth, first, second = take(mpi(model, m=25, enough=0.0), 3)
    assert (zeroth.backups, zeroth.iteration) == (0, 0)
    assert first.backups == model.n_states * (model.n_actions + 25)
    assert second.backups == 2 * first.backups


@pytest.mark.parametrize("T", [1, 2, 3, 6])
def test_proposition_1_the_hierarchical_reformulation_has_the_same_optimum(T):
    """(i) U* solves the T-period Bellman equation; (ii) (ν*, …, ν*) attains it."""
    model = random_model(8, gamma=0.9)
    exact = dense_optimum(model)
    # max over (μ, π) of E[R + γᵀ Ū*] is T steps of H, since every step maximises.
    reformulated = exact
    for _ in range(T):
        reformulated = H(model, reformulated)
    np.testing.assert_allclose(reformulated, exact, atol=1e-10)
    nu_XY = bellman(model, model.true, exact)[1]
    repeated = policy_values(model, np.array([nu_XY] * T), tolerance=1e-9)
    np.testing.assert_allclose(repeated.U_XY, exact, atol=1e-8)
    # No T-periodic policy is better.
    rng = np.random.default_rng(0)
    for _ in range(20):
        policy_PXY = rng.integers(model.n_actions, size=(T, model.n_slow, model.n_fast))
        values = policy_values(model, policy_PXY)
        assert (values.U_XY - exact).max() <= 1e-6


EDGES = {
    "one slow state": {"sizes": (1, 4, 2, 3)},
    "one fast state": {"sizes": (4, 1, 2, 3)},
    "one action": {"sizes": (3, 4, 1, 3)},
    "no noise": {"sizes": (3, 4, 2, 1)},
    "one of each": {"sizes": (1, 1, 1, 1)},
    "gamma 0": {"gamma": 0.0},
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("T", [1, 2, 3])
def test_edge_cases_of_the_model_sizes(edge, T):
    model = random_model(9, **EDGES[edge])
    best = optimum(model)
    last = run_until(fsvi(model, T), tolerance=1e-7)
    result = regret(model, last.policy_PXY, best=best)
    assert last.policy_PXY.shape == (T, model.n_slow, model.n_fast)
    assert 0 <= result.mean_regret <= result.max_regret + 1e-12
    if edge in ("one action", "one of each", "gamma 0"):
        assert result.max_regret <= 1e-5


def test_freezing_is_exact_if_the_slow_state_never_moves():
    """α = 0: the lower level is exact over T − 1 periods, so V* is the policy's value."""
    model = random_model(10, sizes=(3, 5, 2, 2), gamma=0.9)
    from dataclasses import replace

    still = replace(model, next_slow=np.arange(3)[:, None, None, None], frozen_next_fast=None)
    last = run_until(fsvi(still, 5), tolerance=1e-9)
    values = policy_values(still, last.policy_PXY, tolerance=1e-9)
    np.testing.assert_allclose(last.values_XY, values.U_XY, atol=1e-7)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m: next(fsvi(m, 0)), "T = 0"),
        (lambda m: next(fsvi(m, 2.5)), "T = 2.5"),
        (lambda m: run_until(fsvi(m, 2, V0_XY=np.zeros((9, 9))), iterations=0), "V0_XY: shape"),
        (lambda m: next(fsvi(m, 2, terminal_XY=np.zeros(3))), "terminal_XY: shape"),
        (lambda m: next(vi(m, U0_XY=np.zeros((4, 3)))), "U0_XY: shape"),
        (lambda m: H(m, np.zeros((2, 2))), "U_XY: shape"),
        (lambda m: H_policy(m, np.full((3, 4), 7), np.zeros((3, 4))), "= 7 is not an action"),
        (lambda m: run_until(vi(m), iterations=2.5), "iterations = 2.5"),
        (lambda m: next(fsvi(m, 10**8)), "T ≤ 8,333,333"),
        (lambda m: next(mpi(m, m=-1)), "m = -1"),
        (lambda m: run_until(vi(m)), "either"),
        (lambda m: run_until(vi(m), iterations=1, tolerance=1), "either"),
        (lambda m: run_until(vi(m), iterations=-1), "iterations = -1"),
        (lambda m: run_until(vi(m), tolerance=0.0), "tolerance = 0"),
        (lambda m: run_until(vi(m), tolerance=float("nan")), "tolerance = nan"),
    ],
)
def test_errors_name_the_bad_argument(call, words):
    with pytest.raises(InputError, match=words):
        call(random_model(11))


def test_a_snapshot_does_not_change_while_the_algorithm_continues():
    model = random_model(12)
    for algorithm in (vi(model), mpi(model), fsvi(model, 3)):
        first = next(algorithm)
        values, policy = first.values_XY.copy(), first.policy_PXY.copy()
        take(algorithm, 5)
        assert np.array_equal(first.values_XY, values)
        assert np.array_equal(first.policy_PXY, policy)
