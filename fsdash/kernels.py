"""The inner loops, compiled by Numba: serial, because parallelism belongs to whole runs.

Every kernel takes the four-axis arrays of `Dynamics` as they are: an axis of length 1 gets the
stride 0 (`steps`), so nothing is broadcast in memory. Operation counts:

    mix            |X|·|W|·|Y|          one slow mixture, E over x' for every y'
    expect         |S|·|A|·|W|, or mix + |S|·|A| where the dynamics are separable
    bellman        the same, with the maximum taken on the way
    policy_sweeps  m times the same with |A| = 1

Ties in a maximum go to the first action.
"""

import numba
import numpy as np

jit = numba.njit(cache=True, nogil=True)


@jit
def steps(table):
    """1 for each of the first three axes that the table depends on, 0 for one of length 1."""
    x, y, a, _ = table.shape
    return int(x > 1), int(y > 1), int(a > 1)


@jit
def mix(next_slow, noise_W, U_XY, out_XY):
    """out(x, y) = Σ_w p(w) U(x'(x, w), y) for an exogenous slow state."""
    for x in range(out_XY.shape[0]):
        out = out_XY[x]
        out[:] = 0.0
        for w in range(next_slow.shape[3]):
            row, p = U_XY[next_slow[x, 0, 0, w]], noise_W[w]
            for y in range(row.size):
                out[y] += p * row[y]


@jit
def expect(next_slow, next_fast, noise_W, separable, U_XY, out_XYA):
    """out(x, y, a) = E[U(x', y')]."""
    X, Y, A = out_XYA.shape
    (sx, sy, sa), sw = steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = steps(next_fast), int(next_fast.shape[3] > 1)
    mixed_XY = np.empty_like(U_XY)
    if separable:
        mix(next_slow, noise_W, U_XY, mixed_XY)
    for x in range(X):
        for y in range(Y):
            for a in range(A):
                total = 0.0
                if separable:
                    total = mixed_XY[x, next_fast[x * fx, y * fy, a * fa, 0]]
                else:
                    for w in range(noise_W.size):
                        slow = next_slow[x * sx, y * sy, a * sa, w * sw]
                        fast = next_fast[x * fx, y * fy, a * fa, w * fw]
                        total += noise_W[w] * U_XY[slow, fast]
                out_XYA[x, y, a] = total


@jit
def bellman(reward_XYA, next_slow, next_fast, noise_W, separable, gamma, U_XY, HU_XY, greedy_XY):
    """HU(x, y) = max_a r + γ E[U], and the first action that attains it."""
    X, Y, A = reward_XYA.shape
    (sx, sy, sa), sw = steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = steps(next_fast), int(next_fast.shape[3] > 1)
    mixed_XY = np.empty_like(U_XY)
    if separable:
        mix(next_slow, noise_W, U_XY, mixed_XY)
    for x in range(X):
        row = mixed_XY[x]
        for y in range(Y):
            best, arg = -np.inf, 0
            for a in range(A):
                future = 0.0
                if separable:
                    future = row[next_fast[x * fx, y * fy, a * fa, 0]]
                else:
                    for w in range(noise_W.size):
                        slow = next_slow[x * sx, y * sy, a * sa, w * sw]
                        fast = next_fast[x * fx, y * fy, a * fa, w * fw]
                        future += noise_W[w] * U_XY[slow, fast]
                q = reward_XYA[x, y, a] + gamma * future
                if q > best:
                    best, arg = q, a
            HU_XY[x, y] = best
            greedy_XY[x, y] = arg


@jit
def policy_sweeps(reward_XY, next_slow, next_fast, noise_W, separable, gamma, m, goal, U_XY):
    """Up to m sweeps U ← r + γ E[U] of one policy, in place; returns how many were made.

    The action axis has length 1. Every tenth sweep looks at the change δ, and the sweeps end when
    max_x (max_y δ − min_y δ) ≤ goal: what is left is then nearly a function of x alone, which the
    bounds of `fsdash.certificate` remove in one step.
    """
    X, Y = U_XY.shape
    W = noise_W.size
    next_SW = np.empty((0, 0), np.int32)
    if not separable:  # where each state and outcome lead, as one index into U: read m times
        next_SW = flat_successors(next_slow, next_fast, X, Y, W)
    fx, fy, _ = steps(next_fast)
    before_XY = np.empty_like(U_XY)
    for n in range(1, m + 1):
        if separable:
            mix(next_slow, noise_W, U_XY, before_XY)
        else:
            before_XY[:] = U_XY
        before_S = before_XY.reshape(-1)
        look, widest = n % 10 == 0, 0.0
        for x in range(X):
            row, high, low = before_XY[x], -np.inf, np.inf
            for y in range(Y):
                future = 0.0
                if separable:
                    future = row[next_fast[x * fx, y * fy, 0, 0]]
                else:
                    for w in range(W):
                        future += noise_W[w] * before_S[next_SW[x * Y + y, w]]
                new = reward_XY[x, y] + gamma * future
                if look:
                    high, low = max(high, new - U_XY[x, y]), min(low, new - U_XY[x, y])
                U_XY[x, y] = new
            widest = max(widest, high - low)
        if look and widest <= goal:
            return n
    return m


@jit
def flat_successors(next_slow, next_fast, X, Y, W):
    """(|S|, W): the index x'·|Y| + y' that follows each state and outcome of one policy."""
    (sx, sy, _), sw = steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, _), fw = steps(next_fast), int(next_fast.shape[3] > 1)
    next_SW = np.empty((X * Y, W), np.int32)
    for x in range(X):
        for y in range(Y):
            for w in range(W):
                slow = next_slow[x * sx, y * sy, 0, w * sw]
                next_SW[x * Y + y, w] = slow * Y + next_fast[x * fx, y * fy, 0, w * fw]
    return next_SW
