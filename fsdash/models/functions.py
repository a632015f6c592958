"""A model from Python functions: transition(state, action) and reward(state, action).

The functions are called once for each state and feasible action (once for each transition if the
reward depends on the next state). A call takes a microsecond or more, so a million pairs take
seconds; give arrays (`from_arrays`) for larger models.
"""

from __future__ import annotations

import inspect
import math
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.assemble import build
from fsdash.models.columns import Names
from fsdash.models.faults import Faults
from fsdash.models.law import Transitions, law_of_calls
from fsdash.models.marked import (
    initial_distribution,
    named_actions,
    state_variables,
    terminal_states,
)
from fsdash.models.reading import check_settings
from fsdash.models.table import StateIndex, Table

MAX_CALLS = 5_000_000
"""Largest number of state-action pairs: minutes of calls."""


def from_functions(
    states: Any,
    actions: Sequence[Any],
    transition: Callable[[Any, Any], Any],
    reward: Callable[..., float],
    *,
    slow: Names,
    gamma: float,
    feasible: Callable[[Any, Any], bool] | None = None,
    terminal: Any = None,
    initial: Any = None,
    sense: str = "max",
    name: str = "model",
) -> FastSlowMDP:
    """Build a model from functions of a state and an action.

    Parameters
    ----------
    states : mapping of str to values, or pd.DataFrame
        The values of each state variable (all combinations are states), or a frame with one row
        per state.
    actions : sequence
        Names or values of the actions. The functions get them as they are.
    transition : callable
        `transition(state, action)` returns the next state, or a mapping of next states to
        probabilities, or a list or an iterator of pairs (next state, probability). A state is a
        named tuple; a next state may be any tuple or mapping with a value for each variable.
    reward : callable
        `reward(state, action)` or `reward(state, action, next_state)`; the latter is averaged over
        next states. A cost if `sense` is "min".
    slow : str or sequence of str or None
        The slow variables; an empty list for a single slow state, None to let `suggest_slow`
        choose.
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    feasible : callable, optional
        `feasible(state, action)` says whether the action can be taken; always by default.
    terminal : optional
        Terminal states, as in `from_transitions`, or a function of the state.
    initial : optional
        Initial distribution: a mapping of states to probabilities, or one state; uniform by
        default.
    sense : {"max", "min"}
        "min" if rewards are costs.
    name : str
        Name for displays.

    Returns
    -------
    FastSlowMDP
        The model. `DataFaults` is raised if the functions return something that cannot be used.

    Examples
    --------
    >>> import fsdash
    >>> def transition(s, order):
    ...     left = max(s.stock + order - s.demand, 0)
    ...     return {(s.demand, left): 0.9, (3 - s.demand, left): 0.1}
    >>> model = fsdash.from_functions(
    ...     {"demand": [1, 2], "stock": range(6)},
    ...     [0, 1, 2],
    ...     transition,
    ...     lambda s, order: 3 * min(s.stock + order, s.demand) - order - 0.1 * s.stock,
    ...     slow="demand",
    ...     gamma=0.95,
    ...     feasible=lambda s, order: s.stock + order <= 5,
    ... )
    >>> fsdash.Policy(model, fsdash.optimum(model))({"demand": 2, "stock": 0})
    2
    """
    faults = Faults()
    check_settings(faults, gamma, sense)
    frame = state_frame(states)
    actions = list(actions)
    axis = named_actions(actions, len(actions))
    if len(frame) * len(axis) > MAX_CALLS:
        raise InputError(
            f"{len(frame):,} states × {len(axis):,} actions: the functions would be called more "
            f"than {MAX_CALLS:,} times; give arrays (from_arrays)"
        )
    variables, code_SV = state_variables(faults, frame, len(frame))
    faults.raise_errors()
    index = StateIndex(variables, code_SV)
    State = namedtuple("State", frame.columns, rename=True)  # type: ignore[misc]
    points = [State(*row) for row in frame.astype(object).itertuples(index=False, name=None)]
    terminal_S = np.zeros(len(points), bool)
    if callable(terminal):
        terminal_S = np.array([bool(terminal(state)) for state in points])
    elif terminal is not None:
        terminal_S = terminal_states(faults, terminal, index, code_SV)
    pairs = (
        (s, a)
        for s in np.flatnonzero(~terminal_S).tolist()
        for a, action in enumerate(actions)
        if feasible is None or feasible(points[s], action)
    )
    rows = np.array(list(_rows(faults, index, points, actions, pairs, transition, reward)), float)
    rows = rows.reshape(-1, 5)
    state_N, action_N, next_N = (rows[:, j].astype(np.int64) for j in range(3))
    reward_N = (-rows[:, 4] if sense == "min" else rows[:, 4]) + 0.0
    t = Transitions(state_N, action_N, next_N, rows[:, 3], reward_N, np.arange(len(rows)))
    table = Table(
        variables=variables,
        code_SV=code_SV,
        actions=axis,
        law=law_of_calls(faults, t, terminal_S, lambda s, a: f"{points[s]}, action {actions[a]!r}"),
        gamma=0.0 if faults.has_errors else float(gamma),
        initial_S=initial_distribution(faults, initial, index),
        sense=sense,
        name=name,
    )
    return build(faults, table, slow)


