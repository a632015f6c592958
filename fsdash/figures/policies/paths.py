"""A simulated path over time, with the cycles of a periodic policy shaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fsdash.core.simulate import Path
from fsdash.figures.palette import CATEGORICAL, INK, PANEL, Colour
from fsdash.figures.policies.plane import evenly_spaced
from fsdash.figures.template import template
from fsdash.formatting import whole_ticks

MAX_WORDS = 6
"""Most ticks of a panel with categories."""
MAX_CYCLES = 120
"""Most cycles that are shaded; more would be too narrow to see and slow to draw."""


@dataclass(frozen=True, eq=False)
class PathSeries:
    """One line of a panel: `kind` is step, bar, points, or line for a line with points.

    `colour` is a colour or a place in `CATEGORICAL`.
    """

    name: str
    values_N: np.ndarray
    colour: int | Colour
    kind: str = "step"
    dash: str = "solid"
    words: Mapping[float, str] = field(default_factory=dict)
    """Words for its values, if they are categories."""


def path_figure(
    path: Path,
    rows: list[list[PathSeries]],
    phases: tuple[str, ...],
    titles: tuple[str, ...] = (),
) -> go.Figure:
    """Panels on top of each other over the same periods. A click selects a period's state."""
    heights = [1.0] + [0.6] * (len(rows) - 1)
    figure = make_subplots(
        rows=len(rows), shared_xaxes=True, vertical_spacing=0.07, row_heights=heights
    )
    for row, panel in enumerate(rows, start=1):
        for series in panel:
            add_series(figure, series, path, phases, row)
        title = titles[row - 1] if titles else panel[0].name
        figure.update_yaxes(title_text=title, row=row, **value_ticks(panel))
    figure.update_layout(template=template(), hovermode="x unified", bargap=0.15)
    figure.update_xaxes(range=[-0.5, len(path) - 0.5], showgrid=False)
    figure.update_xaxes(title_text="period t", row=len(rows))
    _add_cycles(figure, path)
    return figure


def add_series(
    figure: go.Figure,
    series: PathSeries,
    path: Path,
    phases: tuple[str, ...],
    row: int,
    first: int = 0,
    **more,
) -> None:
    """Add one line to a panel; its points carry the states of the path and their phases.

    `first` is the period of its first value; `more` are settings of the trace.
    """
    here = slice(first, first + len(series.values_N))
    names = np.array(phases)[path.phase_N[here]]
    state_N3 = np.column_stack([path.x_N[here], path.y_N[here], names]).astype(object)
    state_N3[:, :2] = np.column_stack([path.x_N[here], path.y_N[here]])
    value = "%{text}" if series.words else "%{y:.4g}"
    texts = [series.words.get(v, f"{v:g}") for v in series.values_N] if series.words else None
    common = {
        "x": np.arange(len(path))[here],
        "y": series.values_N,
        "text": texts,
        "name": series.name,
        "customdata": state_N3,
        "hovertemplate": value + (" (%{customdata[2]})" if path.period > 1 else ""),
    }
    figure.add_trace(_trace(series, **(common | more)), row=row, col=1)


def value_ticks(panel: list[PathSeries]) -> dict:
    """Ticks at words, at whole numbers if they are few, or else Plotly's own."""
    if words := panel[0].words:
        shown = [list(words)[i] for i in evenly_spaced(len(words), MAX_WORDS)]
        return {"tickvals": shown, "ticktext": [words[value] for value in shown]}
    return whole_ticks(np.concatenate([series.values_N for series in panel]).tolist())


def _trace(series: PathSeries, **common) -> go.Bar | go.Scatter:
    given = series.colour
    colour = given if isinstance(given, Colour) else CATEGORICAL[given]
    if series.kind == "bar":
        return go.Bar(marker={"color": colour, "line": {"width": 0}}, **common)
    if series.kind == "points":
        return go.Scatter(mode="markers", marker={"color": colour, "size": 6}, **common)
    line = {"color": colour, "width": 2.5, "dash": series.dash}
    if series.kind == "line":
        return go.Scatter(mode="lines+markers", line=line, marker={"size": 7}, **common)
    return go.Scatter(mode="lines", line=line | {"shape": "hv"}, **common)


def _add_cycles(figure: go.Figure, path: Path) -> None:
    """Shade every other cycle, and mark the periods of the upper policy with a thin line."""
    starts = np.flatnonzero(path.phase_N == 0)
    if path.period == 1 or len(starts) > MAX_CYCLES:
        return
    whole = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    shaded = [
        {
            "type": "rect",
            "x0": start - 0.5,
            "x1": min(start + path.period, len(path)) - 0.5,
            "fillcolor": PANEL,
            "line": {"width": 0},
            **whole,
        }
        for start in starts[1::2]
    ]
    lines = [
        {
            "type": "line",
            "x0": start,
            "x1": start,
            "opacity": 0.25,
            "line": {"color": INK, "width": 1, "dash": "dot"},
            **whole,
        }
        for start in starts
    ]
    figure.update_layout(shapes=shaded + lines)
