"""The planes of a model that a visitor can choose: two coordinates as axes, slices of the others.

slices = Slices(model, ("stock", "demand"))
slices.selectors                   the choice of the axes, and one selector per coordinate
slices.plane({"axes": …, "task": 3})     the plane for the chosen values
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.figures.policies.inspected import AXES, Selector
from fsdash.figures.policies.labels import (
    axis_title,
    coordinate_label,
    coordinate_of,
    coordinate_values,
    state_axis,
    value_label,
)
from fsdash.figures.policies.plane import Plane, coordinates, index_plane, plane

TAKEN = frozenset((AXES, "phase", "coordinate", "show", "steps", "seed", "judge", "block", "T"))
"""Names of selectors that are no coordinates; a coordinate of this name gets a star."""


@dataclass(frozen=True, eq=False)
class Slices:
    """Planes of a model. `axes` names the first two axes; None shows states in their order."""

    model: FastSlowMDP
    axes: tuple[str, str] | None

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """The values of each coordinate that has several, slow ones first."""
        return {name: v for name, v in coordinates(self.model).items() if len(v) > 1}

    @cached_property
    def pairs(self) -> dict[str, tuple[str, str]]:
        """The axes that can be chosen, by the text that names them; the default is the first."""
        if self.axes is None:
            return {}
        names = sorted(self.values, key=lambda name: name in self.model.slow.names)
        every = [self.axes, *(pair for pair in combinations(names, 2))]
        unlike = {frozenset(pair): pair for pair in reversed(every)}
        return {"|".join(pair): pair for pair in reversed(unlike.values())}

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The axes, if there is a choice, and the value of each coordinate that is not an axis."""
        if len(self.pairs) < 2:
            return ()
        labels = tuple(
            " × ".join(self._label(name) for name in pair) for pair in self.pairs.values()
        )
        options = tuple(self.pairs)
        axes = Selector(AXES, "axes", options, labels, options[0], ordered=False)
        return (axes, *self._coordinate_selectors())

    def plane(self, chosen: Mapping[str, object]) -> Plane:
        """The plane of the chosen axes through the chosen values."""
        axes = self.chosen_axes(chosen)
        if axes is None:
            return index_plane(self.model)
        at = {name: float(v[0]) for name, v in coordinates(self.model).items() if len(v) == 1}
        at |= {name: float(value) for name, value in self._typical.items()}
        at |= {n: chosen[selector_name(n)] for n in self.values if selector_name(n) in chosen}
        return plane(self.model, *axes, {n: v for n, v in at.items() if n not in axes})

    def chosen_axes(self, chosen: Mapping[str, object]) -> tuple[str, str] | None:
        """The coordinates across and up."""
        return self.pairs.get(str(chosen.get(AXES)), self.axes)

    def _coordinate_selectors(self) -> Iterator[Selector]:
        for name, values in self.values.items():
            axis, default = state_axis(self.model, name), self._typical[name]
            yield coordinate_selector(axis, name, values, default=default)

    @cached_property
    def _typical(self) -> dict[str, float]:
        """Values of the coordinates that some state has, in the middle of their range."""
        middle = {n: _usual(state_axis(self.model, n), n, v) for n, v in self.values.items()}
        if self.model.real_XY.all():
            return middle
        distance_XY = np.where(self.model.real_XY, 0.0, np.inf)
        for name, values in self.values.items():
            axis = state_axis(self.model, name)
            gap = np.abs(coordinate_values(axis, name) - middle[name]) / np.ptp(values)
            distance_XY = distance_XY + (gap[:, None] if axis is self.model.slow else gap)
        x, y = np.unravel_index(distance_XY.argmin(), distance_XY.shape)
        return self.at_state(int(x), int(y))

    def at_state(self, x: int, y: int) -> dict[str, float]:
        """The value of each coordinate in a state."""
        index = {id(self.model.slow): x, id(self.model.fast): y}
        axes = {name: state_axis(self.model, name) for name in self.values}
        return {n: float(coordinate_values(a, n)[index[id(a)]]) for n, a in axes.items()}

    def _label(self, name: str) -> str:
        return coordinate_label(state_axis(self.model, name), name)


def selector_name(coordinate: str) -> str:
    """The name of the selector of a coordinate."""
    return f"{coordinate}*" if coordinate in TAKEN else coordinate


def coordinate_selector(
    axis: Axis, name: str, values: np.ndarray, many: int = 0, default: float | None = None
) -> Selector:
    """A choice of one value of a coordinate, or with `many` of several (so many by default)."""
    options = tuple(values.tolist())
    labels = tuple(value_label(axis, name, value) for value in options)
    key, title = selector_name(name), axis_title(axis, name)
    if many:
        spread = np.linspace(0, len(options) - 1, min(many, len(options))).round().astype(int)
        several = tuple(options[i] for i in spread)
        return Selector(key, title, options, labels, several, many=True, coordinate=name)
    default = _usual(axis, name, values) if default is None else default
    numeric = not coordinate_of(axis, name).words
    return Selector(key, title, options, labels, default, ordered=numeric, coordinate=name)


def _usual(axis: Axis, name: str, values: np.ndarray) -> float:
    """The middle value; of a category the first one, which is the usual one."""
    return float(values[0 if coordinate_of(axis, name).words else len(values) // 2])
