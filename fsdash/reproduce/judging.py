"""How claims are judged: measured values and their 95% intervals are compared with fixed limits.

A claim has parts. A part measures one number in each replication and has a limit, which the number
must be above or below:

    clear     the mean and its whole 95% interval are on the right side
    unclear   the mean is on the right side, but not the whole interval
    no        the mean is on the wrong side

The claim is

    reproduced       if every part is clear
    not reproduced   if every part is no
    partly           otherwise

A part that does not decide is shown for comparison only. If the paper's sentence names no budget
and the answer depends on it, the claim is judged after several shares of the budget, and every part
counts after each of them.

Differences and ratios of two methods are computed per replication, so their interval is that of the
difference itself. With one replication, or without randomness, the mean alone decides.

The paper's words have the same meaning everywhere: "good" is 75% of the optimum (the level that the
paper names), "near-optimal" 95%, "optimal" 99%, and "significantly less work" at most one half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan

import pandas as pd

from fsdash.formatting import number
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.runs.summary import interval

GOOD, NEAR_OPTIMAL, OPTIMAL, HALF = 0.75, 0.95, 0.99, 0.5

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
        return finding(self, interval(self.measure(evidence)), sweeps)


@dataclass(frozen=True)
class Finding:
    """The measured mean of a part with its 95% interval, and the result of the comparison."""

    part: str
    sign: str
    limit: float
    mean: float
    low: float
    high: float
    n: int
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


def finding(
    part: ClaimPart, measured: tuple[float, float, float, int], sweeps: float = nan
) -> Finding:
    """Compare a mean, its interval and its number of replications with the part's limit."""
    mean, low, high, n = measured
    side = 1 if part.sign == ">" else -1
    mean_passes = side * (mean - part.limit) > 0
    worst = low if part.sign == ">" else high
    interval_passes = isnan(worst) or side * (worst - part.limit) > 0
    state = NO if not mean_passes else CLEAR if interval_passes else UNCLEAR
    return Finding(
        part.label, part.sign, part.limit, mean, low, high, n, state, part.decides, sweeps
    )


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
    revised: str = ""
    """How the rule was changed after results were known; empty if it was not."""
    shares: tuple[float, ...] = (1.0,)
    """The shares of the budget after which it is judged."""

    def judged(self, evidence: Evidence, share: float | None = None) -> Verdict:
        """Judge every part, and from them the claim; after `share` of the budget if given."""
        findings = []
        for one in self.shares if share is None else (share,):
            cut = {name: curves.up_to(one) for name, curves in evidence.items()}
            several = share is None and len(self.shares) > 1
            sweeps = cut[self.needs[0]].budget if several else nan
            findings += [part.judged(cut, sweeps) for part in self.parts]
        states = [f.state for f in findings if f.decides]
        return Verdict(self, verdict(states), tuple(findings))


@dataclass(frozen=True)
class Verdict:
    """A claim with its verdict and the findings of its parts."""

    claim: Claim
    verdict: str
    findings: tuple[Finding, ...]


def verdict(states: Sequence[str]) -> str:
    """The verdict on a claim whose parts have these states."""
    if all(state == CLEAR for state in states):
        return REPRODUCED
    return NOT_REPRODUCED if all(state == NO for state in states) else PARTLY


def judge(claims: Sequence[Claim], evidence: Evidence, share: float | None = None) -> list[Verdict]:
    """The verdicts on all claims whose experiments are in the evidence."""
    return [
        claim.judged(evidence, share)
        for claim in claims
        if all(name in evidence for name in claim.needs)
    ]


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
            "measured": "; ".join(f.text for f in v.findings),
            "replications": max(f.n for f in v.findings),
            "remark": v.claim.remark,
            "revised": v.claim.revised,
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
