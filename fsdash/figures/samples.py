"""Where Base E-VI ends, by the number of samples and by how the random numbers are drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.palette import BLUE, INK, VERMILLION
from fsdash.figures.template import template

COLOURS = {"inventory": BLUE, "gridworld": VERMILLION}
KINDS = {False: ("separate samples", "solid", "circle"), True: ("common", "dash", "square-open")}
"""By `common_random_numbers`: name in the legend, dash and marker."""
SAMPLES_TITLE = "samples M for each state and action"
SHARE_TITLE = "share of the optimum, last tenth"


def samples_figure(table: pd.DataFrame) -> go.Figure:
    """The share in the last tenth of the runs against M, with 95% intervals, cut off at 0 and 1."""
    data = []
    for (domain, common), rows in table.groupby(["domain", "common_random_numbers"], sort=False):
        name, dash, symbol = KINDS[bool(common)]
        colour = COLOURS[str(domain)]
        mean, low, high = (rows[column].to_numpy(float) for column in _columns("final"))
        data.append(
            {
                "type": "scatter",
                "x": rows["M"].map("{:d}".format).tolist(),
                "y": mean,
                "name": f"{domain}, {name}",
                "mode": "lines+markers",
                "line": {"color": colour, "dash": dash, "width": 2.5},
                "marker": {"color": colour, "symbol": symbol, "size": 10},
                "error_y": {
                    "type": "data",
                    "array": np.minimum(high, 1.0) - mean,
                    "arrayminus": mean - np.maximum(low, 0.0),
                    "color": colour,
                },
                "hovertemplate": f"<b>{domain}, {name}</b><br>M = %{{x}}: %{{y:.1%}}"
                "<extra></extra>",
            }
        )
    line = {"color": INK, "width": 1.5, "dash": "dash"}
    layout = {
        "template": template(),
        "hovermode": "closest",
        "xaxis": {"type": "category", "title": {"text": SAMPLES_TITLE}},
        "yaxis": {"tickformat": ".0%", "range": [0, 1.05], "title": {"text": SHARE_TITLE}},
        "shapes": [
            {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": line}
        ],
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def _columns(what: str) -> tuple[str, str, str]:
    return what, f"{what}_low", f"{what}_high"
