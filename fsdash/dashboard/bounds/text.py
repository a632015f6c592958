"""Sentences of the Bounds page about the numbers that it shows."""

from dataclasses import replace
from functools import lru_cache
from math import isfinite, isinf

import numpy as np

from fsdash.dashboard.bounds.state import TRUSTED_T, RegretState
from fsdash.domains import domain_label, is_saved_name
from fsdash.figures.palette import competitor_label
from fsdash.formatting import escape_markdown, factor, number
from fsdash.theory import (
    Advice,
    BoundedRun,
    Constants,
    Sizes,
    reward_error,
    rolling_bound,
    trivial_bound,
)
from fsdash.theory.landmarks import (
    critical_l_f,
    freeze_error_limit,
    reward_error_limit,
    reward_error_shape,
)
from fsdash.theory.measured_domains import MeasuredDomain
from fsdash.theory.parameters import frozen_steps


def example_label(name: str) -> str:
    """The label of an example: of a preset such as "three-regimes", or of a measured domain."""
    if name.startswith("reward-error"):
        return f"Paper, {name.removeprefix('reward-error-')} L_f"
    if is_saved_name(name):
        return escape_markdown(domain_label(name))
    return name.replace("-", " ").capitalize()


# ------------------------------------------------------------------------------------ reward error


def describe_reward_error(constants: Constants, T: int) -> str:
    """Which of the two errors is larger at this T, and the effect of one more period."""
    here, longer = reward_error(constants, T), reward_error(constants, T + 1)
    if T == 1:
        return "With T = 1 nothing is frozen: this is value iteration, and both errors are 0."
    if here.total == 0:
        return f"At T = {T} both errors are 0 with these constants."
    if here.freeze > here.end_of_horizon:
        larger = "**freeze error** is the larger one: the plan uses an old slow state for long."
    else:
        larger = (
            "**end-of-horizon error** is the larger one: the lower level plans as if nothing came "
            "after the block."
        )
    total, next_total = number(float(here.total)), number(float(longer.total))
    change = "raise" if longer.total > here.total else "lower"
    step = f"One more period would {change} the total to {next_total}."
    if next_total == total:
        step = f"One more period would hardly change the total, {total}."
    largest = trivial_bound(constants) * (1 - constants.gamma**T)
    vacuous = (
        "The bound is vacuous here (the grey area): over T periods no reward error can exceed "
        f"{number(largest)}."
        if here.total >= largest
        else ""
    )
    return f"At T = {T} the {larger} {step} {vacuous}".rstrip()


def describe_course(constants: Constants, T_values: np.ndarray) -> str:
    """How the total runs over the range shown and beyond."""
    shape, limit = reward_error_shape(constants, T_values), reward_error_limit(constants)
    last, end = shape.end
    if isfinite(limit):
        beyond = f"As T grows further, it tends to {number(limit)}."
    else:
        product = factor(constants.gamma * constants.l_f)
        beyond = f"As T grows further, it grows without limit, because γL_f = {product} ≥ 1."
    if shape.top is None:
        if end == 0:
            return "The total is 0 for every T."
        if 0.95 * limit <= end <= 1.05 * limit:
            return f"The total rises to {number(end)} and levels off."
        return f"Up to T = {last} each further period raises the bound, to {number(end)}. {beyond}"
    top_T, top = shape.top
    peak = f"The total peaks at T = {top_T} with {number(top)}"
    if shape.rises_again:
        low_T, low = shape.bottom
        return (
            f"{peak}, falls to its minimum, {number(low)} at T = {low_T}, and then grows again, to "
            f"{number(end)} at T = {last}. {beyond}"
        )
    if limit <= top / 2:
        beyond = (
            "The bound is small on both sides of the peak: for small T, where little is frozen, "
            "and for large T, where the end of a block hardly matters."
        )
    return f"{peak} and falls to {number(end)} at T = {last}. {beyond}"


