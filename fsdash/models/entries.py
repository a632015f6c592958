"""The transition law of a model in one form, whichever form it was given in.

The feasible pairs have rows of next states, and pairs with equal rows share one. Rows are numbered
in the order of their first pairs; the entries of a row with the same next state are added, zeros
are dropped, and next states ascend. Equal laws have equal rows.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.model import Dynamics, FastSlowMDP
from fsdash.core.row_kernels import take_rows
from fsdash.core.rows import Rows, frozen_rows, to_rows
from fsdash.models.size import MAX_TRANSITIONS

SAME_LAW = 1e-12
"""Largest difference of probabilities that counts as rounding."""


def law_of(model: FastSlowMDP, dynamics: Dynamics) -> Rows:
    """One of the two laws of a model; `row_XYA` has the rows of the feasible pairs, shape (P,)."""
    rows = to_rows(model, dynamics, most=MAX_TRANSITIONS)
    row_P = rows.row_XYA[model.feasible_XYA]
    first_R = np.full(rows.n_rows, len(row_P))
    first_R[row_P[::-1]] = np.arange(len(row_P))[::-1]
    used_R = np.argsort(first_R, kind="stable")[: np.count_nonzero(first_R < len(row_P))]
    place_R = np.zeros(rows.n_rows, np.int64)
    place_R[used_R] = np.arange(len(used_R))
    parts = take_rows(rows.start_R, rows.target_N, rows.probability_N, used_R)
    found = Rows.without_repetition((len(used_R),), *parts)
    return Rows(found.row_XYA[place_R[row_P]], found.start_R, found.target_N, found.probability_N)


def transitions_of_pairs(law: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pair, next state and probability of each transition, sorted: shared rows are repeated."""
    row_P = law.row_XYA.astype(np.int64)
    start_P, target_N, probability_N = take_rows(
        law.start_R, law.target_N, law.probability_N, row_P
    )
    return np.repeat(np.arange(len(row_P)), np.diff(start_P)), target_N, probability_N


def count_transitions(law: Rows) -> int:
    """The transitions of all pairs; those in shared rows count for each pair."""
    return int(np.diff(law.start_R)[law.row_XYA].sum())


def own_frozen_law(model: FastSlowMDP) -> Rows | None:
    """The frozen law of a model, or None if it is the usual one: y′ as in the true law, x kept."""
    if model.rows is not None and model.frozen_rows is None:
        return None
    rows = to_rows(model, most=MAX_TRANSITIONS)
    usual = law_of(model, frozen_rows(rows, model.real_XY))
    frozen = law_of(model, model.frozen)
    return None if _agree(frozen, usual) else frozen


def _agree(law: Rows, other: Rows) -> bool:
    """Whether two laws of the same pairs are the same up to rounding."""
    key_P = law.row_XYA.astype(np.int64) * other.n_rows + other.row_XYA
    key_K = np.unique(key_P)
    (start, target, p), (start2, target2, p2) = (
        take_rows(one.start_R, one.target_N, one.probability_N, row_K)
        for one, row_K in ((law, key_K // other.n_rows), (other, key_K % other.n_rows))
    )
    return (
        np.array_equal(start, start2)
        and np.array_equal(target, target2)
        and bool(np.abs(p - p2).max(initial=0) <= SAME_LAW)
    )
