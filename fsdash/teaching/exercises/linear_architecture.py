"""Exercises of the page Linear architecture: amplification, misfits, iterations."""

from __future__ import annotations

import numpy as np

from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
)
from fsdash.theory import PRESETS, fsavi_bound

CONSTANTS = PRESETS["three-regimes"].constants
GOOD = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
TERMS = {
    "reward_term": "The reward error",
    "lower_fit_term": "The misfit of the lower level",
    "transition_term": "The transitions",
    "upper_fit_term": "The misfit of the upper level",
    "iteration_term": "The iterations",
}


def _largest_kappa() -> Facts:
    return {"gamma": CONSTANTS.gamma, "answer": 1 / CONSTANTS.gamma}


def _misfits() -> Facts:
    T = np.arange(1, 41)
    equal = {"kappa": GOOD["kappa"], "eps_low": 0.1, "eps_up": 0.1}
    terms = fsavi_bound(CONSTANTS, T, k=20, **equal)
    lower, upper = np.asarray(terms.lower_fit_term), np.asarray(terms.upper_fit_term)
    first = int(np.argmax(lower > upper))
    return {
        "answer": int(T[first]),
        "lower": float(lower[first]),
        "upper": float(upper[first]),
        "upper_1": float(upper[0]),
    }


def _iterations() -> Facts:
    """The one term that becomes smaller with more iterations."""
    few, many = (vars(fsavi_bound(CONSTANTS, 6, k=k, **GOOD)) for k in (2, 20))
    (falls,) = [name for name in TERMS if many[name] < few[name] * (1 - 1e-9)]
    return {"answer": falls, "few": few[falls], "many": many[falls]}


EXERCISES = (
    Exercise(
        id="largest-kappa",
        page="linear_architecture",
        level=COMPUTE,
        title="The largest amplification",
        question="The theorem requires κ·γ < 1. Which value must κ stay below for γ = 0.9? Give "
        "three digits.",
        answer=NumberAnswer(tolerance=0.001),
        hint="Solve κ·γ = 1 for κ, then move the slider of κ across this value.",
        solution="κ < 1/γ = 1/{gamma} = {answer}. At κ·γ = 1 each fit may amplify an error as much "
        "as discounting shrinks it, and fitted iteration can diverge.",
        facts=_largest_kappa,
    ),
    Exercise(
        id="two-misfits",
        page="linear_architecture",
        level=READ,
        title="Which misfit costs more?",
        question="With κ = 1.02 both misfits are 0.1. What is the smallest T for which the misfit "
        "of the lower level adds more to the proven bound than that of the upper level?",
        answer=NumberAnswer(),
        hint="Read the terms of the proven bound in the second figure, starting at T = 1.",
        solution="T = {answer}: the lower level's misfit adds {lower}, the upper level's {upper}. "
        "At T = 1 there is no lower level, and the upper level's misfit adds {upper_1}. Its factor "
        "shrinks with γ to the power T, while the lower level makes T − 1 fits in a row whose "
        "errors add up.",
        facts=_misfits,
        state={"T": "1", "elow": "0.1", "eup": "0.1"},
    ),
    Exercise(
        id="more-iterations",
        page="linear_architecture",
        level=EXPLAIN,
        title="What do more iterations buy?",
        question="Raise the number of upper iterations k from 2 to 20. Which term of the proven "
        "bound becomes smaller?",
        answer=ChoiceAnswer(TERMS),
        hint="Open the constants of the problem, change k, and compare the bars.",
        solution="{answer}: this term falls from {few} to {many}. The other terms do not depend on "
        "k: more iterations remove neither the error made by freezing nor that of the features.",
        facts=_iterations,
        state={"k": "2"},
    ),
)
