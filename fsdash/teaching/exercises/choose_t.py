"""Exercises of the page Choose T: measured regret and budgets."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from fsdash.algorithms.optimum import regret
from fsdash.choice.frontier import Frontier, frontier
from fsdash.choice.pareto import best_on_budget
from fsdash.choice.solved import solved_domain
from fsdash.domains import make
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    Exercise,
    Facts,
    NumberAnswer,
    PageValues,
    StateAnswer,
)
from fsdash.theory.measured_domains import measured_domains

DOMAIN, BUDGET = "inventory", 20


@cache
def _frontier() -> Frontier:
    """The points of the inventory that cost something, as the page draws them."""
    solved = solved_domain(make(DOMAIN))
    constants = measured_domains()[DOMAIN].constants
    return frontier(solved, range(2, 25), constants=constants).with_work()


def _best_point(sweeps: float) -> pd.Series | None:
    return best_on_budget(_frontier(), sweeps)


def _floor() -> Facts:
    points = _frontier().points
    frozen = points[points["method"] == "fsvi"]
    lowest, best = frozen.loc[frozen["mean_regret"].idxmin()], _best_point(4)
    assert best is not None
    return {
        "answer": float(lowest["mean_regret"]),
        "T": int(lowest["T"]),
        "sweeps": float(lowest["sweeps"]),
        "n": int(best["T"]),
        "rolling": float(best["mean_regret"]),
    }


def _bound_choice() -> Facts:
    points = _frontier().points
    paid = points[(points["method"] == "fsvi") & (points["sweeps"] <= BUDGET)]
    by_bound, best = (paid.loc[paid[name].idxmin()] for name in ("bound", "mean_regret"))
    return {
        "answer": float(by_bound["mean_regret"] / best["mean_regret"]),
        "T_bound": int(by_bound["T"]),
        "T_best": int(best["T"]),
        "bound": float(by_bound["mean_regret"]),
        "best": float(best["mean_regret"]),
    }


def _is_useful_fsvi(sweeps: float) -> bool:
    """Whether FSVI has the smallest mean regret, and its policy earns half of the optimum."""
    best, optimal = _best_point(sweeps), solved_domain(make(DOMAIN)).optimal_return
    return best is not None and best["method"] == "fsvi" and best["mean_regret"] < optimal / 2


def _page_shows_useful_fsvi(page: PageValues) -> bool:
    return (
        page["model"] == DOMAIN
        and page["measure"] == "mean_regret"
        and _is_useful_fsvi(page["budget"])
    )


def _fsvi_budget() -> Facts:
    solved, budgets = solved_domain(make(DOMAIN)), sorted(_frontier().points["sweeps"])
    wins = [budget for budget in budgets if _is_useful_fsvi(budget)]
    cheapest = _best_point(budgets[0])
    assert cheapest is not None
    never = np.zeros((1, solved.model.n_slow, solved.model.n_fast), int)
    return {
        "first": wins[0],
        "last": next(budget for budget in budgets if budget > wins[-1]),
        "cheapest": budgets[0],
        "lost": float(cheapest["mean_regret"]),
        "never": regret(solved.model, never, best=solved.best).mean_regret,
    }


EXERCISES = (
    Exercise(
        id="fsvi-floor",
        page="choose_t",
        level=READ,
        title="The floor of FSVI",
        question="On the inventory, how small can the mean regret of FSVI become, with any T up to "
        "24 and any amount of work? An answer within 2% counts.",
        answer=NumberAnswer(tolerance=0.02),
        hint="Raise the budget until the sentence below the headline no longer changes. It says "
        "how much more FSVI would lose than the method in the headline.",
        solution="{answer}, with T = {T} and {sweeps} sweeps; more work does not lower it. FSVI "
        "plays its plan for T periods, which costs something however long it is computed. Rolling "
        "freeze with n = {n} has a mean regret of {rolling} within 4 sweeps.",
        facts=_floor,
        state={"budget": "4"},
    ),
    Exercise(
        id="bound-choice",
        page="choose_t",
        level=COMPUTE,
        title="What a bound costs as an adviser",
        question="On the inventory with 20 sweeps, let the regret bound choose T of FSVI. How many "
        "times larger is the mean regret than with the best T in hindsight? An answer within 2% "
        "counts.",
        answer=NumberAnswer(tolerance=0.02),
        hint="The table below the figure has both mean regrets; divide them.",
        solution="{bound} / {best} = {answer}: the bound chooses T = {T_bound}, and the best is "
        "T = {T_best}. A bound that is vacuous for every T still orders them, but by the worst "
        "model with the same constants and not by this one.",
        facts=_bound_choice,
        state={"budget": "20"},
    ),
    Exercise(
        id="fsvi-wins",
        page="choose_t",
        level=EXPLAIN,
        title="A budget for FSVI",
        question="Find a budget for which FSVI has the smallest mean regret on the inventory, "
        "and loses less than half of the optimum. Then press *Check this "
        "page*.",
        answer=StateAnswer(
            _page_shows_useful_fsvi,
            {"model": DOMAIN, "measure": "mean_regret", "budget": 1.5},
        ),
        hint="The steps of the lower level are cheap, but a plan of a few periods hardly orders. "
        "Rolling freeze becomes better as soon as it can look further ahead.",
        solution="Any budget from {first} to just below {last} sweeps, where Rolling freeze takes "
        "over. FSVI has the smallest regret with less work too, but its policy is then of no use: "
        "with {cheapest} sweeps it loses {lost}, and a shop that never orders loses {never}.",
        facts=_fsvi_budget,
        state={"budget": "4"},
    ),
)
