"""A finite Markov decision process as a table of transitions, not yet split into slow and fast.

Every builder makes a `Table`, and `fsdash.models.assemble` turns a table and the names of its slow
variables into a `FastSlowMDP`. `Table.of(model)` goes the other way, so a model can be split anew,
converted or written to a file.

Suffixes: S states, V variables, P feasible pairs (s, a), N transitions (s, a, s′).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.errors import InputError
from fsdash.models.law import Law
from fsdash.models.size import Size
from fsdash.models.variables import Variable, plain

SINGLE = {kind: Axis((f"single {kind} state",), np.zeros(1)) for kind in ("slow", "fast")}
"""The axis of a model in which no variable is slow, or none is fast."""


@dataclass(frozen=True, eq=False)
class Table:
    """The states by their variables, the law, and what else belongs to a model."""

    variables: tuple[Variable, ...]
    code_SV: np.ndarray
    """The level of each variable in each state; distinct rows."""
    actions: Axis
    law: Law
    """Feasible pairs with their rewards (negated costs if the sense is "min"), and transitions."""
    gamma: float
    initial_S: np.ndarray | None = None
    sense: str = "max"
    name: str = "model"

    @property
    def n_states(self) -> int:
        return len(self.code_SV)

    @property
    def n_actions(self) -> int:
        return len(self.actions)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the state variables."""
        return tuple(variable.name for variable in self.variables)

    def terminal_S(self) -> np.ndarray:
        """Which states are absorbing with reward 0 under every feasible action."""
        law = self.law
        only_R = np.full(law.n_rows, -1)  # the next state of a row that has a single one
        only_R[law.row_N] = law.next_N
        only_R[law.length_R > 1] = -1
        goes_on_P = (law.reward_P != 0) | (only_R[law.row_P] != law.state_P)
        terminal_S = np.ones(self.n_states, bool)
        terminal_S[law.state_P[goes_on_P]] = False
        return terminal_S

    def columns(self, code_NV: np.ndarray, prefix: str = "") -> dict[str, pd.Series]:
        """The user's own values of states with these codes, one column per variable."""
        return {
            prefix + variable.name: own_column(variable, codes)
            for variable, codes in zip(self.variables, code_NV.T, strict=True)
        }

    @classmethod
    def of(cls, model: FastSlowMDP) -> Table:
        """The table of a model: its real states, feasible pairs and true dynamics.

        The variables are the coordinates of the slow axis, followed by those of the fast axis. An
        error is raised if the table would need more memory than there is.
        """
        X, Y, A = model.reward_XYA.shape
        true = model.true
        Size(X, Y, A, len(true.target_N) if isinstance(true, Rows) else 0).refuse_too_large()
        slow, code_XV, fast, code_YV = split_variables(model.slow, model.fast)
        real_XY = model.real_XY
        x_S, y_S = np.nonzero(real_XY)
        state_of = np.full(X * Y, -1, np.int64)
        state_of[real_XY.ravel()] = np.arange(len(x_S))
        law = Law.of(model, true)
        return cls(
            variables=(*slow, *fast),
            code_SV=np.concatenate([code_XV[x_S], code_YV[y_S]], axis=1),
            actions=model.actions,
            law=replace(law, state_P=state_of[law.state_P], next_N=state_of[law.next_N]),
            gamma=model.gamma,
            initial_S=model.initial_XY[real_XY],
            sense=model.sense,
            name=model.name,
        )


def split_variables(
    slow: Axis, fast: Axis
) -> tuple[list[Variable], np.ndarray, list[Variable], np.ndarray]:
    """The slow and the fast variables, each with the codes of the axis's points.

    A fast variable with the name of a slow one is called "fast …".
    """
    slow_variables, code_XV = axis_variables(slow, "slow")
    fast_variables, code_YV = axis_variables(fast, "fast")
    taken = {variable.name for variable in slow_variables}
    fast_variables = [
        replace(v, name=f"fast {v.name}") if v.name in taken else v for v in fast_variables
    ]
    return slow_variables, code_XV, fast_variables, code_YV


def axis_variables(axis: Axis, kind: str) -> tuple[list[Variable], np.ndarray]:
    """The coordinates of an axis as variables, and the codes of its points, shape (n, d).

    The only point of an axis without variables has none. If two points have the same coordinates,
    the position of a point is its only variable.
    """
    if len(axis) == 1 and axis.names == SINGLE[kind].names:
        return [], np.zeros((1, 0), np.int64)
    labels = axis.labels if len(axis.names) == 1 and len(set(axis.labels)) == len(axis) else ()
    distinct = len(np.unique(axis.values, axis=0)) == len(axis)
    if not distinct:
        axis = Axis((kind,), np.arange(len(axis)))
    variables, codes = [], []
    for name, values in zip(axis.names, axis.values.T, strict=True):
        levels, code = np.unique(values + 0.0, return_inverse=True)
        variable = Variable(name, levels, axis.coordinates.get(name, Coordinate()))
        if labels and distinct and not variable.is_category:
            words = dict(zip(axis.values[:, 0].tolist(), labels, strict=True))
            variable = replace(variable, coordinate=replace(variable.coordinate, words=words))
        variables.append(variable)
        codes.append(code)
    return variables, np.stack(codes, axis=1)


def own_column(variable: Variable, codes: np.ndarray) -> pd.Series:
    """The user's own values with these codes: numbers, or words as a categorical."""
    if variable.is_category:
        words = pd.Index([str(value) for value in variable.own_values], dtype="str")
        return pd.Series(pd.Categorical.from_codes(codes, categories=words))
    values = variable.values[codes]
    whole = all(isinstance(value, int) for value in variable.own_values)
    return pd.Series(values.astype(np.int64) if whole else values)


def describe_codes(variables: Sequence[Variable], codes: np.ndarray) -> str:
    """One state in words."""
    return ", ".join(
        f"{variable.name}={variable.own_values[code]}"
        for variable, code in zip(variables, codes, strict=True)
    )


def action_column(axis: Axis) -> str:
    """The name of the column of actions: that of their axis if it has one name of its own."""
    return axis.names[0] if len(axis.names) == 1 and axis.names != ("actions",) else "action"


def action_names(axis: Axis) -> list[str | float | int]:
    """The own name of each action: its label, its number, or its coordinates as text."""
    if axis.labels:
        names: list[str | float | int] = list(axis.labels)
    elif len(axis.names) == 1:
        words = axis.words(axis.names[0])
        names = [words.get(value, plain(value)) for value in axis.values[:, 0].tolist()]
    else:
        names = [axis.label(i) for i in range(len(axis))]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"actions: two actions are called {twice!r}; give each its own label")
    return names
