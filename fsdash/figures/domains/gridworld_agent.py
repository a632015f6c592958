"""The gridworld agent on one simulated path, as a single period or as an animation."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.domains.gridworld import Gridworld
from fsdash.errors import InputError
from fsdash.figures.domains.gridworld_tasks import (
    RINGS,
    SIGNAL,
    ring_style,
    square_cells,
    task_trace,
)
from fsdash.figures.palette import INK, PANEL, PURPLE, with_opacity
from fsdash.figures.policies.labels import coordinate_values
from fsdash.figures.template import template

TRAIL_PERIODS = 12
"""Length of the trail behind the agent, in periods."""


def agent_figure(domain: Gridworld, model: FastSlowMDP, path: Path, step: int) -> go.Figure:
    """The agent in period `step` of a path, with the reward that it has collected so far."""
    if step not in range(len(path)):
        raise InputError(f"step = {step}: the path has periods 0 to {len(path) - 1}")
    figure = _empty_grid(domain)
    changes = _period_changes(domain, model, path, step)
    for trace, change in zip(figure.data[-len(changes) :], changes, strict=True):
        trace.update(change)
    return figure


def agent_animation(domain: Gridworld, model: FastSlowMDP, path: Path) -> go.Figure:
    """The agent on a whole path, with one frame per period, play and pause buttons and a slider."""
    figure = agent_figure(domain, model, path, 0)
    changes = [_period_changes(domain, model, path, t) for t in range(len(path))]
    n = len(figure.data)
    moving = list(range(n - len(changes[0]), n))
    figure.frames = [
        {"name": str(t), "data": change, "traces": moving} for t, change in enumerate(changes)
    ]
    now = {"mode": "immediate", "fromcurrent": True, "transition": {"duration": 0}}
    play = {"frame": {"duration": 250, "redraw": True}, **now}
    pause = {"frame": {"duration": 0, "redraw": True}, **now}
    buttons = [
        {"label": "▶", "method": "animate", "args": [None, play]},
        {"label": "❚❚", "method": "animate", "args": [[None], pause]},
    ]
    ink, quiet = INK, with_opacity(INK, 0.25)
    figure.update_layout(
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "buttons": buttons,
                "showactive": False,
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yanchor": "top",
                "pad": {"t": 34, "r": 8},
                "bgcolor": "rgba(0,0,0,0)",
                "bordercolor": quiet,
                "font": {"color": ink},
            }
        ],
        sliders=[
            {
                "steps": [
                    {"label": str(t), "method": "animate", "args": [[str(t)], pause]}
                    for t in range(len(path))
                ],
                "x": 0.34,
                "len": 0.66,
                "y": 0,
                "yanchor": "top",
                "pad": {"t": 34},
                "currentvalue": {"visible": False},
                "ticklen": 0,
                "minorticklen": 0,
                "font": {"color": "rgba(0,0,0,0)", "size": 1},
                "bordercolor": quiet,
                "bgcolor": quiet,
                "activebgcolor": ink,
            }
        ],
    )
    figure.update_xaxes(title_text="")
    return figure


def _empty_grid(domain: Gridworld) -> go.Figure:
    """The grid with its tasks and their numbers; the traces that move come last and are empty."""
    figure = go.Figure(layout={"template": template(), "hovermode": False})
    n, ink, purple = domain.size, INK, PURPLE
    floor = [[0, PANEL], [1, PANEL]]
    figure.add_heatmap(
        z=np.zeros((n, n)), colorscale=floor, showscale=False, hoverinfo="skip", name="floor"
    )
    number = {"mode": "text", "textposition": "top right", "showlegend": False, "hoverinfo": "skip"}
    for ring, (tasks, colour) in RINGS.items():
        start = domain.tasks[[task - 1 for task in tasks], 0]
        figure.add_scatter(
            x=start[:, 0],
            y=start[:, 1],
            text=[f"{task}" for task in tasks],
            **number,
            textfont={"color": colour, "size": 12},
            name=f"{ring} numbers",
        )
    figure.add_traces([task_trace(domain, ring, 0) for ring in RINGS])
    no_hover = {"showlegend": False, "hoverinfo": "skip"}
    trail = {"color": with_opacity(purple, 0.55), "width": 5}
    body = {"size": 18, "color": purple, "line": {"color": ink, "width": 2}}
    figure.add_scatter(mode="lines", line=trail, name="trail", **no_hover)
    figure.add_scatter(mode="markers", marker=body, name="agent", **no_hover)
    figure.add_scatter(
        x=[-0.5],
        y=[1.05 * n - 0.5],
        mode="text",
        textposition="middle right",
        name="status",
        textfont={"size": 15, "color": ink},
        cliponaxis=False,
        **no_hover,
    )
    square_cells(figure, domain)
    every = np.arange(0, n, max(1, n // 10))
    figure.update_xaxes(title_text="column")
    figure.update_yaxes(title_text="row", range=[-0.5, 1.1 * n - 0.5], tickvals=every)
    return figure


def _period_changes(domain: Gridworld, model: FastSlowMDP, path: Path, step: int) -> list[dict]:
    """The changes of one period to the last traces of the grid: rings, trail, agent and status.

    Only the changes, because building frames of whole traces takes seconds.
    """
    at_N = {name: coordinate_values(model.fast, name)[path.y_N] for name in model.fast.names}
    signal = int(coordinate_values(model.slow, SIGNAL)[path.x_N[step]])
    rings = []
    for ring in RINGS:
        name, opacity = ring_style(domain, ring, signal)
        rings.append({"name": name, "opacity": opacity})
    tail = slice(max(0, step - TRAIL_PERIODS), step + 1)
    trail = {"x": at_N["column"][tail], "y": at_N["row"][tail]}
    task, loaded = int(at_N["task"][step]), bool(at_N["carried"][step])
    agent = {
        "x": at_N["column"][[step]],
        "y": at_N["row"][[step]],
        "marker": {"symbol": "square" if loaded else "circle"},
    }
    doing = "idle" if task == 0 else f"carries task {task}" if loaded else f"to task {task}"
    before = float(path.reward_N[:step].sum())
    return [*rings, trail, agent, {"text": [f"t = {step} · {doing} · collected <b>{before:g}</b>"]}]
