"""Reading a table of transitions: cells to codes, codes to states, states to a `Table`.

All faults are collected on the way, one for every bad cell; a table comes back only if none of them
is an error.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.core.model import SENSES
from fsdash.errors import InputError
from fsdash.formatting import shorten
from fsdash.models.columns import TRUTH, Columns, ReadOptions, resolve_columns
from fsdash.models.faults import MOST_OF_A_KIND, Faults
from fsdash.models.law import (
    RESCALABLE,
    Law,
    Transitions,
    Wording,
    collect,
    with_terminal,
    without_rounding,
)
from fsdash.models.marked import MISSING, check_initial, initial_distribution, terminal_states
from fsdash.models.size import MAX_TRANSITIONS
from fsdash.models.table import (
    RowKeys,
    StateIndex,
    Table,
    Variable,
    action_names,
    describe_codes,
    distinct,
    encode,
    find_sorted,
)

TOO_LARGE = "beyond ±1.8e308"
"""Shown instead of a whole number that floating point cannot represent."""


def check_settings(faults: Faults, gamma: object, sense: object) -> None:
    """Add a fault for a discount factor or a sense that cannot be used."""
    number = isinstance(gamma, int | float | np.number) and not isinstance(gamma, bool)
    if gamma is not None and not (number and 0 <= gamma < 1):  # type: ignore[operator]
        remedy = "use 0 ≤ γ < 1, such as 0.97: the weight of a reward one period later"
        faults.add(f"gamma = {gamma!r}", remedy, column="gamma")
    if sense not in SENSES:
        remedy = 'use "max" for rewards, "min" for costs'
        faults.add(f"sense = {sense!r}", remedy, column="sense")


def read_table(faults: Faults, frame: pd.DataFrame, options: ReadOptions) -> Table | None:
    """The table, or None if there is an error among the faults."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{type(frame).__name__}: is not a table; give a pandas DataFrame")
    check_settings(faults, options.gamma, options.sense)
    frame = frame.rename(columns=str)
    columns = resolve_columns(faults, frame, options)
    if columns is None or not _check_length(faults, frame):
        return None
    cells = _read_cells(faults, frame, columns, options.sense)
    if not cells.starts_N.any():
        return None
    code_SV, terminal_S, t = _number_states(faults, frame, cells, options.terminal)
    law = _law(faults, cells, code_SV, terminal_S, t, normalize=options.normalize)
    index = StateIndex(cells.variables, code_SV)
    initial_S = _initial(faults, frame, index, t, options)
    _check_unused(faults, frame, columns, options)
    if faults.has_errors:
        return None
    return Table(
        variables=cells.variables,
        code_SV=code_SV,
        actions=cells.actions,
        law=with_terminal(law, np.flatnonzero(terminal_S)),
        gamma=0.0 if options.gamma is None else float(options.gamma),
        initial_S=initial_S,
        sense=options.sense,
        name=options.name,
    )


def _check_unused(
    faults: Faults, frame: pd.DataFrame, columns: Columns, options: ReadOptions
) -> None:
    """Warn about columns without a role: one of them may matter, such as the end of an episode."""
    ends = options.terminal if isinstance(options.terminal, list) else [options.terminal]
    roles = (columns.action, columns.probability, columns.reward, options.initial, *ends)
    used = {*columns.next, *columns.next.values(), *(role for role in roles if type(role) is str)}
    for name in frame.columns:
        if name not in used and not name.startswith("Unnamed: "):  # a column without a name
            faults.add(
                "the column is not used",
                "none if the transitions do not depend on it",
                column=name,
                severity="warning",
            )


def _check_length(faults: Faults, frame: pd.DataFrame) -> bool:
    if not len(frame):
        faults.add("the table has no rows", "give one row per state, action and next state")
    elif len(frame) > MAX_TRANSITIONS:
        remedy = "merge states, or leave out transitions of negligible probability"
        faults.add(f"{len(frame):,} rows; the limit is {MAX_TRANSITIONS:,}", remedy)
    return 0 < len(frame) <= MAX_TRANSITIONS


# ------------------------------------------------------------------------------------------- cells


