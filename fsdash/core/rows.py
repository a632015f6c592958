"""A transition law as sparse rows: (x, y, a) → (x', y') with a probability.

The index tables of `fsdash.core.model.Tables` share one noise among all states and actions. Here
every (x, y, a) has its own distribution over next states, as in any Markov chain. A next state is
one number, x'·|Y| + y'.

Equal rows are stored once. Many models have few different ones: if the next state depends on the
stock after ordering, all (stock, order) pairs with the same sum share a row. An expectation is then
computed once per row and looked up for every pair, which takes

    (non-zeros in different rows) + |S||A|      operations instead of (all non-zeros),

the work that a model written with post-decision states would need. Row 0 is empty: it belongs to
the actions that are infeasible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from fsdash.core import row_kernels
from fsdash.core.axis import read_only
from fsdash.core.kernels import choose, widest_change
from fsdash.core.law import NextStateLaw, Policies, TransitionLaw
from fsdash.core.policy_chain import RowChain
from fsdash.core.row_kernels import follow_rows, number_rows, slow_law_gap, split_noise, take_rows
from fsdash.core.row_samples import RowCdf, RowSamples, draw_from_rows, row_cdf
from fsdash.core.threads import split, thread_count
from fsdash.errors import InputError

if TYPE_CHECKING:
    from fsdash.core.model import FastSlowMDP

INDEX = np.uint32
"""Type of transition tables. It takes half the memory of a 64-bit index, and because it is
unsigned, compiled loops need not check for negative indices."""
PROBABILITY_TOLERANCE = 1e-9
OWN_ROWS, MANY_ROWS = 0.9, 10_000
"""Rows per feasible pair, and rows, above which each pair's row is read where it is needed."""
SAMPLED_ROWS = 2_048
"""Neighbouring pairs that are compared to see whether pairs share rows."""
EXOGENOUS_TOLERANCE = 1e-12
"""Largest difference between two distributions of x' that counts as rounding. Certificates add the
difference that was found (`Rows.exogenous_gap`)."""


class RowStep(NamedTuple):
    """The rows for one step of a path."""

    row_XYA: np.ndarray
    start_R: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray


