"""A finite Markov decision process as a table: states by their variables, and the law.

Every builder makes a `Table`, and `fsdash.models.assemble` turns a table and the names of its slow
variables into a `FastSlowMDP`. `Table.of(model)` goes the other way, so a model can be split anew,
converted or written to a file.

A variable has n values (*levels*), and a state is a row of codes, one level of each variable.
Numbers are ordered by size and are their own coordinates. Words are ordered as people count
("item 2" before "item 10"), or as a pandas categorical says; the coordinate of a word is its
position, and `Coordinate.words` holds the word. So the order never depends on the order of the
rows.

Suffixes: S states, V variables, P feasible pairs (s, a), N transitions (s, a, s′).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.law import Law
from fsdash.models.size import Size

LARGEST_EXACT = 2**53
"""Whole numbers above this are not exact as floating-point numbers: they are read as words."""
NEARLY = 1e-9
"""Relative difference of numbers that count as the same value."""
LARGEST_KEY = 2**62
SINGLE = {kind: Axis((f"single {kind} state",), np.zeros(1)) for kind in ("slow", "fast")}
"""The axis of a model in which no variable is slow, or none is fast."""


@dataclass(frozen=True, eq=False)
class Variable:
    """One state variable (or the action): its name, its n values and how they are written."""

    name: str
    values: np.ndarray
    """Coordinates of the n levels, shape (n,)."""
    coordinate: Coordinate = field(default_factory=Coordinate)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def levels(self) -> list[float | int | str]:
        """The levels as the user wrote them: words, whole numbers or numbers."""
        words = self.coordinate.words
        return [words[value] if value in words else plain(value) for value in self.values.tolist()]

    @property
    def is_category(self) -> bool:
        """Whether some of its values are words."""
        return bool(self.coordinate.words)

    @cached_property
    def _code_of(self) -> dict[object, int]:
        return {value: code for code, value in enumerate(self.levels)}

    def code(self, value: object) -> int | None:
        """The code of one value of the user's, or None if the variable has no such value."""
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool) and value not in self._code_of:
            value = str(value)
        if isinstance(value, str) and not self.is_category:
            value = number_or_text(value)
        try:
            code = self._code_of.get(value)
        except TypeError:  # a list is no value
            return None
        if code is not None or not isinstance(value, int | float) or abs(value) > 1e300:
            return code
        if self.is_category:
            return self._code_of.get(str(plain(value)))
        # A number that was computed in another way may differ in its last digits.
        nearly = NEARLY * max(1, abs(value))
        code = int(np.searchsorted(self.values, value - nearly))
        return code if code < len(self) and self.values[code] <= value + nearly else None


def plain(value: float) -> float | int:
    """A number as people write it: 3 rather than 3.0.

    >>> plain(3.0), plain(0.25)
    (3, 0.25)
    """
    return int(value) if float(value).is_integer() and abs(value) <= LARGEST_EXACT else value


def number_or_text(text: str) -> float | str:
    """The number that a text spells, or the text itself.

    >>> number_or_text("2.5"), number_or_text("low")
    (2.5, 'low')
    """
    try:
        return float(text)
    except ValueError:
        return text


def natural_key(word: str) -> list[tuple[bool, float, str]]:
    """Sort key that puts "item 2" before "item 10".

    >>> sorted(["item 10", "low", "item 2"], key=natural_key)
    ['item 2', 'item 10', 'low']
    """
    parts = re.findall(r"\d{1,15}|\D+|\d+", word)
    return [(not p[0].isdecimal(), float(p) if p[0].isdecimal() else 0.0, p) for p in parts]


def is_number_column(column: pd.Series) -> bool:
    """Whether a column holds real numbers that floating point keeps apart; booleans are words."""
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return False
    if pd.api.types.is_integer_dtype(column) and column.notna().any():
        return max(abs(int(column.max())), abs(int(column.min()))) <= LARGEST_EXACT
    return not pd.api.types.is_complex_dtype(column)


