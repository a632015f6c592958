"""Paths of a first action and then a lower policy, under index tables and under sparse rows.

Both classes answer the same calls: the (T−1)-step kernel K if it is sparse enough to be formed, and
the T-step Q by counts over its rows or by simulated paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsdash.core.model import FastSlowMDP, Tables
from fsdash.core.operators import Policies, follow_all
from fsdash.core.rows import INDEX, Rows
from fsdash.sampling.laws import (
    AliasRows,
    Frequent,
    constant_binomials,
    frequent_binomials,
    multinomial,
    noise_runs,
)
from fsdash.sampling.row_steps import (
    lower_rows_of_rows,
    q_by_row_counts,
    q_by_row_simulation,
    row_law,
)
from fsdash.sampling.t_step import lower_rows, q_by_counts, q_by_simulation


class LowerKernel(NamedTuple):
    """The rows of K, with tables for the most frequent numbers of draws from them."""

    rows: AliasRows
    frequent: Frequent


class TablePaths:
    """Paths under index tables: every step uses an outcome of the common noise."""

    def __init__(self, model: FastSlowMDP, lower: Policies, M: int) -> None:
        d = model.tables
        self.model, self.tables, self.M = model, d, M
        self.law, self.runs = multinomial(d.noise_W, M), noise_runs(d.noise_W)
        followed = [f for f in follow_all(model, lower) if isinstance(f, Tables)]
        self.slow_T = _stack([f.next_slow for f in followed])
        self.fast_T = _stack([f.next_fast for f in followed])
        self.discount = model.gamma ** len(followed)

    def lower_kernel(self, widest: int, limit: int) -> LowerKernel | None:
        """Return K, or None if a row has more than `widest` or K more than `limit` non-zeros."""
        sizes = (self.model.n_slow, self.model.n_fast)
        fits, rows = lower_rows(
            self.slow_T, self.fast_T, self.tables.noise_W, *sizes, widest, limit
        )
        return LowerKernel(rows, frequent_binomials(self.law, rows, self.M)) if fits else None

    def count(self, rng, kernel, random, J1_XY, V_XY, states_N, Q_NA, greedy_N) -> None:
        """Sample Q by counts over the rows of K."""
        law = (self.law, kernel.rows, kernel.frequent, self.M, random)
        q_by_counts(rng, *law, *self._values(J1_XY, V_XY), states_N, Q_NA, greedy_N)

    def simulate(self, rng, common, random, J1_XY, V_XY, states_N, Q_NA, greedy_N, end_NAM) -> None:
        """Sample Q by paths, and store their ends unless `end_NAM` is empty."""
        law = (self.runs, self.slow_T, self.fast_T, self.M, common, random)
        values = self._values(J1_XY, V_XY)
        q_by_simulation(rng, *law, *values, states_N, Q_NA, greedy_N, end_NAM)

    def _values(self, J1_XY: np.ndarray, V_XY: np.ndarray) -> tuple:
        m, d = self.model, self.tables
        return m.reward_XYA, d.next_slow, d.next_fast, m.gamma, self.discount, J1_XY, V_XY


class RowPaths:
    """Paths under sparse rows: every step draws from the row of its state and action."""

    def __init__(self, model: FastSlowMDP, lower: Policies, M: int) -> None:
        d = model.true
        assert isinstance(d, Rows)
        self.model, self.law, self.M, self.rows = model, row_law(d, M), M, d
        shape = (len(lower), model.n_states)
        follow_all(model, lower)  # checks the policies
        rows = [np.take_along_axis(d.row_XYA, np.asarray(pi)[:, :, None], 2) for pi in lower]
        self.row_TS = np.array(rows, INDEX).reshape(shape)
        self.discount = model.gamma ** len(lower)

    def lower_kernel(self, widest: int, limit: int) -> LowerKernel | None:
        """Return K, or None if a row has more than `widest` or K more than `limit` non-zeros."""
        d = self.rows
        fits, rows = lower_rows_of_rows(
            self.row_TS, d.start_R, d.target_N, d.probability_N, widest, limit
        )
        return LowerKernel(rows, constant_binomials(rows, self.M)) if fits else None

    def count(self, rng, kernel, random, J1_XY, V_XY, states_N, Q_NA, greedy_N) -> None:
        """Sample Q by counts over the rows of K."""
        law = (self.law, kernel.rows, kernel.frequent, self.M, random)
        q_by_row_counts(rng, *law, *self._values(J1_XY, V_XY), states_N, Q_NA, greedy_N)

    def simulate(self, rng, common, random, J1_XY, V_XY, states_N, Q_NA, greedy_N, end_NAM) -> None:
        """Sample Q by paths, and store their ends unless `end_NAM` is empty."""
        law = (self.law, self.row_TS, self.M, common, random)
        values = self._values(J1_XY, V_XY)
        q_by_row_simulation(rng, *law, *values, states_N, Q_NA, greedy_N, end_NAM)

    def _values(self, J1_XY: np.ndarray, V_XY: np.ndarray) -> tuple:
        m, A = self.model, self.model.n_actions
        tables = (m.reward_XYA.reshape(-1, A), self.rows.row_XYA.reshape(-1, A))
        return *tables, m.gamma, self.discount, J1_XY.reshape(-1), V_XY.reshape(-1)


def _stack(tables: list[np.ndarray]) -> np.ndarray:
    """Stack the tables of T−1 policies to (T−1, X, Y, 1, W); (0, 1, 1, 1, 1) if there are none."""
    return np.stack(tables) if tables else np.empty((0, 1, 1, 1, 1), INDEX)
