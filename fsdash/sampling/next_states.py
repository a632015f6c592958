"""Single draws of the next state, one for each state and action that is asked for.

A draw is a function of a uniform number u, by the inverse CDF of the noise (index form) or of the
pair's row (row form). Two pairs that are given the same u have common random numbers.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fsdash.core.certificate import slow_kernel
from fsdash.core.kernels import axis_strides, jit
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.sampling.row_steps import row_cdf


class NextStates:
    """Draws of (x', y') under the true dynamics, and of x' alone if it is exogenous."""

    def __init__(self, model: FastSlowMDP) -> None:
        self.model, d = model, model.true
        if isinstance(d, Rows):
            self.cdf_N = row_cdf(d.start_R, d.probability_N)
        else:
            self.cdf_N = np.cumsum(d.noise_W) / np.sum(d.noise_W)

    def draw(self, pair_N: np.ndarray, u_N: np.ndarray) -> np.ndarray:
        """Draw the next state x'·|Y| + y' of each pair (x·|Y| + y)·|A| + a at uniform numbers u."""
        m, d, target_N = self.model, self.model.true, np.empty(len(pair_N), np.int64)
        if isinstance(d, Rows):
            row_N = d.row_XYA.reshape(-1)[pair_N].astype(np.int64)
            draw_from_rows(d.start_R, d.target_N, self.cdf_N, row_N, u_N, target_N)
        else:
            sizes = (m.n_fast, m.n_actions)
            draw_from_tables(d.next_slow, d.next_fast, self.cdf_N, *sizes, pair_N, u_N, target_N)
        return target_N

    def count_slow(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw x' n times from each slow state; return how often each x' came, shape (X, X)."""
        return rng.multinomial(n, self._slow_XX)

    @cached_property
    def _slow_XX(self) -> np.ndarray:
        """The kernel of the slow state, with rows that sum to 1 as exactly as possible."""
        P_XX = slow_kernel(self.model)
        return P_XX / P_XX.sum(axis=1, keepdims=True)


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


@jit
def draw_from_rows(start_R, target_N, cdf_N, row_N, u_N, out_N):
    """Draw one next state from each row."""
    for n in range(row_N.size):
        start, stop = start_R[row_N[n]], start_R[row_N[n] + 1]
        i = start + np.searchsorted(cdf_N[start:stop], u_N[n], side="right")
        out_N[n] = target_N[min(i, stop - 1)]