def encode(name: str, columns: Sequence[pd.Series]) -> tuple[Variable, list[np.ndarray]]:
    """The variable whose levels are the values of some columns, and each column as codes.

    A missing value has the code −1. All columns must be numbers for the levels to be numbers.
    """
    if all(is_number_column(column) for column in columns):
        numbers = [column.to_numpy(dtype=float, na_value=np.nan) + 0.0 for column in columns]
        levels = np.unique(np.concatenate([np.unique(part) for part in numbers]))
        levels = levels[np.isfinite(levels)]
        codes = [np.where(np.isfinite(n), np.searchsorted(levels, n), -1) for n in numbers]
        return Variable(name, levels), codes
    # Only the different values are turned into words: a column has few of them.
    factors = [pd.factorize(column) for column in columns]
    texts = [
        [str(plain(value) if isinstance(value, float) else value) for value in uniques.tolist()]
        for _, uniques in factors
    ]
    present = {word for text in texts for word in text}
    dtype = columns[0].dtype
    order = [str(v) for v in dtype.categories] if isinstance(dtype, pd.CategoricalDtype) else []
    words = [word for word in order if word in present]
    words += sorted(present.difference(order), key=natural_key)
    place = {word: code for code, word in enumerate(words)}
    codes = [
        np.array([*(place[word] for word in text), -1], dtype=np.int64)[positions]
        for (positions, _), text in zip(factors, texts, strict=True)
    ]
    values = np.arange(len(words), dtype=float)
    coordinate = Coordinate(words=dict(zip(values.tolist(), words, strict=True)))
    return Variable(name, values, coordinate), codes


def axis_of(variables: Sequence[Variable], code_NV: np.ndarray) -> Axis:
    """The axis whose points have these codes of these variables."""
    values = np.stack(
        [variable.values[codes] for variable, codes in zip(variables, code_NV.T, strict=True)],
        axis=1,
    )
    described = {v.name: v.coordinate for v in variables if v.coordinate != Coordinate()}
    return Axis(tuple(v.name for v in variables), values, described)


# ------------------------------------------------------------------------------------------- states


class RowKeys:
    """Gives each row of codes an integer, equal for equal rows and ordered like the rows.

    The integers are positions in the product of all levels. If that has too many points for 64
    bits, the first columns are numbered by the combinations that occur in `code_NV`.

    >>> keys = RowKeys([2, 3], np.array([[0, 2], [1, 0]]))
    >>> keys(np.array([[1, 0], [0, 2], [1, -1]])).tolist()  # −1: a row with an unknown code
    [3, 2, -1]
    """

    def __init__(self, sizes: Sequence[int], code_NV: np.ndarray) -> None:
        self._sizes = list(sizes)
        self._seen: dict[int, np.ndarray] = {}
        key_N, span = np.zeros(len(code_NV), np.int64), 1
        for j, size in enumerate(self._sizes):
            if span * size >= LARGEST_KEY:
                self._seen[j] = np.unique(key_N)
                key_N, span = np.searchsorted(self._seen[j], key_N), len(self._seen[j])
            key_N, span = key_N * size + code_NV[:, j], span * size

    def __call__(self, code_NV: np.ndarray) -> np.ndarray:
        key_N = np.zeros(len(code_NV), np.int64)
        wrong_N = np.zeros(len(code_NV), bool)
        for j, size in enumerate(self._sizes):
            wrong_N |= code_NV[:, j] < 0
            if j in self._seen:
                key_N, unknown_N = find_sorted(self._seen[j], key_N)
                wrong_N |= unknown_N
            key_N = key_N * size + code_NV[:, j]
        return np.where(wrong_N, -1, key_N)


def row_keys(variables: Sequence[Variable], code_NV: np.ndarray) -> np.ndarray:
    """An integer for each row of codes, as `RowKeys` gives it."""
    return RowKeys([len(variable) for variable in variables], code_NV)(code_NV)


