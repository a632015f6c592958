"""The inner loops on sparse rows, compiled by Numba; see `fsdash.core.rows` for the arrays.

    number_rows        the non-zeros, once when a model is built
    row_means          the non-zeros of the different rows
    bellman_rows       the same and |S||A|
    sweep_rows         per sweep: the non-zeros of the rows that the policy uses, and |S|
    sweep_row_phases   per phase: the non-zeros of the different rows of its policy, and |S|

Ties in a maximum go to the first action.
"""

import numpy as np

from fsdash.core.kernels import inlined, jit, widest_change

EPSILON = float(np.finfo(float).eps)
SWEEPS_PER_CHECK = 5
"""Sweeps of a policy between two measurements of the change that they make."""


@jit
def number_rows(start_P, target_N, probability_N):
    """Number the different rows from 1 in the order of their first occurrence; empty rows are 0.

    Returns the number of each row, and for each number the row where it first occurs (an empty row
    for 0). A hash table finds equal rows, which are then compared entry by entry.
    """
    P = len(start_P) - 1
    size = 1
    while size < 2 * P + 2:
        size *= 2
    table = np.full(size, -1, np.int64)
    number_P, first_R = np.zeros(P, np.uint32), np.empty(P + 1, np.int64)
    first_R[0], used = -1, 1
    bits_N = probability_N.view(np.uint64)
    for p in range(P):
        start, stop = start_P[p], start_P[p + 1]
        if start == stop:
            continue
        h = np.uint64(1469598103934665603)
        for i in range(start, stop):
            h = (h ^ np.uint64(target_N[i])) * np.uint64(1099511628211)
            h = (h ^ bits_N[i]) * np.uint64(1099511628211)
            h ^= h >> np.uint64(29)
        slot = np.int64(h & np.uint64(size - 1))
        while True:
            r = table[slot]
            if r < 0:
                table[slot], first_R[used], number_P[p] = used, p, used
                used += 1
                break
            other = start_P[first_R[r]]
            equal = start_P[first_R[r] + 1] - other == stop - start
            i = 0
            while equal and i < stop - start:
                equal = (
                    target_N[start + i] == target_N[other + i]
                    and bits_N[start + i] == bits_N[other + i]
                )
                i += 1
            if equal:
                number_P[p] = r
                break
            slot = (slot + 1) & (size - 1)
    return number_P, first_R[:used]


@jit
def copy_clean_rows(start_P, target_N, probability_N, n_states, tolerance, to_N, p_N):
    """Copy rows while they are clean, each divided by its sum; return whether all of them are.

    A row is clean if its next states ascend and its probabilities are positive and sum to 1 within
    the tolerance. A sum that is 1 up to rounding is left alone.
    """
    for p in range(len(start_P) - 1):
        start, stop = start_P[p], start_P[p + 1]
        total, least, ascend = 0.0, np.inf, True
        for i in range(np.uint64(start), np.uint64(stop)):
            to_N[i], p_N[i] = target_N[i], probability_N[i]
            total += probability_N[i]
            least = min(least, probability_N[i])
            ascend &= i == np.uint64(start) or target_N[i - np.uint64(1)] < target_N[i]
        # A NaN fails the comparison with the sum.
        clean = ascend and least > 0 and abs(total - 1) <= tolerance and start < stop
        if not clean or target_N[stop - 1] >= n_states:
            return False
        if abs(total - 1) > (stop - start + 1) * EPSILON:
            for i in range(start, stop):
                p_N[i] /= total
    return True


@jit
def number_used(row_SA, policy_S, n_rows):
    """Number the rows that a policy uses; the empty row keeps 0. Returns numbers and rows."""
    number_R = np.zeros(n_rows, np.uint32)
    used_R, used = np.empty(min(n_rows, policy_S.size) + 1, np.int64), 1
    used_R[0] = 0
    number_S = np.empty(policy_S.size, np.uint32)
    for s in range(policy_S.size):
        row = row_SA[s, policy_S[s]]
        if row > 0 and number_R[row] == 0:
            number_R[row], used_R[used] = used, row
            used += 1
        number_S[s] = number_R[row]
    return number_S, used_R[:used]


@jit
def follow_rows(row_SA, start_R, target_N, probability_N, policy_S):
    """Copy the rows that a policy uses. Returns the number of each state's row, and the rows."""
    number_S, used_R = number_used(row_SA, policy_S, len(start_R) - 1)
    start_U, target_M, probability_M = take_rows(start_R, target_N, probability_N, used_R)
    return number_S, start_U, target_M, probability_M


