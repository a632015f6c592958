"""Names of coordinates as figures write them, with the paper's symbol and the unit."""

from __future__ import annotations

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP

TITLES = {
    "stock": "stock y, units",
    "demand": "demand d, units per period",
    "order": "order, units",
    "column": "column",
    "row": "row",
    "task": "task i",
    "carried": "object",
    "inner ring pays": "reward signal w",
    "alpha": "memory α",
    "eta+": "pull of a gain η⁺",
    "eta-": "push of a loss η⁻",
    "reference price": "reference price",
    "price": "price",
}
SHORT = {"stock": "y", "demand": "d", "alpha": "α", "eta+": "η⁺", "eta-": "η⁻"}
POINTS = {
    "task": {0: "idle"},
    "carried": {0: "not picked up", 1: "carried"},
    "inner ring pays": {0: "outer ring pays", 1: "inner ring pays"},
}
ARROWS = {(0, 1): "↑", (1, 0): "→", (0, -1): "↓", (-1, 0): "←"}


def title(name: str) -> str:
    return TITLES.get(name, name)


def short(name: str) -> str:
    return SHORT.get(name, name)


def without_unit(text: str) -> str:
    """A title without its unit."""
    return text.split(",")[0]


def point(name: str, value: float) -> str:
    """One value of a coordinate in words, where it has some."""
    return POINTS.get(name, {}).get(value, f"{value:g}")


def column(axis: Axis, name: str) -> np.ndarray:
    """The coordinate of this name for every point of the axis."""
    return axis.values[:, axis.names.index(name)]


def action_labels(model: FastSlowMDP) -> list[str]:
    """Short labels: the bare number of a single coordinate, task and arrow on the grid."""
    axis = model.actions
    if axis.names == ("task", "right", "up"):
        return [f"{task:g} {ARROWS[right, up]}" for task, right, up in axis.values.tolist()]
    if len(axis.names) == 1:
        return [f"{value:g}" for value in axis.values[:, 0]]
    return [axis.label(a) for a in range(len(axis))]


def actions_title(model: FastSlowMDP) -> str:
    """What `action_labels` label."""
    if model.actions.names == ("task", "right", "up"):
        return "action: task and move"
    names = model.actions.names
    return title(names[0]) if len(names) == 1 else "action"
