"""Numbers put into words: what the pages say about a bound. Pure text, no Streamlit."""

from math import isfinite

import numpy as np

from fsdash.formatting import factor, number
from fsdash.theory import Constants, reward_error, trivial_bound
from fsdash.theory.landmarks import course, critical_l_f, freeze_ceiling, long_run


def read_reward_error(constants: Constants, T: int) -> str:
    """Which of the two errors dominates at this T, and what one period more would do."""
    here, longer = reward_error(constants, T), reward_error(constants, T + 1)
    if T == 1:
        return "With T = 1 nothing is frozen: this is ordinary value iteration, with no such error."
    if here.total == 0:
        return f"At T = {T} nothing is lost: with these constants both errors are 0."
    change = "raise" if longer.total > here.total else "lower"
    total, then = number(float(here.total)), number(float(longer.total))
    step = f"One period more would {change} the total to {then}."
    if then == total:
        step = f"One period more would hardly change the total, {total}."
    largest = trivial_bound(constants) * (1 - constants.gamma**T)
    if here.total >= largest:
        step += f" It is in the grey: T periods cannot pay more than {number(largest)} anyway."
    if here.freeze > here.end_of_horizon:
        return (
            f"At T = {T} the **freeze error** dominates: the plan trusts an old slow state for "
            f"long. {step}"
        )
    return (
        f"At T = {T} the **end-of-horizon error** dominates: the lower level plans as if nothing "
        f"came after the block. {step}"
    )


def read_regret(regret: float, trivial: float) -> str:
    """What the regret bound is worth beside the trivial one."""
    if trivial == 0:
        return "With r_max = 0 every policy earns the same: no regret, whatever the bound."
    if regret >= trivial:
        return (
            f"The regret bound, {number(regret)}, is **vacuous**: no policy at all can lose more "
            f"than {number(trivial)}. It does not say that the policy is bad, only that this "
            "theorem cannot tell."
        )
    share = 100 * regret / trivial
    return (
        f"The regret bound, {number(regret)}, is informative: the policy loses at most "
        f"{share:.0f}% of the most that any policy can lose, {number(trivial)}. The theorem takes "
        "for granted that the frozen dynamics are no more sensitive than the true ones."
    )


def read_growth(constants: Constants) -> str:
    """Whether the freeze error stays bounded as T grows, and where that changes."""
    if constants.alpha * constants.d_y * constants.l_r == 0:
        return "Here the slow state never moves or never matters to the reward: no freeze error."
    product = constants.gamma * constants.l_f
    if product >= 1:
        return (
            f"Here $\\gamma L_f = {factor(product)} \\ge 1$: differences grow at least as fast as "
            "discounting shrinks them, so the freeze error has **no ceiling** as T grows. It would "
            f"have one below $L_f = 1/\\gamma = {critical_l_f(constants.gamma):.3f}$."
        )
    ceiling = number(float(freeze_ceiling(constants)))
    text = (
        f"Here $\\gamma L_f = {factor(product)} < 1$: the end-of-horizon error dies out as T "
        f"grows, and the freeze error **stays below {ceiling}**."
    )
    if constants.l_f > 1:
        text += " With $L_f > 1$ it takes long to get there and looks unbounded until then."
    return text


def read_crossing(constants: Constants, largest: float) -> str:
    """What the figure of the ceiling shows on both sides of L_f = 1/γ, up to the largest L_f."""
    if constants.alpha * constants.d_y * constants.l_r == 0:
        return "Without a freeze error there is nothing to draw: raise $\\alpha$, $d_Y$ or $L_r$."
    critical = critical_l_f(constants.gamma)
    if critical > largest:
        return (
            f"$1/\\gamma = {critical:.3g}$ lies beyond all $L_f$ shown: at each of them a longer T "
            "can cost only so much."
        )
    return (
        "Left of the dashed line a longer T can cost only so much; right of it every further "
        "period of freezing costs more than the one before."
    )


def read_peak(constants: Constants, T_values: np.ndarray) -> str:
    """How the total runs over the range shown and beyond, and what that means for choosing T."""
    found, limit = course(constants, T_values), long_run(constants)
    last, end = found.end
    if found.top is None:
        return "The total is 0 everywhere." if end == 0 else _read_rise(constants, last, end, limit)
    text = f"The total peaks at T = {found.top[0]} with {number(found.top[1])}"
    if found.rises_again:
        low_T, low = found.bottom
        text += f", falls to its lowest, {number(low)} at T = {low_T}, and then grows again, "
        text += f"to {number(end)} at T = {last}"
        return f"{text}. {_read_beyond(constants, limit)}"
    text += f" and is down to {number(end)} at T = {last}. "
    if limit > found.top[1] / 2:
        return text + _read_beyond(constants, limit)
    return text + (
        "The bound is small on both sides of the peak: for a T so short that little is frozen, or "
        "so long that the end of a block hardly counts."
    )


def _read_rise(constants: Constants, last: int, end: float, limit: float) -> str:
    """The words for a total that only rises on the range shown."""
    if 0.95 * limit <= end <= 1.05 * limit:
        return (
            f"The total climbs to {number(end)} and levels off: from some T on, a longer "
            "freeze hardly costs more."
        )
    return (
        f"On the range shown, up to T = {last}, every further period makes the bound worse, up to "
        f"{number(end)}. {_read_beyond(constants, limit)}"
    )


def _read_beyond(constants: Constants, limit: float) -> str:
    if isfinite(limit):
        return f"Far beyond, it tends to {number(limit)}."
    product = factor(constants.gamma * constants.l_f)
    return f"Far beyond, it grows without bound, because γL_f = {product} ≥ 1."


CONDITION = (
    "**A condition that the paper does not state:** the theorem compares with a lower level that "
    "is optimal in the true world, while the policy plays the frozen one. It holds when the frozen "
    "dynamics are no more sensitive than the true ones, $\\tilde L \\le L_f$, as in all three "
    "domains here."
)


def read_amplification(gamma: float, kappa: float) -> str:
    """What κγ says about fitted iteration."""
    product = kappa * gamma
    if product >= 1:
        return (
            f"$\\kappa\\gamma = {factor(product)} \\ge 1$: each fit may enlarge an error at least "
            "as much as discounting shrinks it, so fitted iteration can diverge and the theorem "
            "says nothing. "
            f"Lower $\\kappa$ below $1/\\gamma = {1 / gamma:.3f}$, or lower $\\gamma$."
        )
    return (
        f"$\\kappa\\gamma = {factor(product)} < 1$: a backup and its fit together shrink errors by "
        "that factor. At 1, which is where the theorem ends, they would no longer shrink them."
    )


def read_correction(gamma: float, T: int, stated: float, corrected: float) -> str:
    """The difference between the two versions of the FSAVI theorem, here and in general."""
    text = (
        "The stated theorem leaves out the factor $2\\gamma^T/(1-\\gamma^T)$ that its own proof "
        "gives to the last two terms; the corrected one has it (and a factor $\\gamma$ that makes "
        "another term smaller)."
    )
    share = gamma**T
    if share <= 1 / 3:
        return (
            f"{text} At T = {T}, $\\gamma^T = {share:.2f}$ is at most 1/3 and the factor at most "
            "1: the correction only makes the bound smaller."
        )
    here = f"{text} At T = {T}, $\\gamma^T = {share:.2f}$ is above 1/3, so the factor is above 1"
    if corrected > stated:
        unseen = number(stated) == number(corrected)
        more = "more than is proved" + (", though by less than the digits show" if unseen else "")
        return f"{here}: the stated bound promises {more}."
    return f"{here}; still the other one outweighs it, and the corrected bound is not the larger."