def state_frame(states: Any) -> pd.DataFrame:
    """The states as a frame: all combinations of a mapping's values, or the frame itself."""
    if not isinstance(states, Mapping):
        frame = pd.DataFrame(states).rename(columns=str).reset_index(drop=True)
        if not len(frame) or not len(frame.columns):
            raise InputError("states: give a mapping of variables to values, or a frame of states")
        return frame
    values = {str(name): list(options) for name, options in states.items()}
    if not values or not all(values.values()):
        raise InputError("states: give each state variable at least one value")
    if math.prod(len(options) for options in values.values()) > MAX_CALLS:
        raise InputError(f"states: more than {MAX_CALLS:,} combinations; give arrays instead")
    index = pd.MultiIndex.from_product(list(values.values()), names=list(values))
    return index.to_frame(index=False)


def _rows(
    faults: Faults,
    index: StateIndex,
    points: list[Any],
    actions: list[Any],
    pairs: Iterable[tuple[int, int]],
    transition: Callable[[Any, Any], Any],
    reward: Callable[..., float],
) -> Iterator[tuple[int, int, int, float, float]]:
    """What the functions return: state, action, next state, probability and reward."""
    by_next_state = _needs_next_state(reward)
    numbers: dict[Any, int] = {}

    def number(state: Any) -> int:
        state = tuple(state.tolist()) if isinstance(state, np.ndarray) else state
        key = tuple(state.items()) if isinstance(state, Mapping) else state
        if key not in numbers:
            numbers[key] = index.number(state)
        return numbers[key]

    for s, a in pairs:
        state, action = points[s], actions[a]
        answer = transition(state, action)
        try:
            outcomes = [(number(after), float(p)) for after, p in _outcomes(answer, index)]
        except (InputError, TypeError, ValueError) as error:
            remedy = "return a next state, or next states with their probabilities"
            faults.add(f"transition: {error}", remedy, column=f"{state}, {action!r}")
            continue
        r = None if by_next_state else float(reward(state, action))
        for n, p in outcomes:
            yield s, a, n, p, float(reward(state, action, points[n])) if r is None else r


def _outcomes(answer: Any, index: StateIndex) -> Iterable[tuple[Any, float]]:
    """The next states with their probabilities, from any of the forms of an answer."""
    names = {variable.name for variable in index.variables}
    if isinstance(answer, Mapping) and set(answer) != names:
        return answer.items()
    several = isinstance(answer, Iterable) and not isinstance(answer, Mapping | tuple | str)
    return answer if several and not isinstance(answer, np.ndarray) else [(answer, 1.0)]


def _needs_next_state(reward: Callable[..., Any]) -> bool:
    """Whether a function needs three positional arguments; not if it does not say."""
    try:
        parameters = inspect.signature(reward).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in positional for p in parameters) == 3
