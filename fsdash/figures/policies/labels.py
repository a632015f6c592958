"""How figures write coordinates and actions, as the axes of the model describe them.

A domain gives the labels, symbols, units and words of its coordinates (`fsdash.core.axis`). What it
does not describe is written with the coordinate's name.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP


def state_axis(model: FastSlowMDP, name: str) -> Axis:
    """The axis of the state, slow or fast, that has this coordinate."""
    return model.slow if name in model.slow.names else model.fast


def coordinate_of(axis: Axis, name: str) -> Coordinate:
    """How a coordinate is written."""
    return axis.coordinates.get(name, Coordinate())


def axis_title(axis: Axis, name: str) -> str:
    """The title of an axis that shows this coordinate, with its unit."""
    about = coordinate_of(axis, name)
    return (about.label or name) + (f", {about.unit}" if about.unit else "")


def coordinate_label(axis: Axis, name: str) -> str:
    """The title of a coordinate without its unit."""
    return coordinate_of(axis, name).label or name


def without_unit(title: str) -> str:
    """An axis title without its unit."""
    return title.split(",")[0]


def axis_symbol(axis: Axis, name: str) -> str:
    """The symbol of a coordinate, or its name."""
    return coordinate_of(axis, name).symbol or name


def value_label(axis: Axis, name: str, value: float) -> str:
    """One value of a coordinate: a word where it has one, otherwise the number."""
    return axis.written(name, value)


def coordinate_values(axis: Axis, name: str) -> np.ndarray:
    """The values of the named coordinate, one for each point of the axis."""
    return axis.values[:, axis.names.index(name)]


def own_values(axis: Axis, name: str) -> np.ndarray:
    """The values of a coordinate as a table shows them: words if it is a category."""
    if axis.labels and len(axis.names) == 1:
        return np.array(axis.labels, dtype=object)
    values = coordinate_values(axis, name)
    if not coordinate_of(axis, name).words:
        return values
    return np.array([value_label(axis, name, value) for value in values.tolist()], dtype=object)


def has_words(axis: Axis) -> bool:
    """Whether the points of an axis are words, not numbers."""
    return bool(axis.labels) or any(coordinate_of(axis, name).words for name in axis.names)


def action_labels(model: FastSlowMDP) -> list[str]:
    """Short labels: the domain's own, or the number of a single coordinate, or all coordinates."""
    axis = model.actions
    if axis.labels:
        return list(axis.labels)
    if len(axis.names) == 1:
        return [value_label(axis, axis.names[0], value) for value in axis.values[:, 0].tolist()]
    return [axis.label(a) for a in range(len(axis))]


def actions_title(model: FastSlowMDP) -> str:
    """The title of an axis with `action_labels`."""
    axis = model.actions
    if axis.title:
        return axis.title
    return axis_title(axis, axis.names[0]) if len(axis.names) == 1 else "action"


def value_sign(model: FastSlowMDP) -> int:
    """−1 if the model has costs, which tables show as positive numbers; otherwise 1."""
    return -1 if model.sense == "min" else 1
