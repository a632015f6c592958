"""The gridworld policy on its grid: moves, task choices, visits, and the agent at work.

The paper's task arrows (start → end) lie under everything, one colour for each ring; those that the
reward signal w makes worthwhile are drawn full, the others faint.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.domains import Gridworld
from fsdash.domains.gridworld import DIRECTIONS, INNER, OUTER, SHORT
from fsdash.errors import InputError
from fsdash.figures.palette import AMBER, BLUE, INK, PANEL, PURPLE, QUIET, VERMILLION, with_opacity
from fsdash.figures.policies import generic
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import action_labels, column
from fsdash.figures.policies.plane import Plane, coordinates, heat_map, plane
from fsdash.figures.template import template

AXES = ("column", "row")
SIGNAL = "inner ring pays"
RINGS = {"outer": (OUTER, BLUE), "short": (SHORT, AMBER), "inner": (INNER, VERMILLION)}
ANGLES = {"up": 0, "right": 90, "down": 180, "left": 270}
ANGLE_OF = {DIRECTIONS[name]: angle for name, angle in ANGLES.items()}
LEGIBLE = 15
"""Cells along a side up to which a task number fits beside its arrow."""
TAIL = 12
"""Periods that the agent's trail is long."""


def grid_policy_figure(
    domain: Gridworld,
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    U_XY: np.ndarray,
    at: dict[str, float],
    dark: bool = False,
) -> go.Figure:
    """The move in every cell for one (task, carried, w), over the values of those states.

    An idle agent also chooses a task: its number stands beside the arrow, in the colour of its
    ring. With a task accepted, only that task's arrow is drawn.
    """
    cells = plane(model, *AXES, at)
    action_RC = cells.take(policy_XY).astype(int)
    figure = heat_map(cells, cells.take(U_XY), QUIET, "value", dark, showscale=False)
    _square(figure, domain)
    labels = np.array(action_labels(model))[action_RC]
    figure.update_traces(text=labels, hovertemplate=_hover("%{text}<br>value <b>%{z:.5g}</b>"))
    task = int(at["task"])
    shown = range(1, 9) if task == 0 else (task,)
    _add_tasks(figure, domain, int(at[SIGNAL]), dark, shown)
    _add_moves(figure, domain, model, cells, action_RC, task == 0, dark)
    return figure


def grid_visit_figure(
    domain: Gridworld, model: FastSlowMDP, share_XY: np.ndarray, dark: bool = False
) -> go.Figure:
    """How much of the discounted time is spent in each cell, whatever the task and the signal."""
    at = {name: found[0] for name, found in coordinates(model).items() if name not in AXES}
    cells = plane(model, *AXES, at)
    figure = generic.visit_figure(model, share_XY, cells, AXES, dark)
    _square(figure, domain)
    _add_tasks(figure, domain, None, dark)
    figure.update_layout(legend={"y": -0.13, "yanchor": "top"})  # the colour bar is on top
    return figure


def agent_figure(
    domain: Gridworld, model: FastSlowMDP, path: Path, step: int, dark: bool = False
) -> go.Figure:
    """The agent in period `step` of a path, with the reward collected before."""
    if step not in range(len(path)):
        raise InputError(f"step = {step}: the path has periods 0 to {len(path) - 1}")
    figure = _stage(domain, dark)
    moment = _moment(domain, model, path, step)
    for trace, changes in zip(figure.data[-len(moment) :], moment, strict=True):
        trace.update(changes)
    return figure


def agent_animation(
    domain: Gridworld, model: FastSlowMDP, path: Path, dark: bool = False
) -> go.Figure:
    """The same, one frame a period, with play, pause and a slider."""
    figure = agent_figure(domain, model, path, 0, dark)
    moments = [_moment(domain, model, path, t) for t in range(len(path))]
    n = len(figure.data)
    moving = list(range(n - len(moments[0]), n))
    figure.frames = [
        {"name": str(t), "data": moment, "traces": moving} for t, moment in enumerate(moments)
    ]
    now = {"mode": "immediate", "fromcurrent": True, "transition": {"duration": 0}}
    play = {"frame": {"duration": 250, "redraw": True}, **now}
    stop = {"frame": {"duration": 0, "redraw": True}, **now}
    buttons = [
        {"label": "▶", "method": "animate", "args": [None, play]},
        {"label": "❚❚", "method": "animate", "args": [[None], stop]},
    ]
    ink, quiet = INK.on(dark), with_opacity(INK.on(dark), 0.25)
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
                    {"label": str(t), "method": "animate", "args": [[str(t)], stop]}
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


