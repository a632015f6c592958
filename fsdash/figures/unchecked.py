"""Figures from plain dicts, without Plotly's validation.

Plotly validates every name and value of a `go.Scatter` or an `add_shape`. That takes ten times as
long as computing the bounds, and a page draws its figures on every move of a slider. The validation
is therefore switched off on pages and switched on in the tests (tests/figures/conftest.py), which
check every figure in full.
"""

import plotly.graph_objects as go

VALIDATE = False


def unchecked(data: list[dict], layout: dict) -> go.Figure:
    """A figure from traces (dicts with their `type`) and a layout."""
    return go.Figure({"data": data, "layout": layout}, _validate=VALIDATE)
