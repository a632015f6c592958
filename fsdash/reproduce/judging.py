"""How claims are judged: measured values and their 95% intervals are compared with fixed limits.

A claim has parts. A part measures one number in each replication and has a limit, which the number
must be above or below:

    clear     the mean is on the right side, and the test says that this is no accident
    unclear   the mean is on the right side, but the test does not say so
    no        the mean is on the wrong side

The test is the t-test of the mean against the limit, at the level 5%, corrected for the number of
tests: by Holm's method for the tests on one domain, and by a factor of three for the three domains.
So the probability that any part of the paper's claims is called clear by accident is at most 5%,
and a verdict does not depend on which other domains were run. This project's own findings are
corrected in the same way, apart from the paper's claims. Without the correction, the test says that
the whole 95% interval is on the right side.

The claim is

    reproduced       if every part is clear
    not reproduced   if every part is no
    partly           otherwise

A part that does not decide is shown for comparison only. If the paper's sentence names no budget
and the answer depends on it, the claim is judged after several shares of the budget, and every part
counts after each of them.

Differences and ratios of two methods are computed per replication, so their interval is that of the
difference itself. With one value, or without randomness, the mean alone decides.

A rule may have been changed after results were known. The verdict by the rule as it was first
written, without Holm's correction, is recorded next to the present one.

The paper's words have the same meaning everywhere: "good" is 75% of the optimum (the level that the
paper names), "near-optimal" 95%, "optimal" 99%, and "significantly less work" at most one half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt

import numpy as np
import pandas as pd
from scipy.special import stdtr

from fsdash.formatting import number
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import DOMAINS
from fsdash.runs.summary import interval

GOOD, NEAR_OPTIMAL, OPTIMAL, HALF = 0.75, 0.95, 0.99, 0.5

LEVEL = 0.05
"""Level of the tests, for a whole family of them."""

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
CLEAR, UNCLEAR, NO = "clear", "unclear", "no"


Evidence = Mapping[str, ExperimentCurves]
"""The curves of each domain."""


@dataclass(frozen=True, eq=False)
class ClaimPart:
    """One number that a claim is about, and the limit that it must be above or below."""

    label: str
    sign: str
    limit: float
    measure: Callable[[Evidence], Sequence[float]]
    """Returns one value per replication."""
    decides: bool = True
    """False if the number is shown for comparison only."""

    def __post_init__(self) -> None:
        if self.sign not in (">", "<"):
            raise ValueError(f"sign = {self.sign!r}: use > or <")

    def judged(self, evidence: Evidence, sweeps: float = nan) -> Finding:
        """Measure the part after some sweeps of work and compare it with its limit."""
        values = np.asarray(self.measure(evidence), float)
        mean, low, high, n = interval(values)
        p = p_value(values, self.limit)
        found = (mean, low, high, n, p, "", self.decides, sweeps)
        return Finding(self.label, self.sign, self.limit, *found).at_level(p)


@dataclass(frozen=True)
class Finding:
    """The measured mean of a part with its 95% interval, and the result of the comparison.

    `p` is the p-value of the test of the mean against the limit, corrected if the state is; NaN if
    there is nothing to test.
    """

    part: str
    sign: str
    limit: float
    mean: float
    low: float
    high: float
    n: int
    p: float
    state: str
    decides: bool = True
    sweeps: float = nan
    """The work after which it was measured, where a claim is judged after several."""

    @property
    def text(self) -> str:
        """For example `best share of T=6: 0.891 [0.885, 0.897] > 0.95: no`."""
        spread = "" if isnan(self.low) else f" [{number(self.low)}, {number(self.high)}]"
        mean = "never" if self.mean == inf else number(self.mean)
        after = "" if isnan(self.sweeps) else f"{self.sweeps:g} sweeps, "
        state = self.state if self.decides else f"{self.state} (for comparison)"
        return f"{after}{self.part}: {mean}{spread} {self.sign} {number(self.limit)}: {state}"

    def at_level(self, p: float) -> Finding:
        """The same measurement, judged by this p-value."""
        side = 1 if self.sign == ">" else -1
        passes = side * (self.mean - self.limit) > 0
        state = NO if not passes else CLEAR if isnan(p) or p <= LEVEL else UNCLEAR
        return replace(self, p=p, state=state)


def p_value(values: np.ndarray, limit: float) -> float:
    """The p-value of the two-sided t-test of the mean against a limit; NaN without a test.

    Examples
    --------
    >>> round(p_value(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 1.037), 3)
    0.05
    """
    values = values[~np.isnan(values)]
    if len(values) < 2 or not np.isfinite(values).all():
        return nan
    deviation = float(np.std(values, ddof=1)) / sqrt(len(values))
    distance = abs(float(np.mean(values)) - limit)
    return float(2 * stdtr(len(values) - 1, -distance / deviation)) if deviation else 0.0


def holm(p_values: Sequence[float], families: int = 1) -> list[float]:
    """The p-values corrected by Holm's method, and by a factor for the number of families.

    NaN stays, and does not count as a test.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, nan])
    [0.03, 0.06, 0.06, nan]
    """
    p = np.array(p_values, float)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]
    stepwise = p[order] * np.arange(len(order), 0, -1)
    p[order] = np.minimum(families * np.maximum.accumulate(stepwise), 1.0)
    return p.tolist()


@dataclass(frozen=True)
class FirstRule:
    """How a rule was changed after results were known, and the parts of the rule before that."""

    changed: str
    """What was changed, and why."""
    parts: tuple[ClaimPart, ...] | None = None
    """None: the same parts. Empty: the claim had no rule before its results were known."""
    shares: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim of the paper: its sentence, its place, and the rule that decides it."""

    name: str
    needs: tuple[str, ...]
    """The domains whose experiments it is judged on; none for claims about the theory."""
    claim: str
    """The claim in our words."""
    quotation: str
    """The paper's words; … marks an omission. Empty for findings of this project."""
    where: str
    """The section of the paper, and its figure if the words are in a caption."""
    rule: str
    parts: tuple[ClaimPart, ...]
    remark: str = ""
    first_rule: FirstRule | None = None
    """None if the rule is the first one."""
    shares: tuple[float, ...] = (1.0,)
    """The shares of the budget after which it is judged."""

    def judged(self, evidence: Evidence, share: float | None = None) -> Verdict:
        """Judge every part by its own test; after `share` of the budget if given."""
        findings = self._findings(self.parts, self.shares, evidence, share)
        first = findings
        if (rule := self.first_rule) is not None:
            parts = self.parts if rule.parts is None else rule.parts
            first = self._findings(parts, rule.shares, evidence, share)
        return Verdict(self, findings, verdict(first) if first else "")

    def _findings(
        self,
        parts: Sequence[ClaimPart],
        shares: Sequence[float],
        evidence: Evidence,
        share: float | None,
    ) -> tuple[Finding, ...]:
        findings = []
        for one in shares if share is None else (share,):
            cut = {name: curves.up_to(one) for name, curves in evidence.items()}
            several = share is None and len(shares) > 1
            sweeps = cut[self.needs[0]].budget if several else nan
            findings += [part.judged(cut, sweeps) for part in parts]
        return tuple(findings)


