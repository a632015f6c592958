"""Learning curves: the value of the policy against the work, with its spread over replications.

Each method is one line, the mean over its replications, in a 95% band (Student's t). Lines and
bands are steps: a policy is in force until the next one is evaluated, as the statistics count it.
Where the interval of the last policies is doubtful, from fewer than five replications or from two
groups of them, dots show the last policy of each replication. The legend gives the number of
replications, except while they run. The colour depends on the algorithm's family and on T. If a
chart has several variants of algorithms, dashes and markers distinguish them: linear regression is
dashed with squares, deep regression solid with diamonds, and exact algorithms are dash-dotted. The
stationary policy that is greedy for the frozen J is dotted, the rolling policy of a lower level has
long dashes. Lines that would still look the same get another dash. Some algorithms are drawn at
whole sweeps only (`Algorithm.whole_sweeps`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.figures.palette import INK, algorithm_colour, with_opacity
from fsdash.figures.template import template
from fsdash.formatting import log_ticks
from fsdash.runs.columns import BY_NAME, WORK
from fsdash.runs.measures import main_measure, optimal_value
from fsdash.runs.summary import (
    FEW,
    TWO_GROUPS,
    MeanCurve,
    ReplicationCurve,
    Series,
    mean_curves,
    replications,
)

X_TITLES = {column.name: column.axis_title for column in WORK} | {"sweeps": "work, in sweeps of {}"}
STROKES = {"linear": "dash", "deep": "solid", "exact": "dashdot", "sampled": "solid"}
LOWER_STROKES = {"stationary": "dot", "rolling": "longdash"}
MARKS = {"linear": "square", "deep": "diamond"}
OTHER_STROKES = ("solid", "dash", "dashdot", "longdash", "dot")
CAUTIONS = {"": "", FEW: " (few replications)", TWO_GROUPS: " (two groups of replications)"}
MARKERS_PER_LINE = 12
"""Approximate number of markers on a line."""
SHARE_STEPS, MAX_SHARE_TICKS = (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0), 8
SMALLEST_RANGE = 0.2
"""Smallest range of a chart of shares, so that noise does not look like a difference."""
LOWEST_SHARE = -0.2
"""Shares below it are off the scale, unless a curve ends there: a first policy can be at −800%."""


def learning_figure(
    frame: pd.DataFrame,
    x: str = "sweeps",
    y: str | None = None,
    *,
    sweep: float = 1.0,
    sweep_of: str = "Base E-VI",
    log_x: bool = True,
    runs: bool = False,
    lower_policies: Collection[str] = (),
    counts: bool = True,
) -> go.Figure:
    """The mean of y along x for each method of a tidy frame, in its 95% band.

    y is by default the share of the optimum, or mean regret where that share has no meaning
    (`fsdash.runs.measures`). `sweep` is the work of one sweep of `sweep_of`, |S||A|M, the unit of
    x = "sweeps" if the frame has no such column. `runs` adds each replication as a faint line;
    `lower_policies` adds the policy of the lower level that is greedy for J_t ("stationary") and
    the rolling one. `counts` adds the number of replications to the names of methods.
    """
    y = main_measure(frame) if y is None else y
    curves = mean_curves(frame, x, y=y, sweep=sweep, lower_policies=lower_policies)
    if log_x:
        curves = [positive for c in curves if len((positive := c.where(c.x > 0)).x)]
    data = [_band(curve) for curve in curves]
    if runs:
        for series, single in replications(
            frame, x, y=y, sweep=sweep, lower_policies=lower_policies
        ):
            data.append(_runs(series, single, log_x))
    strokes = _strokes(curves)
    data += [_mean(c, x, y, *stroke, counts) for c, stroke in zip(curves, strokes, strict=True)]
    data += [_ends(c, x, y) for c in curves if ALGORITHMS[c.algorithm].sampled]
    best = optimal_value(frame, y)
    layout = {
        "template": template(),
        "hovermode": "closest",
        "xaxis": _x_axis(curves, x, log_x) | {"title": {"text": X_TITLES[x].format(sweep_of)}},
        "yaxis": _y_axis(curves, y, best),
    }
    layout |= _optimum(best, y)
    if below := _off_scale(curves, y):
        layout["annotations"] = [*layout.get("annotations", ()), below]
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def variant(algorithm: str) -> str:
    """The variant of an algorithm, which decides the dash: linear, deep, exact or sampled."""
    for prefix, name in (("lin-", "linear"), ("deep-", "deep")):
        if algorithm.startswith(prefix):
            return name
    return "sampled" if ALGORITHMS[algorithm].sampled else "exact"


# ----------------------------------------------------------------------------------------- traces


def method_colour(algorithm: str, T: object = None) -> str:
    """The colour of a method with its T, the same on every page."""
    return algorithm_colour(ALGORITHMS[algorithm].family, None if pd.isna(T) else int(T))


def _strokes(curves: list[MeanCurve]) -> list[tuple[str, str]]:
    """The dash and the marker ("" for none) of each curve; no two share colour and dash."""
    kinds = [variant(curve.algorithm) for curve in curves]
    several = len(set(kinds)) > 1
    found, taken = [], set()
    for curve, kind in zip(curves, kinds, strict=True):
        usual = LOWER_STROKES.get(curve.policy, STROKES[kind] if several else "solid")
        colour = method_colour(curve.algorithm, curve.T)
        dash = next((d for d in (usual, *OTHER_STROKES) if (colour, d) not in taken), usual)
        taken.add((colour, dash))
        found.append((dash, MARKS.get(kind, "") if several else ""))
    return found


def _mean(curve: MeanCurve, x: str, y: str, dash: str, mark: str, counts: bool) -> dict:
    name, shown = curve.method, BY_NAME[y].format
    colour = method_colour(curve.algorithm, curve.T)
    counted = counts and ALGORITHMS[curve.algorithm].sampled
    spread = (
        ""
        if curve.n.max() == 1
        else f"<br>95% interval %{{customdata[0]:{shown}}} to "
        f"%{{customdata[1]:{shown}}}, n = %{{customdata[2]}}{CAUTIONS[curve.caution]}"
    )
    return {
        "type": "scatter",
        "x": curve.x,
        "y": curve.mean,
        "customdata": np.column_stack((curve.low, curve.high, curve.n)),
        "name": f"{name} ({_replications(curve)})" if counted else name,
        "legendgroup": name,
        "mode": "lines+markers" if mark or len(curve.x) == 1 else "lines",
        "line": {
            "color": colour,
            "width": 2.5,
            "dash": dash,
            "shape": "hv",
            "simplify": False,
        },
        "marker": {
            "color": colour,
            "size": 8,
            "symbol": mark or "circle",
            "maxdisplayed": MARKERS_PER_LINE,
        },
        "hovertemplate": f"<b>{name}</b><br>%{{y:{shown}}} after %{{x:,.3~g}} {_unit(x)}{spread}"
        "<extra></extra>",
    }


def _replications(curve: MeanCurve) -> str:
    """The number of replications, which may fall along the curve."""
    fewest, most = curve.n.min(), curve.n.max()
    return f"n={most}" if fewest == most else f"n={most} to {fewest}"


def _unit(x: str) -> str:
    return {"evaluations": "evaluations", "sweeps": "sweeps", "seconds": "s"}[x]


def _band(curve: MeanCurve) -> dict:
    """The 95% band, as one closed outline for each stretch of the curve that has an interval."""
    known = ~np.isnan(curve.low)
    xs, ys = [], []
    # Stretches with and without an interval alternate.
    for stretch in np.split(np.arange(len(known)), np.flatnonzero(np.diff(known)) + 1):
        if known[stretch[0]] and len(stretch) > 1:
            x, high = _steps(curve.x[stretch], curve.high[stretch])
            _, low = _steps(curve.x[stretch], curve.low[stretch])
            xs += [*x.tolist(), *x[::-1].tolist(), None]
            ys += [*high.tolist(), *low[::-1].tolist(), None]
    colour = method_colour(curve.algorithm, curve.T)
    return {
        "type": "scatter",
        "x": xs,
        "y": ys,
        "name": f"{curve.method}, 95% interval",
        "legendgroup": curve.method,
        "mode": "lines",
        "line": {"width": 0, "simplify": False},
        "fill": "toself",
        "fillcolor": with_opacity(colour, 0.18),
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _steps(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a step function: each value holds until the next x."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def _ends(curve: MeanCurve, x: str, y: str) -> dict:
    """The last policy of each replication, as dots; empty unless their interval is doubtful.

    The series is always there, so that a chart keeps its series while replications arrive.
    """
    ends = curve.ends if curve.caution else ()
    shown, colour = BY_NAME[y].format, method_colour(curve.algorithm, curve.T)
    return {
        "type": "scatter",
        "x": [place for place, _ in ends],
        "y": [value for _, value in ends],
        "name": f"{curve.method}, last policies",
        "legendgroup": curve.method,
        "mode": "markers",
        "marker": {"color": colour, "size": 7, "symbol": "circle-open", "line": {"width": 1.5}},
        "showlegend": False,
        "hovertemplate": f"<b>{curve.method}</b>, one replication<br>last policy %{{y:{shown}}} "
        f"after %{{x:,.3~g}} {_unit(x)}<extra></extra>",
    }


def _runs(series: Series, runs: Sequence[ReplicationCurve], log_x: bool) -> dict:
    """All replications of a method as one series, with gaps between them."""
    name, xs, ys = series.method, [], []
    for x, y in runs:
        seen = x > 0 if log_x else x >= 0
        xs += [*x[seen].tolist(), None]
        ys += [*y[seen].tolist(), None]
    return {
        "type": "scatter",
        "x": xs[:-1],
        "y": ys[:-1],
        "name": f"{name}, one run",
        "legendgroup": name,
        "mode": "lines",
        "line": {
            "color": with_opacity(method_colour(series.algorithm, series.T), 0.4),
            "width": 1,
            "shape": "hv",
        },
        "showlegend": False,
        "hoverinfo": "skip",
    }


# ----------------------------------------------------------------------------------------- layout


def _optimum(best: float, y: str) -> dict:
    """A line at the optimum, labelled on the side without curves; nothing if it is unknown."""
    if not np.isfinite(best):
        return {}
    ink = INK
    line = {
        "type": "line",
        "name": "optimum",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "y0": best,
        "y1": best,
        "line": {"color": ink, "width": 1.5, "dash": "dash"},
    }
    label = {
        "text": "optimum",
        "xref": "x domain",
        "x": 1,
        "y": best,
        "xanchor": "right",
        "yanchor": "top" if BY_NAME[y].lower_is_better else "bottom",
        "showarrow": False,
        "font": {"color": ink, "size": 14},
    }
    return {"shapes": [line], "annotations": [label]}


def _x_axis(curves: list[MeanCurve], x: str, log_x: bool) -> dict:
    axis = {"type": "log" if log_x else "linear"}
    if not curves:
        return axis | {"showticklabels": False}  # no data yet
    if not log_x:
        return axis
    ends = min(c.x.min() for c in curves), max(c.x.max() for c in curves)
    low, high = (float(np.log10(end)) for end in ends)
    pad = 0.02 * (high - low) or 0.1
    axis["range"] = [low - pad, high + pad]
    if x == "evaluations":
        return axis | {"tickmode": "linear", "dtick": 1, "exponentformat": "power"}
    return axis | log_ticks(10**low, 10**high)


def _y_axis(curves: list[MeanCurve], y: str, best: float) -> dict:
    """The range includes the means and the optimum; a wide band and low shares may be cut off."""
    axis = {"title": {"text": BY_NAME[y].axis_title}}
    means = np.concatenate([c.mean for c in curves] or [np.empty(0)])
    if y == "fraction_of_optimal":
        bottom = means.min(initial=1 - SMALLEST_RANGE) if curves else 0.0
        low = max(float(bottom), _lowest_share(curves)) - 0.05
        ticks = {"tickformat": ".0%", "tickvals": _share_ticks(low)}
        return axis | ticks | {"range": [low, 1.07]}
    if y == "relative_regret":
        axis["tickformat"] = ".0%"
    if not curves or not np.isfinite(best):
        return axis | ({} if curves else {"showticklabels": False})
    low, high = float(min(means.min(), best)), float(max(means.max(), best))
    pad = 0.07 * (high - low) or 1.0
    # The label of the optimum is below its line if regret is drawn.
    below = 2 * pad if BY_NAME[y].lower_is_better else pad
    return axis | {"range": [low - below, high + pad]}


def _lowest_share(curves: list[MeanCurve]) -> float:
    return min([LOWEST_SHARE, *(float(curve.mean[-1]) for curve in curves)])


def _off_scale(curves: list[MeanCurve], y: str) -> dict:
    """A label with the curves that come from below the range of shares; empty if there are none."""
    if y != "fraction_of_optimal":
        return {}
    lowest = _lowest_share(curves)
    # Only negative shares are cut off.
    lines = [
        f"{c.method}: lowest −{-c.mean.min():.0%}, off the scale"
        for c in curves
        if c.mean.min() < lowest
    ]
    if not lines:
        return {}
    return {
        "text": "<br>".join(lines),
        "xref": "x domain",
        "yref": "y domain",
        "x": 0.01,
        "y": 0.01,
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "showarrow": False,
        "font": {"color": INK, "size": 12},
    }


def _share_ticks(low: float) -> list[float]:
    """Ticks from the lowest value drawn to 100%: a share above does not exist."""
    step = next((step for step in SHARE_STEPS if (1 - low) / step < MAX_SHARE_TICKS), 1 - low)
    return [1 - i * step for i in range(int((1 - low) / step), -1, -1)]
