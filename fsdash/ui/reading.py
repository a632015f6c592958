"""Numbers put into words: what the home page says about a bound. Pure text, no Streamlit."""

from math import isfinite

from fsdash.theory import Constants, reward_error, trivial_bound


def number(value: float) -> str:
    """Three significant digits; powers of ten only where plain digits would be long."""
    if not isfinite(value):
        return "∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    # From 999.5 on, three digits would round up to 1e+03.
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def read_reward_error(constants: Constants, T: int) -> str:
    """Which of the two errors dominates at this T, and what one period more would do."""
    here, longer = reward_error(constants, T), reward_error(constants, T + 1)
    if T == 1:
        return "With T = 1 nothing is frozen: this is ordinary value iteration, with no such error."
    if here.total == 0:
        return f"At T = {T} nothing is lost: with these constants both errors are 0."
    change = "raise" if longer.total > here.total else "lower"
    step = f"One period more would {change} the total to {number(float(longer.total))}."
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
    """Whether the freeze error stays bounded as T grows."""
    if constants.alpha * constants.d_y * constants.l_r == 0:
        return "Here the slow state never moves or never matters to the reward: no freeze error."
    product = constants.gamma * constants.l_f
    if product >= 1:
        return (
            f"Here $\\gamma L_f = {product:.3f} \\ge 1$: differences grow at least as fast as "
            "discounting shrinks them, so the freeze error has no ceiling as T grows."
        )
    return f"Here $\\gamma L_f = {product:.3f} < 1$, so both errors stay bounded as T grows."
