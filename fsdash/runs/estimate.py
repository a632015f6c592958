"""About how long a run will take, from recorded timings.

`timings.csv` holds the seconds that one evaluation took for each domain, algorithm and T of the
reproduction; `python -m fsdash.reproduce` writes it. The estimate is the work of a run times the
seconds per evaluation of the most similar entry. Iterations are converted to evaluations in
proportion to |S||A|M. All timings come from one machine, so an estimate is right to an order of
magnitude: enough to tell a run of seconds from one of hours before it starts.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.runs.spec import RunSpec

TIMINGS_FILE = Path(__file__).with_name("timings.csv")
OVERHEAD = 1.4
"""Time of a replication, with evaluating and storing its policies, relative to the algorithm's."""


@dataclass(frozen=True)
class Timing:
    """What one run of the reproduction took."""

    domain: str
    algorithm: str
    T: int
    """0 if the algorithm does not freeze the slow state."""
    seconds_per_evaluation: float
    work_per_iteration: float
    """Evaluations in one iteration, in units of |S||A|M."""


@lru_cache(maxsize=1024)
def worker_seconds(spec: RunSpec) -> float:
    """Estimated seconds that one worker needs for all replications of a run.

    Examples
    --------
    >>> from fsdash.runs.spec import RunSpec
    >>> once = RunSpec("inventory", "e-vi", evaluations=1_000_000, replications=1)
    >>> four = RunSpec("inventory", "e-vi", evaluations=1_000_000, replications=4)
    >>> round(worker_seconds(four) / worker_seconds(once), 6)
    4.0
    """
    unit, size = spec.budget
    if unit == "seconds":
        return size * spec.replications * OVERHEAD
    timing = _most_similar(spec)
    evaluations = (
        size if unit == "evaluations" else size * timing.work_per_iteration * unit_of(spec)
    )
    if spec.method.ends_at_T and spec.T:
        # One backup for each of T periods; whatever is left of the budget is not spent.
        evaluations = min(evaluations, spec.T * unit_of(spec))
    # The timings reach T = 12; the time of a sampled path grows in proportion to T.
    longer = max(1.0, spec.T / timing.T) if timing.T and spec.T else 1.0
    return evaluations * timing.seconds_per_evaluation * longer * spec.replications * OVERHEAD


def wall_seconds(specs: Sequence[RunSpec], workers: int) -> float:
    """Estimated seconds until several runs have finished on a number of workers.

    A replication is not divided between workers, so this is at least the longest replication.
    """
    each = [worker_seconds(spec) for spec in specs]
    longest = max(
        (seconds / spec.replications for seconds, spec in zip(each, specs, strict=True)),
        default=0.0,
    )
    return max(sum(each) / workers, longest)


def unit_of(spec: RunSpec) -> float:
    """|S||A|M with this run's own number of sampled states and samples."""
    parameters = dict(spec.parameters)
    n_slow, n_fast, n_actions, n_noise = spec.build_domain().shape
    # Fitted algorithms sample a tenth of the states by default.
    states = parameters.get("N") or n_slow * n_fast / (10 if "N" in parameters else 1)
    return (
        float(states)
        * n_actions
        * float(parameters.get("M_u") or parameters.get("M") or parameters.get("M_l") or n_noise)
    )


@cache
def timings() -> tuple[Timing, ...]:
    """The recorded timings."""
    with TIMINGS_FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Timing(
                row["domain"],
                row["algorithm"],
                int(row["T"]),
                float(row["seconds_per_evaluation"]),
                float(row["work_per_iteration"]),
            )
            for row in csv.DictReader(file)
        )


def write_timings(recorded: Sequence[Timing], path: Path = TIMINGS_FILE) -> None:
    """Replace the recorded timings."""
    names = [field.name for field in fields(Timing)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([getattr(timing, name) for name in names] for timing in recorded)


def _most_similar(spec: RunSpec) -> Timing:
    """The timing to estimate a run with.

    The same algorithm and domain with the nearest T if it was recorded, else the algorithm's
    slowest domain. For an algorithm without any timing, the median of those of its kind.
    """
    same = [timing for timing in timings() if timing.algorithm == spec.algorithm]
    here = [timing for timing in same if timing.domain == spec.domain]
    if here:
        return min(here, key=lambda timing: (abs(timing.T - (spec.T or 0)), -timing.T))
    if same:
        return max(same, key=lambda timing: timing.seconds_per_evaluation)
    registered = [timing for timing in timings() if timing.algorithm in ALGORITHMS]
    alike = [timing for timing in registered if _kind(timing.algorithm) == _kind(spec.algorithm)]
    ordered = sorted(alike or timings(), key=lambda timing: timing.seconds_per_evaluation)
    return ordered[len(ordered) // 2]


def _kind(name: str) -> tuple[bool, bool, bool]:
    """What decides the cost of an evaluation: paths of T periods, sampling and fitting.

    A rolling method backs up one period at a time, as a method that does not freeze.
    """
    algorithm = ALGORITHMS[name]
    paths = algorithm.freezes and not algorithm.ends_at_T
    return paths, algorithm.sampled, algorithm.regression is not None
