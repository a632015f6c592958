"""One-step and T-step samples against exact distributions, with fixed seeds."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from fsdash.core.operators import follow, lower_kernel, q_values
from fsdash.domains import make
from fsdash.sampling import Sampler, Sampling, UpperSampler
from tests.models import SHAPES, random_model, transition_matrix
from tests.sampling.cases import fits, upper_case, within


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dynamics", ["true", "frozen"])
def test_one_step_has_the_mean_and_variance_of_M_independent_draws(shape, dynamics):
    model = random_model(5, shape=shape, frozen=shape[1])
    law, M, n = getattr(model, dynamics), 7, 3_000
    rng = np.random.default_rng(6)
    U_XY = rng.normal(size=(3, 4))
    sampler = Sampler(model, law, M)
    Q = np.array([sampler.q_values(U_XY, rng)[0] for _ in range(n)])
    P = transition_matrix(model, law)
    u = U_XY.reshape(-1)
    variance = model.gamma**2 * (P @ u**2 - (P @ u) ** 2) / M
    exact = q_values(model, law, U_XY).reshape(Q.shape[1:])
    within(Q.mean(axis=0), exact, variance / n)
    squares = (Q - exact) ** 2
    within(squares.mean(axis=0), variance, squares.var(axis=0) / n)
    # Independent over states and actions: no correlation beyond chance.
    noisy = squares.mean(axis=0).reshape(-1) > 1e-12
    if noisy.sum() > 1:
        C = np.corrcoef((Q - exact).reshape(n, -1)[:, noisy].T)
        assert np.abs(C - np.eye(len(C))).max() <= 6 / np.sqrt(n)


def paths(model, lower, s, a):
    """Every (s₁, s_T) that can follow (s, a), with its probability, by the definition."""
    P = transition_matrix(model, model.true)
    rows = np.arange(model.n_states)
    K = np.eye(model.n_states)
    for policy_XY in lower:
        K = K @ P[rows, policy_XY.reshape(-1)]
    joint = P[s, a][:, None] * K
    return {tuple(map(int, i)): joint[tuple(i)] for i in np.argwhere(joint > 0)}


WAYS = {"counts": True, "simulation": False}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("T", [1, 2, 4])
@pytest.mark.parametrize("M", [1, 2])
def test_s1_and_sT_have_the_joint_distribution_of_a_path(way, T, M):
    """J₁ and V are random reals, so Q determines which M paths were drawn."""
    model, lower, J1_XY, V_XY, rng = upper_case(T)
    sampler = UpperSampler(model, J1_XY, lower, Sampling(M_u=M, sparse=WAYS[way], ties="first"))
    assert (sampler.kernel is not None) == WAYS[way]
    s, a, n = 4, 1, 12_000
    worth = {
        (s1, sT): J1_XY.flat[s1] + model.gamma ** (T - 1) * V_XY.flat[sT]
        for s1, sT in product(range(6), repeat=2)
    }
    law = Counter()
    for sample in product(paths(model, lower, s, a).items(), repeat=M):
        mean = sum(worth[path] for path, _ in sample) / M
        q = model.reward_XYA.reshape(6, -1)[s, a] + model.gamma * mean
        law[round(q, 8)] += np.prod([p for _, p in sample])
    Q = [sampler.q_values(V_XY, rng, [s])[0][0, a] for _ in range(n)]
    assert fits(Counter(np.round(Q, 8).tolist()), dict(law)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "way, M, n",
    [
        ("counts", 6, 3_000),
        ("simulation", 6, 3_000),
        ("counts", 50, 10_000),
        ("counts", 20_000, 40),
    ],
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_T_steps_have_the_mean_and_variance_of_M_independent_paths(way, M, n, shape):
    """50 draws have tables of the frequent binomials, as their number does in the experiments;
    20,000 are too many for one term-by-term binomial, and are drawn in blocks."""
    model, lower, J1_XY, V_XY, rng = upper_case(4, shape)
    sampler = UpperSampler(model, J1_XY, lower, Sampling(M_u=M, sparse=WAYS[way], ties="first"))
    assert M != 50 or sampler.kernel.frequent.others_CDN.shape[1] > 0
    Q = np.array([sampler.q_values(V_XY, rng)[0] for _ in range(n)])
    for s, a in product(range(6), range(2)):
        joint = paths(model, lower, s, a)
        p = np.array(list(joint.values()))
        value = model.gamma * np.array(
            [J1_XY.flat[i] + model.gamma**3 * V_XY.flat[j] for i, j in joint]
        )
        mean = model.reward_XYA.reshape(6, -1)[s, a] + p @ value
        variance = (p @ value**2 - (p @ value) ** 2) / M
        within(Q[:, s, a].mean(), mean, max(variance, 0) / n)
        squares = (Q[:, s, a] - mean) ** 2
        within(squares.mean(), variance, squares.var() / n)


def test_counts_and_simulation_agree_with_the_exact_upper_level_on_gridworld():
    model = make("gridworld").build()
    rng = np.random.default_rng(9)
    lower = rng.integers(32, size=(5, model.n_slow, model.n_fast))
    J1_XY, V_XY = rng.random((2, model.n_slow, model.n_fast))
    followed = [follow(model.true, policy_XY) for policy_XY in lower]
    future_XY = J1_XY + model.gamma**5 * lower_kernel(model, followed, V_XY)
    exact = q_values(model, model.true, future_XY).reshape(model.n_states, -1)
    for sparse in (None, False):
        sampler = UpperSampler(model, J1_XY, lower, Sampling(M_u=50, sparse=sparse, ties="first"))
        assert (sampler.kernel is not None) == (sparse is None)
        Q = sampler.q_values(V_XY, rng)[0]
        # A path is worth between 0 and 2: the mean of 50 has a standard error of at most 1/√50.
        within((Q - exact).mean(), 0, 1 / 50 / Q.size)
        assert np.abs(Q - exact).max() <= 6 / np.sqrt(50)


def test_the_model_decides_between_counts_and_simulation():
    def chosen(domain, T):
        model = make(domain).build()
        lower = np.random.default_rng(0).integers(
            model.n_actions, size=(T - 1, model.n_slow, model.n_fast)
        )
        zero_XY = np.zeros((model.n_slow, model.n_fast))
        return (
            UpperSampler(model, zero_XY, lower, Sampling(M_u=50, ties="first")).kernel is not None
        )

    assert chosen("gridworld", 12) and chosen("inventory", 3)
    assert not chosen("pricing", 6)
    assert chosen("pricing", 1)  # K is the identity
