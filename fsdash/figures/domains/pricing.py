"""The pricing policy: the price against what customers expect, and how both move over time."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.figures.policies import generic
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    Selector,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import SHORT, column, short, title
from fsdash.figures.policies.lines import lines_figure
from fsdash.figures.policies.paths import Series, path_figure
from fsdash.figures.policies.plane import coordinates, plane

AXES = ("reference price", "alpha")
CONSUMER = ("alpha", "eta+", "eta-")


def price_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    vary: str,
    chosen: tuple[float, ...],
    fixed: dict[str, float],
    dark: bool = False,
) -> go.Figure:
    """Price against reference price, a line for each chosen value of one consumer parameter."""
    cells = plane(model, "reference price", vary, fixed)
    price_RC = cells.take(column(model.actions, "price")[policy_XY])
    diagonal = "price = reference price"
    return lines_figure(cells, price_RC, vary, chosen, "price", diagonal, dark)


def price_path_figure(
    model: FastSlowMDP, path: Path, phases: tuple[str, ...], below: str, dark: bool = False
) -> go.Figure:
    """Price and reference price above; below, the reward or one of the slow parameters."""
    price = Series("price", column(model.actions, "price")[path.action_N], 1)
    reference = Series(
        "reference price", column(model.fast, "reference price")[path.y_N], 0, dash="dot"
    )
    if below == "reward":
        lower = Series("reward", path.reward_N, 2)
    else:
        lower = Series(short(below), column(model.slow, below)[path.x_N], 2)
    titles = ("price", title(below))
    return path_figure(path, [[price, reference], [lower]], phases, dark, titles)


def views(subject: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    model, phase, found = subject.model, phase_selector(subject), coordinates(subject.model)

    def lines_over(vary: str) -> PolicyFigure:
        others = tuple(name for name in CONSUMER if name != vary)

        def prices(phase=0, dark=False, **at):
            chosen = at.pop(vary)
            return price_figure(model, subject.policy_PXY[phase], vary, chosen, at, dark)

        selectors = (
            generic.coordinate_selector(vary, found[vary], many=3),
            *(generic.coordinate_selector(name, found[name]) for name in others),
        )
        told = f"The price that each reference price leads to, for several {SHORT[vary]}."
        name = f"Prices by {SHORT[vary]}"
        return PolicyFigure(
            f"prices-{vary}", name, told, prices, (*selectors, *phase), clickable=True
        )

    def walk(below, steps, seed, dark=False):
        path = subject.path(seed, steps)
        return price_path_figure(model, path, subject.phases, below, dark)

    options = ("alpha", "eta+", "eta-", "reward")
    below = Selector("below", "below it", options, tuple(map(title, options)), "alpha")
    told = "Price and reference price on one simulated path; shaded blocks are the cycles."
    path_view = PolicyFigure(
        "path", "Simulated path", told, walk, (below, *path_selectors()), clickable=True
    )
    lines = tuple(map(lines_over, CONSUMER))
    return (*lines, path_view, *generic.views(subject, AXES))
