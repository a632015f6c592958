"""Bounds on regret against cost (the paper's section "Regret versus Computational Cost").

The curves are the staircases of `fsdash.theory.staircase`, one for each competitor: Base VI and
FSVI with each T. The line of the budget meets each curve at the bound that the budget pays for. The
strip below has the same axis and shows the competitor with the smallest bound for every budget. On
request there is also the bound of rolling freeze with its best horizon n, which does not compete.

Costs are drawn in operations. The lower axis shows them in sweeps of Base VI, |S|²|A| each.
"""

from collections.abc import Sequence
from math import inf, isfinite, log10

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from fsdash.figures.marks import HANDLE
from fsdash.figures.palette import (
    BACKGROUND,
    FAMILY_COLOURS,
    INK,
    TERMS,
    competitor_colour,
    competitor_label,
    with_opacity,
)
from fsdash.figures.strip import (
    CHART,
    STRIP_AXIS,
    Cell,
    budget_label,
    budget_line,
    strip,
    strip_labels,
)
from fsdash.figures.template import template
from fsdash.formatting import log_ticks, number
from fsdash.theory import BoundedRun, Constants, Regime, Sizes, fsvi_bound, trivial_bound
from fsdash.theory.budget import Bound
from fsdash.theory.staircase import Staircase, budget_range, rolling_curve, staircases

SPAN = 1e16
"""Largest ratio of two bounds on the axis; smaller bounds are marked at the lower edge."""
LABEL_HEIGHT = 0.13
"""Share of the plot's height that the label of the grey area takes."""
GREY_SHARE = 0.17
"""Smallest share of the plot's height for the grey area."""


