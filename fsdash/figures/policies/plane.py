"""A plane through the state space: two coordinates as axes, with the others fixed.

States are pairs of indices with named coordinates (`Axis`). A `Plane` finds by these names which
state belongs to which cell, so one heat map serves every domain: stock × demand, column × row of
one task, reference price × memory, or fast × slow states of a user's model. Each cell carries its
(x, y) as customdata, which a click returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.errors import InputError
from fsdash.figures.palette import AMOUNT, CATEGORICAL, ColourScale
from fsdash.figures.policies.labels import (
    axis_title,
    coordinate_of,
    state_axis,
    value_label,
    without_unit,
)
from fsdash.figures.template import template

MAX_TICKS = 12
"""Most points of an axis that each have a tick."""
COLOUR_BAR_ROOM = 64
"""Pixels above the plot for a colour bar with its title and numbers."""


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """At most `most` of the indices 0..n−1, evenly spaced."""
    return np.arange(0, n, max(1, -(-n // most)))


@dataclass(frozen=True, eq=False)
class PlaneAxis:
    """One axis of a plane: its title, the places of its cells, and their labels if any."""

    title: str
    values: np.ndarray
    labels: tuple[str, ...] | None = None

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
    """Cells in R rows and C columns; x_RC and y_RC are −1 where there is no state."""

    across: PlaneAxis
    up: PlaneAxis
    x_RC: np.ndarray
    y_RC: np.ndarray

    @property
    def states_RC2(self) -> np.ndarray:
        return np.stack([self.x_RC, self.y_RC], axis=-1)

    def take(self, values_XY: np.ndarray) -> np.ndarray:
        """The values of the cells; nan where there is no state."""
        taken_RC = np.asarray(values_XY, dtype=float)[self.x_RC, self.y_RC]
        return np.where(self.x_RC < 0, np.nan, taken_RC)


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
    sides = (_side(state_axis(model, name), name, values[name]) for name in (across, up))
    return Plane(*sides, x_RC, y_RC)


def index_plane(model: FastSlowMDP) -> Plane:
    """Fast states (horizontal) × slow states (vertical), in the order of their indices."""
    x_RC, y_RC = np.where(model.real_XY, np.indices((model.n_slow, model.n_fast)), -1)
    return Plane(_indexed("fast state", model.fast), _indexed("slow state", model.slow), x_RC, y_RC)


def heat_map(
    cells: Plane,
    z_RC: np.ndarray,
    scale: ColourScale,
    name: str,
    dark: bool,
    hover: str = "%{z:.5g}",
    **changes,
) -> go.Figure:
    """A clickable heat map with its colour bar on top; `changes` are settings of the trace."""
    trace = go.Heatmap(
        x=cells.across.values,
        y=cells.up.values,
        z=z_RC,
        customdata=cells.states_RC2,
        hovertemplate=hover_text(cells, name, hover),
        colorscale=scale.on(dark),
        colorbar=colour_bar(name),
        hoverongaps=False,
    )
    figure = go.Figure(trace.update(changes), layout={"template": template(dark)})
    figure.update_layout(hovermode="closest", margin_t=COLOUR_BAR_ROOM)
    figure.update_xaxes(showgrid=False, **cells.across.ticks())
    figure.update_yaxes(showgrid=False, **cells.up.ticks())
    return figure


def hover_text(cells: Plane, name: str, value: str) -> str:
    """Both coordinates and the value; Plotly writes indices on axes with labels."""
    rows = [(cells.up.title, "%{y}"), (cells.across.title, "%{x}"), (name, f"<b>{value}</b>")]
    return "<br>".join(f"{without_unit(row)}: {shown}" for row, shown in rows) + "<extra></extra>"


def colour_bar(name: str, **changes) -> dict:
    """A flat colour bar above the plot, because one at the side would need too much width.

    It is at the top edge of the figure, with `COLOUR_BAR_ROOM` reserved for it. Placed at the edge
    of the plot, its title would make Plotly draw the title of the x axis over the ticks.
    """
    flat = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "ypad": 4,
        "len": 1,
        "thickness": 10,
        "outlinewidth": 0,
        "ticks": "",
        "title": {"text": name, "side": "top", "font": {"size": 14}},
        "tickfont": {"size": 13},
    }
    return flat | changes


def stepped_colours(scale: ColourScale, values: np.ndarray, dark: bool) -> dict:
    """Colour settings for values in even steps: one plain colour for each."""
    values = np.unique(values)
    gaps = np.diff(values)
    if not np.allclose(gaps, gaps[:1]):
        return {"colorscale": scale.on(dark), "zmin": values[0], "zmax": values[-1]}
    half = gaps[0] / 2 if len(gaps) else 0.5
    return {
        "colorscale": scale.steps(len(values), dark),
        "zmin": values[0] - half,
        "zmax": values[-1] + half,
        "colorbar": {"tickvals": values[evenly_spaced(len(values), MAX_TICKS)]},
    }


def word_colours(words: Sequence[str], dark: bool) -> dict:
    """Colour settings for the numbers of words: one plain colour for each."""
    n = len(words)
    if n <= len(CATEGORICAL):
        shades = [colour.on(dark) for colour in CATEGORICAL[:n]]
        scale = [[(i + edge) / n, shade] for i, shade in enumerate(shades) for edge in (0, 1)]
    else:
        scale = AMOUNT.steps(n, dark)
    shown = evenly_spaced(n, MAX_TICKS)
    bar = {"tickvals": shown, "ticktext": [words[i] for i in shown]}
    return {"colorscale": scale, "zmin": -0.5, "zmax": n - 0.5, "colorbar": bar}


def _matches(axis: Axis, fixed: Mapping[str, float]) -> np.ndarray:
    columns = [axis.values[:, i] == fixed[n] for i, n in enumerate(axis.names) if n in fixed]
    return np.logical_and.reduce([np.ones(len(axis), bool), *columns])


def _coordinate(model: FastSlowMDP, name: str, x_K: np.ndarray, y_K: np.ndarray) -> np.ndarray:
    axis = state_axis(model, name)
    return axis.values[x_K if axis is model.slow else y_K, axis.names.index(name)]


def _side(axis: Axis, name: str, values: np.ndarray) -> PlaneAxis:
    named = len(values) <= MAX_TICKS or coordinate_of(axis, name).words
    labels = tuple(value_label(axis, name, value) for value in values) if named else None
    return PlaneAxis(axis_title(axis, name), values, labels)


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
    return PlaneAxis(title, np.arange(len(axis)), labels)
