"""The value of each action in one state: for one policy, or for two policies A and B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_state, q_values_at
from fsdash.figures.palette import (
    FIRST_POLICY,
    GREEN,
    GREY,
    INK,
    SECOND_POLICY,
    VERMILLION,
    Colour,
    with_opacity,
)
from fsdash.figures.policies.labels import action_labels, actions_title
from fsdash.figures.policies.plane import evenly_spaced
from fsdash.figures.template import template

ROUNDING = 1e-9
"""Smallest visible loss, relative to the largest value."""
MAX_LABELS = 10
"""Most actions whose names are written below the bars."""
BEST = "best"


@dataclass(frozen=True, eq=False)
class LookAhead:
    """What one policy does in a state, and the values U of the next states in Q = r + γ E[U]."""

    action: int
    U_XY: np.ndarray


def q_figure(model: FastSlowMDP, U_XY: np.ndarray, x: int, y: int, chosen_action: int) -> go.Figure:
    """Q(s, ·) of the feasible actions as bars from the best value: their length is the loss.

    A model of costs shows costs, so its bars point up from the smallest cost.
    """
    figure = make_subplots(rows=1, cols=1)
    look = LookAhead(chosen_action, U_XY)
    _add_panel(figure, model, x, y, look, 1, "policy", VERMILLION)
    figure.update_yaxes(title_text=_title(model))
    return _finished(figure, model, x, y, 1)


def q_pair_figure(
    model: FastSlowMDP,
    looks: tuple[LookAhead, LookAhead],
    x: int,
    y: int,
) -> go.Figure:
    """The same for A, above, and B, below, each with its own values of the next states."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    sides = (("A", FIRST_POLICY), ("B", SECOND_POLICY))
    for row, (look, (name, colour)) in enumerate(zip(looks, sides, strict=True), start=1):
        _add_panel(figure, model, x, y, look, row, name, colour)
        figure.update_yaxes(title_text=f"Q of {name}", row=row)
    return _finished(figure, model, x, y, 2)


def q_table(model: FastSlowMDP, looks: dict[str, LookAhead], x: int, y: int) -> pd.DataFrame:
    """One row per feasible action: its Q-value and its loss, under each policy's values by name."""
    sign = -1 if model.sense == "min" else 1
    actions = np.flatnonzero(model.feasible_XYA[check_state(model, x, y)])
    labels = action_labels(model)
    columns: dict[str, object] = {
        "action": [labels[a] for a in actions],
        "taken by": [
            ", ".join(n for n, look in looks.items() if look.action == a) for a in actions
        ],
    }
    for name, look in looks.items():
        Q_A = q_values_at(model, look.U_XY, x, y)[actions]
        columns[f"Q of {name}"] = sign * Q_A
        columns[f"loss under {name}"] = Q_A.max() - Q_A
    return pd.DataFrame(columns)


def _add_panel(
    figure: go.Figure,
    model: FastSlowMDP,
    x: int,
    y: int,
    look: LookAhead,
    row: int,
    name: str,
    colour: Colour,
) -> None:
    actions = np.flatnonzero(model.feasible_XYA[check_state(model, x, y)])
    sign = -1 if model.sense == "min" else 1
    Q_A = sign * q_values_at(model, look.U_XY, x, y)[actions]
    best, chosen = int((sign * Q_A).argmax()), actions.tolist().index(look.action)
    top = float(Q_A[best])
    loss_A = np.abs(Q_A - top)
    labels = [action_labels(model)[a] for a in actions]
    colours = [with_opacity(GREY, 0.75)] * len(Q_A)
    colours[chosen] = colour
    place = {"row": row, "col": 1}
    figure.add_bar(
        x=labels,
        y=-sign * loss_A,
        base=np.full(len(Q_A), top),
        marker={"color": colours},
        customdata=np.column_stack([Q_A, loss_A]),
        name=f"loss compared with the best action, {name}",
        hovertemplate="Q = <b>%{customdata[0]:.6g}</b>, loses %{customdata[1]:.4g}<extra></extra>",
        showlegend=False,
        **place,
    )
    figure.add_hline(y=top, line={"color": INK, "width": 1.5}, **place)
    marks = ((best, BEST, GREEN, "diamond"), (chosen, name, colour, "circle-open"))
    for action, what, shade, symbol in marks:
        line = {"width": 3 if symbol.endswith("open") else 0, "color": shade}
        figure.add_scatter(
            x=[labels[action]],
            y=[Q_A[action]],
            mode="markers",
            marker={"color": shade, "symbol": symbol, "size": 13, "line": line},
            hoverinfo="skip",
            name=BEST if what == BEST else f"{what}: {labels[action]}",
            showlegend=what != BEST or row == 1,
            cliponaxis=False,
            **place,
        )
    room = max(float(loss_A.max()), ROUNDING * max(abs(top), 1))
    ends = sorted((top - sign * 1.08 * room, top + sign * 0.15 * room))
    figure.update_yaxes(range=ends, nticks=5, **place)


def _finished(figure: go.Figure, model: FastSlowMDP, x: int, y: int, rows: int) -> go.Figure:
    names = action_labels(model)
    labels = [names[a] for a in np.flatnonzero(model.feasible_XYA[x, y])]
    figure.update_xaxes(type="category", categoryarray=labels, showgrid=False, tickangle=0)
    figure.update_xaxes(title_text=actions_title(model), row=rows)
    if len(labels) > MAX_LABELS:
        # Names, not places: to Plotly the place 5 is the category "5", wherever that stands.
        shown = [labels[i] for i in evenly_spaced(len(labels), MAX_LABELS)]
        figure.update_xaxes(tickvals=shown, ticktext=shown)
    figure.update_layout(template=template(), hovermode="x", bargap=0.25)
    return figure


def _title(model: FastSlowMDP) -> str:
    return "Q(s, a), cost" if model.sense == "min" else "Q(s, a)"
