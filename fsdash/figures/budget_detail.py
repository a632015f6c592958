"""Details of a choice of T: the terms of the bound, the sensitivity, and the true regret.

`decomposition_figure`  the terms of the bound for one budget, over T
`sensitivity_figure`    the best T over budgets and values of one constant
`truth_figure`          the bound on a measured domain and the true regret of FSVI there
"""

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import (
    BACKGROUND,
    GREEN,
    INK,
    REGRET_TERMS,
    TERMS,
    VERMILLION,
    competitor_colour,
    competitor_label,
    with_opacity,
)
from fsdash.figures.template import template
from fsdash.formatting import log_ticks, number
from fsdash.theory import BoundedRun, Constants, Sizes, fsvi_bound, trivial_bound
from fsdash.theory.budget import BOUND_TERMS, Bound, decomposition
from fsdash.theory.sensitivity import BestChoices

TERM_COLOURS = {name: REGRET_TERMS[name] for name in BOUND_TERMS}
LONGEST_BAR = 100
"""Height at which bars that are off the scale are cut, in heights of the figure."""
HTML_SYMBOLS = {
    "gamma": "γ",
    "alpha": "α",
    "d_y": "d<sub>Y</sub>",
    "l_r": "L<sub>r</sub>",
    "l_f": "L<sub>f</sub>",
    "l_u": "L<sub>U</sub>",
    "r_max": "r<sub>max</sub>",
}


