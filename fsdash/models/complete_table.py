"""A complete table: a model as a table of transitions plus a head that says the rest.

The head is that of `fsdash.models.content`, with the names of the columns, the values of the axes
and the initial distribution. It lets the rows be read back into exactly the same model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.content import AXES, Content, content_of, model_of, read_axis, uniform
from fsdash.models.size import MAX_TRANSITIONS
from fsdash.models.table import (
    StateIndex,
    Table,
    action_column,
    action_names,
    plain,
    split_variables,
)

NEXT = "next_"
ROLES = ("action", "p", "reward")
REMEDY = "remove it and give the options of from_transitions"
DAMAGED = f"the head of the table is damaged; {REMEDY}"


def complete_table(model: FastSlowMDP) -> tuple[dict[str, Any], pd.DataFrame]:
    """The head of a complete table and its rows."""
    content, table = content_of(model, for_file=True), Table.of(model)
    if "frozen_pair" in content.arrays:
        raise InputError(
            f"{model.name}: has its own law while the slow state is frozen, which a table cannot "
            "hold; save it as .npz or .json"
        )
    law, sign = table.law, (-1.0 if model.sense == "min" else 1.0)
    if law.n_transitions > MAX_TRANSITIONS:
        raise InputError(
            f"{model.name}: as a table it has {law.n_transitions:,} rows; the limit is "
            f"{MAX_TRANSITIONS:,}. Save it as .npz, where pairs share their rows"
        )
    pair_N, take_N = law.transitions_in(law.row_P)
    reward = "cost" if model.sense == "min" else "reward"
    columns = _column_names(table.names, action_column(model.actions), reward)
    actions = own_actions(model.actions)
    frame = pd.DataFrame(
        {
            **table.columns(table.code_SV[law.state_P[pair_N]]),
            columns["action"]: actions[law.action_P[pair_N]],
            **table.columns(table.code_SV[law.next_N[take_N]], prefix=NEXT),
            columns["p"]: law.probability_N[take_N],
            columns["reward"]: sign * law.reward_P[pair_N] + 0.0,
        }
    )
    initial = content.arrays["initial"]
    given = not np.array_equal(initial, uniform(table.n_states))
    return content.head | {
        "columns": columns,
        "values": {axis: getattr(model, axis).values.tolist() for axis in AXES},
        "initial": initial.tolist() if given else None,
    }, frame


def _column_names(variables: tuple[str, ...], action: str, reward: str) -> dict[str, str]:
    """Names for the columns of action, probability and reward that no other column has."""
    taken = {*variables, *(NEXT + name for name in variables)}
    found = {}
    for role, name in zip(ROLES, (action, "p", reward), strict=True):
        while name in taken:
            name += "_"
        taken.add(name)
        found[role] = name
    return found


def own_actions(axis: Axis) -> np.ndarray:
    """The own names of the actions as a column: numbers if all are."""
    names = action_names(axis)
    numeric = not any(isinstance(name, str) for name in names)
    return np.array(names, dtype=None if numeric else object)


class Head:
    """The head of a complete table of unknown origin, checked."""

    def __init__(self, head: Any) -> None:
        try:
            self.columns = {role: str(head["columns"][role]) for role in ROLES}
            self.axes = {
                axis: read_axis(axis, head.get(axis), np.array(head["values"][axis], dtype=float))
                for axis in AXES
            }
            given = head.get("initial")
            self.initial = None if given is None else np.array(given, dtype=float)
            self.sense = str(head["sense"])
            str(head["content_hash"])
        except InputError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise InputError(DAMAGED) from None
        self.head = {k: v for k, v in head.items() if k not in ("columns", "values", "initial")}
        split = split_variables(self.axes["slow"], self.axes["fast"])
        self.slow, self.code_XV, self.fast, self.code_YV = split

    @property
    def texts(self) -> list[str]:
        """The columns to read as text: words, even where they look like numbers, and the numbers
        that must be exact to the last bit."""
        names = [v.name for v in (*self.slow, *self.fast) if v.is_category]
        if own_actions(self.axes["actions"]).dtype == object:
            names.append(self.columns["action"])
        return [*names, *(NEXT + n for n in names), self.columns["p"], self.columns["reward"]]

    def model(self, frame: pd.DataFrame) -> FastSlowMDP:
        """The model with the transitions of this frame."""
        state_N, next_N = self._states(frame, ""), self._states(frame, NEXT)
        action_N = self._actions(frame)
        p_N, reward_N = (_floats(frame, self.columns[role]) for role in ("p", "reward"))
        A = len(self.axes["actions"])
        key_N = state_N * A + action_N
        order = np.lexsort((next_N, key_N))
        key_P, first_P, pair_N = np.unique(key_N[order], return_index=True, return_inverse=True)
        reward_P = reward_N[order][first_P]
        if (reward_N[order] != reward_P[pair_N]).any():
            raise InputError("the rewards of a state and action differ: the file was edited")
        n_states = len(np.unique(state_N))
        arrays = {
            "pair_state": key_P // A,
            "pair_action": key_P % A,
            "pair_reward": -reward_P if self.sense == "min" else reward_P,
            "transition_pair": pair_N,
            "transition_next": next_N[order],
            "transition_probability": p_N[order],
            "initial": uniform(n_states) if self.initial is None else self.initial,
            **{f"{axis}_values": self.axes[axis].values for axis in AXES},
        }
        return model_of(Content(self.head, arrays))

    def _states(self, frame: pd.DataFrame, prefix: str) -> np.ndarray:
        """The state x·|Y| + y of each row."""
        parts = []
        for variables, code_SV in ((self.slow, self.code_XV), (self.fast, self.code_YV)):
            own = pd.DataFrame(
                {v.name: _column(frame, prefix + v.name) for v in variables}, index=frame.index
            )
            number_N = StateIndex(variables, code_SV).numbers(own)
            names = ", ".join(prefix + v.name for v in variables)
            _check_rows(number_N >= 0, f"its {names}")
            parts.append(number_N)
        return parts[0] * len(self.axes["fast"]) + parts[1]

    def _actions(self, frame: pd.DataFrame) -> np.ndarray:
        names = {str(name): a for a, name in enumerate(action_names(self.axes["actions"]))}
        positions, values = pd.factorize(_column(frame, self.columns["action"]))
        own = [str(plain(v)) if isinstance(v, int | float) else str(v) for v in values.tolist()]
        action_N = np.array([*(names.get(name, -1) for name in own), -1])[positions]
        _check_rows(action_N >= 0, "its action")
        return action_N


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    if name not in frame or frame.columns.tolist().count(name) != 1:
        raise InputError(f"column {name!r}: is not in the table once; the file was edited")
    return frame[name]


def _floats(frame: pd.DataFrame, name: str) -> np.ndarray:
    column = _column(frame, name).to_numpy(dtype=object)
    try:
        numbers = column.astype(float)  # Python's own conversion, which is exact
    except (TypeError, ValueError):
        raise InputError(f"column {name!r}: has cells that are not numbers") from None
    _check_rows(np.isfinite(numbers), f"its {name}")
    return numbers


def _check_rows(good_N: np.ndarray, what: str) -> None:
    if not len(good_N) or not good_N.all():
        row = int(good_N.argmin()) + 1 if len(good_N) else 1
        raise InputError(f"row {row}: {what} is missing or not in the model; the file was edited")
