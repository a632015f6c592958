"""The lemmas behind FSAVI's theorem as inequalities, on random models and random features.

Features have any κ ≥ 1. The errors ε_low and ε_up are the exact infima, by linear programming.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fsdash.algorithms import LinearArchitecture, fsavi, fsvi
from fsdash.core.operators import expect
from tests.algorithms.driving import take
from tests.models import seeds
from tests.operators import F
from tests.theory.lemma_models import SEARCH, SLACK, rough_model, smooth_model


def setting(kind, seed, kappa, product):
    """A model with γ = product/κ and rewards in [0, r_max], and features with the factor κ."""
    rng = np.random.default_rng(seed)
    model = kind(seed, 0.5)
    model = replace(model, reward_XYA=model.reward_XYA - model.reward_XYA.min())
    n, M = model.n_states, int(rng.integers(1, 5))
    anchors = rng.choice(n, M, replace=False)
    theta_SM = rng.normal(size=(n, M))
    theta_SM *= kappa / np.abs(theta_SM).sum(axis=1, keepdims=True)
    theta_SM[anchors] = np.eye(M)
    Phi_XYM = (theta_SM @ rng.normal(size=(M, M))).reshape(model.n_slow, model.n_fast, M)
    x, y = np.divmod(anchors, model.n_fast)
    architecture = LinearArchitecture(Phi_XYM, np.stack([x, y], axis=1))
    return replace(model, gamma=product / kappa), architecture


settings_of_fsavi = st.builds(
    setting,
    st.sampled_from([smooth_model, rough_model]),
    seeds,
    st.sampled_from([1.0, 1.2, 2.0]),
    st.sampled_from([0.3, 0.9]),
)
horizons = st.integers(1, 5)


def smallest_error(architecture, values_XY):
    """inf over ω of ‖values − Φω‖∞, to 1e-9 above."""
    Phi = architecture.Phi_XYM.reshape(-1, architecture.Phi_XYM.shape[2])
    v, one = values_XY.reshape(-1), np.ones((len(Phi), 1))
    solved = linprog(
        np.append(np.zeros(Phi.shape[1]), 1.0),
        A_ub=np.block([[Phi, -one], [-Phi, -one]]),
        b_ub=np.append(v, -v),
        bounds=[(None, None)] * (Phi.shape[1] + 1),
    )
    return solved.fun + 1e-9


def levels(model, T, architecture):
    """J_1*, …, J_{T−1}* of FSVI, Ĵ_1, …, Ĵ_{T−1} of FSAVI, and its lower policy."""
    exact = [s.values_XY for s in take(fsvi(model, T), T - 1)][::-1]
    run = take(fsavi(model, T, architecture=architecture), T)
    return exact, [s.values_XY for s in run[:-1]][::-1], run[-1].policy_PXY[1:]


def geometric(ratio, n):
    return sum(ratio**i for i in range(n))


@SEARCH
@given(settings_of_fsavi, seeds)
def test_projection_through_the_anchors(setting, seed):
    """Lemma Phi_Phi_dagger, and some vector attains it."""
    model, architecture = setting
    V_XY, W_XY = np.random.default_rng(seed).normal(size=(2, model.n_slow, model.n_fast))
    gap = np.abs(architecture.through_anchors(V_XY) - architecture.through_anchors(W_XY)).max()
    assert gap <= architecture.kappa * np.abs(V_XY - W_XY).max() + SLACK
    theta_SM = architecture.theta_XYM.reshape(model.n_states, -1)
    worst = np.abs(theta_SM).sum(axis=1).argmax()
    sign_XY = np.zeros_like(V_XY)
    sign_XY[tuple(architecture.anchors_M2.T)] = np.sign(theta_SM[worst])
    attained = np.abs(architecture.through_anchors(sign_XY)).max()
    assert attained == pytest.approx(architecture.kappa)


@SEARCH
@given(settings_of_fsavi, horizons)
def test_size_of_the_lower_values_and_of_the_upper_reward(setting, T):
    """Lemma expansion_lower."""
    model, architecture = setting
    kappa, r_max = architecture.kappa, float(model.reward_XYA.max())
    _, fitted, _ = levels(model, T, architecture)
    J1_XY = fitted[0] if fitted else np.zeros((model.n_slow, model.n_fast))
    kg = kappa * model.gamma
    assert np.abs(J1_XY).max() <= kappa * r_max * geometric(kg, T) + SLACK
    R_XYA = model.reward_XYA + model.gamma * expect(model, model.true, J1_XY)
    assert np.abs(R_XYA).max() <= kappa * r_max * geometric(kg, T + 1) + SLACK


@SEARCH
@given(settings_of_fsavi, horizons)
def test_error_of_the_lower_values(setting, T):
    """Lemma lower_w_bellman, for every t, and the sharper one of `docs/proofs.md`."""
    model, architecture = setting
    exact, fitted, _ = levels(model, T, architecture)
    eps_low = max((smallest_error(architecture, J_XY) for J_XY in exact), default=0.0)
    kg = architecture.kappa * model.gamma
    for t, (J_XY, fit_XY) in enumerate(zip(exact, fitted, strict=True), start=1):
        factor = 1 + (1 + model.gamma) / model.gamma * (geometric(kg, T - t + 1) - 1)
        sharper = (1 + architecture.kappa) * geometric(kg, T - t)
        assert sharper <= factor + SLACK
        assert np.abs(J_XY - fit_XY).max() <= sharper * eps_low + SLACK


@SEARCH
@given(settings_of_fsavi, horizons, seeds)
def test_contraction_of_the_fitted_upper_level(setting, T, seed):
    """Lemma upper_Hprime_contraction."""
    model, architecture = setting
    _, fitted, lower = levels(model, T, architecture)
    J1_XY = fitted[0] if fitted else np.zeros((model.n_slow, model.n_fast))
    M = len(architecture.anchors_M2)
    one, other = (architecture.Phi_XYM @ b for b in np.random.default_rng(seed).normal(size=(2, M)))
    mapped = [architecture.through_anchors(F(model, J1_XY, lower, V)) for V in (one, other)]
    rate = architecture.kappa * model.gamma**T
    assert np.abs(mapped[0] - mapped[1]).max() <= rate * np.abs(one - other).max() + SLACK


@pytest.mark.slow
@SEARCH
@given(settings_of_fsavi, horizons)
def test_errors_of_the_upper_values(setting, T):
    """Lemmas expansion_upper, value_iteration_avi and upper_w_bellman."""
    model, architecture = setting
    kappa, gamma, r_max = architecture.kappa, model.gamma, float(model.reward_XYA.max())
    _, fitted, lower = levels(model, T, architecture)
    run = take(fsavi(model, T, architecture=architecture), T + 250)[T - 1 :]
    run = [s.values_XY for s in run]
    fixed, rate = run[-1], kappa * gamma**T
    largest = (kappa**2 - kappa**2 * (kappa * gamma) ** (T + 1)) / (1 - rate) / (1 - kappa * gamma)
    assert np.abs(fixed).max() <= largest * r_max + SLACK
    for k, V_XY in enumerate(run[:6]):
        assert np.abs(V_XY - fixed).max() <= rate**k * largest * r_max + SLACK
    J1_XY = fitted[0] if fitted else np.zeros_like(fixed)
    V_XY = np.zeros_like(fixed)
    for _ in range(250):
        V_XY = F(model, J1_XY, lower, V_XY)
    eps_up = smallest_error(architecture, V_XY)
    assert np.abs(V_XY - fixed).max() <= (1 + kappa) / (1 - rate) * eps_up + 1e-8
