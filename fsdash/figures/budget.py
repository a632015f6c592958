"""Regret against cost, and who wins on which budget (Section "Regret versus Computational Cost").

The curves are the staircases of `fsdash.theory.staircase`, for Base VI and for FSVI with each T;
where the budget's line meets them is what that budget buys. The strip below has the same axis and
shows the winner on every budget.

Costs are drawn in operations. The lower axis reads them in sweeps of Base VI, |S|²|A| each.
"""

from collections.abc import Sequence
from functools import cache
from math import inf, isfinite, log10, sqrt

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from fsdash.figures.marks import HANDLE
from fsdash.figures.palette import BACKGROUND, FAMILY_COLOURS, INK, TERMS, fsvi_colour, with_opacity
from fsdash.figures.template import template
from fsdash.figures.unchecked import unchecked
from fsdash.formatting import log_ticks, number
from fsdash.theory import Choice, Constants, Regime, Sizes, fsvi_regret, trivial_bound
from fsdash.theory.budget import Bound
from fsdash.theory.staircase import Curve, budget_range, curves

SPAN = 1e16
"""The largest ratio of two bounds in the figure; what lies below is marked at its edge."""
LABEL_HEIGHT = 0.13
"""The share of the figure's height that the label of the grey takes."""
GREY_SHARE = 0.17
"""The least share of the figure's height for what is vacuous."""
STRIP = (0.0, 0.085)
CHART = (0.13, 1.0)


def competitor(T: int) -> str:
    """How a competitor is called in legends and tables."""
    return "Base VI" if T == 1 else f"T = {T}"


@cache
def colour_of(T: int, dark: bool = False) -> str:
    """The competitor's colour on every page."""
    return (FAMILY_COLOURS["VI"] if T == 1 else fsvi_colour(T)).on(dark)


