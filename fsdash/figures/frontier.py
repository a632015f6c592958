"""Measured regret against work: every method and T on one model, and who wins for each budget.

The thick line is the Pareto front: the smallest regret that a budget pays for. The band above it
ends at the certificate, what could be said about these policies without solving the model. The
bound from constants is drawn where it fits on the scale.
"""

from collections.abc import Sequence
from math import inf, log10

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.choice.frontier import Frontier
from fsdash.choice.pareto import (
    Winner,
    last_on_budget,
    pareto,
    winners,
)
from fsdash.figures.learning import method_colour
from fsdash.figures.marks import HANDLE
from fsdash.figures.palette import (
    GREY,
    INK,
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

MEASURES = {"mean_regret": "mean regret", "max_regret": "largest regret"}
FRONT, CERTIFICATE, BOUND_NAME = "Pareto front", "Certificate", "Regret bound"


def point_label(method: str, T: object) -> str:
    """The name of a method with its T, such as "FSVI, T=6"."""
    return ALGORITHMS[method].label(None if pd.isna(T) else int(T))  # type: ignore[call-overload]


def frontier_figure(
    frontier: Frontier,
    T: Sequence[int],
    budget: float,
    measure: str = "mean_regret",
    *,
    certificates: bool = True,
) -> go.Figure:
    """The curves of FSVI with each of `T`, rolling freeze, MPI and Base VI, with the budget.

    `certificates` adds the band from the front up to its certificate. Points without work, the
    policies that maximise the immediate reward, are left out: the axes are logarithmic. A regret of
    0 is drawn at the lower edge.
    """
    return FrontierFigure(frontier, T, measure, certificates=certificates).at(budget)


class FrontierFigure:
    """`frontier_figure` for any budget: what does not depend on the budget is made once."""

    def __init__(
        self,
        frontier: Frontier,
        T: Sequence[int],
        measure: str = "mean_regret",
        *,
        certificates: bool = True,
    ) -> None:
        frontier = frontier.with_work()
        frame = frontier.points
        self.measure, self.certificates = measure, certificates
        self.front, self.winners = pareto(frontier, measure), winners(frontier, measure)
        self.costs = float(frame["sweeps"].min()), float(frame["sweeps"].max())
        self.regrets = _regret_range(frame, self.front, measure, frontier.precision)
        bottom, top = self.regrets
        self.bounds = _bounds(frame, T, top)
        self.curves = [_curve(rows, measure, bottom) for rows in _curves(frame, T)]

    def at(self, budget: float) -> go.Figure:
        """The figure with this budget."""
        front, measure = self.front, self.measure
        low, high = _work_range(self.costs, budget)
        bottom, top = self.regrets
        won = _cells(self.winners, high)
        data = [
            *(_band(front, measure, bottom, high) if self.certificates else ()),
            *self.bounds,
            *self.curves,
            _front(front, measure, bottom, high),
            *_mark(front, measure, budget, bottom),
            strip(won, "has the smallest regret"),
        ]
        layout = {
            "template": template(),
            "hovermode": "closest",
            "legend": {"y": 1.02, "font": {"size": 13}, "traceorder": "normal"},
            "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
            "shapes": budget_line(budget),
            "annotations": [
                *budget_label(budget, budget, (low, high)),
                *strip_labels(won, "smallest regret for each budget", low, high),
            ],
            "xaxis": {
                "type": "log",
                "range": [log10(low), log10(high)],
                "anchor": "y2",
                **log_ticks(low, high),
                "title": {"text": "work, in sweeps of Base VI"},
            },
            "yaxis": {
                "type": "log",
                "range": [log10(bottom), log10(top)],
                "domain": CHART,
                "title": {"text": MEASURES[measure]},
                **log_ticks(bottom, top),
            },
            "yaxis2": STRIP_AXIS,
        }
        return go.Figure({"data": data, "layout": layout}, _validate=False)


def _work_range(costs: tuple[float, float], budget: float) -> tuple[float, float]:
    every = [*costs, *([budget] if budget > 0 else [])]
    return min(every) / 1.3, max(every) * 1.3


def _regret_range(
    frame: pd.DataFrame, front: pd.DataFrame, measure: str, least: float
) -> tuple[float, float]:
    """From the smallest regret that counts to the largest."""
    top = max(float(frame[measure].max()), float(front["certificate"].max()), 1e-300)
    positive = frame.loc[frame[measure] > max(least, top * 1e-9), measure]
    bottom = float(positive.min()) if len(positive) else top / 100
    return max(bottom, top * 1e-6) / 2, top * 1.5


def _curves(frame: pd.DataFrame, T: Sequence[int]) -> list[pd.DataFrame]:
    """The rows of each drawn curve: FSVI by T, the other methods with all their rows."""
    fsvi = frame[frame["method"] == "fsvi"]
    drawn = [fsvi[fsvi["T"] == value] for value in T]
    drawn += [frame[frame["method"] == method] for method in ("rolling", "mpi", "vi")]
    return [rows for rows in drawn if len(rows)]


def _hover(rows: pd.DataFrame) -> tuple[list, str]:
    """The data and the text of a tooltip, shared by all points; the row's index comes first."""
    columns = ("method", "T", "k", "sweeps", "mean_regret", "max_regret", "certificate", "bound")
    data = [
        [
            index,
            point_label(method, T),
            "" if pd.isna(k) else f", k={k:,}",
            *map(number, amounts),
            "none" if pd.isna(bound) else number(bound),
        ]
        for index, method, T, k, *amounts, bound in zip(
            rows.index, *(rows[name] for name in columns), strict=True
        )
    ]
    text = (
        "<b>%{customdata[1]}</b>%{customdata[2]}<br>%{customdata[3]} sweeps<br>"
        "mean regret %{customdata[4]}, largest %{customdata[5]}<br>"
        "certificate %{customdata[6]}, bound %{customdata[7]}<extra></extra>"
    )
    return data, text


def _curve(rows: pd.DataFrame, measure: str, bottom: float) -> dict:
    method, T = rows["method"].iloc[0], rows["T"].iloc[0]
    data, text = _hover(rows)
    return {
        "type": "scatter",
        "x": rows["sweeps"].to_numpy(),
        "y": np.maximum(rows[measure].to_numpy(), bottom * 1.05),
        "customdata": data,
        "name": f"T = {T}" if method == "fsvi" else ALGORITHMS[method].title,
        "mode": "lines+markers",
        "line": {
            "color": method_colour(method, T),
            "width": 2,
            "dash": {"fsvi": "solid", "rolling": "dot"}.get(method, "dash"),
            "shape": "hv",
        },
        "marker": {"size": 7, "symbol": "diamond" if method == "rolling" else "circle"},
        "hovertemplate": text,
    }


def _staircase(
    front: pd.DataFrame, measure: str, bottom: float, high: float
) -> tuple[np.ndarray, np.ndarray]:
    """The front as a staircase that continues to the edge of the figure."""
    values = np.maximum(front[measure].to_numpy(), bottom)
    return np.append(front["sweeps"], high), np.append(values, values[-1:])


def _front(front: pd.DataFrame, measure: str, bottom: float, high: float) -> dict:
    x, y = _staircase(front, measure, bottom, high)
    return {
        "type": "scatter",
        **{"x": x, "y": y, "name": FRONT, "mode": "lines", "hoverinfo": "skip"},
        "line": {"color": INK, "width": 4, "shape": "hv"},
        "opacity": 0.55,
    }


def _band(front: pd.DataFrame, measure: str, bottom: float, high: float) -> list[dict]:
    """From the true regret of the front up to its certificate."""
    colour = GREY
    shared = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    x, low = _staircase(front, measure, bottom, high)
    _, certified = _staircase(front, "certificate", bottom, high)
    line = {"width": 0, "shape": "hv", "color": colour}
    return [
        {**shared, "x": x, "y": low, "line": line, "name": "truth", "showlegend": False},
        {
            **shared,
            **{"x": x, "y": certified, "line": {**line, "width": 1}, "name": CERTIFICATE},
            "fill": "tonexty",
            "fillcolor": with_opacity(colour, 0.2),
        },
    ]


def _bounds(frame: pd.DataFrame, T: Sequence[int], top: float) -> list[dict]:
    """The bound of FSVI, if it fits."""
    rows = frame[(frame["method"] == "fsvi") & frame["T"].isin(T) & frame["bound"].notna()]
    if rows.empty or rows["bound"].min() > top:
        return []
    best = rows.sort_values("sweeps")
    return [
        {
            "type": "scatter",
            **{"x": best["sweeps"], "y": best["bound"].cummin(), "name": BOUND_NAME},
            "mode": "lines",
            "hoverinfo": "skip",
            "line": {"color": GREY, "width": 2, "shape": "hv", "dash": "dashdot"},
        }
    ]


def _mark(front: pd.DataFrame, measure: str, budget: float, bottom: float) -> list:
    """The best point within the budget."""
    best = last_on_budget(front, budget)
    if best is None:
        return []
    data, text = _hover(front.loc[[best.name]])
    return [
        {
            "type": "scatter",
            "x": [best["sweeps"]],
            "y": [max(best[measure], bottom * 1.05)],
            "customdata": data,
            **{"name": "best for this budget", "meta": HANDLE, "mode": "markers"},
            "marker": {
                "size": 17,
                "color": method_colour(best["method"], best["T"]),
                "line": {"color": INK, "width": 2.5},
            },
            "cliponaxis": False,
            "showlegend": False,
            "hovertemplate": text,
        }
    ]


def _cells(won: Sequence[Winner], high: float) -> list[Cell]:
    return [
        Cell(
            winner.start,
            min(winner.end, high),
            _short_label(winner),
            method_colour(winner.method, winner.T),
            f"from {number(winner.start)} sweeps on"
            if winner.end == inf
            else f"from {number(winner.start)} to {number(winner.end)} sweeps",
        )
        for winner in won
    ]


def _short_label(winner: Winner) -> str:
    return f"T = {winner.T}" if winner.method == "fsvi" else ALGORITHMS[winner.method].title
