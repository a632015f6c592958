"""How figures write coordinates and actions: names with the paper's symbol and the unit."""

from __future__ import annotations

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP

AXIS_TITLES = {
    "stock": "stock y, units",
    "demand": "demand d, units per period",
    "order": "order, units",
    "column": "column",
    "row": "row",
    "task": "task i",
    "carried": "object",
    "inner ring pays": "reward signal w",
    "alpha": "memory α",
    "eta+": "effect of a gain η⁺",
    "eta-": "effect of a loss η⁻",
    "reference price": "reference price",
    "price": "price",
}
COORDINATE_SYMBOLS = {"stock": "y", "demand": "d", "alpha": "α", "eta+": "η⁺", "eta-": "η⁻"}
VALUE_LABELS = {
    "task": {0: "idle"},
    "carried": {0: "not picked up", 1: "carried"},
    "inner ring pays": {0: "outer ring pays", 1: "inner ring pays"},
}
ARROWS = {(0, 1): "↑", (1, 0): "→", (0, -1): "↓", (-1, 0): "←"}


def axis_title(name: str) -> str:
    """The title of an axis that shows this coordinate."""
    return AXIS_TITLES.get(name, name)


def axis_symbol(name: str) -> str:
    """The paper's symbol of a coordinate, or its name."""
    return COORDINATE_SYMBOLS.get(name, name)


def without_unit(text: str) -> str:
    """An axis title without its unit."""
    return text.split(",")[0]


def value_label(name: str, value: float) -> str:
    """One value of a coordinate: a word where it has one, otherwise the number."""
    return VALUE_LABELS.get(name, {}).get(value, f"{value:g}")


def coordinate_values(axis: Axis, name: str) -> np.ndarray:
    """The values of the named coordinate, one for each point of the axis."""
    return axis.values[:, axis.names.index(name)]


def action_labels(model: FastSlowMDP) -> list[str]:
    """Short labels: the number of a single coordinate, or task and arrow on the grid."""
    axis = model.actions
    if axis.names == ("task", "right", "up"):
        return [f"{task:g} {ARROWS[right, up]}" for task, right, up in axis.values.tolist()]
    if len(axis.names) == 1:
        return [f"{value:g}" for value in axis.values[:, 0]]
    return [axis.label(a) for a in range(len(axis))]


def actions_title(model: FastSlowMDP) -> str:
    """The title of an axis with `action_labels`."""
    if model.actions.names == ("task", "right", "up"):
        return "action: task and move"
    names = model.actions.names
    return axis_title(names[0]) if len(names) == 1 else "action"