@dataclass(frozen=True, eq=False)
class _Cells:
    """N rows of a table. A missing state or action has the code −1, a bad number is NaN."""

    columns: Columns
    variables: tuple[Variable, ...]
    actions: Axis
    code_NV: np.ndarray
    next_NV: np.ndarray
    action_N: np.ndarray
    probability_N: np.ndarray
    reward_N: np.ndarray
    """Rewards; negated costs if the sense is "min"."""

    @cached_property
    def starts_N(self) -> np.ndarray:
        """Whether a row has a state and an action."""
        return _complete(self.code_NV) & (self.action_N >= 0)

    @cached_property
    def leads_N(self) -> np.ndarray:
        """Whether a row has a next state that it reaches with a probability above 0."""
        happens_N = (self.probability_N != 0) & (self.reward_N != -np.inf)
        return _complete(self.next_NV) & happens_N & self.starts_N


def _complete(code_NV: np.ndarray) -> np.ndarray:
    return np.logical_and.reduce([codes >= 0 for codes in code_NV.T])


def _read_cells(faults: Faults, frame: pd.DataFrame, columns: Columns, sense: str) -> _Cells:
    """The rows as codes and numbers, checked cell by cell."""
    variables, codes, next_codes = [], [], []
    for name, next_name in columns.next.items():
        variable, (now_N, next_N) = encode(name, [frame[name], frame[next_name]])
        _check_words(faults, variable)
        _check_missing(faults, name, now_N < 0)
        _check_missing(faults, next_name, next_N < 0)
        variables.append(variable)
        codes.append(now_N)
        next_codes.append(next_N)
    assert columns.action is not None and columns.reward is not None
    action, [action_N] = encode(columns.action, [frame[columns.action]])
    _check_missing(faults, columns.action, action_N < 0)
    return _Cells(
        columns=columns,
        variables=tuple(variables),
        actions=_action_axis(action),
        code_NV=np.array(codes).T,
        next_NV=np.array(next_codes).T,
        action_N=action_N,
        probability_N=_probabilities(faults, frame, columns.probability),
        reward_N=_rewards(faults, frame, columns.reward, sense),
    )


def _action_axis(action: Variable) -> Axis:
    """The axis of the actions: numbers are coordinates, words are labels."""
    labels = tuple(str(value) for value in action.own_values) if action.is_category else ()
    return Axis((action.name,), action.values, labels=labels)


def _numeric_column(faults: Faults, column: pd.Series, name: str) -> np.ndarray:
    """The column as numbers, with a fault for each cell that is empty or not a number."""
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number with hundreds of digits
        column = column.map(lambda value: TOO_LARGE if _is_too_large(value) else value)
        numbers = pd.to_numeric(column, errors="coerce")
    number_N = numbers.to_numpy(dtype=float, na_value=np.nan)
    missing_N = column.isna().to_numpy(dtype=bool)
    rows = np.flatnonzero(np.isnan(number_N) & ~missing_N)
    wrong = [shorten(str(value)) for value in column.iloc[rows[:MOST_OF_A_KIND]]]
    remedy = "write a number, without separators of thousands"
    faults.add_rows(rows, lambda i: f"{wrong[i]!r} is not a number", remedy, column=name)
    _check_missing(faults, name, missing_N)
    return np.array(number_N)


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _truth_column(faults: Faults, column: pd.Series, name: str) -> np.ndarray:
    """The column as true or false, with a fault for each cell that is neither."""
    words = column.map(lambda value: TRUTH.get(str(value).strip().lower()))
    rows = np.flatnonzero(words.isna().to_numpy(dtype=bool))
    wrong = [shorten(str(value)) for value in column.iloc[rows[:MOST_OF_A_KIND]]]
    remedy = "write true or false, 1 or 0"
    faults.add_rows(rows, lambda i: f"{wrong[i]!r} is not true or false", remedy, column=name)
    return (words == True).to_numpy(dtype=bool)  # noqa: E712


def _probabilities(faults: Faults, frame: pd.DataFrame, name: str | None) -> np.ndarray:
    if name is None:
        return np.ones(len(frame))
    p_N = without_rounding(_numeric_column(faults, frame[name], name))
    # A little more than 1 may be rounding: the sums are checked, and can be rescaled.
    rows = np.flatnonzero((p_N < 0) | (p_N > 1 + RESCALABLE))
    values = p_N[rows]
    remedy = "give a probability from 0 to 1"
    faults.add_rows(rows, lambda i: f"{values[i]:.9g} is not a probability", remedy, column=name)
    p_N[rows] = np.nan
    return p_N


