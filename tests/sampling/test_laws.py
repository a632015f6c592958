"""Counts drawn at once have the distribution of single draws; the seeds are fixed."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from fsdash.core.draws import LONGEST_RUN, noise_runs
from fsdash.core.table_samples import draw_noise
from fsdash.sampling import draw_counts, multinomial
from tests.sampling.cases import fits, within

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
    """Draw counts, shape (repeats, W); the most likely outcome gets the rest of M."""
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


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("M", [1, 2, 50])
def test_counts_have_the_moments_of_the_multinomial_distribution(name, M):
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


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LAWS if len(LAWS[name]) <= 4])
@pytest.mark.parametrize("M", [1, 3, 5])
def test_counts_fit_the_multinomial_distribution(name, M):
    p_W = np.array(LAWS[name])
    counts = drawn(multinomial(p_W, M), M, 20_000, np.random.default_rng(2))
    cells = [c for c in product(range(M + 1), repeat=len(p_W)) if sum(c) == M]
    law = {c: float(stats.multinomial.pmf(c, M, p_W)) for c in cells}
    assert fits(Counter(map(tuple, counts.tolist())), law) > 1e-3


def test_counts_and_single_draws_have_the_same_distribution():
    p_W, M, n = np.array([0.5, 0.3, 0.2]), 4, 20_000
    rng = np.random.default_rng(3)
    counted = Counter(map(tuple, drawn(multinomial(p_W, M), M, n, rng).tolist()))
    singles = rng.choice(3, size=(n, M), p=p_W)
    plain = Counter(map(tuple, (singles[:, :, None] == np.arange(3)).sum(axis=1).tolist()))
    cells = sorted(set(counted) | set(plain))
    table = [[counted[c] for c in cells], [plain[c] for c in cells]]
    assert stats.chi2_contingency(table).pvalue > 1e-3


def test_many_draws_have_the_binomial_distribution():
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
    """The counts of pairs fit the product distribution, also where runs are cut."""
    noise_W = np.array(noise_W)
    law, rng, n = noise_runs(noise_W), np.random.default_rng(21), 60_000
    w_N = np.empty(n, np.int64)
    draw_noise(rng, law, w_N)
    W = len(noise_W)
    for gap in (1, LONGEST_RUN):
        pairs = Counter(zip(w_N[:-gap].tolist(), w_N[gap:].tolist(), strict=True))
        for (i, j), p in zip(
            product(range(W), repeat=2), np.outer(noise_W, noise_W).flat, strict=True
        ):
            # Overlapping pairs are dependent: at most three times the variance of separate ones.
            assert abs(pairs[i, j] - (n - gap) * p) <= 5 * np.sqrt(3 * n * p * (1 - p)) + 1e-9
    draws = [np.empty(7, np.int64) for _ in range(20_000 // 7)]
    for short in draws:
        draw_noise(rng, law, short)
    single = Counter(np.concatenate(draws).tolist())
    assert fits(single, dict(enumerate(noise_W.tolist()))) > 1e-3
