"""Samples from sparse rows: M draws from the row of each (x, y, a), as counts or one by one.

The counts of M draws from a row are drawn as in `fsdash.sampling.laws`: first how many are not the
row's most likely next state, which is binomial, then each of those from an alias table. Common
random numbers invert the rows' CDFs at the same uniform numbers: the draws of two actions then move
together as far as their distributions allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsdash.core.kernels import inlined, jit
from fsdash.core.rows import Rows
from fsdash.sampling.laws import AliasRows, Frequent, constant_binomials, pick_action
from fsdash.sampling.t_step import alias_row, row_means


class RowLaw(NamedTuple):
    """Tables for drawing from the rows of a transition law."""

    rows: AliasRows
    frequent: Frequent
    start_R: np.ndarray
    target_N: np.ndarray
    cdf_N: np.ndarray
    """CDF within each row, in the order of `target_N`: for common random numbers."""


def row_law(rows: Rows, M: int) -> RowLaw:
    """Build the tables for M draws from each row."""
    X, Y, _ = rows.row_XYA.shape
    tables = alias_tables(rows.start_R, rows.target_N, rows.probability_N, X * Y)
    cdf_N = row_cdf(rows.start_R, rows.probability_N)
    frequent = constant_binomials(tables, M)
    return RowLaw(tables, frequent, rows.start_R, rows.target_N, cdf_N)


@jit
def alias_tables(start_R, target_N, probability_N, n_states):
    """Return the `AliasRows` of given rows; row 0, which is empty, is never drawn from."""
    R = len(start_R) - 1
    to_N, alias_N = np.empty(target_N.size, np.uint32), np.empty(target_N.size, np.uint32)
    keep_N, log_R, odds_R = np.empty(target_N.size), np.zeros(R), np.zeros(R)
    here_S, order_S = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    mass_S = np.zeros(n_states)
    for r in range(R):
        start, size = start_R[r], start_R[r + 1] - start_R[r]
        for i in range(size):
            here_S[i] = target_N[start + i]
            mass_S[here_S[i]] = probability_N[start + i]
        if size > 0:
            log_R[r], odds_R[r] = alias_row(
                size, here_S, mass_S, start, to_N, keep_N, alias_N, order_S
            )
    return AliasRows(start_R, to_N, keep_N, alias_N, log_R, odds_R)


@jit
def row_cdf(start_R, probability_N):
    """Return the cumulative probabilities within each row; the last one is 1."""
    cdf_N = np.empty_like(probability_N)
    for r in range(len(start_R) - 1):
        total = 0.0
        for i in range(start_R[r], start_R[r + 1]):
            total += probability_N[i]
            cdf_N[i] = total
        if start_R[r + 1] > start_R[r]:
            cdf_N[start_R[r + 1] - 1] = 1.0
    return cdf_N


@inlined
def draw_target(rng, rows, r):
    """Draw one next state from row r."""
    start, stop = rows.start_S[r], rows.start_S[r + 1]
    target = rows.target_N[start]
    if stop - start > 1 and rng.random() * (1 + rows.odds_S[r]) >= 1:
        u = rng.random() * (stop - start - 1)
        at = start + 1 + int(u)
        target = rows.target_N[at] if u - int(u) < rows.keep_N[at] else rows.alias_N[at]
    return target


@inlined
def invert_row(law, r, u):
    """Return the next state of row r at the uniform number u, by bisection."""
    low, high = law.start_R[r], law.start_R[r + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if u < law.cdf_N[middle]:
            high = middle
        else:
            low = middle + 1
    return law.target_N[low]


@jit
def one_step_rows(
    rng, law, M, common, random, reward_SA, row_SA, gamma, U_S, states_N, Q_NA, greedy_N
):
    """Set Q and a greedy action of the flattened states `states_N`."""
    A = Q_NA.shape[1]
    row_A, count_A, mean_A = np.empty(A, np.int64), np.full(A, M), np.empty(A)
    u_M = np.empty(M)
    for n in range(greedy_N.size):
        s = states_N[n]
        size = 0
        for a in range(A):
            if reward_SA[s, a] > -np.inf:
                row_A[size] = row_SA[s, a]
                size += 1
        if common:
            for j in range(M):
                u_M[j] = rng.random()
            for i in range(size):
                base, total = U_S[invert_row(law, row_A[i], u_M[0])], 0.0
                for j in range(1, M):
                    total += U_S[invert_row(law, row_A[i], u_M[j])] - base
                mean_A[i] = base + total / M
        else:
            row_means(rng, law.rows, law.frequent, M, U_S, size, row_A, count_A, mean_A)
        size = 0
        for a in range(A):
            Q_NA[n, a] = -np.inf
            if reward_SA[s, a] > -np.inf:
                Q_NA[n, a] = reward_SA[s, a] + gamma * mean_A[size]
                size += 1
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def q_by_row_counts(
    rng,
    law,
    kernel,
    frequent,
    M,
    random,
    reward_SA,
    row_SA,
    gamma,
    discount,
    J1_S,
    V_S,
    states_N,
    Q_NA,
    greedy_N,
):
    """Sample the T-step Q by counts: n(s₁) from the row of (s, a), then s_T from row s₁ of K.

    `discount` is γᵀ⁻¹.
    """
    s1_P, count_P, mean_P = np.empty(M + 1, np.int64), np.empty(M + 1, np.int64), np.empty(M + 1)
    rows = law.rows
    for n in range(greedy_N.size):
        s = states_N[n]
        for a in range(Q_NA.shape[1]):
            Q_NA[n, a] = -np.inf
            if reward_SA[s, a] == -np.inf:
                continue
            # Draws of the most likely s₁ count together, all others one by one.
            r, size = row_SA[s, a], 1
            s1_P[0], count_P[0] = rows.target_N[rows.start_S[r]], 0
            for _ in range(M):
                target = draw_target(rng, rows, r)
                if target == s1_P[0]:
                    count_P[0] += 1
                else:
                    s1_P[size], count_P[size] = target, 1
                    size += 1
            first = 0 if count_P[0] > 0 else 1
            pairs = size - first
            row_means(
                rng, kernel, frequent, M, V_S, pairs, s1_P[first:], count_P[first:], mean_P[first:]
            )
            base, total = J1_S[s1_P[first]] + discount * mean_P[first], 0.0
            for i in range(first, size):
                total += count_P[i] * (J1_S[s1_P[i]] + discount * mean_P[i] - base)
            Q_NA[n, a] = reward_SA[s, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def q_by_row_simulation(
    rng,
    law,
    row_TS,
    M,
    common,
    random,
    reward_SA,
    row_SA,
    gamma,
    discount,
    J1_S,
    V_S,
    states_N,
    Q_NA,
    greedy_N,
    end_NAM,
):
    """Sample the T-step Q by M paths: the first action, then the rows of π₁, …, π_{T−1}.

    Their ends s_T are stored in `end_NAM` unless it is empty.
    """
    T = len(row_TS) + 1
    u_TM = np.empty((T, M))
    for n in range(greedy_N.size):
        s = states_N[n]
        if common:
            for t in range(T):
                for j in range(M):
                    u_TM[t, j] = rng.random()
        for a in range(Q_NA.shape[1]):
            Q_NA[n, a] = -np.inf
            if end_NAM.size > 0:
                end_NAM[n, a, :] = s
            if reward_SA[s, a] == -np.inf:
                continue
            base, total = 0.0, 0.0
            for j in range(M):
                to, value = s, 0.0
                for t in range(T):
                    r = np.int64(row_SA[s, a] if t == 0 else row_TS[t - 1, to])
                    if common:
                        to = np.int64(invert_row(law, r, u_TM[t, j]))
                    else:
                        to = np.int64(draw_target(rng, law.rows, r))
                    if t == 0:
                        value = J1_S[to]
                value += discount * V_S[to]
                base = value if j == 0 else base
                total += value - base
                if end_NAM.size > 0:
                    end_NAM[n, a, j] = to
            Q_NA[n, a] = reward_SA[s, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def lower_rows_of_rows(row_TS, start_R, target_N, probability_N, widest, limit):
    """Compute the `AliasRows` of K by exact propagation, and whether they fit.

    A row may have `widest` non-zeros, all rows together `limit`.
    """
    S = row_TS.shape[1]
    start_S, log_S, odds_S = np.zeros(S + 1, np.int64), np.zeros(S), np.zeros(S)
    to_N, keep_N, alias_N = np.empty(limit, np.uint32), np.empty(limit), np.empty(limit, np.uint32)
    here_S, there_S = np.empty(S, np.int64), np.empty(S, np.int64)
    mass_S, flow_S = np.zeros(S), np.zeros(S)
    seen_S, stamp = np.zeros(S, np.int64), 0
    for s in range(S):
        here_S[0], mass_S[s], size = s, 1.0, 1
        for t in range(len(row_TS)):
            stamp += 1
            reached = 0
            for i in range(size):
                r = row_TS[t, here_S[i]]
                for k in range(start_R[r], start_R[r + 1]):
                    to = np.int64(target_N[k])
                    if seen_S[to] != stamp:
                        seen_S[to], flow_S[to] = stamp, 0.0
                        there_S[reached] = to
                        reached += 1
                    flow_S[to] += probability_N[k] * mass_S[here_S[i]]
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
