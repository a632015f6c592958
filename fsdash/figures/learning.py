"""Learning curves: the worth of the policy against the work, with its spread over replications.

Each method is one line, the mean over its replications, in a 95% band (Student's t); the legend
says how many there are. Colours belong to the family of an algorithm and to T. Where a chart has
several variants of the families they are told apart by stroke and mark: linear regression is dashed
with squares, deep solid with diamonds, exact algorithms dash-dotted. The stationary policy that is
greedy for the frozen J is dotted. Lines that would still look the same get the next stroke.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.palette import INK, algorithm_colour, with_opacity
from fsdash.figures.template import template
from fsdash.runs.methods import METHODS
from fsdash.runs.summary import labelled, replications, summarise

X_TITLES = {
    "evaluations": "value-function evaluations",
    "sweeps": "work, in sweeps of {}",
    "seconds": "seconds",
}
Y_TITLES = {
    "fraction_of_optimal": "share of the optimum",
    "mean_return": "mean return",
    "max_regret": "largest regret",
}
FORMATS = {"fraction_of_optimal": ".3f", "mean_return": ",.4~g", "max_regret": ",.4~g"}
STROKES = {"linear": "dash", "deep": "solid", "exact": "dashdot", "sampled": "solid"}
MARKS = {"linear": "square", "deep": "diamond"}
OTHER_STROKES = ("solid", "dash", "dashdot", "longdash", "dot")
MARKED = 12
"""About so many marks stand on a line."""
LEAST_Y = 0.2
"""A chart of shares spans at least this much, so that noise does not look like a difference."""


def learning_figure(
    frame: pd.DataFrame,
    x: str = "sweeps",
    y: str = "fraction_of_optimal",
    sweep: float = 1.0,
    sweep_of: str = "Base E-VI",
    log_x: bool = True,
    runs: bool = False,
    stationary: bool = False,
    optimum: bool = True,
    dark: bool = False,
) -> go.Figure:
    """The mean of y along x for each method of a tidy frame, in its 95% band.

    `sweep` is the work of one sweep of `sweep_of`, |S||A|M: the unit of x = "sweeps". `runs` adds
    each replication as a faint line, `stationary` the policy greedy for J_t of the lower level.
    """
    figure = go.Figure(layout={"template": template(dark), "hovermode": "closest"})
    summary = summarise(frame, x, y, sweep, stationary)
    if log_x:
        summary = summary[summary["x"] > 0]
    series = list(summary.groupby("method", sort=False))
    for name, part in series:
        figure.add_trace(_band(name, part, dark))
    if runs:
        for key, single in replications(labelled(frame, stationary), x, y, sweep):
            figure.add_traces([_run(key, run, log_x, dark) for run in single])
    strokes = _strokes(series, dark)
    for name, part in series:
        figure.add_trace(_mean(name, part, x, y, *strokes[name], dark))
    if optimum:
        _add_optimum(figure, frame, y, dark)
    _lay_out(figure, summary, x, y, log_x)
    figure.update_xaxes(title_text=X_TITLES[x].format(sweep_of))
    return figure


def optimal_return(frame: pd.DataFrame) -> float:
    """The mean return of the optimum, from the rows' own shares of it; nan if they have none."""
    known = frame[frame["fraction_of_optimal"] > 0]
    return float((known["mean_return"] / known["fraction_of_optimal"]).median())


def variant(algorithm: str) -> str:
    """linear, deep, exact or sampled: what decides the stroke of a line."""
    for prefix, name in (("lin-", "linear"), ("deep-", "deep")):
        if algorithm.startswith(prefix):
            return name
    return "sampled" if METHODS[algorithm].sampled else "exact"


# ----------------------------------------------------------------------------------------- traces


def _colour(algorithm: str, T: object, dark: bool) -> str:
    return algorithm_colour(METHODS[algorithm].family, None if pd.isna(T) else int(T)).on(dark)


def _strokes(series: list[tuple[str, pd.DataFrame]], dark: bool) -> dict[str, tuple[str, str]]:
    """By method: its dash and its mark ("" for none); no two with the same colour and dash."""
    firsts = {name: part.iloc[0] for name, part in series}
    kinds = {name: variant(first["algorithm"]) for name, first in firsts.items()}
    several = len(set(kinds.values())) > 1
    found, taken = {}, set()
    for name, first in firsts.items():
        usual = "dot" if first["stationary"] else STROKES[kinds[name]] if several else "solid"
        colour = _colour(first["algorithm"], first["T"], dark)
        dash = next((d for d in (usual, *OTHER_STROKES) if (colour, d) not in taken), usual)
        taken.add((colour, dash))
        found[name] = (dash, MARKS.get(kinds[name], "") if several else "")
    return found


