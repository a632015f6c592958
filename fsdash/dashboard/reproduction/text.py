"""All wording of the Reproduction page. Pure text, no Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan

from fsdash.formatting import duration, number
from fsdash.reproduce.experiments import TITLES
from fsdash.reproduce.judging import CLEAR, NO, NOT_REPRODUCED, PARTLY, REPRODUCED, UNCLEAR

INTRODUCTION = (
    "The paper's figures, computed again; open a claim to see its rule, what was measured, and how "
    "the verdict depends on the seed and on choices that the paper leaves open."
)

# ------------------------------------------------------------------------------- parts and verdicts

THEORY = "theory"
PARTS = {THEORY: "Theory", **{name: title for name, (title, _) in TITLES.items()}}
"""The parts of the page by name, with their titles."""
ALL_PARTS = "Everything"


@dataclass(frozen=True)
class VerdictLabel:
    """A verdict as a word and an icon, readable without the colour.

    `own_word` is used for this project's own findings, which do not reproduce anything.
    """

    word: str
    own_word: str
    icon: str
    colour: str

    def markdown(self, beyond: bool = False) -> str:
        return f":{self.colour}[{self.icon} **{self.own_word if beyond else self.word}**]"


VERDICTS = {
    REPRODUCED: VerdictLabel("Reproduced", "Holds", ":material/check_circle:", "green"),
    PARTLY: VerdictLabel("Partly", "Partly", ":material/contrast:", "orange"),
    NOT_REPRODUCED: VerdictLabel("Not reproduced", "Does not hold", ":material/cancel:", "red"),
}
FINDINGS = {CLEAR: "✔ yes", UNCLEAR: "◐ unclear", NO: "✖ no"}
"""Whether a measured value lies on the required side of its limit."""

# ----------------------------------------------------------------------------------------- settings

CHOICES_HELP = "How evaluations are counted, how ties are broken, and after which budget."
COUNT_OPTIONS = {"two": 2, "one": 1}
COUNT_HELP = (
    "An upper-level sample needs $J_1(s_1)$ and $V(s_T)$: two evaluations. In the paper's section "
    "on computational cost an upper-level iteration costs the same as one of VI: one evaluation."
)
TIES_OPTIONS = {"at random": "random", "first action": "first"}
TIES_HELP = "How every sampled method chooses between equally good actions."
BUDGET_OPTIONS = {"by the rule": None, "a quarter": 0.25, "half": 0.5, "all": 1.0}
BUDGET_HELP = (
    "The share of the budget after which the results are read. By the rule: after the whole "
    "budget, and on dynamic pricing after a quarter, half and all of it."
)
OTHER_SETTING = (
    "These results are not for the default choices, to which the counts in the documentation "
    "refer: two evaluations per upper-level sample, ties at random, and the budget by the rule."
)
SEEDS_CAPTION = "Five replications for each seed; seed 0 is judged above. All: 25 replications."
CONSTANTS_COLUMNS = {
    "c": "c",
    "K": "K",
    "h": "h",
    "T=6": "T = 6",
    "T=6 ÷ yardstick": "÷ yardstick",
    "T=12": "T = 12",
    "T=12 ÷ yardstick": "÷ yardstick",
}
CONSTANTS_CAPTION = (
    "Best share of the exact optimum, and divided by that of the yardstick, which is the paper's "
    "own optimum: the last tenth of a run of Base E-VI with 50 iterations and M = 100. p = 10 in "
    "every row: only the ratios of p, c, K and h matter."
)
SENSITIVITY_TITLE = "**Does it hold with other ties, evaluations per sample and budgets?**"
SHORT_VERDICTS = {REPRODUCED: "✔ yes", PARTLY: "◐ partly", NOT_REPRODUCED: "✖ no"}
"""For narrow tables."""
SAME_VERDICT = "The verdict is the same for both counts, both ways to break ties and all budgets."
SHARE_NAMES = {share: name for name, share in BUDGET_OPTIONS.items()}
TIES_NAMES = {ties: name for name, ties in TIES_OPTIONS.items()}
COUNT_NAMES = {count: name for name, count in COUNT_OPTIONS.items()}


def sensitivity_header(shares: Sequence[float]) -> str:
    """The first two lines of a table with one column for each share of the budget."""
    names = " | ".join(SHARE_NAMES[share] for share in shares)
    return f"| ties, evaluations | {names} |\n|---|{'---|' * len(shares)}"


def sensitivity_row(ties: str, count: int, verdicts: Sequence[str]) -> str:
    words = " | ".join(SHORT_VERDICTS[verdict] for verdict in verdicts)
    return f"| {TIES_NAMES[ties]}, {COUNT_NAMES[count]} | {words} |"


def seeds_table(verdicts: Mapping[str, tuple[str, int, int]]) -> str:
    """The verdict, the clear parts and all parts for every seed, as a table in Markdown."""
    rows = [
        f"| {seed} | {SHORT_VERDICTS[verdict]} | {clear} of {parts} |"
        for seed, (verdict, clear, parts) in verdicts.items()
    ]
    return "\n".join(["| seed | verdict | clear parts |", "|---|---|---|", *rows])


def constants_result(verdicts: Mapping[str, int], ranges: Mapping[str, tuple[float, float]]) -> str:
    """In how many sets of costs a claim has each verdict."""
    counts = ", ".join(f"{VERDICTS[name].word.lower()} in {n}" for name, n in verdicts.items())
    costs = ", ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in ranges.items())
    return (
        f"The paper does not give p, c, K and h. In {sum(verdicts.values())} sets of them (p = 10, "
        f"{costs}; without sets in which a shop that never orders is good): {counts}."
    )


# ------------------------------------------------------------------------------------------ figures

THEORY_ORIGIN = "Computed from the formulas when the page opens. Nothing here is random."
WORK_TITLE = "Work to reach 75%, 90% and 95% of the optimum"
WORK_CAPTION = (
    "In sweeps, until the mean curve stays above that share of the optimum; empty if it does not. "
    "The last column is the value of the last policy."
)


def alt_text(part: str, label: str) -> str:
    return f"{PARTS[part]}: {label}."


def origin(about: Mapping) -> str:
    """When and with which versions the archived results were computed."""
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    seconds = about["algorithm_seconds"] + about["evaluation_seconds"]
    quick = " This was a quick run, too short for verdicts." if about["quick"] else ""
    return (
        f"Computed on {about['date']} with fsdash {about['fsdash']}, Python {about['python']}, "
        f"{packages} on {about['system']}: {len(about['runs'])} runs, {duration(seconds)} of "
        f"computing time.{quick}"
    )


def missing(domain: str) -> str:
    """The notice for a domain without archived results."""
    return (
        f"This version has no archived results for **{PARTS[domain].lower()}**, so its figures "
        f"and claims are missing. `fsdash reproduce {domain}` computes them into a folder of your "
        f"choice; `python -m fsdash.reproduce {domain}` adds them to the archive that this page "
        "shows."
    )


def unreadable(part: str, problem: Exception) -> str:
    return f"The archived results of {PARTS[part].lower()} cannot be read: {problem}"


# ------------------------------------------------------------------------------------------- claims

MEASURED = "**Measured** (mean and 95% interval; p corrected for the number of tests):"


TABLE_COLUMNS = {
    "link": "Link",
    "claim": "Claim",
    "verdict": "Verdict",
    "parts": "Clear parts",
    "first": "First rule",
    "seeds": "Five seeds",
    "together": "All seeds together",
}
TABLE_CAPTION = (
    "Clear parts: the parts of the claim that hold beyond chance. First rule: its verdict, where a "
    "changed rule decided. Five seeds: the verdict for each of five seeds with five replications, "
    "the first of which is the one shown on this page; then for all 25 replications together. "
    "✔ reproduced, ◐ partly, ✖ not reproduced."
)


def claim_title(claim: Mapping) -> str:
    """Verdict and claim; a finding of this project also names its domain."""
    part = f"{PARTS[claim['part']]}. " if claim["beyond"] else ""
    verdict = VERDICTS[claim["verdict"]].markdown(claim["beyond"])
    return f"{verdict} ({clear_parts(claim)}{decided_by(claim)}) · {part}{claim['claim']}"


def clear_parts(claim: Mapping) -> str:
    """For example `3 of 4 parts`."""
    return f"{claim['clear_parts']} of {claim['parts']} part{'' if claim['parts'] == 1 else 's'}"


def decided_by(claim: Mapping) -> str:
    """What the first rule would have decided, if a change of the rule decided the verdict."""
    if not claim["first_verdict"]:
        return "; rule written after the results"
    if claim["first_verdict"] == claim["verdict"]:
        return ""
    return f"; by the first rule: {VERDICTS[claim['first_verdict']].word.lower()}"


def quotation(claim: Mapping) -> str:
    """The paper's words as a block quotation, with their place."""
    return f"> “{claim['quotation']}”\n>\n> {claim['where']}"


