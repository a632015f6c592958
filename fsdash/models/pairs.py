"""The forms of a transition matrix, all read as one sparse row per state–action pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from fsdash.core.axis import numbers
from fsdash.errors import InputError
from fsdash.models.law import Law, without_rounding
from fsdash.models.size import MAX_CELLS, MAX_TRANSITIONS


@dataclass(frozen=True, eq=False)
class PairRows:
    """L pairs, sorted by state and action, and the transition probabilities of each."""

    n_states: int
    n_actions: int
    state_P: np.ndarray
    action_P: np.ndarray
    matrix: sparse.csr_array
    """Shape (L, S)."""
    order_P: np.ndarray
    """The place of each pair in the user's own order (R is read in that order)."""
    form: str
    """"SAS", "ASS" or "pairs"."""

    def take(self, which_P: np.ndarray) -> PairRows:
        """Only the pairs with a true mask."""
        if which_P.all():
            return self
        return replace(
            self,
            state_P=self.state_P[which_P],
            action_P=self.action_P[which_P],
            matrix=self.matrix[np.flatnonzero(which_P)],
            order_P=self.order_P[which_P],
        )

    def law(self, reward_P: np.ndarray) -> Law:
        """The law with these rewards of the pairs."""
        length_P = np.diff(self.matrix.indptr)
        return Law.of_pairs(
            self.state_P,
            self.action_P,
            reward_P,
            np.repeat(np.arange(len(length_P)), length_P),
            self.matrix.indices.astype(np.int64),
            self.matrix.data,
        )


def read_pairs(P: Any, s_indices: Any = None, a_indices: Any = None) -> PairRows:
    """Read P in any of its forms."""
    if (s_indices is None) != (a_indices is None):
        raise InputError("s_indices and a_indices: give both, or neither")
    if s_indices is not None:
        return _from_pairs(P, s_indices, a_indices)
    if _is_list(P) and not (len(P) and _is_list(P[0])):  # nested lists are one array
        return _from_list(P)
    if sparse.issparse(P):
        raise InputError("P: a sparse matrix (L, S) needs s_indices and a_indices; give both")
    P = numbers("P", P)
    if P.ndim != 3 or 0 in P.shape:
        raise InputError(f"P: shape {P.shape} is not (S, A, S) or (A, S, S)")
    if P.shape[0] == P.shape[2]:
        S, A, _ = P.shape
        check_cells(S, A)
        return _all_pairs(to_csr(P.reshape(S * A, S), probabilities=True), S, A, "SAS")
    if P.shape[1] == P.shape[2]:
        A, S, _ = P.shape
        check_cells(S, A)
        P = P.transpose(1, 0, 2).reshape(S * A, S)
        return _all_pairs(to_csr(P, probabilities=True), S, A, "ASS")
    raise InputError(f"P: shape {P.shape} is neither (S, A, S) nor (A, S, S)")


def read_rewards(R: Any, pairs: PairRows) -> np.ndarray:
    """The expected reward of each pair; r(s, a, s′) is averaged over P."""
    S, A, form = pairs.n_states, pairs.n_actions, pairs.form
    if isinstance(R, list | tuple) and len(R) and np.ndim(R[0]) == 2 and not _is_list(R[0]):
        return _expected(_stack(R, "R", S), pairs)
    R = R.toarray() if hasattr(R, "toarray") else R
    R = numbers("R", R)
    if form == "pairs":
        if R.shape == (len(pairs.order_P),):
            return R[pairs.order_P]
        raise InputError(
            f"R: shape {R.shape}; give one reward per row of P, ({len(pairs.order_P)},)"
        )
    if R.shape == (S, A):
        return R.reshape(-1)
    if R.shape == (S,):
        return np.repeat(R, A)
    if R.shape in ((S, A, S), (A, S, S)):
        by_action = form == "ASS" if S == A else R.shape == (A, S, S)
        return _expected((R.transpose(1, 0, 2) if by_action else R).reshape(S * A, S), pairs)
    shape = (S, A, S) if form == "SAS" else (A, S, S)
    raise InputError(f"R: shape {R.shape}; give (S, A) = {(S, A)}, ({S},) or {shape} like P")


