"""Feasible pairs (s, a) with their rewards and distributions of next states, in one form (`Law`).

`Law.of` takes them from a model, whichever form its dynamics have. `collect` makes them from single
transitions (s, a, s′, p, r), checked, for every builder whose data come that way: tables,
functions, Gymnasium. The result does not depend on the order of the transitions, to the last bit:
they are sorted before anything is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fsdash.core.law import TransitionLaw
from fsdash.core.model import FastSlowMDP
from fsdash.core.row_kernels import take_rows
from fsdash.core.rows import PROBABILITY_TOLERANCE, Rows, frozen_rows, to_rows
from fsdash.models.faults import MOST_OF_A_KIND, Faults
from fsdash.models.size import MAX_TRANSITIONS

RESCALABLE = 1e-3 + PROBABILITY_TOLERANCE
"""Probabilities whose sum is as close to 1 as this can be rescaled (`normalize=True`); 0.999 is."""
SAME_LAW = 1e-12
"""Largest difference of probabilities that counts as rounding."""


class Transitions(NamedTuple):
    """N transitions of a table as indices. Rewards of an infeasible action are −∞."""

    state_N: np.ndarray
    action_N: np.ndarray
    next_N: np.ndarray
    probability_N: np.ndarray
    reward_N: np.ndarray
    row_N: np.ndarray
    """Where each transition comes from, for error messages."""

    def take(self, which: np.ndarray) -> Transitions:
        """The transitions with these positions or with a true mask."""
        return Transitions(*(values[which] for values in self))


@dataclass(frozen=True, eq=False)
class Law:
    """Feasible pairs, sorted by state and action, and the transitions of their rows.

    A row is a distribution of next states. Pairs may share one, as in `fsdash.core.rows`.
    """

    state_P: np.ndarray
    action_P: np.ndarray
    reward_P: np.ndarray
    row_P: np.ndarray
    """The row of each pair, from 0."""
    row_N: np.ndarray
    """The row of each transition, ascending."""
    next_N: np.ndarray
    probability_N: np.ndarray

    @classmethod
    def of_pairs(
        cls,
        state_P: np.ndarray,
        action_P: np.ndarray,
        reward_P: np.ndarray,
        pair_N: np.ndarray,
        next_N: np.ndarray,
        probability_N: np.ndarray,
    ) -> Law:
        """The law in which each pair has a row of its own."""
        row_P = np.arange(len(state_P))
        return cls(state_P, action_P, reward_P, row_P, pair_N, next_N, probability_N)

    @classmethod
    def of(cls, model: FastSlowMDP, dynamics: TransitionLaw) -> Law:
        """One of the two laws of a model; states are numbered x·|Y| + y.

        Pairs with equal rows share one. Rows are numbered in the order of their first pairs; the
        entries of a row with the same next state are added, zeros are dropped, and next states
        ascend. Equal laws have equal rows.
        """
        rows = to_rows(model, dynamics, most=MAX_TRANSITIONS)
        row_P = rows.row_XYA[model.feasible_XYA]
        first_R = np.full(rows.n_rows, len(row_P))
        first_R[row_P[::-1]] = np.arange(len(row_P))[::-1]
        used_R = np.argsort(first_R, kind="stable")[: np.count_nonzero(first_R < len(row_P))]
        place_R = np.zeros(rows.n_rows, np.int64)
        place_R[used_R] = np.arange(len(used_R))
        parts = take_rows(rows.start_R, rows.target_N, rows.probability_N, used_R)
        different = Rows.without_repetition((len(used_R),), *parts)
        cell_P = np.flatnonzero(model.feasible_XYA)
        return cls(
            state_P=cell_P // model.n_actions,
            action_P=cell_P % model.n_actions,
            reward_P=model.reward_XYA.ravel()[cell_P],
            row_P=different.row_XYA[place_R[row_P]].astype(np.int64) - 1,  # row 0 is empty
            row_N=np.repeat(np.arange(different.n_rows - 1), np.diff(different.start_R)[1:]),
            next_N=different.target_N,
            probability_N=different.probability_N,
        )

    @cached_property
    def n_rows(self) -> int:
        return int(self.row_P.max(initial=-1)) + 1

    @cached_property
    def length_R(self) -> np.ndarray:
        """The number of transitions in each row."""
        return np.bincount(self.row_N, minlength=self.n_rows)

    @property
    def n_transitions(self) -> int:
        """Transitions of all pairs; those in shared rows count for each pair."""
        return int(self.length_R[self.row_P].sum())

    def transitions_in(self, row_K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The transitions in some rows: where the row of each is in `row_K`, and its position."""
        length_K = self.length_R[row_K]
        start_K = self._start_R[row_K]
        first_K = np.cumsum(length_K) - length_K
        position_M = np.arange(length_K.sum()) + np.repeat(start_K - first_K, length_K)
        return np.repeat(np.arange(len(row_K)), length_K), position_M

    @cached_property
    def _start_R(self) -> np.ndarray:
        return np.cumsum(self.length_R) - self.length_R


