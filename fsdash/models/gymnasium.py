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
    >>> fsdash.Policy(model, fsdash.optimum(model))({"state": 0, "done": "no"})
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
    t, done_N = _transitions(P)
    variables, code_SV = state_variables(faults, _decoded(core, decode, len(P)), len(P))
    names = tuple(variable.name for variable in variables)
    axis = named_actions(actions, int(t.action_N.max()) + 1)
    initial_S: Any = getattr(core, "initial_state_distrib", None)
    if np.shape(initial_S) == (len(P),):
        initial_S = check_initial(faults, np.asarray(initial_S, float))
    else:
        initial_S = None
    faults.raise_errors()

    def table(keep: tuple[str, ...]) -> Table:
        """The table in which terminal states keep the values of these variables."""
        ended = _with_ends(variables, code_SV, t, done_N, np.isin(names, keep))
        all_variables, all_SV, moves = ended
        ends = len(all_SV) - len(P)
        law = law_of_calls(
            faults,
            moves,
            np.arange(len(all_SV)) >= len(P),
            lambda s, a: f"{describe_codes(all_variables, all_SV[s])}, action {a}",
        )
        faults.raise_errors()
        start_S = None if initial_S is None else np.concatenate([initial_S, np.zeros(ends)])
        name = str(getattr(getattr(core, "spec", None), "id", None) or type(core).__name__)
        return Table(all_variables, all_SV, axis, law, float(gamma), start_S, name=name)

    noted, slow_names, _ = choose_split(table(keep=names), slow)
    return assemble(replace(table(keep=slow_names), name=noted.name), slow_names)


def _with_ends(
    variables: tuple[Variable, ...],
    code_SV: np.ndarray,
    t: Transitions,
    done_N: np.ndarray,
    kept_V: np.ndarray,
) -> tuple[tuple[Variable, ...], np.ndarray, Transitions]:
    """The states with terminal ones added, and the transitions that lead there."""
    if not done_N.any():
        return variables, code_SV, t
    code_NV = np.where(kept_V, code_SV[t.next_N[done_N]], 0)
    keys = row_keys(variables, code_NV)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    next_N = t.next_N.copy()
    next_N[done_N] = len(code_SV) + number
    done_S = np.repeat([0, 1], [len(code_SV), len(first)])
    all_SV = np.column_stack([np.concatenate([code_SV, code_NV[first]]), done_S])
    return (*variables, DONE), all_SV, t._replace(next_N=next_N)


def _transitions(P: Any) -> tuple[Transitions, np.ndarray]:
    """All transitions, and which of them end the process."""
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
    state_N, action_N, next_N = whole.T
    row_N = np.arange(len(table))
    return Transitions(state_N, action_N, next_N, table[:, 2], table[:, 4], row_N), table[:, 5] != 0


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
