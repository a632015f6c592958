"""Parts that all gridworld figures share: square cells, and the paper's task arrows.

Each task is an arrow from start to end in the colour of its ring. The arrows of the rings that the
reward signal w makes worthwhile are drawn in full, the others faintly.
"""

from __future__ import annotations

from collections.abc import Collection

import plotly.graph_objects as go

from fsdash.domains.gridworld import INNER, OUTER, SHORT, GridMap, Gridworld
from fsdash.figures.palette import AMBER, BLUE, VERMILLION

RINGS = {"outer": (OUTER, BLUE), "short": (SHORT, AMBER), "inner": (INNER, VERMILLION)}
TASKS = range(1, 9)
SIGNAL = "inner ring pays"
LARGEST_NUMBERED = 15
"""Largest grid on which a task number fits into a cell next to the arrow."""


def square_cells(figure: go.Figure, domain: Gridworld | GridMap) -> None:
    """Make the cells square, with a gap between them, and put ticks at whole cells."""
    n = domain.size
    gap = 2 if n <= LARGEST_NUMBERED else 0
    figure.update_traces(xgap=gap, ygap=gap, selector={"type": "heatmap"})
    axis = {
        "range": [-0.5, n - 0.5],
        "dtick": max(1, n // 10),
        "constrain": "domain",
        "tickvals": None,
        "ticktext": None,
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "tick0": 0,
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(scaleanchor="x", constraintoward="top", **axis)


def add_tasks(
    figure: go.Figure,
    domain: Gridworld | GridMap,
    signal: int | None,
    shown: Collection[int] = TASKS,
) -> None:
    """Add the arrows of the tasks `shown`, one trace per ring; without a signal all look alike."""
    for ring in RINGS:
        trace = task_trace(domain, ring, signal, shown)
        if trace.x:
            figure.add_trace(trace)


def task_trace(
    domain: Gridworld | GridMap,
    ring: str,
    signal: int | None,
    shown: Collection[int] = TASKS,
) -> go.Scatter:
    """The arrows of one ring, from start to end of each task."""
    tasks, colour = RINGS[ring][0], RINGS[ring][1]
    ends = [domain.tasks[task - 1].tolist() for task in tasks if task in shown]
    name, opacity = ring_style(domain, ring, signal)
    return go.Scatter(
        x=[x for (x0, _), (x1, _) in ends for x in (x0, x1, None)],
        y=[y for (_, y0), (_, y1) in ends for y in (y0, y1, None)],
        name=name,
        mode="lines+markers",
        opacity=opacity,
        hoverinfo="skip",
        line={"color": colour, "width": 2.5},
        marker={
            "symbol": "arrow",
            "size": 12,
            "angleref": "previous",
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
    )


def ring_style(domain: Gridworld | GridMap, ring: str, signal: int | None) -> tuple[str, float]:
    """The legend entry and the opacity of a ring under a reward signal."""
    if signal is None:
        return f"{ring} tasks", 0.9
    pay = domain.delivery_reward[:, RINGS[ring][0][0]]
    return f"{ring} tasks pay {pay[signal]:g}", 0.95 if pay[signal] >= pay.max() else 0.4
