"""The wording of the Choose T page: labels, the recommendation, and sentences about the bounds."""

from dataclasses import replace
from functools import lru_cache
from math import isinf

import numpy as np

from fsdash.dashboard.choose_t.state import LONGEST_T, TRUSTED_T, ChooseTState
from fsdash.domains import domain_label, is_saved_name
from fsdash.figures.palette import competitor_label
from fsdash.formatting import escape_markdown, factor, number
from fsdash.theory import Advice, BoundedRun, Constants, Sizes, rolling_bound, trivial_bound
from fsdash.theory.landmarks import freeze_error_limit, reward_error_limit
from fsdash.theory.measured_domains import MeasuredDomain
from fsdash.theory.parameters import frozen_steps

PAGE = "Choose T"
TITLE = "Which T for your budget?"
SOURCE = "The answer comes from"
SOURCES = {"model": "Measured on a model", "theory": "Theory"}
INTRODUCTION = (
    "Freezing the slow state for T periods makes planning cheaper but introduces an error. For a "
    "given computing budget, this page compares the regret **bounds** of FSVI for each T with that "
    "of Base VI, which freezes nothing."
)

# --------------------------------------------------------------------------------------- controls

EXAMPLES_LABEL = "Examples"
BUDGET = "Budget in sweeps of Base VI"
BUDGET_HELP = (
    "The largest cost of a run: all runs with cost ≤ B are compared. One sweep is |S|²|A| "
    "operations. You can also click in the figure to set it."
)
OPERATIONS = "= {operations} operations"
MORE_CONSTANTS, SIZES, COMPETITORS, WHICH_BOUND = (
    "More constants",
    "Sizes",
    "Competitors",
    "Which bound",
)
L_U_SOURCE = "L_U is given as"
L_U_SOURCES = {"custom": "Custom", "derived": "L_r/(1 − γL_f)"}
L_U_VALUE = "L_U = {value}"
NO_L_U = (
    "γL_f = {product} is not below 1, so L_r/(1 − γL_f) does not exist. The custom value, {value}, "
    "is used instead. Lower γ or L_f."
)
PLOTTED_T = "Plotted T"
NO_T = "No T is selected, so the defaults are shown: {T}."
WINNER_AMONG = "Choose the best of"
WINNERS = {"plotted": "the plotted T", "every": f"every T up to {LONGEST_T}"}
BOUND = "Regret bound of FSVI"
BOUNDS = {"stated": "as stated", "repaired": "repaired"}
BOUND_HELP = "The tab *Can I trust it?* explains the difference."
ONE_SLOW_STATE = "L_f"
"""What L̃ is if nothing is given and |X| = 1."""
L_FROZEN_TOO_SMALL = (
    "L̃ = {value} is below 1. The frozen dynamics keep x, so with two or more slow states L̃ is at "
    "least 1. Raise L̃ under *Which bound*, or leave its field empty."
)
L_FROZEN_MISSING = (
    "η or d̃_Y is given, so freezing x may change how y moves, and L̃ does not follow from L_f. Give "
    "L̃ too under *Which bound*, or leave all three fields empty."
)

# ------------------------------------------------------------------------------------ tabs, figures

TABS = {
    "terms": "Terms of the bound",
    "sensitivity": "Sensitivity to the constants",
    "trust": "Can I trust it?",
}
ALT_TEXT = "Regret bounds against cost. {headline}."
SET_BUDGET = (
    "Click in the figure or drag the thick line to set the budget. The top axis counts operations."
)
OFF_SCALE = "{names} {verb} off the scale."
TERMS = (
    "For this budget, each bound is the sum of three terms. The **reward** and **transition** "
    "terms are the cost of freezing and do not depend on the budget. A larger budget reduces the "
    "**iteration** term."
)
TERMS_ALT_TEXT = "The terms of the bound for each T at this budget."
TERMS_NEED_BUDGET = "Raise the budget to one sweep or more to see the terms."
SENSITIVITY = (
    "The constants are rarely known exactly. This figure varies one of them and keeps the others "
    "fixed: if the colour around the cross is uniform, the choice of T does not depend on it. "
    "Click a cell to use its budget and constant."
)
SENSITIVITY_ALT_TEXT = "The best T over budgets and values of {symbol}."
VARY = "Vary"
SYMBOLS = {
    "Lf": "L_f",
    "gamma": "γ",
    "alpha": "α",
    "LU": "L_U",
    "Lr": "L_r",
    "dY": "d_Y",
    "rmax": "r_max",
}
"""The constants that can be varied, by their names in the URL."""
TRUST = (
    "The bound is a **worst case** over all problems with these constants. On given constants it "
    "orders the values of T; on real models it is vacuous: it allows more than any policy can "
    "lose. On the three domains it is far above the true regret:"
)
MEASURED_ON = "Domain"
TRUTH_ALT_TEXT = "Bound and true regret of FSVI on {name}, against T."
OWN_MAP = (
    " The theorem assumes that freezing x does not change how y moves. Here it does, so only the "
    "*repaired* bound, with η in place of α·d_Y, is proven for this model."
)
NOT_SLOW = (
    "The paper assumes α ≤ 1. Here α is {alpha}, so the slow state is not slow. The formulas still "
    "hold."
)
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
WITHOUT_CONDITION = (
    "Without this condition the bound can fail for a large T. In a small model with γ = {gamma}, "
    "the true regret at T = {long_T} is {long_regret} and the bound {long_bound}. At "
    "T = {short_T} they are {short_regret} and {short_bound}, so the bound still holds there. The "
    "*repaired* bound, under *Which bound*, does not need the condition:"
).format(**COUNTEREXAMPLE)
REPAIRED_FORMULA = r"""
\frac{\varepsilon_r + \gamma\,\varphi(\tilde L) + \gamma^T L_U\, d}{1-\gamma^T}
+ \frac{2\, r_{\max}\,\gamma^{(k+1)T}}{(1-\gamma)(1-\gamma^T)}"""
REPAIRED_NOTE = (
    "Here $\\varphi(\\tilde L)$ is the freeze error with $\\tilde L$ instead of $L_f$. If "
    "$\\tilde L \\le L_f$, the repaired bound is also the smaller one: the cost of freezing is "
    "lower by a factor of up to $2/(1-\\gamma^T)$. With two or more slow states $\\tilde L$ is at "
    "least 1. If freezing $x$ does not change how $y$ moves, it is at most $\\sqrt{1 + L_f^2}$, "
    "the value used if none is given. The proof is in docs/proofs.md."
)