@dataclass(frozen=True)
class Verdict:
    """A claim with the findings of its parts, which give the verdict."""

    claim: Claim
    findings: tuple[Finding, ...]
    first_verdict: str
    """By the first rule, without Holm's correction; empty if there was no rule before."""

    @property
    def verdict(self) -> str:
        return verdict(self.findings)

    @property
    def clear_parts(self) -> int:
        return sum(f.state == CLEAR for f in self.findings if f.decides)

    @property
    def parts(self) -> int:
        return sum(f.decides for f in self.findings)


def verdict(findings: Sequence[Finding]) -> str:
    """The verdict on a claim with these findings."""
    states = {f.state for f in findings if f.decides}
    return {(CLEAR,): REPRODUCED, (NO,): NOT_REPRODUCED}.get(tuple(states), PARTLY)


def judge(claims: Sequence[Claim], evidence: Evidence, share: float | None = None) -> list[Verdict]:
    """The verdicts on all claims whose experiments are in the evidence, corrected for their number.

    The tests of the paper's claims on one domain are one family, those of this project's findings
    another.
    """
    judged = [
        claim.judged(evidence, share)
        for claim in claims
        if all(name in evidence for name in claim.needs)
    ]
    families: dict[tuple[bool, str], list[int]] = {}
    for i, v in enumerate(judged):
        domain = v.claim.needs[-1].partition(" ")[0] if v.claim.needs else ""
        families.setdefault((bool(v.claim.quotation), domain), []).append(i)
    for family in families.values():
        tested = [f.p for i in family for f in judged[i].findings if f.decides]
        corrected = iter(holm(tested, families=len(DOMAINS)))
        for i in family:
            findings = tuple(
                f.at_level(next(corrected)) if f.decides else f for f in judged[i].findings
            )
            judged[i] = replace(judged[i], findings=findings)
    return judged


def claims_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """One row per claim, as text."""
    return pd.DataFrame(
        {
            "name": v.claim.name,
            "claim": v.claim.claim,
            "quotation": v.claim.quotation,
            "where": v.claim.where,
            "rule": v.claim.rule,
            "verdict": v.verdict,
            "clear_parts": v.clear_parts,
            "parts": v.parts,
            "first_verdict": v.first_verdict,
            "measured": "; ".join(f.text for f in v.findings),
            "replications": max(f.n for f in v.findings),
            "remark": v.claim.remark,
            "changed": v.claim.first_rule.changed if v.claim.first_rule else "",
        }
        for v in verdicts
    )


def findings_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """One row per part of a claim, as numbers."""
    return pd.DataFrame(
        {"name": v.claim.name, **{k: getattr(f, k) for k in f.__annotations__}}
        for v in verdicts
        for f in v.findings
    )
