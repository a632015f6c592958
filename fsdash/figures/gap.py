"""The log of a plan: the value of the policy so far and the bound on the best one, against time."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.palette import AMBER, GREEN
from fsdash.figures.template import template


def gap_figure(log: pd.DataFrame, sense: str = "max") -> go.Figure:
    """Value and bound by seconds, from `Plan.log`; a model of costs shows costs."""
    sign = -1 if sense == "min" else 1
    certified = log[log["gap"].notna()]
    figure = go.Figure(layout={"template": template()})
    names = {"bound": ("no policy is better than", AMBER), "value": ("the policy so far", GREEN)}
    for column, (name, colour) in names.items():
        figure.add_scatter(
            x=certified["seconds"],
            y=sign * certified[column],
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2.5, "shape": "hv"},
            fill="tonexty" if column == "value" else None,
            fillcolor="rgba(128,140,150,0.18)",
            hovertemplate=f"{name}: <b>%{{y:.5g}}</b> after %{{x:.3g}} s<extra></extra>",
        )
    figure.update_xaxes(title_text="seconds", rangemode="tozero")
    figure.update_yaxes(title_text="mean cost" if sense == "min" else "mean value")
    figure.update_layout(hovermode="closest", legend={"orientation": "h", "y": 1.08})
    return figure
