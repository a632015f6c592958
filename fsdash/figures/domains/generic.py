"""The drawing and the policy figures of a domain that brings none of its own."""

from __future__ import annotations

import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.domains.base import Domain
from fsdash.figures.palette import BLUE, VERMILLION
from fsdash.figures.policies.generic import common_figures, simulated_path, state_path_figure
from fsdash.figures.policies.inspected import InspectedPolicy, PolicyFigure
from fsdash.figures.svg import Pen

WIDTH = 340
"""Width of the drawings of all domains."""
TEXT, SMALL = 13, 11
"""Font sizes of those drawings."""
HEAD = 11
"""Length of their arrow heads."""


def drawing(domain: Domain, dark: bool = False) -> str:
    """The numbers of slow and fast states, actions and noise outcomes.

    As in the drawing of the two timescales, the slow state is blue and the fast state vermillion.
    """
    n_slow, n_fast, n_actions, n_noise = domain.shape
    pen = Pen(dark)
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
    """Heat maps over fast × slow states, and a simulated path."""
    return (*common_figures(inspected), simulated_path(inspected))


def path_so_far(
    domain: Domain | None, model: FastSlowMDP, path: Path, dark: bool = False
) -> go.Figure:
    """The fast states, slow states and actions of a path."""
    return state_path_figure(model, path, ("policy",), dark)
