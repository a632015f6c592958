"""The lemmas behind the proofs, each as an inequality on random models, and models that attain it.

Their names are the paper's labels. Constants come from plain loops over all pairs of states, not
from `fsdash.theory`.
"""

from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, run_until, vi
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H, H_frozen, H_policy, bellman, expect, q_values
from tests.algorithms.driving import take
from tests.models import dense_optimum, dense_policy_values, seeds
from tests.theory.lemma_models import (
    SEARCH,
    SLACK,
    chain,
    coordinates,
    distances,
    frozen_slope,
    largest_steps,
    models,
    next_states,
    pair_coordinates,
    reward_slope,
    slope,
    tables,
    transition_slope,
    value_slope,
)


def powers(operator, model, V_XY, t):
    for _ in range(t):
        V_XY = operator(model, V_XY)
    return V_XY


# ------------------------------------------------------------------------- drift of x_t and y_t


def walk(model, policies, noise):
    """Where every state is after these policies and outcomes, as flattened states."""
    slow, fast = tables(model)
    x, y = np.divmod(np.arange(model.n_states), model.n_fast)
    for policy_XY, w in zip(policies, noise, strict=True):
        a = policy_XY[x, y]
        x, y = slow[x, y, a, w], fast[x, y, a, w]
    return x, y


@SEARCH
@given(models, seeds, st.integers(0, 6))
def test_drift_of_x_and_y(model, seed, t):
    """Lemma xt_yt: the same policy from two states, each with its own noise."""
    rng = np.random.default_rng(seed)
    policies = rng.integers(model.n_actions, size=(t, model.n_slow, model.n_fast))
    noise, other_noise = rng.integers(len(model.noise_W), size=(2, t))
    (x, y), (other_x, other_y) = walk(model, policies, noise), walk(model, policies, other_noise)
    x0, y0 = np.divmod(np.arange(model.n_states), model.n_fast)
    slow_step, fast_step = largest_steps(model)
    at_x, at_y = model.slow.values, model.fast.values
    apart_x, apart_y = distances(at_x[x0]), distances(at_y[y0])
    assert (distances(at_x[x], at_x[x0]) <= t * slow_step + apart_x + SLACK).all()
    assert (distances(at_x[x], at_x[other_x]) <= 2 * t * slow_step + apart_x + SLACK).all()
    assert (distances(at_y[y], at_y[other_y]) <= 2 * t * fast_step + apart_y + SLACK).all()


@pytest.mark.parametrize("axis", ["slow", "fast"])
def test_the_drift_is_attained_if_the_noise_pushes_in_opposite_directions(axis):
    n, t = 11, 5
    move = np.clip(np.arange(n)[:, None] + np.array([-1, 1]), 0, n - 1)
    still = np.zeros((1, 1, 1, 1), int)
    shape = (n, 1) if axis == "slow" else (1, n)
    model = FastSlowMDP(
        np.zeros((*shape, 1)),
        [0.5, 0.5],
        move[:, None, None] if axis == "slow" else still,
        still if axis == "slow" else move[None, :, None],
        gamma=0.9,
    )
    policies = np.zeros((t, *shape), int)
    down, up = (walk(model, policies, [w] * t)[axis == "fast"][5] for w in (0, 1))
    step = largest_steps(model)[axis == "fast"]
    assert (abs(up - 5), abs(up - down), step) == (t, 2 * t, 1)


# --------------------------------------------------------------------------- operators H and H̃


@SEARCH
@given(models, seeds, st.integers(0, 5))
def test_contraction_of_the_frozen_operator_on_reachable_fast_states(model, seed, t):
    """Lemma HV_HV': only fast states that can be reached in t frozen steps matter."""
    V_XY, W_XY = np.random.default_rng(seed).normal(size=(2, model.n_slow, model.n_fast))
    _, fast = tables(model)
    x = np.arange(model.n_slow)[:, None, None, None]
    reachable_XY = np.abs(V_XY - W_XY)
    for _ in range(t):
        reachable_XY = reachable_XY[x, fast].max(axis=(2, 3))
    gap_XY = np.abs(powers(H_frozen, model, V_XY, t) - powers(H_frozen, model, W_XY, t))
    assert (gap_XY <= model.gamma**t * reachable_XY + SLACK).all()


