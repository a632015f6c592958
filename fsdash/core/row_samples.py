"""Samples from sparse rows: M draws from the row of each (x, y, a), as counts or one by one.

The counts of M draws from a row are drawn as in `fsdash.core.draws`: first how many are not the
row's most likely next state, which is binomial, then each of those from an alias table. Common
random numbers invert the rows' CDFs at the same uniform numbers: the draws of two actions then move
together as far as their distributions allow.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsdash.core.draws import (
    AliasRows,
    LowerKernel,
    RowPolicies,
    alias_row,
    constant_binomials,
    lower_rows,
    pick_action,
    row_means,
)
from fsdash.core.kernels import inlined, jit
from fsdash.core.law import Policies

if TYPE_CHECKING:
    from fsdash.core.rows import Rows


class RowCdf(NamedTuple):
    """The CDF within each row, for draws by inversion."""

    start_R: np.ndarray
    target_N: np.ndarray
    cdf_N: np.ndarray


class RowSamples:
    """M draws from each pair, and paths that follow the policies `lower` after their first step."""

    def __init__(self, law: Rows, M: int, lower: Policies | None = None) -> None:
        self.law, self.M, self.row_XYA = law, M, law.row_XYA
        X, Y, _ = law.shape
        if lower is not None:
            rows = [rows_at(law.row_XYA, np.asarray(policy_XY)) for policy_XY in lower]
            row_TS = np.array(rows, law.row_XYA.dtype).reshape(len(lower), X * Y)
            self.policies = RowPolicies(row_TS, law.start_R, law.target_N, law.probability_N)

    @cached_property
    def tables(self) -> tuple:
        """The alias tables of the rows, the binomials of M draws from them, and their CDFs."""
        law, (X, Y, _) = self.law, self.law.shape
        rows = alias_tables(law.start_R, law.target_N, law.probability_N, X * Y)
        return rows, constant_binomials(rows, self.M), law.cdf

    def under(self, policy_XY: np.ndarray) -> RowSamples:
        """The draws of a policy, which has one action in each state."""
        _ = self.tables  # remain valid, because the rows are the same
        followed = copy(self)
        followed.row_XYA = rows_at(self.law.row_XYA, policy_XY.astype(np.int64))
        return followed

    def one_step(self, *how) -> None:
        """Set the sampled Q and a greedy action of some states."""
        one_step_rows(*self.tables, self.row_XYA, self.M, *how)

    def lower_kernel(self, widest: int, limit: int) -> LowerKernel | None:
        """Return K, or None if a row has more than `widest` or K more than `limit` non-zeros."""
        fits, rows = lower_rows(self.policies, *self.policies.row_TS.shape, widest, limit)
        return LowerKernel(rows, constant_binomials(rows, self.M)) if fits else None

    def count(self, kernel: LowerKernel, *how) -> None:
        """Sample the T-step Q by counts over the rows of K."""
        q_by_row_counts(self.tables[0], *kernel, self.row_XYA, self.M, *how)

    def simulate(self, *how) -> None:
        """Sample the T-step Q by paths, and store their ends unless `end_NAM` is empty."""
        rows, _, cdf = self.tables
        q_by_row_simulation(rows, cdf, self.policies.row_TS, self.row_XYA, self.M, *how)

    def agnostic(self, real_XY: np.ndarray, *how) -> None:
        """Set the sampled maximum and a greedy action of fast states, with x drawn uniformly."""
        agnostic_rows(self.law.cdf, self.row_XYA, real_XY, self.M, *how)


def rows_at(row_XYA: np.ndarray, policy_XY: np.ndarray) -> np.ndarray:
    """The rows of a policy's actions, shape (X, Y, 1), read-only as the kernels are compiled."""
    row_XY1 = np.take_along_axis(row_XYA, policy_XY[:, :, None], axis=2)
    row_XY1.flags.writeable = False
    return row_XY1


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
def invert_row(cdf, r, u):
    """Return the next state of row r at the uniform number u, by bisection."""
    low, high = cdf.start_R[r], cdf.start_R[r + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if u < cdf.cdf_N[middle]:
            high = middle
        else:
            low = middle + 1
    return cdf.target_N[low]


@jit
def one_step_rows(
    rows,
    frequent,
    cdf,
    row_XYA,
    M,
    rng,
    common,
    random,
    reward_XYA,
    gamma,
    U_XY,
    states_N,
    Q_NA,
    greedy_N,
):
    """Set Q and a greedy action of the flattened states `states_N`."""
    A, U_S = Q_NA.shape[1], U_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
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
                base, total = U_S[invert_row(cdf, row_A[i], u_M[0])], 0.0
                for j in range(1, M):
                    total += U_S[invert_row(cdf, row_A[i], u_M[j])] - base
                mean_A[i] = base + total / M
        else:
            row_means(rng, rows, frequent, M, U_S, size, row_A, count_A, mean_A)
        size = 0
        for a in range(A):
            Q_NA[n, a] = -np.inf
            if reward_SA[s, a] > -np.inf:
                Q_NA[n, a] = reward_SA[s, a] + gamma * mean_A[size]
                size += 1
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def q_by_row_counts(
    rows,
    kernel,
    frequent,
    row_XYA,
    M,
    rng,
    random,
    reward_XYA,
    gamma,
    discount,
    J1_XY,
    V_XY,
    states_N,
    Q_NA,
    greedy_N,
):
    """Sample the T-step Q by counts: n(s₁) from the row of (s, a), then s_T from row s₁ of K.

    `discount` is γᵀ⁻¹.
    """
    A, J1_S, V_S = Q_NA.shape[1], J1_XY.reshape(-1), V_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
    s1_P, count_P, mean_P = np.empty(M + 1, np.int64), np.empty(M + 1, np.int64), np.empty(M + 1)
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
    rows,
    cdf,
    row_TS,
    row_XYA,
    M,
    rng,
    common,
    random,
    reward_XYA,
    gamma,
    discount,
    J1_XY,
    V_XY,
    states_N,
    Q_NA,
    greedy_N,
    end_NAM,
):
    """Sample the T-step Q by M paths: the first action, then the rows of π₁, …, π_{T−1}.

    Their ends s_T are stored in `end_NAM` unless it is empty.
    """
    A, J1_S, V_S = Q_NA.shape[1], J1_XY.reshape(-1), V_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
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
                        to = np.int64(invert_row(cdf, r, u_TM[t, j]))
                    else:
                        to = np.int64(draw_target(rng, rows, r))
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
def agnostic_rows(
    cdf,
    row_XYA,
    real_XY,
    M,
    rng,
    common,
    random,
    reward_XYA,
    allowed_YA,
    gamma,
    U_Y,
    start,
    best_N,
    greedy_N,
):
    """The same for sparse rows: each sample draws a slow state and then a next state."""
    X, Y, A = reward_XYA.shape
    x_X, x_M, u_M, Q_A = np.empty(X, np.int64), np.empty(M, np.int64), np.empty(M), np.empty(A)
    for n in range(best_N.size):
        y, size, drawn = start + n, 0, False
        for x in range(X):
            if real_XY[x, y]:
                x_X[size] = x
                size += 1
        for a in range(A):
            Q_A[a] = -np.inf
            if not allowed_YA[y, a]:
                continue
            base, total = 0.0, 0.0
            for j in range(M):
                if not (common and drawn):
                    x_M[j], u_M[j] = x_X[int(rng.random() * size)], rng.random()
                x = x_M[j]
                to = np.int64(invert_row(cdf, row_XYA[x, y, a], u_M[j]))
                value = reward_XYA[x, y, a] + gamma * U_Y[to % Y]
                base = value if j == 0 else base
                total += value - base
            drawn = True
            Q_A[a] = base + total / M
        greedy_N[n] = pick_action(rng, Q_A, random)
        best_N[n] = Q_A[greedy_N[n]]


@jit
def draw_from_rows(cdf, row_N, u_N, out_N):
    """Draw one next state from each row."""
    for n in range(row_N.size):
        out_N[n] = invert_row(cdf, row_N[n], u_N[n])
