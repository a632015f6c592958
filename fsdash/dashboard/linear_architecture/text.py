"""The wording of the Linear architecture page: labels, and sentences about the numbers on it."""

from fsdash.formatting import factor, number

PAGE = "Linear architecture"
TITLE = "How does fitting with features change the bound?"
INTRODUCTION = (
    "Large problems do not fit into tables: a weighted sum of **features** fits their values. The "
    "fit has a residual error, $\\varepsilon_{\\mathrm{low}}$ on the lower and "
    "$\\varepsilon_{\\mathrm{up}}$ on the upper level, and it can amplify errors by a factor "
    "$\\kappa$. This page adds both effects to the bound on regret."
)
EXAMPLES_LABEL = "Example features"
EXAMPLES = {"good": "Good", "perfect": "Perfect", "poor": "Poor"}
PROBLEM_CONSTANTS = "Constants of the problem"
PROVEN, STATED, TRIVIAL = "Proven bound", "Bound as stated (arXiv text)", "Trivial bound"
VACUOUS, INFORMATIVE = "vacuous", "informative"
TERMS_TITLE = "The terms of the bound"
TERMS_NOTE = (
    "*Reward error* and *transitions* are the cost of freezing, as with exact tables. The two "
    "*misfits* are the cost of the features. More iterations reduce only the *iteration* term."
)


def alt_text(largest_T: int) -> str:
    """The figure of the bound in words."""
    return (
        f"The regret bound of FSAVI for T from 1 to {largest_T}: proven, and as stated in the "
        "arXiv text. The bound of FSVI with exact tables is drawn too."
    )


def terms_alt_text(T: int) -> str:
    """The figure of the terms in words."""
    return f"The five terms of the bound at T = {T}, as stated in the arXiv text and proven."


# -------------------------------------------------------------------------- sentences about a bound

NO_REWARD = "With r_max = 0 every policy earns the same, and every regret is 0."
VACUOUS_BOUND = (
    "The proven regret bound, {regret}, is **vacuous**: no policy can lose more than {trivial}. "
    "This does not mean that the policy is bad, only that the bound gives no information about it."
)
INFORMATIVE_BOUND = (
    "The proven regret bound, {regret}, is informative: the policy loses at most {share:.0f}% of "
    "the largest possible loss, {trivial}."
)
MAY_DIVERGE = (
    "$\\kappa\\gamma = {product} \\ge 1$: each fit may amplify an error at least as much as "
    "discounting shrinks it, so fitted iteration can diverge and no bound applies. Lower "
    "$\\kappa$ below $1/\\gamma = {critical:.3f}$, or lower $\\gamma$."
)
CONVERGES = (
    "$\\kappa\\gamma = {product} < 1$: one backup and its fit together shrink errors by this "
    "factor. The bound applies as long as the factor is below 1."
)
COUNTEREXAMPLE = {"true": 360, "allowed": 78, "gamma": 0.9, "T": 400}
"""Of tests/theory/test_fsavi_proven.py: the true regret, and what the stated bound allows."""
DOES_NOT_HOLD = (
    "**The bound does not hold as stated in the arXiv text.** A model with one slow and four fast "
    "states has a true regret of {true} where it allows {allowed} ($\\gamma = {gamma}$, T = {T}; "
    "see docs/proofs.md). It is drawn for comparison only. The paper's algorithms, experiments and "
    "qualitative conclusions do not depend on it."
).format(**COUNTEREXAMPLE)
COMPARISON = "At T = {T} it is {stated}, and the proven bound is {proven}."
DIFFERENCE_NOT_VISIBLE = "At T = {T} the two bounds differ by less than the digits shown."
GAPS = (
    "**What the proof in the arXiv text leaves out:** the lower level is optimal under the frozen "
    "dynamics, not under the true ones, and it is greedy for fitted values, not for exact ones. "
    "The proven bound counts both: the first in *reward error*, with the sensitivity $\\tilde L$ "
    "of the frozen dynamics, and the second in *misfit of the lower level*."
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


def describe_stated(T: int, stated: float, proven: float) -> str:
    """That the stated bound does not hold in general, and both bounds at this T."""
    given = {"T": T, "stated": number(stated), "proven": number(proven)}
    same = given["stated"] == given["proven"]
    sentence = DIFFERENCE_NOT_VISIBLE if same else COMPARISON
    return f"{DOES_NOT_HOLD} {sentence.format(**given)}"
