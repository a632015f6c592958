"""Exercises of the page Bounds: the two errors of a plan, regret and budget, features."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import numpy as np

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
from fsdash.theory import PRESETS, fsavi_bound, fsvi_bound, regimes, reward_error, trivial_bound
from fsdash.theory.landmarks import freeze_error_limit, peak
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory.parameters import constants_from

PAPER, THEORY = PRESETS["reward-error-small"].constants, PRESETS["three-regimes"]
LARGEST_T = 150
PAPER_STATE = {
    **{"gamma": "0.953", "alpha": "0.01", "Lf": "0.99", "LU": "1", "rmax": "1"},
    "range": "150",
}
"""The page with the constants of the paper's figure of the reward error."""
GOOD = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
FITTED_TERMS = {
    "reward_term": "The reward error",
    "lower_fit_term": "The misfit of the lower level",
    "transition_term": "The transitions",
    "upper_fit_term": "The misfit of the upper level",
    "iteration_term": "The iterations",
}


def _crossing() -> Facts:
    T_values = range(2, LARGEST_T + 1)
    errors = {T: reward_error(PAPER, T) for T in T_values}
    T = next(T for T in T_values if errors[T].freeze > errors[T].end_of_horizon)
    return {
        "answer": T,
        "freeze": errors[T].freeze,
        "end": errors[T].end_of_horizon,
        "peak": peak(PAPER, T_values).T,
    }


def _limit() -> Facts:
    now = reward_error(PAPER, LARGEST_T).freeze
    return {"answer": freeze_error_limit(PAPER), "now": now, "T": LARGEST_T}


def _grows() -> Facts:
    before = replace(PAPER, l_f=1.05)
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
    error = reward_error(replace(PAPER, alpha=0.0), 12)
    return {"T": 12, "end": error.end_of_horizon}


def _base_vi_wins() -> Facts:
    won = regimes(THEORY.constants, THEORY.sizes, T=THEORY.T)
    last, before = won[-1], won[-2]
    floor = fsvi_bound(THEORY.constants, before.T, k=0).floor
    return {"answer": round(last.start / THEORY.sizes.sweep), "T": before.T, "floor": floor}


def _bound_factor() -> Facts:
    T, domain = 12, measured_domains()["inventory"]
    bound, largest = fsvi_bound(domain.constants, T, k=0).floor, domain.regret[T][0]
    return {
        "answer": bound / largest,
        "bound": bound,
        "largest": largest,
        "possible": trivial_bound(domain.constants),
    }


def _largest_kappa() -> Facts:
    return {"gamma": THEORY.constants.gamma, "answer": 1 / THEORY.constants.gamma}


def _misfits() -> Facts:
    T = np.arange(1, 41)
    equal = {"kappa": GOOD["kappa"], "eps_low": 0.1, "eps_up": 0.1}
    terms = fsavi_bound(THEORY.constants, T, k=20, **equal)
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
    few, many = (vars(fsavi_bound(THEORY.constants, 6, k=k, **GOOD)) for k in (2, 20))
    (falls,) = [name for name in FITTED_TERMS if many[name] < few[name] * (1 - 1e-9)]
    return {"answer": falls, "few": few[falls], "many": many[falls]}


