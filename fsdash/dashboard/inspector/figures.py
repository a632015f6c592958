"""What the Policy inspector adds to figures: a mark on one state, a common colour scale.

Pure, no Streamlit.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import BACKGROUND, INK
from fsdash.figures.policies import PolicyFigure

HEIGHT, COMPARED = 430, 390
"""Pixels of a figure, and of each of two figures side by side."""
SQUARE, WIDTH, AROUND = 480, 460, 120
"""Pixels of a figure with square cells, at most; of its plot's width; and around its plot."""
HEIGHTS = {"blocks": 475, "pair": 435}
"""Pixels of figures with several panels, by name: all below them still fits into 900 pixels."""


def figure_height(name: str, figure: go.Figure, compared: bool = False) -> int:
    """Height in pixels; `compared` if two figures share the width of the page."""
    if compared:
        return COMPARED
    if not figure.layout.yaxis.scaleanchor:
        return HEIGHTS.get(name, HEIGHT)
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    return min(SQUARE, AROUND + round(WIDTH * (high - low) / (right - left)))


def supported_selection(policy_figure: PolicyFigure, selected: dict) -> dict:
    """The part of another policy's selection that this figure supports."""
    selectors = {selector.name: selector for selector in policy_figure.selectors}
    return {
        name: value
        for name, value in selected.items()
        if name in selectors and (selectors[name].many or value in selectors[name].options)
    }


def states_drawn(figure: go.Figure) -> np.ndarray:
    """(K, 2): indices (x, y) of the states that have their own cell or point."""
    found = [
        np.reshape(trace.customdata, (-1, 2))
        for trace in figure.data
        if trace.customdata is not None and np.shape(trace.customdata)[-1] == 2
    ]
    states_K2 = np.concatenate(found) if found else np.empty((0, 2), int)
    return states_K2[(states_K2 >= 0).all(axis=1)].astype(int)


def worst_state(
    regret_XY: np.ndarray, states_K2: np.ndarray, real_XY: np.ndarray
) -> tuple[int, int]:
    """The state with the largest regret among these, or among all if there are none."""
    if len(states_K2) == 0:
        states_K2 = np.argwhere(real_XY)
    x, y = states_K2[regret_XY[states_K2[:, 0], states_K2[:, 1]].argmax()]
    return int(x), int(y)


def mark_state(figure: go.Figure, state: tuple[int, int]) -> None:
    """Draw a frame around the state's cell in a heat map, or a ring on its point of a line."""
    for trace in list(figure.data):
        states = trace.customdata
        # Points of a path also carry the phase. They are not marked: a path revisits its states.
        if states is None or np.shape(states)[-1] != 2:
            continue
        found = _places(np.asarray(states), state)
        if trace.type == "heatmap":
            for row, column in found:
                frame = _frame(trace, row, column)
                figure.update_layout(shapes=[*figure.layout.shapes, *frame])
        elif len(found) == 1:
            [point] = found[0]
            figure.add_scatter(
                x=[trace.x[point]],
                y=[trace.y[point]],
                mode="markers",
                showlegend=False,
                name=f"state on {trace.name}",
                hoverinfo="skip",
                xaxis=trace.xaxis,
                yaxis=trace.yaxis,
                cliponaxis=False,
                marker={
                    "symbol": "circle-open",
                    "size": 15,
                    "color": INK,
                    "line": {"width": 3},
                },
            )


def _places(states: np.ndarray, state: tuple[int, int]) -> list[list[int]]:
    same = (states[..., 0] == state[0]) & (states[..., 1] == state[1])
    return np.argwhere(same).tolist()


def _frame(trace: go.Heatmap, row: int, column: int) -> list[dict]:
    """Two strokes, visible on the lightest and on the darkest cell."""
    (x0, x1), (y0, y1) = _edges(trace.x, column), _edges(trace.y, row)
    place = {
        "x0": x0,
        "x1": x1,
        "y0": y0,
        "y1": y1,
        "xref": trace.xaxis or "x",
        "yref": trace.yaxis or "y",
    }
    strokes = ((BACKGROUND, 6), (INK, 2.5))
    return [
        {"type": "rect", **place, "line": {"color": colour, "width": width}}
        for colour, width in strokes
    ]


def _edges(values: np.ndarray, i: int) -> tuple[float, float]:
    """Where Plotly draws the edges of a cell: halfway to its neighbours."""
    if len(values) == 1:
        return float(values[0]) - 0.5, float(values[0]) + 0.5
    gaps = np.diff(np.asarray(values, float))
    low, high = gaps[max(i - 1, 0)], gaps[min(i, len(gaps) - 1)]
    return float(values[i] - low / 2), float(values[i] + high / 2)


def share_scale(left: go.Figure, right: go.Figure) -> None:
    """Give the heat maps of both figures the same colour for the same number."""
    pairs = zip(
        left.select_traces({"type": "heatmap"}),
        right.select_traces({"type": "heatmap"}),
        strict=False,
    )
    for pair in pairs:
        lows, highs = zip(*(_range(trace) for trace in pair), strict=True)
        for trace in pair:
            trace.update(zmin=min(lows), zmax=max(highs))


def _range(trace: go.Heatmap) -> tuple[float, float]:
    if trace.zmin is not None:
        return trace.zmin, trace.zmax
    return float(np.nanmin(trace.z)), float(np.nanmax(trace.z))
