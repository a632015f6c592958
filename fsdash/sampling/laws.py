"""Tables for drawing multinomial counts, runs of noise and rows of the T-step kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from fsdash.core.kernels import inlined, jit

MAX_TABLE_ENTRIES = 2**17
"""Largest number of entries in `Frequent`: 1 MB."""
GUIDE_SIZE = 512
LONGEST_RUN = 16
RUN_ENTRIES = 1024
"""Largest number of entries in `Runs`, so that its tables stay in the fastest cache."""


class Multinomial(NamedTuple):
    """Tables for drawing the counts of M draws from one distribution.

    A guide (suffix G) holds, for each of `GUIDE_SIZE` equal parts of [0, 1), the first index of the
    inverse CDF there, so that a look-up takes one or two comparisons.
    """

    outcome_W: np.ndarray
    """The possible outcomes, most likely first."""
    single_W: np.ndarray
    """CDF of one draw, in that order."""
    single_G: np.ndarray
    others_N: np.ndarray
    """CDF of how many of the M draws are not the most likely outcome, (M + 1,)."""
    others_G: np.ndarray
    rest_W: np.ndarray
    """CDF of one draw given that it is not the most likely outcome."""
    rest_G: np.ndarray


class Runs(NamedTuple):
    """Tables for single draws with one random number per run of the most likely outcome.

    Entry k is `length_N[k]` times `first` followed by `outcome_N[k]`, with the probability of that
    sequence. A run longer than the table ends with `first`, and the next run continues it, because
    the draws are independent.
    """

    first: int
    length_N: np.ndarray
    outcome_N: np.ndarray
    cdf_N: np.ndarray
    guide_G: np.ndarray


class AliasRows(NamedTuple):
    """The rows of K(s₁, ·), concatenated, with the most likely s_T first in each row."""

    start_S: np.ndarray
    target_N: np.ndarray
    keep_N: np.ndarray
    """Alias table of s_T, given that it is not the first of its row: take a random entry of the
    row, keep its target with this probability, and use `alias_N` otherwise."""
    alias_N: np.ndarray
    log_S: np.ndarray
    """log p for the probability p of the first entry of a row."""
    odds_S: np.ndarray
    """(1 − p)/p."""


class Frequent(NamedTuple):
    """Binomial CDFs for the most frequent numbers of draws from a row of K, n = M, M − 1, …"""

    class_S: np.ndarray
    """Rows with the same p share their tables."""
    others_CDN: np.ndarray
    """CDF of how many of n = M − d draws are not the first of the row; (·, 0, ·) if not stored."""


def multinomial(noise_W: np.ndarray, M: int) -> Multinomial:
    """Build the tables for the counts of M draws from a distribution."""
    order_W = np.argsort(-noise_W, kind="stable")[: np.count_nonzero(noise_W)]
    p_W = noise_W[order_W] / noise_W.sum()
    single_W, others_N = _cdf(p_W), _cdf(_binomial(M, p_W[1:].sum()))
    rest_W = _cdf(p_W[1:]) if len(p_W) > 1 else np.ones(1)
    return Multinomial(
        order_W, single_W, _guide(single_W), others_N, _guide(others_N), rest_W, _guide(rest_W)
    )


def noise_runs(noise_W: np.ndarray) -> Runs:
    """Build the tables for single draws in runs of the most likely outcome."""
    order_W = np.argsort(-noise_W, kind="stable")[: np.count_nonzero(noise_W)]
    p_W = noise_W[order_W] / noise_W.sum()
    longest = int(min(LONGEST_RUN, max(1, RUN_ENTRIES // len(p_W))))
    run_L = np.arange(longest)
    p_N = np.append(np.outer(p_W[0] ** run_L, p_W[1:]), p_W[0] ** longest)
    length_N = np.append(np.repeat(run_L, len(p_W) - 1), longest - 1)
    outcome_N = np.append(np.tile(order_W[1:], longest), order_W[0])
    # With the most likely entries first, the guide finds nearly all draws directly.
    order_N = np.argsort(-p_N, kind="stable")
    cdf_N = _cdf(p_N[order_N])
    return Runs(int(order_W[0]), length_N[order_N], outcome_N[order_N], cdf_N, _guide(cdf_N))


def frequent_binomials(law: Multinomial, rows: AliasRows, M: int) -> Frequent:
    """Build CDFs that cover 98% of the draws, if they are small enough to stay in the cache."""
    p_C, class_S = np.unique(np.exp(rows.log_S), return_inverse=True)
    D = 1 + int(np.searchsorted(law.others_N, 0.98))
    if D >= M or len(p_C) * D * (M + 1) > MAX_TABLE_ENTRIES:
        return Frequent(class_S, np.ones((1, 0, 1)))
    others_CDN = np.ones((len(p_C), D, M + 1))
    for d in range(D):
        others_CDN[:, d, : M - d + 1] = [_cdf(_binomial(M - d, 1 - p)) for p in p_C]
    return Frequent(class_S, others_CDN)


def constant_binomials(rows: AliasRows, M: int) -> Frequent:
    """Build CDFs for exactly M draws from each row, if they are small enough."""
    p_C, class_S = np.unique(np.exp(rows.log_S), return_inverse=True)
    if len(p_C) * (M + 1) > MAX_TABLE_ENTRIES:
        return Frequent(class_S, np.ones((1, 0, 1)))
    return Frequent(class_S, np.array([[_cdf(_binomial(M, 1 - p))] for p in p_C]))


def _binomial(n: int, q: float) -> np.ndarray:
    """Return the probabilities of 0, …, n successes."""
    if q == 0:
        return np.eye(1, n + 1)[0]
    k = np.arange(n + 1)
    logs = gammaln(k + 1)
    return np.exp(logs[n] - logs - logs[::-1] + k * np.log(q) + (n - k) * np.log1p(-q))


def _cdf(p: np.ndarray) -> np.ndarray:
    cdf = np.cumsum(p)
    cdf /= cdf[-1]
    # Rounding may leave the total below 1: the last possible outcome gets the remainder.
    cdf[np.flatnonzero(p)[-1] :] = 1.0
    return cdf


def _guide(cdf: np.ndarray) -> np.ndarray:
    return np.searchsorted(cdf, np.arange(GUIDE_SIZE) / GUIDE_SIZE, side="right")


@inlined
def invert(rng, cdf, guide):
    """Draw one index from its CDF."""
    u = rng.random()
    i = guide[int(u * guide.size)]
    while u >= cdf[i]:
        i += 1
    return i


@jit
def draw_counts(rng, law, size_R, w_N, n_N):
    """Draw the counts of M draws R times, as pairs (outcome, count) without the most likely one.

    The first size_R[0] pairs belong to the first repetition, and so on.
    """
    N = 0
    for r in range(size_R.size):
        size_R[r] = 0
        if law.outcome_W.size > 1:
            others = invert(rng, law.others_N, law.others_G)
            if law.outcome_W.size == 2:
                w_N[N], n_N[N] = law.outcome_W[1], others
                size_R[r] = int(others > 0)
            else:
                for i in range(others):
                    w_N[N + i] = law.outcome_W[1 + invert(rng, law.rest_W, law.rest_G)]
                    n_N[N + i] = 1
                size_R[r] = others
            N += size_R[r]


@jit
def pick_action(rng, Q_A, random):
    """Return an action that attains the maximum: the first, or one of them at random."""
    arg, ties = 0, 1
    for a in range(1, Q_A.size):
        if Q_A[a] > Q_A[arg]:
            arg, ties = a, 1
        elif random and Q_A[a] == Q_A[arg]:
            ties += 1
            if rng.random() * ties < 1:
                arg = a
    return arg


@jit
def greedy_rows(rng, Q_SA, random):
    """Return a greedy action for each row of Q."""
    greedy_S = np.empty(len(Q_SA), np.int32)
    for s in range(len(Q_SA)):
        greedy_S[s] = pick_action(rng, Q_SA[s], random)
    return greedy_S


@inlined
def binomial(rng, n, log_p, odds):
    """Draw how many of n draws are not the first of a row, by the inverse CDF, term by term."""
    # Independent blocks that are short enough that p^m does not underflow.
    block = n if -log_p * n < 600 else max(1, int(-600 / log_p))
    total = 0
    if n == 1:  # the most frequent case, which needs no power
        total, n = int(rng.random() * (1 + odds) >= 1), 0
    while n > 0:
        m = min(n, block)
        u, mass, k = rng.random(), np.exp(m * log_p), 0
        while u >= mass and k < m:
            u -= mass
            k += 1
            mass *= odds * (m - k + 1) / k
        total += k
        n -= m
    return total
