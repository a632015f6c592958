"""Curves and bars of the story: convergence, the two errors, regret over T, bounds, moves."""

from collections.abc import Mapping, Sequence
from math import log10

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.marks import curve, vertical_line
from fsdash.figures.palette import (
    AMBER,
    BLUE,
    FAMILY_COLOURS,
    GREEN,
    GREY,
    INK,
    TERMS,
    VERMILLION,
    Colour,
)
from fsdash.figures.template import template
from fsdash.formatting import log_ticks, with_millions
from fsdash.theory import RewardError

MEASURED, BOUNDED = "measured", "bound"


def convergence_figure(errors: np.ndarray, gamma: float, k: int, precision: float) -> go.Figure:
    """The error of value iteration after each sweep, and γ^k, which bounds its course."""
    sweeps = np.arange(len(errors))
    data = [
        curve(sweeps, errors, "error of the values", AMBER, "solid", 3),
        curve(sweeps, gamma**sweeps, "γ to the power k", GREY, "dot", 2),
        _mark([k], [errors[min(k, len(errors) - 1)]], "now", AMBER),
    ]
    low, high = precision / 20, 1.5
    layout = _layout("sweeps k", "error, share of the largest value")
    layout["xaxis"] |= {"range": [0, float(sweeps[-1])]}
    layout["yaxis"] |= {
        "type": "log",
        "range": [log10(low), log10(high)],
        "tickvals": [1, 0.1, 0.01, 0.001],
        "ticktext": ["100%", "10%", "1%", "0.1%"],
    }
    layout["shapes"] = [_across(precision, GREEN)]
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def errors_figure(
    T_values: np.ndarray,
    measured: RewardError,
    bound: RewardError,
    T: int,
) -> go.Figure:
    """The freeze and the end-of-horizon error against T: what is true, and the paper's bound."""
    data = []
    for name, title in (("freeze", "freeze"), ("end_of_horizon", "end of horizon")):
        colour = TERMS[name]
        for errors, source, dash in ((measured, MEASURED, "solid"), (bound, BOUNDED, "dot")):
            values = np.where(np.asarray(getattr(errors, name)) > 0, getattr(errors, name), np.nan)
            data.append(curve(T_values, values, f"{title}: {source}", colour, dash, 3))
    layout = _layout("T, weeks in a block", "error of the T-period reward")
    top = float(np.max(bound.total)) * 1.5
    ticks = log_ticks(1, top)
    ticks["ticktext"] = [with_millions(value) for value in ticks["tickvals"]]
    layout["yaxis"] |= {"type": "log", "range": [0, log10(top)], **ticks}
    layout["xaxis"] |= {"dtick": 2}
    layout["shapes"] = [vertical_line(T, INK, "dot")]
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def floors_figure(
    T_values: np.ndarray,
    fsvi: Sequence[float],
    rolling: Sequence[float],
    n: int,
) -> go.Figure:
    """The mean regret of converged FSVI and of rolling freeze, against T and n."""
    data = [
        _line(T_values, fsvi, "FSVI, all iterations", BLUE, "circle"),
        _line(T_values, rolling, "rolling freeze", FAMILY_COLOURS["rolling"], "diamond"),
    ]
    positive = [value for value in (*fsvi, *rolling) if value > 0]
    low, high = min(positive) / 1.5, max(positive) * 1.5
    layout = _layout("weeks frozen: T of FSVI, n of rolling freeze", "mean regret")
    layout["yaxis"] |= {"type": "log", "range": [log10(low), log10(high)], **log_ticks(low, high)}
    layout["xaxis"] |= {"dtick": 2, "range": [1.5, float(T_values[-1]) + 0.5]}
    layout["shapes"] = [vertical_line(n, INK, "dot")]
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def moves_figure(
    moves: Sequence[float],
    fsvi: Sequence[float],
    rolling: Sequence[float],
    move: float,
    limit: float,
) -> go.Figure:
    """The share of the initial regret that freezing leaves, against the speed of the season."""
    data = [
        _line(moves, fsvi, "FSVI, best T", BLUE, "circle"),
        _line(moves, rolling, "rolling freeze, best n", FAMILY_COLOURS["rolling"], "diamond"),
    ]
    layout = _layout("probability of a move each way, per week", "regret left")
    layout["yaxis"] |= {"rangemode": "tozero", "tickformat": ".0%"}
    layout["xaxis"] |= {"tickformat": ".0%"}
    layout["shapes"] = [
        vertical_line(move, INK, "dot"),
        _across(limit, GREY),
    ]
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def bounds_figure(sizes: Mapping[str, float]) -> go.Figure:
    """Bars on a logarithmic scale, from the true regret to the bound; the first is at the top."""
    names, values = list(sizes), list(sizes.values())
    colours = (GREEN, BLUE, GREY, VERMILLION)
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "x": values,
        "text": [with_millions(value) for value in values],
        "textposition": "auto",
        "cliponaxis": False,
        "marker": {"color": [colour for colour in colours]},
        "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
    }
    high = max(values) * 2
    decades = [10**n for n in range(0, int(log10(high)) + 1, 2)]
    layout = _layout("regret", "")
    layout["xaxis"] |= {"type": "log", "range": [0, log10(high)]}
    layout["xaxis"] |= {
        "tickvals": decades,
        "ticktext": [with_millions(value) for value in decades],
    }
    layout["yaxis"] |= {"autorange": "reversed", "ticks": "", "showgrid": False}
    layout["hovermode"] = "closest"
    return go.Figure({"data": [bars], "layout": layout}, _validate=False)


def _layout(x: str, y: str) -> dict:
    return {
        "template": template(),
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}},
    }


def _line(x: Sequence[float], y: Sequence[float], name: str, colour: Colour, symbol: str) -> dict:
    line = curve(x, y, name, colour, "solid", 2.5)
    return line | {"mode": "lines+markers", "marker": {"size": 9, "symbol": symbol}}


def _mark(x: list, y: list, name: str, colour: Colour) -> dict:
    """A large point at the present value."""
    marker = {"size": 15, "color": colour, "line": {"color": INK, "width": 2}}
    return {
        "type": "scatter",
        **{"x": x, "y": y, "name": name, "mode": "markers", "marker": marker},
        **{"showlegend": False, "hoverinfo": "skip", "cliponaxis": False},
    }


def _across(y: float, colour: str) -> dict:
    """A thin line from the left to the right."""
    line = {"color": colour, "width": 1.5, "dash": "dash"}
    return {"type": "line", "line": line, "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y}
