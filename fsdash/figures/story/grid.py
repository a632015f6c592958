"""Every state of a small inventory in one picture: its value as a colour, its order as a number."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.figures.palette import GRID, INK, QUIET, VERMILLION
from fsdash.figures.policies.labels import coordinate_values
from fsdash.figures.template import template


def grid_figure(
    model: FastSlowMDP,
    values_XY: np.ndarray,
    policy_XY: np.ndarray,
    seasons: Sequence[str],
    value_name: str,
) -> go.Figure:
    """The states as cells, stock across and season up; a number in a cell is an order."""
    stock, demand = coordinate_values(model.fast, "stock"), coordinate_values(model.slow, "demand")
    order_XY = coordinate_values(model.actions, "order")[policy_XY]
    names = [f"{season}<br>{d:g} a week" for season, d in zip(seasons, demand, strict=True)]
    ordering = np.argwhere(order_XY > 0)
    cells = {
        "type": "heatmap",
        "x": stock,
        "y": names,
        "z": values_XY,
        "customdata": order_XY,
        "colorscale": QUIET.stops,
        "xgap": 2,
        "ygap": 2,
        "colorbar": {
            "title": {"text": f"value {value_name}", "side": "right"},
            **{"orientation": "h", "thickness": 12, "outlinewidth": 0, "len": 0.8},
            **{"x": 0.4, "y": 1.02, "yanchor": "bottom"},
        },
        "hovertemplate": f"stock %{{x}}, %{{y}}<br>{value_name} = %{{z:.4g}}"
        "<br>order %{customdata}<extra></extra>",
    }
    orders = {
        "type": "scatter",
        "mode": "text",
        "x": stock[ordering[:, 1]],
        "y": [names[x] for x in ordering[:, 0]],
        "text": [f"<b>{order_XY[x, y]:g}</b>" for x, y in ordering],
        "textfont": {"color": VERMILLION, "size": 16},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    axis = {"showgrid": False, "ticks": "", "showline": False}
    layout = {
        "template": template(),
        "hovermode": "closest",
        "xaxis": axis
        | {
            "title": {"text": "stock y, units"},
            "dtick": 1,
            "range": [stock[0] - 0.5, stock[-1] + 0.5],
        },
        "yaxis": axis | {"type": "category", "title": {"text": "season x"}},
        "plot_bgcolor": GRID,
        "font": {"color": INK},
    }
    return go.Figure({"data": [cells, orders], "layout": layout}, _validate=False)


def describe_grid(values_XY: np.ndarray, policy_XY: np.ndarray, value_name: str) -> str:
    """The picture in words."""
    orders_X = (policy_XY > 0).sum(axis=1).tolist()
    return (
        f"A grid of {policy_XY.shape[0]} seasons by {policy_XY.shape[1]} stock levels. "
        f"{value_name} is between {values_XY.min():.4g} and {values_XY.max():.4g}. "
        f"States that order, by season from low to high demand: {', '.join(map(str, orders_X))}."
    )