def example_label(name: str) -> str:
    """The label of an example: of a preset such as "three-regimes", or of a measured domain."""
    if is_saved_name(name):
        return escape_markdown(domain_label(name))
    return name.replace("-", " ").capitalize()


def truth(name: str, domain: MeasuredDomain, bound: float) -> str:
    """How the bound on a measured domain compares with the true regret of FSVI."""
    true = domain.regret[TRUSTED_T][0]
    eta, _ = frozen_steps(domain.constants)
    own_map = eta > (1 + 1e-9) * domain.constants.alpha * domain.constants.d_y
    return (
        f"**{example_label(name)}, T = {TRUSTED_T}:** the bound is {number(bound)}, the largest "
        f"possible loss is {number(trivial_bound(domain.constants))}, and the true regret of FSVI "
        f"is **{number(true)}** (evaluated exactly under the true model). The bound is "
        f"{number(bound / true)} times the true regret, because the Lipschitz constants describe "
        "the steepest part of the model. `fsdash solve` computes the true regret for any T."
        f"{OWN_MAP if own_map else ''}"
    )


def off_scale(names: list[str]) -> str:
    """Which competitors the figure does not show."""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return OFF_SCALE.format(names=listed, verb="is" if len(names) == 1 else "are")


# --------------------------------------------------------------------------------- recommendation

TOO_SMALL = "This budget is too small"
RAISE_BUDGET = (
    "A budget of {sweeps} sweeps is less than the cost of the cheapest run, one sweep of Base VI "
    "({operations} operations). Raise it to 1 or more."
)
REGRET_BOUND, BOUND_RATIO = "Regret bound", "Bound ÷ largest possible loss"
NO_REWARD = "With r_max = 0 every policy earns the same, so the choice does not matter."
CANNOT_CHOOSE = "The bound cannot choose T here"
VACUOUS = (
    "**The bound is vacuous here:** even the smallest one, that of {run}, is {ratio} times the "
    "largest possible loss ({trivial}). Measure the regret on a model instead, or see the tab "
    "*Can I trust it?*"
)
GO_TO_MEASURED = "Measure it on a model"


def headline(state: ChooseTState) -> str:
    """The algorithm, T and k with the smallest bound."""
    if state.advice is None:
        return TOO_SMALL
    if is_vacuous(state.advice):
        return CANNOT_CHOOSE
    return f"Smallest bound: {_run(state.advice.choice)}"


def is_vacuous(advice: Advice) -> bool:
    """Whether the smallest bound is above the largest possible loss, so that it says nothing."""
    return advice.choice.regret >= advice.trivial_bound > 0


def _run(choice: BoundedRun) -> str:
    if choice.algorithm == "VI":
        return f"Base VI: k = {choice.k:,} {'sweep' if choice.k == 1 else 'sweeps'}"
    return f"FSVI with T = {choice.T}, k = {choice.k:,}"


def reasons(state: ChooseTState) -> str:
    """The cost of the recommendation, the second best, and the budgets for which it holds."""
    advice = state.advice
    if advice is None:
        operations = number(state.sizes.sweep)
        return RAISE_BUDGET.format(sweeps=number(state.sweeps), operations=operations)
    cost = f"It costs {sweep_count(advice.choice.cost / state.sizes.sweep)}."
    parts = (_warning(advice), cost, _second_best(advice), _stays(advice, state.sizes))
    return " ".join(part for part in parts if part)


