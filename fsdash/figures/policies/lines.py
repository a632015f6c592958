"""What a policy decides, as lines over one coordinate for several values of another."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import CATEGORICAL, GREY
from fsdash.figures.policies.plane import Plane
from fsdash.figures.template import template

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def lines_figure(
    cells: Plane,
    z_RC: np.ndarray,
    symbol: str,
    chosen: tuple[float, ...],
    y_title: str,
    diagonal: str,
    shape: str = "hvh",
) -> go.Figure:
    """One line for each chosen value of the plane's vertical coordinate.

    `symbol` is that of the vertical coordinate. `diagonal` names the thin line where the value
    equals the horizontal coordinate. Lines differ in dash as well as in colour.
    """
    figure = go.Figure(layout={"template": template()})
    across = cells.across.values
    figure.add_scatter(
        x=across,
        y=across,
        mode="lines",
        name=diagonal,
        hoverinfo="skip",
        line={"color": GREY, "width": 1.5, "dash": "dot"},
    )
    for i, value in enumerate(chosen):
        row = int(np.searchsorted(cells.up.values, value))
        colour = CATEGORICAL[i % len(CATEGORICAL)]
        figure.add_scatter(
            x=across,
            y=z_RC[row],
            mode="lines",
            name=f"{symbol} = {value:g}",
            line={"color": colour, "width": 2.5, "shape": shape, "dash": DASHES[i % len(DASHES)]},
            customdata=cells.states_RC2[row],
            hovertemplate="%{y:g}",
        )
    figure.update_xaxes(title_text=cells.across.title)
    figure.update_yaxes(title_text=y_title, rangemode="tozero")
    return figure
