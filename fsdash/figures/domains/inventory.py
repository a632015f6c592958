"""Figures of the inventory domain: its drawing, and the orders and levels of a policy."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.domains.inventory import Inventory
from fsdash.figures.domains.generic import HEAD, SMALL, TEXT, WIDTH
from fsdash.figures.palette import BLUE, VERMILLION, with_opacity
from fsdash.figures.policies import generic
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import axis_symbol, axis_title, coordinate_values
from fsdash.figures.policies.lines import lines_figure
from fsdash.figures.policies.paths import PathSeries, path_figure
from fsdash.figures.policies.plane import plane
from fsdash.figures.policies.slices import coordinate_selector
from fsdash.figures.svg import Pen
from fsdash.figures.template import template

AXES = ("stock", "demand")


def drawing(domain: Inventory) -> str:
    """Order, stock and demand, with the prices and costs."""
    pen = Pen()
    return pen.drawing(
        WIDTH,
        180,
        [
            pen.box(4, 58, 84, 52),
            pen.text(46, 80, "order a", size=TEXT, weight=600),
            pen.text(46, 98, f"0 … {domain.order_max}", size=TEXT),
            pen.arrow(90, 84, 126, 84, head=HEAD),
            *_shelf(pen, 132, 30, 76, 106),
            pen.text(170, 154, "stock y", VERMILLION, size=TEXT, weight=600),
            pen.text(170, 171, f"0 … {domain.y_max}", size=TEXT),
            pen.arrow(212, 84, 248, 84, head=HEAD),
            pen.text(230, 75, "sales", size=SMALL),
            pen.box(252, 30, 84, 106),
            *_drift(pen, 260, 66, 68),
            pen.text(294, 154, "demand d", BLUE, size=TEXT, weight=600),
            pen.text(294, 171, _demands(domain), size=TEXT),
            pen.text(46, 130, f"fixed cost {domain.K:g}", size=SMALL),
            pen.text(46, 145, f"{domain.c:g} per unit", size=SMALL),
            pen.text(170, 20, f"holding {domain.h:g} per unit", size=SMALL),
            pen.text(294, 20, f"price {domain.p:g}", size=SMALL),
        ],
    )


def _demands(domain: Inventory) -> str:
    """Such as 0 … 10, or 0, 5 … 50 for steps of 5."""
    second = f", {domain.d_min + domain.d_step}" if domain.d_step > 1 else ""
    return f"{domain.d_min}{second} … {domain.d_max}"


def describe(domain: Inventory) -> str:
    return (
        "How much to order? Stock changes every period and demand drifts slowly; each order has a "
        "fixed cost."
    )


def _shelf(pen: Pen, x: float, y: float, width: float, height: float) -> list[str]:
    """A shelf that is two thirds full."""
    rows = 6
    step = (height - 8) / rows
    units = [
        pen.box(
            x + 6,
            y + height - 4 - (i + 1) * step + 2,
            width - 12,
            step - 4,
            VERMILLION,
            None,
            radius=3,
            opacity=0.75 if i < 4 else 0.13,
        )
        for i in range(rows)
    ]
    return [pen.box(x, y, width, height), *units]


def _drift(pen: Pen, x: float, y: float, width: float) -> list[str]:
    """A slow drift, with a dot at its present value."""
    curve = (
        f"M{x} {y + 30} C{x + width * 0.3} {y + 34}, {x + width * 0.35} {y - 14}, "
        f"{x + width * 0.6} {y} S{x + width * 0.85} {y + 30}, {x + width} {y + 12}"
    )
    return [pen.path(curve, BLUE, 3), pen.circle(x + width, y + 12, 5, BLUE)]


# ------------------------------------------------------------------------------------ the policies


def plane_axes(model: FastSlowMDP) -> tuple[str, str]:
    return AXES


def order_XY(model: FastSlowMDP, policy_XY: np.ndarray) -> np.ndarray:
    """Units ordered in every state."""
    return coordinate_values(model.actions, "order")[policy_XY]


def level_XY(model: FastSlowMDP, policy_XY: np.ndarray) -> np.ndarray:
    """Stock plus order, before anything is sold."""
    return coordinate_values(model.fast, "stock")[None] + order_XY(model, policy_XY)


def order_figure(model: FastSlowMDP, policy_XY: np.ndarray) -> go.Figure:
    """The order in every state, stock across and demand up."""
    return generic.action_figure(model, policy_XY, plane(model, *AXES, {}), "order")


def level_lines_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    demands: tuple[float, ...],
) -> go.Figure:
    """Stock plus order against stock, one line for each chosen demand."""
    cells = plane(model, *AXES, {})
    levels_RC = cells.take(level_XY(model, policy_XY))
    axis = "stock plus order, units"
    return lines_figure(
        cells, levels_RC, axis_symbol(model.slow, "demand"), demands, axis, "no order", "linear"
    )


def reorder_figure(model: FastSlowMDP, policy_XY: np.ndarray) -> go.Figure:
    """The reorder point s and the order-up-to level S of a policy, against demand.

    s is the largest stock at which the policy orders, and S the stock plus the order there. The
    band spans stock plus order over all states that order: where it is wide, the policy is not an
    (s, S) policy. A demand at which the policy never orders leaves a gap.
    """
    orders = order_XY(model, policy_XY) > 0
    level = np.where(orders, level_XY(model, policy_XY), np.nan)
    some_X = orders.any(axis=1)
    last_X = orders.shape[1] - 1 - orders[:, ::-1].argmax(axis=1)
    gap_X = np.where(some_X, 0.0, np.nan)
    s_X = coordinate_values(model.fast, "stock")[last_X] + gap_X
    S_X = level[np.arange(len(last_X)), last_X]
    low_X = np.where(orders, level, np.inf).min(axis=1)
    high_X = np.where(orders, level, -np.inf).max(axis=1)
    demand_X = coordinate_values(model.slow, "demand")
    figure = go.Figure(layout={"template": template()})
    _band(figure, demand_X[some_X], low_X[some_X], high_X[some_X])
    figure.add_scatter(
        x=demand_X,
        y=S_X,
        mode="lines+markers",
        name="S: order-up-to level",
        hovertemplate="%{y:g}",
        line={"color": BLUE, "width": 2.5},
        marker={"size": 6},
    )
    figure.add_scatter(
        x=demand_X,
        y=s_X,
        mode="lines+markers",
        name="s: reorder point",
        hovertemplate="%{y:g}",
        line={"color": VERMILLION, "width": 2.5, "dash": "dash"},
        marker={"size": 6},
    )
    figure.update_xaxes(title_text=axis_title(model.slow, "demand"))
    figure.update_yaxes(title_text="units", rangemode="tozero")
    return figure


def inventory_path_figure(model: FastSlowMDP, path: Path, phases: tuple[str, ...]) -> go.Figure:
    """Stock and demand above, orders below."""
    stock = PathSeries("stock", coordinate_values(model.fast, "stock")[path.y_N], 0)
    demand = PathSeries("demand", coordinate_values(model.slow, "demand")[path.x_N], 1, dash="dot")
    order = PathSeries("order", coordinate_values(model.actions, "order")[path.action_N], 2, "bar")
    rows, titles = [[stock, demand], [order]], ("units", "units ordered")
    return path_figure(path, rows, phases, titles)


def policy_figures(inspected: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    model, phase = inspected.model, phase_selector(inspected)
    demands = coordinate_selector(
        model.slow, "demand", coordinate_values(model.slow, "demand"), many=4
    )

    def orders(phase=0):
        return order_figure(model, inspected.policy_PXY[phase])

    def levels(demand, phase=0):
        return level_lines_figure(model, inspected.policy_PXY[phase], demand)

    def reorder(phase=0):
        return reorder_figure(model, inspected.policy_PXY[phase])

    def path(steps, seed):
        simulated = inspected.path(seed, steps)
        return inventory_path_figure(model, simulated, inspected.phases)

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
            "Stock plus order against stock. On the dotted line the policy orders nothing.",
            levels,
            (demands, *phase),
            clickable=True,
        ),
        PolicyFigure(
            "reorder",
            "(s, S) by demand",
            "For each demand, the largest stock at which the policy orders (s) and the level it "
            "orders up to (S).",
            reorder,
            phase,
        ),
        PolicyFigure(
            "path",
            "Simulated path",
            "Stock, demand and orders on one simulated path. Shading marks every other cycle of a "
            "periodic policy.",
            path,
            path_selectors(),
            clickable=True,
        ),
        *generic.common_figures(inspected, AXES, actions=False),
    )


def _band(figure: go.Figure, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    fill = with_opacity(BLUE, 0.18)
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=x, y=high, showlegend=False, **edge)
    figure.add_scatter(
        x=x, y=low, name="all order-up-to levels", fill="tonexty", fillcolor=fill, **edge
    )
