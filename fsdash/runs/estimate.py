"""About how long a run will take, from the kept results: what its like took in the reproduction.

The time of a run is its work times the seconds that one evaluation took there, for the same domain
and algorithm and the nearest T; where there is none, for the algorithm on the domain where it was
slowest. Iterations are turned into evaluations in proportion to |S||A|M. All this was measured on
one machine: right in its order of magnitude, no more. That is what tells a slip of the keyboard
from a short run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pandas as pd

from fsdash.reproduce.archive import kept_domains, kept_rows
from fsdash.reproduce.experiments import experiment
from fsdash.runs.spec import RunSpec

MEASURING = 1.4
"""A run's own time becomes this much longer by measuring and keeping its policies."""


@dataclass(frozen=True)
class Rate:
    """What one kept run took."""

    domain: str
    algorithm: str
    T: int
    per_evaluation: float
    """Seconds."""
    per_iteration: float
    """Evaluations, as a share of |S||A|M."""


def seconds(spec: RunSpec) -> float:
    """Of one worker, for all replications of a run."""
    unit, size = spec.budget
    if unit == "seconds":
        return size * spec.replications * MEASURING
    rate = _nearest(spec)
    evaluations = size if unit == "evaluations" else size * rate.per_iteration * _unit(spec)
    # Beyond the kept ones a path of T periods takes longer in proportion.
    longer = max(1.0, spec.T / rate.T) if rate.T and spec.T else 1.0
    return evaluations * rate.per_evaluation * longer * spec.replications * MEASURING


def wall_seconds(specs: Sequence[RunSpec], workers: int) -> float:
    """For several runs side by side: no less than the longest replication takes."""
    each = [seconds(spec) for spec in specs]
    longest = max(t / spec.replications for t, spec in zip(each, specs, strict=True))
    return max(sum(each) / workers, longest)


def _nearest(spec: RunSpec) -> Rate:
    alike = [rate for rate in rates() if rate.algorithm == spec.algorithm]
    here = [rate for rate in alike if rate.domain == spec.domain]
    if not here:
        return max(alike, key=lambda rate: rate.per_evaluation)
    return min(here, key=lambda rate: (abs(rate.T - (spec.T or 0)), -rate.T))


@cache
def rates() -> tuple[Rate, ...]:
    """Of each kept run; the slower one where variants share a name."""
    found: dict[tuple, Rate] = {}
    for domain in kept_domains():
        ends = kept_rows(domain).groupby(["algorithm", "T", "variant", "replication"], dropna=False)
        last = ends[["seconds", "evaluations", "iteration"]].last().reset_index()
        for run in experiment(domain).runs:
            spec = run.spec
            same = last["T"].isna() if spec.T is None else last["T"].eq(spec.T).fillna(False)
            named = last["algorithm"].eq(spec.algorithm) & last["variant"].eq(run.variant)
            rate = _rate(spec, last[named & same])
            key = domain, spec.algorithm, rate.T
            if key not in found or rate.per_evaluation > found[key].per_evaluation:
                found[key] = rate
    return tuple(found.values())


def _rate(spec: RunSpec, ends: pd.DataFrame) -> Rate:
    total = ends[["seconds", "evaluations", "iteration"]].sum()
    return Rate(
        spec.domain,
        spec.algorithm,
        spec.T or 0,
        float(total["seconds"] / total["evaluations"]),
        float(total["evaluations"] / total["iteration"] / _unit(spec)),
    )


def _unit(spec: RunSpec) -> float:
    """|S||A|M, with the states that are drawn and the samples that are taken by this run."""
    given = dict(spec.parameters)
    n_slow, n_fast, n_actions, n_noise = spec.build_domain().shape
    # Fitted methods draw a tenth of the states unless told otherwise.
    states = given.get("N") or n_slow * n_fast / (10 if "N" in given else 1)
    return states * n_actions * (given.get("M_u") or given.get("M") or n_noise)
