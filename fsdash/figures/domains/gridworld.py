"""Figures of the gridworld domain: its drawing, and the moves, tasks and visits of a policy."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from fsdash.core.model import FastSlowMDP
from fsdash.domains.gridworld import DIRECTIONS, INNER, OUTER, Gridworld
from fsdash.figures.domains.generic import HEAD, TEXT, WIDTH
from fsdash.figures.domains.gridworld_agent import agent_animation
from fsdash.figures.domains.gridworld_tasks import (
    LARGEST_NUMBERED,
    RINGS,
    SIGNAL,
    TASKS,
    add_tasks,
)
from fsdash.figures.palette import BLUE, GREY, GRID, INK, QUIET, VERMILLION
from fsdash.figures.policies import generic
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import action_labels, coordinate_values, state_axis
from fsdash.figures.policies.maps import heat_map
from fsdash.figures.policies.marks import has_room
from fsdash.figures.policies.plane import Plane, coordinates, plane
from fsdash.figures.policies.slices import coordinate_selector
from fsdash.figures.svg import Pen

AXES = ("column", "row")
ANGLES = {"up": 0, "right": 90, "down": 180, "left": 270}
ANGLE_OF = {DIRECTIONS[name]: angle for name, angle in ANGLES.items()}


def drawing(domain: Gridworld) -> str:
    """The grid with its tasks as arrows, and what the tasks pay."""
    pen, n, side, left, top = Pen(), domain.size, 176, 4, 4
    cell = side / n
    colours = dict.fromkeys(OUTER, BLUE) | dict.fromkeys(INNER, VERMILLION)

    def middle(column: int, row: int) -> tuple[float, float]:
        return left + (column + 0.5) * cell, top + side - (row + 0.5) * cell

    lines = [
        pen.path(f"M{left + i * cell:.1f} {top}v{side}M{left} {top + i * cell:.1f}h{side}", GRID)
        for i in range(n + 1)
    ]
    arrows = [
        pen.arrow(*middle(*start), *middle(*end), colours.get(task, GREY), head=HEAD)
        for task, (start, end) in enumerate(domain.tasks.tolist(), 1)
    ]
    x = left + side + 14
    left_aligned = {"anchor": "start", "size": TEXT}
    words = [
        pen.text(x, 22, "pick up → deliver", weight=600, **left_aligned),
        pen.text(x, 52, "outer tasks pay", BLUE, weight=600, **left_aligned),
        pen.text(x, 69, f"{domain.outer_high:g} or {domain.outer_low:g}", **left_aligned),
        pen.text(x, 96, "inner tasks pay", VERMILLION, weight=600, **left_aligned),
        pen.text(x, 113, f"{domain.inner_low:g} or {domain.inner_high:g}", **left_aligned),
        pen.text(x, 144, "slow: which ring pays,", anchor="start", size=12),
        pen.text(x, 160, f"switches with {domain.switch:g}", anchor="start", size=12),
    ]
    return pen.drawing(WIDTH, 184, [*lines, *arrows, *words])


def describe(domain: Gridworld) -> str:
    return (
        "Which task to accept, and where to step? The agent moves fast; which tasks pay well, the "
        "outer or the inner ones, changes rarely."
    )


# ------------------------------------------------------------------------------------ the policies


def plane_axes(model: FastSlowMDP) -> tuple[str, str]:
    return AXES


def cell_labels(model: FastSlowMDP, cells: Plane, policy_XY: np.ndarray) -> np.ndarray | None:
    """The task that an idle agent accepts and its step; only the step of an agent with a task."""
    if not has_room(cells):
        return None
    moves = action_labels(model)
    idle_RC = (
        cells.take(np.broadcast_to(coordinate_values(model.fast, "task"), policy_XY.shape)) == 0
    )
    accepts_RC, steps_RC = (
        cells.write(texts, policy_XY)
        for texts in ([text.replace(" ", "") for text in moves], [text[-1] for text in moves])
    )
    return np.where(idle_RC, accepts_RC, steps_RC)


def grid_policy_figure(
    domain: Gridworld,
    model: FastSlowMDP,
    policy_XY: np.ndarray,
    U_XY: np.ndarray,
    at: dict[str, float],
) -> go.Figure:
    """The move in every cell for one (task, carried, w), on a heat map of the values.

    An idle agent also accepts a task: its number is next to the arrow, in the colour of its ring.
    With a task accepted, only the arrow of that task is drawn.
    """
    cells = plane(model, *AXES, at)
    action_RC = cells.take(policy_XY).astype(int)
    figure = heat_map(cells, cells.take(U_XY), QUIET, "value", showscale=False)
    figure.update_layout(margin_t=16)
    labels = np.array(action_labels(model))[action_RC]
    figure.update_traces(text=labels, hovertemplate=_hover("%{text}<br>value <b>%{z:.5g}</b>"))
    task = int(at["task"])
    shown = TASKS if task == 0 else (task,)
    add_tasks(figure, domain, int(at[SIGNAL]), shown)
    _add_moves(figure, domain, model, cells, action_RC, task == 0)
    return figure


def grid_visit_figure(domain: Gridworld, model: FastSlowMDP, share_XY: np.ndarray) -> go.Figure:
    """The share of discounted time spent in each cell, over all tasks and signals."""
    at = {name: values[0] for name, values in coordinates(model).items() if name not in AXES}
    cells = plane(model, *AXES, at)
    figure = generic.visit_figure(model, share_XY, cells, AXES)
    add_tasks(figure, domain, None)
    figure.update_layout(legend={"y": -0.13, "yanchor": "top"})  # the colour bar is on top
    return figure


def policy_figures(inspected: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    domain, model, phase = inspected.domain, inspected.model, phase_selector(inspected)
    assert isinstance(domain, Gridworld)
    slices = tuple(
        coordinate_selector(state_axis(model, name), name, values)
        for name, values in coordinates(model).items()
        if name not in AXES
    )

    def moves(phase=0, **at):
        policy_XY, U_XY = inspected.policy_PXY[phase], inspected.values_PXY[phase]
        return grid_policy_figure(domain, model, policy_XY, U_XY, at)

    def agent(steps, seed):
        return agent_animation(domain, model, inspected.path(seed, steps))

    def visits():
        return grid_visit_figure(domain, model, inspected.visits.share_XY)

    common = generic.common_figures(inspected, AXES, actions=False)
    return (
        PolicyFigure(
            "moves",
            "Moves and tasks",
            "The step in each cell for one task, load and reward signal. For an idle agent, the "
            "number next to the arrow is the task it accepts. The shade is the value.",
            moves,
            (*slices, *phase),
            clickable=True,
        ),
        PolicyFigure(
            "agent",
            "Agent at work",
            "The agent on one simulated path, with the reward it has collected.",
            agent,
            path_selectors(),
            animated=True,
        ),
        PolicyFigure(
            "visits",
            "Visits",
            "The share of discounted time spent in each cell, computed exactly.",
            visits,
        ),
        *(figure for figure in common if figure.name != "visits"),
    )


def _hover(text: str) -> str:
    return f"column %{{x}}, row %{{y}}<br>{text}<extra></extra>"


def _add_moves(
    figure: go.Figure,
    domain: Gridworld,
    model: FastSlowMDP,
    cells: Plane,
    action_RC: np.ndarray,
    idle: bool,
) -> None:
    """Add an arrow to each cell; for an idle agent it has the colour and number of its task."""
    x_RC, y_RC = np.meshgrid(cells.across.values, cells.up.values)
    right_A, up_A = (
        coordinate_values(model.actions, "right"),
        coordinate_values(model.actions, "up"),
    )
    angles = [ANGLE_OF[right_A[a], up_A[a]] for a in action_RC.ravel()]
    task_A = coordinate_values(model.actions, "task").astype(int)
    tasks = [int(task_A[a]) for a in action_RC.ravel()]
    numbered = idle and domain.size <= LARGEST_NUMBERED
    ring_colour = {task: c for members, c in RINGS.values() for task in members}
    colours = [ring_colour[task] for task in tasks] if idle else INK
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
            "size": 11 if domain.size <= LARGEST_NUMBERED else 6,
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
