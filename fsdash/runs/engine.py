"""Computes one replication of a run: drives the algorithm and evaluates its policies.

The engine owns the budget, the clock, the choice of the snapshots to evaluate and the stopping; an
algorithm knows nothing of them. Every policy is measured by its exact value under the true model
(`fsdash.core.evaluation`), never by the algorithm's own values. An evaluation starts from the
values of the previous policy of the same kind, and an unchanged policy is not evaluated again.
`seconds` is the algorithm's own time, without evaluation. Long runs are evaluated less and less
often (`Schedule`), so that the number of rows and the time for evaluation stay bounded.

A replication ends as

    finished    the budget is spent, an exact algorithm is certified to be at its fixed point, or a
                rolling method has reached its longest horizon
    cancelled   the caller asked for it; checked between two snapshots
    diverged    the values are no longer finite

The caller has received all rows up to then. A replication can also be continued from a checkpoint
(`fsdash.runs.checkpoint`): its further rows are those of an undisturbed one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from fsdash.algorithms.snapshot import Diverged, Resume, Snapshot
from fsdash.choice.solved import SolvedModel, solved_domain
from fsdash.core.display import Lines, Summary
from fsdash.core.evaluation import policy_values
from fsdash.core.threads import one_thread
from fsdash.runs.checkpoint import Checkpoint, random_state, restored
from fsdash.runs.measures import share_of_optimum
from fsdash.runs.spec import RunSpec

DENSE_ROWS = 500
WORK_RATIO = 1.01

Row = dict[str, Any]
"""One value for each column of `fsdash.runs.columns`."""


@dataclass(frozen=True, eq=False, repr=False)
class Record(Summary):
    """One row, with the policy that it is about and the algorithm's own values."""

    row: Row
    policy_PXY: np.ndarray
    values_XY: np.ndarray

    @property
    def step(self) -> int:
        return int(self.row["step"])

    @property
    def seconds(self) -> float:
        return float(self.row["seconds"])

    def _summary(self) -> tuple[str, Lines]:
        shown = ("phase", "iteration", "evaluations", "mean_return", "max_regret", "policy_kind")
        return f"Record: step {self.step}", [
            *((name, self.row[name]) for name in shown),
            ("policy_PXY", f"shape {self.policy_PXY.shape}"),
            ("values_XY", f"shape {self.values_XY.shape}"),
        ]


@dataclass(frozen=True)
class Outcome:
    """How a replication ended, and how its time was spent."""

    status: str
    reason: str
    rows: int
    algorithm_seconds: float
    evaluation_seconds: float


@dataclass(eq=False)
class Judge:
    """Evaluates the policies of one replication, one after the other."""

    solved: SolvedModel
    evaluated: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """By kind of policy: the last policy of this phase and its values."""
    phase: str = ""

    def values(self, snapshot: Snapshot) -> np.ndarray:
        """The exact values of the snapshot's policy."""
        start_XY = None
        if snapshot.phase != self.phase:
            self.phase = snapshot.phase
            self.evaluated.clear()
        if snapshot.policy_kind in self.evaluated:
            last_PXY, start_XY = self.evaluated[snapshot.policy_kind]
            if np.array_equal(last_PXY, snapshot.policy_PXY):
                return start_XY
        p = self.solved
        U_XY = policy_values(
            p.model, snapshot.policy_PXY, tolerance=p.tolerance, start_XY=start_XY
        ).U_XY
        self.evaluated[snapshot.policy_kind] = (snapshot.policy_PXY, U_XY)
        return U_XY

    def measures(self, snapshot: Snapshot) -> Row:
        """The columns that say how good the snapshot's policy is."""
        p, U_XY = self.solved, self.values(snapshot)
        gap_XY = p.best.U_XY - U_XY
        # U* is known up to its certified error; a smaller gap is no regret.
        regret_XY = np.where(gap_XY > p.best.error, gap_XY, 0.0)
        mean_return, mean_regret = p.model.mean(U_XY), p.model.mean(regret_XY)
        return {
            "mean_return": mean_return,
            "fraction_of_optimal": share_of_optimum(mean_return, p.optimal_return, p.best.error),
            "mean_regret": mean_regret,
            "relative_regret": p.relative_regret(mean_regret),
            "max_regret": float(regret_XY.max()),
            "policy_kind": snapshot.policy_kind,
        }