def describe_limit(constants: Constants, largest_l_f: float) -> list[str]:
    """Whether the freeze error has a limit as T grows, and for which L_f it has one."""
    if constants.alpha * constants.d_y * constants.l_r == 0:
        return [
            "There is no freeze error here, and nothing to draw: the slow state never moves, or "
            "the reward does not depend on it. Increase $\\alpha$, $d_Y$ or $L_r$."
        ]
    critical, product = critical_l_f(constants.gamma), factor(constants.gamma * constants.l_f)
    if constants.gamma * constants.l_f >= 1:
        here = (
            f"Here $\\gamma L_f = {product} \\ge 1$: differences between states grow at least as "
            "fast as discounting shrinks them, so the freeze error has **no limit** as T grows. It "
            f"has one for $L_f < 1/\\gamma = {critical:.3f}$."
        )
    else:
        ceiling = number(float(freeze_error_limit(constants)))
        slowly = " It approaches this limit slowly." if constants.l_f > 1 else ""
        here = (
            f"Here $\\gamma L_f = {product} < 1$: as T grows, the end-of-horizon error goes to 0 "
            f"and the freeze error **stays below {ceiling}**.{slowly}"
        )
    if critical > largest_l_f:
        sides = f"$1/\\gamma = {critical:.3g}$ is larger than every $L_f$ shown: all have a limit."
    else:
        sides = (
            "To the left of the dashed line the freeze error has a limit. To the right of it, each "
            "further frozen period costs more than the one before."
        )
    return [here, f"{sides} The paper separates the two cases at $L_f = 1$ instead."]


# ------------------------------------------------------------------------------- regret and budget

COUNTEREXAMPLE = {
    "gamma": 0.9,
    "long_T": 300,
    "long_regret": "9.0",
    "long_bound": "4.68",
    "short_T": 80,
    "short_regret": "8.98",
    "short_bound": "9.82",
}
"""Of tests/theory/test_counterexample.py."""
CONDITION = (
    "**The theorem does not hold as stated in the arXiv text, but under a condition:** the proof "
    "compares with a lower level that is optimal under the true dynamics, and the policy uses the "
    "one that is optimal under the frozen dynamics. The theorem holds if the frozen dynamics are "
    "no more sensitive than the true ones, $\\tilde L \\le L_f$, as in the three domains. The "
    "paper's algorithms, experiments and qualitative conclusions do not depend on it. Without this "
    "condition the bound can fail for a large T. In a small model with γ = {gamma}, the true "
    "regret at T = {long_T} is {long_regret} and the bound {long_bound}. At T = {short_T} they are "
    "{short_regret} and {short_bound}, so the bound still holds there. The *repaired* bound, under "
    "*Competitors*, does not need the condition:"
).format(**COUNTEREXAMPLE)


def truth(name: str, domain: MeasuredDomain, bound: float) -> str:
    """How the bound on a measured domain compares with the true regret of FSVI."""
    true = domain.regret[TRUSTED_T][0]
    eta, _ = frozen_steps(domain.constants)
    own_map = (
        " The theorem assumes that freezing x does not change how y moves. Here it does, so only "
        "the *repaired* bound, with η in place of α·d_Y, is proven for this model."
        if eta > (1 + 1e-9) * domain.constants.alpha * domain.constants.d_y
        else ""
    )
    return (
        f"**{example_label(name)}, T = {TRUSTED_T}:** the bound is {number(bound)}, the largest "
        f"possible loss is {number(trivial_bound(domain.constants))}, and the true regret of FSVI "
        f"is **{number(true)}** (evaluated exactly under the true model). The bound is "
        f"{number(bound / true)} times the true regret, because the Lipschitz constants describe "
        "the steepest part of the model. `fsdash solve` computes the true regret for any T."
        f"{own_map}"
    )


def off_scale(names: list[str]) -> str:
    """Which competitors the figure does not show."""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{listed} {'is' if len(names) == 1 else 'are'} off the scale."


def headline(state: RegretState) -> str:
    """The algorithm, T and k with the smallest bound."""
    if state.advice is None:
        return "This budget is too small"
    if is_vacuous(state.advice):
        return "The bound cannot choose T here"
    return f"Smallest bound: {_run(state.advice.choice)}"


def is_vacuous(advice: Advice) -> bool:
    """Whether the smallest bound is above the largest possible loss, so that it says nothing."""
    return advice.choice.regret >= advice.trivial_bound > 0


def _run(choice: BoundedRun) -> str:
    if choice.algorithm == "VI":
        return f"Base VI: k = {choice.k:,} {'sweep' if choice.k == 1 else 'sweeps'}"
    return f"FSVI with T = {choice.T}, k = {choice.k:,}"