def _is_list(values: Any) -> bool:
    return isinstance(values, list | tuple)


def _expected(R_PS: Any, pairs: PairRows) -> np.ndarray:
    """Σ p(s′) r(s, a, s′) over the next states that can be reached."""
    length_P = np.diff(pairs.matrix.indptr)
    pair_N = np.repeat(np.arange(len(length_P)), length_P)
    reward_N = np.asarray(R_PS[pair_N, pairs.matrix.indices]).reshape(-1)
    return np.bincount(pair_N, weights=pairs.matrix.data * reward_N, minlength=len(length_P))


def _all_pairs(matrix: sparse.csr_array, S: int, A: int, form: str) -> PairRows:
    number = np.arange(S * A)
    return PairRows(S, A, number // A, number % A, matrix, number, form)


def _from_list(P: Sequence[Any]) -> PairRows:
    if not len(P):
        raise InputError("P: the list is empty; give one matrix (S, S) per action")
    S, A = np.shape(P[0])[0] if np.ndim(P[0]) or sparse.issparse(P[0]) else 0, len(P)
    check_cells(S, A)
    return _all_pairs(_stack(P, "P", S), S, A, "ASS")


def _stack(matrices: Sequence[Any], name: str, S: int) -> sparse.csr_array:
    """Matrices (S, S), one per action, as rows in the order of pairs s·A + a."""
    parts = []
    for a, matrix in enumerate(matrices):
        part: Any = matrix if sparse.issparse(matrix) else numbers(f"{name}[{a}]", matrix)
        if part.shape != (S, S):
            raise InputError(f"{name}[{a}]: shape {part.shape}; give ({S}, {S}) for each action")
        parts.append(to_csr(part, probabilities=name == "P"))
    A = len(parts)
    by_action = sparse.vstack(parts, format="csr")
    return sparse.csr_array(by_action[(np.arange(S * A) % A) * S + np.arange(S * A) // A])


def _from_pairs(P: Any, s_indices: Any, a_indices: Any) -> PairRows:
    matrix = to_csr(P if sparse.issparse(P) else numbers("P", P), probabilities=True)
    L, S = matrix.shape
    state_P, action_P = _indices("s_indices", s_indices, L), _indices("a_indices", a_indices, L)
    if state_P.max() >= S:
        raise InputError(
            f"s_indices: holds {state_P.max()}; states are 0 to {S - 1}, as P has them"
        )
    A = int(action_P.max()) + 1
    check_cells(S, A)
    key_P = state_P * A + action_P
    order_P = np.argsort(key_P, kind="stable")
    twice = np.flatnonzero(np.diff(key_P[order_P]) == 0)
    if len(twice):
        row = int(order_P[twice[0] + 1])
        raise InputError(
            f"row {row} of P: state {state_P[row]}, action {action_P[row]} has two rows; keep one"
        )
    return PairRows(S, A, state_P[order_P], action_P[order_P], matrix[order_P], order_P, "pairs")


def to_csr(matrix: Any, *, probabilities: bool = False) -> sparse.csr_array:
    """The matrix as sorted rows without zeros or repeats, and of probabilities without rounding
    errors below 0."""
    if matrix.ndim != 2:
        raise InputError(f"P: shape {matrix.shape}; give one row per state–action pair, (L, S)")
    found = sparse.csr_array(matrix).astype(float)
    found.sum_duplicates()
    if probabilities:
        found.data = without_rounding(found.data)
    found.eliminate_zeros()
    if found.nnz > MAX_TRANSITIONS:
        raise InputError(f"P: {found.nnz:,} transitions; the limit is {MAX_TRANSITIONS:,}")
    return found


def check_cells(S: int, A: int) -> None:
    """Raise an error if S·A exceeds the limit."""
    if S < 1 or A < 1 or S * A > MAX_CELLS:
        raise InputError(f"{S:,} states × {A:,} actions: give 1 to {MAX_CELLS:,} pairs")


def _indices(name: str, values: Any, L: int) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (L,) or L == 0 or values.dtype.kind not in "iu" or values.min() < 0:
        raise InputError(f"{name}: give one whole number from 0 on for each of the {L} rows of P")
    return values.astype(np.int64)
