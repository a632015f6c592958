"""Figures of the pricing domain: its drawing, and the prices that a policy sets."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.domains.pricing import Pricing
from fsdash.figures.domains.generic import HEAD, SMALL, TEXT, WIDTH
from fsdash.figures.palette import BLUE, VERMILLION
from fsdash.figures.policies import generic
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    Selector,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import (
    axis_symbol,
    axis_title,
    coordinate_values,
)
from fsdash.figures.policies.lines import lines_figure
from fsdash.figures.policies.paths import PathSeries, path_figure
from fsdash.figures.policies.plane import coordinates, plane
from fsdash.figures.policies.slices import coordinate_selector
from fsdash.figures.svg import Pen

AXES = ("reference price", "alpha")
CONSUMER = ("alpha", "eta+", "eta-")


def drawing(domain: Pricing) -> str:
    """The price, the consumers and the reference price that they remember."""
    pen = Pen()
    return pen.drawing(
        WIDTH,
        170,
        [
            pen.box(4, 14, 96, 50),
            pen.text(52, 35, "price", size=TEXT, weight=600),
            pen.text(52, 53, f"0 … {domain.price_max:g}", size=TEXT),
            pen.arrow(102, 39, 234, 39, head=HEAD),
            pen.text(168, 31, "demand, revenue", size=SMALL),
            pen.box(238, 14, 98, 50),
            pen.text(287, 35, "consumers", BLUE, size=TEXT, weight=600),
            pen.text(287, 53, "α, η⁺, η⁻", BLUE, size=TEXT),
            pen.box(106, 112, 128, 50),
            pen.text(170, 133, "reference price", VERMILLION, size=TEXT, weight=600),
            pen.text(170, 151, "what they expect", size=SMALL),
            pen.arrow(52, 66, 102, 134, head=HEAD),
            pen.text(44, 112, "remembered", size=SMALL),
            pen.arrow(238, 134, 290, 68, head=HEAD),
            pen.text(294, 112, "compared", size=SMALL),
        ],
    )


def describe(domain: Pricing) -> str:
    return (
        "Which price to set? Consumers remember past prices as a reference price, which changes "
        "fast; how they react to it drifts slowly."
    )


# ------------------------------------------------------------------------------------ the policies


def plane_axes(model: FastSlowMDP) -> tuple[str, str]:
    return AXES


def price_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    vary: str,
    chosen: tuple[float, ...],
    fixed: dict[str, float],
) -> go.Figure:
    """Price against reference price, a line for each chosen value of one consumer parameter."""
    cells = plane(model, "reference price", vary, fixed)
    price_RC = cells.take(coordinate_values(model.actions, "price")[policy_XY])
    diagonal = "price = reference price"
    return lines_figure(cells, price_RC, axis_symbol(model.slow, vary), chosen, "price", diagonal)


def price_path_figure(
    model: FastSlowMDP,
    path: Path,
    phases: tuple[str, ...],
    below: str,
) -> go.Figure:
    """Price and reference price in the upper panel; the reward or a slow parameter in the lower."""
    price = PathSeries("price", coordinate_values(model.actions, "price")[path.action_N], 1)
    reference = PathSeries(
        "reference price", coordinate_values(model.fast, "reference price")[path.y_N], 0, dash="dot"
    )
    if below == "reward":
        lower = PathSeries("reward", path.reward_N, 2)
    else:
        lower = PathSeries(
            axis_symbol(model.slow, below), coordinate_values(model.slow, below)[path.x_N], 2
        )
    titles = ("price", axis_title(model.slow, below))
    return path_figure(path, [[price, reference], [lower]], phases, titles)


def policy_figures(inspected: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    return (
        *(_prices(inspected, name) for name in CONSUMER),
        _path(inspected),
        *generic.common_figures(inspected, AXES),
    )


def _prices(inspected: InspectedPolicy, vary: str) -> PolicyFigure:
    """Prices against reference prices, with a line for each value of the parameter `vary`."""
    model, phase = inspected.model, phase_selector(inspected)
    values = coordinates(model)
    others = [name for name in CONSUMER if name != vary]

    def prices(phase=0, **at):
        chosen = at.pop(vary)
        return price_figure(model, inspected.policy_PXY[phase], vary, chosen, at)

    selectors = (
        coordinate_selector(model.slow, vary, values[vary], many=3),
        *(coordinate_selector(model.slow, name, values[name]) for name in others),
    )
    return PolicyFigure(
        f"prices-{vary}",
        f"Prices by {axis_symbol(model.slow, vary)}",
        f"The price that the policy sets at each reference price, for several values of "
        f"{axis_symbol(model.slow, vary)}.",
        prices,
        (*selectors, *phase),
        clickable=True,
    )


def _path(inspected: InspectedPolicy) -> PolicyFigure:
    def path(below, steps, seed):
        simulated = inspected.path(seed, steps)
        return price_path_figure(inspected.model, simulated, inspected.phases, below)

    options = (*CONSUMER, "reward")
    titles = tuple(axis_title(inspected.model.slow, name) for name in options)
    below = Selector("below", "lower panel", options, titles, "alpha")
    return PolicyFigure(
        "path",
        "Simulated path",
        "Price and reference price on one simulated path. Shading marks every other cycle of a "
        "periodic policy.",
        path,
        (below, *path_selectors()),
        clickable=True,
    )
