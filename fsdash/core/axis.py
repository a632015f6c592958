"""The points of an axis of the model as real coordinates, and how they are written.

Norms and Lipschitz constants need the coordinates. Figures and tables need names for them: an axis
also holds the names of its coordinates (`Coordinate`) and of its points (`labels`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fsdash.core.display import Lines, Summary, value_range
from fsdash.errors import InputError


@dataclass(frozen=True)
class Coordinate:
    """How figures and tables write one coordinate of an axis.

    Parameters
    ----------
    label : str
        The title of an axis that shows it, such as "stock y"; its name if empty.
    symbol : str
        A short symbol for legends, such as "y"; its name if empty.
    unit : str
        The unit of its values.
    words : mapping of float to str
        Words for some of its values, such as {0: "idle"}. A coordinate with words is a category.

    Examples
    --------
    >>> import fsdash
    >>> stock = fsdash.core.Coordinate("stock y", "y", "units", {0: "empty"})
    >>> axis = fsdash.Axis(("stock",), [0, 1, 2], {"stock": stock})
    >>> axis.coordinates["stock"].unit
    'units'
    """

    label: str = ""
    symbol: str = ""
    unit: str = ""
    words: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Axis(Summary):
    """Coordinates of the points of one axis.

    Euclidean distances between rows are the metric of the measured constants.

    Parameters
    ----------
    names : tuple of str
        Names of the d coordinates.
    values : np.ndarray
        Coordinates, shape (n, d); a vector of length n is taken as (n, 1).
    coordinates : mapping of str to Coordinate, optional
        How some of the coordinates are written, by name.
    labels : sequence of str, optional
        Short names of the n points, such as those of actions; their coordinates by default.
    title : str, optional
        What the labels are about.

    Examples
    --------
    >>> import fsdash
    >>> prices = fsdash.Axis(("price", "memory"), [(1.5, 0.4), (2.0, 0.5)])
    >>> len(prices), prices.label(0)
    (2, 'price=1.5, memory=0.4')
    """

    names: tuple[str, ...]
    values: np.ndarray
    coordinates: Mapping[str, Coordinate] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    title: str = ""

    def __post_init__(self) -> None:
        values = numbers(f"axis {self.names}", self.values)
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise InputError(
                f"axis {self.names}: values have shape {values.shape}; give one row per point and "
                f"one column per name, (n, {len(self.names)})"
            )
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0][0])
            raise InputError(f"axis {self.names}: point {row} is not finite; give real coordinates")
        for name in self.coordinates:
            if name not in self.names:
                raise InputError(
                    f"axis {self.names}: has no coordinate {name!r}; describe only its own"
                )
        if len(self.labels) not in (0, len(values)):
            raise InputError(
                f"axis {self.names}: {len(self.labels)} labels for {len(values)} points; give one "
                "for each point"
            )
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "values", read_only(values))

    def __len__(self) -> int:
        return len(self.values)

    def label(self, i: int) -> str:
        """Return the coordinates of point i as text, for tables and tooltips."""
        return ", ".join(
            f"{name}={self.written(name, value)}"
            for name, value in zip(self.names, self.values[i].tolist(), strict=True)
        )

    def written(self, name: str, value: float) -> str:
        """Return a value of the coordinate `name` as text: its word if it has one."""
        return self.words(name).get(value, f"{value:g}")

    def words(self, name: str) -> Mapping[float, str]:
        """Return the words for values of the coordinate `name`; empty if they are numbers."""
        return self.coordinates[name].words if name in self.coordinates else {}

    def _summary(self) -> tuple[str, Lines]:
        columns = zip(self.names, self.values.T[:8], strict=False)
        return f"Axis with {len(self):,} points", [(name, value_range(c)) for name, c in columns]


def read_only(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


def numbers(name: str, values: object) -> np.ndarray:
    """Return a float copy of the values, or raise an error if they are not real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError
    except (TypeError, ValueError):
        raise InputError(f"{name}: is not an array of real numbers; give numbers") from None
    return np.array(array, dtype=float, order="C")
