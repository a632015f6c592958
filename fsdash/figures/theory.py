"""Figures of the reward approximation error ε_r: against T, and its ceiling against L_f."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from fsdash.figures.marks import HANDLE, shade, vertical_line
from fsdash.figures.palette import BACKGROUND, TERMS, with_opacity
from fsdash.figures.template import template
from fsdash.theory import Constants, reward_error, trivial_bound
from fsdash.theory.landmarks import critical_l_f, freeze_ceiling, peak

NAMES = {"freeze": "freeze", "end_of_horizon": "end of horizon", "total": "total"}
DASHES = {"freeze": "solid", "end_of_horizon": "dash", "total": "solid"}
WIDTHS = {"freeze": 2.5, "end_of_horizon": 2.5, "total": 4}


# The range of L_f in `ceiling_figure`: those of the paper's two panels lie well inside.
L_F_VALUES = np.linspace(0.5, 1.5, 51)


def reward_error_figure(
    constants: Constants, T_values: np.ndarray, T: int | None = None, dark: bool = False
) -> go.Figure:
    """The freeze and end-of-horizon errors and their sum against T, with a chosen T marked.

    A label marks the peak of the total. The grey area lies above r_max (1−γᵀ)/(1−γ), the largest
    T-period reward there is: no error can be larger, so a bound up there says nothing. Curves that
    leave the figure do so on purpose: a bound many times above that line has nothing to show. The
    line at the chosen T is named "handle": a page lets the visitor drag it.
    """
    T_values = np.asarray(T_values)
    curves = reward_error(constants, T_values)
    trivial = trivial_bound(constants) * (1 - constants.gamma ** T_values.astype(float))
    top = _top(float(np.max(curves.total)), float(trivial.max()))
    figure = go.Figure(layout={"template": template(dark)})
    if trivial.max() <= top:
        _add_trivial(figure, T_values, trivial, top, dark)
    for term in NAMES:
        figure.add_trace(_curve(term, T_values, getattr(curves, term), dark))
    _add_peak(figure, constants, T_values, top, dark)
    if T is not None:
        _add_chosen(figure, constants, T, T_values, top, dark)
    figure.update_xaxes(title_text="T, periods frozen", range=[0, float(T_values[-1]) * 1.01])
    figure.update_yaxes(title_text="bound on the reward error", range=[0, top], fixedrange=False)
    return figure


def _add_chosen(
    figure: go.Figure, constants: Constants, T: int, T_values: np.ndarray, top: float, dark: bool
) -> None:
    """The line at the chosen T, and the value of each curve there if it is in the range."""
    vertical_line(figure, T, TERMS["total"].on(dark), "dot", HANDLE)
    if T_values[0] <= T <= T_values[-1]:
        chosen = reward_error(constants, T)
        for term in NAMES:
            figure.add_trace(_mark(term, T, float(getattr(chosen, term)), top, dark))


def ceiling_figure(constants: Constants, T: int, dark: bool = False) -> go.Figure:
    """The freeze error at this T against L_f, below the ceiling that it has over all T.

    The ceiling rises without limit as L_f nears 1/γ; from there on there is none. Both are drawn on
    a logarithmic axis, which has no 0: without a freeze error the figure is empty.
    """
    critical = critical_l_f(constants.gamma)
    here = np.array(
        [reward_error(_with_l_f(constants, l_f), T).freeze for l_f in L_F_VALUES], dtype=float
    )
    # The curve of the ceiling climbs to its pole, in steps that halve the way each time.
    near = critical - 0.5 ** np.arange(5, 15)
    bounded = np.sort(np.append(L_F_VALUES, near))
    bounded = bounded[(bounded >= L_F_VALUES[0]) & (bounded < min(critical, L_F_VALUES[-1]))]
    ceiling = np.asarray(freeze_ceiling(constants, bounded), dtype=float)
    figure = go.Figure(layout={"template": template(dark)})
    freeze, ink = TERMS["freeze"].on(dark), TERMS["total"].on(dark)
    figure.add_trace(_line(bounded, ceiling, "ceiling over all T", ink, "solid", 2.5))
    figure.add_trace(_line(L_F_VALUES, here, f"freeze error at T = {T}", freeze, "solid", 2.5))
    if critical <= L_F_VALUES[-1]:
        _add_critical(figure, critical, dark)
    value = float(reward_error(constants, T).freeze)
    if value > 0 and L_F_VALUES[0] <= constants.l_f <= L_F_VALUES[-1]:
        marker = {"color": freeze, "size": 12}
        figure.add_trace(
            go.Scatter(
                x=[constants.l_f],
                y=[value],
                name="here",
                mode="markers",
                marker=marker,
                showlegend=False,
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(title_text="L_f, sensitivity of the dynamics", range=[0.5, 1.5])
    figure.update_yaxes(
        title_text="freeze error",
        type="log",
        exponentformat="power",
        dtick=1,
        range=_log_range(here, ceiling),
    )
    return figure


def _with_l_f(constants: Constants, l_f: float) -> Constants:
    return replace(constants, l_f=float(l_f))


def _log_range(here: np.ndarray, ceiling: np.ndarray) -> list[float]:
    positive = np.concatenate((here, ceiling))
    positive = positive[(positive > 0) & np.isfinite(positive)]
    if not len(positive):
        return [-2.0, 2.0]
    low = float(np.log10(positive.min()))
    # Six powers of ten at most: beyond, the differences that matter could not be seen.
    return [low - 0.3, min(float(np.log10(positive.max())) + 0.3, low + 6)]


def _add_critical(figure: go.Figure, critical: float, dark: bool) -> None:
    """Grey from L_f = 1/γ on: no ceiling."""
    grey, ink = TERMS["trivial"].on(dark), TERMS["total"].on(dark)
    shade(figure, grey, x0=critical, x1=float(L_F_VALUES[-1]))
    vertical_line(figure, critical, ink, "dash")
    figure.add_annotation(
        x=critical,
        y=0.98,
        yref="paper",
        xanchor="left",
        yanchor="top",
        align="left",
        showarrow=False,
        text=f" <b>no ceiling</b><br> from L_f = 1/γ = {critical:.3f}",
    )


def _add_peak(
    figure: go.Figure, constants: Constants, T_values: np.ndarray, top: float, dark: bool
) -> None:
    """A label where the total is largest, unless that is at the right end or off the figure."""
    found = peak(constants, T_values)
    if not found.inside or found.value <= 0 or found.value > top:
        return
    figure.add_annotation(
        x=found.T,
        y=found.value,
        text=f"<b>peak at T = {found.T}</b>",
        ax=0,
        ay=-34,
        showarrow=True,
        arrowhead=2,
        arrowwidth=1.5,
        arrowcolor=TERMS["total"].on(dark),
        bgcolor=with_opacity(BACKGROUND.on(dark), 0.8),
    )


def _top(largest: float, trivial: float) -> float:
    # The trivial line is shown as soon as the curves come near enough for it to be a yardstick.
    top = 1.15 * trivial if largest > trivial / 3 else 1.1 * largest
    return top if top > 0 else 1.0


def _curve(term: str, T_values: np.ndarray, values: np.ndarray, dark: bool) -> go.Scatter:
    return _line(T_values, values, NAMES[term], TERMS[term].on(dark), DASHES[term], WIDTHS[term])


def _line(x, y, name: str, colour: str, dash: str, width: float) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=np.asarray(y, dtype=float),
        name=name,
        mode="lines",
        line={"color": colour, "dash": dash, "width": width, "simplify": False},
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
