"""The inventory policy: how much is ordered where, up to which level, and how it plays out."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.figures.palette import BLUE, VERMILLION, with_opacity
from fsdash.figures.policies import generic
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import column, title
from fsdash.figures.policies.lines import lines_figure
from fsdash.figures.policies.paths import Series, path_figure
from fsdash.figures.policies.plane import plane
from fsdash.figures.template import template

AXES = ("stock", "demand")


def order_XY(model: FastSlowMDP, policy_XY: np.ndarray) -> np.ndarray:
    """Units ordered in every state."""
    return column(model.actions, "order")[policy_XY]


def level_XY(model: FastSlowMDP, policy_XY: np.ndarray) -> np.ndarray:
    """Stock plus order, before anything is sold."""
    return column(model.fast, "stock")[None] + order_XY(model, policy_XY)


def order_figure(model: FastSlowMDP, policy_XY: np.ndarray, dark: bool = False) -> go.Figure:
    """The order in every state, stock across and demand up."""
    return generic.action_figure(model, policy_XY, plane(model, *AXES, {}), "order", dark)


def level_lines_figure(
    model: FastSlowMDP, policy_XY: np.ndarray, demands: tuple[float, ...], dark: bool = False
) -> go.Figure:
    """Stock plus order against stock, one line for each chosen demand."""
    cells = plane(model, *AXES, {})
    levels_RC = cells.take(level_XY(model, policy_XY))
    axis = "stock plus order, units"
    return lines_figure(cells, levels_RC, "demand", demands, axis, "no order", dark, "linear")


def reorder_figure(model: FastSlowMDP, policy_XY: np.ndarray, dark: bool = False) -> go.Figure:
    """The two numbers of an (s, S) policy against demand, read off the policy.

    s is the largest stock at which anything is ordered, S what stock and order make from there. The
    band holds stock plus order of every state that orders: where it is wide, the policy is not of
    the (s, S) kind. Demands at which nothing is ever ordered leave a gap.
    """
    orders = order_XY(model, policy_XY) > 0
    level = np.where(orders, level_XY(model, policy_XY), np.nan)
    some_X = orders.any(axis=1)
    last_X = orders.shape[1] - 1 - orders[:, ::-1].argmax(axis=1)
    gap_X = np.where(some_X, 0.0, np.nan)
    s_X = column(model.fast, "stock")[last_X] + gap_X
    S_X = level[np.arange(len(last_X)), last_X]
    low_X = np.where(orders, level, np.inf).min(axis=1)
    high_X = np.where(orders, level, -np.inf).max(axis=1)
    demand_X = column(model.slow, "demand")
    figure = go.Figure(layout={"template": template(dark)})
    _band(figure, demand_X[some_X], low_X[some_X], high_X[some_X], dark)
    figure.add_scatter(
        x=demand_X,
        y=S_X,
        mode="lines+markers",
        name="S: orders up to",
        hovertemplate="%{y:g}",
        line={"color": BLUE.on(dark), "width": 2.5},
        marker={"size": 6},
    )
    figure.add_scatter(
        x=demand_X,
        y=s_X,
        mode="lines+markers",
        name="s: orders from",
        hovertemplate="%{y:g}",
        line={"color": VERMILLION.on(dark), "width": 2.5, "dash": "dash"},
        marker={"size": 6},
    )
    figure.update_xaxes(title_text=title("demand"))
    figure.update_yaxes(title_text="units", rangemode="tozero")
    return figure


def inventory_path_figure(
    model: FastSlowMDP, path: Path, phases: tuple[str, ...], dark: bool = False
) -> go.Figure:
    """Stock and demand above, orders below."""
    stock = Series("stock", column(model.fast, "stock")[path.y_N], 0)
    demand = Series("demand", column(model.slow, "demand")[path.x_N], 1, dash="dot")
    order = Series("order", column(model.actions, "order")[path.action_N], 2, "bar")
    rows, titles = [[stock, demand], [order]], ("units", "units ordered")
    return path_figure(path, rows, phases, dark, titles)


def views(subject: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    model, phase = subject.model, phase_selector(subject)
    demands = generic.coordinate_selector("demand", column(model.slow, "demand"), many=4)

    def orders(phase=0, dark=False):
        return order_figure(model, subject.policy_PXY[phase], dark)

    def levels(demand, phase=0, dark=False):
        return level_lines_figure(model, subject.policy_PXY[phase], demand, dark)

    def reorder(phase=0, dark=False):
        return reorder_figure(model, subject.policy_PXY[phase], dark)

    def walk(steps, seed, dark=False):
        return inventory_path_figure(model, subject.path(seed, steps), subject.phases, dark)

    return (
        PolicyFigure(
            "orders",
            "Orders",
            "Units ordered for each stock and demand.",
            orders,
            phase,
            clickable=True,
        ),
        PolicyFigure(
            "levels",
            "Order-up-to levels",
            "Stock plus order against stock; on the dotted line nothing is ordered.",
            levels,
            (demands, *phase),
            clickable=True,
        ),
        PolicyFigure(
            "reorder",
            "(s, S) by demand",
            "The largest stock at which it orders, and the level it orders up to.",
            reorder,
            phase,
        ),
        PolicyFigure(
            "path",
            "Simulated path",
            "Stock, demand and orders on one simulated path; shaded "
            "blocks are the cycles of the policy.",
            walk,
            path_selectors(),
            clickable=True,
        ),
        *generic.views(subject, AXES, actions=False),
    )


def _band(figure: go.Figure, x: np.ndarray, low: np.ndarray, high: np.ndarray, dark: bool) -> None:
    fill = with_opacity(BLUE.on(dark), 0.18)
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=x, y=high, showlegend=False, **edge)
    figure.add_scatter(x=x, y=low, name="all levels", fill="tonexty", fillcolor=fill, **edge)
