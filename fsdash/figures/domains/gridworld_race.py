"""Figures of algorithms that race on a gridworld: one map for each, and their shares over work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

from fsdash.domains.gridworld import DIRECTIONS, GridMap
from fsdash.figures.domains.gridworld_tasks import TASKS, add_tasks, square_cells
from fsdash.figures.marks import vertical_line
from fsdash.figures.palette import GREY, INK, QUIET, VERMILLION
from fsdash.figures.template import template

VALUES, MOVES = "values", "moves"
HOVER = (
    "column %{x}, row %{y}<br>accepts task %{customdata}<br>value <b>%{z:.4g}</b><extra></extra>"
)
WORK_TITLE = "work of each method, in sweeps of Base VI"
ANGLES = np.array([90 * place for place, _ in enumerate(DIRECTIONS)])
"""Of the directions in their order: clockwise from up."""
ARROW = {"symbol": "triangle-up", "size": 11}
TOOLBAR = 30
"""Pixels below the map for the chart's buttons."""
LETTER = 0.022
"""Width of a letter in the name of a change, as a part of a narrow chart's horizontal axis."""


def race_map(
    grid: GridMap,
    signal: int,
    values_RC: np.ndarray,
    action_RC: np.ndarray,
    wrong_RC: np.ndarray,
    picked: int | None = None,
) -> dict:
    """The values and actions of an idle agent in every cell, over the tasks and walls of the map.

    Rows count upwards. Arrows that lose value are orange. `picked` is a task whose end is marked. A
    click on a cell reports its place. Returns the figure as plain data: what does not change from
    step to step is made once, and Plotly would check the rest for longer than a step takes.
    """
    board, walls_RC = _board(grid, signal, picked), grid.wall.T
    task_RC, direction_RC = np.divmod(action_RC, len(ANGLES))
    colours_RC = np.where(wrong_RC, VERMILLION, INK)
    angles = ANGLES[direction_RC[~walls_RC]].tolist()
    own = {
        VALUES: {"z": np.where(walls_RC, None, values_RC).tolist(), "customdata": task_RC + 1},
        MOVES: {"marker": ARROW | {"angle": angles, "color": colours_RC[~walls_RC].tolist()}},
    }
    data = [{**trace, **own.get(trace["name"], {})} for trace in board["data"]]
    return {"data": data, "layout": {**board["layout"]}}


@lru_cache(maxsize=64)
def _board(grid: GridMap, signal: int, picked: int | None) -> dict:
    """All of a map except its values, its actions and their colours."""
    figure = go.Figure(layout={"template": template(), "hovermode": "closest"})
    figure.add_heatmap(
        colorscale=QUIET.stops,
        showscale=False,
        hoverongaps=False,
        name=VALUES,
        hovertemplate=HOVER,
    )
    square_cells(figure, grid)
    add_tasks(figure, grid, signal)
    rows, columns = np.nonzero(~grid.wall.T)
    quiet = {"hoverinfo": "skip", "showlegend": False}
    figure.add_scatter(x=columns, y=rows, mode="markers", name=MOVES, **quiet)
    figure.add_scatter(
        x=grid.tasks[:, 0, 0] - 0.33,
        y=grid.tasks[:, 0, 1] + 0.3,
        mode="text",
        text=[f"<b>{task}</b>" for task in TASKS],
        name="task numbers",
        textfont={"size": 12, "color": INK},
        **quiet,
    )
    marked = [] if picked is None else [_mark(*grid.tasks[picked - 1, 1].tolist())]
    figure.update_layout(
        showlegend=False,
        margin={"l": 4, "r": 4, "t": 4, "b": TOOLBAR},
        shapes=[_wall(*place) for place in np.argwhere(grid.wall).tolist()] + marked,
    )
    figure.update_xaxes(showticklabels=False, fixedrange=True)
    figure.update_yaxes(showticklabels=False, fixedrange=True)
    return figure.to_dict()


def _mark(column: int, row: int) -> dict:
    edges = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": {"width": 3, "color": INK}, **edges}


def _wall(column: int, row: int) -> dict:
    edges = {"x0": column - 0.46, "x1": column + 0.46, "y0": row - 0.46, "y1": row + 0.46}
    return {"type": "rect", "fillcolor": GREY, "line": {"width": 0}, **edges}


def race_curves(
    points: Mapping[str, Sequence[tuple[float, float]]],
    now: float,
    colours: Mapping[str, str],
    changes: Sequence[tuple[float, str]],
) -> go.Figure:
    """The share of the optimum of each method over its work, with a line at each change.

    `points` are work in sweeps and share by the method's title, as are the colours; each share
    holds until the next point, the last one until `now`.
    """
    figure = go.Figure(layout={"template": template(), "hovermode": "x unified"})
    for title, own in points.items():
        figure.add_scatter(
            x=[*(x for x, _ in own), now],
            y=[*(share for _, share in own), own[-1][1]],
            name=title,
            mode="lines",
            line={"color": colours[title], "width": 2.5, "shape": "hv"},
            hovertemplate="%{y:.1%}",
        )
    lowest = min(share for own in points.values() for _, share in own)
    figure.update_layout(
        shapes=[vertical_line(x, INK, "dot") for x, _ in changes],
        annotations=change_labels(changes, now),
        xaxis={"title": {"text": WORK_TITLE}, "rangemode": "tozero"},
        yaxis={
            "title": {"text": "share of the optimum"},
            "tickformat": ".0%",
            "range": [min(0.0, lowest) - 0.02, 1.05],
        },
        legend={"y": 1.15},
    )
    return figure


def change_labels(changes: Sequence[tuple[float, str]], now: float) -> list[dict]:
    """The names of changes above their lines, the last ones first, as far as they do not overlap.

    A name ends at its line if the chart has no room for it on the right of the line.
    """
    above = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "showarrow": False}
    labels, free = [], now
    for x, name in reversed(changes):
        width = LETTER * len(name) * now
        if x + width <= free:
            left, side = x, "left"
        elif not labels:
            left, side = x - width, "right"
        else:
            continue
        labels.append({"x": x, "text": name, "font": {"size": 12}, "xanchor": side, **above})
        free = left
    return labels
