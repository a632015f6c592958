"""Methods at fixed budgets: what they lose of the optimum, with 95% intervals.

Both axes are logarithmic, because good methods differ by fractions of a percent. A loss below
`SMALLEST` is drawn there.

Methods with T are drawn with the T that has the best mean at each budget, in hindsight.
"""

from __future__ import annotations

from math import log10

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.palette import BLUE, FAMILY_COLOURS, GREEN, GREY, INK, with_opacity
from fsdash.figures.template import template
from fsdash.formatting import number
from fsdash.runs.summary import interval

LINES = {
    "E-Thaw": ("E-Thaw", FAMILY_COLOURS["thaw"], "solid", "diamond"),
    "E-Rolling": ("E-Rolling", FAMILY_COLOURS["rolling"], "solid", "square"),
    "E-FSVI": ("E-FSVI, best T in hindsight", BLUE, "solid", "circle"),
    "Greedy for J": ("Greedy for J, best T in hindsight", GREY, "dot", "triangle-up"),
    "Base E-VI": ("Base E-VI", FAMILY_COLOURS["VI"], "solid", "x"),
    "Base E-VI, common random numbers": (
        "Base E-VI, common random numbers",
        FAMILY_COLOURS["VI"],
        "dot",
        "x-thin-open",
    ),
    "Certainty equivalence": ("Certainty equivalence", GREEN, "solid", "star"),
    "Recommendation": ("Recommendation from samples", INK, "dash", "circle-open"),
}
"""By method: the name in the legend, colour, dash and marker."""
SMALLEST = 1e-4
LOSSES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
LOSS_LABELS = ("≤ 0.01%", "0.1%", "1%", "10%", "100%")


def budgets_figure(rows: pd.DataFrame) -> go.Figure:
    """One line per method for the rows of one domain (`fsdash.reproduce.budgets`)."""
    data = []
    for method, (name, colour, dash, symbol) in LINES.items():
        own = rows[rows["method"] == method].dropna(subset=["share"])
        if own.empty:
            continue
        table = best_in_hindsight(own)
        line = colour
        band = {"x": table["sweeps"], "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        band |= {"type": "scatter", "showlegend": False, "legendgroup": name}
        data += [
            band | {"y": loss(table["low"])},
            band
            | {"y": loss(table["high"]), "fill": "tonexty", "fillcolor": with_opacity(line, 0.15)},
            {
                "type": "scatter",
                "x": table["sweeps"],
                "y": loss(table["mean"]),
                "name": name,
                "legendgroup": name,
                "mode": "lines+markers",
                "line": {"color": line, "dash": dash, "width": 2.5},
                "marker": {"color": line, "symbol": symbol, "size": 14 if "open" in symbol else 9},
                "customdata": table[["which", "mean"]].to_numpy(),
                "hovertemplate": f"<b>{name}</b>%{{customdata[0]}}<br>%{{x:g}} sweeps: "
                "%{customdata[1]:.2%} of the optimum<extra></extra>",
            },
        ]
    ticks = sorted(rows["sweeps"].unique().tolist())
    layout = {
        "template": template(),
        "hovermode": "closest",
        "xaxis": {
            "type": "log",
            "title": {"text": "budget, in sweeps of Base E-VI"},
            "tickvals": ticks,
            "ticktext": [number(tick) for tick in ticks],
        },
        "yaxis": {
            "type": "log",
            "range": [log10(SMALLEST) - 0.1, 0.1],
            "title": {"text": "loss, as a share of the optimum"},
            "tickvals": LOSSES,
            "ticktext": LOSS_LABELS,
        },
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def loss(shares: pd.Series) -> pd.Series:
    """What is missing to the optimum, at least `SMALLEST`."""
    return (1.0 - shares).clip(lower=SMALLEST)


def best_in_hindsight(rows: pd.DataFrame) -> pd.DataFrame:
    """For one method: at each budget the mean, its 95% interval, the least and the largest share.

    A method with T has the T with the best mean, which `which` names for tooltips.
    """
    found = []
    for sweeps, at in rows.groupby("sweeps"):
        means = at.groupby("T", dropna=False)["share"].mean()
        T = means.idxmax()
        own = at[at["T"].isna() if pd.isna(T) else at["T"] == T]
        mean, low, high, _ = interval(own["share"].to_numpy())
        low, high = (mean, mean) if np.isnan(low) else (max(low, 0.0), min(high, 1.0))
        least, most = own["share"].min(), own["share"].max()
        found.append((sweeps, mean, low, high, least, most, "" if pd.isna(T) else f", T = {T}"))
    columns = ["sweeps", "mean", "low", "high", "least", "most", "which"]
    return pd.DataFrame(found, columns=columns)
