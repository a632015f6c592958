"""Which state variables are slow? Evidence from the transition law.

Under uniformly random feasible actions, averaged over the states that are not terminal, a variable
v with range R has

    moves   P(v′ ≠ v)            drift   E|v′ − v| / R     (for a category: P(v′ ≠ v))

It is *exogenous* if the law of v′ depends on v alone, not on the action or the other variables. A
*clock* is exogenous, moves in every period and always to the same next value, like a weekday.

A variable is suggested as slow if it moves at most half as often, or drifts at most a quarter as
far, as the variable that moves or drifts most. Clocks can be either: compare both by `rank_splits`.
The work is one pass over the transitions per variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.faults import Faults
from fsdash.models.law import Law
from fsdash.models.reading import ReadOptions, read_table
from fsdash.models.table import Table

SLOW_MOVES = 0.5
"""Largest P(move) of a slow variable, relative to the largest of all variables."""
SLOW_DRIFT = 0.25
"""Largest drift of a slow variable, relative to the largest of all variables."""
EXOGENOUS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Movement:
    """How one variable moves."""

    variable: str
    values: int
    moves: float
    drift: float
    exogenous: bool
    clock: bool
    marks_end: bool
    """Whether it has a single value until the process ends."""


def suggest_slow(model_or_frame: FastSlowMDP | pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Report how each state variable moves, and which ones to treat as slow.

    Parameters
    ----------
    model_or_frame : FastSlowMDP or pd.DataFrame
        A model, or a table of transitions.
    **options
        For a table: the arguments of `from_transitions` that name its columns.

    Returns
    -------
    pd.DataFrame
        One row per variable: `variable`, `values` (how many), `moves` (probability of moving in a
        period under uniform feasible actions), `drift` (mean distance moved, relative to the
        range), `exogenous`, `clock`, `suggestion` ("slow", "fast" or "either") and `reason`.

    Examples
    --------
    >>> import fsdash
    >>> found = fsdash.suggest_slow(fsdash.make("inventory").build())
    >>> found[["variable", "moves", "exogenous", "suggestion"]].round(2)
      variable  moves  exogenous suggestion
    0   demand   0.18       True       slow
    1    stock   0.96      False       fast
    """
    table = as_table(model_or_frame, **options)
    movements = measure_movements(table)
    records = [vars(m) | _suggest(m, movements) for m in movements]
    return pd.DataFrame(records).drop(columns="marks_end")


def choose_slow(table: Table) -> tuple[str, ...]:
    """The variables that `suggest_slow` calls slow; none if all would be."""
    if len(table.variables) < 2:
        return ()
    movements = measure_movements(table)
    slow = [m.variable for m in movements if _suggest(m, movements)["suggestion"] == "slow"]
    return tuple(slow) if len(slow) < len(table.variables) else ()


def as_table(model_or_frame: FastSlowMDP | pd.DataFrame, **options: Any) -> Table:
    """The table of a model or of a frame of transitions."""
    if isinstance(model_or_frame, FastSlowMDP):
        return Table.of(model_or_frame)
    if isinstance(model_or_frame, pd.DataFrame):
        faults = Faults()
        table = read_table(faults, model_or_frame, ReadOptions(**options))
        faults.raise_errors()
        assert table is not None
        return table
    raise InputError(
        f"{type(model_or_frame).__name__}: give a FastSlowMDP or a pandas frame of transitions"
    )


def measure_movements(table: Table) -> list[Movement]:
    """How each variable moves under uniform feasible actions."""
    law, going_S = _without_ends(table)
    actions_S = np.bincount(law.state_P, minlength=table.n_states)
    weight_P = 1 / (actions_S[law.state_P] * max(np.count_nonzero(actions_S), 1))
    state_N = law.state_P[law.pair_N]
    weight_N = weight_P[law.pair_N] * law.probability_N
    found = []
    for j, variable in enumerate(table.variables):
        now_N, next_N = table.code_SV[state_N, j], table.code_SV[law.next_N, j]
        moves = float(weight_N[now_N != next_N].sum())
        width = np.ptp(variable.values) if len(variable) else 0.0
        drift = moves
        if not variable.is_category and width > 0:
            distance_N = np.abs(variable.values[next_N] - variable.values[now_N])
            drift = float(weight_N @ distance_N / width)
        exogenous, certain = _own_law(law, now_N, next_N)
        clock = exogenous and certain and moves > 1 - EXOGENOUS_TOLERANCE
        marks_end = len(variable) > 1 and len(np.unique(table.code_SV[going_S, j])) == 1
        found.append(
            Movement(variable.name, len(variable), moves, drift, exogenous, clock, marks_end)
        )
    return found


