"""A model from the transition table of a Gymnasium environment (`env.unwrapped.P`).

`P[s][a]` is a list of (probability, next state, reward, terminated), as in FrozenLake, CliffWalking
and Taxi. A transition that terminates leads to a terminal state: the slow variables keep the values
of the next state, the fast ones take their first values, and a variable `done` becomes 1. `done` is
fast, and there is a terminal state for every slow state, so that an episode can also end while the
slow state is frozen.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.axis import Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.assemble import assemble, choose_split
from fsdash.models.columns import Names
from fsdash.models.faults import Faults
from fsdash.models.law import Transitions, law_of_calls
from fsdash.models.marked import check_initial, named_actions, state_variables
from fsdash.models.reading import check_settings
from fsdash.models.size import MAX_TRANSITIONS
from fsdash.models.table import Table, Variable, describe_codes, row_keys

DONE = Variable("done", np.array([0.0, 1.0]), Coordinate(words={0.0: "no", 1.0: "yes"}))


def from_gymnasium(
    env: Any,
    *,
    gamma: float,
    decode: Callable[[int], Any] | None = None,
    slow: Names = None,
    actions: Sequence[Any] | None = None,
) -> FastSlowMDP:
    """Build a model from an environment with a transition table.

    Parameters
    ----------
    env : gymnasium.Env
        An environment whose `unwrapped` has the attribute P, such as Taxi or FrozenLake.
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    decode : callable, optional
        The state variables of a state number, as a mapping, a named tuple or a tuple. By default
        the environment's own `decode`, as Taxi has it; otherwise the number is the only variable.
    slow : str or sequence of str, optional
        The slow variables; `suggest_slow` chooses by default, and the model's name says so.
    actions : sequence, optional
        Names of the actions; their numbers by default.

    Returns
    -------
    FastSlowMDP
        The model, with the environment's initial distribution if it has one.

    Examples
    --------
    A corridor of three cells with the goal on the right:

    >>> import fsdash
    >>> class Corridor:
    ...     P = {
    ...         s: {
    ...             0: [(1.0, max(s - 1, 0), 0.0, False)],
    ...             1: [(1.0, s + 1 if s < 2 else 2, float(s == 1), s >= 1)],
    ...         }
    ...         for s in range(3)
    ...     }
    ...     unwrapped = property(lambda self: self)
    >>> model = fsdash.from_gymnasium(Corridor(), gamma=0.9, actions=["left", "right"])
    >>> model.policy(fsdash.optimum(model))({"state": 0, "done": "no"})
    'right'
    """
    core = getattr(env, "unwrapped", env)
    P = getattr(core, "P", None)
    if not isinstance(P, Mapping | Sequence) or not len(P):
        raise InputError(
            f"{type(core).__name__}: has no transition table P; only environments that publish one "
            "can be read"
        )
    faults = Faults()
    check_settings(faults, gamma, "max")
    read = _Read(core, P, decode, actions, faults)
    faults.raise_errors()
    table, names, _ = choose_split(read.table(faults, gamma, keep=read.names), slow)
    return assemble(replace(read.table(faults, gamma, keep=names), name=table.name), names)


class _Read:
    """What an environment publishes: states, transitions and the initial distribution."""

    def __init__(
        self,
        core: Any,
        P: Any,
        decode: Callable[[int], Any] | None,
        actions: Sequence[Any] | None,
        faults: Faults,
    ) -> None:
        state, action, p, following, reward, done = _transitions(P)
        frame = _decoded(core, decode, len(P))
        self.variables, self.code_SV = state_variables(faults, frame, len(P))
        self.names = tuple(variable.name for variable in self.variables)
        self.actions = named_actions(actions, int(action.max()) + 1)
        self.transitions = Transitions(state, action, following, p, reward, np.arange(len(p)))
        self.done_N = done
        self.name = _name(core)
        self.initial_S = None
        initial = getattr(core, "initial_state_distrib", None)
        if initial is not None and np.shape(initial) == (len(P),):
            self.initial_S = check_initial(faults, np.asarray(initial, float))

    def table(self, faults: Faults, gamma: float, keep: tuple[str, ...]) -> Table:
        """The table in which a terminal state keeps the values of these variables."""
        S, t, done_N = len(self.code_SV), self.transitions, self.done_N
        variables, code_SV, initial_S = self.variables, self.code_SV, self.initial_S
        if done_N.any():
            kept = np.isin(self.names, keep)
            code_NV = np.where(kept, code_SV[t.next_N[done_N]], 0)
            keys = row_keys(variables, code_NV)
            _, first, number = np.unique(keys, return_index=True, return_inverse=True)
            next_N = t.next_N.copy()
            next_N[done_N] = S + number
            t = t._replace(next_N=next_N)
            done_S = np.repeat([0, 1], [S, len(first)])
            code_SV = np.column_stack([np.concatenate([code_SV, code_NV[first]]), done_S])
            variables = (*variables, DONE)
            if initial_S is not None:
                initial_S = np.concatenate([initial_S, np.zeros(len(first))])
        terminal_S = np.arange(len(code_SV)) >= S
        law = law_of_calls(
            faults,
            t,
            terminal_S,
            lambda s, a: f"{describe_codes(variables, code_SV[s])}, action {a}",
        )
        faults.raise_errors()
        return Table(variables, code_SV, self.actions, law, float(gamma), initial_S, name=self.name)


def _transitions(P: Any) -> list[np.ndarray]:
    """State, action, probability, next state, reward and done of each transition."""
    rows = []
    try:
        for s in range(len(P)):
            choices = P[s]
            for a in choices if isinstance(choices, Mapping) else range(len(choices)):
                rows += [(s, a, *outcome) for outcome in choices[a]]
        table = np.array(rows, dtype=float).reshape(-1, 6)
    except (KeyError, IndexError, TypeError, ValueError):
        raise InputError(
            f"P: is not a table P[s][a] = [(probability, next state, reward, done), …] with states "
            f"0 to {len(P) - 1}"
        ) from None
    if len(table) > MAX_TRANSITIONS or not len(table):
        raise InputError(f"P: {len(table):,} transitions; give 1 to {MAX_TRANSITIONS:,}")
    whole = table[:, [0, 1, 3]].astype(np.int64)
    if (whole != table[:, [0, 1, 3]]).any() or whole.min() < 0 or whole[:, 2].max() >= len(P):
        raise InputError(f"P: next states must be whole numbers from 0 to {len(P) - 1}")
    return [whole[:, 0], whole[:, 1], table[:, 2], whole[:, 2], table[:, 4], table[:, 5] != 0]


def _decoded(core: Any, decode: Callable[[int], Any] | None, S: int) -> pd.DataFrame | None:
    """The state variables of each state, or None if the number is all there is."""
    names = None
    if decode is None:
        decode = getattr(core, "decode", None)
        if decode is None:
            return None
        if hasattr(core, "encode"):  # encode(row, column, …) names what decode returns
            names = list(inspect.signature(core.encode).parameters)
    decoded = [decode(s) for s in range(S)]
    if isinstance(decoded[0], Mapping) or hasattr(decoded[0], "_fields"):
        return pd.DataFrame(decoded)
    try:
        rows = [tuple(values) for values in decoded]
    except TypeError:
        rows = [(value,) for value in decoded]
    if len({len(row) for row in rows}) != 1:
        raise InputError("decode: returns tuples of different lengths; give every state the same")
    if names is None or len(names) != len(rows[0]):
        names = [f"variable {j + 1}" for j in range(len(rows[0]))]
    return pd.DataFrame(rows, columns=names)


def _name(core: Any) -> str:
    spec = getattr(core, "spec", None)
    return str(getattr(spec, "id", None) or type(core).__name__)