def _rewards(faults: Faults, frame: pd.DataFrame, name: str, sense: str) -> np.ndarray:
    reward_N = _numeric_column(faults, frame[name], name)
    reward_N = (-reward_N if sense == "min" else reward_N) + 0.0
    rows = np.flatnonzero(reward_N == np.inf)
    forbids = "plus infinity" if sense == "min" else "minus infinity"
    remedy = f"give a finite number; {forbids} makes an action infeasible"
    faults.add_rows(rows, lambda i: "infinite", remedy, column=name)
    reward_N[rows] = np.nan
    return reward_N


def _check_missing(faults: Faults, name: str, missing_N: np.ndarray) -> None:
    rows = np.flatnonzero(missing_N)
    faults.add_rows(rows, lambda i: "empty cell", "fill it in or delete the row", column=name)


def _check_words(faults: Faults, variable: Variable) -> None:
    """Warn if a variable has both numbers and words: one of them may be a slip."""
    if not variable.is_category:
        return
    values = pd.Series([str(value) for value in variable.own_values], dtype="str")
    words = values[pd.to_numeric(values, errors="coerce").isna()]
    if 0 < len(words) < len(values):
        faults.add(
            f"{len(values) - len(words):,} values are numbers, {shorten(words.iloc[0])!r} is a "
            "word: the variable is read as a category",
            "none if this is meant; otherwise write numbers only",
            column=variable.name,
            severity="warning",
        )


# ------------------------------------------------------------------------------------------ states


def _number_states(
    faults: Faults, frame: pd.DataFrame, cells: _Cells, terminal: Any
) -> tuple[np.ndarray, np.ndarray, Transitions]:
    """Number the states that have rows, and the terminal ones, in the order of their codes.

    Returns the codes of the states, which of them are terminal, and the rows with the numbers of
    their states: −1 for a state or next state that is missing or has neither rows nor an end.
    """
    starts_N, leads_N = cells.starts_N, cells.leads_N
    code_MV = np.concatenate([cells.code_NV[starts_N], cells.next_NV[leads_N]])
    keys = RowKeys([len(variable) for variable in cells.variables], code_MV)
    key_K, first_K = distinct(keys(code_MV))
    code_KV, key_N, next_key_N = code_MV[first_K], keys(cells.code_NV), keys(cells.next_NV)
    has_rows_K = np.zeros(len(key_K), bool)
    has_rows_K[np.searchsorted(key_K, key_N[starts_N])] = True

    terminal_K = np.zeros(len(key_K), bool)
    for part in terminal if isinstance(terminal, list) else [terminal]:
        if isinstance(part, str) and part == MISSING:
            terminal_K |= ~has_rows_K
        elif isinstance(part, str) and part in frame:
            marked_N = _truth_column(faults, frame[part], part)
            terminal_K[np.searchsorted(key_K, next_key_N[marked_N & leads_N])] = True
            _check_marks(faults, part, marked_N, np.where(leads_N, next_key_N, -1), key_N)
        elif part is not None:
            index = StateIndex(cells.variables, code_KV)
            # In a list, a list is one state, as in JSON.
            state = [part] if isinstance(part, list) else part
            terminal_K |= terminal_states(faults, state, index, code_KV)
    is_state_K = has_rows_K | terminal_K
    numbers = (find_sorted(key_K[is_state_K], wanted_N) for wanted_N in (key_N, next_key_N))
    state_N, next_N = (np.where(unknown_N, -1, number_N) for number_N, unknown_N in numbers)
    t = Transitions(
        state_N,
        cells.action_N,
        next_N,
        cells.probability_N,
        cells.reward_N,
        np.arange(len(state_N)),
    )
    terminal_S = terminal_K[is_state_K]
    _check_next(faults, cells, t, terminal_S[state_N])
    return code_KV[is_state_K], terminal_S, t


