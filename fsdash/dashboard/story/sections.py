"""What each section of the story adds to its text: controls, numbers, figure and formula."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fsdash.choice.solved import REMAINING
from fsdash.dashboard.shell import segments
from fsdash.dashboard.story import numbers, state, text
from fsdash.dashboard.story.maze import maze
from fsdash.dashboard.story.numbers import Numbers
from fsdash.dashboard.story.section_texts import SECTIONS
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.reward_error_formula import reward_error_filled, reward_error_tex
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, one_of, switch, whole_number
from fsdash.figures.domains.inventory import inventory_path_figure
from fsdash.figures.frontier import frontier_figure
from fsdash.figures.story import curves
from fsdash.figures.story.blocks import blocks_figure
from fsdash.figures.story.grid import describe_grid, grid_figure
from fsdash.figures.story.maze import maze_figure
from fsdash.theory import RewardError, reward_error

SEED, WEEKS_TO_GO, SWEEPS = "Random path", "Weeks to go n", "Sweeps k"
BUDGET, MOVE, CASE = "Budget in sweeps", "Probability of a move", "Case"
T_VALUES = np.arange(2, state.LONGEST_T + 1)
LECTURES = (50, 90)
"""Minutes of a lecture; the longer one has work in pairs."""

URL = UrlState(
    "story",
    {
        "present": switch(False),
        "notes": switch(False),
        "lecture": controls.value_parameter(LECTURES[0], LECTURES),
        "section": UrlParameter(1, whole_number(1, len(SECTIONS))),
        "seed": UrlParameter(1, whole_number(1, state.SEEDS)),
        "gamma": controls.value_parameter(state.SHOP.gamma, state.GAMMAS),
        "sweeps": UrlParameter(20, whole_number(0, state.SWEEPS)),
        "togo": UrlParameter(4, whole_number(1, state.LOWER_STEPS)),
        "upperT": UrlParameter(3, whole_number(1, state.LONGEST_T)),
        "k": UrlParameter(4, whole_number(0, state.MOST_K)),
        "pathT": UrlParameter(3, whole_number(2, state.LOWER_STEPS)),
        "path": UrlParameter(1, whole_number(1, state.SEEDS)),
        "errorT": UrlParameter(4, whole_number(2, state.LONGEST_T)),
        "budget": controls.value_parameter(2.5, state.BUDGETS),
        "workT": UrlParameter(3, whole_number(2, state.LOWER_STEPS)),
        "boundT": UrlParameter(3, whole_number(2, state.LONGEST_T)),
        "frozen": UrlParameter(6, whole_number(2, state.LONGEST_T)),
        "case": UrlParameter("maze", one_of(text.CASES)),
        "mazeT": controls.value_parameter(16, state.MAZE_T),
        "move": controls.value_parameter(0.5, state.MOVES),
    },
)

Values = tuple


@dataclass(frozen=True)
class Part:
    """The live part of a section; all functions take the values of its controls.

    `controls` are the names of these values in the address, and `read` draws the controls.

    `figure` returns the figure and its description, which is added to the text's own. `formula`
    replaces the text's formula by one with numbers.
    """

    controls: tuple[str, ...]
    read: Callable[[], Values]
    numbers: Callable[..., Numbers]
    figure: Callable[..., tuple[go.Figure, str]]
    formula: Callable[..., tuple[str, ...]] | None = None


def whole(name: str, low: int, high: int, label: str) -> int:
    """A whole number as a slider."""
    return st.slider(label, low, high, URL.parameters[name].default, key=URL.key(name))


# ------------------------------------------------------------------------------------ the sections


def read_shop() -> Values:
    return (whole("seed", 1, state.SEEDS, SEED),)


def draw_shop(seed: int) -> tuple[go.Figure, str]:
    figure = inventory_path_figure(state.shop(), state.year(seed), ("policy",))
    figure.update_xaxes(title_text="week", row=2)
    return figure, ""


def read_sweeps() -> Values:
    gamma = controls.value_slider(URL, "gamma", state.GAMMAS)
    return gamma, whole("sweeps", 0, state.SWEEPS, SWEEPS)


def draw_sweeps(gamma: float, k: int) -> tuple[go.Figure, str]:
    errors = state.value_errors(gamma)
    return curves.convergence_figure(errors, gamma, k, state.PRECISION), ""


def read_lower() -> Values:
    return (whole("togo", 1, state.LOWER_STEPS, WEEKS_TO_GO),)


def draw_lower(n: int) -> tuple[go.Figure, str]:
    step = state.lower_level()[n - 1]
    return _grid(step.values_XY, step.policy_PXY[0], "J")


def read_upper() -> Values:
    T = controls.whole_slider(URL, "upperT", 1, state.LONGEST_T)
    return T, controls.whole_slider(URL, "k", 0, state.MOST_K, "k")


def draw_upper(T: int, k: int) -> tuple[go.Figure, str]:
    step = state.upper_level(T, k)
    return _grid(step.values_XY, step.policy_PXY[0], "V")


def _grid(values_XY: np.ndarray, policy_XY: np.ndarray, name: str):
    figure = grid_figure(state.shop(), values_XY, policy_XY, state.SEASONS, name)
    return figure, describe_grid(values_XY, policy_XY, name)


def read_path() -> Values:
    T = controls.whole_slider(URL, "pathT", 2, state.LOWER_STEPS)
    return T, whole("path", 1, state.SEEDS, SEED)


def draw_path(T: int, seed: int) -> tuple[go.Figure, str]:
    return blocks_figure(state.shop(), state.path_in_blocks(T, seed)), ""


def read_errors() -> Values:
    return (controls.whole_slider(URL, "errorT", 2, state.LONGEST_T),)


def draw_errors(T: int) -> tuple[go.Figure, str]:
    each = [state.measured_error(value) for value in T_VALUES.tolist()]
    measured = RewardError(
        np.array([error.freeze for error in each]),
        np.array([error.end_of_horizon for error in each]),
    )
    bound = reward_error(state.constants(), T_VALUES)
    return curves.errors_figure(T_VALUES, measured, bound, T), ""


def errors_formula(T: int) -> tuple[str, ...]:
    freeze, end = reward_error_tex()
    return (
        rf"\varepsilon_r \le {freeze}",
        rf"+\ {end}",
        reward_error_filled(state.constants(), T)[2],
    )


def read_work() -> Values:
    budget = controls.value_slider(URL, "budget", state.BUDGETS, BUDGET)
    return budget, controls.whole_slider(URL, "workT", 2, state.LOWER_STEPS)


def draw_work(budget: float, T: int) -> tuple[go.Figure, str]:
    figure = frontier_figure(state.shop_frontier(), (T,), budget, certificates=False)
    return figure, ""


def read_bound() -> Values:
    return (controls.whole_slider(URL, "boundT", 2, state.LONGEST_T),)


def draw_bound(T: int) -> tuple[go.Figure, str]:
    found = numbers.bound(T)
    sizes = (found[name] for name in ("regret", "certificate", "trivial", "bound"))
    return curves.bounds_figure(dict(zip(text.maximum_labels(), sizes, strict=True))), ""


def bound_formula(T: int) -> tuple[str, ...]:
    return text.bound_tex(state.constants(), T)


def read_rolling() -> Values:
    return (whole("frozen", 2, state.LONGEST_T, "Frozen weeks: T and n"),)


def draw_rolling(n: int) -> tuple[go.Figure, str]:
    fsvi = [state.fsvi_losses(value)[0] for value in T_VALUES.tolist()]
    rolling = [state.rolling_loss(value) for value in T_VALUES.tolist()]
    return curves.floors_figure(T_VALUES, fsvi, rolling, n), ""


def read_failure() -> Values:
    case = segments(URL, "case", CASE, text.CASES)
    for name in ("mazeT", "move"):  # Streamlit forgets the value of a control that is not drawn
        URL.put(name, URL.get(name))
    if case == "maze":
        controls.value_slider(URL, "mazeT", state.MAZE_T, "Periods frozen T")
    else:
        controls.value_slider(URL, "move", state.MOVES, MOVE)
    return case, URL.get("mazeT"), URL.get("move")


def failure_numbers(case: str, T: int, move: float) -> Numbers:
    advice = text.fill(text.MAZE_ADVICE, numbers.labyrinth(T))
    if case == "maze":
        found, parts = numbers.labyrinth(T), (text.MAZE, text.MAZE_ALT, text.MAZE_LIVE)
    else:
        found, parts = numbers.season(move), (text.SEASON, text.SEASON_ALT, text.SEASON_LIVE)
    case, alt, live = (text.fill(part, found) for part in parts)
    return {
        "case": case,
        "alt": alt,
        "live": live,
        "advice": advice,
    }


def draw_failure(case: str, T: int, move: float) -> tuple[go.Figure, str]:
    if case == "maze":
        step = state.maze_level(T)
        return maze_figure(maze(), step.values_XY[0] > 0, step.policy_PXY[0, 0]), ""
    verdicts = [state.season_verdict(one) for one in state.MOVES]
    fsvi, rolling = [v.fsvi for v in verdicts], [v.rolling for v in verdicts]
    return curves.moves_figure(state.MOVES, fsvi, rolling, move, REMAINING), ""


PARTS = {
    "shop": Part(("seed",), read_shop, numbers.shop, draw_shop),
    "sweeps": Part(("gamma", "sweeps"), read_sweeps, numbers.sweeps, draw_sweeps),
    "lower": Part(("togo",), read_lower, numbers.lower, draw_lower),
    "upper": Part(("upperT", "k"), read_upper, numbers.upper, draw_upper),
    "path": Part(("pathT", "path"), read_path, numbers.path, draw_path),
    "errors": Part(("errorT",), read_errors, numbers.errors, draw_errors, errors_formula),
    "work": Part(("budget", "workT"), read_work, numbers.work, draw_work),
    "bound": Part(("boundT",), read_bound, numbers.bound, draw_bound, bound_formula),
    "rolling": Part(("frozen",), read_rolling, numbers.rolling, draw_rolling),
    "failure": Part(("case", "mazeT", "move"), read_failure, failure_numbers, draw_failure),
}