def off_scale(figure: go.Figure) -> list[str]:
    """The competitors whose bounds are all above the range of the y axis."""
    top = 10 ** figure.layout.yaxis.range[1]
    lines = (trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines")
    # The line on the second x axis carries no bound (see `_top_axis`).
    return [line.name for line in lines if line.xaxis != "x2" and np.min(line.y) > top]


def budget_figure(
    constants: Constants,
    sizes: Sizes,
    T: ArrayLike,
    budget: float,
    regimes: Sequence[Regime],
    candidates: Sequence[BoundedRun] = (),
    bound: Bound = fsvi_bound,
    rolling: bool = False,
) -> go.Figure:
    """The staircases of `T`, the budget with the bounds it pays for, and the strip of `regimes`.

    `regimes` and `candidates` (best first) are those of an `Advice`, which may cover more values of
    T than are drawn; the winner is always drawn. `rolling` adds the bound of rolling freeze, which
    does not compete. The log axis cannot show bounds of 0.
    """
    low, high = budget_range(constants, sizes, budget=budget, regimes=regimes)
    winner = candidates[0] if candidates else None
    horizons = {1, *np.ravel(T).tolist(), *([winner.T] if winner else [])}
    drawn = staircases(constants, sizes, T=sorted(horizons), max_budget=high, bound=bound)
    trivial = trivial_bound(constants)
    bottom, top = _regret_range(drawn, winner, trivial)
    cells = _cells(regimes, sizes, high)
    bought = [choice for choice in candidates if choice.T in horizons]
    data = [
        *(_staircase(curve, sizes, high, winner) for curve in drawn),
        *([_rolling(constants, sizes, high)] if rolling else ()),
        *(_mark(choice, sizes, budget, bottom, choice is winner) for choice in bought[::-1]),
        strip(cells, "has the smallest bound"),
        _top_axis(low, high, top),
    ]
    label_side = _emptier_side(drawn, trivial, (low, high), (bottom, top))
    layout = {
        "template": template(),
        "hovermode": "closest",
        "legend": {"y": 1.13, "font": {"size": 13}, "entrywidth": 46},
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "shapes": [*_vacuous_area(trivial, top), *budget_line(budget)],
        "annotations": [
            *_vacuous_label(trivial, label_side),
            *budget_label(budget, budget / sizes.sweep, (low, high)),
            *strip_labels(cells, "smallest bound for each budget", low, high),
        ],
        **_axes(sizes, (low, high), (bottom, top)),
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


# ----------------------------------------------------------------------------------------- series


def _staircase(curve: Staircase, sizes: Sizes, high: float, winner: BoundedRun | None) -> dict:
    wins = winner is not None and curve.T == winner.T
    # The last step continues to the edge of the figure.
    cost, regret, k = (np.append(a, a[-1]) for a in (curve.cost, curve.regret, curve.k))
    cost[-1] = high
    return dict(
        type="scatter",
        x=cost,
        y=regret,
        customdata=np.column_stack((k, cost / sizes.sweep)),
        name=competitor_label(curve.T),
        mode="lines",
        line={
            "color": competitor_colour(curve.T),
            "width": 4 if wins else 2.5,
            "shape": "hv",
            "dash": "dash" if curve.T == 1 else "solid",
            "simplify": False,
        },
        hovertemplate=f"<b>{competitor_label(curve.T)}</b>, k = %{{customdata[0]:,}}<br>regret ≤ "
        "%{y:.4g}<br>cost %{customdata[1]:.4g} sweeps = %{x:.3g} operations<extra></extra>",
    )


def _rolling(constants: Constants, sizes: Sizes, high: float) -> dict:
    curve = rolling_curve(constants, sizes, max_budget=high)
    n, cost, regret = (np.append(a, a[-1]) for a in curve)
    cost[-1] = high
    colour = FAMILY_COLOURS["rolling"]
    return dict(
        type="scatter",
        x=cost,
        y=regret,
        customdata=np.column_stack((n, cost / sizes.sweep)),
        name="Rolling",
        mode="lines",
        line={"color": colour, "width": 2.5, "shape": "hv", "dash": "dot", "simplify": False},
        hovertemplate="<b>Rolling freeze</b>, n = %{customdata[0]:,}<br>regret ≤ "
        "%{y:.4g}<br>cost %{customdata[1]:.4g} sweeps = %{x:.3g} operations<extra></extra>",
    )


def _mark(choice: BoundedRun, sizes: Sizes, budget: float, bottom: float, wins: bool) -> dict:
    """The point where the budget meets a staircase; an arrow if it is below the lower edge."""
    inside = choice.regret >= bottom
    return dict(
        type="scatter",
        x=[budget],
        y=[choice.regret if inside else bottom],
        customdata=[[choice.k, choice.cost / sizes.sweep, choice.regret]],
        name=f"{competitor_label(choice.T)} for this budget",
        meta=HANDLE,
        mode="markers",
        cliponaxis=False,
        marker={
            "color": competitor_colour(choice.T),
            "symbol": "circle" if inside else "triangle-down",
            "size": 17 if wins else 10,
            "line": {"color": (INK if wins else BACKGROUND), "width": 2.5 if wins else 1},
        },
        showlegend=False,
        hovertemplate=f"<b>{competitor_label(choice.T)}</b> for this budget: "
        "k = %{customdata[0]:,}<br>regret ≤ %{customdata[2]:.4g}<br>"
        "uses %{customdata[1]:.4g} sweeps<extra></extra>",
    )


def _cells(regimes: Sequence[Regime], sizes: Sizes, high: float) -> list[Cell]:
    return [
        Cell(
            regime.start,
            min(regime.end, high),
            competitor_label(regime.T),
            competitor_colour(regime.T),
            f"from {regime.start / sizes.sweep:.4g} to {_end(regime, sizes)} sweeps",
        )
        for regime in regimes
    ]


def _end(regime: Regime, sizes: Sizes) -> str:
    return f"{regime.end / sizes.sweep:.4g}" if isfinite(regime.end) else "any number of"


def _top_axis(low: float, high: float, top: float) -> dict:
    """An invisible line: Plotly shows an axis only if something is drawn on it."""
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
    drawn: Sequence[Staircase], winner: BoundedRun | None, trivial: float
) -> tuple[float, float]:
    """The range of the y axis: from below the best bounds to some way above the trivial bound.

    The bound of Base VI goes to 0, so the axis ends at a factor below the lowest floor of FSVI.
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
        # High floors may be off the scale; the trivial bound and the winner must not be.
        top = min(top, bottom * SPAN)
        # The grey area needs room for its label of two lines.
        top = max(top, bottom * (trivial / bottom) ** (1 / (1 - GREY_SHARE)))
    bottom = max(bottom, top / SPAN)
    return float(bottom) / 1.3, float(max(top, 2 * bottom)) * 1.3


def _vacuous_area(trivial: float, top: float) -> list[dict]:
    """Grey above r_max/(1−γ), where every bound is vacuous."""
    if trivial <= 0:
        return []
    colour = TERMS["trivial"]
    across = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": trivial}
    grey = {"type": "rect", "fillcolor": with_opacity(colour, 0.2), "line": {"width": 0}}
    line = {"type": "line", "line": {"color": colour, "width": 2, "dash": "dot"}}
    return [
        {**across, **grey, "y1": top * 1e30, "layer": "below", "name": "vacuous"},
        {**across, **line, "y1": trivial, "name": "trivial"},
    ]


def _emptier_side(
    drawn: Sequence[Staircase],
    trivial: float,
    costs: tuple[float, float],
    bounds: tuple[float, float],
) -> str:
    """The side, left or right, on which fewer curves pass just above the trivial bound."""
    high = trivial * (bounds[1] / bounds[0]) ** LABEL_HEIGHT

    def passing(start: float, end: float) -> int:
        there = costs[0] * (costs[1] / costs[0]) ** np.linspace(start, end, 30)
        last = (np.searchsorted(curve.cost, there, "right") - 1 for curve in drawn)
        seen = (c.regret[k[k >= 0]] for c, k in zip(drawn, last, strict=True))
        return sum(((trivial <= regret) & (regret <= high)).any() for regret in seen)

    return "left" if passing(0, 1 / 3) < passing(2 / 3, 1) else "right"


def _vacuous_label(trivial: float, side: str) -> list[dict]:
    if trivial <= 0:
        return []
    words = f"<b>vacuous bounds</b><br>above r<sub>max</sub>/(1−γ) = {number(trivial)}"
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
            "font": {"size": 13, "color": TERMS["trivial"]},
            "bgcolor": with_opacity(BACKGROUND, 0.6),
        }
    ]


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
        "yaxis2": STRIP_AXIS,
    }


def _decades(values: tuple[float, float]) -> int:
    return max(1, round((log10(values[1]) - log10(values[0])) / 6))
