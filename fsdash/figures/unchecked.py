"""Figures from plain dicts, without Plotly's checks.

Plotly checks every name and value that goes into a `go.Scatter` or an `add_shape`. That is the
largest single cost of a page, ten times as much as the bounds themselves, and a page draws on every
move of a slider. What the code writes does not need it there: the tests set `VALIDATE`, so every
figure that they draw is checked in full (tests/figures/conftest.py).
"""

import plotly.graph_objects as go

VALIDATE = False


def unchecked(data: list[dict], layout: dict) -> go.Figure:
    """A figure from traces, each with its `type`, and a layout, as they are."""
    return go.Figure({"data": data, "layout": layout}, _validate=VALIDATE)
