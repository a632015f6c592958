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

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan, nan
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.columns import ReadOptions
from fsdash.models.faults import Faults
from fsdash.models.law import Law
from fsdash.models.reading import read_table
from fsdash.models.table import Table, Variable, find_sorted

SECONDS = 60.0
"""The time limit if none is given."""
SLOW_MOVES = 0.5
"""Largest P(move) of a slow variable, relative to the largest of all variables."""
SLOW_DRIFT = 0.25
"""Largest drift of a slow variable, relative to the largest of all variables."""
EXOGENOUS_TOLERANCE = 1e-9
TRANSITIONS_AT_A_TIME = 4_000_000
"""Transitions of pairs that are looked at together, which bounds the memory."""


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


def suggest_slow(
    model_or_frame: FastSlowMDP | pd.DataFrame,
    *,
    seconds: float = SECONDS,
    progress: Callable[[float], object] = lambda share: None,
    **options: Any,
) -> pd.DataFrame:
    """Report how each state variable moves, and which ones to treat as slow.

    Parameters
    ----------
    model_or_frame : FastSlowMDP or pd.DataFrame
        A model, or a table of transitions.
    seconds : float, default 60
        Time limit. A variable that was not looked at until then is "unknown".
    progress : callable
        Called with the share of the variables that were looked at. An exception in it ends this.
    **options
        For a table: the arguments of `from_transitions` that name its columns.

    Returns
    -------
    pd.DataFrame
        One row per variable: `variable`, `values` (how many), `moves` (probability of moving in a
        period under uniform feasible actions), `drift` (mean distance moved, relative to the
        range), `exogenous`, `clock`, `suggestion` ("slow", "fast", "either" or "unknown") and
        `reason`.

    Examples
    --------
    >>> import fsdash
    >>> variables = fsdash.models.suggest_slow(fsdash.make("inventory").build())
    >>> variables[["variable", "moves", "exogenous", "suggestion"]].round(2)
      variable  moves  exogenous suggestion
    0   demand   0.18       True       slow
    1    stock   0.96      False       fast
    """
    table = as_table(model_or_frame, **options)
    movements = measure_movements(table, seconds, progress)
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


def measure_movements(
    table: Table,
    seconds: float = SECONDS,
    progress: Callable[[float], object] = lambda share: None,
) -> list[Movement]:
    """How each variable moves under uniform feasible actions; NaN after the time limit."""
    deadline = perf_counter() + seconds
    law, going_S = _without_ends(table)
    actions_S = np.bincount(law.state_P, minlength=table.n_states)
    weight_P = 1 / (actions_S[law.state_P] * max(np.count_nonzero(actions_S), 1))
    movements = []
    for j, variable in enumerate(table.variables):
        progress(j / len(table.variables))
        if perf_counter() > deadline:
            unknown = (nan, nan, False, False, False)
            movements.append(Movement(variable.name, len(variable), *unknown))
            continue
        code_S = table.code_SV[:, j]
        moves, drift, exogenous, certain = _movement(law, weight_P, code_S, variable)
        clock = exogenous and certain and moves > 1 - EXOGENOUS_TOLERANCE
        marks_end = len(variable) > 1 and len(np.unique(code_S[going_S])) == 1
        movements.append(
            Movement(variable.name, len(variable), moves, drift, exogenous, clock, marks_end)
        )
    return movements


def _without_ends(table: Table) -> tuple[Law, np.ndarray]:
    """The law while the process goes on, and the states in which it does.

    Where a terminal state lies says nothing about how a variable moves, so transitions into
    terminal states are left out and the others rescaled.
    """
    law, going_S = table.law, ~table.terminal_S()
    if going_S.all() or not going_S.any():
        return law, np.ones(table.n_states, bool)
    stays_R = np.bincount(
        law.row_N, weights=law.probability_N * going_S[law.next_N], minlength=law.n_rows
    )
    used_P, used_N = going_S[law.state_P] & (stays_R[law.row_P] > 0), going_S[law.next_N]
    row_N = law.row_N[used_N]
    return Law(
        law.state_P[used_P],
        law.action_P[used_P],
        law.reward_P[used_P],
        law.row_P[used_P],
        row_N,
        law.next_N[used_N],
        law.probability_N[used_N] / stays_R[row_N],
    ), going_S