def recommendation_numbers(advice: Advice) -> dict[str, str]:
    """The recommendation's bound, and its ratio to the largest possible loss, by label."""
    regret, trivial = advice.choice.regret, advice.trivial_bound
    ratio = regret / trivial if trivial else 0.0
    text = f"{number(100 * ratio)}%" if ratio < 10 else f"{number(ratio)}×"
    return {REGRET_BOUND: number(regret), BOUND_RATIO: text}


def sweep_count(sweeps: float) -> str:
    """A number of sweeps with its unit."""
    count = number(sweeps)
    return f"{count} {'sweep' if count == '1' else 'sweeps'}"


def _warning(advice: Advice) -> str:
    """A warning if the best bound gives no information."""
    regret, trivial = advice.choice.regret, advice.trivial_bound
    if trivial == 0:
        return NO_REWARD
    if is_vacuous(advice):
        ratio, run = number(regret / trivial), _run(advice.choice)
        return VACUOUS.format(ratio=ratio, trivial=number(trivial), run=run)
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


# ---------------------------------------------------------------------------------------- notices

NO_FLOOR = (
    "No curve has a floor here: with these constants freezing causes no error, and every bound "
    "falls to 0, like that of Base VI."
)
FLOOR = (
    "FSVI's curves end at a **floor**: more iterations cannot remove the error made by freezing. "
    "Among the competitors, T = {T} has the lowest floor, {floor}. Base VI has none."
)
VACUOUS_FLOORS = (
    "All floors are in the grey area: no budget makes the bound of FSVI informative here."
)
LOWER_BUT_LATER = (
    "A larger T starts **lower but later**: each iteration looks T periods ahead, but the lower "
    "level must be computed first."
)
LATER = (
    "A larger T starts **later**: the lower level must be computed first. Each iteration looks T "
    "periods ahead, but the error made by freezing depends on T too. Among the plotted curves, "
    "{lowest} starts lowest."
)
GROWS = (
    "γ{name} = {product} ≥ 1: differences between states grow at least as fast as discounting "
    "shrinks them, and the bound grows without limit with T. This rules out a large T for every "
    "budget."
)
NO_FREEZE_ERROR = (
    "The slow state never moves here, or the reward does not depend on it. There is no freeze "
    "error, so nothing rules out a large T, however large γL_f is."
)
LIMITED = "γ{name} = {product} < 1: the freeze error has a limit, so nothing rules out a large T."
ROLLING = "**Rolling freeze** (dotted) has its smallest bound, {bound}, at n = {n}."
ROLLING_RISES = (
    "With a larger n it sees further ahead, but what one move of x changes in its plan weighs more."
)
ROLLING_VACUOUS = "All its bounds are in the grey area."


def notices(state: ChooseTState) -> list[str]:
    """On the floors, on where the curves start, on large T, and on rolling freeze."""
    growth = describe_growth(state.constants, state.frozen_sensitivity)
    return [describe_floors(state), describe_starts(state), growth, describe_rolling(state)]


def describe_rolling(state: ChooseTState) -> str:
    """The smallest bound of rolling freeze within the range of budgets that is drawn."""
    n, bound = int(state.rolling.n[-1]), float(state.rolling.regret[-1])
    sentences = [ROLLING.format(bound=number(bound), n=f"{n:,}")]
    if rolling_bound(state.constants, n + 1, n_slow=state.sizes.n_slow).total > bound:
        sentences.append(ROLLING_RISES)
    if bound >= trivial_bound(state.constants) > 0:
        sentences.append(ROLLING_VACUOUS)
    return " ".join(sentences)


def describe_floors(state: ChooseTState) -> str:
    """The values at which the curves of all competitors end."""
    floors = np.ravel(state.bound(state.constants, list(state.competing), k=0).floor)
    if floors.max() == 0:
        return NO_FLOOR
    lowest = int(np.argmin(floors))
    text = FLOOR.format(T=state.competing[lowest], floor=number(floors[lowest]))
    vacuous = floors[lowest] >= trivial_bound(state.constants) > 0
    return f"{text} {VACUOUS_FLOORS}" if vacuous else text


def describe_starts(state: ChooseTState) -> str:
    """How the first step of a curve depends on T."""
    best = {state.advice.choice.T} if state.advice else set()
    plotted = sorted({1, *state.T, *best})
    first = np.ravel(state.bound(state.constants, plotted, k=1).total)
    if (first[1:] < first[:-1]).all():
        return LOWER_BUT_LATER
    return LATER.format(lowest=competitor_label(plotted[int(np.argmin(first))]))


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
        return GROWS.format(name=name, product=factor(c.gamma * largest))
    if c.alpha * c.d_y * c.l_r == 0:
        return NO_FREEZE_ERROR
    return LIMITED.format(name=name, product=factor(c.gamma * largest))