@jit
def take_rows(start_P, target_N, probability_N, rows_R):
    """Copy some rows; −1 stands for an empty row."""
    size, R = 0, len(rows_R)
    start_R = np.zeros(R + 1, np.int64)
    for r in range(R):
        if rows_R[r] >= 0:
            size += start_P[rows_R[r] + 1] - start_P[rows_R[r]]
        start_R[r + 1] = size
    to_N, p_N = np.empty(size, np.uint32), np.empty(size)
    for r in range(R):
        if rows_R[r] >= 0:
            source = start_P[rows_R[r]]
            for i in range(start_R[r + 1] - start_R[r]):
                to_N[start_R[r] + i] = target_N[source + i]
                p_N[start_R[r] + i] = probability_N[source + i]
    return start_R, to_N, p_N


@jit
def slow_law_gap(row_XYA, start_R, target_N, probability_N, enough):
    """Return the largest L₁ distance between the law of x' of a pair and that of x's first pair.

    The search ends at the first distance above `enough`.
    """
    X, Y, A = row_XYA.shape
    reference_X, law_X = np.zeros(X), np.zeros(X)
    seen_R = np.full(len(start_R) - 1, -1, np.int64)
    widest = 0.0
    for x in range(X):
        first = True
        reference_X[:] = 0.0
        for y in range(Y):
            for a in range(A):
                row = row_XYA[x, y, a]
                if row == 0 or seen_R[row] == x:
                    continue
                seen_R[row] = x
                for i in range(start_R[row], start_R[row + 1]):
                    slow = target_N[i] // Y
                    if first:
                        reference_X[slow] += probability_N[i]
                    else:
                        law_X[slow] += probability_N[i]
                if first:
                    first = False
                    continue
                # Σ |law − reference| over the x' of this row, plus the reference's mass elsewhere.
                gap, elsewhere = 0.0, 1.0
                for i in range(start_R[row], start_R[row + 1]):
                    slow = target_N[i] // Y
                    if law_X[slow] >= 0:
                        gap += abs(law_X[slow] - reference_X[slow])
                        elsewhere -= reference_X[slow]
                        law_X[slow] = -1.0
                for i in range(start_R[row], start_R[row + 1]):
                    law_X[target_N[i] // Y] = 0.0
                widest = max(widest, gap + max(elsewhere, 0.0))
                if widest > enough:
                    return widest
    return widest


@jit
def row_means(start_R, stop_R, target_N, probability_N, U_S, out_R):
    """Set out(r) = Σ p·U(target) over the entries start_R[r] to stop_R[r] − 1 of row r."""
    for r in range(out_R.size):
        out_R[r] = row_mean(start_R[r], stop_R[r], target_N, probability_N, U_S)


@inlined
def row_mean(start, stop, target_N, probability_N, U_S):
    """Return Σ p·U(target) over the entries start to stop − 1.

    A compiled loop checks signed indices for negative values, which takes a tenth of its time.
    """
    total = 0.0
    for i in range(np.uint64(start), np.uint64(stop)):
        total += probability_N[i] * U_S[target_N[i]]
    return total


@jit
def bellman_rows(
    reward_XYA, row_XYA, start_R, target_N, probability_N, gamma, U_XY, HU_XY, greedy_XY
):
    """Set HU(x, y) = max_a r + γ E[U], and the first action that attains it."""
    mean_R = np.empty(len(start_R) - 1)
    row_means(start_R[:-1], start_R[1:], target_N, probability_N, U_XY.reshape(-1), mean_R)
    maximise(0, U_XY.size, reward_XYA, row_XYA, mean_R, gamma, HU_XY, greedy_XY)


@jit
def bellman_own_rows(
    first,
    last,
    reward_XYA,
    row_XYA,
    start_R,
    target_N,
    probability_N,
    gamma,
    U_XY,
    HU_XY,
    greedy_XY,
):
    """Do the same as `bellman_rows` for the flattened states first to last − 1, without a list of
    the rows' means: it saves memory traffic if nearly every pair has a row of its own."""
    A, U_S, HU_S = reward_XYA.shape[2], U_XY.reshape(-1), HU_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
    greedy_S, Q_A = greedy_XY.reshape(-1), np.empty(A)
    for s in range(first, last):
        for a in range(A):
            row = row_SA[s, a]
            mean = row_mean(start_R[row], start_R[row + 1], target_N, probability_N, U_S)
            Q_A[a] = reward_SA[s, a] + gamma * mean
        best, arg = -np.inf, 0
        for a in range(A):
            if Q_A[a] > best:
                best, arg = Q_A[a], a
        HU_S[s] = best
        greedy_S[s] = arg


@jit
def maximise(first, last, reward_XYA, row_XYA, mean_R, gamma, HU_XY, greedy_XY):
    """Compute `bellman_rows` from the rows' means, for the flattened states first to last − 1."""
    A, HU_S, greedy_S = reward_XYA.shape[2], HU_XY.reshape(-1), greedy_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
    for s in range(first, last):
        best, arg = -np.inf, 0
        for a in range(A):
            q = reward_SA[s, a] + gamma * mean_R[row_SA[s, a]]
            if q > best:
                best, arg = q, a
        HU_S[s] = best
        greedy_S[s] = arg


@jit
def sweep_row_phases(reward_PS, row_PS, first_P, start_R, target_N, probability_N, gamma, n, U_XY):
    """Make n sweeps U ← r + γ E[U] through the phases, in place.

    Phase p uses the rows first_P[p] to first_P[p + 1] − 1.
    """
    U_S, mean_R = U_XY.reshape(-1), np.empty(len(start_R) - 1)
    for _ in range(n):
        for p in range(len(reward_PS)):
            for r in range(first_P[p], first_P[p + 1]):
                mean_R[r] = row_mean(start_R[r], start_R[r + 1], target_N, probability_N, U_S)
            for s in range(U_S.size):
                U_S[s] = reward_PS[p, s] + gamma * mean_R[row_PS[p, s]]


@jit
def follow_and_sweep(
    reward_XYA, row_XYA, start_R, target_N, probability_N, policy_XY, gamma, m, goal, U_XY
):
    """Make up to m sweeps of a policy, in place; return how many were made (`sweep_rows`)."""
    A, policy_S = reward_XYA.shape[2], policy_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
    reward_S = np.empty(policy_S.size)
    for s in range(policy_S.size):
        reward_S[s] = reward_SA[s, policy_S[s]]
    row_S, start_U, target_M, probability_M = follow_rows(
        row_SA, start_R, target_N, probability_N, policy_S
    )
    law = (start_U[:-1], start_U[1:], target_M, probability_M)
    return sweep_rows(reward_S, row_S, *law, gamma, m, goal, U_XY)


@jit
def sweep_rows(reward_S, row_S, start_R, stop_R, target_N, probability_N, gamma, m, goal, U_XY):
    """Make up to m sweeps U ← r + γ E[U] of one policy, in place; return how many were made.

    Every fifth sweep measures the change δ; the sweeps end when max_x (max_y δ − min_y δ) ≤ goal.
    """
    U_S, mean_R, before_XY = U_XY.reshape(-1), np.empty(len(start_R)), np.empty_like(U_XY)
    for n in range(1, m + 1):
        measure = n % SWEEPS_PER_CHECK == 0
        if measure:
            before_XY[:] = U_XY
        row_means(start_R, stop_R, target_N, probability_N, U_S, mean_R)
        look_up(reward_S, row_S, mean_R, gamma, U_S)
        if measure and widest_change(before_XY, U_XY) <= goal:
            return n
    return m


@jit
def look_up(reward_S, row_S, mean_R, gamma, U_S):
    """Set U(s) = r + γ E[U] from the rows' means."""
    for s in range(U_S.size):
        U_S[s] = reward_S[s] + gamma * mean_R[row_S[s]]


@jit
def push_forward_rows(row_S, start_R, target_N, probability_N, m_S, out_S):
    """Add p·m(s) to out(target) for every entry of the row of every state."""
    for s in range(row_S.size):
        if m_S[s] != 0:
            for i in range(start_R[row_S[s]], start_R[row_S[s] + 1]):
                out_S[target_N[i]] += probability_N[i] * m_S[s]


@jit
def next_state(start_R, target_N, probability_N, row, u):
    """Return the next state of a row at the quantile u of its distribution, 0 ≤ u < 1."""
    i, last = start_R[row], start_R[row + 1] - 1
    below = probability_N[i]
    while u >= below and i < last:
        i += 1
        below += probability_N[i]
    return np.int64(target_N[i])


@jit
def split_noise(row_XYA, start_R, target_N, probability_N, u_N, x_N, y_N, action_N, picked_N):
    """Return the part of each uniform number that picked y' after x' was picked, from 0 to 1."""
    Y = row_XYA.shape[1]
    for t in range(u_N.size):
        row = row_XYA[x_N[t], y_N[t], action_N[t]]
        i, end = start_R[row], start_R[row + 1]
        low = 0.0
        while True:
            slow, high = target_N[i] // Y, low
            while i < end and target_N[i] // Y == slow:
                high += probability_N[i]
                i += 1
            if u_N[t] < high or i == end:
                picked_N[t] = min(max((u_N[t] - low) / (high - low), 0.0), 1.0)
                break
            low = high
