"""What the Policy inspector adds to a figure of a policy: the clicked state, one scale for two.

Pure, no Streamlit.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import BACKGROUND, INK
from fsdash.figures.policies import InspectedPolicy, PolicyFigure

TALL = 600
HEIGHT = 520
HALF_WIDE = 500
"""Of a square that has half of the page's width."""
TALL_VIEWS = ("difference",)
SQUARE = "gridworld"


def height_of(domain: str, view: PolicyFigure, beside: bool = False) -> int:
    """Pixels, for a figure alone or `beside` another."""
    if view.name in TALL_VIEWS:
        return TALL
    if domain == SQUARE:
        return HALF_WIDE if beside else TALL
    return HEIGHT


def fitting(view: PolicyFigure, chosen: dict) -> dict:
    """What was chosen for another policy's view, as far as this one has it.

    A policy with fewer phases has no such phase: its first one is shown.
    """
    known = {selector.name: selector for selector in view.selectors}
    return {
        name: value
        for name, value in chosen.items()
        if name in known and (known[name].many or value in known[name].options)
    }


def phase_of(subject: InspectedPolicy, chosen: dict) -> int:
    return int(chosen.get("phase", 0)) if len(subject.phases) > 1 else 0


def states_drawn(figure: go.Figure) -> np.ndarray:
    """(K, 2): the states that have a cell or a point of their own."""
    found = [
        np.reshape(trace.customdata, (-1, 2))
        for trace in figure.data
        if trace.customdata is not None and np.shape(trace.customdata)[-1] == 2
    ]
    states_K2 = np.concatenate(found) if found else np.empty((0, 2), int)
    return states_K2[(states_K2 >= 0).all(axis=1)].astype(int)


def worst_state(regret_XY: np.ndarray, states_K2: np.ndarray) -> tuple[int, int]:
    """Where the regret is largest among these states, or among all if there are none."""
    if len(states_K2) == 0:
        states_K2 = np.argwhere(np.ones(regret_XY.shape, bool))
    x, y = states_K2[regret_XY[states_K2[:, 0], states_K2[:, 1]].argmax()]
    return int(x), int(y)


def mark_state(figure: go.Figure, state: tuple[int, int], dark: bool) -> None:
    """A frame around the state's cell in a heat map, a ring on its point of a line."""
    for trace in list(figure.data):
        states = trace.customdata
        # A path comes back to a state again and again; its points carry the phase as well.
        if states is None or np.shape(states)[-1] != 2:
            continue
        found = _places(np.asarray(states), state)
        if trace.type == "heatmap":
            for row, column in found:
                frame = _frame(trace, row, column, dark)
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
                    "color": INK.on(dark),
                    "line": {"width": 3},
                },
            )


def _places(states: np.ndarray, state: tuple[int, int]) -> list[list[int]]:
    same = (states[..., 0] == state[0]) & (states[..., 1] == state[1])
    return np.argwhere(same).tolist()


def _frame(trace: go.Heatmap, row: int, column: int, dark: bool) -> list[dict]:
    """Two strokes, so that it is seen on the lightest and on the darkest cell."""
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
        {"type": "rect", **place, "line": {"color": colour.on(dark), "width": width}}
        for colour, width in strokes
    ]


def _edges(values: np.ndarray, i: int) -> tuple[float, float]:
    half = float(values[1] - values[0]) / 2 if len(values) > 1 else 0.5
    return float(values[i]) - half, float(values[i]) + half


def share_scale(left: go.Figure, right: go.Figure) -> None:
    """The same colour for the same number in both figures."""
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