def reasons(state: RegretState) -> str:
    """The cost of the recommendation, the second best, and the budgets for which it holds."""
    advice = state.advice
    if advice is None:
        return (
            f"A budget of {number(state.sweeps)} sweeps is less than the cost of the cheapest run, "
            f"one sweep of Base VI ({number(state.sizes.sweep)} operations). Raise it to 1 or more."
        )
    cost = f"It costs {sweep_count(advice.choice.cost / state.sizes.sweep)}."
    parts = (_warning(advice), cost, _second_best(advice), _stays(advice, state.sizes))
    return " ".join(part for part in parts if part)


def recommendation_numbers(advice: Advice) -> dict[str, str]:
    """The recommendation's bound, and its ratio to the largest possible loss, by label."""
    regret, trivial = advice.choice.regret, advice.trivial_bound
    ratio = regret / trivial if trivial else 0.0
    text = f"{number(100 * ratio)}%" if ratio < 10 else f"{number(ratio)}×"
    return {"Regret bound": number(regret), "Bound ÷ largest possible loss": text}


def sweep_count(sweeps: float) -> str:
    """A number of sweeps with its unit."""
    count = number(sweeps)
    return f"{count} {'sweep' if count == '1' else 'sweeps'}"


def _warning(advice: Advice) -> str:
    """A warning if the best bound gives no information."""
    regret, trivial = advice.choice.regret, advice.trivial_bound
    if trivial == 0:
        return "With r_max = 0 every policy earns the same, so the choice does not matter."
    if is_vacuous(advice):
        return (
            f"**The bound is vacuous here:** even the smallest one, that of {_run(advice.choice)}, "
            f"is {number(regret / trivial)} times the largest possible loss ({number(trivial)}). "
            "Measure the regret on a model instead, or see *Can I trust it?* below."
        )
    return ""


def _second_best(advice: Advice) -> str:
    if len(advice.candidates) < 2:
        return "No other choice fits the budget."
    best, second = advice.candidates[:2]
    name = competitor_label(second.T)
    if best.regret == second.regret:
        return f"{name} has the same bound."
    close = ", practically a tie" if second.regret < 1.05 * best.regret else ""
    return f"{name} has the second smallest bound, {number(second.regret)}{close}."


def _stays(advice: Advice, sizes: Sizes) -> str:
    """The budgets for which this bound is the smallest."""
    regime = next(regime for regime in advice.regimes if advice.budget in regime)
    name, start, end = (
        competitor_label(regime.T),
        regime.start / sizes.sweep,
        regime.end / sizes.sweep,
    )
    if end == float("inf"):
        return f"{name} has the smallest bound from {sweep_count(start)} on."
    return f"{name} has the smallest bound from {number(start)} to {sweep_count(end)}."


def notices(state: RegretState) -> list[str]:
    """On the floors, on where the curves start, on large T, and on rolling freeze."""
    growth = describe_growth(state.constants, state.frozen_sensitivity)
    return [describe_floors(state), describe_starts(state), growth, describe_rolling(state)]


def describe_rolling(state: RegretState) -> str:
    """The smallest bound of rolling freeze within the range of budgets that is drawn."""
    n, bound = int(state.rolling.n[-1]), float(state.rolling.regret[-1])
    sentences = [
        f"**Rolling freeze** (dotted) has its smallest bound, {number(bound)}, at n = {n:,}."
    ]
    if rolling_bound(state.constants, n + 1, n_slow=state.sizes.n_slow).total > bound:
        sentences.append(
            "With a larger n it sees further ahead, but what one move of x changes in its plan "
            "weighs more."
        )
    if bound >= trivial_bound(state.constants) > 0:
        sentences.append("All its bounds are in the grey area.")
    return " ".join(sentences)


def describe_floors(state: RegretState) -> str:
    """The values at which the curves of all competitors end."""
    floors = np.ravel(state.bound(state.constants, list(state.competing), k=0).floor)
    if floors.max() == 0:
        return (
            "No curve has a floor here: with these constants freezing causes no error, and every "
            "bound falls to 0, like that of Base VI."
        )
    lowest = int(np.argmin(floors))
    vacuous = (
        " All floors are in the grey area: no budget makes the bound of FSVI informative here."
        if floors[lowest] >= trivial_bound(state.constants) > 0
        else ""
    )
    return (
        "FSVI's curves end at a **floor**: more iterations cannot remove the error made by "
        f"freezing. Among the competitors, T = {state.competing[lowest]} has the lowest floor, "
        f"{number(floors[lowest])}. Base VI has none.{vacuous}"
    )