@one_thread()
def execute(
    spec: RunSpec,
    replication: int,
    on_record: Callable[[Record], None],
    *,
    cancelled: Callable[[], bool] = lambda: False,
    checkpoints: Checkpoints | None = None,
) -> Outcome:
    """Compute one replication of a run, in one thread: replications are parallel, not loops.

    Parameters
    ----------
    spec : RunSpec
    replication : int
        Number of the replication, from 0. It determines the random numbers.
    on_record : callable
        Called with each `Record` as soon as it is computed.
    cancelled : callable
        Called between two snapshots; the replication ends when it returns True.
    checkpoints : Checkpoints, optional
        Where the replication starts, and where its checkpoints go.

    Returns
    -------
    Outcome
        How the replication ended.

    Examples
    --------
    >>> from fsdash.runs.engine import execute
    >>> from fsdash.runs.spec import RunSpec
    >>> records = []
    >>> outcome = execute(RunSpec("inventory", "vi", iterations=3), 0, records.append)
    >>> outcome.status, outcome.reason, len(records)
    ('finished', 'the budget of 3 iterations is spent', 4)
    >>> [record.row["iteration"] for record in records]
    [0, 1, 2, 3]
    """
    here = solved_domain(spec.build_domain())
    here.check_precision()
    state = State(Judge(here), Schedule(), Clock(), spec.generator(replication))
    resume = state.restore(checkpoints.last) if checkpoints and checkpoints.last else None
    judge, schedule, clock, rng = state.judge, state.schedule, state.clock, state.rng
    snapshots = spec.method.start(here.model, rng, spec.T, dict(spec.parameters), resume)

    def ended(status: str, reason: str) -> Outcome:
        return Outcome(status, reason, schedule.rows, clock.algorithm, clock.evaluation)

    while not cancelled():
        try:
            with clock.running("algorithm"):
                snapshot = next(snapshots, None)
        except Diverged as error:
            return ended("diverged", str(error))
        if snapshot is None:
            return ended("finished", f"complete: {spec.label} makes no further iterations")
        if spec.evaluations is not None and snapshot.evaluations > spec.evaluations:
            return ended("finished", _budget_spent(spec, schedule.rows))
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
            on_record(Record(row, snapshot.policy_PXY, snapshot.values_XY))
            schedule.recorded(snapshot)
        if end:
            return ended("finished", end)
        if checkpoints and spec.method.can_resume and snapshot.resume and checkpoints.are_due():
            checkpoints.keep(state.checkpoint(snapshot.resume))
    return ended("cancelled", "cancelled by request")


@dataclass
class Schedule:
    """Which snapshots are evaluated: the first `DENSE_ROWS`, then one per 1% more work.

    The later ones are at whole sweeps, because statistics refer to these.
    """

    rows: int = 0
    evaluations: int = 0
    seen: tuple[str, int, str] = ("", 0, "")
    """Phase, iteration and kind of policy of the latest snapshot."""

    def due(self, snapshot: Snapshot) -> bool:
        previous = self.seen
        self.seen = snapshot.phase, snapshot.iteration, snapshot.policy_kind
        if self.rows < DENSE_ROWS:
            return True
        whole = self.seen != previous
        return whole and snapshot.evaluations >= WORK_RATIO * self.evaluations

    def recorded(self, snapshot: Snapshot) -> None:
        self.rows += 1
        self.evaluations = snapshot.evaluations


@dataclass
class Clock:
    """Seconds spent in the algorithm and in the evaluation of its policies."""

    algorithm: float = 0.0
    evaluation: float = 0.0

    @contextmanager
    def running(self, activity: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            setattr(self, activity, getattr(self, activity) + spent)


class Checkpoints(Protocol):
    """Where a replication starts, and where its checkpoints go."""

    last: Checkpoint | None
    """The one to start from; None to start from the seed."""

    def are_due(self) -> bool:
        """Whether another one is needed now."""

    def keep(self, new: Checkpoint) -> None:
        """Store a checkpoint in place of the last one. Its arrays will change later."""


@dataclass(eq=False)
class State:
    """What the rows of a replication depend on, in addition to the algorithm's own values."""

    judge: Judge
    schedule: Schedule
    clock: Clock
    rng: np.random.Generator

    def checkpoint(self, resume: Resume) -> Checkpoint:
        """The state now, after a snapshot with these values."""
        counters = {
            "phase": self.judge.phase,
            "schedule": asdict(self.schedule),
            "clock": asdict(self.clock),
        }
        random = random_state(self.rng)
        return Checkpoint(resume, random, self.judge.evaluated, counters)

    def restore(self, saved: Checkpoint) -> Resume:
        """Return to an earlier state; returns the algorithm's values."""
        self.rng = restored(self.rng, saved.random)
        self.judge.phase, self.judge.evaluated = saved.counters["phase"], dict(saved.evaluated)
        schedule = saved.counters["schedule"]
        self.schedule = Schedule(**schedule | {"seen": tuple(schedule["seen"])})
        self.clock = Clock(**saved.counters["clock"])
        return saved.resume


def _end(spec: RunSpec, here: SolvedModel, snapshot: Snapshot, seconds: float) -> str:
    """Why this snapshot is the last one; empty if it is not."""
    unit, size = spec.budget
    main = snapshot.phase != "lower"
    # The error of a sampled algorithm is NaN, which is never below the tolerance.
    if main and snapshot.error <= here.tolerance:
        return f"converged: certified within {snapshot.error:.2g} of its fixed point"
    reached = {
        "evaluations": snapshot.evaluations == size,
        "iterations": main and snapshot.iteration >= size,
        "seconds": seconds >= size,
    }
    return _budget_spent(spec, 1) if reached[unit] else ""


def _budget_spent(spec: RunSpec, rows: int) -> str:
    unit, size = spec.budget
    if rows == 0:
        return f"the budget, {size:,} {unit}, ended before the first policy: use a larger one"
    return f"the budget of {size:,} {unit} is spent"