def _movement(
    law: Law, weight_P: np.ndarray, code_S: np.ndarray, variable: Variable
) -> tuple[float, float, bool, bool]:
    """P(v′ ≠ v), the drift, whether the law of v′ depends on v alone, and whether v decides v′.

    Only the distribution of v′ in each row matters, and pairs with the same v and row count once,
    so the memory does not grow with the number of pairs that share a row.
    """
    V = len(variable)
    key_M, number_N = np.unique(law.row_N * V + code_S[law.next_N], return_inverse=True)
    p_M = np.bincount(number_N, weights=law.probability_N, minlength=len(key_M))
    marginal = replace(law, row_N=key_M // V, next_N=key_M % V, probability_N=p_M)
    key_C, number_P = np.unique(code_S[law.state_P] * law.n_rows + law.row_P, return_inverse=True)
    now_C, row_C = key_C // law.n_rows, key_C % law.n_rows
    weight_C = np.bincount(number_P, weights=weight_P, minlength=len(key_C))
    # The law of v′ in the first row of each v, with which the other rows of v are compared.
    now_V, first_V = np.unique(now_C, return_index=True)
    place, take = marginal.transitions_in(row_C[first_V])
    reference_key, reference_p = now_V[place] * V + marginal.next_N[take], p_M[take]

    values, is_number = variable.values, not variable.is_category
    moves = distance = apart = 0.0
    least = 1.0
    part_C = np.cumsum(marginal.length_R[row_C]) // TRANSITIONS_AT_A_TIME
    bounds = np.searchsorted(part_C, np.arange(part_C.max(initial=0) + 2))
    for part in map(slice, bounds, bounds[1:]):
        place, take = marginal.transitions_in(row_C[part])
        now, after, p = now_C[part][place], marginal.next_N[take], p_M[take]
        weight = weight_C[part][place] * p
        moves += float(weight[now != after].sum())
        if is_number:
            distance += float(weight @ np.abs(values[after] - values[now]))
        where, missing = find_sorted(reference_key, now * V + after)
        expected = np.where(missing, 0.0, reference_p[where])
        shared = np.bincount(place, weights=expected, minlength=len(row_C[part]))
        apart = max(apart, np.abs(p - expected).max(initial=0), (1 - shared).max(initial=0))
        least = min(least, p.min(initial=1))
    width = np.ptp(values) if V else 0.0
    drift = distance / width if is_number and width > 0 else moves
    return moves, drift, apart <= EXOGENOUS_TOLERANCE, least >= 1 - EXOGENOUS_TOLERANCE


def _suggest(m: Movement, movements: list[Movement]) -> dict[str, str]:
    """The suggestion for one variable, with the reason."""
    if isnan(m.moves):
        return {"suggestion": "unknown", "reason": "the time limit came before it was looked at"}
    seen = [n for n in movements if not isnan(n.moves)]
    others = [n for n in seen if n.values > 1 and not n.clock and not n.marks_end]
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
    alone = ", and neither actions nor other variables change its law" if m.exogenous else ""
    if m.moves == 0:
        return {"suggestion": "slow", "reason": "it never moves"}
    if m.moves <= SLOW_MOVES * most:
        text = f"it moves in {m.moves:.1%} of the periods, another in {most:.1%}{alone}"
        return {"suggestion": "slow", "reason": text}
    if m.drift <= SLOW_DRIFT * farthest:
        text = f"it moves {m.drift:.1%} of its range per period, another {farthest:.1%}{alone}"
        return {"suggestion": "slow", "reason": text}
    return {"suggestion": "fast", "reason": f"it moves in {m.moves:.1%} of the periods"}
