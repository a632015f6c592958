"""The answers of a class: a bar for each option, or for each range of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from fsdash.figures.palette import BLUE
from fsdash.figures.template import template
from fsdash.formatting import shorten

MAX_LABEL = 48
"""Characters of an option in the figure."""


def answers_figure(labels: Sequence[str], counts: Sequence[int]) -> go.Figure:
    """A horizontal bar for each label, in the given order from the top.

    Labels are texts that visitors typed: nothing in them is read as HTML.
    """
    shown = [escape(shorten(label, MAX_LABEL)) for label in labels]
    places = list(range(len(shown)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "answers",
        "x": list(counts),
        "y": places,
        "text": [str(count) for count in counts],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 18},
        "marker": {"color": BLUE},
        "hoverinfo": "skip",
    }
    layout = {
        "template": template(),
        "hovermode": False,
        "xaxis": {
            "title": {"text": "answers"},
            "range": [0, 1.12 * max([*counts, 4])],
            "tickformat": "d",
            **({"dtick": 1} if max([*counts, 0]) <= 8 else {}),
            "fixedrange": True,
        },
        "yaxis": {
            "tickvals": places,
            "ticktext": shown,
            "range": [len(places) - 0.5, -0.5],
            "showgrid": False,
            "fixedrange": True,
            "tickfont": {"size": 17},
        },
    }
    return go.Figure({"data": [bars], "layout": layout}, _validate=False)
