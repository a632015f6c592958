"""How results print: aligned lines in a terminal, a small table in a notebook.

A class inherits from `Summary` and implements `_summary`, which returns a title and at most
`MAX_ROWS` pairs (label, value). Dataclasses must be declared with `repr=False`, because the
decorator would otherwise replace `__repr__`.

>>> class Point(Summary):
...     def _summary(self):
...         return "Point", [("x", 1.0), ("label", "A < B")]
>>> Point()
Point
  x      1
  label  A < B
>>> print(Point()._repr_html_())
<table><caption>Point</caption><tr><th>x</th><td>1</td></tr><tr><th>label</th><td>A &lt; B</td></tr></table>
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

MAX_ROWS = 9
"""Rows under the title, so that a `repr` fits in ten lines."""

Lines = Sequence[tuple[str, object]]


class Summary:
    """Gives a class `__repr__` and `_repr_html_`, both made from `_summary`."""

    __slots__ = ()

    def _summary(self) -> tuple[str, Lines]:
        """Return the title and the rows (label, value) to show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title, rows = self._summary()
        width = max((len(label) for label, _ in rows), default=0)
        return "\n".join([title, *(f"  {label:<{width}}  {as_text(v)}" for label, v in rows)])

    def _repr_html_(self) -> str:
        title, rows = self._summary()
        cells = "".join(
            f"<tr><th>{escape(label)}</th><td>{escape(as_text(value))}</td></tr>"
            for label, value in rows
        )
        return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def as_text(value: object) -> str:
    """Format one value: whole numbers with separators, floats with six significant digits.

    >>> as_text(1234567), as_text(0.1 + 0.2), as_text(float("nan"))
    ('1,234,567', '0.3', 'none')
    """
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return "none" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def value_range(values: np.ndarray) -> str:
    """Describe an array by its shape, minimum and maximum.

    >>> value_range(np.array([[1.0, 2.5]]))
    'shape (1, 2), 1 to 2.5'
    """
    return f"shape {values.shape}, {values.min():.6g} to {values.max():.6g}"
