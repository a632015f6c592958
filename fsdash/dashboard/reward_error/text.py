"""The wording of the Reward error page: labels, captions, and sentences about the numbers on it."""

from math import isfinite

import numpy as np

from fsdash.formatting import factor, number
from fsdash.theory import Constants, reward_error, trivial_bound
from fsdash.theory.landmarks import (
    critical_l_f,
    freeze_error_limit,
    reward_error_limit,
    reward_error_shape,
)

PAGE = "Reward error"
TITLE = "How wrong is a plan made with the slow state frozen?"
INTRODUCTION = (
    "Such a plan makes two errors. For $T$ periods it uses a slow state that has changed in the "
    "meantime (**freeze error**), and it ignores everything after the end of its block "
    "(**end-of-horizon error**). This page shows the paper's bounds on both. Drag the dotted line, "
    "or click in the figure, to choose $T$."
)
MORE_CONSTANTS = "More constants"
LONGEST_T_SHOWN = "Largest T shown"
FREEZE, END_OF_HORIZON, TOTAL = "Freeze error", "End-of-horizon error", "Reward error"
FORMULA_TITLE = "Where the numbers come from"
CEILING_TITLE = "How the limit of the freeze error depends on L_f"
PANELS_TITLE = "The two panels of the paper's figure"
PANELS = {
    "reward-error-small": "$L_f = 0.99$: the error levels off",
    "reward-error-large": "$L_f = 1.05$: the error grows without limit",
}
LOAD_PANEL = "Use these constants above"
PANEL_LOADED = "The figure at the top of the page now uses these constants."

CEILING_NOTE = (
    "The paper separates the two cases at $L_f = 1$. The sums show that the boundary is "
    "$\\gamma L_f = 1$: for $1 < L_f < 1/\\gamma$ the freeze error grows for a long time, but it "
    "has a limit."
)


# ------------------------------------------------------------------------- descriptions of figures


def alt_text(constants: Constants, T_values: np.ndarray) -> str:
    """The main figure in words."""
    return (
        f"Freeze error, end-of-horizon error and their sum for T from 1 to {T_values[-1]}. "
        f"{describe_course(constants, T_values)}"
    )


def ceiling_alt_text(T: int) -> str:
    """The figure of the limit in words."""
    return f"The freeze error at T = {T}, and its limit over all T, against L_f."


# -------------------------------------------------------------------------- sentences about a bound

NOTHING_FROZEN = (
    "With T = 1 nothing is frozen: this is ordinary value iteration, and both errors are 0."
)
NO_ERROR = "At T = {T} both errors are 0 with these constants."
FREEZE_DOMINATES = (
    "At T = {T} the **freeze error** is the larger one: the plan uses an old slow state for many "
    "periods."
)
END_DOMINATES = (
    "At T = {T} the **end-of-horizon error** is the larger one: the lower level plans as if "
    "nothing came after the block."
)
ONE_MORE_PERIOD = "One more period would {change} the total to {total}."
HARDLY_CHANGES = "One more period would hardly change the total, {total}."
VACUOUS = (
    "The bound is vacuous here (the grey area): over T periods no reward error can exceed "
    "{largest}."
)
T_NOT_SHOWN = f"T = {{T}} is outside the range shown. Increase *{LONGEST_T_SHOWN}*."
LARGEST_T = "You can choose T up to {largest}; the figure also shows larger values."
NO_FREEZE_ERROR = (
    "There is no freeze error here: the slow state never moves, or the reward does not depend on "
    "it."
)
NO_CEILING = (
    "Here $\\gamma L_f = {product} \\ge 1$: differences between states grow at least as fast as "
    "discounting shrinks them, so the freeze error has **no limit** as T grows. It has one for "
    "$L_f < 1/\\gamma = {critical:.3f}$."
)
CEILING = (
    "Here $\\gamma L_f = {product} < 1$: as T grows, the end-of-horizon error goes to 0 and the "
    "freeze error **stays below {ceiling}**."
)
SLOW_TO_CEILING = "With $L_f > 1$ it approaches this limit slowly and seems to grow forever."
NOTHING_TO_DRAW = (
    "Without a freeze error there is nothing to draw. Increase $\\alpha$, $d_Y$ or $L_r$."
)
CRITICAL_NOT_SHOWN = (
    "$1/\\gamma = {critical:.3g}$ is larger than every $L_f$ shown. For all of them the freeze "
    "error has a limit."
)
CRITICAL_SHOWN = (
    "To the left of the dashed line the freeze error has a limit. To the right of it, each further "
    "frozen period costs more than the one before."
)
ALWAYS_ZERO = "The total is 0 for every T."
PEAK = "The total peaks at T = {top_T} with {top}"
FALLS_AND_RISES = (
    ", falls to its minimum, {low} at T = {low_T}, and then grows again, to {end} at T = {last}."
)
FALLS = " and falls to {end} at T = {last}."
SMALL_ON_BOTH_SIDES = (
    "The bound is small on both sides of the peak: for small T, where little is frozen, and for "
    "large T, where the end of a block hardly matters."
)
LEVELS_OFF = (
    "The total rises to {end} and levels off: beyond some T, freezing longer hardly costs more."
)
RISES = (
    "Up to T = {last}, the end of the range shown, each further period raises the bound, to {end}."
)
TENDS_TO = "As T grows further, it tends to {limit}."
GROWS_WITHOUT_LIMIT = "As T grows further, it grows without limit, because γL_f = {product} ≥ 1."


