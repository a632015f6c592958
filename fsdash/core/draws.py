"""Tables for drawing multinomial counts, runs of noise and rows of the T-step kernel K.

`lower_rows` computes the rows of K for a law in either form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload
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


class LowerKernel(NamedTuple):
    """The rows of K, with tables for the most frequent numbers of draws from them."""

    rows: AliasRows
    frequent: Frequent


class TablePolicies(NamedTuple):
    """The index tables of T−1 policies, stacked, and their common noise."""

    slow_T: np.ndarray
    fast_T: np.ndarray
    noise_W: np.ndarray
    n_fast: int


class RowPolicies(NamedTuple):
    """The row of each state under T−1 policies, and the rows."""

    row_TS: np.ndarray
    start_R: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray


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


@jit
def row_means(rng, rows, frequent, M, V_S, size, s_P, n_P, mean_P):
    """Set mean_P to the mean of V(s_T) over n_P draws from row s_P of K, for `size` pairs."""
    D = frequent.others_CDN.shape[1]
    for i in range(size):
        s, n = s_P[i], n_P[i]
        start, stop = rows.start_S[s], rows.start_S[s + 1]
        base, total = V_S[rows.target_N[start]], 0.0
        if stop - start > 1:
            others = 0
            if M - n < D:
                u, c = rng.random(), frequent.class_S[s]
                while u >= frequent.others_CDN[c, M - n, others]:
                    others += 1
            else:
                others = binomial(rng, n, rows.log_S[s], rows.odds_S[s])
            if stop - start == 2:
                total = others * (V_S[rows.target_N[start + 1]] - base)
            else:
                for _ in range(others):
                    u = rng.random() * (stop - start - 1)
                    at = start + 1 + int(u)
                    # Reading both avoids a branch that the processor would often mispredict.
                    target, alias = rows.target_N[at], rows.alias_N[at]
                    total += V_S[target if u - int(u) < rows.keep_N[at] else alias] - base
        mean_P[i] = base + total / n


@jit
def q_on_stored_paths(rng, random, first_SA, end_SAM, discount, V_S, states_N, Q_NA, greedy_N):
    """Compute the T-step Q on stored paths: first_SA + discount times the mean of V(s_T)."""
    M = end_SAM.shape[2]
    for n in range(greedy_N.size):
        s = states_N[n]
        for a in range(Q_NA.shape[1]):
            base, total = V_S[end_SAM[s, a, 0]], 0.0
            for j in range(M):
                total += V_S[end_SAM[s, a, j]] - base
            Q_NA[n, a] = first_SA[s, a] + discount * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def fill_aliases(target_N, keep_N, alias_N, start, stop, order_N):
    """Build Walker's alias table for the entries [start, stop).

    On entry `keep_N` holds their probabilities times their number. An entry below 1 is filled up by
    an entry above 1, which becomes its alias.
    """
    low, high = 0, stop - start - 1
    for i in range(start, stop):
        if keep_N[i] < 1:
            order_N[low] = i
            low += 1
        else:
            order_N[high] = i
            high -= 1
    # order_N has the entries below 1, then the others. One that falls below 1 joins the first part.
    poor, rich = 0, low
    while poor < rich < stop - start:
        i, j = order_N[poor], order_N[rich]
        alias_N[i] = target_N[j]
        keep_N[j] -= 1 - keep_N[i]
        poor += 1
        rich += int(keep_N[j] < 1)
    for k in range(poor, stop - start):
        keep_N[order_N[k]] = 1.0


@jit
def alias_row(size, here_S, mass_S, start, target_N, keep_N, alias_N, order_S):
    """Store one row of `AliasRows` from entry `start` on, and return its log p and (1 − p)/p.

    Its targets are the first `size` entries of `here_S`, with probabilities `mass_S`.
    """
    top = 0
    for i in range(size):
        top = i if mass_S[here_S[i]] > mass_S[here_S[top]] else top
    here_S[0], here_S[top] = here_S[top], here_S[0]
    rest = 0.0
    for i in range(size):
        target_N[start + i] = alias_N[start + i] = here_S[i]
        rest += mass_S[here_S[i]] if i > 0 else 0.0
    if size == 1:
        return 0.0, 0.0
    for i in range(1, size):
        keep_N[start + i] = mass_S[here_S[i]] / rest * (size - 1)
    fill_aliases(target_N, keep_N, alias_N, start + 1, start + size, order_S)
    return np.log1p(-rest), rest / mass_S[here_S[0]]


def term_range(policies, t, s):
    """Return the first and last (excluded) number of the next states of s under policy t."""


def term(policies, t, s, i):
    """Return next state i of s under policy t, and its probability."""


@overload(term_range, inline="always")
def _term_range(policies, t, s):
    if policies.instance_class is TablePolicies:
        return lambda policies, t, s: (0, policies.noise_W.size)
    return lambda policies, t, s: (
        policies.start_R[policies.row_TS[t, s]],
        policies.start_R[policies.row_TS[t, s] + 1],
    )


@overload(term, inline="always")
def _term(policies, t, s, i):
    if policies.instance_class is TablePolicies:

        def in_tables(policies, t, s, i):
            slow_T, fast_T, Y = policies.slow_T, policies.fast_T, policies.n_fast
            x, y = s // Y, s % Y
            px, py, pw = (
                int(slow_T.shape[1] > 1),
                int(slow_T.shape[2] > 1),
                int(slow_T.shape[4] > 1),
            )
            qx, qy, qw = (
                int(fast_T.shape[1] > 1),
                int(fast_T.shape[2] > 1),
                int(fast_T.shape[4] > 1),
            )
            slow = np.int64(slow_T[t, x * px, y * py, 0, i * pw])
            to = slow * Y + np.int64(fast_T[t, x * qx, y * qy, 0, i * qw])
            return to, policies.noise_W[i]

        return in_tables
    return lambda policies, t, s, i: (np.int64(policies.target_N[i]), policies.probability_N[i])


@jit
def lower_rows(policies, T, S, widest, limit):
    """Compute the `AliasRows` of K by exact propagation over T steps, and whether they fit.

    A row may have `widest` non-zeros, all rows together `limit`. The work is T operations per
    non-zero and next state.
    """
    start_S, log_S, odds_S = np.zeros(S + 1, np.int64), np.zeros(S), np.zeros(S)
    to_N, keep_N, alias_N = np.empty(limit, np.uint32), np.empty(limit), np.empty(limit, np.uint32)
    here_S, there_S = np.empty(S, np.int64), np.empty(S, np.int64)
    mass_S, flow_S = np.zeros(S), np.zeros(S)
    seen_S, stamp = np.zeros(S, np.int64), 0
    for s in range(S):
        here_S[0], mass_S[s], size = s, 1.0, 1
        for t in range(T):
            stamp += 1
            reached = 0
            for i in range(size):
                first, last = term_range(policies, t, here_S[i])
                for k in range(first, last):
                    to, p = term(policies, t, here_S[i], k)
                    if p > 0:
                        if seen_S[to] != stamp:
                            seen_S[to], flow_S[to] = stamp, 0.0
                            there_S[reached] = to
                            reached += 1
                        flow_S[to] += p * mass_S[here_S[i]]
            here_S, there_S, mass_S, flow_S, size = there_S, here_S, flow_S, mass_S, reached
            if size > widest:
                return False, AliasRows(start_S, to_N, keep_N, alias_N, log_S, odds_S)
        start = start_S[s]
        if start + size > limit:
            return False, AliasRows(start_S, to_N, keep_N, alias_N, log_S, odds_S)
        log_S[s], odds_S[s] = alias_row(size, here_S, mass_S, start, to_N, keep_N, alias_N, there_S)
        start_S[s + 1] = start + size
    N = start_S[S]
    return True, AliasRows(start_S, to_N[:N], keep_N[:N], alias_N[:N], log_S, odds_S)
