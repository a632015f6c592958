"""Figures of any policy in any fast-slow model: actions, values, regret, visits and Q-values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fsdash.algorithms.optimum import Optimum
from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_policy
from fsdash.core.simulate import Path
from fsdash.figures.palette import AMOUNT, GREY, LOSS, PANEL, VERMILLION
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    Selector,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import (
    action_labels,
    actions_title,
    axis_symbol,
    axis_title,
    coordinate_of,
    coordinate_values,
    has_words,
    state_axis,
    value_label,
    without_unit,
)
from fsdash.figures.policies.paths import Series, path_figure
from fsdash.figures.policies.plane import (
    COLOUR_BAR_ROOM,
    Plane,
    colour_bar,
    coordinates,
    heat_map,
    hover_text,
    index_plane,
    plane,
    stepped_colours,
    word_colours,
)
from fsdash.figures.template import template

POLICY_VALUE = "value of the policy U<sup>π</sup>"
REGRET = "regret U* − U<sup>π</sup>"
SHOWN = {"value": POLICY_VALUE, "optimal": "optimal value U*", "regret": REGRET}
COSTS_SHOWN = {
    "value": "cost of the policy, −U<sup>π</sup>",
    "optimal": "optimal cost, −U*",
    "regret": REGRET,
}
SHOW_LABELS = ("value of the policy", "optimal value", "regret")
COST_LABELS = ("cost of the policy", "optimal cost", "regret")
AGREEMENT = ("same", "equally good", "worse")
ROUNDING = 1e-9
MAX_PATH_ROWS = 2
"""Most coordinates of the fast, and of the slow state, that a path shows."""
MAX_TEXTS = 20_000
"""Most cells that each carry a hover text; more would make the figure megabytes large."""


def action_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    cells: Plane,
    coordinate: str | None = None,
    dark: bool = False,
) -> go.Figure:
    """The action in every state of a plane, coloured by one coordinate of the action.

    Actions that are words have a colour each.
    """
    coordinate = coordinate or model.actions.names[0]
    if has_words(model.actions) and len(model.actions.names) == 1:
        return _word_figure(model, policy_XY, cells, dark)
    value_A = coordinate_values(model.actions, coordinate)
    z_RC = cells.take(value_A[policy_XY])
    colours = stepped_colours(AMOUNT, value_A, dark)
    return heat_map(
        cells, z_RC, AMOUNT, axis_title(model.actions, coordinate), dark, "%{z:g}", **colours
    )


def _word_figure(model: FastSlowMDP, policy_XY: np.ndarray, cells: Plane, dark: bool) -> go.Figure:
    labels = action_labels(model)
    z_RC = cells.take(policy_XY)
    changes = word_colours(labels, dark)
    hover = "%{z}"
    if z_RC.size <= MAX_TEXTS:
        words = np.array([*labels, ""], dtype=object)
        changes["text"] = words[np.nan_to_num(z_RC, nan=len(labels)).astype(int)]
        hover = "%{text}"
    return heat_map(cells, z_RC, AMOUNT, actions_title(model), dark, hover, **changes)


def value_figure(
    cells: Plane, U_XY: np.ndarray, name: str, dark: bool = False, loss: bool = False
) -> go.Figure:
    """A value function on a plane, or a regret with `loss`."""
    z_RC = cells.take(U_XY)
    if not loss:
        return heat_map(cells, z_RC, AMOUNT, name, dark)
    return heat_map(cells, z_RC, LOSS, name, dark, **_from_zero(z_RC))


def visit_figure(
    model: FastSlowMDP,
    share_XY: np.ndarray,
    cells: Plane,
    names: tuple[str, str] | None,
    dark: bool = False,
) -> go.Figure:
    """The discounted share of periods in each cell, summed over all other coordinates."""
    z_RC = 100 * (cells.take(share_XY) if names is None else marginal(model, share_XY, *names))
    figure = heat_map(
        cells,
        z_RC,
        AMOUNT,
        "visits, % of discounted time",
        dark,
        "%{z:.3g}%",
        **_from_zero(z_RC),
    )
    if names is not None:  # a cell stands for several states, so it cannot be clicked
        figure.update_traces(customdata=None)
    return figure


def marginal(model: FastSlowMDP, share_XY: np.ndarray, across: str, up: str) -> np.ndarray:
    """The sum over all states with the same two named coordinates, shape (R, C)."""
    found = coordinates(model)

    def position(name: str) -> np.ndarray:
        slow = name in model.slow.names
        index = np.searchsorted(
            found[name], coordinate_values(model.slow if slow else model.fast, name)
        )
        return np.broadcast_to(index[:, None] if slow else index[None], share_XY.shape)

    out_RC = np.zeros((len(found[up]), len(found[across])))
    np.add.at(out_RC, (position(up), position(across)), share_XY)
    return out_RC


def difference_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    best: Optimum,
    regret_XY: np.ndarray,
    cells: Plane,
    dark: bool = False,
) -> go.Figure:
    """Top: the regret from each state on. Bottom: whether the action in that state is optimal.

    A state can have regret although its action is optimal, because of later actions; and an action
    other than the solver's can be equally good.
    """
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.26)
    figure.add_trace(_regret_trace(cells, cells.take(regret_XY), dark), row=1, col=1)
    agreement_RC = cells.take(agreement(model, policy_XY, best))
    figure.add_trace(_agreement_trace(cells, agreement_RC, dark), row=2, col=1)
    figure.update_layout(template=template(dark), hovermode="closest", margin_t=COLOUR_BAR_ROOM)
    figure.update_xaxes(showgrid=False, **cells.across.ticks())
    figure.update_yaxes(showgrid=False, **cells.up.ticks(most=6))
    figure.update_yaxes(title_text=without_unit(cells.up.title))
    figure.update_xaxes(title_text="", row=1)
    return figure


def _regret_trace(cells: Plane, regret_RC: np.ndarray, dark: bool) -> go.Heatmap:
    return go.Heatmap(
        x=cells.across.values,
        y=cells.up.values,
        z=regret_RC,
        customdata=cells.states_RC2,
        colorscale=LOSS.on(dark),
        colorbar=colour_bar(REGRET),
        hovertemplate=hover_text(cells, "regret", "%{z:.4g}"),
        **_from_zero(regret_RC),
    )


def _agreement_trace(cells: Plane, agreement_RC: np.ndarray, dark: bool) -> go.Heatmap:
    """Three plain colours; their key is between the two panels."""
    shades = [PANEL.on(dark), GREY.on(dark), VERMILLION.on(dark)]
    key = colour_bar(
        "action compared with the optimal one",
        yref="paper",
        y=0.39,
        yanchor="bottom",
        tickvals=[0, 1, 2],
        ticktext=AGREEMENT,
        tickangle=0,
    )
    trace = go.Heatmap(
        x=cells.across.values,
        y=cells.up.values,
        z=agreement_RC,
        customdata=cells.states_RC2,
        colorscale=[[(i + edge) / 3, shade] for i, shade in enumerate(shades) for edge in (0, 1)],
        zmin=-0.5,
        zmax=2.5,
        colorbar=key,
        hovertemplate=hover_text(cells, "0 same, 1 equally good, 2 worse", "%{z}"),
    )
    if agreement_RC.size <= MAX_TEXTS:
        words = np.array([*AGREEMENT, ""])[np.nan_to_num(agreement_RC, nan=3).astype(int)]
        trace.update(text=words, hovertemplate=hover_text(cells, "action", "%{text}"))
    return trace


def agreement(model: FastSlowMDP, policy_XY: np.ndarray, best: Optimum) -> np.ndarray:
    """0 where the action is the solver's, 1 where it is equally good, 2 where it is worse.

    Padding counts as 0.
    """
    loss_XY = best.U_XY - H_policy(model, policy_XY, best.U_XY)
    worse_XY = loss_XY > 2 * best.error + ROUNDING * np.abs(best.U_XY).max()
    other_XY = (policy_XY != best.policy_PXY[0]) & model.real_XY
    return np.where(other_XY, np.where(worse_XY, 2, 1), 0)


def state_path_figure(model: FastSlowMDP, path: Path, phases: tuple[str, ...], dark=False):
    """The first coordinates of the fast states, slow states and actions on a path."""
    rows = [
        *([series] for series in _path_series(model.fast, path.y_N, 0)),
        *([series] for series in _path_series(model.slow, path.x_N, 1)),
        [_action_series(model, path.action_N)],
    ]
    return path_figure(path, rows, phases, dark)


def _path_series(axis: Axis, index_N: np.ndarray, colour: int) -> list[Series]:
    """The coordinates of an axis that have several values, at most `MAX_PATH_ROWS` of them."""
    varied = [i for i in range(len(axis.names)) if np.ptp(axis.values[:, i]) > 0] or [0]
    return [
        Series(
            axis_symbol(axis, axis.names[i]),
            axis.values[index_N, i],
            colour,
            words=coordinate_of(axis, axis.names[i]).words,
        )
        for i in varied[:MAX_PATH_ROWS]
    ]


def _action_series(model: FastSlowMDP, action_N: np.ndarray) -> Series:
    axis = model.actions
    if axis.labels:
        words = dict(enumerate(axis.labels))
        return Series(actions_title(model), action_N, 2, "points", words=words)
    words = coordinate_of(axis, axis.names[0]).words
    name = axis_symbol(axis, axis.names[0])
    return Series(name, axis.values[action_N, 0], 2, "points", words=words)


def common_figures(
    inspected: InspectedPolicy, axes: tuple[str, str] | None = None, actions: bool = True
) -> tuple[PolicyFigure, ...]:
    """The figures that every model has; `axes` names the two coordinates of the heat maps."""
    model, phase = inspected.model, phase_selector(inspected)
    cells, fixed = _planes(model, axes)

    def action(phase=0, coordinate=None, dark=False, **at):
        return action_figure(model, inspected.policy_PXY[phase], cells(at), coordinate, dark)

    costs = model.sense == "min"
    names = COSTS_SHOWN if costs else SHOWN

    def value(show, phase=0, dark=False, **at):
        if show == "regret":
            return value_figure(cells(at), inspected.regret_XY(phase), names[show], dark, loss=True)
        U_XY = inspected.optimum.U_XY if show == "optimal" else inspected.values_PXY[phase]
        return value_figure(cells(at), -U_XY if costs else U_XY, names[show], dark)

    def difference(phase=0, dark=False, **at):
        policy_XY, regret_XY = inspected.policy_PXY[phase], inspected.regret_XY(phase)
        return difference_figure(model, policy_XY, inspected.optimum, regret_XY, cells(at), dark)

    def visits(dark=False):
        share_XY = inspected.visits.share_XY
        at = {selector.name: selector.default for selector in fixed}
        return visit_figure(model, share_XY, cells(at), axes if fixed else None, dark)

    labels = COST_LABELS if costs else SHOW_LABELS
    shown = Selector("show", "show", tuple(SHOWN), labels, "value")
    first = PolicyFigure(
        "actions",
        "Actions",
        "The action that the policy takes in each state.",
        action,
        (*phase, *_action_selector(model), *fixed),
        clickable=True,
    )
    rest = (
        PolicyFigure(
            "values",
            "Values",
            f"The exact {'cost' if costs else 'value'} of each state under the true model.",
            value,
            (shown, *phase, *fixed),
            clickable=True,
        ),
        PolicyFigure(
            "difference",
            "Difference from the optimum",
            "Top: the regret from each state on. Bottom: where the policy's action is suboptimal.",
            difference,
            (*phase, *fixed),
            clickable=True,
        ),
        PolicyFigure(
            "visits",
            "Visits",
            "How often each state is visited from the initial distribution: exact discounted "
            "frequencies.",
            visits,
            clickable=not fixed,
        ),
    )
    return (first, *rest) if actions else rest


def simulated_path(inspected: InspectedPolicy) -> PolicyFigure:
    """The fast states, slow states and actions of a simulated path of any model."""

    def path(steps, seed, dark=False):
        simulated = inspected.path(seed, steps)
        return state_path_figure(inspected.model, simulated, inspected.phases, dark)

    return PolicyFigure(
        "path",
        "Simulated path",
        "One simulated path under the true dynamics. Shading marks every other cycle of a periodic "
        "policy.",
        path,
        path_selectors(),
        clickable=True,
    )


def _planes(
    model: FastSlowMDP, axes: tuple[str, str] | None
) -> tuple[Callable[[dict], Plane], tuple[Selector, ...]]:
    """A function from the values of the other coordinates to a plane, and their selectors."""
    if axes is None:
        whole = index_plane(model)
        return lambda at: whole, ()
    others = {name: found for name, found in coordinates(model).items() if name not in axes}
    single = {name: float(found[0]) for name, found in others.items() if len(found) == 1}
    return lambda at: plane(model, *axes, single | at), tuple(
        coordinate_selector(state_axis(model, name), name, found)
        for name, found in others.items()
        if name not in single
    )


def coordinate_selector(axis: Axis, name: str, values: np.ndarray, many: int = 0) -> Selector:
    """A choice of one value of a coordinate, or with `many` of several (so many by default)."""
    options = tuple(values.tolist())
    labels = tuple(value_label(axis, name, value) for value in options)
    if many:
        spread = np.linspace(0, len(options) - 1, min(many, len(options))).round().astype(int)
        default = tuple(options[i] for i in spread)
        return Selector(name, axis_title(axis, name), options, labels, default, many=True)
    # A coordinate with words is a category, whose first value is the usual one.
    default = options[0] if coordinate_of(axis, name).words else options[len(options) // 2]
    return Selector(name, axis_title(axis, name), options, labels, default)


def _action_selector(model: FastSlowMDP) -> tuple[Selector, ...]:
    names = model.actions.names
    if len(names) == 1:
        return ()
    return (Selector("coordinate", "colour by", names, names, names[0]),)


def _from_zero(z_RC: np.ndarray) -> dict:
    """A colour scale from zero, unless all values are far above it and would look alike."""
    if np.isnan(z_RC).all():  # no state has the selected values
        return {"zmin": 0.0, "zmax": 1.0}
    low, high = float(np.nanmin(z_RC)), float(np.nanmax(z_RC))
    return {"zmin": low if low > high / 2 else 0.0, "zmax": high if high > 0 else 1.0}
