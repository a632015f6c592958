"""The inner loops, compiled by Numba. They are serial: whole runs are parallel, and large loops are
cut into blocks outside (`fsdash.core.threads`).

Every kernel takes the four-axis arrays of `Tables` as they are. An axis of length 1 gets the
stride 0 (`axis_strides`), so nothing is broadcast in memory. Operation counts:

    average_slow   |X|·|W|·|Y|          E over x' for every (x, y')
    expect         |S|·|A|·|W|, or average_slow + |S|·|A| if the dynamics are separable
    bellman        the same as expect, with the maximum in the same loop
    policy_sweeps  m times the same with |A| = 1
    choose         |S|·|W|              the tables under a policy

Ties in a maximum go to the first action.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numba
import numpy as np


def _choose_cache_folder() -> None:
    """Let Numba keep compiled kernels in a temporary folder if it finds no writable folder.

    Numba tries the source's folder and the user's cache folder. If neither is writable (a read-only
    installation without a home folder) it would refuse to import this module. Worker processes
    inherit the choice through the environment.
    """
    try:
        numba.njit(cache=True)(_choose_cache_folder)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="fsdash-kernels-")
        os.environ["NUMBA_CACHE_DIR"] = folder
        numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


_choose_cache_folder()
jit: Callable[[Any], Any] = numba.njit(cache=True, nogil=True)
inlined: Callable[[Any], Any] = numba.njit(nogil=True, inline="always")
"""Decorator for what is called very often: a single draw, the mean of one row. A call that is not
inlined counts references to every array argument, which may take longer than the work."""


@jit
def axis_strides(table):
    """Return 1 for each of the first three axes that the table depends on, 0 for length 1."""
    x, y, a, _ = table.shape
    return int(x > 1), int(y > 1), int(a > 1)


@jit
def average_slow(next_slow, noise_W, U_XY, out_XY):
    """Set out(x, y) = Σ_w p(w) U(x'(x, w), y) for an exogenous slow state.

    Two outcomes are added at a time, which halves the passes over a row.
    """
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
    """Set out(x, y, a) = E[U(x', y')]."""
    X, Y, A = out_XYA.shape
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    average_XY = np.empty_like(U_XY)
    if separable:
        average_slow(next_slow, noise_W, U_XY, average_XY)
    for x in range(X):
        for y in range(Y):
            for a in range(A):
                total = 0.0
                if separable:
                    total = average_XY[x, next_fast[x * fx, y * fy, a * fa, 0]]
                else:
                    for w in range(noise_W.size):
                        slow = next_slow[x * sx, y * sy, a * sa, w * sw]
                        fast = next_fast[x * fx, y * fy, a * fa, w * fw]
                        total += noise_W[w] * U_XY[slow, fast]
                out_XYA[x, y, a] = total


@jit
def bellman(reward_XYA, next_slow, next_fast, noise_W, separable, gamma, U_XY, HU_XY, greedy_XY):
    """Set HU(x, y) = max_a r + γ E[U], and the first action that attains it."""
    X, Y, A = reward_XYA.shape
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    average_XY = np.empty_like(U_XY)
    if separable:
        average_slow(next_slow, noise_W, U_XY, average_XY)
    for x in range(X):
        row = average_XY[x]
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
    """Apply U ← r + γ E[U] of one policy, in place, with `next_WS` from `flat_successors`.

    `source_XY` is working memory for the values that are looked up.
    """
    U_S, source_S = U_XY.reshape(-1), source_XY.reshape(-1)
    if separable:
        average_slow(next_slow, noise_W, U_XY, source_XY)
        next_S = next_WS[0]
        for s in range(U_S.size):
            U_S[s] = reward_S[s] + gamma * source_S[next_S[s]]
    else:
        gather(next_WS, noise_W, U_S, source_S)
        for s in range(U_S.size):
            U_S[s] = reward_S[s] + gamma * source_S[s]


@jit
def policy_sweeps(reward_XY, next_slow, next_fast, noise_W, separable, gamma, m, goal, U_XY):
    """Make up to m sweeps U ← r + γ E[U] of one policy, in place; return how many were made.

    The action axis has length 1. Every tenth sweep measures the change δ, and the sweeps end when
    max_x (max_y δ − min_y δ) ≤ goal: the remaining error is then nearly a function of x alone,
    which the bounds of `fsdash.core.certificate` remove in one step.
    """
    X, Y = U_XY.shape
    # One flat index per outcome and state: computed once, read m times.
    next_WS = flat_successors(next_slow, next_fast, separable, X, Y, noise_W.size)
    source_XY, before_XY = np.empty_like(U_XY), np.empty_like(U_XY)
    reward_S = reward_XY.reshape(-1)
    for n in range(1, m + 1):
        measure = n % 10 == 0
        if measure:
            before_XY[:] = U_XY
        sweep(reward_S, next_WS, next_slow, noise_W, separable, gamma, source_XY, U_XY)
        if measure and widest_change(before_XY, U_XY) <= goal:
            return n
    return m


@jit
def widest_change(before_XY, after_XY):
    """Return max_x (max_y δ − min_y δ) for δ = after − before."""
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
    """Set out(s) = Σ_w p(w) U(next(w, s)), one outcome after the other."""
    for w in range(noise_W.size):
        p, row = noise_W[w], next_WS[w]
        for s in range(out_S.size):
            if w == 0:
                out_S[s] = p * U_S[row[s]]
            else:
                out_S[s] += p * U_S[row[s]]


@jit
def flat_successors(next_slow, next_fast, separable, X, Y, W):
    """Return the index x'·|Y| + y' that follows each outcome and state of one policy: (W, |S|).

    For separable dynamics it is x·|Y| + y', (1, |S|): `average_slow` already averages over x'.
    """
    W = 1 if separable else W
    (sx, sy, _), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, _), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    next_WS = np.empty((W, X * Y), np.uint32)
    for w in range(W):
        for x in range(X):
            for y in range(Y):
                slow = x if separable else next_slow[x * sx, y * sy, 0, w * sw]
                next_WS[w, x * Y + y] = slow * Y + next_fast[x * fx, y * fy, 0, w * fw]
    return next_WS


@jit
def choose(table, policy_XY):
    """Return the entries of a four-axis table at the actions of a policy: (X, Y, 1, ·)."""
    (tx, ty, ta), last = axis_strides(table), table.shape[3]
    X, Y = policy_XY.shape
    out = np.empty((X, Y, 1, last), table.dtype)
    for x in range(X):
        for y in range(Y):
            for w in range(last):
                out[x, y, 0, w] = table[x * tx, y * ty, policy_XY[x, y] * ta, w]
    return out


@jit
def push_forward(next_slow, next_fast, noise_W, separable, m_XY, out_XY):
    """Add p(w) m(x, y) to out(x', y'); for separable dynamics first y moves, then x row by row."""
    X, Y = m_XY.shape
    (sx, sy, _), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, _), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    moved_Y = np.empty(Y)
    for x in range(X):
        if separable:
            moved_Y[:] = 0.0
            for y in range(Y):
                moved_Y[next_fast[x * fx, y * fy, 0, 0]] += m_XY[x, y]
            for w in range(next_slow.shape[3]):
                p, row = noise_W[w], out_XY[next_slow[x * sx, 0, 0, w]]
                for y in range(Y):
                    row[y] += p * moved_Y[y]
        else:
            for y in range(Y):
                for w in range(noise_W.size):
                    slow = next_slow[x * sx, y * sy, 0, w * sw]
                    fast = next_fast[x * fx, y * fy, 0, w * fw]
                    out_XY[slow, fast] += noise_W[w] * m_XY[x, y]