def views(subject: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    domain, model, phase = subject.domain, subject.model, phase_selector(subject)
    slices = tuple(
        generic.coordinate_selector(name, found)
        for name, found in coordinates(model).items()
        if name not in AXES
    )

    def moves(phase=0, dark=False, **at):
        policy_XY, U_XY = subject.policy_PXY[phase], subject.values_PXY[phase]
        return grid_policy_figure(domain, model, policy_XY, U_XY, at, dark)

    def agent(steps, seed, dark=False):
        return agent_animation(domain, model, subject.path(seed, steps), dark)

    def visited(dark=False):
        return grid_visit_figure(domain, model, subject.visits.share_XY, dark)

    told = {
        "moves": "The step taken in each cell for one task, load and reward signal; the task that "
        "an idle agent chooses stands beside its arrow. The shade is the value.",
        "agent": "The agent on one simulated path, with the reward it has collected.",
        "visits": "The share of discounted time spent in each cell: exact, not counted on a path.",
    }
    common = [view for view in generic.views(subject, AXES, actions=False) if view.name != "visits"]
    return (
        PolicyFigure(
            "moves", "Moves and tasks", told["moves"], moves, (*slices, *phase), clickable=True
        ),
        PolicyFigure(
            "agent", "Agent at work", told["agent"], agent, path_selectors(), animated=True
        ),
        PolicyFigure("visits", "Visits", told["visits"], visited),
        *(_squared(view, domain) for view in common),
    )


def _squared(view: PolicyFigure, domain: Gridworld) -> PolicyFigure:
    """A plain heat map of the grid with square cells."""

    def draw(**chosen):
        figure = view.draw(**chosen)
        if view.name == "values":
            _square(figure, domain)
        return figure

    return PolicyFigure(view.name, view.title, view.told, draw, view.selectors, view.clickable)


def _square(figure: go.Figure, domain: Gridworld) -> None:
    """Square cells with a gap between them, and ticks in whole cells."""
    n = domain.size
    gap = 2 if n <= LEGIBLE else 0
    figure.update_traces(xgap=gap, ygap=gap, selector={"type": "heatmap"})
    axis = {
        "range": [-0.5, n - 0.5],
        "dtick": max(1, n // 10),
        "constrain": "domain",
        "tickvals": None,
        "ticktext": None,
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "tick0": 0,
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(scaleanchor="x", constraintoward="top", **axis)


def _hover(text: str) -> str:
    return f"column %{{x}}, row %{{y}}<br>{text}<extra></extra>"


def _add_tasks(
    figure: go.Figure, domain: Gridworld, signal: int | None, dark: bool, shown=range(1, 9)
) -> None:
    """start → end of each task, one trace for each ring; `signal` None draws all alike."""
    for ring in RINGS:
        trace = _task_trace(domain, ring, signal, dark, shown)
        if trace.x:
            figure.add_trace(trace)


def _pay(domain: Gridworld, ring: str, signal: int | None) -> tuple[str, float]:
    """What the legend says of a ring under a reward signal, and how strongly it is drawn."""
    if signal is None:
        return f"{ring} tasks", 0.9
    pay = domain.delivery_reward[:, RINGS[ring][0][0]]
    return f"{ring} tasks pay {pay[signal]:g}", 0.95 if pay[signal] >= pay.max() else 0.4


def _task_trace(
    domain: Gridworld, ring: str, signal: int | None, dark: bool, shown=range(1, 9)
) -> go.Scatter:
    tasks, colour = RINGS[ring][0], RINGS[ring][1].on(dark)
    ends = [domain.tasks[task - 1].tolist() for task in tasks if task in shown]
    name, opacity = _pay(domain, ring, signal)
    return go.Scatter(
        x=[x for (x0, _), (x1, _) in ends for x in (x0, x1, None)],
        y=[y for (_, y0), (_, y1) in ends for y in (y0, y1, None)],
        name=name,
        mode="lines+markers",
        opacity=opacity,
        hoverinfo="skip",
        line={"color": colour, "width": 2.5},
        marker={
            "symbol": "arrow",
            "size": 12,
            "angleref": "previous",
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
    )


def _add_moves(
    figure: go.Figure,
    domain: Gridworld,
    model: FastSlowMDP,
    cells: Plane,
    action_RC: np.ndarray,
    idle: bool,
    dark: bool,
) -> None:
    """A pointer in each cell; an idle agent's has the colour and the number of its task."""
    x_RC, y_RC = np.meshgrid(cells.across.values, cells.up.values)
    right_A, up_A = column(model.actions, "right"), column(model.actions, "up")
    angles = [ANGLE_OF[right_A[a], up_A[a]] for a in action_RC.ravel()]
    task_A = column(model.actions, "task").astype(int)
    tasks = [int(task_A[a]) for a in action_RC.ravel()]
    numbered = idle and domain.size <= LEGIBLE
    ring_colour = {task: c.on(dark) for members, c in RINGS.values() for task in members}
    colours = [ring_colour[task] for task in tasks] if idle else INK.on(dark)
    shift = 0.17 if numbered else 0.0
    figure.add_scatter(
        x=x_RC.ravel() - shift,
        y=y_RC.ravel(),
        mode="markers",
        name="move",
        hoverinfo="skip",
        showlegend=False,
        marker={
            "symbol": "triangle-up",
            "angle": angles,
            "color": colours,
            "size": 11 if domain.size <= LEGIBLE else 6,
        },
    )
    if numbered:
        figure.add_scatter(
            x=x_RC.ravel() + 0.22,
            y=y_RC.ravel(),
            mode="text",
            text=[f"{task}" for task in tasks],
            name="task chosen",
            hoverinfo="skip",
            showlegend=False,
            textfont={"size": 11, "color": colours},
        )


def _stage(domain: Gridworld, dark: bool) -> go.Figure:
    """The empty grid with the tasks' numbers, and on it all that moves, yet without a place."""
    figure = go.Figure(layout={"template": template(dark), "hovermode": False})
    n, ink, purple = domain.size, INK.on(dark), PURPLE.on(dark)
    floor = [[0, PANEL.on(dark)], [1, PANEL.on(dark)]]
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
            textfont={"color": colour.on(dark), "size": 12},
            name=f"{ring} numbers",
        )
    figure.add_traces([_task_trace(domain, ring, 0, dark) for ring in RINGS])
    silent = {"showlegend": False, "hoverinfo": "skip"}
    trail = {"color": with_opacity(purple, 0.55), "width": 5}
    body = {"size": 18, "color": purple, "line": {"color": ink, "width": 2}}
    figure.add_scatter(mode="lines", line=trail, name="trail", **silent)
    figure.add_scatter(mode="markers", marker=body, name="agent", **silent)
    figure.add_scatter(
        x=[-0.5],
        y=[1.05 * n - 0.5],
        mode="text",
        textposition="middle right",
        name="status",
        textfont={"size": 15, "color": ink},
        cliponaxis=False,
        **silent,
    )
    _square(figure, domain)
    every = np.arange(0, n, max(1, n // 10))
    figure.update_xaxes(title_text="column")
    figure.update_yaxes(title_text="row", range=[-0.5, 1.1 * n - 0.5], tickvals=every)
    return figure


def _moment(domain: Gridworld, model: FastSlowMDP, path: Path, step: int) -> list[dict]:
    """What one period changes of the last traces of the stage: rings, trail, agent, status.

    Changes alone, because a frame for each period with whole traces takes seconds to make.
    """
    at_N = {name: column(model.fast, name)[path.y_N] for name in model.fast.names}
    signal = int(column(model.slow, SIGNAL)[path.x_N[step]])
    rings = []
    for ring in RINGS:
        name, opacity = _pay(domain, ring, signal)
        rings.append({"name": name, "opacity": opacity})
    tail = slice(max(0, step - TAIL), step + 1)
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
