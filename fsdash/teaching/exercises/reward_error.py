"""Exercises of the page Reward error: the two errors of a plan with the slow state frozen."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

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
from fsdash.theory import PRESETS, reward_error
from fsdash.theory.landmarks import freeze_error_limit, peak
from fsdash.theory.parameters import constants_from

START = PRESETS["reward-error-small"].constants
LARGEST_T = 150


def _crossing() -> Facts:
    T_values = range(2, LARGEST_T + 1)
    errors = {T: reward_error(START, T) for T in T_values}
    T = next(T for T in T_values if errors[T].freeze > errors[T].end_of_horizon)
    return {
        "answer": T,
        "freeze": errors[T].freeze,
        "end": errors[T].end_of_horizon,
        "peak": peak(START, T_values).T,
    }


def _limit() -> Facts:
    now = reward_error(START, LARGEST_T).freeze
    return {"answer": freeze_error_limit(START), "now": now, "T": LARGEST_T}


def _grows() -> Facts:
    before = replace(START, l_f=1.05)
    after = replace(before, gamma=0.95)
    limit = freeze_error_limit(after)
    return {
        "before": f"{before.gamma * before.l_f:.4f}",
        "after": f"{after.gamma * after.l_f:.4f}",
        "limit": limit,
        "T": LARGEST_T,
        "now": reward_error(after, LARGEST_T).freeze,
        "answer": "limit" if isfinite(limit) else "grows",
    }


def _only_end_of_horizon(page: PageValues) -> bool:
    error = reward_error(constants_from(page), page["T"])
    return error.freeze == 0 and error.end_of_horizon > 0 and page["T"] > 2


def _without_drift() -> Facts:
    error = reward_error(replace(START, alpha=0.0), 12)
    return {"T": 12, "end": error.end_of_horizon}


EXERCISES = (
    Exercise(
        id="errors-cross",
        page="reward_error",
        level=READ,
        title="Where the two errors cross",
        question="What is the smallest T above 1 for which the bound on the freeze error is larger "
        "than the bound on the end-of-horizon error?",
        answer=NumberAnswer(),
        hint="Drag the vertical line to the point where the two curves cross, and compare the two "
        "numbers below the figure for T on both sides of it.",
        solution="T = {answer}: there the freeze error is at most {freeze} and the end-of-horizon "
        "error at most {end}. The total is largest long before, at T = {peak}, where nearly all of "
        "it is end-of-horizon error.",
        facts=_crossing,
        state={"T": "12"},
    ),
    Exercise(
        id="freeze-limit",
        page="reward_error",
        level=COMPUTE,
        title="The limit of the freeze error",
        question="Compute the limit of the freeze error for T → ∞ with α = 0.01, d_Y = 1, "
        "L_r = 0.5, γ = 0.953 and L_f = 0.99. Give two digits or more.",
        answer=NumberAnswer(tolerance=0.02),
        hint="The sum over all periods is α·d_Y·L_r·γ / ((1 − γ)(1 − γ·L_f)).",
        solution="α·d_Y·L_r·γ / ((1 − γ)(1 − γ·L_f)) = {answer}. At T = {T} the freeze error is "
        "{now}, already close to its limit.",
        facts=_limit,
        state={"T": "150"},
    ),
    Exercise(
        id="error-grows",
        page="reward_error",
        level=EXPLAIN,
        title="What decides whether the error stops growing?",
        question="With L_f = 1.05 and γ = 0.953 the freeze error grows without limit. Lower the "
        "discount to 0.95. What happens to the freeze error?",
        answer=ChoiceAnswer(
            {
                "grows": "It still grows without limit, because L_f is above 1.",
                "limit": "It has a limit, because γ·L_f is below 1.",
                "zero": "It becomes 0.",
            }
        ),
        hint="The second figure shows the limit for each L_f. Compare γ·L_f with 1.",
        solution="{answer} γ·L_f falls from {before} to {after}. The limit is {limit}. It is "
        "approached slowly: at T = {T} the freeze error is {now}.",
        facts=_grows,
        state={"Lf": "1.05", "T": "90"},
    ),
    Exercise(
        id="no-freeze-error",
        page="reward_error",
        level=EXPLAIN,
        title="An error without freezing",
        question="Set the page so that the freeze error is 0 and the end-of-horizon error is not, "
        "with T of at least 3. Then press *Check this page*.",
        answer=StateAnswer(
            _only_end_of_horizon,
            {
                "T": 12,
                "gamma": START.gamma,
                "alpha": 0.0,
                "dY": START.d_y,
                "Lr": START.l_r,
                "Lf": START.l_f,
                "LU": START.l_u,
                "rmax": START.r_max,
            },
        ),
        hint="When does an old value of x cost nothing?",
        solution="Set the slowness to α = 0. An old x costs nothing if x never moves, so the "
        "freeze error is 0. The end-of-horizon error remains ({end} at T = {T}): the lower level "
        "still plans as if nothing came after its block.",
        facts=_without_drift,
    ),
)
