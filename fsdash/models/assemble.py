"""A table and the names of its slow variables become a `FastSlowMDP`.

The slow states are the combinations of slow variables that occur, and likewise the fast states. A
pair (x, y) that is not a state of the table is padding. If there is no slow variable, the model has
a single slow state.

A fast value that is terminal in every state that has it becomes terminal for *every* slow state.
With the slow state frozen, the process can then end as well. The added states are never reached
under the true dynamics and have no initial probability.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.errors import InputError
from fsdash.models.columns import Names, named
from fsdash.models.faults import Faults
from fsdash.models.law import with_terminal
from fsdash.models.size import Size
from fsdash.models.slow import choose_slow
from fsdash.models.table import SINGLE, Table, axis_of, row_keys

Split = tuple[list[int], list[int]]
"""The positions of the slow and of the fast variables."""


def assemble(
    table: Table, slow: tuple[str, ...], fast: tuple[str, ...] | None = None
) -> FastSlowMDP:
    """Build the model with these slow variables; all others are fast."""
    split = positions(table, slow, fast)
    split_size(table, slow).refuse_too_large()
    table = _with_ends_everywhere(table, split)
    (x_S, slow_axis), (y_S, fast_axis) = axes(table, split)
    X, Y, A = len(slow_axis), len(fast_axis), table.n_actions
    place_S = x_S * Y + y_S
    law = table.law
    cell_P = place_S[law.state_P] * A + law.action_P
    reward = np.full(X * Y * A, -np.inf)
    reward[cell_P] = law.reward_P
    row = np.full(X * Y * A, -1)
    row[cell_P] = law.row_P
    initial_XY: Any = None
    if table.initial_S is not None:
        initial_XY = np.zeros((X, Y))
        initial_XY[x_S, y_S] = table.initial_S
    return FastSlowMDP(
        reward_XYA=reward.reshape(X, Y, A),
        rows=Rows.from_entries(
            (X, Y, A), law.row_N, place_S[law.next_N], law.probability_N, row.reshape(X, Y, A)
        ),
        gamma=table.gamma,
        slow=slow_axis,
        fast=fast_axis,
        actions=table.actions,
        initial_XY=initial_XY,
        sense=table.sense,
        name=table.name,
    )


def build(faults: Faults, table: Table, slow: Names) -> FastSlowMDP:
    """Build the model, or raise all faults; see `choose_split`."""
    faults.raise_errors()
    return assemble(*choose_split(table, slow))


def choose_split(
    table: Table, slow: Names, fast: Names = None
) -> tuple[Table, tuple[str, ...], tuple[str, ...] | None]:
    """The table and the names of the slow and fast variables.

    If neither is given, the slow variables are those that `suggest_slow` calls slow, and the name
    of the table says so.
    """
    slow_names, fast_names = named(slow), named(fast)
    if slow_names is None and fast_names is not None:
        slow_names = tuple(name for name in table.names if name not in fast_names)
    elif slow_names is None:
        slow_names = choose_slow(table)
        names = ", ".join(slow_names)
        note = f"slow: {names}, suggested" if slow_names else "no slow variable found"
        table = replace(table, name=f"{table.name} ({note})")
    return table, slow_names, fast_names


def resplit(
    model: FastSlowMDP,
    *,
    slow: Names = None,
    fast: Names = None,
    gamma: float | None = None,
    name: str | None = None,
) -> FastSlowMDP:
    """Divide the state variables of a model anew into slow and fast ones.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    slow, fast : str or sequence of str, optional
        The slow and the fast variables. If one is given, the other has the rest; if none is, the
        split stays as it is.
    gamma : float, optional
        Another discount factor.
    name : str, optional
        Another name.

    Returns
    -------
    FastSlowMDP
        The model with the same states, law and rewards. The frozen law is the usual one for the
        new split: y′ as under the true law, x kept.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=10).build()
    >>> fsdash.models.resplit(model, slow="stock").slow.names
    ('stock',)
    """
    new_gamma = model.gamma if gamma is None else gamma
    if slow is None and fast is None:
        return replace(model, gamma=new_gamma, name=name or model.name)
    table = replace(Table.of(model), gamma=new_gamma, name=name or model.name)
    return assemble(*choose_split(table, slow, fast))


def positions(table: Table, slow: tuple[str, ...], fast: tuple[str, ...] | None = None) -> Split:
    """Where the slow and the fast variables are, or an error if a name is wrong."""
    rest = tuple(name for name in table.names if name not in slow)
    for name in (*slow, *(fast or ())):
        if name not in table.names:
            raise InputError(f"{name!r} is not a state variable; they are {', '.join(table.names)}")
    if fast is not None and sorted(fast) != sorted(rest):
        raise InputError(
            f"slow {', '.join(slow) or 'none'} and fast {', '.join(fast) or 'none'}: name each of "
            f"{', '.join(table.names)} once"
        )
    place = {name: j for j, name in enumerate(table.names)}
    return [place[n] for n in slow], [place[n] for n in (rest if fast is None else fast)]


def split_size(table: Table, slow: tuple[str, ...]) -> Size:
    """The sizes that the model will have, without building it."""
    X, Y = (len(np.unique(_keys(table, part))) for part in positions(table, slow))
    return Size(X, Y, table.n_actions, len(table.law.next_N))


def _keys(table: Table, part: list[int]) -> np.ndarray:
    return row_keys([table.variables[j] for j in part], table.code_SV[:, part])


def axes(table: Table, split: Split) -> list[tuple[np.ndarray, Axis]]:
    return [_axis(table, part, SINGLE[kind]) for part, kind in zip(split, SINGLE, strict=True)]


def _axis(table: Table, part: list[int], single: Axis) -> tuple[np.ndarray, Axis]:
    """The number of each state's point on an axis, and the axis."""
    if not part:
        return np.zeros(table.n_states, np.int64), single
    _, first, number_S = np.unique(_keys(table, part), return_index=True, return_inverse=True)
    axis = axis_of([table.variables[j] for j in part], table.code_SV[first][:, part])
    return number_S, axis


def _with_ends_everywhere(table: Table, split: Split) -> Table:
    """The table with every purely terminal fast value present in every slow state."""
    terminal_S = table.terminal_S()
    (x_S, slow_axis), (y_S, fast_axis) = axes(table, split)
    X, Y = len(slow_axis), len(fast_axis)
    runs_Y = np.bincount(y_S[~terminal_S], minlength=Y) > 0
    missing_XY = np.broadcast_to(~runs_Y, (X, Y)).copy()
    missing_XY[x_S, y_S] = False
    x_E, y_E = np.nonzero(missing_XY)
    if not len(x_E):
        return table
    slow, fast = split
    code_EV = np.empty((len(x_E), len(table.variables)), np.int64)
    first_x, first_y = (np.unique(n, return_index=True)[1] for n in (x_S, y_S))
    code_EV[:, slow] = table.code_SV[first_x[x_E]][:, slow]
    code_EV[:, fast] = table.code_SV[first_y[y_E]][:, fast]
    initial_S = table.initial_S
    if initial_S is None:
        initial_S = np.full(table.n_states, 1 / table.n_states)
    added = table.n_states + np.arange(len(x_E))
    return replace(
        table,
        code_SV=np.concatenate([table.code_SV, code_EV]),
        initial_S=np.concatenate([initial_S, np.zeros(len(x_E))]),
        law=with_terminal(table.law, added),
    )
