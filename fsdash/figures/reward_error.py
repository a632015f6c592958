"""Figures of the reward approximation error ε_r: against T, and its ceiling against L_f."""

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.marks import HANDLE, curve, shade, vacuous_label, vertical_line
from fsdash.figures.palette import BACKGROUND, TERMS, with_opacity
from fsdash.figures.template import template
from fsdash.theory import Constants, RewardError, reward_error, trivial_bound
from fsdash.theory.landmarks import critical_l_f, freeze_error, freeze_error_limit, peak

NAMES = {"freeze": "freeze", "end_of_horizon": "end of horizon", "total": "total"}
DASHES = {"freeze": "solid", "end_of_horizon": "dash", "total": "solid"}
WIDTHS = {"freeze": 2.5, "end_of_horizon": 2.5, "total": 4}

# The range of L_f in `ceiling_figure`, which includes the values of the paper's two panels.
L_F_VALUES = np.linspace(0.5, 1.5, 51)


def reward_error_figure(
    constants: Constants,
    T_values: np.ndarray,
    T: int | None = None,
) -> go.Figure:
    """The freeze and end-of-horizon errors and their sum against T, with a chosen T marked.

    A label marks the peak of the total. The grey area is above r_max (1−γᵀ)/(1−γ), the largest
    possible T-period reward: no error can be larger, so a bound in that area is vacuous. Curves far
    above it are cut off on purpose. Visitors can drag the line at the chosen T (`HANDLE`).
    """
    T_values = np.asarray(T_values)
    errors = reward_error(constants, T_values)
    trivial = trivial_bound(constants) * (1 - constants.gamma ** T_values.astype(float))
    top = _top(float(np.max(errors.total)), float(trivial.max()))
    show_trivial = 0 < trivial.max() <= top
    inside = T is not None and T_values[0] <= T <= T_values[-1]
    data = [
        *(_vacuous_area(T_values, trivial, top) if show_trivial else ()),
        *(_term(term, T_values, errors) for term in NAMES),
        *(_marks(constants, T, top) if inside else ()),
    ]
    line = TERMS["total"]
    layout = {
        "template": template(),
        "xaxis": {
            "title": {"text": "T, periods frozen"},
            "range": [0, float(T_values[-1]) * 1.01],
        },
        "yaxis": {
            "title": {"text": "bound on the reward error"},
            "range": [0, top],
            "fixedrange": False,
        },
        "shapes": [] if T is None else [vertical_line(T, line, "dot", HANDLE)],
        "annotations": [
            *_peak_label(constants, T_values, top),
            *([vacuous_label(TERMS["trivial"])] if show_trivial else ()),
            *([_off_scale_label(T)] if T is not None and T_values[-1] < T else ()),
        ],
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def ceiling_figure(constants: Constants, T: int) -> go.Figure:
    """The freeze error at this T, and its supremum (ceiling) over all T, against L_f.

    The ceiling grows without limit as L_f approaches 1/γ; from there on it is infinite. The axis is
    logarithmic and cannot show 0: without a freeze error the figure is empty.
    """
    critical = critical_l_f(constants.gamma)
    here = freeze_error(constants, T, l_f=L_F_VALUES)
    bounded = _below(critical)
    ceiling = np.asarray(freeze_error_limit(constants, bounded), dtype=float)
    freeze, ink = TERMS["freeze"], TERMS["total"]
    data = [
        curve(bounded, ceiling, "limit as T grows", ink, "solid", 2.5),
        curve(L_F_VALUES, here, f"freeze error at T = {T}", freeze, "solid", 2.5),
    ]
    value = freeze_error(constants, T, l_f=constants.l_f)
    if value > 0 and L_F_VALUES[0] <= constants.l_f <= L_F_VALUES[-1]:
        data.append(_mark(constants.l_f, value, "here", freeze))
    any_error = constants.alpha * constants.d_y * constants.l_r > 0
    crossed = any_error and critical <= L_F_VALUES[-1]
    labels = [] if any_error else [_empty_label()]
    layout = {
        "template": template(),
        "xaxis": {"title": {"text": "L_f, sensitivity of the dynamics"}, "range": [0.5, 1.5]},
        "yaxis": {
            "title": {"text": "freeze error"},
            "type": "log",
            "exponentformat": "power",
            "dtick": 1,
            "range": _log_range(here, ceiling),
        },
        "shapes": _no_ceiling(critical) if crossed else [],
        "annotations": [_no_ceiling_label(critical)] if crossed else labels,
    }
    return go.Figure({"data": data, "layout": layout}, _validate=False)


# ------------------------------------------------------------------------------ the error against T


def _top(largest: float, trivial: float) -> float:
    # The trivial bound is shown as soon as the curves come near it.
    top = 1.15 * trivial if largest > trivial / 3 else 1.1 * largest
    return top if top > 0 else 1.0


def _vacuous_area(T_values: np.ndarray, trivial: np.ndarray, top: float) -> tuple[dict, dict]:
    """The largest possible reward, and the grey area above it."""
    colour = TERMS["trivial"]
    above = {
        "type": "scatter",
        "x": T_values,
        "y": np.full(len(T_values), top),
        "name": "vacuous",
        "mode": "lines",
        "line": {"width": 0},
        "fill": "tonexty",
        "fillcolor": with_opacity(colour, 0.22),
        "showlegend": False,
        "hoverinfo": "skip",
    }
    return curve(T_values, trivial, "largest reward", colour, "solid", 2), above


def _term(term: str, T_values: np.ndarray, errors: RewardError) -> dict:
    values, colour = getattr(errors, term), TERMS[term]
    return curve(T_values, values, NAMES[term], colour, DASHES[term], WIDTHS[term])


def _marks(constants: Constants, T: int, top: float) -> Iterator[dict]:
    """The value of each curve at the chosen T, or an arrow at the upper edge if it is higher."""
    chosen = reward_error(constants, T)
    for term, name in NAMES.items():
        value, colour = float(getattr(chosen, term)), TERMS[term]
        symbol = "circle" if value <= top else "triangle-up"
        yield {**_mark(T, min(value, top), f"{name} at T={T}", colour, symbol), "meta": HANDLE}


def _mark(x: float, y: float, name: str, colour: str, symbol: str = "circle") -> dict:
    return {
        "type": "scatter",
        "x": [x],
        "y": [y],
        "name": name,
        "mode": "markers",
        "marker": {"color": colour, "size": 12, "symbol": symbol},
        "cliponaxis": False,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _peak_label(constants: Constants, T_values: np.ndarray, top: float) -> list[dict]:
    """A label at the peak of the total, unless it is at the right end or off the scale."""
    found = peak(constants, T_values)
    if not found.inside or found.value <= 0 or found.value > top:
        return []
    return [
        {
            "x": found.T,
            "y": found.value,
            "text": f"<b>peak at T = {found.T}</b>",
            # Near the left edge a centred label would cover the title of the axis.
            "xanchor": "left" if 0.15 * T_values[-1] > found.T else "center",
            "ax": 0,
            "ay": -34,
            "showarrow": True,
            "arrowhead": 2,
            "arrowwidth": 1.5,
            "arrowcolor": TERMS["total"],
            "bgcolor": with_opacity(BACKGROUND, 0.8),
        }
    ]


def _off_scale_label(T: int) -> dict:
    """A label for a chosen T that is to the right of the figure."""
    return {
        "text": f"<b>T = {T} ▸</b>",
        "showarrow": False,
        "name": "beyond",
        **{"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": 0.5},
    }


# --------------------------------------------------------------------------- the ceiling over L_f


def _below(critical: float) -> np.ndarray:
    """The values of L_f below 1/γ, ever closer together towards it."""
    near = critical - 0.5 ** np.arange(5, 15)
    values = np.sort(np.append(L_F_VALUES, near))
    return values[(values >= L_F_VALUES[0]) & (values < min(critical, L_F_VALUES[-1]))]


def _log_range(here: np.ndarray, ceiling: np.ndarray) -> list[float]:
    positive = np.concatenate((here, ceiling))
    positive = positive[(positive > 0) & np.isfinite(positive)]
    if not len(positive):
        return [-2.0, 2.0]
    low = float(np.log10(positive.min()))
    # At most six powers of ten; on a longer axis the differences that matter would be invisible.
    return [low - 0.3, min(float(np.log10(positive.max())) + 0.3, low + 6)]


def _no_ceiling(critical: float) -> list[dict]:
    """Grey from L_f = 1/γ on, where the ceiling is infinite."""
    grey, ink = TERMS["trivial"], TERMS["total"]
    return [
        shade(grey, x0=critical, x1=float(L_F_VALUES[-1])),
        vertical_line(critical, ink, "dash"),
    ]


def _no_ceiling_label(critical: float) -> dict:
    """A label right of the line, or left of it where a narrow screen would cut it off."""
    right = critical <= 1.1
    return {
        "x": critical,
        "xanchor": "left" if right else "right",
        "xshift": 4 if right else -4,
        "y": 0.98,
        "yref": "paper",
        "yanchor": "top",
        "align": "left" if right else "right",
        "showarrow": False,
        "font": {"size": 13},
        "bgcolor": with_opacity(BACKGROUND, 0.6),
        "text": f"<b>no limit</b><br>from 1/γ = {critical:.3f}",
    }


def _empty_label() -> dict:
    place = {"xref": "paper", "x": 0.5, "yref": "paper", "y": 0.5}
    return {"text": "no freeze error at any L_f", "showarrow": False, **place}
