"""Samples from index tables: M draws of the common noise for each (x, y, a), as counts or paths."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fsdash.core.draws import (
    LowerKernel,
    Multinomial,
    TablePolicies,
    draw_counts,
    frequent_binomials,
    invert,
    lower_rows,
    multinomial,
    noise_runs,
    pick_action,
    row_means,
)
from fsdash.core.kernels import axis_strides, jit
from fsdash.core.law import Policies

if TYPE_CHECKING:
    from fsdash.core.tables import Tables


class TableSamples:
    """M draws from each pair, and paths that follow the policies `lower` after their first step."""

    def __init__(self, law: Tables, M: int, lower: Policies | None = None) -> None:
        self.law, self.M = law, M
        self.tables = (read_only(law.next_slow), read_only(law.next_fast))
        if lower is not None:
            self.runs = noise_runs(law.noise_W)
            followed = [law.follow(np.asarray(policy_XY)) for policy_XY in lower]
            slow_T = _stack([d.next_slow for d in followed])
            fast_T = _stack([d.next_fast for d in followed])
            self.policies = TablePolicies(slow_T, fast_T, law.noise_W, law.shape[1])

    @cached_property
    def counts(self) -> Multinomial:
        """Tables for the counts of the noise in M draws."""
        return multinomial(self.law.noise_W, self.M)

    def under(self, policy_XY: np.ndarray) -> TableSamples:
        """The draws of a policy, which has one action in each state."""
        _ = self.counts  # shared with what follows
        followed, law = copy(self), self.law.follow(policy_XY)
        followed.tables = (read_only(law.next_slow), read_only(law.next_fast))
        return followed

    def one_step(self, *how) -> None:
        """Set the sampled Q and a greedy action of some states."""
        one_step(self.counts, *self.tables, self.M, *how)

    def lower_kernel(self, widest: int, limit: int) -> LowerKernel | None:
        """Return K, or None if a row has more than `widest` or K more than `limit` non-zeros."""
        X, Y, _ = self.law.shape
        T = len(self.policies.slow_T)
        fits, rows = lower_rows(self.policies, T, X * Y, widest, limit)
        return LowerKernel(rows, frequent_binomials(self.counts, rows, self.M)) if fits else None

    def count(self, kernel: LowerKernel, *how) -> None:
        """Sample the T-step Q by counts over the rows of K."""
        q_by_counts(self.counts, *kernel, *self.tables, self.M, *how)

    def simulate(self, *how) -> None:
        """Sample the T-step Q by paths, and store their ends unless `end_NAM` is empty."""
        q_by_simulation(self.runs, *self.policies[:2], *self.tables, self.M, *how)

    @cached_property
    def agnostic_counts(self) -> Multinomial:
        """Counts of x·|W| + w for a uniform x. Without noise of the fast state there is one w."""
        noise_W = self.law.noise_W if self.tables[1].shape[3] > 1 else np.ones(1)
        X = self.law.shape[0]
        return multinomial(np.tile(noise_W / X, X), self.M)

    def agnostic(self, real_XY: np.ndarray, *how) -> None:
        """Set the sampled maximum and a greedy action of fast states, with x drawn uniformly."""
        agnostic(self.agnostic_counts, self.tables[1], self.M, *how)


def read_only(table: np.ndarray) -> np.ndarray:
    """Return a read-only contiguous view: the type for which the kernels are compiled."""
    view = np.ascontiguousarray(table).view()
    view.flags.writeable = False
    return view


def _stack(tables: list[np.ndarray]) -> np.ndarray:
    """Stack the tables of T−1 policies to (T−1, X, Y, 1, W); (0, 1, 1, 1, 1) if there are none."""
    return np.stack(tables) if tables else np.empty((0, 1, 1, 1, 1), np.uint32)


@jit
def one_step(
    law,
    next_slow,
    next_fast,
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
    Y, A = reward_XYA.shape[1:]
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    size_R = np.empty(1 if common else A, np.int64)
    w_P, n_P = np.empty(size_R.size * M, np.int64), np.empty(size_R.size * M, np.int64)
    first = law.outcome_W[0]
    for n in range(greedy_N.size):
        x, y = states_N[n] // Y, states_N[n] % Y
        draw_counts(rng, law, size_R, w_P, n_P)
        low = high = 0
        for a in range(A):
            if a == 0 or not common:
                low, high = high, high + size_R[a]
            slow = next_slow[x * sx, y * sy, a * sa, first * sw]
            base = U_XY[slow, next_fast[x * fx, y * fy, a * fa, first * fw]]
            # Differences to one value, so that equal values have exactly that mean for any counts.
            total = 0.0
            for i in range(low, high):
                w = w_P[i]
                slow = next_slow[x * sx, y * sy, a * sa, w * sw]
                fast = next_fast[x * fx, y * fy, a * fa, w * fw]
                total += n_P[i] * (U_XY[slow, fast] - base)
            Q_NA[n, a] = reward_XYA[x, y, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def q_by_counts(
    law,
    rows,
    frequent,
    next_slow,
    next_fast,
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
    """Sample the T-step Q by counts: n(s₁) first, then s_T within the row of each s₁.

    `discount` is γᵀ⁻¹.
    """
    Y, A = reward_XYA.shape[1:]
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    J1_S, V_S = J1_XY.reshape(-1), V_XY.reshape(-1)
    most = A * (M + 1)
    size_A, w_P, n_P = np.empty(A, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    s1_P, count_P, mean_P = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    first = law.outcome_W[0]
    for n in range(greedy_N.size):
        x, y = states_N[n] // Y, states_N[n] % Y
        draw_counts(rng, law, size_A, w_P, n_P)
        # The pairs (s₁, count) of all actions, the most likely s₁ of each action last.
        drawn = size = 0
        for a in range(A):
            left = M
            for i in range(size_A[a] + 1):
                w, count = first, left
                if i < size_A[a]:
                    w, count = w_P[drawn], n_P[drawn]
                    drawn += 1
                if count > 0:
                    slow = np.int64(next_slow[x * sx, y * sy, a * sa, w * sw])
                    fast = np.int64(next_fast[x * fx, y * fy, a * fa, w * fw])
                    s1_P[size], count_P[size] = slow * Y + fast, count
                    size += 1
                    left -= count
        row_means(rng, rows, frequent, M, V_S, size, s1_P, count_P, mean_P)
        i = 0
        for a in range(A):
            base, total, left = J1_S[s1_P[i]] + discount * mean_P[i], 0.0, M
            while left > 0:
                total += count_P[i] * (J1_S[s1_P[i]] + discount * mean_P[i] - base)
                left -= count_P[i]
                i += 1
            Q_NA[n, a] = reward_XYA[x, y, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def draw_noise(rng, runs, w_N):
    """Fill w_N with single draws, one random number per outcome that is not the most likely."""
    w_N[:] = runs.first
    i = 0
    while i < w_N.size:
        k = invert(rng, runs.cdf_N, runs.guide_G)
        i += runs.length_N[k]
        if i < w_N.size:
            w_N[i] = runs.outcome_N[k]
        i += 1


@jit
def flat_phases(table_T):
    """Return a stacked table with one flat row per phase, and the strides of x, y and w in a row.

    The stride is 0 for an axis that the table does not depend on.
    """
    T, X, Y, _, W = table_T.shape
    return table_T.reshape(T, X * Y * W), Y * W * int(X > 1), W * int(Y > 1), int(W > 1)


@jit
def q_by_simulation(
    runs,
    slow_T,
    fast_T,
    next_slow,
    next_fast,
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
    """Sample the T-step Q by M paths: the first action, then π₁, …, π_{T−1} (`slow_T`, `fast_T`).

    Their ends s_T are stored in `end_NAM` unless it is empty.
    """
    Y, A = reward_XYA.shape[1:]
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    (slow_TN, px, py, pw), (fast_TN, qx, qy, qw) = flat_phases(slow_T), flat_phases(fast_T)
    T = len(slow_T) + 1
    w_N = np.full(T * M, runs.first)
    w_TM, value_M = w_N.reshape(T, M), np.empty(M)
    slow_M, fast_M = np.empty(M, np.int64), np.empty(M, np.int64)
    for n in range(greedy_N.size):
        x, y = states_N[n] // Y, states_N[n] % Y
        for a in range(A):
            if runs.cdf_N.size > 1 and (a == 0 or not common):
                draw_noise(rng, runs, w_N)
            for j in range(M):
                w = w_TM[0, j]
                slow_M[j] = next_slow[x * sx, y * sy, a * sa, w * sw]
                fast_M[j] = next_fast[x * fx, y * fy, a * fa, w * fw]
                value_M[j] = J1_XY[slow_M[j], fast_M[j]]
            # All paths advance one step at a time: they are independent, so look-ups overlap.
            for t in range(T - 1):
                slow_N, fast_N, w_M = slow_TN[t], fast_TN[t], w_TM[t + 1]
                for j in range(M):
                    slow, fast, w = slow_M[j], fast_M[j], w_M[j]
                    slow_M[j] = slow_N[slow * px + fast * py + w * pw]
                    fast_M[j] = fast_N[slow * qx + fast * qy + w * qw]
            base, total = 0.0, 0.0
            for j in range(M):
                value = value_M[j] + discount * V_XY[slow_M[j], fast_M[j]]
                base = value if j == 0 else base
                total += value - base
            if end_NAM.size > 0:
                for j in range(M):
                    end_NAM[n, a, j] = slow_M[j] * Y + fast_M[j]
            Q_NA[n, a] = reward_XYA[x, y, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@jit
def agnostic(
    law,
    next_fast,
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
    """Set the sampled maximum and a greedy action of the fast states start, start + 1, …

    An outcome of the law encodes a slow state and a noise outcome (x, w) as x·|W| + w.
    """
    A, W = reward_XYA.shape[2], next_fast.shape[3]
    fx, fy, fa = axis_strides(next_fast)
    size_R, Q_A = np.empty(1 if common else A, np.int64), np.empty(A)
    o_P, n_P = np.empty(size_R.size * M, np.int64), np.empty(size_R.size * M, np.int64)
    first = law.outcome_W[0]
    for n in range(best_N.size):
        y = start + n
        draw_counts(rng, law, size_R, o_P, n_P)
        low = high = 0
        for a in range(A):
            if a == 0 or not common:
                low, high = high, high + size_R[a]
            Q_A[a] = -np.inf
            if not allowed_YA[y, a]:
                continue
            x = first // W
            base = reward_XYA[x, y, a] + gamma * U_Y[next_fast[x * fx, y * fy, a * fa, first % W]]
            # Differences to one sample, so that equal samples have exactly that mean.
            total = 0.0
            for i in range(low, high):
                x, w = o_P[i] // W, o_P[i] % W
                value = reward_XYA[x, y, a] + gamma * U_Y[next_fast[x * fx, y * fy, a * fa, w]]
                total += n_P[i] * (value - base)
            Q_A[a] = base + total / M
        greedy_N[n] = pick_action(rng, Q_A, random)
        best_N[n] = Q_A[greedy_N[n]]


@jit
def draw_from_tables(next_slow, next_fast, cdf_W, Y, A, pair_N, u_N, target_N):
    """Draw one outcome of the common noise for each pair."""
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    for n in range(pair_N.size):
        s, a = pair_N[n] // A, pair_N[n] % A
        x, y = s // Y, s % Y
        w = min(np.searchsorted(cdf_W, u_N[n], side="right"), cdf_W.size - 1)
        slow = np.int64(next_slow[x * sx, y * sy, a * sa, w * sw])
        target_N[n] = slow * Y + np.int64(next_fast[x * fx, y * fy, a * fa, w * fw])
