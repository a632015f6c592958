"""Reading a table of transitions: columns to codes, codes to states, states to a `Table`.

All faults are collected on the way; a table comes back only if none of them is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fsdash.errors import InputError
from fsdash.formatting import shorten
from fsdash.models.coding import Coded, encode_table, numeric_column, truth_column
from fsdash.models.columns import Columns, named, resolve_columns
from fsdash.models.faults import Faults
from fsdash.models.law import Law, Transitions, Wording, collect, with_terminal
from fsdash.models.marked import MISSING, check_initial, initial_distribution, terminal_states
from fsdash.models.size import MAX_TRANSITIONS
from fsdash.models.table import (
    RowKeys,
    StateIndex,
    Table,
    action_names,
    describe_codes,
    distinct,
    find_sorted,
)

SENSES = ("max", "min")


@dataclass(frozen=True)
class ReadOptions:
    """The arguments of `from_transitions`."""

    slow: str | Sequence[str] | None = None
    fast: str | Sequence[str] | None = None
    action: str = "action"
    next_prefix: str | Mapping[str, str] = "next_"
    probability: str | None = "p"
    reward: str = "reward"
    gamma: float | None = None
    terminal: Any = None
    initial: Any = None
    sense: str = "max"
    normalize: bool = False
    name: str = "model"

    def __post_init__(self) -> None:
        """Options may come from a file, so their types are checked."""
        for name in ("slow", "fast"):
            value = getattr(self, name)
            several = isinstance(value, Sequence) and all(isinstance(n, str) for n in value)
            _check_type(name, value, value is None or several, "names of state variables")
        mapping = isinstance(self.next_prefix, Mapping) and all(
            isinstance(text, str) for pair in self.next_prefix.items() for text in pair
        )
        for name, good, wanted in (
            ("action", isinstance(self.action, str), "the name of a column"),
            ("reward", isinstance(self.reward, str), "the name of a column"),
            ("probability", isinstance(self.probability, str | None), "the name of a column"),
            ("next_prefix", isinstance(self.next_prefix, str) or mapping, "text or a mapping"),
            ("normalize", isinstance(self.normalize, bool), "true or false"),
            ("name", isinstance(self.name, str), "text"),
        ):
            _check_type(name, getattr(self, name), good, wanted)


def _check_type(name: str, value: object, good: bool, wanted: str) -> None:
    if not good:
        raise InputError(f"{name} = {shorten(repr(value))}: give {wanted}")


@dataclass(frozen=True, eq=False)
class Numbered:
    """The states of a table, and the state and next state of each row as numbers."""

    code_SV: np.ndarray
    terminal_S: np.ndarray
    state_N: np.ndarray
    next_N: np.ndarray
    """−1 if it is missing or not a state."""


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
    columns = resolve_columns(
        faults,
        frame,
        slow=named(options.slow),
        fast=named(options.fast),
        action=options.action,
        next_prefix=options.next_prefix,
        probability=options.probability,
        reward=options.reward,
    )
    if columns is None or not _check_length(faults, frame):
        return None
    coded = encode_table(faults, frame, columns, options.sense)
    if not coded.starts_N.any():
        return None
    states = _number_states(faults, frame, coded, options.terminal)
    _check_unknown(faults, coded, columns, states)
    law = _law(faults, coded, columns, states, normalize=options.normalize)
    initial_S = _initial(faults, frame, coded, states, options)
    _check_unused(faults, frame, columns, options)
    if faults.has_errors:
        return None
    return Table(
        variables=coded.variables,
        code_SV=states.code_SV,
        actions=coded.actions,
        law=with_terminal(law, np.flatnonzero(states.terminal_S)),
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


def _number_states(faults: Faults, frame: pd.DataFrame, coded: Coded, terminal: Any) -> Numbered:
    """Number the states that have rows, and the terminal ones, in the order of their codes."""
    starts_N, leads_N = coded.starts_N, coded.leads_N
    code_MV = np.concatenate([coded.code_NV[starts_N], coded.next_NV[leads_N]])
    keys = RowKeys([len(variable) for variable in coded.variables], code_MV)
    key_K, first_K = distinct(keys(code_MV))
    code_KV, key_N, next_key_N = code_MV[first_K], keys(coded.code_NV), keys(coded.next_NV)
    has_rows_K = np.zeros(len(key_K), bool)
    has_rows_K[np.searchsorted(key_K, key_N[starts_N])] = True

    terminal_K = np.zeros(len(key_K), bool)
    for part in terminal if isinstance(terminal, list) else [terminal]:
        if isinstance(part, str) and part == MISSING:
            terminal_K |= ~has_rows_K
        elif isinstance(part, str) and part in frame:
            marked_N = truth_column(faults, frame[part], part)
            terminal_K[np.searchsorted(key_K, next_key_N[marked_N & leads_N])] = True
            _check_marks(faults, part, marked_N, np.where(leads_N, next_key_N, -1), key_N)
        elif part is not None:
            index = StateIndex(coded.variables, code_KV)
            # In a list, a list is one state, as in JSON.
            state = [part] if isinstance(part, list) else part
            terminal_K |= terminal_states(faults, state, index, code_KV)
    is_state_K = has_rows_K | terminal_K
    numbers = (find_sorted(key_K[is_state_K], wanted_N) for wanted_N in (key_N, next_key_N))
    state_N, next_N = (np.where(unknown_N, -1, number_N) for number_N, unknown_N in numbers)
    return Numbered(code_KV[is_state_K], terminal_K[is_state_K], state_N, next_N)


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


def _check_unknown(faults: Faults, coded: Coded, columns: Columns, states: Numbered) -> None:
    """Next states must have rows of their own, or be terminal."""
    ends_N = states.terminal_S[states.state_N]
    rows = np.flatnonzero((states.next_N < 0) & coded.leads_N & ~ends_N)
    faults.add_rows(
        rows,
        lambda i: (
            f"next state {describe_codes(coded.variables, coded.next_NV[rows[i]])} "
            "never occurs as a state"
        ),
        'add its rows, or set terminal="missing" if the process ends there',
        column=", ".join(columns.next.values()),
    )


def _law(
    faults: Faults, coded: Coded, columns: Columns, states: Numbered, *, normalize: bool
) -> Law:
    """The pairs and transitions of the states that are not terminal."""
    bad_N = np.isnan(coded.probability_N) | np.isnan(coded.reward_N)
    # A row without an action may belong to any pair of its state.
    lost_S = np.zeros(len(states.code_SV), bool)
    lost_S[states.state_N[(coded.action_N < 0) & (states.state_N >= 0)]] = True
    bad_N |= lost_S[states.state_N]
    transitions = Transitions(
        state_N=states.state_N,
        action_N=coded.action_N,
        next_N=states.next_N,
        probability_N=np.where(np.isnan(coded.probability_N), 0.0, coded.probability_N),
        reward_N=np.where(np.isnan(coded.reward_N), 0.0, coded.reward_N),
        row_N=np.arange(len(bad_N)),
    )
    ends_N = coded.starts_N & states.terminal_S[states.state_N]
    stays_N = (transitions.next_N == transitions.state_N) & (transitions.reward_N == 0)
    faults.add_rows(
        np.flatnonzero(ends_N & ~stays_N),
        lambda i: "the row of a terminal state is not used",
        "none if the process ends in this state; otherwise change `terminal`",
        severity="warning",
    )
    names, used_N = action_names(coded.actions), coded.starts_N & ~ends_N
    law = collect(
        faults,
        transitions.take(used_N),
        Wording(
            columns.probability or "probability",
            lambda s, a: (
                f"the rows of {describe_codes(coded.variables, states.code_SV[s])}, "
                f"action {names[a]}"
            ),
        ),
        normalize=normalize,
        doubtful_N=bad_N[used_N],
    )
    _check_idle(faults, coded, columns, states, law)
    return law


def _check_idle(faults: Faults, coded: Coded, columns: Columns, states: Numbered, law: Law) -> None:
    """A state whose actions all have the reward −∞ has no feasible action."""
    idle_S = np.bincount(law.state_P, minlength=len(states.code_SV)) == 0
    idle = np.flatnonzero(idle_S & ~states.terminal_S)
    row_S = np.zeros(len(states.code_SV), np.int64)
    rows = np.flatnonzero(coded.starts_N)[::-1]
    row_S[states.state_N[rows]] = rows  # the first row of each state, which is written last
    faults.add_rows(
        row_S[idle],
        lambda i: (
            f"{describe_codes(coded.variables, states.code_SV[idle[i]])} has no feasible action"
        ),
        "give one action a finite reward, or name the state in `terminal`",
        column=columns.reward or "",
    )


def _initial(
    faults: Faults, frame: pd.DataFrame, coded: Coded, states: Numbered, options: ReadOptions
) -> np.ndarray | None:
    """The initial distribution, from a column or as `initial_distribution` reads it."""
    initial, n_states = options.initial, len(states.code_SV)
    if not (isinstance(initial, str) and initial in frame):
        index = StateIndex(coded.variables, states.code_SV)
        return initial_distribution(faults, initial, index, n_states, normalize=options.normalize)
    value_N = numeric_column(faults, frame[initial], initial)
    known_N = coded.starts_N & ~np.isnan(value_N)
    initial_S = np.zeros(n_states)
    initial_S[states.state_N[known_N]] = value_N[known_N]
    rows = np.flatnonzero(known_N & (value_N != initial_S[states.state_N]))
    remedy = "give all rows of a state the same initial probability"
    faults.add_rows(rows, lambda i: "differs from other rows of this state", remedy, column=initial)
    return check_initial(faults, initial_S, normalize=options.normalize)