def _mean(
    name: str, part: pd.DataFrame, x: str, y: str, dash: str, mark: str, dark: bool
) -> go.Scatter:
    first = part.iloc[0]
    colour = _colour(first["algorithm"], first["T"], dark)
    alone = part["n"].max() == 1
    shown = FORMATS[y]
    spread = "" if alone else f"<br>95% interval %{{customdata[0]:{shown}}} to " \
        f"%{{customdata[1]:{shown}}}, n = %{{customdata[2]}}"  # fmt: skip
    return go.Scatter(
        x=part["x"],
        y=part["mean"],
        customdata=np.column_stack((part["low"], part["high"], part["n"])),
        name=name if METHODS[first["algorithm"]].sampled is False else f"{name} ({_told_n(part)})",
        legendgroup=name,
        mode="lines+markers" if mark or len(part) == 1 else "lines",
        line={"color": colour, "width": 2.5, "dash": dash, "simplify": False},
        marker={"color": colour, "size": 8, "symbol": mark or "circle", "maxdisplayed": MARKED},
        hovertemplate=f"<b>{name}</b><br>%{{y:{shown}}} after %{{x:,.3~g}} {_unit(x)}{spread}"
        "<extra></extra>",
    )


def _told_n(part: pd.DataFrame) -> str:
    least, most = part["n"].min(), part["n"].max()
    return f"n={most}" if least == most else f"n={most} to {least}"


def _unit(x: str) -> str:
    return {"evaluations": "evaluations", "sweeps": "sweeps", "seconds": "s"}[x]


def _band(name: str, part: pd.DataFrame, dark: bool) -> go.Scatter:
    """The 95% band as one closed outline for each stretch that has an interval."""
    known = part["low"].notna().to_numpy()
    xs, ys = [], []
    # A stretch begins where the row before has no interval.
    for stretch in np.split(np.arange(len(part)), np.flatnonzero(np.diff(known)) + 1):
        if known[stretch[0]] and len(stretch) > 1:
            rows = part.iloc[stretch]
            xs += [*rows["x"], *rows["x"][::-1], None]
            ys += [*rows["high"], *rows["low"][::-1], None]
    colour = _colour(part.iloc[0]["algorithm"], part.iloc[0]["T"], dark)
    return go.Scatter(
        x=xs,
        y=ys,
        name=f"{name}, 95% interval",
        legendgroup=name,
        mode="lines",
        line={"width": 0, "simplify": False},
        fill="toself",
        fillcolor=with_opacity(colour, 0.18),
        showlegend=False,
        hoverinfo="skip",
    )


def _run(key: tuple, run: tuple[np.ndarray, np.ndarray], log_x: bool, dark: bool) -> go.Scatter:
    name, algorithm, T, _ = key
    x, y = run
    seen = x > 0 if log_x else x >= 0
    return go.Scatter(
        x=x[seen],
        y=y[seen],
        name=f"{name}, one run",
        legendgroup=name,
        mode="lines",
        line={"color": with_opacity(_colour(algorithm, T, dark), 0.4), "width": 1},
        showlegend=False,
        hoverinfo="skip",
    )


def _add_optimum(figure: go.Figure, frame: pd.DataFrame, y: str, dark: bool) -> None:
    best = {"fraction_of_optimal": 1.0, "mean_return": optimal_return(frame), "max_regret": 0.0}[y]
    if np.isfinite(best):
        ink = INK.on(dark)
        figure.add_hline(
            y=best, line={"color": ink, "width": 1.5, "dash": "dash"}, name="optimum",
            annotation={"text": "optimum", "xanchor": "right", "font": {"color": ink, "size": 14}},
            annotation_position="top right",
        )  # fmt: skip


# ----------------------------------------------------------------------------------------- layout


def _lay_out(figure: go.Figure, summary: pd.DataFrame, x: str, y: str, log_x: bool) -> None:
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(title_text=Y_TITLES[y], tickformat=".0%" if y.startswith("frac") else None)
    if log_x and not summary.empty:
        low, high = np.log10([summary["x"].min(), summary["x"].max()])
        pad = 0.02 * (high - low) or 0.1
        figure.update_xaxes(range=[low - pad, high + pad])
        if x == "evaluations":
            figure.update_xaxes(tickmode="linear", dtick=1, exponentformat="power")
        else:
            ticks = _ticks(10**low, 10**high)
            figure.update_xaxes(tickvals=ticks, ticktext=[f"{t:,g}" for t in ticks])
    if y == "fraction_of_optimal" and not summary.empty:
        # A wide band may leave the figure; the means may not.
        bottom = min(float(summary["mean"].min()), 1 - LEAST_Y)
        figure.update_yaxes(range=[bottom - 0.05, 1.07])


def _ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, … between two positive numbers; whole decades where there are many."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    parts = (1, 2, 5) if np.log10(high / low) <= 3.2 else (1,)
    ticks = [float(f"{m}e{d}") for d in decades for m in parts]
    return [tick for tick in ticks if 0.98 * low <= tick <= 1.02 * high]