def distinct(key_N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different keys in order, and the place of one of each."""
    if not len(key_N) or key_N.max() > 8 * len(key_N) + 1000:
        key_K, place_K = np.unique(key_N, return_index=True)
        return key_K, place_K
    place = np.full(int(key_N.max()) + 1, -1)  # faster than sorting
    place[key_N] = np.arange(len(key_N))
    key_K = np.flatnonzero(place >= 0)
    return key_K, place[key_K]


def find_sorted(sorted_K: np.ndarray, wanted_N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The position of each wanted value in a sorted array, and whether it is not there."""
    if not len(sorted_K):
        return np.zeros(len(wanted_N), np.int64), np.ones(len(wanted_N), bool)
    position_N = np.minimum(np.searchsorted(sorted_K, wanted_N), len(sorted_K) - 1)
    return position_N, sorted_K[position_N] != wanted_N


class StateIndex:
    """Finds states by their codes or by the user's own values.

    Parameters
    ----------
    variables
        The state variables.
    code_SV
        The codes of the states, distinct rows in any order.
    """

    def __init__(self, variables: Sequence[Variable], code_SV: np.ndarray) -> None:
        self.variables = tuple(variables)
        self._keys = RowKeys([len(v) for v in variables], code_SV)
        key_S = self._keys(code_SV)
        self._order = np.argsort(key_S, kind="stable")
        self._sorted = key_S[self._order]

    def __len__(self) -> int:
        """The number of states."""
        return len(self._order)

    def find(self, code_NV: np.ndarray) -> np.ndarray:
        """The number of the state with each row of codes, −1 if there is none."""
        position_N, unknown_N = find_sorted(self._sorted, self._keys(code_NV))
        return np.where(unknown_N, -1, self._order[position_N])

    def codes(self, state: object) -> list[int]:
        """The codes of a state given as a mapping, a tuple in the order of the variables, or, with
        one variable, its value."""
        codes = []
        for variable, value in zip(self.variables, self._values(state), strict=True):
            code = variable.code(value)
            if code is None:
                values = [repr(level) for level in variable.levels]
                some = values if len(values) <= 8 else [*values[:3], "…", values[-1]]
                raise InputError(
                    f"{variable.name} = {value!r} is not a value of this variable; "
                    f"its values are {', '.join(some)}"
                )
            codes.append(code)
        return codes

    def number(self, state: object) -> int:
        """The number of a state of the user's, or an error that says what is wrong with it."""
        number = int(self.find(np.array([self.codes(state)]))[0])
        if number < 0:
            named = ", ".join(
                f"{v.name}={value}"
                for v, value in zip(self.variables, self._values(state), strict=True)
            )
            raise InputError(f"state {named}: the model has no such state; choose one that it has")
        return number

    def numbers(self, frame: pd.DataFrame) -> np.ndarray:
        """The numbers of the states in a frame, −1 where there is none."""
        code_NV = np.empty((len(frame), len(self.variables)), np.int64)
        for j, variable in enumerate(self.variables):
            positions, values = pd.factorize(frame[variable.name])
            level = [-1 if (c := variable.code(value)) is None else c for value in values]
            code_NV[:, j] = np.array([*level, -1])[positions]
        return self.find(code_NV)

    def _values(self, state: object) -> Sequence[object]:
        names = [variable.name for variable in self.variables]
        if isinstance(state, Mapping):
            missing = [name for name in names if name not in state]
            extra = [str(name) for name in state if name not in names]
            if missing or extra:
                wrong = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(extra)}"
                raise InputError(f"state {wrong}; give a value for each of {', '.join(names)}")
            return [state[name] for name in names]
        if len(names) == 1 and (isinstance(state, str) or not isinstance(state, Sequence)):
            return [state]
        several = isinstance(state, Sequence | np.ndarray) and not isinstance(state, str)
        if several and len(state) == len(names):  # type: ignore[arg-type]
            return list(state)  # type: ignore[call-overload]
        raise InputError(
            f"state {state!r}: give a mapping or a tuple with the values of {', '.join(names)}"
        )


