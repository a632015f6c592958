"""The bounds of rolling freeze (docs/proofs.md, section 6): on models and from constants."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.algorithms import rolling, run_until
from fsdash.algorithms.optimum import optimum
from fsdash.core.certificate import certificate
from fsdash.core.evaluation import policy_values
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.core.operators import expect
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.theory import preset, rolling_bound, trivial_bound
from fsdash.theory.measured import measure
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory.parameters import COUPLINGS
from tests.models import in_rows, random_model, random_rows, seeds, shapes

SLACK = 2e-6
THREE = preset("three-regimes").constants


def true_regret(model, n, best):
    """The largest regret in each slow state of the policy with n frozen periods to go."""
    policy_PXY = run_until(rolling(model, n), iterations=n).policy_PXY
    values = policy_values(model, policy_PXY, tolerance=1e-9 * trivial(model))
    return (best.U_XY - values.U_XY).max(axis=1)


def trivial(model):
    """The largest possible regret."""
    low, high = model.reward_range
    return (high - low) / (1 - model.gamma) or 1.0


def rolling_certificate(model, n):
    """(i) and (ii) of the proof: a bound on the regret in each slow state, shape (X,).

    With J = J_{n−1}, Δ = J_n − J_{n−1} and e(x, y, a) = γ (E[J(x', y')] − E[J(x, ỹ')]),

        U* − U^π ≤ Σ_{t≥0} γᵗ Pᵗ ε + Σ_{t≥1} γᵗ Pᵗ ρ,   ε(x) = max e − min e,  ρ(x) = max Δ − min Δ

    over y and the feasible a, if the slow state is exogenous with kernel P; otherwise the ranges
    over all states, (ε + γ ρ)/(1 − γ).
    """
    J_XY, Jn_XY = np.zeros((2, model.n_slow, model.n_fast))
    for snapshot in rolling(model, n):
        J_XY, Jn_XY = Jn_XY, snapshot.values_XY
    e_XYA = model.gamma * (expect(model, model.true, J_XY) - expect(model, model.frozen, J_XY))
    bounds = certificate(model)
    axes = (1, 2) if bounds.resolvent_XX.size else (0, 1, 2)

    def spread(values_XYA):
        counted_XYA = np.broadcast_to(values_XYA, model.feasible_XYA.shape)
        high = counted_XYA.max(axes, where=model.feasible_XYA, initial=-np.inf)
        return high - counted_XYA.min(axes, where=model.feasible_XYA, initial=np.inf)

    epsilon_X, rho_X = spread(e_XYA), spread((Jn_XY - J_XY)[..., None])
    if bounds.resolvent_XX.size:
        later_X = bounds.shift_later(bounds.resolvent_XX @ (epsilon_X + rho_X))
        bound_X = epsilon_X + model.gamma * later_X
    else:
        bound_X = np.full(model.n_slow, (epsilon_X + model.gamma * rho_X) / (1 - model.gamma))
    return bound_X


def by_definition(model, n):
    """(i) and (ii) from their definitions, by sums over t and over the states one at a time."""
    J_XY = run_until(rolling(model, n - 1), iterations=n - 1).values_XY if n > 1 else 0.0
    J_XY = np.zeros((model.n_slow, model.n_fast)) + J_XY
    change_XY = run_until(rolling(model, n), iterations=n).values_XY - J_XY
    true_XYA, frozen_XYA = (expect(model, d, J_XY) for d in (model.true, model.frozen))
    e_XYA = np.broadcast_to(model.gamma * (true_XYA - frozen_XYA), model.reward_XYA.shape)
    e = [e_XYA[x][model.feasible_XYA[x]] for x in range(model.n_slow)]
    change = [change_XY[x][model.real_XY[x]] for x in range(model.n_slow)]
    spread = np.ptp(np.concatenate(e)) + model.gamma * np.ptp(np.concatenate(change))
    if not model.true.exogenous_slow:
        return np.full(model.n_slow, spread / (1 - model.gamma))
    epsilon_X, rho_X = np.array([np.ptp(v) for v in e]), np.array([np.ptp(v) for v in change])
    P_XX, total_X = np.zeros((model.n_slow, model.n_slow)), epsilon_X.copy()
    for x, w in np.ndindex(model.n_slow, len(model.noise_W)):
        P_XX[
            x,
            np.broadcast_to(model.next_slow, (model.n_slow, 1, 1, len(model.noise_W)))[x, 0, 0, w],
        ] += model.noise_W[w]
    weight_XX = np.eye(model.n_slow)
    for _ in range(500):
        weight_XX = model.gamma * weight_XX @ P_XX
        total_X += weight_XX @ (epsilon_X + rho_X)
    return total_X


@settings(max_examples=30)
@given(seeds, shapes, st.integers(1, 8), st.booleans())
def test_the_certificate_equals_its_definition(seed, shape, n, own):
    model = random_model(seed, (3, 3, 2, 2), shape, frozen="XYA." if own else None)
    np.testing.assert_allclose(
        rolling_certificate(model, n), by_definition(model, n), rtol=1e-9, atol=1e-11
    )


@settings(max_examples=40)
@given(seeds, shapes, st.integers(1, 12), st.sampled_from([0.5, 0.9]), st.booleans())
def test_no_regret_is_above_the_certificate(seed, shape, n, gamma, own):
    model = random_model(seed, (3, 4, 2, 3), shape, gamma, frozen="XYAW" if own else None)
    for form in (model, in_rows(model)):
        best = optimum(form, tolerance=1e-9)
        assert (true_regret(form, n, best) <= rolling_certificate(form, n) + SLACK).all()


@settings(max_examples=25)
@given(seeds, st.integers(1, 8), st.booleans())
def test_infeasible_actions_and_padding_do_not_count(seed, n, padded):
    model = random_rows(seed, padded=padded)
    best = optimum(model, tolerance=1e-9)
    assert (true_regret(model, n, best) <= rolling_certificate(model, n) + SLACK).all()


@settings(max_examples=60)
@given(seeds, shapes, st.integers(1, 20), st.sampled_from(COUPLINGS), st.booleans())
def test_no_regret_is_above_the_bound_from_constants(seed, shape, n, coupling, own):
    rng = np.random.default_rng(seed)
    model = random_model(seed, (2, 3, 2, 2), shape, 0.8, frozen=".YA." if own else None)
    slow = Axis(("x",), np.array([0.0, rng.choice([1e-3, 0.1, 1])]))
    smooth_XYA = model.reward_XYA[:1] + 0.1 * slow.values[:, :, None]
    model = replace(model, reward_XYA=smooth_XYA, slow=slow)
    best = optimum(model, tolerance=1e-9)
    measured = measure(model, best.U_XY, coupling=coupling)
    if not np.isfinite(measured.alpha):  # y never moves, but x does
        return
    bound = rolling_bound(measured.constants(0.8), n).total
    assert true_regret(model, n, best).max() <= bound + SLACK


def corridor(length, gamma):
    """One slow state; action 0 stays, action 1 walks on; only the last place pays, 1 a period."""
    places = np.arange(length + 1)
    reward_XYA = np.zeros((1, length + 1, 2))
    reward_XYA[:, -1] = 1.0
    return FastSlowMDP(
        reward_XYA=reward_XYA,
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.stack([places, np.minimum(places + 1, length)], axis=1)[None, :, :, None],
        gamma=gamma,
    )


@pytest.mark.parametrize(("n", "lost"), [(1, 9), (3, 7.29), (10, 3.487), (40, 0.1478)])
def test_a_corridor_attains_the_horizon_term(n, lost):
    """With n periods to go, the reward n steps away is not seen, and ties go to "stay"."""
    model = corridor(n, 0.9)
    best = optimum(model, tolerance=1e-9)
    true = true_regret(model, n, best).max()
    bound = rolling_bound(measure(model, best.U_XY).constants(0.9), n, n_slow=1)
    assert true == pytest.approx(lost, rel=2e-4)
    assert bound.total == bound.horizon_term == pytest.approx(true, rel=1e-6)
    assert rolling_certificate(model, n).max() == pytest.approx(true, rel=1e-6)


def test_the_terms_equal_their_formulas():
    c = THREE
    for n in (1, 2, 9):
        slope = c.l_r * sum((c.gamma * 1.3) ** i for i in range(n - 1))
        bound = rolling_bound(c, n, l_frozen=1.3)
        assert bound.horizon_term == pytest.approx(c.gamma**n * trivial_bound(c), rel=1e-12)
        expected = 2 * c.gamma * c.alpha * c.d_y * slope / (1 - c.gamma)
        assert bound.freeze_term == pytest.approx(expected, rel=1e-12)
        assert bound.total == bound.horizon_term + bound.freeze_term


def test_arrays_and_extreme_values():
    n = np.array([1, 2, 10**6])
    for gamma in (0.0, 0.9, 1 - 1e-12):
        for l_frozen in (1.0, 1 / 0.9, 1e100):
            total = rolling_bound(replace(THREE, gamma=gamma), n, l_frozen=l_frozen).total
            assert total.shape == (3,) and not np.isnan(total).any()
    # The first term falls, the second grows: the best n is neither the first nor the last.
    total = rolling_bound(THREE, np.arange(1, 101)).total
    assert 0 < total.argmin() < 99
    with pytest.raises(InputError, match=r"^n = 0 is out of range"):
        rolling_bound(THREE, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_bounds_hold_on_the_domains(name):
    model, constants = make(name).build(), measured_domains()[name].constants
    best = optimum(model)
    every = rolling_bound(constants, np.arange(2, 100), n_slow=model.n_slow).total
    assert every.min() > trivial_bound(constants)
    for n in (3, 12, 24):
        true = true_regret(model, n, best).max()
        assert true <= rolling_certificate(model, n).max() <= trivial_bound(constants)
        assert true <= rolling_bound(constants, n, n_slow=model.n_slow).total
