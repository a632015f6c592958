"""Experiments, runs and replications as the store returns them, and their progress.

The status of a replication is one of

    queued       it waits for a worker
    running      a worker computes it
    paused       stopped by request; it can be resumed
    interrupted  its server ended, or the store could not be written; it can be resumed
    failed       an error or a limit ended it; the reason says which
    diverged     its values are no longer finite
    cancelled    stopped by request
    finished     the budget is spent, or an exact algorithm has converged

The status of a run or of an experiment is derived from its replications: the first status in
`STATUSES` that any of them has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fsdash.core.display import Lines, Summary
from fsdash.runs.spec import BUDGETS, RunSpec, share_spent

STATUSES = (
    "running",
    "queued",
    "paused",
    "interrupted",
    "failed",
    "diverged",
    "cancelled",
    "finished",
)
ACTIVE = ("queued", "running")
RESUMABLE = ("paused", "interrupted", "failed", "cancelled")
OVER = ("finished", "diverged")
MAX_SHOWN = 8
"""Runs in the text of an experiment."""

LastRows = Mapping[tuple[int, int], Mapping[str, Any]]
"""The last stored row of each replication, by run and replication."""


@dataclass(frozen=True)
class Replication:
    """One replication of a run."""

    index: int
    status: str
    reason: str
    rows: int
    seconds: float
    """Time that workers have spent on it, including the evaluation of its policies."""
    pid: int | None
    """Process of the worker that computes or computed it."""
    heartbeat: float | None
    started: float | None
    finished: float | None
    """Times in seconds since 1970; None if it has not happened."""
    stopping: bool
    """Whether it was asked to stop and is still running."""


@dataclass(frozen=True, repr=False)
class Run(Summary):
    """One specification with its replications."""

    id: int
    experiment: str
    position: int
    spec_json: str
    hash: str
    domain: str
    algorithm: str
    T: int | None
    replications: tuple[Replication, ...]

    @cached_property
    def spec(self) -> RunSpec:
        """The specification.

        Raises `InputError` if it was written by a version of fsdash with other parameters.
        """
        return RunSpec.from_json(self.spec_json)

    @cached_property
    def spec_data(self) -> dict[str, Any]:
        """The specification as data, also if it cannot be used any more."""
        data: dict[str, Any] = json.loads(self.spec_json)
        return data

    @property
    def status(self) -> str:
        return first_status(r.status for r in self.replications)

    @property
    def reason(self) -> str:
        """The reason of the first replication that has the run's status."""
        return next((r.reason for r in self.replications if r.status == self.status), "")

    @property
    def resumable(self) -> list[Replication]:
        """The replications that can be resumed."""
        return [r for r in self.replications if r.status in RESUMABLE]

    @property
    def rows(self) -> int:
        """Number of stored rows."""
        return sum(r.rows for r in self.replications)

    @property
    def started(self) -> float | None:
        """When its first replication started; None if none has."""
        return min((r.started for r in self.replications if r.started), default=None)

    @property
    def finished(self) -> float | None:
        """When its last replication ended; None while one is active."""
        if self.status in ACTIVE:
            return None
        return max((r.finished for r in self.replications if r.finished), default=None)

    def _summary(self) -> tuple[str, Lines]:
        T = "" if self.T is None else f", T={self.T}"
        return f"Run {self.id}: {self.algorithm}{T} on {self.domain}", [
            ("status", self.status),
            ("reason", self.reason),
            ("replications", len(self.replications)),
            ("rows", self.rows),
        ]


@dataclass(frozen=True, repr=False)
class Experiment(Summary):
    """The runs that were started together."""

    id: str
    owner: str
    name: str
    note: str
    pinned: bool
    created: float
    runs: tuple[Run, ...]

    @property
    def status(self) -> str:
        return first_status(run.status for run in self.runs)

    @property
    def active(self) -> bool:
        """Whether any replication is queued or running."""
        return self.status in ACTIVE

    def _summary(self) -> tuple[str, Lines]:
        rows: list[tuple[str, object]] = [
            (f"run {run.id}", f"{run.algorithm} on {run.domain}, {run.status}, {run.rows:,} rows")
            for run in self.runs[:MAX_SHOWN]
        ]
        if len(self.runs) > MAX_SHOWN:
            rows.append(("more runs", len(self.runs) - MAX_SHOWN))
        return f"Experiment {self.id}: {self.name!r} of {self.owner!r}, {self.status}", rows


def first_status(statuses: Iterable[str]) -> str:
    """The status that stands for several: the first of `STATUSES` that occurs."""
    return min(statuses, key=STATUSES.index, default="finished")


# ----------------------------------------------------------------------------------------- progress


@dataclass(frozen=True)
class Progress:
    """Progress of one run."""

    run: int
    status: str
    fraction: float
    """Share of the budget that is spent, over all replications."""
    seconds_left: float | None
    """Estimate; None while there is nothing to base it on, or when the run is not active."""
    finished: int
    replications: int


def progress_of(experiment: Experiment, last_rows: LastRows) -> list[Progress]:
    """The progress of each run, in order."""
    return [_progress_of_run(run, last_rows) for run in experiment.runs]


def _progress_of_run(run: Run, last_rows: LastRows) -> Progress:
    done = [
        1.0 if r.status in OVER else _fraction(run, last_rows.get((run.id, r.index)))
        for r in run.replications
    ]
    spent = sum(r.seconds for r in run.replications)
    left = None
    if run.status in ACTIVE and sum(done) > 0:
        running = sum(r.status == "running" for r in run.replications)
        # The rest takes time in proportion, divided between the workers that the run has now.
        left = spent / sum(done) * (len(done) - sum(done)) / max(1, running)
    over = sum(r.status in OVER for r in run.replications)
    return Progress(run.id, run.status, sum(done) / len(done), left, over, len(done))


def _fraction(run: Run, row: Mapping[str, Any] | None) -> float:
    # Not from run.spec: another version of fsdash may have written a spec that cannot be read now.
    [unit] = [name for name in BUDGETS if name in run.spec_data]
    return 0.0 if row is None else share_spent(unit, run.spec_data[unit], row)
