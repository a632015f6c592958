"""How a claim is judged: measured values with their 95% intervals against limits fixed beforehand.

A claim has parts. A part measures one number in each replication and has a limit that it must lie
above or below:

    clear     the mean and its whole 95% interval lie on the right side
    unclear   the mean does, a part of the interval does not
    no        the mean lies on the wrong side

and the claim is

    reproduced       every part is clear
    not reproduced   every part is no
    partly           anything else

Differences and ratios of two methods are taken replication by replication, so that their interval
is that of the difference itself. With one replication, or no randomness, the mean decides alone.

The words of the paper are read the same way everywhere: "good" is 75% of the optimum (the level
that the paper itself names), "near-optimal" 95%, "optimal" 99%, "significantly less work" at most
one half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan

import numpy as np
import pandas as pd

from fsdash.runs.summary import first_crossing, interval, labelled, replications

GOOD, NEAR_OPTIMAL, OPTIMAL, HALF = 0.75, 0.95, 0.99, 0.5
LATE = 0.75
"""The late part of a run is what follows after this share of the budget."""
GRID = 200

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
CLEAR, UNCLEAR, NO = "clear", "unclear", "no"


@dataclass(frozen=True, eq=False)
class Curves:
    """The runs of one experiment: by method, each replication's work (in sweeps) and worth.

    After its last look a replication keeps the worth of its last policy: a run that ended early,
    because it diverged say, is judged by what it left behind.
    """

    runs: Mapping[str, Sequence[tuple[np.ndarray, np.ndarray]]]
    budget: float

    @classmethod
    def of(cls, frame: pd.DataFrame, sweep: float, budget: float) -> Curves:
        named = replications(labelled(frame, stationary=True), "sweeps", sweep=sweep)
        return cls({key[0]: runs for key, runs in named}, budget)

    def _read(self, method: str, where: np.ndarray) -> np.ndarray:
        """Worth by replication and point."""
        places = [(np.searchsorted(x, where, side="right") - 1, y) for x, y in self.runs[method]]
        return np.array([y[np.maximum(place, 0)] for place, y in places])

    def best(self, method: str) -> np.ndarray:
        """The best worth of the whole run."""
        return np.array([np.max(y) for _, y in self.runs[method]])

    def last(self, method: str) -> np.ndarray:
        """The worth at the last look."""
        return np.array([y[-1] for _, y in self.runs[method]])

    def at(self, method: str, work: float) -> np.ndarray:
        """The worth after so many sweeps."""
        return self._read(method, np.array([work]))[:, 0]

    def late(self, method: str) -> np.ndarray:
        """The mean worth over the last quarter of the budget."""
        return self._read(method, np.linspace(LATE * self.budget, self.budget, GRID)).mean(axis=1)

    def unrest(self, method: str) -> np.ndarray:
        """The standard deviation of the worth over the second half of the budget."""
        return self._read(method, np.linspace(0.5 * self.budget, self.budget, GRID)).std(axis=1)

    def average(self, method: str) -> np.ndarray:
        """The mean worth over the whole budget: quality and speed in one number."""
        return self._read(method, np.linspace(0, self.budget, GRID)).mean(axis=1)

    def work(self, method: str, level: float) -> np.ndarray:
        """The work until the first look at this level or above; infinite if it is never reached."""
        return np.array([first_crossing(x, y, level) for x, y in self.runs[method]])

    def mean_work(self, method: str, level: float) -> float:
        """The work until the mean curve, as a figure shows it, is first at this level."""
        grid = np.unique(np.concatenate([x for x, _ in self.runs[method]]))
        return first_crossing(grid, self._read(method, grid).mean(axis=0), level)

    def work_ratio(self, method: str, other: str, level: float) -> np.ndarray:
        """How much of the other's work this method needs to get there.

        A method that never does has an infinite ratio. If only the other never does, its work is
        counted as the whole budget, the least that it can be.
        """
        return self.work(method, level) / np.minimum(self.work(other, level), self.budget)


Evidence = Mapping[str, Curves]


@dataclass(frozen=True, eq=False)
class Part:
    """One number that a claim is about, and the side of the limit on which it must lie."""

    told: str
    sign: str
    limit: float
    measure: Callable[[Evidence], Sequence[float]]
    """One value for each replication."""

    def __post_init__(self) -> None:
        if self.sign not in (">", "<"):
            raise ValueError(f"sign = {self.sign!r}: use > or <")

    def judged(self, evidence: Evidence) -> Finding:
        return finding(self, interval(self.measure(evidence)))


@dataclass(frozen=True)
class Finding:
    """What was measured for a part, and what it means."""

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
        """Such as `best share of T=6: 0.891 [0.885, 0.897] > 0.95: no`."""
        spread = "" if isnan(self.low) else f" [{self.low:.3g}, {self.high:.3g}]"
        shown = "never" if self.mean == inf else f"{self.mean:.3g}"
        return f"{self.part}: {shown}{spread} {self.sign} {self.limit:.3g}: {self.state}"


def finding(part: Part, measured: tuple[float, float, float, int]) -> Finding:
    mean, low, high, n = measured
    side = 1 if part.sign == ">" else -1
    right = side * (mean - part.limit) > 0
    worst = low if part.sign == ">" else high
    whole = isnan(worst) or side * (worst - part.limit) > 0
    state = NO if not right else CLEAR if whole else UNCLEAR
    return Finding(part.told, part.sign, part.limit, mean, low, high, n, state)


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim in our words, where it stands, and the rule by which it is judged."""

    name: str
    needs: tuple[str, ...]
    """The experiments whose rows it is judged on; none for claims about the theory."""
    claim: str
    where: str
    rule: str
    parts: tuple[Part, ...]
    remark: str = ""

    def judged(self, evidence: Evidence) -> Verdict:
        findings = tuple(part.judged(evidence) for part in self.parts)
        return Verdict(self, verdict([f.state for f in findings]), findings)


@dataclass(frozen=True)
class Verdict:
    """A claim with what was found."""

    claim: Claim
    verdict: str
    findings: tuple[Finding, ...]


def verdict(states: Sequence[str]) -> str:
    if all(state == CLEAR for state in states):
        return REPRODUCED
    return NOT_REPRODUCED if all(state == NO for state in states) else PARTLY


def judge(claims: Sequence[Claim], evidence: Evidence) -> list[Verdict]:
    """The verdicts on all claims whose experiments are there."""
    return [
        claim.judged(evidence) for claim in claims if all(name in evidence for name in claim.needs)
    ]


def claims_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """One claim a row."""
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
    """One part of a claim a row, as numbers."""
    return pd.DataFrame(
        {"name": v.claim.name, **{k: getattr(f, k) for k in f.__annotations__}}
        for v in verdicts
        for f in v.findings
    )
