"""A path of the shop cut into blocks: what happened, what the plan expected, and every order."""

import numpy as np
import plotly.graph_objects as go

from fsdash.core.blocks import Blocks
from fsdash.core.model import FastSlowMDP
from fsdash.figures.palette import BLUE, GREEN, GREY, INK, PANEL, VERMILLION
from fsdash.figures.policies.labels import coordinate_values
from fsdash.figures.template import template

DEMAND, STOCK = (0.72, 1.0), (0.0, 0.64)
"""Shares of the height for the two panels."""


def blocks_figure(model: FastSlowMDP, blocks: Blocks) -> go.Figure:
    """Above: demand. Below: stock as a line and orders as bars, those of μ in another colour."""
    weeks, T = np.arange(len(blocks.path)), blocks.T
    demand, stock = coordinate_values(model.slow, "demand"), coordinate_values(model.fast, "stock")
    order_N = coordinate_values(model.actions, "order")[blocks.path.action_N]
    first_N = weeks % T == 0
    true = {"color": INK, "width": 2.5, "shape": "hv"}
    plan = {"color": GREEN, "width": 2.5, "shape": "hv", "dash": "dash"}
    data = [
        _bars(weeks[first_N], order_N[first_N], "order of μ", BLUE),
        _bars(weeks[~first_N], order_N[~first_N], "order of π", VERMILLION),
        *_lines(weeks, stock, blocks, "y_N", "y", true, plan),
        *_lines(weeks, demand, blocks, "x_N", "y2", true, plan),
    ]
    layout = {
        "template": template(),
        "xaxis": {
            "title": {"text": f"week; each block has {T} weeks"},
            "range": [-0.6, len(weeks) - 0.4],
            "tick0": 0,
            "dtick": T,
            "showgrid": False,
            "anchor": "y",
        },
        "yaxis": {"title": {"text": "units"}, "domain": STOCK, "rangemode": "tozero"},
        "yaxis2": {
            "title": {"text": "demand"},
            "domain": DEMAND,
            "tickvals": demand,
            "range": [0, demand.max() + 0.5],
        },
        "shapes": [_block(start, T) for start in range(0, len(weeks), 2 * T)],
        "bargap": 0.35,
        "barmode": "overlay",
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def _lines(
    weeks: np.ndarray,
    values: np.ndarray,
    blocks: Blocks,
    name: str,
    axis: str,
    true: dict,
    plan: dict,
) -> list[dict]:
    """What happened as a line, and the plan of each block as a line of its own."""
    T, shown = blocks.T, axis == "y"
    planned, happened = (values[getattr(p, name)] for p in (blocks.plan, blocks.path))
    # A missing value between two blocks ends a line.
    x = np.insert(weeks.astype(float), np.arange(T, len(weeks), T), np.nan)
    y = np.insert(planned.astype(float), np.arange(T, len(weeks), T), np.nan)
    common = {"type": "scatter", "mode": "lines", "yaxis": axis, "hovertemplate": "%{y:g}"}
    return [
        {
            **common,
            "x": weeks,
            "y": happened,
            "name": f"happened{'' if shown else ', demand'}",
            "line": true,
            "showlegend": shown,
        },
        {
            **common,
            "x": x,
            "y": y,
            "name": f"planned{'' if shown else ', demand'}",
            "line": plan,
            "showlegend": shown,
        },
    ]


def _bars(weeks: np.ndarray, orders: np.ndarray, name: str, colour: str) -> dict:
    return {
        "type": "bar",
        **{"x": weeks, "y": np.where(orders > 0, orders, np.nan), "name": name},
        "marker": {"color": colour},
        "width": 0.7,
        "opacity": 0.6,
        "hovertemplate": "%{y:g}",
    }


def _block(start: int, T: int) -> dict:
    """The shade behind every other block."""
    edges = {"x0": start - 0.5, "x1": start + T - 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    line = {"width": 1, "color": GREY}
    return {"type": "rect", "fillcolor": PANEL, "line": line, "layer": "below", **edges}
