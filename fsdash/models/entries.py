"""The transition law of a model as a sorted list of entries (pair, target, probability).

This is the canonical form of both representations of the dynamics: entries of the same pair and
target are added, zeros are dropped, and the order is by pair, then target. Equal laws have equal
entries, whichever form, type or order they were given in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.core.model import Dynamics, FastSlowMDP
from fsdash.core.rows import Rows, frozen_rows, to_rows
from fsdash.errors import InputError

SAME_LAW = 1e-12
"""Largest difference of probabilities that counts as rounding."""


@dataclass(frozen=True, eq=False)
class Entries:
    """N transitions, sorted by pair (x·|Y| + y)·|A| + a and target x′·|Y| + y′."""

    pair_N: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray

    @classmethod
    def of(cls, model: FastSlowMDP, dynamics: Dynamics) -> Entries:
        """The entries of the feasible pairs of a model under one of its two dynamics."""
        rows = dynamics if isinstance(dynamics, Rows) else to_rows(model, dynamics)
        cell_P = np.flatnonzero(model.feasible_XYA)
        row_P = rows.row_XYA.ravel()[cell_P].astype(np.int64)
        length_P = np.diff(rows.start_R)[row_P]
        # Entry number k of pair p is entry start(row of p) + k of the rows.
        first_P = np.cumsum(length_P) - length_P
        take_N = np.arange(length_P.sum()) + np.repeat(rows.start_R[row_P] - first_P, length_P)
        return cls(
            np.repeat(cell_P, length_P),
            rows.target_N[take_N].astype(np.int64),
            rows.probability_N[take_N],
        )

    def rows(self, shape: tuple[int, int, int]) -> Rows:
        """The entries as rows; probabilities that sum to 1 keep every bit."""
        if not (self.probability_N > 0).all():
            raise InputError("transitions: probabilities must be above 0")
        return Rows.from_entries(shape, self.pair_N, self.target_N, self.probability_N)

    def agrees_with(self, other: Entries) -> bool:
        """Whether two laws are the same up to rounding."""
        return (
            np.array_equal(self.pair_N, other.pair_N)
            and np.array_equal(self.target_N, other.target_N)
            and bool(np.abs(self.probability_N - other.probability_N).max(initial=0) <= SAME_LAW)
        )


def own_frozen_law(model: FastSlowMDP) -> Entries | None:
    """The frozen law of a model, or None if it is the usual one: y′ as in the true law, x kept."""
    if model.rows is not None and model.frozen_rows is None:
        return None
    rows = model.true if isinstance(model.true, Rows) else to_rows(model)
    usual = Entries.of(model, frozen_rows(rows, model.real_XY))
    given = Entries.of(model, model.frozen)
    return None if given.agrees_with(usual) else given
