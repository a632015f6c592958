"""How users name states and actions, say which states are terminal and where a process starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.core.rows import PROBABILITY_TOLERANCE
from fsdash.errors import InputError
from fsdash.models.faults import Faults
from fsdash.models.table import StateIndex, Variable, action_names, encode, row_keys

MISSING = "missing"
"""The value of `terminal` that makes next states without rows of their own terminal."""


def state_variables(
    faults: Faults, states: Any, n_states: int
) -> tuple[tuple[Variable, ...], np.ndarray]:
    """The variables of a frame of states and the codes of its rows; numbers if there is none."""
    number = Variable("state", np.arange(n_states, dtype=float)), np.arange(n_states)[:, None]
    if states is None:
        return (number[0],), number[1]
    frame = pd.DataFrame(states).rename(columns=str).reset_index(drop=True)
    if len(frame) != n_states or not len(frame.columns):
        faults.add(
            f"{len(frame):,} rows and {len(frame.columns)} columns for {n_states:,} states",
            "give one row per state and one column per state variable",
            column="states",
        )
        return (number[0],), number[1]
    variables, codes = [], []
    for name in frame.columns:
        variable, [code_S] = encode(name, [frame[name]])
        rows = np.flatnonzero(code_S < 0)
        faults.add_rows(rows, "empty or infinite", "give a value", column=name)
        variables.append(variable)
        codes.append(code_S)
    code_SV = np.stack(codes, axis=1)
    _, first_S, count = np.unique(
        row_keys(variables, code_SV), return_inverse=True, return_counts=True
    )
    rows = np.flatnonzero(count[first_S] > 1)
    remedy = "add a variable that tells them apart"
    faults.add_rows(rows, "another state has the same values", remedy, column="states")
    return tuple(variables), code_SV


def named_actions(actions: Sequence[Any] | None, n_actions: int) -> Axis:
    """The axis of actions with these names or values; their numbers by default."""
    if actions is None:
        return Axis(("action",), np.arange(n_actions))
    if len(actions) != n_actions:
        raise InputError(f"actions: {len(actions)} names for {n_actions} actions; give one each")
    if all(isinstance(a, int | float | np.number) and not isinstance(a, bool) for a in actions):
        axis = Axis(("action",), np.asarray(actions, float))
    else:
        axis = Axis(("action",), np.arange(n_actions), labels=tuple(str(a) for a in actions))
    action_names(axis)
    return axis


def terminal_states(
    faults: Faults, terminal: Any, index: StateIndex, code_SV: np.ndarray
) -> np.ndarray:
    """Whether each state is terminal.

    `terminal` is a mapping of variables to values (a state that has all of them is terminal), a
    state as a tuple, a list of these, or a frame with one row per terminal state.
    """
    terminal_S = np.zeros(len(code_SV), bool)
    if isinstance(terminal, pd.DataFrame):
        terminal = terminal.to_dict("records")
    elif isinstance(terminal, np.ndarray | pd.Series | set | frozenset):
        terminal = list(terminal)
    one = isinstance(terminal, Mapping | str | tuple) or not isinstance(terminal, Sequence)
    for state in [terminal] if one else terminal:
        try:
            matches_S = _matches(index, state, code_SV)
        except InputError as error:
            faults.add(str(error), "name states of the table", column="terminal")
            continue
        if not matches_S.any():
            remedy = "check its values against the state and next-state columns"
            faults.add(f"no state matches {state!r}", remedy, column="terminal")
        terminal_S |= matches_S
    return terminal_S


def _matches(index: StateIndex, state: object, code_SV: np.ndarray) -> np.ndarray:
    """Which states have the values that `state` names; a mapping may leave out variables."""
    if not isinstance(state, Mapping):
        return (code_SV == np.array(index.codes(state))).all(axis=1)
    matches_S = np.ones(len(code_SV), bool)
    names = [variable.name for variable in index.variables]
    for name, value in state.items():
        if name not in names:
            raise InputError(f"{name!r} is not a state variable; they are {', '.join(names)}")
        code = index.variables[names.index(name)].code(value)
        matches_S &= code_SV[:, names.index(name)] == (-2 if code is None else code)
    return matches_S


def initial_distribution(
    faults: Faults, initial: Any, index: StateIndex, *, normalize: bool | None = None
) -> np.ndarray | None:
    """The initial probability of each state, shape (S,); None if it is not given.

    `initial` is a mapping of states (tuples, or single values with one variable) to probabilities,
    one state as a mapping of variables to values or as a tuple, a frame (or a list of records) with
    the state variables and one more column of probabilities, or an array with one probability per
    state.
    """
    if initial is None:
        return None
    try:
        initial_S = _initial(initial, index)
    except (InputError, TypeError, ValueError, OverflowError) as error:
        faults.add(
            str(error), "give states of the model with their probabilities", column="initial"
        )
        return None
    return check_initial(faults, initial_S, normalize=normalize)


def check_initial(
    faults: Faults, initial_S: np.ndarray, *, normalize: bool | None = None
) -> np.ndarray | None:
    """The distribution, rescaled if asked for; None, with a fault, if it is not one.

    `normalize` is None if the builder has no such option.
    """
    total = float(initial_S.sum())
    if not (np.isfinite(initial_S).all() and (initial_S >= 0).all()):
        faults.add(
            "some probabilities are negative or not finite", "correct them", column="initial"
        )
        return None
    if normalize and total > 0:
        return initial_S / total
    if abs(total - 1) > PROBABILITY_TOLERANCE:
        offer = "" if normalize is None else "set normalize=True to rescale it, or "
        problem = f"sums to {total:.9g} over the states, not 1"
        faults.add(problem, f"{offer}correct it", column="initial")
        return None
    return initial_S


def _initial(initial: Any, index: StateIndex) -> np.ndarray:
    names = [variable.name for variable in index.variables]
    initial_S = np.zeros(len(index))
    if isinstance(initial, list) and all(isinstance(record, Mapping) for record in initial):
        initial = pd.DataFrame(initial)
    if isinstance(initial, pd.DataFrame):
        rest = [name for name in initial.columns if name not in names]
        if len(rest) != 1 or not set(names) <= set(initial.columns):
            raise InputError(f"the frame needs the columns {', '.join(names)} and one more")
        number_N = index.numbers(initial)
        if (number_N < 0).any():
            raise InputError(f"row {int((number_N < 0).argmax()) + 1} is not a state of the model")
        weight_N = pd.to_numeric(initial[rest[0]], errors="coerce").to_numpy(float)
        np.add.at(initial_S, number_N, weight_N)
    elif isinstance(initial, Mapping) and set(initial) != set(names):
        for state, probability in initial.items():
            initial_S[index.number(state)] += float(probability)
    elif isinstance(initial, np.ndarray) and initial.shape == (len(index),):
        initial_S += initial
    else:
        initial_S[index.number(initial)] = 1.0
    return initial_S