def _check_marks(
    faults: Faults, name: str, marked_N: np.ndarray, next_key_N: np.ndarray, key_N: np.ndarray
) -> None:
    """Warn if a row goes on in a state that another row marks as terminal."""
    ends = np.unique(next_key_N[marked_N & (next_key_N >= 0)])
    goes_on_N = ~marked_N & np.isin(next_key_N, ends) & ~np.isin(key_N, ends)
    faults.add_rows(
        np.flatnonzero(goes_on_N),
        lambda i: "false, but true in another row with this next state: the state is terminal",
        "none if the process always ends there; otherwise add a variable that tells both apart",
        column=name,
        severity="warning",
    )


def _check_next(faults: Faults, cells: _Cells, t: Transitions, ends_N: np.ndarray) -> None:
    """Next states must have rows of their own, or be terminal."""
    rows = np.flatnonzero((t.next_N < 0) & cells.leads_N & ~ends_N)
    faults.add_rows(
        rows,
        lambda i: (
            f"next state {describe_codes(cells.variables, cells.next_NV[rows[i]])} "
            "never occurs as a state"
        ),
        'add its rows, or set terminal="missing" if the process ends there',
        column=", ".join(cells.columns.next.values()),
    )


# --------------------------------------------------------------------------------------------- law


def _law(
    faults: Faults,
    cells: _Cells,
    code_SV: np.ndarray,
    terminal_S: np.ndarray,
    t: Transitions,
    *,
    normalize: bool,
) -> Law:
    """The pairs and transitions of the states that are not terminal."""
    bad_N = np.isnan(t.probability_N) | np.isnan(t.reward_N)
    # A row without an action may belong to any pair of its state.
    lost_S = np.zeros(len(code_SV), bool)
    lost_S[t.state_N[(t.action_N < 0) & (t.state_N >= 0)]] = True
    bad_N |= lost_S[t.state_N]
    t = replace(
        t,
        probability_N=np.where(np.isnan(t.probability_N), 0.0, t.probability_N),
        reward_N=np.where(np.isnan(t.reward_N), 0.0, t.reward_N),
    )
    ends_N = cells.starts_N & terminal_S[t.state_N]
    stays_N = (t.next_N == t.state_N) & (t.reward_N == 0)
    faults.add_rows(
        np.flatnonzero(ends_N & ~stays_N),
        lambda i: "the row of a terminal state is not used",
        "none if the process ends in this state; otherwise change `terminal`",
        severity="warning",
    )
    names, used_N = action_names(cells.actions), cells.starts_N & ~ends_N
    law = collect(
        faults,
        t.take(used_N),
        Wording(
            cells.columns.probability or "probability",
            lambda s, a: (
                f"the rows of {describe_codes(cells.variables, code_SV[s])}, action {names[a]}"
            ),
        ),
        normalize=normalize,
        doubtful_N=bad_N[used_N],
    )
    # A state whose actions all have the reward −∞ has no feasible action.
    idle = np.flatnonzero((np.bincount(law.state_P, minlength=len(code_SV)) == 0) & ~terminal_S)
    row_S = np.zeros(len(code_SV), np.int64)
    rows = np.flatnonzero(cells.starts_N)[::-1]
    row_S[t.state_N[rows]] = rows  # the first row of each state, which is written last
    faults.add_rows(
        row_S[idle],
        lambda i: f"{describe_codes(cells.variables, code_SV[idle[i]])} has no feasible action",
        "give one action a finite reward, or name the state in `terminal`",
        column=cells.columns.reward or "",
    )
    return law


def _initial(
    faults: Faults, frame: pd.DataFrame, index: StateIndex, t: Transitions, options: ReadOptions
) -> np.ndarray | None:
    """The initial distribution, from a column or as `initial_distribution` reads it."""
    initial, normalize = options.initial, options.normalize
    if not (isinstance(initial, str) and initial in frame):
        return initial_distribution(faults, initial, index, normalize=normalize)
    value_N = _numeric_column(faults, frame[initial], initial)
    used_N = (t.state_N >= 0) & (t.action_N >= 0) & ~np.isnan(value_N)
    initial_S = np.zeros(len(index))
    initial_S[t.state_N[used_N]] = value_N[used_N]
    rows = np.flatnonzero(used_N & (value_N != initial_S[t.state_N]))
    remedy = "give all rows of a state the same initial probability"
    faults.add_rows(rows, lambda i: "differs from other rows of this state", remedy, column=initial)
    return check_initial(faults, initial_S, normalize=normalize)
