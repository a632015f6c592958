"""A simulated path of any model: its fast states, slow states and actions over time."""

from __future__ import annotations

import numpy as np

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.figures.policies.inspected import InspectedPolicy, PolicyFigure, path_selectors
from fsdash.figures.policies.labels import actions_title, axis_symbol, coordinate_of
from fsdash.figures.policies.paths import PathSeries, path_figure

MAX_PATH_ROWS = 2
"""Most coordinates of the fast, and of the slow state, that a path shows."""


def simulated_path(inspected: InspectedPolicy) -> PolicyFigure:
    """The fast states, slow states and actions of a simulated path of any model."""

    def path(steps, seed):
        simulated = inspected.path(seed, steps)
        return state_path_figure(inspected.model, simulated, inspected.phases)

    return PolicyFigure(
        "path",
        "Simulated path",
        "One simulated path under the true dynamics. Shading marks every other cycle of a periodic "
        "policy.",
        path,
        path_selectors(),
        clickable=True,
    )


def state_path_figure(model: FastSlowMDP, path: Path, phases: tuple[str, ...]):
    """The first coordinates of the fast states, slow states and actions on a path."""
    rows = [
        *([series] for series in _state_series(model.fast, path.y_N, 0)),
        *([series] for series in _state_series(model.slow, path.x_N, 1)),
        [action_series(model, path.action_N)],
    ]
    return path_figure(path, rows, phases)


def varied_names(axis: Axis) -> list[str]:
    """The coordinates of an axis that have several values, or the first one."""
    varied = [n for i, n in enumerate(axis.names) if np.ptp(axis.values[:, i]) > 0]
    return varied or [axis.names[0]]


def coordinate_series(
    axis: Axis, name: str, index_N: np.ndarray, colour: int, **more
) -> PathSeries:
    """One coordinate of the states on a path."""
    values_N = axis.values[index_N, axis.names.index(name)]
    words = coordinate_of(axis, name).words
    return PathSeries(axis_symbol(axis, name), values_N, colour, words=words, **more)


def action_series(model: FastSlowMDP, action_N: np.ndarray, colour: int = 2, **more) -> PathSeries:
    """The actions on a path: their labels, or their first coordinate."""
    axis, more = model.actions, {"kind": "points"} | more
    if axis.labels:
        words = dict(enumerate(axis.labels))
        return PathSeries(actions_title(model), action_N, colour, words=words, **more)
    return coordinate_series(axis, axis.names[0], action_N, colour, **more)


def _state_series(axis: Axis, index_N: np.ndarray, colour: int) -> list[PathSeries]:
    return [
        coordinate_series(axis, name, index_N, colour)
        for name in varied_names(axis)[:MAX_PATH_ROWS]
    ]
