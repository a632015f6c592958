"""The Plotly template: large type, a light grid, and a transparent background."""

from functools import cache

import plotly.graph_objects as go

from fsdash.figures.palette import BACKGROUND, CATEGORICAL, GRID, INK, with_opacity

# Streamlit ships the first font; an exported figure falls back to a font of the system.
FONT = '"Source Sans", system-ui, sans-serif'


@cache
def template() -> go.layout.Template:
    """The template of every figure."""
    ink = INK
    axis = {
        "showgrid": True,
        "gridcolor": GRID,
        "zeroline": False,
        "showline": True,
        "linecolor": ink,
        "ticks": "outside",
        "tickcolor": ink,
        "title": {"font": {"size": 16}, "standoff": 10},
        "automargin": True,
    }
    layout = go.Layout(
        font={"family": FONT, "size": 15, "color": ink},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        colorway=[colour for colour in CATEGORICAL],
        xaxis=axis,
        yaxis=axis,
        hovermode="x unified",
        hoverlabel={"bgcolor": BACKGROUND, "font": {"size": 14, "color": ink}},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
        modebar={
            "bgcolor": "rgba(0,0,0,0)",
            "color": with_opacity(ink, 0.55),
            "activecolor": ink,
        },
    )
    return go.layout.Template(layout=layout)
