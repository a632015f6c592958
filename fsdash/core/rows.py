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

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fsdash.core.axis import read_only
from fsdash.core.row_kernels import follow_rows, number_rows, slow_law_gap, take_rows
from fsdash.errors import InputError

if TYPE_CHECKING:
    from fsdash.core.model import Dynamics, FastSlowMDP

INDEX = np.uint32
"""Type of transition tables. It takes half the memory of a 64-bit index, and because it is
unsigned, compiled loops need not check for negative indices."""
PROBABILITY_TOLERANCE = 1e-9
ENTRIES_AT_A_TIME = 4_000_000
"""Transitions that are sorted together when index tables become rows."""
EXOGENOUS_TOLERANCE = 1e-12
"""Largest difference between two distributions of x' that counts as rounding. Certificates add the
difference that was found (`Rows.exogenous_gap`)."""


@dataclass(frozen=True, eq=False)
class Rows:
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
        matrix = _added_up((n_rows, X * Y), pair_N, target_N, probability_N)
        sums_R, used_R = matrix.sum(axis=1), np.diff(matrix.indptr) > 0
        if (wrong_R := used_R & (np.abs(sums_R - 1) > PROBABILITY_TOLERANCE)).any():
            row = int(np.flatnonzero(wrong_R)[0])
            x, y, a = (int(i) for i in np.unravel_index(pair_R[row], shape))
            raise InputError(
                f"probabilities of (x, y, a) = ({x}, {y}, {a}) sum to {sums_R[row]:.12g}, not 1; "
                "divide them by their sum"
            )
        if row_XYA is None:
            return cls.without_repetition(shape, *_made_exact(matrix))
        rows = cls.without_repetition((n_rows,), *_made_exact(matrix))
        number_P = np.zeros(X * Y * A, INDEX)
        number_P[pair_P] = rows.row_XYA[place_R[row_XYA[pair_P]]]
        return replace(rows, row_XYA=read_only(number_P.reshape(shape)))

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

    def follow(self, policy_XY: np.ndarray) -> Rows:
        """Return the law under a policy, shape (X, Y, 1), with the rows that it uses."""
        law = (self.row_XYA.reshape(policy_XY.size, -1), self.start_R, self.target_N)
        number_S, *parts = follow_rows(*law, self.probability_N, policy_XY.reshape(-1))
        return Rows(number_S.reshape(*policy_XY.shape, 1), *parts)

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
        """The largest L₁ distance between the laws of x' of two (y, a) with the same x."""
        return float(slow_law_gap(self.row_XYA, self.start_R, self.target_N, self.probability_N))

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
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        arrays = (self.row_XYA, self.start_R, self.target_N, self.probability_N)
        return sum(a.nbytes for a in arrays)


def _added_up(shape: tuple, row_N, target_N, probability_N) -> sparse.csr_array:
    """The transitions as sorted rows without zeros; those with the same target are added."""
    matrix = sparse.coo_array((probability_N, (row_N, target_N)), shape).tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _made_exact(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    model: FastSlowMDP, dynamics: Dynamics | None = None, *, most: int | None = None
) -> Rows:
    """Return dynamics given by index tables as rows; the true dynamics by default.

    The work is |S||A||W|, done in parts, so the memory is that of the different rows. `most` limits
    their entries. Row form and index form of a model have the same optimal values.
    """
    from fsdash.core.model import Tables

    d = model.true if dynamics is None else dynamics
    if not isinstance(d, Tables):
        return d
    X, Y, A = model.reward_XYA.shape
    W = len(d.noise_W)
    next_slow, next_fast = (np.broadcast_to(t, (X, Y, A, W)) for t in (d.next_slow, d.next_fast))
    pair_P = np.flatnonzero(model.feasible_XYA)
    size = max(1, ENTRIES_AT_A_TIME // W)
    parts, entries, n_rows = [], 0, 0
    number_P = np.empty(len(pair_P), np.int64)
    for first in range(0, len(pair_P), size):
        pair_Q = pair_P[first : first + size]
        place_Q = np.unravel_index(pair_Q, (X, Y, A))
        target_QW = next_slow[place_Q].astype(np.int64) * Y + next_fast[place_Q]
        row_N = np.repeat(np.arange(len(pair_Q)), W)
        p_N = np.tile(d.noise_W, len(pair_Q))
        matrix = _added_up((len(pair_Q), X * Y), row_N, target_QW.reshape(-1), p_N)
        part = Rows.without_repetition((len(pair_Q),), *_made_exact(matrix))
        number_P[first : first + size] = n_rows + part.row_XYA - 1
        parts.append(part)
        entries, n_rows = entries + len(part.target_N), n_rows + part.n_rows - 1
        if most is not None and entries > most:
            raise InputError(
                f"{model.name}: its rows have more than {most:,} transitions; use a coarser model"
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
