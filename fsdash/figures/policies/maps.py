"""Heat maps on a plane of states: numbers, words, and their colours.

Each cell carries its (x, y) as customdata, which a click returns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import AMOUNT, CATEGORICAL, DIVERGING, ColourScale
from fsdash.figures.policies.labels import without_unit
from fsdash.figures.policies.plane import MAX_TICKS, Plane, PlaneAxis, evenly_spaced
from fsdash.figures.template import template

COLOUR_BAR_ROOM = 64
"""Pixels above the plot for a colour bar with its title and numbers."""
MAX_KEY = 8
"""Most words that have an entry of their own in the legend."""
MAX_TEXTS = 20_000
"""Most cells that each carry a hover text; more would make the figure megabytes large."""
MAX_GAPS = 16
"""Most cells along a side of a plot of square cells with gaps between them."""
EMPTY = "No state has these values."


def heat_map(
    cells: Plane,
    z_RC: np.ndarray,
    scale: ColourScale,
    name: str,
    hover: str = "%{z:.5g}",
    **changes,
) -> go.Figure:
    """A clickable heat map with its colour bar on top; `changes` are settings of the trace."""
    trace = go.Heatmap(
        x=cells.across.values,
        y=cells.up.values,
        z=z_RC,
        customdata=cells.states_RC2,
        hovertext=place_texts(cells),
        hovertemplate=hover_text(cells, name, hover),
        colorscale=scale.stops,
        colorbar=colour_bar(name),
        hoverongaps=False,
    )
    figure = go.Figure(trace.update(changes), layout={"template": template()})
    figure.update_layout(hovermode="closest", margin_t=COLOUR_BAR_ROOM)
    figure.update_xaxes(showgrid=False, **cells.across.ticks())
    figure.update_yaxes(showgrid=False, **cells.up.ticks())
    if cells.square:
        make_square(figure, cells)
    if (cells.x_RC < 0).all():
        figure.add_annotation(text=EMPTY, showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
    return figure


def make_square(figure: go.Figure, cells: Plane) -> None:
    """Give the cells equal sides, and gaps between them if they are few."""
    most = max(cells.x_RC.shape)
    gap = 2 if most <= MAX_GAPS else 0
    figure.update_traces(xgap=gap, ygap=gap, selector={"type": "heatmap"})
    step = float(cells.across.values[1] - cells.across.values[0])
    tick = step * int(np.diff(evenly_spaced(most, MAX_TICKS)[:2])[0])
    for side, update in ((cells.across, figure.update_xaxes), (cells.up, figure.update_yaxes)):
        ends = [side.values[0] - step / 2, side.values[-1] + step / 2]
        first = side.values[0]
        update(range=ends, tick0=first, dtick=tick, tickvals=None, ticktext=None)
    plain = {"constrain": "domain", "showgrid": False, "showline": False, "ticks": ""}
    figure.update_xaxes(**plain)
    figure.update_yaxes(scaleanchor="x", constraintoward="top", **plain)


def word_map(
    cells: Plane,
    index_XY: np.ndarray,
    words: Sequence[str],
    shades: Sequence[str],
    name: str,
) -> go.Figure:
    """A heat map of words, with one plain colour for each and a legend above the plot."""
    n, z_RC = len(words), cells.take(index_XY)
    scale = [[(i + edge) / n, shade] for i, shade in enumerate(shades) for edge in (0, 1)]
    figure = heat_map(
        cells,
        z_RC,
        AMOUNT,
        name,
        "%{z}",
        colorscale=scale,
        zmin=-0.5,
        zmax=n - 0.5,
        showscale=False,
    )
    if z_RC.size <= MAX_TEXTS:
        text_RC = cells.write(words, index_XY)
        figure.update_traces(text=text_RC, hovertemplate=hover_text(cells, name, "%{text}"))
    add_key(figure, words, shades, name)
    return figure


def add_key(figure: go.Figure, words: Sequence[str], shades: Sequence[str], name: str) -> None:
    """Add a legend of plain colours. Unlike the ticks of a colour bar, it wraps on a phone."""
    for word, shade in zip(words, shades, strict=True):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=word,
            hoverinfo="skip",
            marker={"symbol": "square", "size": 14, "color": shade, "line": {"width": 0.5}},
        )
    figure.update_layout(
        margin_t=16,
        legend={
            "title": {"text": f"{name}  ", "font": {"size": 15}},
            "itemclick": False,
            "itemdoubleclick": False,
        },
    )


def hover_text(cells: Plane, name: str, value: str) -> str:
    """The template of a hover text: the state's two coordinates and a value."""
    place = (
        "%{hovertext}"
        if _needs_texts(cells)
        else f"{_row(cells.up, '%{y}')}<br>{_row(cells.across, '%{x}')}"
    )
    return f"{place}<br>{without_unit(name)}: <b>{value}</b><extra></extra>"


def place_texts(cells: Plane) -> np.ndarray | None:
    """The two coordinates of each cell, if Plotly would write indices instead of names."""
    if not _needs_texts(cells):
        return None
    up_R = np.array([_row(cells.up, name) for name in cells.up.names()], dtype=object)
    across_C = np.array([_row(cells.across, name) for name in cells.across.names()], dtype=object)
    return up_R[:, None] + "<br>" + across_C[None]


def _needs_texts(cells: Plane) -> bool:
    """Plotly writes the labels of ticks, but not those of the points between them."""
    unnamed = any(
        side.labels is not None and len(side.values) > MAX_TICKS
        for side in (cells.up, cells.across)
    )
    return unnamed and cells.x_RC.size <= MAX_TEXTS


def _row(side: PlaneAxis, value: str) -> str:
    return f"{without_unit(side.title)}: {value}"


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


def action_colours(values: np.ndarray) -> dict:
    """Colour settings for the values of actions; values in even steps have one plain colour each.

    Values of both signs, such as selling and buying, have a diverging scale with 0 in the middle.
    """
    values = np.unique(values)
    gaps, n = np.diff(values), len(values)
    signed = values[0] < 0 < values[-1]
    scale, largest = (DIVERGING if signed else AMOUNT), np.abs(values).max()
    if not np.allclose(gaps, gaps[:1]):
        low, high = (-largest, largest) if signed else (values[0], values[-1])
        return {"colorscale": scale.stops, "zmin": low, "zmax": high}
    half = gaps[0] / 2 if len(gaps) else 0.5
    shares = (1 + values / largest) / 2 if signed else np.arange(n) / max(n - 1, 1)
    return {
        "colorscale": scale.plain(shares.tolist()),
        "zmin": values[0] - half,
        "zmax": values[-1] + half,
        "colorbar": {"tickvals": values[evenly_spaced(len(values), MAX_TICKS)]},
    }


def word_shades(n: int) -> list[str]:
    """A plain colour for each of n words."""
    if n <= len(CATEGORICAL):
        return [colour for colour in CATEGORICAL[:n]]
    return [AMOUNT.at(i / (n - 1)) for i in range(n)]


def word_colours(words: Sequence[str]) -> dict:
    """Colour settings for the numbers of words that are too many for a legend."""
    n = len(words)
    shown = evenly_spaced(n, MAX_TICKS)
    bar = {"tickvals": shown, "ticktext": [words[i] for i in shown]}
    scale = AMOUNT.steps(n)
    return {"colorscale": scale, "zmin": -0.5, "zmax": n - 0.5, "colorbar": bar}
