"""Parts of a figure as plain dicts: a curve, and lines and areas across the whole of it.

For `fsdash.figures.unchecked`, which says why they are no Plotly objects.
"""

import numpy as np
from numpy.typing import ArrayLike

from fsdash.figures.palette import with_opacity

# A page lets the visitor drag the line of this name (fsdash/dashboard/widgets/chart.py). Labels of the same name,
# and series with it as `meta`, hold for the line's place: they fade while it is dragged.
HANDLE = "handle"


def curve(x: ArrayLike, y: ArrayLike, name: str, colour: str, dash: str, width: float) -> dict:
    """A line through the points, with its value under the pointer."""
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


def says_nothing(colour: str) -> dict:
    """The words for the grey above the most that can be lost, in its upper right corner."""
    return {
        "text": "<b>vacuous: says nothing</b>",
        "name": "vacuous",
        "showarrow": False,
        "font": {"size": 13, "color": colour},
        **{"xref": "paper", "x": 0.995, "xanchor": "right"},
        **{"yref": "paper", "y": 0.995, "yanchor": "top"},
    }


def shade(colour: str, **edges: float) -> dict:
    """A pale area behind the curves, from x0 to x1 or from y0 to y1, across all of the rest."""
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