def rule(claim: Mapping) -> str:
    return f"**Rule:** {claim['rule']}"


def changed(claim: Mapping) -> str:
    """The notice for a rule that was written or changed after results were known."""
    return f"**History of the rule:** {claim['changed']}"


def after_sweeps(sweeps: float) -> str:
    return f"After {sweeps:g} sweeps:"


def evidence(claim: Mapping) -> str:
    """Where the paper makes the claim, and how many replications it was judged by."""
    n, where = claim["replications"], claim["where"]
    replications = f"{n} replications" if n > 1 else "nothing random"
    return f"{where[0].upper()}{where[1:]}; {replications}."


def finding(found: Mapping) -> str:
    """One measured value of a claim, with the limit that it must meet."""
    mean = "never" if found["mean"] == inf else number(found["mean"])
    low, high = found["low"], found["high"]
    interval = "" if isnan(low) else f" [{number(low)}, {number(high)}]"
    required = f"required {found['sign']} {number(found['limit'])}"
    if not found["decides"]:
        required = f"for comparison, {found['sign']} {number(found['limit'])}"
    is_tested = found["decides"] and found["state"] != NO and not isnan(found["p"])
    tested = f" (p {p_text(found['p'])})" if is_tested else ""
    return f"{found['part']}: **{mean}**{interval}, {required}: {FINDINGS[found['state']]}{tested}"