def above(figure: go.Figure) -> list[str]:
    """The competitors whose bounds all lie above what the figure shows."""
    top = 10 ** figure.layout.yaxis.range[1]
    stairs = (trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines")
    return [trace.name for trace in stairs if np.min(trace.y) > top]


def budget_figure(
    constants: Constants,
    sizes: Sizes,
    T: ArrayLike,
    budget: float,
    regimes: Sequence[Regime],
    candidates: Sequence[Choice] = (),
    bound: Bound = fsvi_regret,
    dark: bool = False,
) -> go.Figure:
    """The staircases of `T`, the budget with what it buys, and the strip of `regimes`.

    `regimes` and `candidates` (best first) are those of an `Advice`, perhaps over more values of T
    than are drawn; the winner is drawn in any case. Bounds of 0 have no place on a log axis.
    """
    low, high = budget_range(constants, sizes, budget, regimes)
    winner = candidates[0] if candidates else None
    horizons = {1, *np.ravel(T).tolist(), *([winner.T] if winner else [])}
    drawn = curves(constants, sizes, sorted(horizons), high, bound)
    trivial = trivial_bound(constants)
    bottom, top = _regret_range(drawn, winner, trivial)
    bought = [choice for choice in candidates if choice.T in horizons]
    data = [
        *(_staircase(curve, sizes, high, winner, dark) for curve in drawn),
        *(_mark(choice, sizes, budget, bottom, choice is winner, dark) for choice in bought[::-1]),
        _strip(regimes, sizes, high, dark),
        _top_axis(low, high, top),
    ]
    layout = {
        "template": template(dark),
        "hovermode": "closest",
        "legend": {"y": 1.13, "font": {"size": 13}, "entrywidth": 46},
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "shapes": [*_vacuous_area(trivial, top, dark), *_budget_line(budget, dark)],
        "annotations": [
            *_vacuous_label(trivial, _free_side(drawn, trivial, (low, high), (bottom, top)), dark),
            *_budget_label(budget, sizes, (low, high), dark),
            *_strip_labels(regimes, low, high, dark),
        ],
        **_axes(sizes, (low, high), (bottom, top)),
    }
    return unchecked(data, layout)


# ----------------------------------------------------------------------------------------- series


def _staircase(curve: Curve, sizes: Sizes, high: float, winner: Choice | None, dark: bool) -> dict:
    wins = winner is not None and curve.T == winner.T
    # The last step runs on to the edge of the figure.
    cost, regret, k = (np.append(a, a[-1]) for a in (curve.cost, curve.regret, curve.k))
    cost[-1] = high
    return dict(
        type="scatter",
        x=cost,
        y=regret,
        customdata=np.column_stack((k, cost / sizes.sweep)),
        name=competitor(curve.T),
        mode="lines",
        line={
            "color": colour_of(curve.T, dark),
            "width": 4 if wins else 2.5,
            "shape": "hv",
            "dash": "dash" if curve.T == 1 else "solid",
            "simplify": False,
        },
        hovertemplate=f"<b>{competitor(curve.T)}</b>, k = %{{customdata[0]:,}}<br>regret ≤ "
        "%{y:.4g}<br>cost %{customdata[1]:.4g} sweeps = %{x:.3g} operations<extra></extra>",
    )


def _mark(
    choice: Choice, sizes: Sizes, budget: float, bottom: float, wins: bool, dark: bool
) -> dict:
    """Where the budget meets a staircase; an arrow at the lower edge where that lies beyond it."""
    inside = choice.regret >= bottom
    return dict(
        type="scatter",
        x=[budget],
        y=[choice.regret if inside else bottom],
        customdata=[[choice.k, choice.cost / sizes.sweep, choice.regret]],
        name=f"{competitor(choice.T)} on the budget",
        meta=HANDLE,
        mode="markers",
        cliponaxis=False,
        marker={
            "color": colour_of(choice.T, dark),
            "symbol": "circle" if inside else "triangle-down",
            "size": 17 if wins else 10,
            "line": {"color": (INK if wins else BACKGROUND).on(dark), "width": 2.5 if wins else 1},
        },
        showlegend=False,
        hovertemplate=f"<b>{competitor(choice.T)}</b> on this budget: k = %{{customdata[0]:,}}<br>"
        "regret ≤ %{customdata[2]:.4g}<br>uses %{customdata[1]:.4g} sweeps<extra></extra>",
    )


def _strip(regimes: Sequence[Regime], sizes: Sizes, high: float, dark: bool) -> dict:
    """One cell a regime. Its customdata begins with a budget inside it, to jump to by a click."""
    ends = [min(regime.end, high) for regime in regimes]
    places = range(len(regimes))
    colours = [colour_of(regime.T, dark) for regime in regimes]
    # Two stops for each cell make a scale of plain colours instead of a gradient.
    stops = [((i + j) / len(regimes), colours[i]) for i in places for j in (0, 1)]
    told = [
        [sqrt(r.start * end), competitor(r.T), f"{r.start / sizes.sweep:.4g}", _end(r, sizes)]
        for r, end in zip(regimes, ends, strict=True)
    ]
    return dict(
        type="heatmap",
        x=[regime.start for regime in regimes] + ends[-1:],
        y=[0, 1],
        z=[[i + 0.5 for i in places]],
        zmin=0,
        zmax=len(regimes),
        colorscale=stops,
        showscale=False,
        name="regimes",
        customdata=[told],
        hovertemplate="<b>%{customdata[1]}</b> is best<br>from %{customdata[2]} to %{customdata[3]}"
        " sweeps<extra></extra>",
        yaxis="y2",
    )


def _end(regime: Regime, sizes: Sizes) -> str:
    return f"{regime.end / sizes.sweep:.4g}" if isfinite(regime.end) else "any number of"


def _top_axis(low: float, high: float, top: float) -> dict:
    """An axis shows only if something is drawn on it."""
    return dict(
        type="scatter",
        x=[low, high],
        y=[top, top],
        xaxis="x2",
        name="operations",
        mode="lines",
        line={"width": 0},
        showlegend=False,
        hoverinfo="skip",
    )


# ------------------------------------------------------------------------------ marks and layout


def _regret_range(
    drawn: Sequence[Curve], winner: Choice | None, trivial: float
) -> tuple[float, float]:
    """The bounds to draw: room above the trivial bound, and below it as far as the choice matters.

    Base VI's bound falls to 0 in the end; the figure stops a factor below the lowest floor.
    """
    values = np.concatenate([curve.regret for curve in drawn] or [np.empty(0)])
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return (trivial or 1) / 100, (trivial or 1) * 10
    floors = [c.regret[-1] for c in drawn if c.T > 1 and 0 < c.regret[-1] < inf]
    lowest = min(floors, default=values.max() * 1e-4)
    won = winner.regret if winner is not None and winner.regret > 0 else lowest
    bottom = max(values.min(), min(lowest / 8, max(won / 2, lowest / 1000)))
    top = min(values.max(), 3 * max(lowest, won, 4 * trivial))
    if trivial > 0:
        bottom, top = min(max(bottom, trivial / SPAN), trivial / 3), max(top, 2 * trivial)
        # Floors that are out of reach may leave the figure; its yardstick and its winner stay.
        top = min(top, bottom * SPAN)
        # The grey has room for its two lines of words.
        top = max(top, bottom * (trivial / bottom) ** (1 / (1 - GREY_SHARE)))
    bottom = max(bottom, top / SPAN)
    return float(bottom) / 1.3, float(max(top, 2 * bottom)) * 1.3


def _vacuous_area(trivial: float, top: float, dark: bool) -> list[dict]:
    """Grey above r_max/(1-γ), where no bound says anything."""
    if trivial <= 0:
        return []
    colour = TERMS["trivial"].on(dark)
    across = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": trivial}
    grey = {"type": "rect", "fillcolor": with_opacity(colour, 0.2), "line": {"width": 0}}
    line = {"type": "line", "line": {"color": colour, "width": 2, "dash": "dot"}}
    return [
        {**across, **grey, "y1": top * 1e30, "layer": "below", "name": "vacuous"},
        {**across, **line, "y1": trivial, "name": "trivial"},
    ]


def _free_side(
    drawn: Sequence[Curve], trivial: float, costs: tuple[float, float], bounds: tuple[float, float]
) -> str:
    """Where fewer curves pass just above the trivial bound, in the outer thirds of the figure."""
    high = trivial * (bounds[1] / bounds[0]) ** LABEL_HEIGHT

    def passing(start: float, end: float) -> int:
        there = costs[0] * (costs[1] / costs[0]) ** np.linspace(start, end, 30)
        last = (np.searchsorted(curve.cost, there, "right") - 1 for curve in drawn)
        seen = (c.regret[k[k >= 0]] for c, k in zip(drawn, last, strict=True))
        return sum(((trivial <= regret) & (regret <= high)).any() for regret in seen)

    return "left" if passing(0, 1 / 3) < passing(2 / 3, 1) else "right"


def _vacuous_label(trivial: float, side: str, dark: bool) -> list[dict]:
    if trivial <= 0:
        return []
    words = f"<b>vacuous: says nothing</b><br>above r<sub>max</sub>/(1−γ) = {number(trivial)}"
    return [
        {
            "xref": "paper",
            "x": 0.995 if side == "right" else 0.005,
            "xanchor": side,
            "align": side,
            "name": "vacuous",
            "yref": "y",
            "y": log10(trivial),
            "yanchor": "bottom",
            "text": words,
            "showarrow": False,
            "font": {"size": 13, "color": TERMS["trivial"].on(dark)},
            "bgcolor": with_opacity(BACKGROUND.on(dark), 0.6),
        }
    ]


def _budget_line(budget: float, dark: bool) -> list[dict]:
    if budget <= 0:
        return []
    return [
        {
            "type": "line",
            "name": HANDLE,
            "xref": "x",
            "x0": budget,
            "x1": budget,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": INK.on(dark), "width": 2.5},
        }
    ]


def _budget_label(
    budget: float, sizes: Sizes, costs: tuple[float, float], dark: bool
) -> list[dict]:
    if budget <= 0:
        return []
    left = log10(budget / costs[0]) < 0.6 * log10(costs[1] / costs[0])
    return [
        {
            "xref": "x",
            "x": log10(budget),
            "xanchor": "left" if left else "right",
            "xshift": 5 if left else -5,
            "yref": "paper",
            "y": 0.99,
            "yanchor": "top",
            "text": f"<b>◂ budget {budget / sizes.sweep:.4g} ▸</b>",
            "showarrow": False,
            "font": {"size": 13, "color": INK.on(dark)},
            "name": HANDLE,
            "bgcolor": with_opacity(BACKGROUND.on(dark), 0.8),
        }
    ]


def _strip_labels(regimes: Sequence[Regime], low: float, high: float, dark: bool) -> list[dict]:
    """Names in the cells that are wide enough for one, and the strip's own."""
    labels = [
        {
            "xref": "paper",
            "x": 0,
            "xanchor": "left",
            "yref": "paper",
            "y": STRIP[1],
            "yanchor": "bottom",
            "text": "smallest bound on each budget",
            "showarrow": False,
            "name": "strip",
            "font": {"size": 12, "color": TERMS["trivial"].on(dark)},
        }
    ]
    for regime in regimes:
        end = min(regime.end, high)
        if log10(end / regime.start) >= 0.1 * log10(high / low):
            middle = log10(sqrt(regime.start) * sqrt(end))
            labels.append(
                {
                    "xref": "x",
                    "x": middle,
                    "yref": "y2",
                    "y": 0.5,
                    "showarrow": False,
                    "text": f"<b>{competitor(regime.T)}</b>",
                    "name": "regime",
                    "font": {"size": 13, "color": BACKGROUND.on(dark)},
                }
            )
    return labels


def _axes(sizes: Sizes, costs: tuple[float, float], regrets: tuple[float, float]) -> dict:
    across, sweeps = np.log10(costs).tolist(), np.divide(costs, sizes.sweep)
    return {
        "xaxis": {
            "type": "log",
            "range": across,
            "anchor": "y2",
            **log_ticks(*sweeps, sizes.sweep),
            "title": {"text": "cost, in sweeps of Base VI"},
        },
        "xaxis2": {
            "type": "log",
            "range": across,
            "matches": "x",
            "overlaying": "x",
            "side": "top",
            "anchor": "y",
            "exponentformat": "power",
            "dtick": _decades(costs),
            "showgrid": False,
            "title": {"text": "operations", "standoff": 4, "font": {"size": 13}},
            "tickfont": {"size": 12},
        },
        "yaxis": {
            "type": "log",
            "range": np.log10(regrets).tolist(),
            "domain": CHART,
            "title": {"text": "bound on the regret"},
            "exponentformat": "power",
            "dtick": _decades(regrets),
        },
        "yaxis2": {
            "domain": STRIP,
            "range": [0, 1],
            "fixedrange": True,
            "showticklabels": False,
            "ticks": "",
            "showgrid": False,
            "showline": False,
        },
    }


def _decades(values: tuple[float, float]) -> int:
    return max(1, round((log10(values[1]) - log10(values[0])) / 6))
