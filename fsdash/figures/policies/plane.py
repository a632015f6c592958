"""A plane through the state space: two coordinates as axes, with the others fixed.

States are pairs of indices with named coordinates (`Axis`). A `Plane` finds by these names which
state belongs to which cell, so one heat map (`fsdash.figures.policies.maps`) serves every domain:
stock × demand, column × row of one task, reference price × memory, or fast × slow states of a
user's model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.errors import InputError
from fsdash.figures.policies.labels import (
    axis_title,
    coordinate_of,
    state_axis,
    value_label,
)

MAX_TICKS = 12
"""Most points of an axis that each have a tick."""
MAX_RATIO = 2.5
"""Largest ratio of the two sides of a plot of square cells."""


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """At most `most` of the indices 0..n−1, in steps of 1, 2, 5, 10, 20, 50, …"""
    steps = (factor * 10**power for power in range(9) for factor in (1, 2, 5))
    return np.arange(0, n, next(step for step in steps if -(-n // step) <= most))


@dataclass(frozen=True, eq=False)
class PlaneAxis:
    """One axis of a plane: its title, the places of its cells, and their labels if any.

    `name_of` writes the point at an index, for texts.
    """

    title: str
    values: np.ndarray
    name_of: Callable[[int], str]
    labels: tuple[str, ...] | None = None

    def names(self) -> list[str]:
        """The names of all points."""
        return [self.name_of(i) for i in range(len(self.values))]

    def ticks(self, most: int = MAX_TICKS) -> dict:
        """Ticks at every point if they are few, at some if they have labels; else Plotly's own."""
        n = len(self.values)
        if self.labels is None and n > MAX_TICKS:
            return {"title_text": self.title}
        chosen = evenly_spaced(n, most)
        labels = self.labels or [f"{value:g}" for value in self.values]
        texts = [labels[i] for i in chosen]
        return {"title_text": self.title, "tickvals": self.values[chosen], "ticktext": texts}


@dataclass(frozen=True, eq=False)
class Plane:
    """Cells in R rows and C columns; x_RC and y_RC are −1 where there is no state.

    In a `square` plane, both axes have the same unit and step, like columns and rows of a map.
    """

    across: PlaneAxis
    up: PlaneAxis
    x_RC: np.ndarray
    y_RC: np.ndarray
    square: bool = False

    @property
    def states_RC2(self) -> np.ndarray:
        return np.stack([self.x_RC, self.y_RC], axis=-1)

    def take(self, values_XY: np.ndarray) -> np.ndarray:
        """The values of the cells; nan where there is no state."""
        taken_RC = np.asarray(values_XY, dtype=float)[self.x_RC, self.y_RC]
        return np.where(self.x_RC < 0, np.nan, taken_RC)

    def write(self, texts: Sequence[str], index_XY: np.ndarray) -> np.ndarray:
        """The texts of the cells by index; empty where there is no state."""
        texts_K = np.array([*texts, ""], dtype=object)
        return texts_K[np.where(self.x_RC < 0, len(texts), index_XY[self.x_RC, self.y_RC])]


def coordinates(model: FastSlowMDP) -> dict[str, np.ndarray]:
    """The distinct values of every named coordinate of the state, slow ones first."""
    return {
        name: np.unique(axis.values[:, i])
        for axis in (model.slow, model.fast)
        for i, name in enumerate(axis.names)
    }


def plane(model: FastSlowMDP, across: str, up: str, fixed: Mapping[str, float]) -> Plane:
    """The plane of two named coordinates, with the others fixed at given values."""
    values = coordinates(model)
    missing = set(values) - {across, up} - set(fixed)
    if missing or {across, up} - set(values):
        raise InputError(
            f"plane {across} × {up}: the state has {', '.join(values)}; "
            "name two of them and fix the others"
        )
    here_XY = _matches(model.slow, fixed)[:, None] & _matches(model.fast, fixed) & model.real_XY
    x_K, y_K = np.nonzero(here_XY)
    row_K, column_K = (
        np.searchsorted(values[name], _coordinate(model, name, x_K, y_K)) for name in (up, across)
    )
    x_RC = np.full((len(values[up]), len(values[across])), -1)
    y_RC = x_RC.copy()
    x_RC[row_K, column_K], y_RC[row_K, column_K] = x_K, y_K
    sides = [_side(state_axis(model, name), name, values[name]) for name in (across, up)]
    return Plane(*sides, x_RC, y_RC, _is_square(model, across, up, values))


def index_plane(model: FastSlowMDP) -> Plane:
    """Fast states (horizontal) × slow states (vertical), in the order of their indices."""
    x_RC, y_RC = np.where(model.real_XY, np.indices((model.n_slow, model.n_fast)), -1)
    return Plane(_indexed("fast state", model.fast), _indexed("slow state", model.slow), x_RC, y_RC)


def _matches(axis: Axis, fixed: Mapping[str, float]) -> np.ndarray:
    columns = [axis.values[:, i] == fixed[n] for i, n in enumerate(axis.names) if n in fixed]
    return np.logical_and.reduce([np.ones(len(axis), bool), *columns])


def _coordinate(model: FastSlowMDP, name: str, x_K: np.ndarray, y_K: np.ndarray) -> np.ndarray:
    axis = state_axis(model, name)
    return axis.values[x_K if axis is model.slow else y_K, axis.names.index(name)]


def _is_square(model: FastSlowMDP, across: str, up: str, values: dict[str, np.ndarray]) -> bool:
    """Whether two coordinates are like the columns and rows of a map.

    Both are slow, or both fast; neither is a category; they have the same unit and the same even
    step; and neither side is more than `MAX_RATIO` times as long as the other.
    """
    axes = [state_axis(model, name) for name in (across, up)]
    about = [coordinate_of(axis, name) for axis, name in zip(axes, (across, up), strict=True)]
    sizes = sorted(len(values[name]) for name in (across, up))
    if axes[0] is not axes[1] or sizes[0] < 2 or sizes[1] > MAX_RATIO * sizes[0]:
        return False
    same_kind = about[0].unit == about[1].unit and not (about[0].words or about[1].words)
    gaps = np.concatenate([np.diff(values[name]) for name in (across, up)])
    return same_kind and bool(np.allclose(gaps, gaps[0]))


def _side(axis: Axis, name: str, values: np.ndarray) -> PlaneAxis:
    named = len(values) <= MAX_TICKS or coordinate_of(axis, name).words
    labels = tuple(value_label(axis, name, value) for value in values) if named else None
    return PlaneAxis(
        axis_title(axis, name), values, lambda i: value_label(axis, name, float(values[i])), labels
    )


def _indexed(kind: str, axis: Axis) -> PlaneAxis:
    """Labels only where there are ticks: labelling tens of thousands of points takes long."""
    ticks = set(evenly_spaced(len(axis), MAX_TICKS).tolist())
    single = len(axis.names) == 1  # then its name is in the axis title, not at every tick
    name = axis.names[0]

    def label(i: int) -> str:
        if axis.labels:
            return axis.labels[i]
        return value_label(axis, name, float(axis.values[i, 0])) if single else axis.label(i)

    labels = tuple(label(i) if i in ticks else "" for i in range(len(axis)))
    named = single and not kind.startswith(name)
    title = axis.title or (f"{kind}: {axis_title(axis, name)}" if named else kind)
    return PlaneAxis(title, np.arange(len(axis)), label, labels)