def discrepancy_coefficients(gamma, L_r, L_f, L_V, t):
    """φ_{t,1} and φ_{t,2} of Lemma HV_H'V."""
    first = L_r * sum((gamma * L_f) ** i for i in range(t)) + L_V * (gamma * L_f) ** t
    second = L_r * sum(gamma**i * sum(L_f**j for j in range(i)) for i in range(1, t))
    return first, second + L_V * gamma**t * sum(L_f**j for j in range(t))


@SEARCH
@given(models, seeds, st.integers(1, 5), st.sampled_from([0.0, 0.1, 1.0]))
def test_discrepancy_between_H_and_the_frozen_operator(model, seed, t, size):
    """Lemma HV_H'V, for all pairs of states."""
    V_XY = size * np.random.default_rng(seed).normal(size=(model.n_slow, model.n_fast))
    first, second = discrepancy_coefficients(
        model.gamma, reward_slope(model), transition_slope(model), value_slope(model, V_XY), t
    )
    true, frozen = (powers(operator, model, V_XY, t).reshape(-1) for operator in (H, H_frozen))
    gap = np.abs(true[:, None] - frozen[None])
    bound = first * distances(coordinates(model)) + second * largest_steps(model)[0]
    assert (gap <= bound * (1 + 1e-12) + SLACK).all()


@pytest.mark.parametrize("t", [1, 2, 5])
@pytest.mark.parametrize("L_V", [0.0, 3.0])
def test_the_discrepancy_is_attained_on_a_chain_that_drifts(t, L_V):
    """r = 2x, x moves by one: α d_Y = L_f = 1, and every inequality of the proof is an equality."""
    model = chain(20, reward=2.0, step=1)
    V_XY = L_V * np.arange(20.0)[:, None]
    first, second = discrepancy_coefficients(0.9, 2.0, 1.0, L_V, t)
    assert (transition_slope(model), reward_slope(model), largest_steps(model)[0]) == (1, 2, 1)
    gap = powers(H, model, V_XY, t)[7, 0] - powers(H_frozen, model, V_XY, t)[4, 0]
    assert gap == pytest.approx(3 * first + second)


# ------------------------------------------------------------------------------------ two models


def perturbed(model, rng, size):
    """The model with other rewards and some other transitions, on the same noise."""
    slow, fast = tables(model)
    change = rng.random(slow.shape) < size
    return replace(
        model,
        reward_XYA=model.reward_XYA + size * rng.uniform(-1, 1, model.reward_XYA.shape),
        next_slow=np.where(change, rng.integers(model.n_slow, size=slow.shape), slow),
        next_fast=np.where(change, rng.integers(model.n_fast, size=fast.shape), fast),
        frozen_next_fast=None,
    )


def apart(one, other):
    """ε_r and d: the largest differences of the rewards and of the successors."""
    moved = np.linalg.norm(next_states(one) - next_states(other), axis=-1)
    return float(np.abs(one.reward_XYA - other.reward_XYA).max()), float(moved.max())


sizes = st.sampled_from([0.0, 0.01, 0.1, 0.5])


@SEARCH
@given(models, seeds, sizes)
def test_distance_of_optimal_values(model, seed, size):
    """Lemma U_V."""
    other = perturbed(model, np.random.default_rng(seed), size)
    eps_r, d = apart(model, other)
    U_XY, V_XY = dense_optimum(model), dense_optimum(other)
    bound = (eps_r + model.gamma * value_slope(model, U_XY) * d) / (1 - model.gamma)
    assert np.abs(U_XY - V_XY).max() <= bound + SLACK


