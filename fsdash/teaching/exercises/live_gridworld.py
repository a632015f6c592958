"""Exercises of the page Live gridworld: three exact methods on one clock of work."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from fsdash.algorithms import Snapshot, fsvi, rolling, vi
from fsdash.algorithms.optimum import regret
from fsdash.choice.solved import solved_domain
from fsdash.domains import make
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
)

DOMAIN, T = "gridworld", 10
EARLY, LATE = 5, 60
"""Sweeps of work after which the methods are compared."""
LEVEL = 0.99
METHODS = {"fsvi": "FSVI, T = 10", "rolling": "Rolling freeze", "vi": "Base VI"}


def _snapshots(method: str) -> Iterator[Snapshot]:
    model = solved_domain(make(DOMAIN)).model
    if method == "vi":
        return vi(model)
    if method == "rolling":
        return rolling(model, 2 * LATE)
    # As on the page: while the lower level is solved, FSVI uses what it knows of its block.
    return (step for step in fsvi(model, T) if step.policy_kind != "rolling")


@cache
def share_after(method: str, sweeps: int) -> float:
    """The share of the optimum that a method has reached with the work of some sweeps."""
    solved = solved_domain(make(DOMAIN))
    sweep, last = solved.model.n_pairs * solved.model.true.outcomes, None
    for step in _snapshots(method):
        if step.evaluations > sweeps * sweep:
            break
        last = step
    assert last is not None
    lost = regret(solved.model, last.policy_PXY, best=solved.best).mean_regret
    return 1 - lost / solved.optimal_return


def _shares(sweeps: int) -> dict[str, str]:
    return {method: f"{share_after(method, sweeps):.0%}" for method in METHODS}


def _leader() -> Facts:
    return {
        "answer": max(METHODS, key=lambda method: share_after(method, EARLY)),
        "sweeps": EARLY,
        **_shares(EARLY),
    }


def _lower_work() -> Facts:
    model = solved_domain(make(DOMAIN)).model
    frozen = model.frozen.outcomes / model.true.outcomes
    return {"answer": (T - 1) * frozen, "steps": T - 1, "share": frozen, "T": T}


def _stays_below() -> Facts:
    (below,) = [method for method in METHODS if share_after(method, LATE) < LEVEL]
    return {"answer": below, "sweeps": LATE, **_shares(LATE)}


EXERCISES = (
    Exercise(
        id="race-leader",
        page="live_gridworld",
        level=READ,
        title="Five sweeps of work",
        question="Press *Restart* and then *Step* once, with a speed of 5 sweeps per step. Which "
        "method has the largest share of the optimum?",
        answer=ChoiceAnswer(METHODS),
        hint="The sentence below the buttons and the figure below it show the three shares.",
        solution="{answer}. After {sweeps} sweeps of work each, FSVI has {fsvi} of the optimum, "
        "rolling freeze {rolling} and Base VI {vi}. Rolling freeze makes two frozen sweeps for the "
        "work of one, and replans in every period.",
        facts=_leader,
        state={"speed": "5.0"},
    ),
    Exercise(
        id="lower-level-work",
        page="live_gridworld",
        level=COMPUTE,
        title="The work before the first upper iteration",
        question="A sweep of the frozen model has one outcome where a sweep of Base VI has two. "
        "After the work of how many sweeps of Base VI has FSVI with T = 10 solved its lower level?",
        answer=NumberAnswer(tolerance=0.001, unit="sweeps"),
        hint="The lower level makes T − 1 frozen sweeps. Below the name of the method the page "
        "says where it is; make steps of 0.5 sweeps.",
        solution="T − 1 = {steps} frozen sweeps cost {share} sweeps of Base VI each: {answer} "
        "sweeps. After each change of the map FSVI has to do this work again.",
        facts=_lower_work,
        state={"T": "10"},
    ),
    Exercise(
        id="stays-below",
        page="live_gridworld",
        level=EXPLAIN,
        title="Which method stays below the optimum?",
        question="Press *Play* and wait until the race stops. One method stays below "
        "the optimum. Which one, and why?",
        answer=ChoiceAnswer(
            {
                "fsvi": "FSVI: it commits to its plan for a block, and more work does not change "
                "that.",
                "rolling": "Rolling freeze: it never uses the true dynamics of the slow state.",
                "vi": "Base VI: each of its sweeps looks only one period further ahead.",
            }
        ),
        hint="Compare the ends of the three curves.",
        solution="{answer} After {sweeps} sweeps the shares are {fsvi} (FSVI), {rolling} (rolling "
        "freeze) and {vi} (Base VI). Rolling freeze also plans with a frozen slow state, but it "
        "uses only the first action of each plan.",
        facts=_stays_below,
        state={"T": "10", "speed": "5.0"},
    ),
)