def describe_reward_error(constants: Constants, T: int) -> str:
    """Which of the two errors is larger at this T, and the effect of one more period."""
    here, longer = reward_error(constants, T), reward_error(constants, T + 1)
    if T == 1:
        return NOTHING_FROZEN
    if here.total == 0:
        return NO_ERROR.format(T=T)
    dominates = FREEZE_DOMINATES if here.freeze > here.end_of_horizon else END_DOMINATES
    change = "raise" if longer.total > here.total else "lower"
    total, next_total = number(float(here.total)), number(float(longer.total))
    step = ONE_MORE_PERIOD.format(change=change, total=next_total)
    if next_total == total:
        step = HARDLY_CHANGES.format(total=total)
    largest = trivial_bound(constants) * (1 - constants.gamma**T)
    vacuous = VACUOUS.format(largest=number(largest)) if here.total >= largest else ""
    return f"{dominates.format(T=T)} {step} {vacuous}".rstrip()


def describe_growth(constants: Constants) -> str:
    """Whether the freeze error has a limit as T grows, and where that changes."""
    if constants.alpha * constants.d_y * constants.l_r == 0:
        return NO_FREEZE_ERROR
    product = factor(constants.gamma * constants.l_f)
    if constants.gamma * constants.l_f >= 1:
        return NO_CEILING.format(product=product, critical=critical_l_f(constants.gamma))
    text = CEILING.format(product=product, ceiling=number(float(freeze_error_limit(constants))))
    return f"{text} {SLOW_TO_CEILING}" if constants.l_f > 1 else text


def describe_critical_l_f(constants: Constants, largest_l_f: float) -> str:
    """What the figure of the limit shows on both sides of L_f = 1/γ."""
    if constants.alpha * constants.d_y * constants.l_r == 0:
        return NOTHING_TO_DRAW
    critical = critical_l_f(constants.gamma)
    if critical > largest_l_f:
        return CRITICAL_NOT_SHOWN.format(critical=critical)
    return CRITICAL_SHOWN


def describe_course(constants: Constants, T_values: np.ndarray) -> str:
    """How the total runs over the range shown and beyond."""
    found, limit = reward_error_shape(constants, T_values), reward_error_limit(constants)
    last, end = found.end
    if found.top is None:
        return ALWAYS_ZERO if end == 0 else _describe_rise(constants, last, end, limit)
    top_T, top = found.top
    text = PEAK.format(top_T=top_T, top=number(top))
    if found.rises_again:
        low_T, low = found.bottom
        text += FALLS_AND_RISES.format(low=number(low), low_T=low_T, end=number(end), last=last)
        return f"{text} {_describe_limit(constants, limit)}"
    text += FALLS.format(end=number(end), last=last)
    return f"{text} {_describe_limit(constants, limit) if limit > top / 2 else SMALL_ON_BOTH_SIDES}"


def _describe_rise(constants: Constants, last: int, end: float, limit: float) -> str:
    """A total that only rises on the range shown."""
    if 0.95 * limit <= end <= 1.05 * limit:
        return LEVELS_OFF.format(end=number(end))
    return f"{RISES.format(last=last, end=number(end))} {_describe_limit(constants, limit)}"


def _describe_limit(constants: Constants, limit: float) -> str:
    if isfinite(limit):
        return TENDS_TO.format(limit=number(limit))
    return GROWS_WITHOUT_LIMIT.format(product=factor(constants.gamma * constants.l_f))