def test_the_distance_of_optimal_values_is_attained():
    model = chain(4, reward=1.0, step=1)
    shifted = replace(model, reward_XYA=model.reward_XYA + 0.25)
    gap = np.abs(dense_optimum(shifted) - dense_optimum(model)).max()
    assert gap == pytest.approx(0.25 / (1 - 0.9))
    # Only the transitions differ: state 0 of the second model stays where the first goes on to 1.
    still = replace(model, next_slow=np.array([0, 2, 3, 3])[:, None, None, None])
    U_XY = dense_optimum(model)
    bound = 0.9 * value_slope(model, U_XY) * apart(model, still)[1] / (1 - 0.9)
    assert 0.1 * bound <= np.abs(U_XY - dense_optimum(still)).max() <= bound


@SEARCH
@given(models, seeds, sizes, sizes, sizes)
def test_loss_of_a_policy_from_a_wrong_model(model, seed, size, size_tilde, noise):
    """Lemma loss_bound: π̃₂ is greedy for r̃₂, f̃₂ and Ũ₂, and is played in the first model."""
    rng = np.random.default_rng(seed)
    second = perturbed(model, rng, size)
    tilde = perturbed(second, rng, size_tilde)
    U1_XY, U2_XY = dense_optimum(model), dense_optimum(second)
    tilde_XY = U2_XY + noise * rng.uniform(-1, 1, U2_XY.shape)
    policy_XY = bellman(tilde, tilde.true, tilde_XY)[1]
    (eps_r, d), (eps_r_tilde, d_tilde) = apart(model, second), apart(second, tilde)
    eps_U = np.abs(U1_XY - U2_XY).max() + np.abs(U2_XY - tilde_XY).max()
    gamma, L_1 = model.gamma, value_slope(model, U1_XY)
    bound = 2 * (eps_r + eps_r_tilde) + 2 * gamma * eps_U + 2 * gamma * L_1 * (d + d_tilde)
    loss = np.abs(U1_XY - dense_policy_values(model, policy_XY[None])).max()
    assert loss <= bound / (1 - gamma) + SLACK


def trap(gamma, eps):
    """State 0: stay for −2γε, or move to state 1 for nothing; state 1 stays for nothing.

    With U = (ε, −ε) both actions look alike, and the first is to stay.
    """
    model = FastSlowMDP(
        np.array([[[-2 * gamma * eps, 0.0], [0.0, 0.0]]]),
        [1.0],
        np.zeros((1, 1, 1, 1), int),
        np.array([[[0, 1], [1, 1]]])[..., None],
        gamma=gamma,
    )
    return model, np.array([[eps, -eps]])


@pytest.mark.parametrize("gamma", [0.5, 0.75])
def test_the_loss_of_a_greedy_policy_is_attained(gamma):
    """Lemmas loss_bound and Ugreedy_Uopt, with an error in the values only."""
    model, U_XY = trap(gamma, eps=0.25)
    policy_XY = bellman(model, model.true, U_XY)[1]
    loss = -dense_policy_values(model, policy_XY[None]).min()
    assert np.abs(dense_optimum(model)).max() == 0
    assert loss == pytest.approx(2 * gamma * 0.25 / (1 - gamma))