# ---------------------------------------------------------------------------------------- the table


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
            prefix + variable.name: level_column(variable, codes)
            for variable, codes in zip(self.variables, code_NV.T, strict=True)
        }

    @classmethod
    def of(cls, model: FastSlowMDP) -> Table:
        """The table of a model: its real states, feasible pairs and true dynamics.

        An error is raised if the table would need more memory than there is.
        """
        X, Y, A = model.reward_XYA.shape
        true = model.true
        Size(X, Y, A, true.to_rows_size()).refuse_too_large()
        variables, code_SV = state_codes(model)
        real_XY = model.real_XY
        state_of = np.full(X * Y, -1, np.int64)
        state_of[real_XY.ravel()] = np.arange(len(code_SV))
        law = Law.of(model, true)
        return cls(
            variables=variables,
            code_SV=code_SV,
            actions=model.actions,
            law=replace(law, state_P=state_of[law.state_P], next_N=state_of[law.next_N]),
            gamma=model.gamma,
            initial_S=model.initial_XY[real_XY],
            sense=model.sense,
            name=model.name,
        )


def state_codes(model: FastSlowMDP) -> tuple[tuple[Variable, ...], np.ndarray]:
    """The state variables of a model and the codes of its real states, shape (S, V).

    The variables are the coordinates of the slow axis, followed by those of the fast axis. A fast
    variable with the name of a slow one is called "fast …".
    """
    slow, code_XV = _axis_variables(model.slow, "slow")
    fast, code_YV = _axis_variables(model.fast, "fast")
    taken = {variable.name for variable in slow}
    fast = [replace(v, name=f"fast {v.name}") if v.name in taken else v for v in fast]
    x_S, y_S = np.nonzero(model.real_XY)
    return (*slow, *fast), np.concatenate([code_XV[x_S], code_YV[y_S]], axis=1)


def _axis_variables(axis: Axis, kind: str) -> tuple[list[Variable], np.ndarray]:
    """The coordinates of an axis as variables, and the codes of its points, shape (n, d).

    The only point of an axis without variables has none. If two points have the same coordinates,
    the position of a point is its only variable.
    """
    if len(axis) == 1 and axis.names == SINGLE[kind].names:
        return [], np.zeros((1, 0), np.int64)
    labels = axis.labels if len(axis.names) == 1 and len(set(axis.labels)) == len(axis) else ()
    differ = len(np.unique(axis.values, axis=0)) == len(axis)
    if not differ:
        axis = Axis((kind,), np.arange(len(axis)))
    variables, codes = [], []
    for name, values in zip(axis.names, axis.values.T, strict=True):
        levels, code = np.unique(values + 0.0, return_inverse=True)
        variable = Variable(name, levels, axis.coordinates.get(name, Coordinate()))
        if labels and differ and not variable.is_category:
            words = dict(zip(axis.values[:, 0].tolist(), labels, strict=True))
            variable = replace(variable, coordinate=replace(variable.coordinate, words=words))
        variables.append(variable)
        codes.append(code)
    return variables, np.stack(codes, axis=1)


def level_column(variable: Variable, codes: np.ndarray) -> pd.Series:
    """The user's own values with these codes: numbers, or words as a categorical."""
    if variable.is_category:
        words = pd.Index([str(value) for value in variable.levels], dtype="str")
        return pd.Series(pd.Categorical.from_codes(codes, categories=words))
    values = variable.values[codes]
    whole = all(isinstance(value, int) for value in variable.levels)
    return pd.Series(values.astype(np.int64) if whole else values)


def describe_codes(variables: Sequence[Variable], codes: np.ndarray) -> str:
    """One state in words."""
    return ", ".join(
        f"{variable.name}={variable.levels[code]}"
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
