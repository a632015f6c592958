"""One replication of a run: drive the algorithm, evaluate its policies, keep the rows.

The engine owns what an algorithm knows nothing of: the budget, the clock, who looks and who
cancels. Every policy is measured by its exact value under the true model (`fsdash.core.evaluation`),
never by the algorithm's own values. Evaluation starts from the values of the policy before, of the
same kind, and a policy that did not change is not evaluated again; `seconds` is the algorithm's own
time without it. Long runs are looked at ever less often (`Schedule`), so that neither the rows nor
the time of evaluation grow without end.

A replication ends as

    finished    the budget is spent, or an exact algorithm is certified to be at its fixed point
    cancelled   the caller asked for it, between two snapshots
    diverged    the values are no longer finite

and in each case the rows so far are the caller's already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from fsdash.algorithms.optimum import Optimum, optimum
from fsdash.algorithms.snapshot import Diverged, Snapshot
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.runs.spec import RunSpec

PRECISION = 1e-5
"""Certified error of a policy's value, relative to the largest optimal value."""

DENSE = 500
SPARSE = 1.01

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class Record:
    """One row, with the policy and the values that it is about."""

    row: Row
    policy_PXY: np.ndarray
    values_XY: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """How a replication ended, and where its time went."""

    status: str
    reason: str
    rows: int
    algorithm_seconds: float
    evaluation_seconds: float


@dataclass(frozen=True, eq=False)
class Problem:
    """A model with its optimum, solved once and used by all its runs."""

    model: FastSlowMDP
    best: Optimum

    @cached_property
    def optimal_return(self) -> float:
        return self.model.mean(self.best.U_XY)

    @cached_property
    def tolerance(self) -> float:
        return PRECISION * max(1.0, float(np.abs(self.best.U_XY).max()))


@lru_cache(maxsize=4)
def problem(domain: object) -> Problem:
    """The problem of a domain's configuration (a frozen dataclass, so a good key)."""
    model = domain.build()
    return Problem(model, optimum(model))


@dataclass(eq=False)
class Judge:
    """Measures policies one after the other, starting from what it knows of the last."""

    problem: Problem
    known: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """By kind of policy: the last one and its values."""

    def values(self, snapshot: Snapshot) -> np.ndarray:
        """The exact values of the snapshot's policy."""
        last, start_XY = self.known.get(snapshot.policy_kind, (None, None))
        if last is not None and np.array_equal(last, snapshot.policy_PXY):
            return start_XY
        p = self.problem
        U_XY = policy_values(
            p.model, snapshot.policy_PXY, tolerance=p.tolerance, start_XY=start_XY
        ).U_XY
        self.known[snapshot.policy_kind] = (snapshot.policy_PXY, U_XY)
        return U_XY

    def measures(self, snapshot: Snapshot) -> Row:
        p, U_XY = self.problem, self.values(snapshot)
        mean_return, best = p.model.mean(U_XY), p.optimal_return
        return {
            "mean_return": mean_return,
            # A share of something negative or zero would say nothing.
            "fraction_of_optimal": mean_return / best if best > 0 else float("nan"),
            "max_regret": max(0.0, float((p.best.U_XY - U_XY).max())),
            "policy_kind": snapshot.policy_kind,
        }


def execute(
    spec: RunSpec,
    replication: int,
    keep: Callable[[Record], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Carry out one replication; every record goes to `keep` as soon as it is there."""
    here = problem(spec.build_domain())
    judge, schedule, clock = Judge(here), Schedule(), Clock()
    rng = spec.generator(replication)
    snapshots = spec.method.start(here.model, rng, spec.T, dict(spec.parameters))

    def ended(status: str, reason: str) -> Outcome:
        return Outcome(status, reason, schedule.rows, clock.algorithm, clock.evaluation)

    while not cancelled():
        try:
            with clock.running("algorithm"):
                snapshot = next(snapshots)
        except Diverged as error:
            return ended("diverged", str(error))
        if spec.evaluations is not None and snapshot.evaluations > spec.evaluations:
            return ended("finished", _spent(spec, schedule.rows))
        end = _end(spec, here, snapshot, clock.algorithm)
        if schedule.due(snapshot) or end:
            with clock.running("evaluation"):
                measures = judge.measures(snapshot)
            row = {
                "domain": spec.domain,
                "algorithm": spec.algorithm,
                "T": spec.T,
                "replication": replication,
                "step": schedule.rows,
                "phase": snapshot.phase,
                "iteration": snapshot.iteration,
                "evaluations": snapshot.evaluations,
                "seconds": clock.algorithm,
                **measures,
            }
            keep(Record(row, snapshot.policy_PXY, snapshot.values_XY))
            schedule.recorded(snapshot)
        if end:
            return ended("finished", end)
    return ended("cancelled", "cancelled by request")


@dataclass
class Schedule:
    """Which snapshots are evaluated: all of the first `DENSE`, then one for each 1% more work."""

    rows: int = 0
    evaluations: int = 0

    def due(self, snapshot: Snapshot) -> bool:
        return self.rows < DENSE or snapshot.evaluations >= SPARSE * self.evaluations

    def recorded(self, snapshot: Snapshot) -> None:
        self.rows += 1
        self.evaluations = snapshot.evaluations


@dataclass
class Clock:
    """Seconds spent on the algorithm and on evaluating its policies."""

    algorithm: float = 0.0
    evaluation: float = 0.0

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + time.perf_counter() - started)


def _end(spec: RunSpec, here: Problem, snapshot: Snapshot, seconds: float) -> str:
    """Why this snapshot is the last one, or nothing."""
    unit, size = spec.budget
    main = snapshot.phase != "lower"
    # Of a sampled algorithm the error is not a number, which is never small enough.
    if main and snapshot.error <= here.tolerance:
        return f"converged: certified within {snapshot.error:.2g} of its fixed point"
    reached = {
        "evaluations": snapshot.evaluations == size,
        "iterations": main and snapshot.iteration >= size,
        "seconds": seconds >= size,
    }
    return _spent(spec, 1) if reached[unit] else ""


def _spent(spec: RunSpec, rows: int) -> str:
    unit, size = spec.budget
    if rows == 0:
        return f"the budget, {size:,} {unit}, ended before the first policy: give more"
    return f"the budget of {size:,} {unit} is spent"
