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

Differences and ratios of two methods are computed per replication, so their interval is that of the
difference itself. With one replication, or without randomness, the mean alone decides.

The paper's words have the same meaning everywhere: "good" is 75% of the optimum (the level that the
paper names), "near-optimal" 95%, "optimal" 99%, and "significantly less work" at most one half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan

import numpy as np
import pandas as pd

from fsdash.formatting import number
from fsdash.runs.summary import first_crossing, interval, labelled, replications

GOOD, NEAR_OPTIMAL, OPTIMAL, HALF = 0.75, 0.95, 0.99, 0.5
LATE = 0.75
"""The late part of a run begins after this share of the budget."""
GRID_POINTS = 200

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
CLEAR, UNCLEAR, NO = "clear", "unclear", "no"


@dataclass(frozen=True, eq=False)
class ExperimentCurves:
    """The learning curves of one experiment.

    `runs` has for each method one pair (work in sweeps, share of the optimum) per replication, with
    one entry per recorded policy. After its last policy a replication keeps that policy's share, so
    a run that ended early, for example because it diverged, is judged by its last policy.
    """

    runs: Mapping[str, Sequence[tuple[np.ndarray, np.ndarray]]]
    budget: float

    @classmethod
    def of(cls, frame: pd.DataFrame, sweep: float, budget: float) -> ExperimentCurves:
        """The curves of a tidy frame; `sweep` is the number of evaluations in one sweep."""
        named = replications(labelled(frame, stationary=True), "sweeps", sweep=sweep)
        return cls({key[0]: runs for key, runs in named}, budget)

    def _shares(self, method: str, work: np.ndarray) -> np.ndarray:
        """The share after each amount of work, shape (replications, len(work))."""
        indices = [(np.searchsorted(x, work, side="right") - 1, y) for x, y in self.runs[method]]
        return np.array([y[np.maximum(index, 0)] for index, y in indices])

    def best(self, method: str) -> np.ndarray:
        """The best share of the whole run."""
        return np.array([np.max(y) for _, y in self.runs[method]])

    def last(self, method: str) -> np.ndarray:
        """The share of the last policy."""
        return np.array([y[-1] for _, y in self.runs[method]])

    def at(self, method: str, work: float) -> np.ndarray:
        """The share after this many sweeps."""
        return self._shares(method, np.array([work]))[:, 0]

    def late(self, method: str) -> np.ndarray:
        """The mean share over the last quarter of the budget."""
        work = np.linspace(LATE * self.budget, self.budget, GRID_POINTS)
        return self._shares(method, work).mean(axis=1)

    def instability(self, method: str) -> np.ndarray:
        """The standard deviation of the share over the second half of the budget."""
        work = np.linspace(0.5 * self.budget, self.budget, GRID_POINTS)
        return self._shares(method, work).std(axis=1)

    def average(self, method: str) -> np.ndarray:
        """The mean share over the whole budget, which combines quality and speed."""
        return self._shares(method, np.linspace(0, self.budget, GRID_POINTS)).mean(axis=1)

    def work(self, method: str, level: float) -> np.ndarray:
        """The work to the first policy at or above this level; inf if there is none."""
        return np.array([first_crossing(x, y, level) for x, y in self.runs[method]])

    def mean_work(self, method: str, level: float) -> float:
        """The work until the mean curve, as drawn in a figure, first reaches this level."""
        grid = np.unique(np.concatenate([x for x, _ in self.runs[method]]))
        return first_crossing(grid, self._shares(method, grid).mean(axis=0), level)

    def work_ratio(self, method: str, other: str, level: float) -> np.ndarray:
        """The work of this method to reach a level, divided by the other's.

        The ratio is infinite if this method never reaches it. If only the other never does, its
        work counts as the whole budget, which is a lower bound.
        """
        return self.work(method, level) / np.minimum(self.work(other, level), self.budget)


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

    def __post_init__(self) -> None:
        if self.sign not in (">", "<"):
            raise ValueError(f"sign = {self.sign!r}: use > or <")

    def judged(self, evidence: Evidence) -> Finding:
        """Measure the part and compare it with its limit."""
        return finding(self, interval(self.measure(evidence)))


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

    @property
    def text(self) -> str:
        """For example `best share of T=6: 0.891 [0.885, 0.897] > 0.95: no`."""
        spread = "" if isnan(self.low) else f" [{number(self.low)}, {number(self.high)}]"
        mean = "never" if self.mean == inf else number(self.mean)
        return f"{self.part}: {mean}{spread} {self.sign} {number(self.limit)}: {self.state}"


def finding(part: ClaimPart, measured: tuple[float, float, float, int]) -> Finding:
    """Compare a mean, its interval and its number of replications with the part's limit."""
    mean, low, high, n = measured
    side = 1 if part.sign == ">" else -1
    mean_passes = side * (mean - part.limit) > 0
    worst = low if part.sign == ">" else high
    interval_passes = isnan(worst) or side * (worst - part.limit) > 0
    state = NO if not mean_passes else CLEAR if interval_passes else UNCLEAR
    return Finding(part.label, part.sign, part.limit, mean, low, high, n, state)


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim in our words, its place in the paper, and the rule that decides it."""

    name: str
    needs: tuple[str, ...]
    """The domains whose experiments it is judged on; none for claims about the theory."""
    claim: str
    where: str
    rule: str
    parts: tuple[ClaimPart, ...]
    remark: str = ""

    def judged(self, evidence: Evidence) -> Verdict:
        """Judge every part, and from them the claim."""
        findings = tuple(part.judged(evidence) for part in self.parts)
        return Verdict(self, verdict([f.state for f in findings]), findings)


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


def judge(claims: Sequence[Claim], evidence: Evidence) -> list[Verdict]:
    """The verdicts on all claims whose experiments are in the evidence."""
    return [
        claim.judged(evidence) for claim in claims if all(name in evidence for name in claim.needs)
    ]


def claims_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """One row per claim, as text."""
    return pd.DataFrame(
        {
            "name": v.claim.name,
            "claim": v.claim.claim,
            "where": v.claim.where,
            "rule": v.claim.rule,
            "verdict": v.verdict,
            "measured": "; ".join(f.text for f in v.findings),
            "replications": max(f.n for f in v.findings),
            "remark": v.claim.remark,
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