def p_text(p: float) -> str:
    """A p-value with two digits, for example `= 0.031` or `< 0.001`."""
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


BEYOND = {
    "stationary": "**A stationary policy from the lower level alone.** The lower level, at a "
    "fraction of a sweep, gives a value $J_1$. The *stationary* policy that is greedy for $J_1$ "
    "needs no upper level (dotted line). Its quality depends on the domain: see the verdicts.",
    "exact": "**With a known model, MPI is better than FSVI.** Modified policy iteration with "
    "$m = T-1$ costs as much per iteration as FSVI and converges to the true optimum. FSVI's "
    "advantage is in *sampling*: its lower level needs one sample where E-VI needs fifty.",
}
"""By the kind of figure: what this project found in addition to the paper."""
SAMPLES = (
    "**Base E-VI falls short because it has too few samples.** One explanation would be that the "
    "samples are drawn separately for each action, which biases the maximum upwards. Here Base "
    "E-VI runs with more samples, and with common random numbers for all actions."
)
SAMPLES_CAPTION = (
    "Mean share of the optimum over the last tenth of the run, with its 95% interval. Every run "
    "makes the same number of iterations, so a larger M costs more."
)
SAMPLES_ALT = (
    "The share of the optimum of Base E-VI over the last tenth of the run, against the number of "
    "samples M."
)
BUDGETS = (
    "**Methods with a lower floor than FSVI's, and a choice from samples.** *Rolling freeze* plans "
    "with the slow state frozen and replans in every period. *Thawed sweeps* (E-Thaw) add a "
    "sampled correction for the error made by freezing. The *recommendation* chooses a method and "
    "its horizon from samples, which count against the budget. Two baselines do not freeze: Base "
    "E-VI with *common random numbers*, and *certainty equivalence*, which draws a table once and "
    "solves the model that the table suggests. *Certificates* bound the regret of FSVI by "
    "computing on the model itself instead of using its constants."
)
BUDGETS_CAPTION = (
    "The loss of the last policy within the budget: mean and 95% interval over {n} replications "
    "with seeds used nowhere else. The rules were written before these runs."
)
BUDGETS_ALT = "{domain}: the loss of eight methods, as a share of the optimum, against the budget."
CERTIFICATES_COLUMNS = {
    "T": "T",
    "certificate": "Certified regret",
    "max_regret": "True largest regret",
    "ratio": "Ratio",
}
SAMPLES_COLUMNS = {
    "domain": "Domain",
    "M": "M",
    "common_random_numbers": "Common",
    "final": "Last tenth",
    "best": "Best",
}


def samples_result(domain: str, final: Mapping[tuple[int, bool], float]) -> str:
    """What the shares over the last tenth, by M and common random numbers, show for a domain."""
    few, many = min(M for M, _ in final), max(M for M, _ in final)
    return (
        f"{PARTS[domain]}: with separate samples the last tenth has {final[few, False]:.0%} for "
        f"M = {few} and {final[many, False]:.0%} for M = {many}. With common random numbers and "
        f"M = {few} it has {final[few, True]:.0%}."
    )


# ------------------------------------------------------------------------------------------ lesson

NOTICE = (
    "A verdict applies to *these* runs. This project chose the constants that the paper does not "
    "give. You can run others in the Run lab.",
    "If a claim is *partly* reproduced, its measured values show which part holds.",
)
RULES = f"""
Work is counted in sweeps: one sweep is one of Base E-VI with 50 samples, |S||A|·50 evaluations.
Only figures for a known model count in sweeps of Base VI, as their axis says.

Most rules were written before the first full run, after a small pilot run. A rule that was changed
after results were known says so. A claim has one or more parts. Each part is a number that is
measured in every replication and must lie on one side of a limit.

- **{FINDINGS[CLEAR]}**: the mean lies on the required side, and a t-test against the limit says
  that this is no accident (p ≤ 0.05 after a correction for the number of tests).
- **{FINDINGS[UNCLEAR]}**: the mean lies on the required side, but the test does not say so.
- **{FINDINGS[NO]}**: the mean lies on the other side.

About a hundred numbers are tested, so some would pass by accident. The correction (Holm's method
for the tests on one domain, and a factor of three for the three domains) keeps the probability that
any part of the paper's claims is called clear by accident at 5% or less. It was added after results
were known. A verdict that this or another change of its rule decided says
next to it what the first rule would have decided.

A claim is *reproduced* if every part is clear, *not reproduced* if no part holds, and *partly*
reproduced otherwise. The paper's words mean the same everywhere: “good” is 75% of the optimum,
“near-optimal” 95%, “optimal” 99%, and “significantly less work” at most one half.
"""

# ---------------------------------------------------------------------------------------- downloads

DOWNLOADS_CAPTION = (
    "`fsdash reproduce` writes the same tables, and every figure as HTML, PNG and SVG, into a "
    "folder."
)


def rows_csv(domain: str) -> str:
    return f"{PARTS[domain]}, CSV"