def changed_frozen_law(model: FastSlowMDP) -> Law | None:
    """The frozen law of a model, or None if it is the usual one: y′ as in the true law, x kept."""
    if model.rows is not None and model.frozen_rows is None:
        return None
    rows = to_rows(model, most=MAX_TRANSITIONS)
    usual = Law.of(model, frozen_rows(rows, model.real_XY))
    frozen = Law.of(model, model.frozen)
    return None if _agree(frozen, usual) else frozen


def _agree(law: Law, other: Law) -> bool:
    """Whether two laws of the same pairs are the same up to rounding."""
    row_K = np.unique(law.row_P * other.n_rows + other.row_P)
    (place_M, i_M), (other_place_M, j_M) = (
        law.transitions_in(row_K // other.n_rows),
        other.transitions_in(row_K % other.n_rows),
    )
    return (
        np.array_equal(place_M, other_place_M)
        and np.array_equal(law.next_N[i_M], other.next_N[j_M])
        and bool(
            np.abs(law.probability_N[i_M] - other.probability_N[j_M]).max(initial=0) <= SAME_LAW
        )
    )


def without_rounding(probability_N: np.ndarray) -> np.ndarray:
    """The probabilities with 0 in the place of rounding errors below 0.

    >>> without_rounding(np.array([-1e-17, 0.5, -0.1])).tolist()
    [0.0, 0.5, -0.1]
    """
    rounding_N = (probability_N < 0) & (probability_N >= -PROBABILITY_TOLERANCE)
    return np.where(rounding_N, 0.0, probability_N) if rounding_N.any() else probability_N


def collect(
    faults: Faults,
    transitions: Transitions,
    pair: Callable[[int, int], str],
    *,
    column: str = "p",
    normalize: bool | None = None,
    doubtful_N: np.ndarray | None = None,
    report_repeats: bool = True,
) -> Law:
    """Add up the transitions of each pair and average its rewards.

    Parameters
    ----------
    faults
        Takes sums that are not 1 and repeated transitions.
    transitions
        Transitions with probabilities ≥ 0.
    pair, column
        How faults name a state and an action, and the column of probabilities.
    normalize
        Rescale sums that differ from 1 by at most `RESCALABLE`. None if the builder has no such
        option; the remedy does not offer it then.
    doubtful_N
        Whether a transition has a fault already; the sum of its pair is then not judged.
    report_repeats
        Whether a transition that is given twice is worth a fault.
    """
    t, key_N, doubtful_N = _sorted_feasible(transitions, doubtful_N)
    new_pair_N = np.diff(key_N, prepend=-1) != 0
    start_P, pair_N = np.flatnonzero(new_pair_N), np.cumsum(new_pair_N) - 1
    if not len(start_P):
        empty = np.zeros(0, np.int64)
        return Law.of_pairs(empty, empty, np.zeros(0), empty, empty, np.zeros(0))
    sum_P = np.add.reduceat(t.probability_N, start_P)
    doubtful_P = np.logical_or.reduceat(doubtful_N, start_P)
    wrong_P = ~(np.abs(sum_P - 1) <= PROBABILITY_TOLERANCE) & ~doubtful_P
    near_P = wrong_P & (np.abs(sum_P - 1) <= RESCALABLE)
    repeat_N = ~new_pair_N & (np.diff(t.next_N, prepend=-1) == 0) & (t.next_N >= 0)
    if report_repeats:
        _check_repeats(faults, t, repeat_N, (wrong_P & ~near_P)[pair_N])

    def report_sums(where_P: np.ndarray, remedy: str) -> None:
        row_P = np.minimum.reduceat(t.row_N, start_P)
        place = np.flatnonzero(where_P)
        place = place[np.argsort(row_P[place], kind="stable")]
        first = start_P[place]
        faults.add_rows(
            row_P[place],
            lambda i: (
                f"{column} sums to {sum_P[place[i]]:.9g} over "
                f"{pair(int(t.state_N[first[i]]), int(t.action_N[first[i]]))}"
            ),
            remedy,
            column=column,
        )

    if not normalize:
        offer = "" if normalize is None else "set normalize=True to rescale them, or "
        report_sums(near_P, f"{offer}correct them")
    remedy = "add the transitions that are missing, or correct the probabilities"
    report_sums(wrong_P & ~near_P, remedy)

    # A reward that does not depend on the next state is kept to the last bit.
    low_P, high_P = (f.reduceat(t.reward_N, start_P) for f in (np.minimum, np.maximum))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_P = np.add.reduceat(t.probability_N * t.reward_N, start_P) / sum_P
        probability_N = t.probability_N / (sum_P[pair_N] if normalize else 1.0)
    start_M = np.flatnonzero(~repeat_N)
    merged_M = np.add.reduceat(probability_N, start_M)
    used_M = merged_M > 0
    return Law.of_pairs(
        t.state_N[start_P],
        t.action_N[start_P],
        np.where(low_P == high_P, low_P, mean_P) + 0.0,
        pair_N[start_M][used_M],
        t.next_N[start_M][used_M],
        merged_M[used_M],
    )


def _sorted_feasible(
    t: Transitions, doubtful_N: np.ndarray | None
) -> tuple[Transitions, np.ndarray, np.ndarray]:
    """The transitions of feasible pairs in order, the keys of their pairs, which are doubtful."""
    span = int(t.action_N.max(initial=0)) + 1
    key_N = t.state_N * span + t.action_N
    doubtful_N = np.zeros(len(key_N), bool) if doubtful_N is None else doubtful_N
    if (infeasible_N := t.reward_N == -np.inf).any():
        feasible_N = ~np.isin(key_N, np.unique(key_N[infeasible_N]))
        t, key_N, doubtful_N = t.take(feasible_N), key_N[feasible_N], doubtful_N[feasible_N]
    move_N = key_N * (int(t.next_N.max(initial=0)) + 2) + t.next_N + 1
    order = np.argsort(move_N, kind="stable")
    if (np.diff(move_N[order]) == 0).any():
        order = np.lexsort((t.row_N, t.reward_N, t.probability_N, move_N))
    return t.take(order), key_N[order], doubtful_N[order]


def _check_repeats(
    faults: Faults, t: Transitions, repeat_N: np.ndarray, wrong_N: np.ndarray
) -> None:
    """Repeats are an error if they spoil the sum; otherwise their probabilities are added."""

    def report(where_N: np.ndarray, severity: str, remedy: str) -> None:
        place = np.flatnonzero(where_N)
        rows = np.sort(np.stack([t.row_N[place - 1], t.row_N[place]]), axis=0)
        rows = rows[:, np.argsort(rows[1], kind="stable")]
        faults.add_rows(
            rows[1],
            lambda i: f"same state, action and next state as row {rows[0, i] + 1}",
            remedy,
            severity=severity,
        )

    report(repeat_N & wrong_N, "error", "delete one of the two rows")
    report(repeat_N & ~wrong_N, "warning", "none if two outcomes lead there: they are added")


def with_terminal(law: Law, terminal: np.ndarray) -> Law:
    """The law with the pairs of terminal states added: action 0 stays there with reward 0."""
    if not len(terminal):
        return law
    state_P = np.concatenate([law.state_P, terminal])
    order = np.argsort(state_P, kind="stable")
    added, zeros = law.n_rows + np.arange(len(terminal)), np.zeros(len(terminal), np.int64)
    return Law(
        state_P[order],
        np.concatenate([law.action_P, zeros])[order],
        np.concatenate([law.reward_P, zeros])[order],
        np.concatenate([law.row_P, added])[order],
        np.concatenate([law.row_N, added]),
        np.concatenate([law.next_N, terminal]),
        np.concatenate([law.probability_N, np.ones(len(terminal))]),
    )


def law_of_calls(
    faults: Faults, t: Transitions, terminal_S: np.ndarray, pair: Callable[[int, int], str]
) -> Law:
    """The law of transitions that a program returned, checked; `pair` names a state and an action.

    A program may name a next state several times: its probabilities are added.
    """

    def report(wrong_N: np.ndarray, values_N: np.ndarray, what: str) -> None:
        where = np.flatnonzero(wrong_N)
        faults.add_places(
            [pair(int(t.state_N[i]), int(t.action_N[i])) for i in where[:MOST_OF_A_KIND]],
            len(where),
            lambda i: f"{values_N[where[i]]:.9g} {what}",
            "return a finite number; probabilities are from 0 to 1",
        )

    t = t._replace(probability_N=without_rounding(t.probability_N))
    bad_N = ~((t.probability_N >= 0) & (t.probability_N <= 1 + PROBABILITY_TOLERANCE))
    odd_N = np.isnan(t.reward_N) | (t.reward_N == np.inf)
    report(bad_N, t.probability_N, "is not a probability")
    report(odd_N, t.reward_N, "is not a reward")
    has_action_S = np.bincount(t.state_N, minlength=len(terminal_S)) > 0
    idle = np.flatnonzero(~has_action_S & ~terminal_S)
    faults.add_places(
        [pair(int(s), 0).rpartition(", action ")[0] for s in idle[:MOST_OF_A_KIND]],
        len(idle),
        "has no feasible action",
        "allow one, or make the state terminal",
    )
    t = t._replace(
        probability_N=np.where(bad_N, 0.0, t.probability_N),
        reward_N=np.where(odd_N, 0.0, t.reward_N),
    )
    law = collect(faults, t, pair, doubtful_N=bad_N | odd_N, report_repeats=False)
    return with_terminal(law, np.flatnonzero(terminal_S))