EXERCISES = (
    Exercise(
        id="errors-cross",
        page="bounds",
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
        state=PAPER_STATE | {"T": "12"},
    ),
    Exercise(
        id="freeze-limit",
        page="bounds",
        level=COMPUTE,
        title="The limit of the freeze error",
        question="Compute the limit of the freeze error for T → ∞ with α = 0.01, d_Y = 1, "
        "L_r = 0.5, γ = 0.953 and L_f = 0.99. Give two digits or more.",
        answer=NumberAnswer(tolerance=0.02),
        hint="The sum over all periods is α·d_Y·L_r·γ / ((1 − γ)(1 − γ·L_f)).",
        solution="α·d_Y·L_r·γ / ((1 − γ)(1 − γ·L_f)) = {answer}. At T = {T} the freeze error is "
        "{now}, already close to its limit.",
        facts=_limit,
        state=PAPER_STATE | {"T": "150"},
    ),
    Exercise(
        id="error-grows",
        page="bounds",
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
        state=PAPER_STATE | {"Lf": "1.05", "T": "90"},
    ),
    Exercise(
        id="no-freeze-error",
        page="bounds",
        level=EXPLAIN,
        title="An error without freezing",
        question="Set the page so that the freeze error is 0 and the end-of-horizon error is not, "
        "with T of at least 3. Then press *Check this page*.",
        answer=StateAnswer(
            _only_end_of_horizon,
            {
                "T": 12,
                "gamma": PAPER.gamma,
                "alpha": 0.0,
                "dY": PAPER.d_y,
                "Lr": PAPER.l_r,
                "Lf": PAPER.l_f,
                "LU": PAPER.l_u,
                "rmax": PAPER.r_max,
            },
        ),
        hint="When does an old value of x cost nothing?",
        solution="Set the slowness to α = 0. An old x costs nothing if x never moves, so the "
        "freeze error is 0. The end-of-horizon error remains ({end} at T = {T}): the lower level "
        "still plans as if nothing came after its block.",
        facts=_without_drift,
        state=PAPER_STATE,
    ),
    Exercise(
        id="base-vi-wins",
        page="bounds",
        level=READ,
        title="When freezing no longer helps",
        question="Load the example *Three regimes*. From how many sweeps on does "
        "Base VI have the smallest bound? Give a whole number.",
        answer=NumberAnswer(unit="sweeps"),
        hint="Drag the budget to the right until the recommendation changes for the last time.",
        solution="From {answer} sweeps on. The bound of Base VI falls to 0, while every bound of "
        "FSVI stops at its floor. There Base VI falls below the floor of T = {T}, {floor}.",
        facts=_base_vi_wins,
        state={"tab": "regret"},
    ),
    Exercise(
        id="bound-factor",
        page="bounds",
        level=COMPUTE,
        title="How far is the bound from the truth?",
        question="On the inventory with T = 12, how many times larger is the paper's bound (for "
        "infinitely many iterations) than the true largest regret of FSVI? An answer within 5% "
        "counts.",
        answer=NumberAnswer(tolerance=0.05),
        hint="*Can I trust it?* has both numbers; divide them.",
        solution="{bound} / {largest} = {answer}. The bound uses the largest Lipschitz constants "
        "of the whole model and lets errors grow in every period as fast as these allow. No policy "
        "can lose more than {possible}, so the bound is vacuous; that says nothing about the "
        "policy.",
        facts=_bound_factor,
        state={"tab": "regret", "detail": "trust", "domain": "inventory"},
    ),
    Exercise(
        id="largest-kappa",
        page="bounds",
        level=COMPUTE,
        title="The largest amplification",
        question="The theorem requires κ·γ < 1. Which value must κ stay below for γ = 0.9? Give "
        "three digits.",
        answer=NumberAnswer(tolerance=0.001),
        hint="Solve κ·γ = 1 for κ, then move the slider of κ across this value.",
        solution="κ < 1/γ = 1/{gamma} = {answer}. At κ·γ = 1 each fit may amplify an error as much "
        "as discounting shrinks it, and fitted iteration can diverge.",
        facts=_largest_kappa,
        state={"tab": "linear"},
    ),
    Exercise(
        id="two-misfits",
        page="bounds",
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
        state={"tab": "linear", "T": "1", "elow": "0.1", "eup": "0.1"},
    ),
    Exercise(
        id="more-iterations",
        page="bounds",
        level=EXPLAIN,
        title="What do more iterations buy?",
        question="Raise the number of upper iterations k from 2 to 20. Which term of the proven "
        "bound becomes smaller?",
        answer=ChoiceAnswer(FITTED_TERMS),
        hint="Open *More constants*, change k, and compare the bars.",
        solution="{answer}: this term falls from {few} to {many}. The other terms do not depend on "
        "k: more iterations remove neither the error made by freezing nor that of the features.",
        facts=_iterations,
        state={"tab": "linear", "k": "2", "T": "6"},
    ),
)
