"""Runs at equal work: the value of each after a common budget, and the difference of two.

    budget       the largest work that all compared runs have spent. A rolling method ends at its T
                 by itself and keeps its last policy, so it does not limit the others.
    value        that of the last policy that a replication had after this work
    difference   the mean of one run minus that of another, with its 95% interval. Runs with the
                 same seed are compared replication by replication (paired differences), others by
                 Welch's interval. A run of an exact algorithm counts as a constant.

Whether the intervals of two means overlap says little about their difference, so nothing here asks
for it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.runs.columns import DEFAULT_MEASURE
from fsdash.runs.summary.curves import (
    OWN,
    ColumnArrays,
    ReplicationCurve,
    Series,
    axis_values,
    interval,
    split,
    work_spent,
)


@dataclass(frozen=True, eq=False)
class RunCurves:
    """The curves of one run, by replication."""

    algorithm: str
    replications: Mapping[int, ReplicationCurve]

    @property
    def work(self) -> float:
        """The work that it has spent; infinite if it keeps its last policy for any more work."""
        entry = ALGORITHMS.get(self.algorithm)
        return inf if entry and entry.ends_at_T else self.own_work

    @property
    def own_work(self) -> float:
        """The work of its last policy."""
        return work_spent(list(self.replications.values()))

    def values(self, budget: float) -> dict[int, float]:
        """The value of each replication after a budget, without those that had no policy then."""
        found = {i: value_after(x, y, budget) for i, (x, y) in self.replications.items()}
        return {i: value for i, value in found.items() if not np.isnan(value)}


def value_after(x: np.ndarray, y: np.ndarray, budget: float) -> float:
    """The value of the last policy after some work; NaN before the first one."""
    place = int(np.searchsorted(x, budget, side="right")) - 1
    return float(y[place]) if place >= 0 else nan


def common_budget(runs: Iterable[RunCurves]) -> float:
    """The largest work that all runs have spent."""
    runs = list(runs)
    shortest = min((run.work for run in runs), default=nan)
    return shortest if shortest < inf else max(run.own_work for run in runs)


def run_curves(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
) -> dict[tuple[Hashable, ...], RunCurves]:
    """The curves of the replications of each series, by `Series.key`."""
    columns = ColumnArrays(frame)
    return curves_by_key(columns, split(columns, lower_policies), x, y, sweep)


def curves_by_key(
    columns: ColumnArrays, all_series: Sequence[Series], x: str, y: str, sweep: float
) -> dict[tuple[Hashable, ...], RunCurves]:
    """`run_curves` of some series of a frame."""
    x_all, y_all = axis_values(columns, x, y, sweep)
    replication = columns["replication"]
    return {
        series.key: RunCurves(
            series.algorithm,
            {int(replication[rows[0]]): (x_all[rows], y_all[rows]) for rows in series.runs},
        )
        for series in all_series
    }


def budgets_by_domain(runs: Mapping[tuple[Hashable, ...], RunCurves]) -> dict[Hashable, float]:
    """The common budget of the runs on each domain; policies of lower levels do not limit it."""
    own: dict[Hashable, list[RunCurves]] = {}
    for (_, domain, *_, policy), curves in runs.items():
        if policy == OWN:
            own.setdefault(domain, []).append(curves)
    return {domain: common_budget(found) for domain, found in own.items()}


@dataclass(frozen=True)
class Sample:
    """The values of one run at some work."""

    values: Mapping[int, float]
    """By replication."""
    seed: int | None
    """The seed of its random numbers; None for an exact algorithm, whose value is a constant."""

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.values.values()))) if self.values else nan


@dataclass(frozen=True)
class Difference:
    """The mean of one run minus that of another, with its 95% interval."""

    mean: float
    low: float
    high: float
    """Both ends are NaN if a sampled run has a single replication."""
    pairs: int
    """The number of pairs with the same random numbers; 0 if the runs are independent."""

    @property
    def has_interval(self) -> bool:
        return not np.isnan(self.low)

    @property
    def contains_zero(self) -> bool:
        """Whether the interval leaves open which run is better."""
        return self.low <= 0 <= self.high


def difference(one: Sample, other: Sample) -> Difference:
    """How much larger the mean of one run is than that of another.

    Replications with the same number and the same seed have the same random numbers, so their
    differences are compared: what both have in common cancels.

    Examples
    --------
    >>> one = Sample({0: 0.90, 1: 0.70, 2: 0.80}, seed=0)
    >>> other = Sample({0: 0.88, 1: 0.68, 2: 0.775}, seed=0)
    >>> found = difference(one, other)
    >>> round(found.mean, 3), found.pairs, found.contains_zero
    (0.022, 3, False)
    >>> difference(one, Sample(other.values, seed=1)).contains_zero
    True
    """
    both = sorted(set(one.values) & set(other.values))
    if one.seed is not None and one.seed == other.seed and len(both) > 1:
        mean, low, high, n = interval([one.values[i] - other.values[i] for i in both])
        return Difference(mean, low, high, n)
    mean, sampled = one.mean - other.mean, [run for run in (one, other) if run.seed is not None]
    samples = [np.array(list(run.values.values()), float) for run in sampled]
    if np.isnan(mean) or any(len(sample) < 2 for sample in samples):
        return Difference(mean, nan, nan, 0)
    half = _welch(samples)
    return Difference(mean, mean - half, mean + half, 0)


def _welch(samples: Sequence[np.ndarray]) -> float:
    """Half the width of the interval of a difference of independent means; 0 for constants."""
    errors = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    if not sum(errors) > 0:
        return 0.0
    freedom = sum(errors) ** 2 / sum(
        error**2 / (len(sample) - 1) for error, sample in zip(errors, samples, strict=True)
    )
    return float(stdtrit(freedom, 0.975)) * sqrt(sum(errors))
