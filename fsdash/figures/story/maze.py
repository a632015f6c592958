"""The maze of the story: which cells a plan of T periods sees the prize from, and where it goes."""

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.figures.palette import BACKGROUND, BLUE, GREY, INK, PANEL, VERMILLION, with_opacity
from fsdash.figures.template import template

ANGLES = (0, 90, 180, 270)
"""The directions of the actions up, right, down and left, clockwise from up."""


def maze_figure(model: FastSlowMDP, seen_Y: np.ndarray, policy_Y: np.ndarray) -> go.Figure:
    """The corridor with its walls; an arrow in each cell from which the plan sees the prize."""
    column, row = model.fast.values.T
    prize = len(column) - 1
    arrows = seen_Y.copy()
    arrows[prize] = False
    shape = int(row.max()) + 1, int(column.max()) + 1
    seen_RC = np.zeros(shape)
    seen_RC[row.astype(int), column.astype(int)] = seen_Y
    words = np.where(seen_RC > 0, "the plan sees the prize", "the plan sees nothing")
    cells = {
        "type": "heatmap",
        "z": seen_RC,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, PANEL], [1, with_opacity(BLUE, 0.35)]],
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "text": words.tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "name": "cells",
    }
    moves = {
        "type": "scatter",
        "mode": "markers",
        "x": column[arrows],
        "y": row[arrows],
        "name": "moves",
        "marker": {
            "symbol": "arrow",
            "size": 14,
            "angle": np.array(ANGLES)[policy_Y[arrows]].tolist(),
            "color": INK,
        },
        "hoverinfo": "skip",
    }
    marks = {
        "type": "scatter",
        "mode": "text",
        "x": column[[prize, prize // 2]],
        "y": row[[prize, prize // 2]],
        "text": ["<b>★</b>", "<b>start</b>"],
        "textfont": {"size": [26, 13], "color": [VERMILLION, INK]},
        "name": "marks",
        "hoverinfo": "skip",
    }
    axis = {"visible": False, "fixedrange": True, "constrain": "domain"}
    layout = {
        "template": template(),
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": axis | {"range": [-0.7, column.max() + 0.7]},
        "yaxis": axis | {"range": [-0.7, row.max() + 0.7], "scaleanchor": "x"},
        "plot_bgcolor": BACKGROUND,
        "shapes": _walls(column, row, GREY),
    }
    return go.Figure({"data": [cells, moves, marks], "layout": layout}, _validate=False)


def _walls(column: np.ndarray, row: np.ndarray, colour: str) -> list[dict]:
    """The frame, and a wall above each row that leaves its last cell open."""
    right, top = column.max() + 0.5, row.max() + 0.5
    line = {"color": colour, "width": 4}
    frame = {"type": "rect", "x0": -0.5, "x1": right, "y0": -0.5, "y1": top, "line": line}
    walls = []
    for r in range(int(row.max())):
        left, end = (-0.5, right - 1) if r % 2 == 0 else (0.5, right)
        walls.append(
            {"type": "line", "x0": left, "x1": end, "y0": r + 0.5, "y1": r + 0.5, "line": line}
        )
    return [frame, *walls]
