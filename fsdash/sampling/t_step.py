"""Kernels of T-step samples, by counts or by paths, and rows of the (T−1)-step kernel K."""

from __future__ import annotations

import numpy as np

from fsdash.core.kernels import axis_strides, jit
from fsdash.sampling.laws import AliasRows, binomial, draw_counts, invert, pick_action


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
def q_by_counts(
    rng,
    law,
    rows,
    frequent,
    M,
    random,
    reward_XYA,
    next_slow,
    next_fast,
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
    rng,
    runs,
    slow_T,
    fast_T,
    M,
    common,
    random,
    reward_XYA,
    next_slow,
    next_fast,
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


@jit
def lower_rows(slow_T, fast_T, noise_W, X, Y, widest, limit):
    """Compute the `AliasRows` of K by exact propagation, and whether they fit.

    A row may have `widest` non-zeros, all rows together `limit`. The work is (T−1)·|W| operations
    per non-zero.
    """
    px, py, pw = int(slow_T.shape[1] > 1), int(slow_T.shape[2] > 1), int(slow_T.shape[4] > 1)
    qx, qy, qw = int(fast_T.shape[1] > 1), int(fast_T.shape[2] > 1), int(fast_T.shape[4] > 1)
    S = X * Y
    start_S, log_S, odds_S = np.zeros(S + 1, np.int64), np.zeros(S), np.zeros(S)
    target_N, keep_N = np.empty(limit, np.uint32), np.empty(limit)
    alias_N = np.empty(limit, np.uint32)
    here_S, there_S = np.empty(S, np.int64), np.empty(S, np.int64)
    mass_S, flow_S = np.zeros(S), np.zeros(S)
    seen_S, stamp = np.zeros(S, np.int64), 0
    for s in range(S):
        here_S[0], mass_S[s], size = s, 1.0, 1
        for t in range(len(slow_T)):
            stamp += 1
            reached = 0
            for i in range(size):
                x, y = here_S[i] // Y, here_S[i] % Y
                for w in range(noise_W.size):
                    if noise_W[w] > 0:
                        slow = np.int64(slow_T[t, x * px, y * py, 0, w * pw])
                        to = slow * Y + np.int64(fast_T[t, x * qx, y * qy, 0, w * qw])
                        if seen_S[to] != stamp:
                            seen_S[to], flow_S[to] = stamp, 0.0
                            there_S[reached] = to
                            reached += 1
                        flow_S[to] += noise_W[w] * mass_S[here_S[i]]
            here_S, there_S, mass_S, flow_S, size = there_S, here_S, flow_S, mass_S, reached
            if size > widest:
                return False, AliasRows(start_S, target_N, keep_N, alias_N, log_S, odds_S)
        start = start_S[s]
        if start + size > limit:
            return False, AliasRows(start_S, target_N, keep_N, alias_N, log_S, odds_S)
        log_S[s], odds_S[s] = alias_row(
            size, here_S, mass_S, start, target_N, keep_N, alias_N, there_S
        )
        start_S[s + 1] = start + size
    N = start_S[S]
    return True, AliasRows(start_S, target_N[:N], keep_N[:N], alias_N[:N], log_S, odds_S)
