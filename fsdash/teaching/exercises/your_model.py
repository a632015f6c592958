"""Exercises of the page Your model: which variable is slow, and what a wrong choice costs."""

from __future__ import annotations

from functools import cache

import pandas as pd

from fsdash.choice.splits import rank_splits
from fsdash.core.model import FastSlowMDP
from fsdash.models.examples import EXAMPLES as TABLES
from fsdash.models.files import load
from fsdash.models.slow import suggest_slow
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
)

COMPANY = TABLES[0]
EXAMPLE = {"example": COMPANY.name}
T = 4


@cache
def _company() -> FastSlowMDP:
    return load(COMPANY.path, **COMPANY.options)


def _slow_variable() -> Facts:
    table = suggest_slow(_company()).set_index("variable")
    (slow,) = table.index[table["suggestion"] == "slow"]
    (fast,) = table.index[table["suggestion"] != "slow"]
    return {
        "answer": slow,
        "slow_moves": f"{table.loc[slow, 'moves']:.0%}",
        "fast_moves": f"{table.loc[fast, 'moves']:.0%}",
    }


def _size() -> Facts:
    model = _company()
    return {"answer": model.n_pairs, "states": model.n_real, "slow": model.n_slow}


@cache
def _splits() -> pd.DataFrame:
    ranking = rank_splits(_company(), T=(T,), candidates=[("regime",), ("stock",)])
    return ranking.set_index("slow")[f"regret_T={T}"]


def _wrong_split() -> Facts:
    right, wrong = float(_splits()["regime"]), float(_splits()["stock"])
    answer = "more" if wrong > 2 * right else "same" if wrong > right / 2 else "less"
    return {"answer": answer, "T": T, "right": f"{right:.1%}", "wrong": f"{wrong:.1%}"}


EXERCISES = (
    Exercise(
        id="slow-variable",
        page="your_model",
        level=READ,
        title="Find the slow variable",
        question="The example *Company inventory* has two state variables. Which one should be "
        "slow?",
        answer=ChoiceAnswer({"regime": "regime", "stock": "stock"}),
        hint="The page shows how often each variable moves, and whether the actions influence it.",
        solution="{answer}: it moves in {slow_moves} of the periods, and its next value depends on "
        "itself alone. The other variable moves in {fast_moves} of the periods, with every order "
        "and every sale.",
        facts=_slow_variable,
        state=EXAMPLE,
    ),
    Exercise(
        id="model-size",
        page="your_model",
        level=COMPUTE,
        title="The size of a model",
        question="How many pairs of a state and a feasible action does the example *Company "
        "inventory* have? One sweep of value iteration updates all of them.",
        answer=NumberAnswer(unit="pairs"),
        hint="The preview of the model lists states and actions. Not every action is feasible in "
        "every state: orders that do not fit into the warehouse are missing.",
        solution="{answer} pairs on {states} states, with {slow} values of the slow variable.",
        facts=_size,
        state=EXAMPLE,
    ),
    Exercise(
        id="wrong-split",
        page="your_model",
        level=EXPLAIN,
        title="Freeze the wrong variable",
        question="Make the stock slow instead of the regime, save the model, and look at the "
        "regret of FSVI with T = 4. How does it compare with the right choice?",
        answer=ChoiceAnswer(
            {
                "more": "It is more than twice as large.",
                "same": "It is about the same.",
                "less": "It is less than half as large.",
            }
        ),
        hint="From the second period of a block on, the plan assumes that the frozen variable "
        "stays. How wrong is that for the stock?",
        solution="{answer} With the regime slow the mean regret at T = {T} is {right} of the "
        "regret of a policy that looks at this period only, with the stock slow it is {wrong}: "
        "freezing the variable that moves most makes the plan wrong from the second period on.",
        facts=_wrong_split,
        state=EXAMPLE,
    ),
)
