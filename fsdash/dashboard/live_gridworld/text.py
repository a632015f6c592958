"""The wording of the Live gridworld: labels, and sentences about the race."""

from __future__ import annotations

from collections.abc import Mapping

from fsdash.dashboard.live_gridworld.edits import Edits
from fsdash.dashboard.live_gridworld.state import Race, Racer, first_to_reach

TITLE = "Which method recovers first when the map changes?"
SPEED_HELP = "Work of every method in one step, in sweeps of Base VI."
FLIP_HELP = "The outer and the inner tasks swap their rewards under both reward signals."
RESTART_HELP = "All methods start again from zero on the current map."
SIGNALS = {0: "w = 0", 1: "w = 1"}
SIGNAL_HELP = (
    "The slow state w says which ring pays well. The plans cover both signals; the maps show one."
)
WALL = "wall"
TOOLS = {WALL: "Paint walls", "move": "Move a reward"}
CELL = "Choose a cell by column and row instead of a click"
CELL_HELP = "Columns and rows count from 0 at the lower left."
PAINT_HINT = "Click or tap a cell on any map to build a wall there, or to remove it."
PICK_HINT = "Click or tap the head of a coloured arrow: the cell to which that task is delivered."
SETTLED = (
    "No share has changed for 25 sweeps, so the race has stopped. Change the map, or press Play."
)
LEVEL = 0.9
"""Share of the optimum at which a method counts as recovered."""
METHODS = {"rolling": "Rolling freeze", "vi": "Base VI"}
NOTICE = (
    "**Flipping the rings changes the model**, so all methods must plan again. If only the slow "
    "state w changed, no method would have to plan again: each plan has actions for both signals.",
    "**A frozen sweep** costs half as much as a sweep of Base VI, because the frozen model has one "
    "noise outcome where the true model has two. Rolling freeze makes frozen sweeps only: it never "
    "uses the true dynamics of w.",
    "**FSVI** has to solve its lower level again after each change, with T − 1 frozen sweeps. "
    "Meanwhile it plays the part of its block that is already solved. It converges to the best "
    "plan that commits to a block, not to the optimum.",
)


def title_of(racer: Racer, T: int) -> str:
    """The name of a method."""
    return METHODS.get(racer.method, f"FSVI, T = {T}")


def status_of(racer: Racer, wrong: int) -> str:
    """How far a method is on the present map, and how many of its arrows lose value."""
    n, phase = racer.shown.iteration, racer.shown.phase
    done = {
        "lower": f"lower level, sweep {n}",
        "upper": f"upper level, iteration {n}",
        "rolling": f"{n} frozen {_plural('sweep', n)}",
        "base": f"{n} {_plural('sweep', n)}",
    }[phase]
    arrows = f"{wrong} wrong {_plural('arrow', wrong)}" if wrong else "no wrong arrows"
    return f"{done} · {arrows}"


def describe_race(race: Race) -> str:
    """The share of the optimum of each method, and which ones have recovered from a change."""
    shares = [f"{r.share:.1%} ({title_of(r, race.T)})" for r in race.racers.values()]
    sentence = (
        f"After {_sweeps(race.sweeps)} of work each, the shares of the optimum are "
        f"{', '.join(shares[:-1])} and {shares[-1]}."
    )
    since = race.sweeps - race.changes[-1].sweeps if race.changes else race.sweeps
    if since == 0:
        return sentence
    back = first_to_reach(race, LEVEL)
    names = {m: title_of(r, race.T) for m, r in race.racers.items()}
    start = f"Since the last change ({race.changes[-1].name})" if race.changes else "So far"
    return f"{sentence} {start}, {_recovered(back, names)}."


def _recovered(back: Mapping[str, float], names: Mapping[str, str]) -> str:
    if not back:
        return f"no method has reached {LEVEL:.0%}"
    order = sorted(back, key=back.__getitem__)
    return f"{LEVEL:.0%} was reached by " + ", ".join(
        f"{names[method]} after {_sweeps(back[method])}" for method in order
    )


def describe_map(racer: Racer, T: int, wrong: int, signal: int) -> str:
    """The map of one method in words."""
    return (
        f"{title_of(racer, T)}: {status_of(racer, wrong)}, {racer.share:.1%} of the optimum. The "
        f"map shows the value of every cell and the move of an agent without a task, under "
        f"{SIGNALS[signal]}. Wrong moves, which lose value, are orange."
    )


def describe_curves(race: Race) -> str:
    """The chart of the shares in words."""
    return f"Share of the optimum against work. {describe_race(race)}"


def pick_hint(task: int | None) -> str:
    """What to click in order to move a reward."""
    if task is None:
        return PICK_HINT
    return f"Task {task} is selected. Click or tap the cell to which it is to be delivered."


def no_delivery(column: int, row: int) -> str:
    return f"No task ends in column {column}, row {row}. {PICK_HINT}"


def name_change(before: Edits, after: Edits) -> str:
    """What a change of the map did, in a word or two."""
    if after == Edits():
        return "map restored"
    if before.flipped != after.flipped:
        return "rings flipped"
    if before.moved != after.moved:
        return "reward moved"
    return "wall" if len(after.walls) > len(before.walls) else "wall removed"


def speed_label(sweeps: float) -> str:
    return f"{_sweeps(sweeps)} per step"


def _sweeps(count: float) -> str:
    return f"{round(count, 1):g} {_plural('sweep', round(count, 1))}"


def _plural(word: str, count: float) -> str:
    return word if count == 1 else f"{word}s"
