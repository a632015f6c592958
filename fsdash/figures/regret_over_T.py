"""The true regret of FSVI against T, on one model."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.palette import BLUE
from fsdash.figures.template import template


def regret_figure(table: pd.DataFrame) -> go.Figure:
    """Mean regret by T: a table with `T`, `mean_regret`, `max_regret` and `relative_regret`."""
    figure = go.Figure(layout={"template": template()})
    figure.add_scatter(
        x=table["T"],
        y=100 * table["relative_regret"],
        mode="lines+markers",
        name="FSVI",
        customdata=table[["mean_regret", "max_regret"]],
        line={"color": BLUE, "width": 2.5},
        marker={"size": 9},
        hovertemplate="T = %{x}: <b>%{y:.3g}%</b><br>mean regret %{customdata[0]:.4g}"
        "<br>largest regret %{customdata[1]:.4g}<extra></extra>",
    )
    figure.update_xaxes(title_text="periods T for which the slow state is frozen", type="log")
    figure.update_xaxes(tickvals=table["T"], ticktext=[str(T) for T in table["T"]])
    figure.update_yaxes(title_text="mean regret, %", rangemode="tozero", ticksuffix="%")
    figure.update_layout(hovermode="closest", showlegend=False)
    return figure
