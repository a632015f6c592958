"""Figures of the regret bound of FSAVI: against T, and its terms for one T."""

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.marks import HANDLE, curve, shade, vacuous_label, vertical_line
from fsdash.figures.palette import GREEN, GREY, INK, REGRET_TERMS, VERMILLION
from fsdash.figures.template import template
from fsdash.theory import Constants, fsavi_bound, repaired_bound, trivial_bound

# Name and colour of each term of `FsaviRegret`. More iterations reduce only the last one.
TERMS = {
    "reward_term": ("reward error", REGRET_TERMS["reward"]),
    "transition_term": ("transitions", REGRET_TERMS["transition"]),
    "lower_fit_term": ("misfit of the lower level", REGRET_TERMS["lower_fit"]),
    "upper_fit_term": ("misfit of the upper level", REGRET_TERMS["upper_fit"]),
    "iteration_term": ("iteration", REGRET_TERMS["iteration"]),
}
PROVEN, EXACT = "proven", "exact tables (FSVI)"
STATED = "as stated (arXiv text)"
"""Does not hold in general: one model has a larger regret than the formula allows."""


def fsavi_figure(
    constants: Constants,
    T_values: np.ndarray,
    T: int,
    k: int,
    fit: dict[str, float],
    l_frozen: float | None = None,
) -> go.Figure:
    """The bound of FSAVI against T, proven and as stated, and that of FSVI on exact tables.

    `l_frozen` is L̃ of the proven bounds, by default √(1 + L_f²). The area above r_max/(1−γ), where
    bounds are vacuous, is grey. Visitors can drag the line at the chosen T (`HANDLE`).
    """
    proven = fsavi_bound(constants, T_values, k=k, **fit, l_frozen=l_frozen).total
    stated = fsavi_bound(constants, T_values, k=k, **fit, bound="stated").total
    exact = repaired_bound(constants, T_values, k=k, l_frozen=l_frozen).total
    trivial, grey = trivial_bound(constants), GREY
    low, high = _log_range((exact, stated, proven), trivial)
    data = [
        curve(T_values, exact, EXACT, GREEN, "dot", 2.5),
        curve(T_values, stated, STATED, VERMILLION, "dash", 3),
        curve(T_values, proven, PROVEN, INK, "solid", 4),
    ]
    shapes, labels = [vertical_line(T, INK, "dot", HANDLE)], []
    if 0 < trivial < 10**high:
        level = np.full(len(T_values), trivial)
        data.append(curve(T_values, level, "r_max/(1 − γ)", grey, "solid", 2))
        shapes.append(shade(grey, y0=trivial, y1=10**high))
        labels.append(vacuous_label(grey))
    layout = {
        "template": template(),
        "xaxis": {"title": {"text": "T, periods frozen"}, "range": [0, float(T_values[-1]) + 1]},
        "yaxis": {
            "title": {"text": "bound on the regret"},
            "type": "log",
            "range": [low, high],
            "dtick": 1,
            "exponentformat": "power",
        },
        "shapes": shapes,
        "annotations": labels,
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def fsavi_terms_figure(
    constants: Constants,
    T: int,
    k: int,
    fit: dict[str, float],
    l_frozen: float | None = None,
) -> go.Figure:
    """The terms of the bound for this T: one stacked bar as stated, one proven."""
    bounds = {
        STATED: fsavi_bound(constants, T, k=k, **fit, bound="stated"),
        PROVEN: fsavi_bound(constants, T, k=k, **fit, l_frozen=l_frozen),
    }
    data = [
        {
            "type": "bar",
            "y": list(bounds),
            "x": [float(getattr(bound, term)) for bound in bounds.values()],
            "name": name,
            "orientation": "h",
            "marker": {"color": colour},
            "hovertemplate": "%{x:.4g}",
        }
        for term, (name, colour) in TERMS.items()
    ]
    layout = {
        "template": template(),
        "barmode": "stack",
        "hovermode": "y unified",
        "legend": {"traceorder": "normal"},
        "xaxis": {"title": {"text": f"terms at T = {T}"}},
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def _log_range(curves, trivial: float) -> tuple[float, float]:
    values = np.concatenate([np.asarray(curve, dtype=float) for curve in curves])
    values = values[(values > 0) & np.isfinite(values)]
    if not len(values):
        return -1.0, 1.0
    low = float(np.log10(values.min())) - 0.2
    high = float(np.log10(values.max())) + 0.2
    # The trivial bound is shown if possible; bounds far above it need not be.
    trivial_top = np.log10(trivial) + 0.4 if trivial > 0 else high
    return low, max(min(high, trivial_top + 2), low + 1, min(trivial_top, low + 4))
