"""The wording of the Linear architecture page: labels, and sentences about the numbers on it."""

from fsdash.formatting import factor, number

PAGE = "Linear architecture"
TITLE = "How does fitting with features change the bound?"
INTRODUCTION = (
    "Large problems have no tables: their values are fitted by a weighted sum of **features**. The "
    "fit has a residual error, $\\varepsilon_{\\mathrm{low}}$ on the lower and "
    "$\\varepsilon_{\\mathrm{up}}$ on the upper level, and it can amplify errors by a factor "
    "$\\kappa$. This page adds both effects to the bound on regret."
)
EXAMPLES_LABEL = "Example features"
EXAMPLES = {"good": "Good", "perfect": "Perfect", "poor": "Poor"}
PROBLEM_CONSTANTS = "Constants of the problem"
CORRECTED, STATED, TRIVIAL = "Corrected bound", "Bound as stated", "Trivial bound"
VACUOUS, INFORMATIVE = "vacuous", "informative"
TERMS_TITLE = "The terms of the bound"
TERMS_NOTE = (
    "*Reward error* and *transitions* are the cost of freezing, as with exact tables. The two "
    "*misfits* are the cost of the features. More iterations reduce only the *iteration* term."
)
EXERCISES = [
    (
        "Load the *Perfect* features. Why is the corrected bound still slightly above that of FSVI "
        "with exact tables for small $T$?",
        "With $\\kappa = 1$ and no misfit, only the iteration term differs. The theorem counts one "
        "more power of $\\kappa\\gamma$ than necessary, which multiplies the term by "
        "$(1-\\gamma^{T+1})/(1-\\gamma^T)$. This factor is largest for small $T$, and the whole "
        "term goes to 0 as $k$ grows.",
    ),
    (
        "Increase $\\kappa$ slowly at $\\gamma = 0.9$. What happens at $\\kappa = 1/0.9$, and what "
        "would a practitioner do?",
        "At $\\kappa\\gamma = 1$ the theorem no longer applies: each fit may amplify an error as "
        "much as discounting shrinks it, and fitted iteration can diverge. A practitioner would "
        "choose other features or other representative states (a smaller $\\kappa$), or a smaller "
        "$\\gamma$.",
    ),
    (
        "Load *Good*, then set both misfits to 0.1. For which $T$ does the misfit of the upper "
        "level cost more?",
        "Only for $T = 1$, where it costs 44 and the lower level's misfit 18. From $T = 2$ on (9.9 "
        "against 15) the lower level's misfit costs more: the factor of the upper level shrinks "
        "with $\\gamma^T$, while the lower level makes $T-1$ fits in a row and their errors add "
        "up.",
    ),
]


def alt_text(largest_T: int) -> str:
    """The figure of the bound in words."""
    return f"The regret bound of FSAVI for T from 1 to {largest_T}, corrected and as stated."


def terms_alt_text(T: int) -> str:
    """The figure of the terms in words."""
    return f"The five terms of the bound at T = {T}, as stated and corrected."


# -------------------------------------------------------------------------- sentences about a bound

NO_REWARD = "With r_max = 0 every policy earns the same, and every regret is 0."
VACUOUS_BOUND = (
    "The regret bound, {regret}, is **vacuous**: no policy can lose more than {trivial}. This does "
    "not mean that the policy is bad, only that the theorem gives no information about it."
)
INFORMATIVE_BOUND = (
    "The regret bound, {regret}, is informative: the policy loses at most {share:.0f}% of the "
    "largest possible loss, {trivial}. The theorem assumes that the frozen dynamics are no more "
    "sensitive than the true ones."
)
MAY_DIVERGE = (
    "$\\kappa\\gamma = {product} \\ge 1$: each fit may amplify an error at least as much as "
    "discounting shrinks it, so fitted iteration can diverge and the theorem does not apply. Lower "
    "$\\kappa$ below $1/\\gamma = {critical:.3f}$, or lower $\\gamma$."
)
CONVERGES = (
    "$\\kappa\\gamma = {product} < 1$: one backup and its fit together shrink errors by this "
    "factor. The theorem applies as long as it is below 1."
)
CORRECTION = (
    "**Stated or corrected?** The theorem as stated omits the factor $2\\gamma^T/(1-\\gamma^T)$ "
    "that its own proof gives to the last two terms. The corrected bound includes it, and a factor "
    "$\\gamma$ that makes another term smaller."
)
SMALL_FACTOR = (
    "At T = {T}, $\\gamma^T = {share:.2f}$ is at most 1/3 and the factor at most 1, so the "
    "correction only lowers the bound."
)
LARGE_FACTOR = (
    "At T = {T}, $\\gamma^T = {share:.2f}$ is above 1/3, so the factor is above 1 and the stated "
    "bound is smaller than what the proof supports"
)
DIFFERENCE_NOT_VISIBLE = ", by less than the digits shown"
OUTWEIGHED = (
    "At T = {T}, $\\gamma^T = {share:.2f}$ is above 1/3, so the factor is above 1. The factor "
    "$\\gamma$ outweighs it, and the corrected bound is not the larger one."
)


def describe_regret(regret: float, trivial: float) -> str:
    """How the regret bound compares with the trivial one."""
    if trivial == 0:
        return NO_REWARD
    given = {"regret": number(regret), "trivial": number(trivial)}
    if regret >= trivial:
        return VACUOUS_BOUND.format(**given)
    return INFORMATIVE_BOUND.format(**given, share=100 * regret / trivial)


def describe_amplification(gamma: float, kappa: float) -> str:
    """What κγ means for fitted iteration."""
    product = kappa * gamma
    if product >= 1:
        return MAY_DIVERGE.format(product=factor(product), critical=1 / gamma)
    return CONVERGES.format(product=factor(product))


def describe_correction(gamma: float, T: int, stated: float, corrected: float) -> str:
    """The difference between the two versions of the theorem, in general and at this T."""
    given = {"T": T, "share": gamma**T}
    if gamma**T <= 1 / 3:
        return f"{CORRECTION} {SMALL_FACTOR.format(**given)}"
    if corrected <= stated:
        return f"{CORRECTION} {OUTWEIGHED.format(**given)}"
    not_visible = DIFFERENCE_NOT_VISIBLE if number(stated) == number(corrected) else ""
    return f"{CORRECTION} {LARGE_FACTOR.format(**given)}{not_visible}."