@dataclass(frozen=True, eq=False)
class Rows(TransitionLaw):
    """Sparse rows of a transition law.

    Attributes
    ----------
    row_XYA : np.ndarray
        The row of each state and action, shape (X, Y, A), or (X, Y, 1) under a policy. Row 0 is
        empty and marks an infeasible action.
    start_R : np.ndarray
        Row r has the entries start_R[r] to start_R[r + 1] − 1, shape (R + 1,).
    target_N : np.ndarray
        Next states x'·|Y| + y', ascending in each row.
    probability_N : np.ndarray
        Their probabilities, which sum to 1 in each row but row 0.
    """

    row_XYA: np.ndarray
    start_R: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray

    @classmethod
    def from_entries(
        cls,
        shape: tuple[int, int, int],
        pair_N: np.ndarray,
        target_N: np.ndarray,
        probability_N: np.ndarray,
        row_XYA: np.ndarray | None = None,
    ) -> Rows:
        """Build the rows from single transitions, in any order.

        Parameters
        ----------
        shape : tuple of int
            |X|, |Y| and |A|.
        pair_N : np.ndarray
            (x·|Y| + y)·|A| + a of each transition.
        target_N : np.ndarray
            x'·|Y| + y' of each transition.
        probability_N : np.ndarray
            Its probability. Probabilities of the same transition are added. Each pair's sum must be
            1 within 1e-9 and is then made exactly 1. A pair without transitions is infeasible.
        row_XYA : np.ndarray, optional
            The row of each pair, from 0, or −1 if it is infeasible, shape (X, Y, A). `pair_N` then
            holds rows instead of pairs: a row that many pairs share is given once.

        Examples
        --------
        One slow state, two fast states, one action that moves to the other state or stays:

        >>> rows = Rows.from_entries((1, 2, 1), [0, 0, 1, 1], [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
        >>> rows.row_XYA.tolist(), rows.probability_N.tolist()  # both states share row 1
        ([[[1], [1]]], [0.5, 0.5])
        """
        X, Y, A = shape
        pair_N, target_N = (np.asarray(v, np.int64) for v in (pair_N, target_N))
        probability_N = np.asarray(probability_N, float)
        n_rows = X * Y * A if row_XYA is None else int(row_XYA.max(initial=-1)) + 1
        for name, index_N, size in (("pair", pair_N, n_rows), ("target", target_N, X * Y)):
            if index_N.size and not (index_N.min() >= 0 and index_N.max() < size):
                raise InputError(f"{name}_N: indices run from 0 to {size - 1}")
        if not (probability_N >= 0).all() or not np.isfinite(probability_N).all():
            raise InputError("probability_N: probabilities are finite and at least 0")
        pair_R = np.arange(n_rows)
        if row_XYA is not None:
            # Rows are numbered in the order of their first pairs, as if each pair had its own.
            row_XYA = np.asarray(row_XYA).reshape(-1)
            pair_P = np.flatnonzero(row_XYA >= 0)
            pair_R = np.full(n_rows, X * Y * A)
            pair_R[row_XYA[pair_P[::-1]]] = pair_P[::-1]
            order = np.argsort(pair_R, kind="stable")
            place_R = np.empty(n_rows, np.int64)
            place_R[order], pair_R = np.arange(n_rows), pair_R[order]
            pair_N = place_R[pair_N]
        matrix = added_up((n_rows, X * Y), pair_N, target_N, probability_N)
        sums_R, used_R = matrix.sum(axis=1), np.diff(matrix.indptr) > 0
        if (wrong_R := used_R & (np.abs(sums_R - 1) > PROBABILITY_TOLERANCE)).any():
            row = int(np.flatnonzero(wrong_R)[0])
            x, y, a = (int(i) for i in np.unravel_index(pair_R[row], shape))
            raise InputError(
                f"probabilities of (x, y, a) = ({x}, {y}, {a}) sum to {sums_R[row]:.12g}, not 1; "
                "divide them by their sum"
            )
        if row_XYA is None:
            return cls.without_repetition(shape, *made_exact(matrix))
        rows = cls.without_repetition((n_rows,), *made_exact(matrix))
        number_P = np.zeros(X * Y * A, INDEX)
        number_P[pair_P] = rows.row_XYA[place_R[row_XYA[pair_P]]]
        return replace(rows, row_XYA=read_only(number_P.reshape(shape)))

    @classmethod
    def from_clean_csr(
        cls,
        shape: tuple[int, int, int],
        cell_P: np.ndarray,
        start_P: np.ndarray,
        target_N: np.ndarray,
        probability_N: np.ndarray,
    ) -> Rows | None:
        """Copy rows that need no sorting, adding up or sharing; None if they do.

        Row p belongs to the pair `cell_P[p]` = (x·|Y| + y)·|A| + a; `copy_clean_rows` says what is
        clean. Whether pairs share rows is judged by samples of neighbouring pairs. `from_entries`
        takes all other rows, and reports what is wrong with them.
        """
        X, Y, A = shape
        start_P = np.asarray(start_P, np.int64)
        n_rows = len(start_P) - 1
        # The same bits, unsigned: a negative index becomes one that is too large.
        target_N = target_N.view(INDEX) if target_N.dtype == np.int32 else target_N.astype(INDEX)
        for first in {0, max(0, n_rows // 2 - SAMPLED_ROWS), max(0, n_rows - SAMPLED_ROWS)}:
            start_S = start_P[first : first + SAMPLED_ROWS + 1]
            number_S, first_R = number_rows(start_S, target_N, probability_N)
            if len(first_R) - 1 < OWN_ROWS * len(number_S):
                return None
        to_N, p_N = np.empty(len(target_N), INDEX), np.empty(len(target_N))
        law = (start_P, target_N, probability_N, X * Y, PROBABILITY_TOLERANCE)
        if start_P[0] != 0 or not row_kernels.copy_clean_rows(*law, to_N, p_N):
            return None
        row_P = np.zeros(X * Y * A, INDEX)
        row_P[cell_P] = np.arange(1, n_rows + 1)
        start_R = np.concatenate([[0], start_P])
        return cls(*(read_only(a) for a in (row_P.reshape(shape), start_R, to_N, p_N)))

    @classmethod
    def without_repetition(
        cls, shape: tuple, start_P: np.ndarray, target_N: np.ndarray, probability_N: np.ndarray
    ) -> Rows:
        """Build the rows from one row per pair, with equal rows stored once and an empty row 0."""
        target_N = np.ascontiguousarray(target_N, INDEX)
        number_P, first_R = number_rows(start_P, target_N, probability_N)
        start_R, target_N, probability_N = take_rows(start_P, target_N, probability_N, first_R)
        return cls(
            *(read_only(a) for a in (number_P.reshape(shape), start_R, target_N, probability_N))
        )

    def targets(self, row: int) -> np.ndarray:
        """Return the next states of a row."""
        return self.target_N[self.start_R[row] : self.start_R[row + 1]]

    def probabilities(self, row: int) -> np.ndarray:
        """Return the probabilities of a row's next states."""
        return self.probability_N[self.start_R[row] : self.start_R[row + 1]]

    @property
    def n_rows(self) -> int:
        """The number of different rows, with the empty one."""
        return len(self.start_R) - 1

    @cached_property
    def longest(self) -> int:
        """The largest number of next states in a row."""
        return int(np.diff(self.start_R).max())

    @cached_property
    def outcomes(self) -> int:
        """The mean number of next states of a feasible pair, rounded up."""
        length_XYA = np.diff(self.start_R)[self.row_XYA]
        return int(np.ceil(length_XYA.sum() / np.count_nonzero(length_XYA)))

    @cached_property
    def exogenous_gap(self) -> float:
        """The largest L₁ distance between the laws of x' of two (y, a) with the same x.

        If it is above the tolerance, it is the first one that was found.
        """
        if self.shape[0] == 1:
            return 0.0
        return float(slow_law_gap(*self.step, EXOGENOUS_TOLERANCE))

    @property
    def exogenous_slow(self) -> bool:
        """Whether the law of x' depends on x only, not on the fast state or the action."""
        return self.exogenous_gap <= EXOGENOUS_TOLERANCE

    @cached_property
    def noise_free_fast(self) -> bool:
        """Whether each row has a single next fast state."""
        fast_N = self.target_N % self.row_XYA.shape[1]
        first_N = np.repeat(self.start_R[:-1], np.diff(self.start_R))
        return bool((fast_N == fast_N[first_N]).all())

    @property
    def shape(self) -> tuple[int, ...]:
        return self.row_XYA.shape

    @property
    def terms(self) -> int:
        return self.longest

    @property
    def entries(self) -> int:
        return len(self.target_N)

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self.step)

    @property
    def description(self) -> str:
        return f"{self.entries:,} probabilities in {self.n_rows - 1:,} different rows"

    def with_rows(self, row_XYA: np.ndarray) -> Rows:
        """Return the law with other rows for the pairs."""
        return replace(self, row_XYA=row_XYA)

    def frozen(self, real_XY: np.ndarray) -> Rows:
        """Return the law with x' = x, among the states of `real_XY` (`frozen_rows`)."""
        return frozen_rows(self, real_XY)

    def follow(self, policy_XY: np.ndarray) -> Rows:
        """Return the law under a policy, shape (X, Y, 1), with the rows that it uses."""
        law = (self.row_XYA.reshape(policy_XY.size, -1), self.start_R, self.target_N)
        number_S, *parts = follow_rows(*law, self.probability_N, policy_XY.reshape(-1))
        return Rows(number_S.reshape(*policy_XY.shape, 1), *parts)

    def expect(self, U_XY: np.ndarray) -> np.ndarray:
        return self.row_means(U_XY)[self.row_XYA]

    def row_means(self, U_XY: np.ndarray) -> np.ndarray:
        """Return E[U(x', y')] for every different row; 0 for the empty one."""
        law = (self.start_R[:-1], self.start_R[1:], self.target_N, self.probability_N)
        return _means(law, U_XY.reshape(-1))

    def bellman(
        self, reward_XYA: np.ndarray, gamma: float, U_XY: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return max_a r + γ E[U] and a greedy policy, from one kernel or from several threads."""
        result = HU_XY, greedy_XY = np.empty(U_XY.shape), np.empty(U_XY.shape, dtype=np.int32)
        pairs, law = (reward_XYA, self.row_XYA), self.step[1:]
        work = len(self.target_N) + reward_XYA.size
        if self.n_rows > max(MANY_ROWS, OWN_ROWS * self.n_pairs):

            def block(i: int, j: int) -> None:
                row_kernels.bellman_own_rows(i, j, *pairs, *law, gamma, U_XY, *result)

            split(block, U_XY.size, work)
        elif thread_count(work) == 1:
            row_kernels.bellman_rows(*pairs, *law, gamma, U_XY, *result)
        else:
            mean_R = self.row_means(U_XY)

            def block(i: int, j: int) -> None:
                row_kernels.maximise(i, j, *pairs, mean_R, gamma, *result)

            split(block, U_XY.size, work)
        return HU_XY, greedy_XY

    @cached_property
    def n_pairs(self) -> int:
        """The number of pairs that have a row."""
        return int(np.count_nonzero(self.row_XYA))

    def policy_sweeps(
        self,
        reward_XYA: np.ndarray,
        policy_XY: np.ndarray,
        gamma: float,
        m: int,
        goal: float,
        U_XY: np.ndarray,
    ) -> int:
        if thread_count(len(self.target_N) // self.shape[2]) == 1:
            return row_kernels.follow_and_sweep(
                reward_XYA, *self.step, policy_XY, gamma, m, goal, U_XY
            )
        d = self.follow(policy_XY)
        reward_S = choose(reward_XYA[..., None], policy_XY).reshape(-1)
        law = (d.start_R[:-1], d.start_R[1:], d.target_N, d.probability_N)
        return sweep_rows(reward_S, d.row_XYA.reshape(-1), law, gamma, m, goal, U_XY)

    def chain(self, reward_XYA: np.ndarray, policy_PXY: np.ndarray, gamma: float) -> RowChain:
        return RowChain.of(self, reward_XYA, policy_PXY, gamma)

    def push_forward(self, m_XY: np.ndarray) -> np.ndarray:
        out_XY = np.zeros_like(m_XY)
        arrays = (self.row_XYA.reshape(-1), *self.step[1:], m_XY.reshape(-1), out_XY.reshape(-1))
        row_kernels.push_forward_rows(*arrays)
        return out_XY

    def slow_kernel(self) -> np.ndarray:
        X, Y, _ = self.shape
        P_XX = np.zeros((X, X))
        # Every feasible pair of a slow state has the same law of x'.
        for x, row in enumerate(self.row_XYA.reshape(X, -1).max(axis=1)):
            np.add.at(P_XX[x], self.targets(row) // Y, self.probabilities(row))
        return P_XX

    def staying(self) -> np.ndarray:
        X, Y, _ = self.shape
        row_N = np.repeat(np.arange(self.n_rows), np.diff(self.start_R))
        entries = (self.probability_N, (row_N, self.target_N // Y))
        slow_RX = sparse.coo_array(entries, (self.n_rows, X)).tocsc()
        return np.stack([slow_RX[:, [x]].toarray()[self.row_XYA[x], 0] for x in range(X)])

    def next_states(self, x: int, y: int, a: int) -> NextStateLaw:
        row = self.row_XYA[x, y, a]
        x_K, y_K = np.divmod(self.targets(row).astype(np.int64), self.shape[1])
        return NextStateLaw(x_K, y_K, self.probabilities(row))

    def stages(self) -> Iterator[Iterator[tuple[np.ndarray, np.ndarray]]]:
        yield self._terms()

    def _terms(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the first, second, … entry of every row; probability 0 where a row has ended."""
        start_R, length_R = self.start_R[:-1], np.diff(self.start_R)
        for i in range(self.longest):
            place_R = np.where(length_R > i, start_R + i, 0)
            yield np.where(length_R > i, self.probability_N[place_R], 0.0), self.target_N[place_R]

    def per_pair(self, values: np.ndarray) -> np.ndarray:
        return values[self.row_XYA]

    def supports(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        yield self.step[:3]

    def stays(self) -> np.ndarray:
        X, Y, _ = self.shape
        alone_R = np.diff(self.start_R) == 1
        target_R = np.append(self.target_N, 0)[self.start_R[:-1]]  # row 0 may be the only one
        state_XY1 = np.arange(X * Y).reshape(X, Y, 1)
        return alone_R[self.row_XYA] & (target_R[self.row_XYA] == state_XY1)

    def to_rows(self, feasible_XYA: np.ndarray, most: int | None = None) -> Rows:
        return self

    def draw_noise(self, rng: np.random.Generator, steps: int) -> np.ndarray:
        return rng.random(steps)

    @cached_property
    def step(self) -> RowStep:
        return RowStep(self.row_XYA, self.start_R, self.target_N, self.probability_N)

    def fast_noise(
        self, noise_N: np.ndarray, x_N: np.ndarray, y_N: np.ndarray, action_N: np.ndarray
    ) -> np.ndarray:
        """Return the part of each uniform number that picked y' after x' was picked."""
        picked_N = np.empty(len(noise_N))
        split_noise(*self.step, noise_N, x_N, y_N, action_N, picked_N)
        return picked_N

    @cached_property
    def cdf(self) -> RowCdf:
        """The CDF within each row."""
        return RowCdf(self.start_R, self.target_N, row_cdf(self.start_R, self.probability_N))

    def at_quantiles(self, pair_N: np.ndarray, u_N: np.ndarray) -> np.ndarray:
        target_N = np.empty(len(pair_N), np.int64)
        draw_from_rows(self.cdf, self.row_XYA.reshape(-1)[pair_N].astype(np.int64), u_N, target_N)
        return target_N

    def samples(self, M: int, lower: Policies | None = None) -> RowSamples:
        return RowSamples(self, M, lower)


def _means(law: tuple, U_S: np.ndarray) -> np.ndarray:
    start_R, stop_R, *entries = law
    mean_R = np.empty(len(start_R))

    def block(i: int, j: int) -> None:
        row_kernels.row_means(start_R[i:j], stop_R[i:j], *entries, U_S, mean_R[i:j])

    split(block, len(start_R), work=len(entries[0]))
    return mean_R


def sweep_rows(
    reward_S: np.ndarray,
    row_S: np.ndarray,
    law: tuple,
    gamma: float,
    m: int,
    goal: float,
    U_XY: np.ndarray,
) -> int:
    """Make the sweeps of `policy_sweeps`, given the reward and the row of each state.

    `law` has the start and the end of each row, the next states and their probabilities.
    """
    if thread_count(work := len(law[2])) == 1:
        return row_kernels.sweep_rows(reward_S, row_S, *law, gamma, m, goal, U_XY)
    U_S = U_XY.reshape(-1)
    for n in range(1, m + 1):
        before_XY = U_XY.copy() if n % row_kernels.SWEEPS_PER_CHECK == 0 else None
        mean_R = _means(law, U_S)

        def block(i: int, j: int, mean_R: np.ndarray = mean_R) -> None:
            row_kernels.look_up(reward_S[i:j], row_S[i:j], mean_R, gamma, U_S[i:j])

        split(block, len(U_S), work)
        if before_XY is not None and widest_change(before_XY, U_XY) <= goal:
            return n
    return m


def added_up(shape: tuple, row_N, target_N, probability_N) -> sparse.csr_array:
    """The transitions as sorted rows without zeros; those with the same target are added."""
    matrix = sparse.coo_array((probability_N, (row_N, target_N)), shape).tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def made_exact(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The starts, targets and probabilities of rows, each divided by its sum.

    A sum that is 1 up to rounding is left alone, so that rows can be built again unchanged.
    """
    sums_R, length_R = matrix.sum(axis=1), np.diff(matrix.indptr)
    sums_R[np.abs(sums_R - 1) <= (length_R + 1) * np.finfo(float).eps] = 1.0
    probability_N = matrix.data / np.repeat(sums_R, length_R)
    return np.asarray(matrix.indptr, np.int64), matrix.indices, probability_N


def frozen_rows(rows: Rows, real_XY: np.ndarray) -> Rows:
    """Return the law with the slow state frozen: x' = x, and y' with its distribution under `rows`.

    A frozen step may lead to a pair (x, y') that is not a state of the model. Its probability is
    then shared out among those that are; if none is, y stays where it is.
    """
    X, Y, A = rows.row_XYA.shape
    slow_P = np.repeat(np.arange(X), Y * A)
    # The same row leads to other frozen states from another x.
    key_P = slow_P * rows.n_rows + rows.row_XYA.reshape(-1)
    key_K, number_P = np.unique(key_P, return_inverse=True)
    slow_K, row_K = key_K // rows.n_rows, key_K % rows.n_rows
    start_K, target_N, probability_N = take_rows(
        rows.start_R, rows.target_N, rows.probability_N, row_K
    )
    length_K = np.diff(start_K)
    target_N = np.repeat(slow_K, length_K) * Y + target_N % Y
    real_N = real_XY.reshape(-1)[target_N]
    place_N = np.repeat(np.arange(len(key_K)), length_K)[real_N]
    shape = (len(key_K), X * Y)
    matrix = sparse.coo_array((probability_N[real_N], (place_N, target_N[real_N])), shape).tocsr()
    matrix.sort_indices()
    lost_P = (np.diff(matrix.indptr) == 0)[number_P] & (rows.row_XYA.reshape(-1) > 0)
    if lost_P.any():
        state_L = np.flatnonzero(lost_P) // A
        stay = sparse.coo_array(
            (np.ones(len(state_L)), (np.arange(len(state_L)), state_L)), (len(state_L), X * Y)
        )
        matrix = sparse.vstack([matrix, stay.tocsr()], format="csr")
        number_P = number_P.copy()
        number_P[lost_P] = len(key_K) + np.arange(len(state_L))
    sums_K = matrix.sum(axis=1)
    probability_N = matrix.data / np.repeat(sums_K, np.diff(matrix.indptr))
    start_K = np.asarray(matrix.indptr, np.int64)
    found = Rows.without_repetition((len(sums_K),), start_K, matrix.indices, probability_N)
    row_XYA = read_only(found.row_XYA[number_P].reshape(X, Y, A))
    return Rows(row_XYA, found.start_R, found.target_N, found.probability_N)


def to_rows(
    model: FastSlowMDP, dynamics: TransitionLaw | None = None, *, most: int | None = None
) -> Rows:
    """Return dynamics as rows; the true dynamics by default.

    `most` limits the transitions of the different rows. Every form of a model has the same optimal
    values.
    """
    law = model.true if dynamics is None else dynamics
    return law.to_rows(model.feasible_XYA, most)
