"""Exercises of the page Choose T: measured regret, the bound, and budgets."""

from __future__ import annotations

from functools import cache

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.choice.frontier import METHODS, frontier
from fsdash.choice.pareto import best_on_budget
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
    PageValues,
    StateAnswer,
)
from fsdash.theory import PRESETS, fsvi_regret, regimes, trivial_bound
from fsdash.theory.measured_domains import measured_domains

THEORY = PRESETS["three-regimes"]
LABELS = {"fsvi": "FSVI", "rolling": "Rolling freeze", "mpi": "MPI", "vi": "Base VI"}
DOMAIN = "inventory"


@cache
def _frontier() -> pd.DataFrame:
    """The points of the inventory that cost something, as the page draws them."""
    solved = solved_domain(make(DOMAIN))
    constants = measured_domains()[DOMAIN].constants
    points = frontier(solved, range(2, 25), constants=constants)
    return points[points["sweeps"] > 0]


def _best_method(sweeps: float) -> str | None:
    best = best_on_budget(_frontier(), sweeps)
    return None if best is None else str(best["method"])


def _small_budget() -> Facts:
    best = best_on_budget(_frontier(), 4)
    assert best is not None
    points = _frontier()
    floor = points[points["method"] == "fsvi"]["mean_regret"].min()
    return {
        "answer": str(best["method"]),
        "T": int(best["T"]),
        "regret": float(best["mean_regret"]),
        "floor": float(floor),
    }


def _base_vi_wins() -> Facts:
    won = regimes(THEORY.constants, THEORY.sizes, T=THEORY.T)
    last, before = won[-1], won[-2]
    floor = fsvi_regret(THEORY.constants, before.T, k=0).floor
    return {"answer": round(last.start / THEORY.sizes.sweep), "T": before.T, "floor": floor}


def _bound_factor() -> Facts:
    T, domain = 12, measured_domains()[DOMAIN]
    bound, largest = fsvi_regret(domain.constants, T, k=0).floor, domain.regret[T][0]
    return {
        "answer": bound / largest,
        "bound": bound,
        "largest": largest,
        "possible": trivial_bound(domain.constants),
    }


def _fsvi_is_best(page: PageValues) -> bool:
    measured = page["by"] == "model" and page["model"] == DOMAIN
    return measured and page["measure"] == "mean_regret" and _best_method(page["budget"]) == "fsvi"


def _fsvi_budget() -> Facts:
    points = _frontier()
    budgets = sorted(points["sweeps"])
    wins = [budget for budget in budgets if _best_method(budget) == "fsvi"]
    after = [budget for budget in budgets if budget > wins[-1]]
    return {"first": wins[0], "last": after[0]}


EXERCISES = (
    Exercise(
        id="small-budget",
        page="choose_t",
        level=READ,
        title="Four sweeps of work",
        question="On the inventory, which method has the smallest mean regret within 4 sweeps of "
        "Base VI?",
        answer=ChoiceAnswer({name: LABELS.get(name, ALGORITHMS[name].title) for name in METHODS}),
        hint="The headline names the method. In the figure it is the lowest point to the left of "
        "the budget's line.",
        solution="{answer}, with a horizon of {T} periods and a mean regret of {regret}. The best "
        "policy of FSVI, with any T and any number of iterations, has a mean regret of {floor}: "
        "it plays its plan for T periods, which costs something however long it is computed.",
        facts=_small_budget,
        state={"budget": "4"},
    ),
    Exercise(
        id="base-vi-wins",
        page="choose_t",
        level=READ,
        title="When freezing no longer helps",
        question="Under *Theory*, load the example *Three regimes*. From how many sweeps on does "
        "Base VI have the smallest bound? Give a whole number.",
        answer=NumberAnswer(unit="sweeps"),
        hint="Drag the budget to the right until the recommendation changes for the last time.",
        solution="From {answer} sweeps on. The bound of Base VI falls to 0, while every bound of "
        "FSVI stops at its floor. There Base VI falls below the floor of T = {T}, {floor}.",
        facts=_base_vi_wins,
        state={"by": "theory"},
    ),
    Exercise(
        id="bound-factor",
        page="choose_t",
        level=COMPUTE,
        title="How far is the bound from the truth?",
        question="On the inventory with T = 12, how many times larger is the paper's bound (for "
        "infinitely many iterations) than the true largest regret of FSVI? An answer within 5% "
        "counts.",
        answer=NumberAnswer(tolerance=0.05),
        hint="Under *Theory*, load *Inventory* and open the tab *Can I trust it?*. It has both "
        "numbers; divide them.",
        solution="{bound} / {largest} = {answer}. The bound uses the largest Lipschitz constants "
        "of the whole model and lets errors grow in every period as fast as these allow. No policy "
        "can lose more than {possible}, so the bound is vacuous; that says nothing about the "
        "policy.",
        facts=_bound_factor,
        state={"by": "theory", "tab": "trust", "domain": "inventory"},
    ),
    Exercise(
        id="fsvi-wins",
        page="choose_t",
        level=EXPLAIN,
        title="A budget for FSVI",
        question="Find a budget for which FSVI has the smallest mean regret on the inventory, "
        "measured on the model. Then press *Check this page*.",
        answer=StateAnswer(
            _fsvi_is_best,
            {"by": "model", "model": DOMAIN, "measure": "mean_regret", "budget": 1.3},
        ),
        hint="The steps of the lower level are cheap. Rolling freeze becomes better as soon as it "
        "can look further ahead.",
        solution="Any budget for which the headline names FSVI. The smallest one is {first} "
        "sweeps; from {last} sweeps on another method is better. Replanning in every period "
        "lowers the floor of FSVI.",
        facts=_fsvi_budget,
        state={"budget": "4"},
    ),
)
