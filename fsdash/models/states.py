"""States as rows of codes: distinct rows, their numbers, and finding a state that a user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fsdash.errors import InputError
from fsdash.models.variables import Variable

LARGEST_KEY = 2**62


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
        self._known: dict[int, np.ndarray] = {}
        key_N, span = np.zeros(len(code_NV), np.int64), 1
        for j, size in enumerate(self._sizes):
            if span * size >= LARGEST_KEY:
                self._known[j] = np.unique(key_N)
                key_N, span = np.searchsorted(self._known[j], key_N), len(self._known[j])
            key_N, span = key_N * size + code_NV[:, j], span * size

    def __call__(self, code_NV: np.ndarray) -> np.ndarray:
        key_N = np.zeros(len(code_NV), np.int64)
        wrong_N = np.zeros(len(code_NV), bool)
        for j, size in enumerate(self._sizes):
            wrong_N |= code_NV[:, j] < 0
            if j in self._known:
                key_N, unknown_N = find_sorted(self._known[j], key_N)
                wrong_N |= unknown_N
            key_N = key_N * size + code_NV[:, j]
        return np.where(wrong_N, -1, key_N)


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
                raise InputError(
                    f"{variable.name} = {value!r} is not a value of this variable; "
                    f"its values are {some_values(variable)}"
                )
            codes.append(code)
        return codes

    def number(self, state: object) -> int:
        """The number of a state of the user's, or an error that says what is wrong with it."""
        found = int(self.find(np.array([self.codes(state)]))[0])
        if found < 0:
            named = ", ".join(
                f"{v.name}={value}"
                for v, value in zip(self.variables, self._values(state), strict=True)
            )
            raise InputError(f"state {named}: the model has no such state; choose one that it has")
        return found

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


def some_values(variable: Variable) -> str:
    """The values of a variable for an error message: all, or the first and the last."""
    values = [repr(value) for value in variable.own_values]
    return ", ".join(values) if len(values) <= 8 else f"{', '.join(values[:3])}, …, {values[-1]}"
