"""Parts of a figure as plain dicts: curves, and lines and areas across the whole plot.

The docstring of `fsdash.figures` explains why they are not Plotly objects.
"""

import numpy as np
from numpy.typing import ArrayLike

from fsdash.figures.palette import with_opacity

HANDLE = "handle"
"""Name of the line that a visitor can drag (see fsdash/dashboard/widgets/chart.py).

Labels with this name, and series with it as `meta`, describe the line's present place: they fade
while the line is dragged."""


def curve(x: ArrayLike, y: ArrayLike, name: str, colour: str, dash: str, width: float) -> dict:
    """A line through the points that shows its value on hover."""
    return {
        "type": "scatter",
        "x": x,
        "y": np.asarray(y, dtype=float),
        "name": name,
        "mode": "lines",
        "line": {"color": colour, "dash": dash, "width": width, "simplify": False},
        "hovertemplate": "%{y:.4g}",
    }


def vertical_line(x: float, colour: str, dash: str, name: str = "") -> dict:
    """A thin line from the bottom to the top."""
    line = {"color": colour, "width": 1.5, "dash": dash}
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", "line": line, "name": name, **ends}


def vacuous_label(colour: str) -> dict:
    """A label in the upper right corner for the grey area where bounds are vacuous."""
    return {
        "text": "<b>vacuous bound</b>",
        "name": "vacuous",
        "showarrow": False,
        "font": {"size": 13, "color": colour},
        **{"xref": "paper", "x": 0.995, "xanchor": "right"},
        **{"yref": "paper", "y": 0.995, "yanchor": "top"},
    }


def shade(colour: str, **edges: float) -> dict:
    """A pale area behind the curves, from x0 to x1 or from y0 to y1, across the whole plot."""
    across = {"xref": "paper", "x0": 0, "x1": 1} if "y0" in edges else {}
    upright = {"yref": "paper", "y0": 0, "y1": 1} if "x0" in edges else {}
    return {
        "type": "rect",
        "fillcolor": with_opacity(colour, 0.22),
        "line": {"width": 0},
        "layer": "below",
        **across,
        **upright,
        **edges,
    }