@SEARCH
@given(models, seeds, st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_loss_of_a_greedy_policy(model, seed, size):
    """Lemma Ugreedy_Uopt (with the γ that the paper leaves out before the expectation)."""
    U_XY = dense_optimum(model)
    near_XY = U_XY + size * np.random.default_rng(seed).uniform(-1, 1, U_XY.shape)
    policy_XY = bellman(model, model.true, near_XY)[1]
    eps = np.abs(near_XY - U_XY).max()
    loss = np.abs(dense_policy_values(model, policy_XY[None]) - U_XY).max()
    assert loss <= 2 * model.gamma * eps / (1 - model.gamma) + SLACK


# -------------------------------------------------------------------------------- value iteration


def non_negative(model):
    return replace(model, reward_XYA=model.reward_XYA - model.reward_XYA.min())


@SEARCH
@given(models, seeds, st.integers(0, 8))
def test_error_of_value_iteration(model, seed, k):
    """Lemma Uk_Uopt, from any initial value in [0, r_max/(1 − γ)]."""
    model = non_negative(model)
    top = float(model.reward_XYA.max()) / (1 - model.gamma)
    U0_XY = top * np.random.default_rng(seed).random((model.n_slow, model.n_fast))
    snapshot = next(islice(vi(model, U0_XY=U0_XY), k, None))
    gap = np.abs(snapshot.values_XY - dense_optimum(model)).max()
    assert gap <= model.gamma**k * top + SLACK


def test_the_error_of_value_iteration_is_attained_by_a_constant_reward():
    model = replace(chain(3, reward=0.0, step=0), reward_XYA=np.full((3, 1, 1), 2.0))
    for snapshot in islice(vi(model), 5):
        gap = np.abs(snapshot.values_XY - 20).max()
        assert gap == pytest.approx(0.9**snapshot.iteration * 2 / (1 - 0.9))


@SEARCH
@given(models, st.integers(1, 5), st.integers(0, 5))
def test_error_of_the_upper_level_of_fsvi(model, T, k):
    """Lemma K2."""
    model = non_negative(model)
    limit = run_until(fsvi(model, T), tolerance=1e-10).values_XY
    V_XY = run_until(fsvi(model, T), iterations=k).values_XY
    bound = model.gamma ** (k * T) * float(model.reward_XYA.max()) / (1 - model.gamma)
    assert np.abs(V_XY - limit).max() <= bound + 1e-8


# ----------------------------------------------------------------------------- the general lemma


@pytest.mark.slow
@SEARCH
@given(models, st.integers(1, 4), st.integers(0, 3))
def test_the_general_lemma_for_the_policy_that_its_proof_treats(model, T, k):
    """Lemma main bounds the regret of (μ, π*); for (μ, π̃) see `docs/proofs.md`."""
    model = non_negative(model)
    U_XY = dense_optimum(model)
    nu_XY = bellman(model, model.true, U_XY)[1]
    snapshots = take(fsvi(model, T), T + k)
    lower = snapshots[T - 1].policy_PXY[1:]
    J1_XY = snapshots[T - 2].values_XY if T > 1 else np.zeros_like(U_XY)
    # E[R(s, a, π*)] − E[R̃(s, a, J₁)]: r cancels.
    Z_XY = np.zeros_like(U_XY)
    for _ in range(T - 1):
        Z_XY = q_values(model, model.true, Z_XY)[
            np.arange(model.n_slow)[:, None], np.arange(model.n_fast), nu_XY
        ]
    eps_r = model.gamma * np.abs(expect(model, model.true, Z_XY - J1_XY)).max()
    slow_step, fast_step = largest_steps(model)
    d = 2 * (slow_step + fast_step) * (T - 1)
    limit = run_until(fsvi(model, T), tolerance=1e-10).values_XY
    value_error = np.abs(snapshots[-1].values_XY - limit).max()
    q, L_U = model.gamma**T, value_slope(model, U_XY)
    bound = (2 * q / (1 - q) ** 2 + 2 / (1 - q)) * eps_r + 2 * q / (1 - q) * value_error
    bound += (2 * q**2 / (1 - q) ** 2 + 2 * q / (1 - q)) * L_U * d
    policy = np.array([snapshots[-1].policy_PXY[0], *[nu_XY] * (T - 1)])
    assert (U_XY - dense_policy_values(model, policy)).max() <= bound + 1e-8
    # The step of the proof that gives d: the same noise under π* and under π̃.
    for noise in islice(product(range(len(model.noise_W)), repeat=T - 1), 8):
        ours, best = walk(model, lower, noise), walk(model, [nu_XY] * (T - 1), noise)
        at = coordinates(model)
        gap = at[ours[0] * model.n_fast + ours[1]] - at[best[0] * model.n_fast + best[1]]
        assert np.linalg.norm(gap, axis=1).max() <= d + SLACK


@SEARCH
@given(models, st.integers(1, 6))
def test_reward_that_the_frozen_policy_really_earns(model, T):
    """The lemmas in the proof of `docs/proofs.md`: slope of J_t*, and J₁* minus the true reward."""
    L_r, l_frozen, gamma = reward_slope(model), frozen_slope(model), model.gamma
    snapshots = take(fsvi(model, T), T - 1)
    for s in snapshots:
        bound = L_r * sum((gamma * l_frozen) ** i for i in range(s.iteration))
        assert value_slope(model, s.values_XY) <= bound * (1 + 1e-12) + SLACK
    earned_XY = np.zeros((model.n_slow, model.n_fast))
    for policy_XY in snapshots[-1].policy_PXY[::-1] if snapshots else ():
        earned_XY = H_policy(model, policy_XY, earned_XY)
    J1_XY = snapshots[-1].values_XY if snapshots else earned_XY
    freeze = sum(gamma**i * sum(l_frozen**j for j in range(i)) for i in range(1, T - 1))
    bound = largest_steps(model)[0] * L_r * freeze
    assert (J1_XY - earned_XY).max() <= bound * (1 + 1e-12) + SLACK


# -------------------------------------------------------------------------------------- Lipschitz


@SEARCH
@given(models, seeds, st.sampled_from([0.0, 0.1, 1.0]))
def test_lipschitz_constant_of_Q(model, seed, size):
    """Lemmas lipschitz_U_to_Q and lipschitz_Q_to_U, over all pairs."""
    U_XY = size * np.random.default_rng(seed).normal(size=(model.n_slow, model.n_fast))
    Q = q_values(model, model.true, U_XY).reshape(-1)
    L_Q = reward_slope(model) + model.gamma * value_slope(model, U_XY) * transition_slope(model)
    at, a = pair_coordinates(model), model.actions.values.shape[1]
    sums = distances(at[:, :-a]) + distances(at[:, -a:])
    assert (np.abs(Q[:, None] - Q[None]) <= L_Q * (1 + 1e-12) * sums + SLACK).all()
    best = Q.reshape(model.n_states, -1).max(axis=1)
    ratio = np.abs(Q[:, None] - Q[None])[sums > 0] / sums[sums > 0]
    assert slope(best[:, None], coordinates(model)) <= ratio.max(initial=0.0) * (1 + 1e-12) + SLACK


@SEARCH
@given(models, st.integers(1, 6))
def test_lipschitz_recursion_of_value_iteration(model, steps):
    """Lemma lipschitz_Q_U_recursive and its limit, Proposition lipschitz_value."""
    gamma, L_r, L_f = model.gamma, reward_slope(model), transition_slope(model)
    U_XY, L_U = np.zeros((model.n_slow, model.n_fast)), 0.0
    for _ in range(steps):
        previous = value_slope(model, U_XY)
        U_XY, L_U = H(model, U_XY), L_r + gamma * L_f * L_U
        assert value_slope(model, U_XY) <= L_U * (1 + 1e-12) + SLACK
        assert value_slope(model, U_XY) <= (L_r + gamma * L_f * previous) * (1 + 1e-12) + SLACK
    if gamma * L_f < 1:
        limit = L_r / (1 - gamma * L_f)
        assert value_slope(model, dense_optimum(model)) <= limit * (1 + 1e-12) + SLACK


def test_the_lipschitz_recursion_is_attained_if_nothing_moves():
    model, U_XY, L_U = chain(5, reward=3.0, step=0), np.zeros((5, 1)), 0.0
    for _ in range(6):
        U_XY, L_U = H(model, U_XY), 3.0 + 0.9 * L_U
        assert value_slope(model, U_XY) == pytest.approx(L_U)
    assert value_slope(model, dense_optimum(model)) == pytest.approx(3 / (1 - 0.9))
