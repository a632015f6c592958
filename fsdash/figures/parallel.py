"""Parallel coordinates: one upright axis for each setting that differs, one line for each run.

The last axis is the result, which also colours the lines: the better a run, the darker (on a dark
page, the lighter) its line. The lines are ordinary scatter traces, not Plotly's `parcoords`, which
needs WebGL and is lost in an exported SVG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import AMOUNT, GRID, INK
from fsdash.figures.template import template
from fsdash.formatting import number

MOST_TICKS = 6
"""An axis with at most so many different values has a tick at each of them."""
LOG_RATIO = 8.0
"""A positive axis whose ends differ by at least this factor is logarithmic."""
CLOSEST_TICKS = 0.06
"""Smallest distance of two ticks; of closer ones only the larger value is written."""
GAP = 3 * "\N{NO-BREAK SPACE}"
MISSING = -0.13
"""Height of the points of runs that do not have a setting; axes go from 0 to 1."""
LONG_NAME = 12
"""Characters."""
PALEST = 0.3
"""Share of the colour scale at which the line of the worst run begins."""


def parallel_figure(
    settings: Mapping[str, Sequence[float | None]],
    results: Sequence[float],
    labels: Sequence[str],
    result_title: str,
    percent: bool = False,
) -> go.Figure:
    """The settings and the result of each run as a line across upright axes.

    Parameters
    ----------
    settings : mapping of str to sequence
        By name: the value of each run, None where a run has no such setting.
    results : sequence of float
        The result of each run; more is better.
    labels : sequence of str
        The name of each run.
    result_title : str
        Title of the last axis.
    percent : bool
        Whether results are shares, which are written as percentages.
    """
    names = [*settings, result_title]
    columns = [*settings.values(), list(results)]
    heights = np.array([_heights(column) for column in columns])  # (axes, runs)
    place = np.argsort(np.argsort(results)) / max(1, len(results) - 1)
    order = np.argsort(results)  # the best line is drawn last, above the others
    texts = [[_text(value, False) for value in column] for column in columns[:-1]]
    texts.append([_text(value, percent) for value in columns[-1]])
    data = [_line(i, heights, names, texts, labels, place[i]) for i in order]
    data.append(_ticks(columns, percent))
    ends = [0, len(names) - 1]
    layout = {
        "template": template(),
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": {
            "tickvals": list(range(len(names))),
            "ticktext": [f"<b>{_in_two_lines(name)}</b>" for name in names],
            "range": [ends[0] - 0.3, ends[1] + 0.45],
            "showgrid": False,
            "showline": False,
            "side": "top",
            "ticks": "",
        },
        "yaxis": {"visible": False, "range": [1.5 * MISSING, 1.06]},
        "shapes": [_axis(i) for i in range(len(names))],
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def _in_two_lines(name: str) -> str:
    """A long name, broken at the space next to its middle."""
    spaces = [i for i, character in enumerate(name) if character == " "]
    if len(name) < LONG_NAME or not spaces:
        return name
    middle = min(spaces, key=lambda i: abs(i - len(name) / 2))
    return f"{name[:middle]}<br>{name[middle + 1 :]}"


def _is_log(known: np.ndarray) -> bool:
    return bool(known.min() > 0 and known.max() >= LOG_RATIO * known.min())


def _scale(column: Sequence[float | None], values: Sequence[float]) -> np.ndarray:
    """The heights of values on the axis of a column: from 0 at its smallest to 1 at its largest."""
    known = np.array([value for value in column if value is not None], float)
    at = np.asarray(values, float)
    if _is_log(known):
        known, at = np.log(known), np.log(at)
    low, high = known.min(), known.max()
    return np.full(len(at), 0.5) if low == high else (at - low) / (high - low)


def _heights(column: Sequence[float | None]) -> np.ndarray:
    known = [value for value in column if value is not None]
    heights = np.full(len(column), MISSING)
    heights[[value is not None for value in column]] = _scale(column, known)
    return heights


def _text(value: float | None, percent: bool) -> str:
    if value is None:
        return "not set"
    return f"{100 * value:.1f}%" if percent else number(value)


def _line(
    run: int,
    heights: np.ndarray,
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    labels: Sequence[str],
    share: float,
) -> dict:
    colour = AMOUNT.at(PALEST + (1 - PALEST) * float(share))
    return {
        "type": "scatter",
        "x": list(range(len(names))),
        "y": heights[:, run],
        "name": labels[run],
        "mode": "lines+markers",
        "line": {"color": colour, "width": 3 if share == 1 else 1.8},
        "marker": {"color": colour, "size": 7},
        "text": [f"{name}: {column[run]}" for name, column in zip(names, texts, strict=True)],
        "hovertemplate": f"<b>{labels[run]}</b><br>%{{text}}<extra></extra>",
    }


def _axis(place: int) -> dict:
    line = {"color": GRID, "width": 2}
    return {
        "type": "line",
        "x0": place,
        "x1": place,
        "y0": 0,
        "y1": 1,
        "line": line,
        "layer": "below",
    }


def _ticks(columns: Sequence[Sequence[float | None]], percent: bool) -> dict:
    """The values beside the axes, as texts to their right."""
    x: list[float] = []
    y: list[float] = []
    texts: list[str] = []
    for i, column in enumerate(columns):
        known = np.unique([value for value in column if value is not None])
        values = known if len(known) <= MOST_TICKS else known[[0, len(known) // 2, -1]]
        heights = _scale(column, values)
        apart = np.append(np.diff(heights) >= CLOSEST_TICKS, True)
        x += [i] * int(apart.sum())
        y += heights[apart].tolist()
        texts += [_text(float(v), percent and i == len(columns) - 1) for v in values[apart]]
        if any(value is None for value in column):
            x, y, texts = [*x, i], [*y, MISSING], [*texts, "–"]
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "text": [f"{GAP}{text}" for text in texts],
        "mode": "text",
        "textposition": "middle right",
        "textfont": {"color": INK, "size": 12},
        "name": "values",
        "hoverinfo": "skip",
    }
