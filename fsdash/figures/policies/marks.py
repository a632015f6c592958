"""Labels of actions inside the cells of a map, where they are short and the cells are large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.figures.policies.labels import action_labels
from fsdash.figures.policies.plane import Plane

MAX_SIDE = 16
"""Most cells along a side whose labels can be read."""
MAX_LETTERS = 3
SPACE = "\u00a0"
LARGE = 17
"""Font size of a single arrow or letter."""
ARROWS = {
    "↑": ("up", "north", "n"),
    "→": ("right", "east", "e"),
    "↓": ("down", "south", "s"),
    "←": ("left", "west", "w"),
}


def short_labels(labels: Sequence[str]) -> list[str] | None:
    """Labels that fit into a cell, with arrows for directions; None if they do not fit.

    If only a few are too long, they are cut off, as long as they remain different.
    """
    arrows = {word: arrow for arrow, words in ARROWS.items() for word in words}
    lower = [label.lower() for label in labels]
    directions = sum(label in arrows for label in lower) >= 2
    short = [
        arrows.get(word, label) if directions else label
        for word, label in zip(lower, labels, strict=True)
    ]
    short = [label.replace(" ", "") for label in short]
    long = sum(len(label) > MAX_LETTERS for label in short)
    cut = [label[:MAX_LETTERS] for label in short]
    return cut if long <= len(short) / 3 and len(set(cut)) == len(set(short)) else None


def has_room(cells: Plane) -> bool:
    """Whether a label can be read in a cell."""
    return max(cells.x_RC.shape) <= MAX_SIDE


def cell_labels(model: FastSlowMDP, cells: Plane, policy_XY: np.ndarray) -> np.ndarray | None:
    """The short label of the action in each cell, or None if they cannot be read."""
    short = short_labels(action_labels(model))
    return cells.write(short, policy_XY) if short is not None and has_room(cells) else None


def label_sizes(label_RC: np.ndarray, small: int) -> np.ndarray:
    """Font sizes of labels: a single arrow or letter is larger."""
    return np.where(np.vectorize(len, otypes=[int])(label_RC) <= 1, LARGE, small)


def add_texts(
    figure: go.Figure, cells: Plane, text_RC: np.ndarray, colour: str, size_RC: np.ndarray
) -> None:
    """Write a text into each cell."""
    x_RC, y_RC = np.meshgrid(cells.across.values, cells.up.values)
    figure.add_scatter(
        x=x_RC.ravel(),
        y=y_RC.ravel(),
        mode="text",
        # Plotly removes the node of an empty text for good; a space can become a text later.
        text=np.where(text_RC == "", SPACE, text_RC).ravel(),
        name="actions",
        hoverinfo="skip",
        showlegend=False,
        textfont={"size": size_RC.ravel(), "color": colour},
    )
