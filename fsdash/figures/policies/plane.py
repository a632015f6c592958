"""A plane through the state space: two coordinates as axes, the others held.

States are pairs of indices with named coordinates (`Axis`). A `Plane` finds, by those names alone,
which state lies in which cell, so the same heat map serves every domain: stock × demand, column ×
row of one task, reference price × memory, or plainly fast × slow states of a model of one's own.
Each cell carries its (x, y) as customdata: what a click returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.errors import InputError
from fsdash.figures.palette import Scale
from fsdash.figures.policies.labels import point, title, without_unit
from fsdash.figures.template import template

FEW = 12
"""Points that may each have a tick of their own."""
ROOM = 64
"""Pixels above the plot for a colour bar with its title and numbers."""


def spread(n: int, most: int) -> np.ndarray:
    """At most so many of the indices 0..n−1, evenly apart."""
    return np.arange(0, n, max(1, -(-n // most)))


@dataclass(frozen=True, eq=False)
class Side:
    """One axis of the picture: where its cells lie, and what is written beside them."""

    title: str
    values: np.ndarray
    labels: tuple[str, ...] | None = None

    def ticks(self, most: int = FEW) -> dict:
        """Every point if they are few, some if they have labels, else what Plotly finds round."""
        n = len(self.values)
        if self.labels is None and n > FEW:
            return {"title_text": self.title}
        chosen = spread(n, most)
        labels = self.labels or [f"{value:g}" for value in self.values]
        texts = [labels[i] for i in chosen]
        return {"title_text": self.title, "tickvals": self.values[chosen], "ticktext": texts}


@dataclass(frozen=True, eq=False)
class Plane:
    """Cells in R rows and C columns; x_RC and y_RC are −1 where there is no state."""

    across: Side
    up: Side
    x_RC: np.ndarray
    y_RC: np.ndarray

    @property
    def states_RC2(self) -> np.ndarray:
        return np.stack([self.x_RC, self.y_RC], axis=-1)

    def take(self, values_XY: np.ndarray) -> np.ndarray:
        """The values in their cells, nan where there is no state."""
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
    """The plane of two named coordinates, the others fixed at given values."""
    values = coordinates(model)
    missing = set(values) - {across, up} - set(fixed)
    if missing or {across, up} - set(values):
        raise InputError(
            f"plane {across} × {up}: the state has {', '.join(values)}; name two and fix the rest"
        )
    x_K, y_K = np.meshgrid(
        np.flatnonzero(_matches(model.slow, fixed)),
        np.flatnonzero(_matches(model.fast, fixed)),
        indexing="ij",
    )
    row_K, column_K = (
        np.searchsorted(values[name], _coordinate(model, name, x_K, y_K)) for name in (up, across)
    )
    x_RC = np.full((len(values[up]), len(values[across])), -1)
    y_RC = x_RC.copy()
    x_RC[row_K, column_K], y_RC[row_K, column_K] = x_K, y_K
    return Plane(_side(across, values[across]), _side(up, values[up]), x_RC, y_RC)


def index_plane(model: FastSlowMDP) -> Plane:
    """Fast states across, slow states up, in the order of their indices, with their labels."""
    x_RC, y_RC = np.indices((model.n_slow, model.n_fast))
    return Plane(_indexed("fast state", model.fast), _indexed("slow state", model.slow), x_RC, y_RC)


def heat_map(
    cells: Plane,
    z_RC: np.ndarray,
    scale: Scale,
    name: str,
    dark: bool,
    hover: str = "%{z:.5g}",
    **changes,
) -> go.Figure:
    """A clickable heat map with its colour bar on top; `changes` go to the trace."""
    trace = go.Heatmap(
        x=cells.across.values,
        y=cells.up.values,
        z=z_RC,
        customdata=cells.states_RC2,
        hovertemplate=hover_text(cells, name, hover),
        colorscale=scale.on(dark),
        colorbar=bar(name),
        hoverongaps=False,
    )
    figure = go.Figure(trace.update(changes), layout={"template": template(dark)})
    figure.update_layout(hovermode="closest", margin_t=ROOM)
    figure.update_xaxes(showgrid=False, **cells.across.ticks())
    figure.update_yaxes(showgrid=False, **cells.up.ticks())
    return figure


def hover_text(cells: Plane, name: str, value: str) -> str:
    """Both coordinates and the value; for labelled sides Plotly writes their indices."""
    rows = [(cells.up.title, "%{y}"), (cells.across.title, "%{x}"), (name, f"<b>{value}</b>")]
    return "<br>".join(f"{without_unit(row)}: {shown}" for row, shown in rows) + "<extra></extra>"


def bar(name: str, **changes) -> dict:
    """A flat colour bar above the plot: at the side it would eat a narrow screen.

    It hangs from the edge of the picture and `ROOM` is kept for it. Placed by the plot's own edge,
    its title makes Plotly put the title of the axis below over the ticks.
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


def steps_of(scale: Scale, values: np.ndarray, dark: bool) -> dict:
    """Colour settings for numbers that come in even steps: a plain colour for each."""
    values = np.unique(values)
    gaps = np.diff(values)
    if not np.allclose(gaps, gaps[:1]):
        return {"colorscale": scale.on(dark), "zmin": values[0], "zmax": values[-1]}
    half = gaps[0] / 2 if len(gaps) else 0.5
    return {
        "colorscale": scale.steps(len(values), dark),
        "zmin": values[0] - half,
        "zmax": values[-1] + half,
        "colorbar": {"tickvals": values[spread(len(values), FEW)]},
    }


def _matches(axis: Axis, fixed: Mapping[str, float]) -> np.ndarray:
    columns = [axis.values[:, i] == fixed[n] for i, n in enumerate(axis.names) if n in fixed]
    return np.logical_and.reduce([np.ones(len(axis), bool), *columns])


def _coordinate(model: FastSlowMDP, name: str, x_K: np.ndarray, y_K: np.ndarray) -> np.ndarray:
    axis, index_K = (model.slow, x_K) if name in model.slow.names else (model.fast, y_K)
    return axis.values[index_K, axis.names.index(name)]


def _side(name: str, values: np.ndarray) -> Side:
    labels = tuple(point(name, value) for value in values) if len(values) <= FEW else None
    return Side(title(name), values, labels)


def _indexed(kind: str, axis: Axis) -> Side:
    """Labels only where ticks are: naming tens of thousands of points would take its time."""
    ticks = set(spread(len(axis), FEW).tolist())
    single = len(axis.names) == 1  # then its name stands at the axis, not at every tick
    labels = tuple(
        "" if i not in ticks else f"{axis.values[i, 0]:g}" if single else axis.label(i)
        for i in range(len(axis))
    )
    named = single and not kind.startswith(axis.names[0])
    return Side(f"{kind}: {axis.names[0]}" if named else kind, np.arange(len(axis)), labels)
