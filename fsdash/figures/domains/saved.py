"""The drawing of a user's own model: its variables with their numbers of values."""

from __future__ import annotations

from collections.abc import Sequence

from fsdash.domains.saved import SavedModel
from fsdash.figures.domains.generic import TEXT, WIDTH
from fsdash.figures.palette import BLUE, VERMILLION
from fsdash.figures.svg import Pen
from fsdash.formatting import shorten

LONGEST = 22
"""Characters that fit into a box."""


def drawing(domain: SavedModel) -> str:
    """Slow variables on the left in blue, fast ones on the right in vermillion."""
    n_slow, n_fast, n_actions, _ = domain.shape
    variables, pen = domain.content.variables, Pen()
    return pen.drawing(
        WIDTH,
        110,
        [
            pen.box(4, 14, 160, 56),
            pen.text(84, 37, _names(variables["slow"]), BLUE, size=TEXT, weight=600),
            pen.text(84, 57, f"slow, {n_slow:,} values", size=TEXT),
            pen.box(176, 14, 160, 56),
            pen.text(256, 37, _names(variables["fast"]), VERMILLION, size=TEXT, weight=600),
            pen.text(256, 57, f"fast, {n_fast:,} values", size=TEXT),
            pen.text(170, 98, f"{n_actions:,} actions", size=TEXT),
        ],
    )


def describe(domain: SavedModel) -> str:
    sense = "Costs are minimised" if domain.content.sense == "min" else "Rewards are maximised"
    return f"{sense}, discounted by γ = {domain.gamma:g}."


def _names(names: Sequence[str]) -> str:
    return shorten(", ".join(names), LONGEST)
