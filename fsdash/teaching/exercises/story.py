"""Exercises of the page The story: sweeps, and a season that is not slow."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from fsdash.algorithms import vi
from fsdash.choice.solved import REMAINING, Suitability
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
from fsdash.teaching.shop import SHOP, best, shop, solved_shop

PRECISION = 0.01


def sweeps_needed(gamma: float) -> int:
    """Sweeps of value iteration from zero until the values of the shop are off by 1%."""
    U_XY = best(gamma).U_XY
    limit = PRECISION * np.abs(U_XY).max()
    errors = (np.abs(step.values_XY - U_XY).max() for step in vi(shop(gamma)))
    return next(k for k, error in enumerate(errors) if error <= limit)


def _sweeps() -> Facts:
    return {
        "answer": sweeps_needed(0.99),
        "gamma": SHOP.gamma,
        "before": sweeps_needed(SHOP.gamma),
    }


def _guaranteed() -> Facts:
    gamma = 0.95
    answer = ceil(log(PRECISION) / log(gamma))
    return {"gamma": gamma, "answer": answer, "needed": sweeps_needed(gamma)}


def _verdict(move: float) -> Suitability:
    return solved_shop(move=move).freezing


def _does_not_suit(page: PageValues) -> bool:
    return page["case"] == "season" and not _verdict(page["move"]).suits


def _fast_season() -> Facts:
    moves = 0.5
    slow, fast = _verdict(SHOP.move), _verdict(moves)
    return {
        "limit": f"{REMAINING:.0%}",
        "move": SHOP.move,
        "slow": f"{min(slow.fsvi, slow.rolling):.1%}",
        "moves": moves,
        "fast": f"{min(fast.fsvi, fast.rolling):.0%}",
    }


EXERCISES = (
    Exercise(
        id="sweeps-near-one",
        page="story",
        level=READ,
        title="A discount factor closer to one",
        question="In section 2, how many sweeps does value iteration need with γ = 0.99 until the "
        "values are off by at most 1%?",
        answer=NumberAnswer(unit="sweeps"),
        hint="Move γ to 0.99 and read the number in the last sentence of the section.",
        solution="{answer} sweeps; with γ = {gamma} they were {before}. Halving 1 − γ doubles the "
        "number of sweeps, because each sweep shrinks the error by the factor γ only.",
        facts=_sweeps,
        state={"section": "2"},
    ),
    Exercise(
        id="guaranteed-sweeps",
        page="story",
        level=COMPUTE,
        title="How many sweeps does the formula promise?",
        question="Value iteration starts from U⁰ = 0, with γ = 0.95. After how many sweeps does "
        "the formula of section 2 guarantee that the largest error is at most 1% of the largest "
        "value? Give a whole number.",
        answer=NumberAnswer(unit="sweeps"),
        hint="Find the smallest k with γ to the power k at most 0.01; take logarithms.",
        solution="The smallest k with {gamma}^k ≤ 0.01 is k = {answer}, because k is at least "
        "log 0.01 / log {gamma}. On the shop {needed} sweeps are enough: the formula is a bound, "
        "and the page measures the error.",
        facts=_guaranteed,
        state={"section": "2", "gamma": "0.95"},
    ),
    Exercise(
        id="fast-season",
        page="story",
        level=EXPLAIN,
        title="A season that is not slow",
        question="In section 10 choose *Fast season* and find a probability of a move for which "
        "freezing does not suit the shop. Then press *Check this page*. Why does it not suit?",
        answer=StateAnswer(_does_not_suit, {"case": "season", "move": 0.5}),
        hint="The plan assumes that the season does not change. How long must that be true for the "
        "plan to be useful? The last sentence of the section says whether freezing suits the shop.",
        solution="Freezing suits the shop if it leaves at most {limit} of the regret of a policy "
        "that looks at this week only. With a probability of {move} it leaves {slow}, with {moves} "
        "it leaves {fast}: the frozen plan is out of date after a week or two.",
        facts=_fast_season,
        state={"section": "10"},
    ),
)