def describe_starts(state: RegretState) -> str:
    """How the first step of a curve depends on T."""
    best = {state.advice.choice.T} if state.advice else set()
    plotted = sorted({1, *state.T, *best})
    first = np.ravel(state.bound(state.constants, plotted, k=1).total)
    if (first[1:] < first[:-1]).all():
        return (
            "A larger T starts **lower but later**: each iteration looks T periods ahead, but the "
            "lower level must be computed first."
        )
    lowest = competitor_label(plotted[int(np.argmin(first))])
    return (
        "A larger T starts **later**: the lower level must be computed first. Each iteration looks "
        "T periods ahead, but the error made by freezing depends on T too. Among the plotted "
        f"curves, {lowest} starts lowest."
    )


@lru_cache(maxsize=64)
def describe_growth(c: Constants, l_frozen: float | None) -> str:
    """Whether the bound grows without limit with T; independent of the budget.

    L̃ is None for the bound as stated. The repaired one has η in place of α·d_Y.
    """
    if l_frozen is None:
        l_frozen = c.l_f
    else:
        c = replace(c, alpha=frozen_steps(c)[0], d_y=1.0)
    name, largest = ("L̃", l_frozen) if l_frozen > c.l_f else ("L_f", c.l_f)
    if isinf(freeze_error_limit(c, l_frozen)) or isinf(reward_error_limit(c)):
        return (
            f"γ{name} = {factor(c.gamma * largest)} ≥ 1: differences between states grow at least "
            "as fast as discounting shrinks them, and the bound grows without limit with T. This "
            "rules out a large T for every budget."
        )
    if c.alpha * c.d_y * c.l_r == 0:
        return (
            "The slow state never moves here, or the reward does not depend on it. There is no "
            "freeze error, so nothing rules out a large T, however large γL_f is."
        )
    return (
        f"γ{name} = {factor(c.gamma * largest)} < 1: the freeze error has a limit, so nothing "
        "rules out a large T."
    )


# ------------------------------------------------------------------------------ linear architecture


def describe_regret(regret: float, trivial: float) -> str:
    """How the regret bound compares with the trivial one."""
    if trivial == 0:
        return "With r_max = 0 every policy earns the same, and every regret is 0."
    if regret >= trivial:
        return (
            f"The proven regret bound, {number(regret)}, is **vacuous**: no policy can lose more "
            f"than {number(trivial)}. This does not mean that the policy is bad, only that the "
            "bound gives no information about it."
        )
    return (
        f"The proven regret bound, {number(regret)}, is informative: the policy loses at most "
        f"{100 * regret / trivial:.0f}% of the largest possible loss, {number(trivial)}."
    )


def describe_amplification(gamma: float, kappa: float) -> str:
    """What κγ means for fitted iteration."""
    product = kappa * gamma
    if product >= 1:
        return (
            f"$\\kappa\\gamma = {factor(product)} \\ge 1$: each fit may amplify an error at least "
            "as much as discounting shrinks it, so fitted iteration can diverge and no bound "
            f"applies. Lower $\\kappa$ below $1/\\gamma = {1 / gamma:.3f}$, or lower $\\gamma$."
        )
    return (
        f"$\\kappa\\gamma = {factor(product)} < 1$: one backup and its fit together shrink errors "
        "by this factor. The bound applies as long as the factor is below 1."
    )


LINEAR_COUNTEREXAMPLE = {"true": 360, "allowed": 78, "gamma": 0.9, "T": 400}
"""Of tests/theory/test_fsavi_proven.py: the true regret, and what the stated bound allows."""
DOES_NOT_HOLD = (
    "**The bound does not hold as stated in the arXiv text.** A model with one slow and four fast "
    "states has a true regret of {true} where it allows {allowed} ($\\gamma = {gamma}$, T = {T}; "
    "see docs/proofs.md). It is drawn for comparison only. The paper's algorithms, experiments and "
    "qualitative conclusions do not depend on it."
).format(**LINEAR_COUNTEREXAMPLE)


def describe_stated(T: int, stated: float, proven: float) -> str:
    """That the stated bound does not hold in general, and both bounds at this T."""
    if number(stated) == number(proven):
        return f"{DOES_NOT_HOLD} At T = {T} the two bounds differ by less than the digits shown."
    return (
        f"{DOES_NOT_HOLD} At T = {T} it is {number(stated)}, and the proven bound is "
        f"{number(proven)}."
    )