def _without_ends(table: Table) -> tuple[Law, np.ndarray]:
    """The law while the process goes on, and the states in which it does.

    Where a terminal state lies says nothing about how a variable moves, so transitions into
    terminal states are left out and the others rescaled.
    """
    law, going_S = table.law, ~table.terminal_S()
    if going_S.all() or not going_S.any():
        return law, np.ones(table.n_states, bool)
    stays_P = np.bincount(
        law.pair_N, weights=law.probability_N * going_S[law.next_N], minlength=len(law.state_P)
    )
    used_P = going_S[law.state_P] & (stays_P > 0)
    number_P = np.cumsum(used_P) - 1
    used_N = used_P[law.pair_N] & going_S[law.next_N]
    pair_N = law.pair_N[used_N]
    return Law(
        law.state_P[used_P],
        law.action_P[used_P],
        law.reward_P[used_P],
        number_P[pair_N],
        law.next_N[used_N],
        law.probability_N[used_N] / stays_P[pair_N],
    ), going_S


def _own_law(law: Law, now_N: np.ndarray, next_N: np.ndarray) -> tuple[bool, bool]:
    """Whether the law of v′ depends on v alone, and whether v then decides v′.

    Both hold if, for each (v, v′), the smallest and the largest probability over all pairs (s, a)
    with this v agree; a pair without such a transition has probability 0.
    """
    pair_N, span = law.pair_N, int(next_N.max(initial=0)) + 1
    key_M, first_M, number_N = np.unique(
        pair_N * span + next_N, return_index=True, return_inverse=True
    )
    p_M = np.bincount(number_N, weights=law.probability_N, minlength=len(key_M))
    move_G, group_M, count_G = np.unique(
        now_N[first_M] * span + next_N[first_M], return_inverse=True, return_counts=True
    )
    low_G, high_G = np.ones(len(move_G)), np.zeros(len(move_G))
    np.minimum.at(low_G, group_M, p_M)
    np.maximum.at(high_G, group_M, p_M)
    _, first_pair_N = np.unique(pair_N, return_index=True)
    pairs_V = np.bincount(now_N[first_pair_N])
    low_G = np.where(count_G < pairs_V[move_G // span], 0.0, low_G)
    exogenous = bool((high_G - low_G).max(initial=0) <= EXOGENOUS_TOLERANCE)
    return exogenous, bool(high_G.min(initial=1) >= 1 - EXOGENOUS_TOLERANCE)


def _suggest(m: Movement, movements: list[Movement]) -> dict[str, str]:
    """The suggestion for one variable, with the reason."""
    others = [n for n in movements if n.values > 1 and not n.clock and not n.marks_end]
    most = max((n.moves for n in others), default=0.0)
    farthest = max((n.drift for n in others), default=0.0)
    if m.values == 1:
        return {"suggestion": "either", "reason": "it has one value"}
    if m.marks_end:
        return {"suggestion": "fast", "reason": "it changes only when the process ends"}
    if m.clock:
        return {"suggestion": "either", "reason": "a clock: it moves every period, as it must"}
    if len(others) == 1:
        return {"suggestion": "fast", "reason": "no other variable moves more"}
    own = ", and neither actions nor other variables change its law" if m.exogenous else ""
    if m.moves == 0:
        return {"suggestion": "slow", "reason": "it never moves"}
    if m.moves <= SLOW_MOVES * most:
        text = f"it moves in {m.moves:.1%} of the periods, another in {most:.1%}{own}"
        return {"suggestion": "slow", "reason": text}
    if m.drift <= SLOW_DRIFT * farthest:
        text = f"it moves {m.drift:.1%} of its range per period, another {farthest:.1%}{own}"
        return {"suggestion": "slow", "reason": text}
    return {"suggestion": "fast", "reason": f"it moves in {m.moves:.1%} of the periods"}
