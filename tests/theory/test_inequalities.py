"""The paper's inequalities, compared with true values on the domains and small random models."""

from functools import cache
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, run_until, vi
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.operators import H_policy, bellman, expect
from fsdash.domains import make
from fsdash.theory import (
    fsvi_bound,
    reward_error,
    transition_distance,
    trivial_bound,
    value_lipschitz_bound,
    vi_bound,
)
from fsdash.theory.measured import measure
from tests.models import dense_optimum, lipschitz_model, seeds

SLACK = 1e-6


@cache
def measured(name):
    model = make(name).build()
    best = optimum(model)
    return model, best, measure(model, best.U_XY)


def solved(name):
    model, best, found = measured(name)
    return model, best, found.constants(model.gamma)


def reward_gap(model, U_XY, T):
    """max |E[R(s, a, π*)] − E[R̃(s, a, J₁*)]|, the left side of the reward-error proposition.

    R with the optimal π* (every step greedy for U*) is r + γ E[Z(s₁)], where Z is the value of T−1
    steps of ν* without a terminal value; R̃ is r + γ E[J₁*(s₁)].
    """
    nu_XY = bellman(model, model.true, U_XY)[1]
    Z_XY = np.zeros_like(U_XY)
    J1_XY = np.zeros_like(U_XY)
    for _ in range(T - 1):
        Z_XY = H_policy(model, nu_XY, Z_XY)
        J1_XY = bellman(model, model.frozen, J1_XY)[0]
    return model.gamma * np.abs(expect(model, model.true, Z_XY - J1_XY)).max()


def check_inequalities(model, U_XY, constants, T, k, best=None):
    assert reward_gap(model, U_XY, T) <= reward_error(constants, T).total + SLACK
    last = run_until(fsvi(model, T), iterations=k)
    best = optimum(model) if best is None else best
    true = regret(model, last.policy_PXY, best=best).max_regret
    bound = fsvi_bound(constants, T, k=k)
    assert true <= bound.total + SLACK
    assert true <= trivial_bound(constants) + SLACK
    assert true <= direct_bound(constants, T, k) + SLACK
    assert direct_bound(constants, T, k) <= bound.total + SLACK


def direct_bound(constants, T, k):
    """The sum of three gaps in the notes of `fsvi_bound`, for L̃ <= L_f.

    That holds here, because all coordinates are whole numbers, which makes L_f large.
    """
    q, error = constants.gamma**T, reward_error(constants, T)
    gaps = error.total + q * constants.l_u * transition_distance(constants, T)
    gaps += constants.gamma * error.freeze
    return gaps / (1 - q) + fsvi_bound(constants, T, k=k).iteration_term


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
@pytest.mark.parametrize("T, k", [(1, 3), (2, 1), (3, 20), (6, 5), (12, 40)])
def test_reward_error_and_theorem_hold_on_the_domains(name, T, k):
    model, best, constants = solved(name)
    check_inequalities(model, best.U_XY, constants, T, k, best)


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_frozen_dynamics_of_the_domains_are_no_more_sensitive_than_the_true_ones(name):
    """The condition under which the paper's theorem holds as stated."""
    found = measured(name)[2]
    assert 1 <= found.l_frozen <= found.l_f


@given(seeds, st.integers(1, 6), st.integers(0, 6), st.sampled_from([0.3, 0.8, 0.95]))
def test_reward_error_and_theorem_hold_on_random_models(seed, T, k, gamma):
    model = lipschitz_model(seed, gamma=gamma)
    U_XY = dense_optimum(model)
    check_inequalities(model, U_XY, measure(model, U_XY).constants(gamma), T, k)


@given(seeds, st.integers(2, 6))
def test_the_theorem_holds_if_the_slow_state_hardly_moves(seed, T):
    """With slow steps of 1e-4 the bound is small, and it still holds."""
    from dataclasses import replace

    from fsdash.core.model import Axis

    model = lipschitz_model(seed, sizes=(4, 4, 2, 2), gamma=0.6)
    x = np.arange(4)
    drift = np.clip(x[:, None] + [0, 1], 0, 3)[:, None, None, :]
    smooth_XYA = model.reward_XYA[:1] + 1e-4 * x[:, None, None]
    slow = Axis(("x",), x * 1e-4)
    fast_XYAW = np.broadcast_to(model.next_fast[:1], model.next_fast.shape)
    still = replace(
        model,
        reward_XYA=smooth_XYA,
        next_slow=drift,
        next_fast=fast_XYAW,
        frozen_next_fast=None,
        slow=slow,
    )
    U_XY = dense_optimum(still)
    check_inequalities(still, U_XY, measure(still, U_XY).constants(0.6), T, 30)


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_bound_of_base_vi_holds_on_the_domains(name):
    model, best, constants = solved(name)
    for snapshot in islice(vi(model), 0, 60, 15):
        true = regret(model, snapshot.policy_PXY, best=best).max_regret
        assert true <= vi_bound(constants, snapshot.iteration) + SLACK


@given(seeds, st.sampled_from([0.3, 0.8]))
def test_the_bound_on_l_u_holds(seed, gamma):
    model = lipschitz_model(seed, gamma=gamma)
    c = measure(model).constants(gamma)
    assert c.l_u <= value_lipschitz_bound(gamma, c.l_r, l_f=c.l_f) + SLACK


def test_measured_bounds_are_vacuous_on_the_domains():
    """The documentation states this fact."""
    for name in ("inventory", "gridworld", "pricing"):
        _, _, constants = solved(name)
        assert fsvi_bound(constants, 6, k=1000).total > 1e3 * trivial_bound(constants)
