"""A transition law as index tables: the successor of (x, y, a, w) and the probability of each w.

All states and actions share the noise w. The tables have four axes (X, Y, A, W), each of full
length or 1, which means "does not depend on this"; nothing is broadcast in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fsdash.core import kernels
from fsdash.core.axis import read_only
from fsdash.core.law import NextStateLaw, Policies, TransitionLaw
from fsdash.core.policy_chain import Chain
from fsdash.core.rows import INDEX, Rows, added_up, made_exact
from fsdash.core.table_samples import TableSamples, draw_from_tables
from fsdash.errors import InputError

ENTRIES_AT_A_TIME = 4_000_000
"""Transitions that are sorted together when index tables become rows."""


class TableStep(NamedTuple):
    """The tables for one step of a path."""

    slow: np.ndarray
    fast: np.ndarray


@dataclass(frozen=True, eq=False)
class Tables(TransitionLaw):
    """Index tables of a transition law.

    `next_slow` and `next_fast` are integer arrays with four axes (X, Y, A, W), each of full length
    or 1. If neither depends on the noise, `noise_W` becomes [1.0].
    """

    next_slow: np.ndarray
    next_fast: np.ndarray
    noise_W: np.ndarray
    sizes: tuple[int, ...]
    """(X, Y, A), or (X, Y, 1) under a policy."""

    def __post_init__(self) -> None:
        if self.next_slow.shape[3] == self.next_fast.shape[3] == 1:
            object.__setattr__(self, "noise_W", read_only(np.ones(1)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def exogenous_slow(self) -> bool:
        return self.next_slow.shape[1] == self.next_slow.shape[2] == 1

    @property
    def noise_free_fast(self) -> bool:
        return self.next_fast.shape[3] == 1

    @property
    def common_noise_W(self) -> np.ndarray:
        return self.noise_W

    @property
    def outcomes(self) -> int:
        return len(self.noise_W)

    terms = entries = outcomes

    @property
    def nbytes(self) -> int:
        return self.next_slow.nbytes + self.next_fast.nbytes + self.noise_W.nbytes

    @property
    def description(self) -> str:
        return f"{len(self.noise_W):,} outcomes"

    def follow(self, policy_XY: np.ndarray) -> Tables:
        def chosen(table: np.ndarray) -> np.ndarray:
            return table if table.shape[2] == 1 else kernels.choose(table, policy_XY)

        shape = (self.sizes[0], self.sizes[1], 1)
        return Tables(chosen(self.next_slow), chosen(self.next_fast), self.noise_W, shape)

    def expect(self, U_XY: np.ndarray) -> np.ndarray:
        followed = self.next_slow.shape[2] == self.next_fast.shape[2] == 1
        out_XYA = np.empty((*U_XY.shape, 1 if followed else self.shape[2]))
        kernels.expect(*self._tables, U_XY, out_XYA)
        return out_XYA

    @cached_property
    def _tables(self) -> tuple:
        return self.next_slow, self.next_fast, self.noise_W, self.separable

    def bellman(
        self, reward_XYA: np.ndarray, gamma: float, U_XY: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        HU_XY, greedy_XY = np.empty(U_XY.shape), np.empty(U_XY.shape, dtype=np.int32)
        kernels.bellman(reward_XYA, *self._tables, gamma, U_XY, HU_XY, greedy_XY)
        return HU_XY, greedy_XY

    def policy_sweeps(
        self,
        reward_XYA: np.ndarray,
        policy_XY: np.ndarray,
        gamma: float,
        m: int,
        goal: float,
        U_XY: np.ndarray,
    ) -> int:
        reward_XY = kernels.choose(reward_XYA[..., None], policy_XY)[:, :, 0, 0]
        return kernels.policy_sweeps(
            reward_XY, *self.follow(policy_XY)._tables, gamma, m, goal, U_XY
        )

    def chain(self, reward_XYA: np.ndarray, policy_PXY: np.ndarray, gamma: float) -> Chain:
        return Chain.of(self, reward_XYA, policy_PXY, gamma)

    def push_forward(self, m_XY: np.ndarray) -> np.ndarray:
        out_XY = np.zeros_like(m_XY)
        kernels.push_forward(*self._tables, m_XY, out_XY)
        return out_XY

    def slow_kernel(self) -> np.ndarray:
        X = self.shape[0]
        P_XX, next_XW = np.zeros((X, X)), self.next_slow[:, 0, 0, :]
        p_W = self.noise_W if next_XW.shape[1] > 1 else np.ones(1)
        np.add.at(P_XX, (np.arange(X)[:, None], next_XW), p_W)
        return P_XX

    def staying(self) -> np.ndarray:
        X = self.shape[0]
        noise_W = self.noise_W if self.next_slow.shape[3] > 1 else np.ones(1)
        next_slow = np.broadcast_to(self.next_slow, (X, *self.next_slow.shape[1:]))
        return (next_slow == np.arange(X)[:, None, None, None]) @ noise_W

    def next_states(self, x: int, y: int, a: int) -> NextStateLaw:
        x_W, y_W = (
            np.resize(
                table[tuple(map(min, (x, y, a), (n - 1 for n in table.shape)))], self.outcomes
            )
            for table in (self.next_slow, self.next_fast)
        )
        return NextStateLaw(x_W, y_W, self.noise_W)

    def successors(self, w: int) -> np.ndarray:
        slow, fast = (
            table[..., min(w, table.shape[3] - 1)] for table in (self.next_slow, self.next_fast)
        )
        return slow * INDEX(self.shape[1]) + fast

    def stages(self) -> Iterator[Iterator[tuple[np.ndarray, np.ndarray]]]:
        yield ((np.asarray(p), self.successors(w)) for w, p in enumerate(self.noise_W))

    def per_pair(self, values: np.ndarray) -> np.ndarray:
        return values

    def supports(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        X, Y, _ = self.shape
        start_S = np.arange(X * Y + 1)
        for w in np.flatnonzero(self.noise_W).tolist():
            number_XYA = np.broadcast_to(self.successors(w), self.shape)
            yield number_XYA, start_S, start_S.astype(INDEX)

    def stays(self) -> np.ndarray:
        X, Y, _ = self.shape
        state_XY1 = np.arange(X * Y).reshape(X, Y, 1)
        stays_XYA = np.ones(self.shape, bool)
        for w in np.flatnonzero(self.noise_W).tolist():
            stays_XYA &= self.successors(w) == state_XY1
        return stays_XYA

    def to_rows(self, feasible_XYA: np.ndarray, most: int | None = None) -> Rows:
        """Return the law as rows. The work is |S||A||W|, in parts, so little memory is needed."""
        X, Y, A = feasible_XYA.shape
        W = len(self.noise_W)
        tables = (np.broadcast_to(t, (X, Y, A, W)) for t in (self.next_slow, self.next_fast))
        next_slow, next_fast = tables
        pair_P = np.flatnonzero(feasible_XYA)
        size = max(1, ENTRIES_AT_A_TIME // W)
        parts, entries, n_rows = [], 0, 0
        number_P = np.empty(len(pair_P), np.int64)
        for first in range(0, len(pair_P), size):
            pair_Q = pair_P[first : first + size]
            place_Q = np.unravel_index(pair_Q, (X, Y, A))
            target_QW = next_slow[place_Q].astype(np.int64) * Y + next_fast[place_Q]
            row_N = np.repeat(np.arange(len(pair_Q)), W)
            p_N = np.tile(self.noise_W, len(pair_Q))
            matrix = added_up((len(pair_Q), X * Y), row_N, target_QW.reshape(-1), p_N)
            part = Rows.without_repetition((len(pair_Q),), *made_exact(matrix))
            number_P[first : first + size] = n_rows + part.row_XYA - 1
            parts.append(part)
            entries, n_rows = entries + len(part.target_N), n_rows + part.n_rows - 1
            if most is not None and entries > most:
                raise InputError(
                    f"the rows have more than {most:,} transitions; use a coarser model"
                )
        rows = Rows.without_repetition(
            (n_rows,),
            np.cumsum(np.concatenate([[0], *(np.diff(part.start_R)[1:] for part in parts)])),
            np.concatenate([part.target_N for part in parts]),
            np.concatenate([part.probability_N for part in parts]),
        )
        row_XYA = np.zeros(X * Y * A, INDEX)
        row_XYA[pair_P] = rows.row_XYA[number_P]
        return replace(rows, row_XYA=read_only(row_XYA.reshape(X, Y, A)))

    def draw_noise(self, rng: np.random.Generator, steps: int) -> np.ndarray:
        return rng.choice(len(self.noise_W), size=steps, p=self.noise_W)

    @property
    def step(self) -> TableStep:
        return TableStep(self.next_slow, self.next_fast)

    def fast_noise(
        self, noise_N: np.ndarray, x_N: np.ndarray, y_N: np.ndarray, action_N: np.ndarray
    ) -> np.ndarray:
        return noise_N

    @cached_property
    def cdf_W(self) -> np.ndarray:
        """The CDF of the noise."""
        return np.cumsum(self.noise_W) / np.sum(self.noise_W)

    def at_quantiles(self, pair_N: np.ndarray, u_N: np.ndarray) -> np.ndarray:
        target_N = np.empty(len(pair_N), np.int64)
        arguments = (self.next_slow, self.next_fast, self.cdf_W, *self.shape[1:])
        draw_from_tables(*arguments, pair_N, u_N, target_N)
        return target_N

    def samples(self, M: int, lower: Policies | None = None) -> TableSamples:
        return TableSamples(self, M, lower)
