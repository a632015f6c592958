"""The value of each action in one state."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import q_values_at
from fsdash.figures.palette import GREEN, GREY, INK, VERMILLION, with_opacity
from fsdash.figures.policies.labels import action_labels, actions_title
from fsdash.figures.template import template

ROUNDING = 1e-9
"""Smallest visible loss, relative to the largest value."""
MAX_LARGE_LABELS = 16


def q_figure(
    model: FastSlowMDP,
    U_XY: np.ndarray,
    x: int,
    y: int,
    chosen_action: int,
    dark: bool = False,
) -> go.Figure:
    """Q(s, ·) of the feasible actions as bars from the best value: their length is the loss.

    A model of costs shows costs, so its bars point up from the smallest cost.
    """
    sign = -1 if model.sense == "min" else 1
    Q_A = sign * q_values_at(model, U_XY, x, y)
    actions = np.flatnonzero(model.feasible_XYA[x, y])
    Q_A = Q_A[actions]
    best = int((sign * Q_A).argmax())
    top = float(Q_A[best])
    loss_A = np.abs(Q_A - top)
    chosen = actions.tolist().index(chosen_action)
    names = action_labels(model)
    labels = [names[a] for a in actions]
    figure = go.Figure(layout={"template": template(dark)})
    colours = [with_opacity(GREY.on(dark), 0.75)] * len(Q_A)
    colours[chosen] = VERMILLION.on(dark)
    figure.add_bar(
        x=labels,
        y=-sign * loss_A,
        base=np.full(len(Q_A), top),
        marker={"color": colours},
        customdata=np.column_stack([Q_A, loss_A]),
        name="loss compared with the best action",
        hovertemplate="Q = <b>%{customdata[0]:.6g}</b>, loses %{customdata[1]:.4g}<extra></extra>",
        showlegend=False,
    )
    figure.add_hline(y=top, line={"color": INK.on(dark), "width": 1.5})
    marks = (
        (best, "best action", GREEN, "diamond"),
        (chosen, "the policy's action", VERMILLION, "circle-open"),
    )
    for action, name, colour, symbol in marks:
        line = {"width": 3 if symbol.endswith("open") else 0, "color": colour.on(dark)}
        mark = {"color": colour.on(dark), "symbol": symbol, "size": 13, "line": line}
        figure.add_scatter(
            x=[labels[action]],
            y=[Q_A[action]],
            mode="markers",
            marker=mark,
            hoverinfo="skip",
            name=f"{name}: {labels[action]}",
            cliponaxis=False,
        )
    room = max(float(loss_A.max()), ROUNDING * max(abs(top), 1))
    figure.update_xaxes(
        title_text=actions_title(model),
        type="category",
        categoryarray=labels,
        showgrid=False,
        tickfont={"size": 15 if len(labels) <= MAX_LARGE_LABELS else 11},
    )
    ends = sorted((top - sign * 1.08 * room, top + sign * 0.12 * room))
    figure.update_yaxes(title_text="Q(s, a), cost" if sign < 0 else "Q(s, a)", range=ends)
    figure.update_layout(hovermode="x", bargap=0.25)
    return figure
