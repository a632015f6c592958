"""The drawing and the policy figures of a domain that brings none of its own."""

from __future__ import annotations

from math import prod

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import Domain
from fsdash.figures.palette import BLUE, VERMILLION
from fsdash.figures.policies.generic import common_figures
from fsdash.figures.policies.inspected import InspectedPolicy, PolicyFigure
from fsdash.figures.policies.marks import cell_labels as cell_labels
from fsdash.figures.policies.plane import coordinates
from fsdash.figures.policies.state_path import simulated_path
from fsdash.figures.svg import Pen

MAX_SELECTORS = 5
"""Most coordinates that are fixed by a selector each."""
WIDTH = 340
"""Width of the drawings of all domains."""
TEXT, SMALL = 13, 11
"""Font sizes of those drawings."""
HEAD = 11
"""Length of their arrow heads."""


def drawing(domain: Domain) -> str:
    """The numbers of slow and fast states, actions and noise outcomes.

    As in the drawing of the two timescales, the slow state is blue and the fast state vermillion.
    """
    n_slow, n_fast, n_actions, n_noise = domain.shape
    pen = Pen()
    return pen.drawing(
        WIDTH,
        110,
        [
            pen.box(4, 14, 160, 56),
            pen.text(84, 37, "slow state x", BLUE, size=TEXT, weight=600),
            pen.text(84, 57, f"{n_slow:,} values", size=TEXT),
            pen.box(176, 14, 160, 56),
            pen.text(256, 37, "fast state y", VERMILLION, size=TEXT, weight=600),
            pen.text(256, 57, f"{n_fast:,} values", size=TEXT),
            pen.text(
                170, 98, f"{n_actions:,} actions, {n_noise:,} outcomes of the noise", size=TEXT
            ),
        ],
    )


def describe(domain: Domain) -> str:
    return f"{domain.title}."


def policy_figures(inspected: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    """Heat maps over two coordinates of the state, and a simulated path."""
    axes = plane_axes(inspected.model)
    return (*common_figures(inspected, axes), simulated_path(inspected))


def plane_axes(model: FastSlowMDP) -> tuple[str, str] | None:
    """The coordinates across and up: two fast ones if there are, else a fast and a slow one.

    Of several, those with the most values. None if coordinates have no names of their own, do not
    identify the states, are too many to select, or leave most cells empty: the heat maps then show
    the states in their order.
    """
    names = (*model.slow.names, *model.fast.names)
    axes = (model.slow, model.fast)
    distinct = all(len(np.unique(axis.values, axis=0)) == len(axis) for axis in axes)
    if names == ("slow", "fast") or len(set(names)) < len(names) or not distinct:
        return None
    sizes = {name: len(values) for name, values in coordinates(model).items()}
    fast, slow = (
        sorted((n for n in axis.names if sizes[n] > 1), key=lambda name: -sizes[name])
        for axis in reversed(axes)
    )
    chosen = [*fast[:2], *slow][:2] if fast else []
    others = sum(size > 1 for size in sizes.values()) - len(chosen)
    if len(chosen) < 2 or others > MAX_SELECTORS or prod(sizes.values()) > 4 * model.n_real:
        return None
    return chosen[0], chosen[1]
