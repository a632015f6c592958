"""Figures of the bounds: the paper's reward approximation error, ε_r, against T."""

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.palette import TERMS, with_opacity
from fsdash.figures.template import template
from fsdash.theory import Constants, reward_error, trivial_bound

NAMES = {"freeze": "freeze", "end_of_horizon": "end of horizon", "total": "total"}
DASHES = {"freeze": "solid", "end_of_horizon": "dash", "total": "solid"}
WIDTHS = {"freeze": 2.5, "end_of_horizon": 2.5, "total": 4}


def reward_error_figure(
    constants: Constants, T_values: np.ndarray, T: int, dark: bool = False
) -> go.Figure:
    """The freeze and end-of-horizon errors and their sum against T, with the chosen T marked.

    The grey area lies above r_max (1−γᵀ)/(1−γ), the largest T-period reward there is: no error can
    be larger, so a bound up there says nothing. Curves that leave the figure do so on purpose: a
    bound many times above that line has nothing to show.
    """
    T_values = np.asarray(T_values)
    curves, chosen = reward_error(constants, T_values), reward_error(constants, T)
    trivial = trivial_bound(constants) * (1 - constants.gamma ** T_values.astype(float))
    top = _top(float(np.max(curves.total)), float(trivial.max()))
    figure = go.Figure(layout={"template": template(dark)})
    if trivial.max() <= top:
        _add_trivial(figure, T_values, trivial, top, dark)
    for term in NAMES:
        figure.add_trace(_curve(term, T_values, getattr(curves, term), dark))
        figure.add_trace(_mark(term, T, float(getattr(chosen, term)), top, dark))
    figure.add_vline(x=T, line={"color": TERMS["total"].on(dark), "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title_text="T, periods frozen", range=[0, float(T_values[-1]) * 1.01])
    figure.update_yaxes(title_text="bound on the reward error", range=[0, top], fixedrange=False)
    return figure


def _top(largest: float, trivial: float) -> float:
    # The trivial line is shown as soon as the curves come near enough for it to be a yardstick.
    top = 1.15 * trivial if largest > trivial / 3 else 1.1 * largest
    return top if top > 0 else 1.0


def _curve(term: str, T_values: np.ndarray, values: np.ndarray, dark: bool) -> go.Scatter:
    return go.Scatter(
        x=T_values,
        y=np.asarray(values, dtype=float),
        name=NAMES[term],
        mode="lines",
        line={
            "color": TERMS[term].on(dark),
            "dash": DASHES[term],
            "width": WIDTHS[term],
            "simplify": False,
        },
        hovertemplate="%{y:.4g}",
    )


def _mark(term: str, T: int, value: float, top: float, dark: bool) -> go.Scatter:
    """The value at the chosen T; an arrow at the upper edge when the value lies beyond it."""
    inside = value <= top
    return go.Scatter(
        x=[T],
        y=[value if inside else top],
        name=f"{NAMES[term]} at T={T}",
        mode="markers",
        marker={
            "color": TERMS[term].on(dark),
            "size": 12,
            "symbol": "circle" if inside else "triangle-up",
        },
        cliponaxis=False,
        showlegend=False,
        hoverinfo="skip",
    )


def _add_trivial(
    figure: go.Figure, T_values: np.ndarray, trivial: np.ndarray, top: float, dark: bool
) -> None:
    colour = TERMS["trivial"].on(dark)
    figure.add_trace(
        go.Scatter(
            x=T_values,
            y=trivial,
            name="largest reward",
            mode="lines",
            line={"color": colour, "width": 2},
            hovertemplate="%{y:.4g}",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=T_values,
            y=np.full(len(T_values), top),
            name="says nothing",
            mode="lines",
            line={"width": 0},
            fill="tonexty",
            fillcolor=with_opacity(colour, 0.22),
            showlegend=False,
            hoverinfo="skip",
        )
    )
