"""A strip below a chart: who wins for each budget, on the chart's own logarithmic axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, sqrt

from fsdash.figures.marks import HANDLE
from fsdash.figures.palette import BACKGROUND, INK, TERMS, with_opacity

STRIP = (0.0, 0.085)
"""The part of the figure's height that the strip takes."""
CHART = (0.13, 1.0)
"""The part above it."""
STRIP_AXIS = {
    "domain": STRIP,
    "range": [0, 1],
    "fixedrange": True,
    "showticklabels": False,
    "ticks": "",
    "showgrid": False,
    "showline": False,
}


@dataclass(frozen=True)
class Cell:
    """One winner: its budgets from `start` to `end`, as places on the axis."""

    start: float
    end: float
    label: str
    colour: str
    range: str
    """The budgets in words, for the tooltip."""

    @property
    def middle(self) -> float:
        """A budget inside the cell, which a click selects."""
        return sqrt(self.start) * sqrt(self.end)


def strip(cells: Sequence[Cell], wins: str) -> dict:
    """One cell per winner; `wins` completes the sentence "T = 6 …" of the tooltip."""
    places = range(len(cells))
    # Two equal colours for each cell make plain colours instead of a gradient.
    scale = [((i + j) / len(cells), cells[i].colour) for i in places for j in (0, 1)]
    return {
        "type": "heatmap",
        "x": [cell.start for cell in cells] + [cells[-1].end],
        "y": [0, 1],
        "z": [[i + 0.5 for i in places]],
        "zmin": 0,
        "zmax": len(cells),
        "colorscale": scale,
        "showscale": False,
        "name": "regimes",
        "customdata": [[[cell.middle, cell.label, cell.range] for cell in cells]],
        "hovertemplate": f"<b>%{{customdata[1]}}</b> {wins}<br>%{{customdata[2]}}<extra></extra>",
        "yaxis": "y2",
    }


def strip_labels(cells: Sequence[Cell], title: str, low: float, high: float) -> list[dict]:
    """The title of the strip, and labels in the cells that are wide enough."""
    labels = [
        {
            **{"xref": "paper", "x": 0, "xanchor": "left"},
            **{"yref": "paper", "y": STRIP[1], "yanchor": "bottom"},
            "text": title,
            "showarrow": False,
            "name": "strip",
            "font": {"size": 12, "color": TERMS["trivial"]},
        }
    ]
    for cell in cells:
        if log10(cell.end / cell.start) >= 0.1 * log10(high / low):
            labels.append(
                {
                    **{"xref": "x", "x": log10(cell.middle), "yref": "y2", "y": 0.5},
                    "showarrow": False,
                    "text": f"<b>{cell.label}</b>",
                    "name": "regime",
                    "font": {"size": 13, "color": BACKGROUND},
                }
            )
    return labels


def budget_line(budget: float) -> list[dict]:
    """The line of the budget, which visitors can drag."""
    if budget <= 0:
        return []
    ends = {"xref": "x", "x0": budget, "x1": budget, "yref": "paper", "y0": 0, "y1": 1}
    line = {"color": INK, "width": 2.5}
    return [{"type": "line", "name": HANDLE, **ends, "line": line}]


def budget_label(budget: float, sweeps: float, costs: tuple[float, float]) -> list[dict]:
    """The label of the budget, on the side of the line with more room."""
    if budget <= 0:
        return []
    left = log10(budget / costs[0]) < 0.6 * log10(costs[1] / costs[0])
    return [
        {
            **{"xref": "x", "x": log10(budget), "xanchor": "left" if left else "right"},
            "xshift": 5 if left else -5,
            **{"yref": "paper", "y": 0.99, "yanchor": "top"},
            "text": f"<b>◂ budget {sweeps:.4g} ▸</b>",
            "showarrow": False,
            "font": {"size": 13, "color": INK},
            "name": HANDLE,
            "bgcolor": with_opacity(BACKGROUND, 0.8),
        }
    ]