def decomposition_figure(
    constants: Constants,
    candidates: Sequence[BoundedRun],
    bound: Bound = fsvi_bound,
) -> go.Figure:
    """Stacked bars: the terms of the bound, for each competitor that the budget pays for.

    Bars much higher than the best one are off the scale and labelled with their total.
    """
    columns = decomposition(constants, candidates, bound)
    names = ["VI" if T == 1 else str(T) for T in columns["T"]]
    best = min(columns["total"], default=1.0)
    trivial = trivial_bound(constants)
    top = _bar_top(columns["total"], best, trivial)
    data = [
        {
            "type": "bar",
            "x": names,
            "name": f"{name} term",
            # No browser can draw a bar 1e300 pixels high.
            "y": [min(value, LONGEST_BAR * top) for value in columns[name]],
            "text": [number(value) for value in columns[name]],
            "textposition": "none",
            "customdata": columns["k"],
            "marker": {"color": colour},
            "hovertemplate": "<b>T = %{x}</b>, k = %{customdata:,}<br>"
            + name
            + " term %{text}<extra></extra>",
        }
        for name, colour in TERM_COLOURS.items()
    ]
    layout = {
        "template": template(),
        "barmode": "stack",
        "bargap": 0.25,
        "hovermode": "closest",
        "xaxis": {"title": {"text": "T (VI: Base VI)"}, "showgrid": False, "type": "category"},
        "yaxis": {"title": {"text": "bound on the regret"}, "range": [0, top]},
        "shapes": _trivial_shapes(trivial, top),
        "annotations": _totals(columns["total"], best, top),
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def sensitivity_figure(
    name: str,
    values: np.ndarray,
    sizes: Sizes,
    budgets: np.ndarray,
    best: BestChoices,
    here: tuple[float, float],
) -> go.Figure:
    """The best T as colours over budgets (horizontal) and values of the constant `name` (vertical).

    `best` has a row for each value. Cells with a vacuous bound are faded. `here` is the current
    budget and value, marked with a cross. Colours are those of the competitors, on a logarithmic
    scale of T.
    """
    sweeps = budgets / sizes.sweep
    data = [
        _best_T_cells(name, values, sweeps, best),
        _faded_cells(values, sweeps, best),
        _cross(here[0] / sizes.sweep, here[1]),
    ]
    layout = {
        "template": template(),
        "hovermode": "closest",
        "xaxis": {
            "type": "log",
            "title": {"text": "budget, in sweeps of Base VI"},
            "showgrid": False,
            "range": np.log10(sweeps[[0, -1]]).tolist(),
            **log_ticks(*sweeps[[0, -1]]),
        },
        "yaxis": _value_axis(name, values),
        "annotations": _vacuous_note(best),
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def truth_figure(constants: Constants, regret: Mapping[int, tuple[float, float]]) -> go.Figure:
    """The floor of the bound and the true largest regret over T, with r_max/(1−γ), on a log axis.

    `regret` maps T to the (largest, mean) regret of FSVI's policy under the true model.
    """
    T = sorted(regret)
    floor = np.ravel(fsvi_bound(constants, T, k=0).floor)
    true = np.array([regret[t][0] for t in T])
    trivial, names = trivial_bound(constants), [competitor_label(t) for t in T]

    def points(y: np.ndarray, name: str, colour: str, symbol: str) -> dict:
        return {
            "type": "scatter",
            "x": names,
            "y": y,
            "name": name,
            "mode": "lines+markers",
            "line": {"color": colour, "width": 2.5},
            "marker": {"size": 12, "symbol": symbol, "color": colour},
            "hovertemplate": f"<b>%{{x}}</b><br>{name}: %{{y:.4g}}<extra></extra>",
        }

    low, high = np.log10([min(true[true > 0].min(initial=inf), trivial), floor.max()]).tolist()
    layout = {
        "template": template(),
        "hovermode": "closest",
        "xaxis": {"title": {"text": "frozen periods"}, "type": "category"},
        "yaxis": {
            "type": "log",
            "title": {"text": "largest regret"},
            "exponentformat": "power",
            "range": [low - 0.6, high + 0.6],
            "dtick": max(1, round((high - low) / 6)),
        },
        "shapes": _trivial_shapes(trivial, 10 ** (high + 30)),
        "annotations": [
            {
                "xref": "paper",
                "x": 0.995,
                "xanchor": "right",
                "yref": "y",
                "y": np.log10(trivial),
                "yanchor": "bottom",
                "text": "vacuous above r<sub>max</sub>/(1−γ)",
                "showarrow": False,
                "font": {"size": 13, "color": TERMS["trivial"]},
            }
        ],
    }
    data = [
        points(floor, "the bound, k → ∞", VERMILLION, "diamond"),
        points(true, "the true regret", GREEN, "circle"),
    ]
    return go.Figure({"data": data, "layout": layout}, _validate=False)


# ------------------------------------------------------------------------------------------ parts


def _bar_top(totals: Sequence[float], best: float, trivial: float) -> float:
    largest = max((total for total in totals if total < inf), default=1.0)
    if best < trivial:
        largest = min(largest, 1.25 * trivial)
    # A bar four times as high as the best one is enough to show that it is worse.
    top = 1.15 * min(largest, 4 * best if best > 0 else inf)
    return top if 0 < top < inf else 1.0


def _trivial_shapes(trivial: float, top: float) -> list[dict]:
    if not 0 < trivial < top:
        return []
    colour = TERMS["trivial"]
    across = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": trivial, "layer": "below"}
    return [
        {
            **across,
            "type": "rect",
            "y1": top,
            "fillcolor": with_opacity(colour, 0.2),
            "line": {"width": 0},
            "name": "vacuous",
        },
        {
            **across,
            "type": "line",
            "y1": trivial,
            "name": "trivial",
            "line": {"color": colour, "width": 2, "dash": "dot"},
        },
    ]


def _totals(totals: Sequence[float], best: float, top: float) -> list[dict]:
    """The total above each bar, with an arrow if the bar is off the scale."""
    # With many bars there is room for the label of the best one only.
    shown = list(range(len(totals))) if len(totals) <= 12 else [totals.index(best)]
    labels = []
    for i in shown:
        cut = totals[i] > top
        text = number(totals[i]) + ("↑" if cut else "")
        labels.append(
            {
                "x": i,
                "xref": "x",
                "y": min(totals[i], top),
                "yref": "y",
                "name": "total",
                "yanchor": "top" if cut else "bottom",
                "showarrow": False,
                "text": f"<b>{text} best</b>" if totals[i] == best else text,
                "font": {"size": 14, "color": INK},
                "bgcolor": with_opacity(BACKGROUND, 0.8 if cut else 0),
            }
        )
    return labels


def _best_T_cells(name: str, values: np.ndarray, sweeps: np.ndarray, best: BestChoices) -> dict:
    names = {T: competitor_label(T) if T else "no run" for T in np.unique(best.T).tolist()}
    # T = 1 is Base VI, so log2 T puts it at 0, one unit before T = 2.
    z = np.log2(np.where(best.T > 0, best.T, np.nan))
    longest = max(float(np.nanmax(z, initial=1.0)), 2.0)
    return {
        "type": "heatmap",
        "x": sweeps,
        "y": values,
        "z": z,
        "zmin": 0,
        "zmax": longest,
        "colorscale": _colour_scale(longest),
        "name": "best T",
        "customdata": np.dstack((best.k, best.regret)),
        "text": [[names[T] for T in row] for row in best.T.tolist()],
        "hovertext": np.where(best.vacuous, "vacuous", "informative"),
        "colorbar": _colour_bar(longest),
        "hovertemplate": "<b>%{text}</b>, k = %{customdata[0]:,}<br>budget %{x:.3g} sweeps, "
        f"{HTML_SYMBOLS[name]} = %{{y:.4g}}<br>regret ≤ %{{customdata[1]:.4g}}, %{{hovertext}}"
        "<extra></extra>",
    }


def _faded_cells(values: np.ndarray, sweeps: np.ndarray, best: BestChoices) -> dict:
    """A layer of the background's colour over the cells with a vacuous bound."""
    colour = with_opacity(BACKGROUND, 0.72)
    return {
        "type": "heatmap",
        "x": sweeps,
        "y": values,
        "z": np.where(best.vacuous, 1.0, np.nan),
        "colorscale": [[0, colour], [1, colour]],
        "showscale": False,
        "hoverinfo": "skip",
        "name": "vacuous",
    }


def _cross(x: float, y: float) -> dict:
    """The current budget and value."""
    return {
        "type": "scatter",
        "x": [x],
        "y": [y],
        "mode": "markers",
        "marker": {
            "symbol": "cross",
            "size": 15,
            "color": INK,
            "line": {"color": BACKGROUND, "width": 2},
        },
        "name": "here",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _colour_scale(longest: float) -> list[list]:
    """The colour of Base VI up to half a unit, then the colours of FSVI over log2 T."""
    vi = competitor_colour(1)
    steps = np.linspace(1.0, longest, 24)
    ramp = [[step / longest, competitor_colour(max(2, round(2**step)))] for step in steps]
    return [[0, vi], [0.5 / longest, vi], [0.5 / longest, ramp[0][1]], *ramp]


def _colour_bar(longest: float) -> dict:
    ticks = [0, *range(1, int(longest) + 1)]
    return {
        "title": {"text": "best T"},
        "thickness": 14,
        "outlinewidth": 0,
        "tickvals": ticks,
        "ticktext": ["VI", *(str(2**t) for t in ticks[1:])],
    }


def _value_axis(name: str, values: np.ndarray) -> dict:
    low, high = values[[0, -1]].tolist()
    axis = {"title": {"text": HTML_SYMBOLS[name]}, "showgrid": False}
    if name == "gamma":  # its values are evenly spaced in 1−γ, which a log axis cannot show
        return {**axis, "range": [low, high]}
    return {
        **axis,
        "type": "log",
        "range": np.log10([low, high]).tolist(),
        "exponentformat": "power",
    }


def _vacuous_note(best: BestChoices) -> list[dict]:
    if not best.vacuous.any():
        return []
    return [
        {
            "xref": "paper",
            "x": 0.99,
            "xanchor": "right",
            "yref": "paper",
            "y": 1,
            "name": "vacuous",
            "yanchor": "bottom",
            "showarrow": False,
            "text": "faded: the smallest bound is vacuous",
            "font": {"size": 13, "color": TERMS["trivial"]},
        }
    ]
