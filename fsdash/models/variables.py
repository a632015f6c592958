"""State variables: their values, in order, and the integer codes of a column of values.

A variable has n values (*levels*). Numbers are ordered by size and are their own coordinates. Words
are ordered as people count ("item 2" before "item 10"), or as a pandas categorical says; the
coordinate of a word is its position, and `Coordinate.words` holds the word. So the order never
depends on the order of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis, Coordinate

LARGEST_EXACT = 2**53
"""Whole numbers above this are not exact as floating-point numbers: they are read as words."""
NEARLY = 1e-9
"""Relative difference of numbers that count as the same value."""


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
    def own_values(self) -> list[float | int | str]:
        """The levels as the user wrote them: words, whole numbers or numbers."""
        words = self.coordinate.words
        return [words[value] if value in words else plain(value) for value in self.values.tolist()]

    @property
    def is_category(self) -> bool:
        """Whether some of its values are words."""
        return bool(self.coordinate.words)

    @cached_property
    def _code_of(self) -> dict[object, int]:
        return {value: code for code, value in enumerate(self.own_values)}

    def code(self, value: object) -> int | None:
        """The code of one value of the user's, or None if the variable has no such value."""
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool) and value not in self._code_of:
            value = str(value)
        if isinstance(value, str) and not self.is_category:
            value = number_or_text(value)
        try:
            found = self._code_of.get(value)
        except TypeError:  # a list is no value
            return None
        if found is not None or not isinstance(value, int | float) or abs(value) > 1e300:
            return found
        if self.is_category:
            return self._code_of.get(str(plain(value)))
        # A number that was computed in another way may differ in its last digits.
        nearly = NEARLY * max(1, abs(value))
        found = int(np.searchsorted(self.values, value - nearly))
        return found if found < len(self) and self.values[found] <= value + nearly else None


def plain(value: float) -> float | int:
    """A number as people write it: 3 rather than 3.0.

    >>> plain(3.0), plain(0.25)
    (3, 0.25)
    """
    return int(value) if float(value).is_integer() and abs(value) <= LARGEST_EXACT else value


def plain_or_same(value: object) -> object:
    """A number as people write it; anything else unchanged."""
    return plain(value) if isinstance(value, float) else value


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


def words_variable(name: str, words: Sequence[str]) -> Variable:
    """A variable whose levels are these words, in this order."""
    positions = np.arange(len(words), dtype=float)
    coordinate = Coordinate(words=dict(zip(positions.tolist(), words, strict=True)))
    return Variable(name, positions, coordinate)


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
        return Variable(name, levels), [_positions(levels, part) for part in numbers]
    # Only the different values are turned into words: a column has few of them.
    factors = [pd.factorize(column) for column in columns]
    texts = [[str(plain_or_same(value)) for value in uniques.tolist()] for _, uniques in factors]
    ordered = _ordered_words(columns[0].dtype, {word for text in texts for word in text})
    place = {word: code for code, word in enumerate(ordered)}
    codes = [
        np.array([*(place[word] for word in text), -1], dtype=np.int64)[positions]
        for (positions, _), text in zip(factors, texts, strict=True)
    ]
    return words_variable(name, ordered), codes


def _positions(levels: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The position of each value among sorted levels, −1 for values that are not finite."""
    found = np.searchsorted(levels, values)
    return np.where(np.isfinite(values), found, -1)


def _ordered_words(dtype: object, present: set[str]) -> list[str]:
    """The words in the order of a pandas categorical, the others in natural order."""
    given = [str(v) for v in dtype.categories] if isinstance(dtype, pd.CategoricalDtype) else []
    rest = sorted(present.difference(given), key=natural_key)
    return [word for word in given if word in present] + rest


def axis_of(variables: Sequence[Variable], code_NV: np.ndarray) -> Axis:
    """The axis whose points have these codes of these variables."""
    values = np.stack(
        [variable.values[codes] for variable, codes in zip(variables, code_NV.T, strict=True)],
        axis=1,
    )
    described = {v.name: v.coordinate for v in variables if v.coordinate != Coordinate()}
    return Axis(tuple(v.name for v in variables), values, described)
