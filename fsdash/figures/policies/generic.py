"""Figures of any policy in any model: actions, values, difference from the optimum, visits.

A model of costs (`sense="min"`) shows costs: minus the values.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.algorithms.optimum import Optimum
from fsdash.core.compare import disagreement
from fsdash.core.model import FastSlowMDP
from fsdash.figures.palette import AMOUNT, BACKGROUND, GREY, LOSS, PANEL, VERMILLION
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    Selector,
    phase_selector,
)
from fsdash.figures.policies.labels import (
    action_labels,
    actions_title,
    axis_title,
    coordinate_values,
    has_words,
)
from fsdash.figures.policies.maps import (
    MAX_KEY,
    MAX_TEXTS,
    action_colours,
    heat_map,
    hover_text,
    word_colours,
    word_map,
    word_shades,
)
from fsdash.figures.policies.marks import add_texts, cell_labels, label_sizes
from fsdash.figures.policies.plane import Plane, coordinates
from fsdash.figures.policies.slices import Slices

REGRET = "regret U* − U<sup>π</sup>"
SHOWN = {
    "value": "value of the policy U<sup>π</sup>",
    "optimal": "optimal value U*",
    "regret": REGRET,
}
COSTS_SHOWN = {
    "value": "cost of the policy, −U<sup>π</sup>",
    "optimal": "optimal cost, −U*",
    "regret": REGRET,
}
SHOW_LABELS = ("value of the policy", "optimal value", "regret")
COST_LABELS = ("cost of the policy", "optimal cost", "regret")
AGREEMENT = ("optimal action", "equally good", "worse")
DIFFERENCES = {"action": "action", "loss": "loss of the action", "regret": "regret"}
LOSS_NAME = "loss of this action alone, U* − Q*(s, π(s))"


def action_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    cells: Plane,
    coordinate: str | None = None,
) -> go.Figure:
    """The action in every state of a plane, coloured by one coordinate of the action.

    Actions that are words have a colour each.
    """
    coordinate = coordinate or model.actions.names[0]
    if has_words(model.actions) and len(model.actions.names) == 1:
        return _word_figure(model, policy_XY, cells)
    value_A = coordinate_values(model.actions, coordinate)
    return heat_map(
        cells,
        cells.take(value_A[policy_XY]),
        AMOUNT,
        axis_title(model.actions, coordinate),
        "%{z:g}",
        **action_colours(value_A),
    )


def _word_figure(model: FastSlowMDP, policy_XY: np.ndarray, cells: Plane) -> go.Figure:
    labels, title = action_labels(model), actions_title(model)
    if len(labels) <= MAX_KEY:
        shades = word_shades(len(labels))
        figure = word_map(cells, policy_XY, labels, shades, title)
        if (text_RC := cell_labels(model, cells, policy_XY)) is not None:
            add_texts(figure, cells, text_RC, BACKGROUND, label_sizes(text_RC, 13))
        return figure
    z_RC, changes = cells.take(policy_XY), word_colours(labels)
    hover = "%{z}"
    if z_RC.size <= MAX_TEXTS:
        changes["text"], hover = cells.write(labels, policy_XY), "%{text}"
    return heat_map(cells, z_RC, AMOUNT, title, hover, **changes)


def value_figure(cells: Plane, U_XY: np.ndarray, name: str, loss: bool = False) -> go.Figure:
    """A value function on a plane, or a regret with `loss`."""
    z_RC = cells.take(U_XY)
    if not loss:
        return heat_map(cells, z_RC, AMOUNT, name)
    return heat_map(cells, z_RC, LOSS, name, **_from_zero(z_RC))


def visit_figure(
    model: FastSlowMDP,
    share_XY: np.ndarray,
    cells: Plane,
    names: tuple[str, str] | None,
) -> go.Figure:
    """The discounted share of periods in each cell, summed over all other coordinates."""
    z_RC = 100 * (cells.take(share_XY) if names is None else marginal(model, share_XY, *names))
    figure = heat_map(
        cells, z_RC, AMOUNT, "visits, % of discounted time", "%{z:.3g}%", **_from_zero(z_RC)
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


def agreement_figure(
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    best: Optimum,
    cells: Plane,
) -> go.Figure:
    """Whether the action in each state is the optimal one, equally good, or worse."""
    shades = [PANEL, GREY, VERMILLION]
    kind_XY = agreement(model, policy_XY, best)
    figure = word_map(cells, kind_XY, AGREEMENT, shades, "")
    if cells.x_RC.size > MAX_TEXTS:
        return figure
    labels = action_labels(model)
    takes, wants = (
        cells.write([f"{who} {label}" for label in labels], XY)
        for who, XY in (("takes", policy_XY), ("optimal:", best.policy_PXY[0]))
    )
    text_RC = cells.write(AGREEMENT, kind_XY) + "</b><br>" + takes + "<br>" + wants + "<b>"
    figure.update_traces(
        text=text_RC,
        hovertemplate=hover_text(cells, "action", "%{text}"),
        selector={"type": "heatmap"},
    )
    return figure


def agreement(model: FastSlowMDP, policy_XY: np.ndarray, best: Optimum) -> np.ndarray:
    """0 where the action is the solver's, 1 where it is equally good, 2 where it is worse.

    Padding counts as 0.
    """
    found = disagreement(model, (best.policy_PXY[0], policy_XY), values=best)
    return np.clip(found.kind_XY, 0, 2)


def common_figures(
    inspected: InspectedPolicy, axes: tuple[str, str] | None = None, actions: bool = True
) -> tuple[PolicyFigure, ...]:
    """The figures that every model has; `axes` names the two coordinates of the heat maps."""
    slices = Slices(inspected.model, axes)
    shown = (
        _actions(inspected, slices) if actions else None,
        _values(inspected, slices),
        _difference(inspected, slices),
        _visits(inspected, slices),
    )
    return tuple(figure for figure in shown if figure is not None)


def _actions(inspected: InspectedPolicy, slices: Slices) -> PolicyFigure:
    model = inspected.model

    def action(phase=0, coordinate=None, **chosen):
        policy_XY = inspected.policy_PXY[phase]
        return action_figure(model, policy_XY, slices.plane(chosen), coordinate)

    return PolicyFigure(
        "actions",
        "Actions",
        "The action that the policy takes in each state.",
        action,
        (*phase_selector(inspected), *_action_selector(model), *slices.selectors),
        clickable=True,
    )


def _values(inspected: InspectedPolicy, slices: Slices) -> PolicyFigure:
    costs = inspected.model.sense == "min"
    names, labels = (COSTS_SHOWN, COST_LABELS) if costs else (SHOWN, SHOW_LABELS)

    def value(show, phase=0, **chosen):
        cells = slices.plane(chosen)
        if show == "regret":
            return value_figure(cells, inspected.regret_XY(phase), names[show], loss=True)
        U_XY = inspected.optimum.U_XY if show == "optimal" else inspected.values_PXY[phase]
        return value_figure(cells, -U_XY if costs else U_XY, names[show])

    return PolicyFigure(
        "values",
        "Values",
        f"The exact {'cost' if costs else 'value'} of each state under the true model.",
        value,
        (
            Selector("show", "show", tuple(SHOWN), labels, "value", ordered=False),
            *phase_selector(inspected),
            *slices.selectors,
        ),
        clickable=True,
    )


def _difference(inspected: InspectedPolicy, slices: Slices) -> PolicyFigure:
    model, best = inspected.model, inspected.optimum

    def difference(show, phase=0, **chosen):
        cells = slices.plane(chosen)
        if show == "action":
            return agreement_figure(model, inspected.policy_PXY[phase], best, cells)
        lost_XY = inspected.loss_XY(phase) if show == "loss" else inspected.regret_XY(phase)
        name = LOSS_NAME if show == "loss" else REGRET
        return value_figure(cells, lost_XY, name, loss=True)

    labels = tuple(DIFFERENCES.values())
    return PolicyFigure(
        "difference",
        "Against the optimum",
        "Where the action is suboptimal, what this action alone loses, and the regret from each "
        "state on, which includes later losses.",
        difference,
        (
            Selector("show", "show", tuple(DIFFERENCES), labels, "action", ordered=False),
            *phase_selector(inspected),
            *slices.selectors,
        ),
        clickable=True,
    )


def _visits(inspected: InspectedPolicy, slices: Slices) -> PolicyFigure:
    def visits(**chosen):
        share_XY, cells = inspected.visits.share_XY, slices.plane(chosen)
        summed = slices.chosen_axes(chosen) if slices.selectors else None
        return visit_figure(inspected.model, share_XY, cells, summed)

    return PolicyFigure(
        "visits",
        "Visits",
        "How often each state is visited from the initial distribution: exact discounted "
        "frequencies.",
        visits,
        slices.selectors[:1],  # the axes; visits are summed over the other coordinates
        clickable=not slices.selectors,
    )


def _action_selector(model: FastSlowMDP) -> tuple[Selector, ...]:
    names = model.actions.names
    if len(names) == 1:
        return ()
    return (Selector("coordinate", "colour by", names, names, names[0], ordered=False),)


def _from_zero(z_RC: np.ndarray) -> dict:
    """A colour scale from zero, unless all values are far above it and would look alike."""
    if np.isnan(z_RC).all():  # no state has the selected values
        return {"zmin": 0.0, "zmax": 1.0}
    low, high = float(np.nanmin(z_RC)), float(np.nanmax(z_RC))
    return {"zmin": low if low > high / 2 else 0.0, "zmax": high if high > 0 else 1.0}
