"""Lines and areas across a whole figure, as shapes.

Plotly's `add_vline`, `add_vrect` and `add_hrect` do the same for any grid of subplots; for one plot
they take several times as long, and a page draws on every move of a slider.
"""

import plotly.graph_objects as go

from fsdash.figures.palette import with_opacity

# A page lets the visitor drag the line of this name (fsdash/ui/chart.py).
HANDLE = "handle"


def vertical_line(
    figure: go.Figure, x: float, colour: str, dash: str, name: str | None = None
) -> None:
    """A thin line from the bottom to the top."""
    line = {"color": colour, "width": 1.5, "dash": dash}
    figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", line=line, name=name)


def shade(figure: go.Figure, colour: str, **edges: object) -> None:
    """A pale area behind the curves, from x0 to x1 or from y0 to y1, across all of the rest."""
    across = {"xref": "paper", "x0": 0, "x1": 1} if "y0" in edges else {}
    upright = {"yref": "paper", "y0": 0, "y1": 1} if "x0" in edges else {}
    figure.add_shape(
        type="rect",
        fillcolor=with_opacity(colour, 0.22),
        line={"width": 0},
        layer="below",
        **across,
        **upright,
        **edges,
    )
