"""The count-based samplers against plain single draws and exact laws, with fixed seeds."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.model import FastSlowMDP
from fsdash.operators import bellman, follow, lower_kernel, q_values, upper_bellman
from fsdash.sampling import (
    Sampler,
    StateSample,
    UpperSampler,
    backup,
    draw_counts,
    extraction,
    multinomial,
    ranges,
    sweep,
)
from fsdash.sampling.laws import LONGEST_RUN, runs
from fsdash.sampling.t_step import draw_noise
from tests.models import SHAPES, random_model, transition_matrix

LAWS = {
    "one": [1.0],
    "one of two": [0.0, 1.0],
    "two": [0.98, 0.02],
    "even": [0.25, 0.25, 0.25, 0.25],
    "dominant last": [0.1, 0.1, 0.8],
    "with impossible": [0.3, 0.0, 0.6, 0.1],
    "many": list(np.arange(1, 28) / np.arange(1, 28).sum()),
}


def drawn(law, M, repeats, rng):
    """(repeats, W) counts, the most likely outcome filled up to M."""
    W = int(law.outcome_W.max()) + 1
    size_R, w_P, n_P = (
        np.empty(repeats, int),
        np.empty(repeats * M, int),
        np.empty(repeats * M, int),
    )
    draw_counts(rng, law, size_R, w_P, n_P)
    counts, ends = np.zeros((repeats, W), int), np.cumsum(size_R)
    for r, (size, end) in enumerate(zip(size_R, ends, strict=True)):
        np.add.at(counts[r], w_P[end - size : end], n_P[end - size : end])
        counts[r, law.outcome_W[0]] = M - counts[r].sum()
    return counts


def fits(observed: Counter, probability: dict) -> float:
    """The p-value of a chi-square test; cells that are expected less than 5 times are pooled."""
    n = sum(observed.values())
    assert set(observed) <= set(probability), "something came up that cannot"
    cells = sorted(probability, key=probability.get, reverse=True)
    large = [c for c in cells if n * probability[c] >= 5]
    O = [observed[c] for c in large]  # noqa: E741
    E = [n * probability[c] for c in large]
    if n - sum(E) > 1e-6 * n:
        O.append(n - sum(O))
        E.append(n - sum(E))
    return stats.chisquare(O, np.array(E) * n / sum(E)).pvalue if len(E) > 1 else 1.0


def within(sample, mean, variance, errors=6):
    """A sample mean lies within so many standard errors of what it should be."""
    assert np.all(np.abs(sample - mean) <= errors * np.sqrt(variance) + 1e-9)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("M", [1, 2, 50])
def test_counts_have_the_moments_of_the_multinomial(name, M):
    p_W, n = np.array(LAWS[name]), 20_000
    counts = drawn(multinomial(p_W, M), M, n, np.random.default_rng(1))
    assert (counts.sum(axis=1) == M).all()
    assert (counts[:, p_W == 0] == 0).all() and (counts >= 0).all()
    within(counts.mean(axis=0), M * p_W, M * p_W * (1 - p_W) / n)
    exact = M * (np.diag(p_W) - np.outer(p_W, p_W))
    centred = counts - M * p_W
    # The standard error of each sample covariance, from the sample itself.
    products = centred[:, :, None] * centred[:, None, :]
    within(products.mean(axis=0), exact, products.var(axis=0) / n)


@pytest.mark.parametrize("name", [name for name in LAWS if len(LAWS[name]) <= 4])
@pytest.mark.parametrize("M", [1, 3, 5])
def test_counts_fit_the_multinomial_law(name, M):
    p_W = np.array(LAWS[name])
    counts = drawn(multinomial(p_W, M), M, 20_000, np.random.default_rng(2))
    cells = [c for c in product(range(M + 1), repeat=len(p_W)) if sum(c) == M]
    law = {c: float(stats.multinomial.pmf(c, M, p_W)) for c in cells}
    assert fits(Counter(map(tuple, counts.tolist())), law) > 1e-3


def test_counts_and_single_draws_are_two_samples_of_one_law():
    p_W, M, n = np.array([0.5, 0.3, 0.2]), 4, 20_000
    rng = np.random.default_rng(3)
    counted = Counter(map(tuple, drawn(multinomial(p_W, M), M, n, rng).tolist()))
    singles = rng.choice(3, size=(n, M), p=p_W)
    plain = Counter(map(tuple, (singles[:, :, None] == np.arange(3)).sum(axis=1).tolist()))
    cells = sorted(set(counted) | set(plain))
    table = [[counted[c] for c in cells], [plain[c] for c in cells]]
    assert stats.chi2_contingency(table).pvalue > 1e-3


def test_the_binomial_of_many_draws():
    p_W, M = np.array([0.6, 0.4]), 20_000
    counts = drawn(multinomial(p_W, M), M, 400, np.random.default_rng(4))[:, 1]
    within(counts.mean(), M * 0.4, M * 0.24 / 400)
    assert stats.kstest(counts, stats.binom(M, 0.4).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "noise_W",
    [[0.729, 0.1, 0.1, 0.071], [0.02, 0.97, 0.01], [0.25, 0.25, 0.0, 0.5], [0.999, 0.001], [1.0]],
    ids=str,
)
def test_runs_are_independent_single_draws(noise_W):
    """Neighbours too: the counts of pairs fit the product law, also where runs are cut."""
    noise_W = np.array(noise_W)
    law, rng, n = runs(noise_W), np.random.default_rng(21), 60_000
    w_N = np.empty(n, np.int64)
    draw_noise(rng, law, w_N)
    W = len(noise_W)
    for gap in (1, LONGEST_RUN):
        pairs = Counter(zip(w_N[:-gap].tolist(), w_N[gap:].tolist(), strict=True))
        for (i, j), p in zip(product(range(W), repeat=2), np.outer(noise_W, noise_W).flat,
                             strict=True):  # fmt: skip
            # Overlapping pairs are dependent: at most three times the variance of separate ones.
            assert abs(pairs[i, j] - (n - gap) * p) <= 5 * np.sqrt(3 * n * p * (1 - p)) + 1e-9
    draws = [np.empty(7, np.int64) for _ in range(20_000 // 7)]
    for short in draws:
        draw_noise(rng, law, short)
    single = Counter(np.concatenate(draws).tolist())
    assert fits(single, dict(enumerate(noise_W.tolist()))) > 1e-3


def test_a_list_of_states_has_the_samples_of_those_states():
    """Any order, any number of times; drawn in the order of the list."""
    model, lower, J1_XY, V_XY, _ = upper_case(3)
    for sampler in (
        Sampler(model, model.true, 5),
        UpperSampler(model, J1_XY, lower, 5, sparse=True),
        UpperSampler(model, J1_XY, lower, 5, sparse=False),
    ):
        states, rng = [4, 0, 4, 3], np.random.default_rng(22)
        together, _ = sampler.q_values(V_XY, np.random.default_rng(22), states)
        one_by_one = [sampler.q_values(V_XY, rng, [s])[0][0] for s in states]
        assert np.array_equal(together, one_by_one)
        every, _ = sampler.q_values(V_XY, np.random.default_rng(23))
        again, _ = sampler.q_values(V_XY, np.random.default_rng(23), range(model.n_states))
        assert np.array_equal(every, again)


def test_kept_paths_have_the_mean_and_variance_of_fresh_ones():
    model, lower, J1_XY, V_XY, rng = upper_case(3)
    n, M = 4_000, 4
    upper = UpperSampler(model, J1_XY, lower, M, sparse=False)
    Q = np.array([upper.keep_paths(rng).q_values(V_XY, rng)[0] for _ in range(n)])
    fresh = np.array([upper.q_values(V_XY, rng)[0] for _ in range(n)])
    followed = [follow(model.true, pi) for pi in lower]
    future_XY = J1_XY + model.gamma**2 * lower_kernel(model, followed, V_XY)
    exact = q_values(model, model.true, future_XY).reshape(Q.shape[1:])
    assert (np.abs(Q.mean(axis=0) - exact) <= 6 * Q.std(axis=0) / np.sqrt(n) + 1e-12).all()
    # Relative standard error of a standard deviation: about 1/√(2n), here of two of them.
    noisy = fresh.std(axis=0) > 1e-9
    ratio = Q.std(axis=0)[noisy] / fresh.std(axis=0)[noisy]
    assert (np.abs(np.log(ratio)) <= 6 * 1.5 / np.sqrt(n)).all()
    # One set of paths, and any V: the very draws of a sampler that starts from the same state.
    kept = upper.keep_paths(np.random.default_rng(26))
    for values_XY in (V_XY, 3 - V_XY):
        Q_SA, greedy_S = upper.q_values(values_XY, np.random.default_rng(26))
        Q_kept, greedy_kept = kept.q_values(values_XY, rng)
        np.testing.assert_allclose(Q_kept, Q_SA, atol=1e-12)
        assert np.array_equal(greedy_kept, greedy_S)
    some, _ = kept.q_values(V_XY, rng, [5, 2])
    assert np.array_equal(some, kept.q_values(V_XY, rng)[0][[5, 2]])


def test_state_samples():
    model, rng = random_model(24), np.random.default_rng(25)
    assert StateSample(model).N == 1 and StateSample(make("pricing").build()).N == 1515
    state = rng.bit_generator.state
    assert StateSample(model, 12).draw(rng).tolist() == list(range(12))
    assert rng.bit_generator.state == state
    counts = np.zeros(12)
    for _ in range(2_000):
        states_N = StateSample(model, 5).draw(rng)
        assert len(set(states_N.tolist())) == 5
        counts[states_N] += 1
    # Each state is in 5/12 of the samples; the variance of a count is at most that of a binomial.
    assert (np.abs(counts - 2_000 * 5 / 12) <= 5 * np.sqrt(2_000 * 35 / 144)).all()
    drawn = StateSample(model, 50_000, model.initial_XY).draw(rng)
    expected = 50_000 * model.initial_XY.reshape(-1)
    assert stats.chisquare(np.bincount(drawn, minlength=12), expected).pvalue > 1e-3


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


def upper_case(T, shape=("XYAW", "XYAW")):
    model = random_model(7, sizes=(2, 3, 2, 3), shape=shape)
    rng = np.random.default_rng(8)
    lower = rng.integers(2, size=(T - 1, 2, 3))
    return model, lower, rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng


WAYS = {"counts": True, "simulation": False}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("T", [1, 2, 4])
@pytest.mark.parametrize("M", [1, 2])
def test_s1_and_sT_have_the_joint_law_of_a_path(way, T, M):
    """J₁ and V are real numbers in general position: Q tells which M paths were drawn."""
    model, lower, J1_XY, V_XY, rng = upper_case(T)
    sampler = UpperSampler(model, J1_XY, lower, M, sparse=WAYS[way])
    assert (sampler.rows is not None) == WAYS[way]
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


@pytest.mark.parametrize("way, M, n", [("counts", 6, 3_000), ("simulation", 6, 3_000),
                                       ("counts", 50, 10_000), ("counts", 20_000, 40)])  # fmt: skip
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_T_steps_have_the_mean_and_variance_of_M_independent_paths(way, M, n, shape):
    """50 draws have tables of the frequent binomials, as their number does in the experiments;
    20,000 are too many for one term-by-term binomial, and are drawn in blocks."""
    model, lower, J1_XY, V_XY, rng = upper_case(4, shape)
    sampler = UpperSampler(model, J1_XY, lower, M, sparse=WAYS[way])
    assert M != 50 or sampler.often.others_CDN.shape[1] > 0
    Q = np.array([sampler.q_values(V_XY, rng)[0] for _ in range(n)])
    for s, a in product(range(6), range(2)):
        joint = paths(model, lower, s, a)
        p = np.array(list(joint.values()))
        value = model.gamma * np.array([J1_XY.flat[i] + model.gamma**3 * V_XY.flat[j]
                                        for i, j in joint])  # fmt: skip
        mean = model.reward_XYA.reshape(6, -1)[s, a] + p @ value
        variance = (p @ value**2 - (p @ value) ** 2) / M
        within(Q[:, s, a].mean(), mean, max(variance, 0) / n)
        squares = (Q[:, s, a] - mean) ** 2
        within(squares.mean(), variance, squares.var() / n)


def test_both_ways_agree_with_the_exact_upper_level_on_gridworld():
    model = make("gridworld").build()
    rng = np.random.default_rng(9)
    lower = rng.integers(32, size=(5, model.n_slow, model.n_fast))
    J1_XY, V_XY = rng.random((2, model.n_slow, model.n_fast))
    followed = [follow(model.true, policy_XY) for policy_XY in lower]
    future_XY = J1_XY + model.gamma**5 * lower_kernel(model, followed, V_XY)
    exact = q_values(model, model.true, future_XY).reshape(model.n_states, -1)
    for sparse in (None, False):
        sampler = UpperSampler(model, J1_XY, lower, 50, sparse=sparse)
        assert (sampler.rows is not None) == (sparse is None)
        Q = sampler.q_values(V_XY, rng)[0]
        # A path is worth between 0 and 2: the mean of 50 has a standard error of at most 1/√50.
        within((Q - exact).mean(), 0, 1 / 50 / Q.size)
        assert np.abs(Q - exact).max() <= 6 / np.sqrt(50)


def test_the_way_is_chosen_by_the_model():
    def chosen(domain, T):
        model = make(domain).build()
        lower = np.random.default_rng(0).integers(
            model.n_actions, size=(T - 1, model.n_slow, model.n_fast)
        )
        zero_XY = np.zeros((model.n_slow, model.n_fast))
        return UpperSampler(model, zero_XY, lower, 50).rows is not None

    assert chosen("gridworld", 12) and chosen("inventory", 3)
    assert not chosen("pricing", 6)
    assert chosen("pricing", 1)  # K is the identity


@pytest.mark.parametrize("M", [1, 50])
@pytest.mark.parametrize("common", [False, True])
def test_one_outcome_is_exact_and_draws_nothing(M, common):
    model = random_model(10, shape=("XYA.", "XYA."))
    rng = np.random.default_rng(11)
    U_XY, J1_XY = rng.normal(size=(2, 3, 4))
    lower = rng.integers(2, size=(3, 3, 4))
    before = rng.bit_generator.state
    one = Sampler(model, model.true, M, common_random_numbers=common)
    HU_S, nu_S = backup(one, U_XY, rng)
    HU_XY, nu_XY = bellman(model, model.true, U_XY)
    assert np.array_equal(HU_S, HU_XY.reshape(-1)) and np.array_equal(nu_S, nu_XY.reshape(-1))
    followed = [follow(model.true, policy_XY) for policy_XY in lower]
    FV_XY, mu_XY = upper_bellman(model, J1_XY, followed, U_XY)
    for sparse in (None, False):
        upper = UpperSampler(model, J1_XY, lower, M, "first", common, sparse)
        FV_S, mu_S = backup(upper, U_XY, rng)
        assert np.array_equal(FV_S, FV_XY.reshape(-1)) and np.array_equal(mu_S, mu_XY.reshape(-1))
    assert rng.bit_generator.state == before


def twins(seed=12):
    """A model with two actions that are the same in everything."""
    model = random_model(seed, sizes=(3, 4, 1, 4))
    double = lambda table: np.repeat(table, 2, axis=2)  # noqa: E731
    return replace(
        model, reward_XYA=double(model.reward_XYA), next_slow=double(model.next_slow),
        next_fast=double(model.next_fast), frozen_next_fast=None, actions=None,
    )  # fmt: skip


@pytest.mark.parametrize("T", [1, 3])
def test_common_random_numbers_make_identical_actions_tie_exactly(T):
    model, rng = twins(), np.random.default_rng(13)
    U_XY, J1_XY = rng.normal(size=(2, 3, 4))
    lower = np.zeros((T - 1, 3, 4), int)
    for sampler, apart in (
        (Sampler(model, model.true, 9, common_random_numbers=True), False),
        (Sampler(model, model.true, 9), True),
        (UpperSampler(model, J1_XY, lower, 9, common_random_numbers=True), False),
        (UpperSampler(model, J1_XY, lower, 9), True),
    ):
        Q_SA = sampler.q_values(U_XY, rng)[0]
        assert (Q_SA[:, 0] != Q_SA[:, 1]).any() == apart


def test_common_random_numbers_keep_each_actions_own_law():
    model, rng = random_model(14), np.random.default_rng(15)
    U_XY, M, n = rng.normal(size=(3, 4)), 5, 3_000
    P, u = transition_matrix(model, model.true), U_XY.reshape(-1)
    variance = model.gamma**2 * (P @ u**2 - (P @ u) ** 2) / M
    exact = q_values(model, model.true, U_XY).reshape(12, 2)
    sampler = Sampler(model, model.true, M, common_random_numbers=True)
    Q = np.array([sampler.q_values(U_XY, rng)[0] for _ in range(n)])
    within(Q.mean(axis=0), exact, variance / n)
    squares = (Q - exact) ** 2
    within(squares.mean(axis=0), variance, squares.var(axis=0) / n)


def test_equal_values_tie_exactly_whatever_the_counts():
    """One third has no binary form: a weighted sum of it would differ in the last digit."""
    model = random_model(16, sizes=(3, 4, 5, 4))
    rng, third_XY = np.random.default_rng(17), np.full((3, 4), 1 / 3)
    future = Sampler(model, model.true, 49).q_values(third_XY, rng)[0]
    assert np.array_equal(future, model.reward_XYA.reshape(12, 5) + model.gamma * (1 / 3))


def test_ties_go_to_the_first_or_to_each_alike():
    model, zero_XY = twins(), np.zeros((3, 4))
    rng, n = np.random.default_rng(18), 2_000
    first = Sampler(model, model.true, 3)
    assert (backup(first, zero_XY, rng)[1] == 0).all()
    random = Sampler(model, model.true, 3, ties="random")
    share = np.mean([backup(random, zero_XY, rng)[1] for _ in range(n)], axis=0)
    within(share, 0.5, 0.25 / n)


def test_random_ties_are_uniform_among_many_and_never_worse():
    reward_XYA = np.array([[[0.0, 1.0, 1.0, 0.5, 1.0]]])
    index = np.zeros((1, 1, 1, 1), int)
    model = FastSlowMDP(reward_XYA, np.ones(1), index, index, gamma=0.5)
    sampler, rng = Sampler(model, model.true, 1, ties="random"), np.random.default_rng(19)
    seen = Counter(int(backup(sampler, np.zeros((1, 1)), rng)[1][0]) for _ in range(6_000))
    assert fits(seen, {1: 1 / 3, 2: 1 / 3, 4: 1 / 3}) > 1e-3


def test_a_sweep_in_parts_is_the_sweep():
    model, U_XY = random_model(20), np.random.default_rng(0).normal(size=(3, 4))
    sampler = Sampler(model, model.true, 5, ties="random")
    whole = list(sweep(sampler, U_XY, np.random.default_rng(21), 1))
    parts = list(sweep(sampler, U_XY, np.random.default_rng(21), 5))
    assert np.array_equal(whole[-1][1], parts[-1][1])
    for renewed, values_XY in parts:
        assert np.array_equal(values_XY.flat[:renewed], parts[-1][1].flat[:renewed])
        assert np.array_equal(values_XY.flat[renewed:], U_XY.flat[renewed:])
    assert [renewed for renewed, _ in parts] == [2, 4, 7, 9, 12]
    assert ranges(2, 4) == [(0, 0), (0, 1), (1, 1), (1, 2)]


def test_extraction_leaves_the_run_alone():
    rng = np.random.default_rng(22)
    before = rng.bit_generator.state
    inside, end = extraction(rng)
    assert rng.bit_generator.state == before
    assert len({g.random() for g in (rng, inside, end)}) == 3


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, U: Sampler(m, m.true, 0), "M = 0"),
        (lambda m, U: Sampler(m, m.true, 2.5), "M = 2.5"),
        (lambda m, U: Sampler(m, m.true, float("nan")), "M = nan"),
        (lambda m, U: Sampler(m, m.true, 3, ties="last"), "ties = 'last'"),
        (lambda m, U: UpperSampler(m, U, [], 0), "M_u = 0"),
        (lambda m, U: UpperSampler(m, U[:2], [], 1), "J1_XY: shape"),
        (lambda m, U: UpperSampler(m, U, [], 1, "first", True, True), "sparse = True"),
        (lambda m, U: backup(Sampler(m, m.true, 1), U[:2], np.random.default_rng(0)), "U_XY"),
        (lambda m, U: backup(Sampler(m, m.true, 1), U, np.random.default_rng(0), [5, 99]), "99"),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call(random_model(23), np.zeros((3, 4)))
