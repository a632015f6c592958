"""The inner loops, compiled by Numba: serial, because parallelism belongs to whole runs.

Every kernel takes the four-axis arrays of `Dynamics` as they are: an axis of length 1 gets the
stride 0 (`steps`), so nothing is broadcast in memory. Operation counts:

    mix            |X|·|W|·|Y|          one slow mixture, E over x' for every y'
    expect         |S|·|A|·|W|, or mix + |S|·|A| where the dynamics are separable
    bellman        the same, with the maximum taken on the way
    policy_sweeps  m times the same with |A| = 1
    choose         |S|·|W|, the tables under a policy

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
    """out(x, y) = Σ_w p(w) U(x'(x, w), y) for an exogenous slow state, two outcomes at a time."""
    sx, W = int(next_slow.shape[0] > 1), next_slow.shape[3]
    for x in range(out_XY.shape[0]):
        out = out_XY[x]
        for w in range(0, W, 2):
            v = min(w + 1, W - 1)
            row, p = U_XY[next_slow[x * sx, 0, 0, w]], noise_W[w]
            other, q = U_XY[next_slow[x * sx, 0, 0, v]], noise_W[v] * (v > w)
            if w == 0:
                for y in range(out.size):
                    out[y] = p * row[y] + q * other[y]
            else:
                for y in range(out.size):
                    out[y] += p * row[y] + q * other[y]


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
def sweep(reward_S, next_WS, next_slow, noise_W, separable, gamma, source_XY, U_XY):
    """U ← r + γ E[U] of one policy, in place; `next_WS` as `flat_successors` gives it.

    `source_XY` is room for the values that are looked up.
    """
    U_S, source_S = U_XY.reshape(-1), source_XY.reshape(-1)
    if separable:
        mix(next_slow, noise_W, U_XY, source_XY)
        next_S = next_WS[0]
        for s in range(U_S.size):
            U_S[s] = reward_S[s] + gamma * source_S[next_S[s]]
    else:
        gather(next_WS, noise_W, U_S, source_S)
        for s in range(U_S.size):
            U_S[s] = reward_S[s] + gamma * source_S[s]


@jit
def policy_sweeps(reward_XY, next_slow, next_fast, noise_W, separable, gamma, m, goal, U_XY):
    """Up to m sweeps U ← r + γ E[U] of one policy, in place; returns how many were made.

    The action axis has length 1. Every tenth sweep looks at the change δ, and the sweeps end when
    max_x (max_y δ − min_y δ) ≤ goal: what is left is then nearly a function of x alone, which the
    bounds of `fsdash.core.certificate` remove in one step.
    """
    X, Y = U_XY.shape
    # Where each outcome and state lead, as one index into the values looked up: read m times.
    next_WS = flat_successors(next_slow, next_fast, separable, X, Y, noise_W.size)
    source_XY, before_XY = np.empty_like(U_XY), np.empty_like(U_XY)
    reward_S = reward_XY.reshape(-1)
    for n in range(1, m + 1):
        look = n % 10 == 0
        if look:
            before_XY[:] = U_XY
        sweep(reward_S, next_WS, next_slow, noise_W, separable, gamma, source_XY, U_XY)
        if look and widest_change(before_XY, U_XY) <= goal:
            return n
    return m


@jit
def widest_change(before_XY, after_XY):
    """max_x (max_y δ − min_y δ) for δ = after − before."""
    widest = 0.0
    for x in range(before_XY.shape[0]):
        high, low = -np.inf, np.inf
        for y in range(before_XY.shape[1]):
            delta = after_XY[x, y] - before_XY[x, y]
            high, low = max(high, delta), min(low, delta)
        widest = max(widest, high - low)
    return widest


@jit
def gather(next_WS, noise_W, U_S, out_S):
    """out(s) = Σ_w p(w) U(next(w, s)), one outcome after the other."""
    for w in range(noise_W.size):
        p, row = noise_W[w], next_WS[w]
        for s in range(out_S.size):
            if w == 0:
                out_S[s] = p * U_S[row[s]]
            else:
                out_S[s] += p * U_S[row[s]]


@jit
def flat_successors(next_slow, next_fast, separable, X, Y, W):
    """(W, |S|): the index x'·|Y| + y' that follows each outcome and state of one policy.

    For separable dynamics it is (1, |S|), x·|Y| + y': the slow outcomes are in the mixture already.
    """
    W = 1 if separable else W
    (sx, sy, _), sw = steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, _), fw = steps(next_fast), int(next_fast.shape[3] > 1)
    next_WS = np.empty((W, X * Y), np.uint32)
    for w in range(W):
        for x in range(X):
            for y in range(Y):
                slow = x if separable else next_slow[x * sx, y * sy, 0, w * sw]
                next_WS[w, x * Y + y] = slow * Y + next_fast[x * fx, y * fy, 0, w * fw]
    return next_WS


@jit
def choose(table, policy_XY):
    """(X, Y, 1, ·): the entries of a four-axis table at the action of a policy."""
    (tx, ty, ta), last = steps(table), table.shape[3]
    X, Y = policy_XY.shape
    out = np.empty((X, Y, 1, last), table.dtype)
    for x in range(X):
        for y in range(Y):
            for w in range(last):
                out[x, y, 0, w] = table[x * tx, y * ty, policy_XY[x, y] * ta, w]
    return out
