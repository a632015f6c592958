"""What the store gives back: experiments, their runs and their replications, as plain records.

A replication is one of

    queued       waits for a worker
    running      a worker computes it
    paused       stopped by request, to be resumed
    interrupted  its server ended, or the store could not be written to; can be resumed
    failed       an error or a cap ended it; the reason says which
    diverged     its values are no longer finite
    cancelled    stopped by request
    finished     the budget is spent, or an exact algorithm has converged

The status of a run, or of an experiment, is the first of these that any of its replications has
(running before queued), so it never disagrees with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fsdash.runs.spec import RunSpec

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


@dataclass(frozen=True)
class Replication:
    """One replication; `seconds` is the time that workers have spent on it, evaluation included."""

    index: int
    status: str
    reason: str
    rows: int
    seconds: float
    pid: int | None
    heartbeat: float | None
    started: float | None
    finished: float | None
    stopping: bool
    """Whether it was asked to stop and has not done so yet."""


@dataclass(frozen=True)
class Run:
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
        """An `InputError` if a version of fsdash wrote it whose parameters are gone."""
        return RunSpec.from_json(self.spec_json)

    @cached_property
    def spec_data(self) -> dict:
        return json.loads(self.spec_json)

    @property
    def status(self) -> str:
        return first_status(r.status for r in self.replications)

    @property
    def reason(self) -> str:
        """Of the replication that gives the run its status."""
        return next((r.reason for r in self.replications if r.status == self.status), "")

    @property
    def resumable(self) -> list[Replication]:
        return [r for r in self.replications if r.status in RESUMABLE]

    @property
    def rows(self) -> int:
        return sum(r.rows for r in self.replications)

    @property
    def started(self) -> float | None:
        return min((r.started for r in self.replications if r.started), default=None)

    @property
    def finished(self) -> float | None:
        """When its last replication ended; None while one is under way."""
        if self.status in ACTIVE:
            return None
        return max((r.finished for r in self.replications if r.finished), default=None)


@dataclass(frozen=True)
class Experiment:
    """What was started with one click."""

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
        return self.status in ACTIVE


def first_status(statuses: Iterable[str]) -> str:
    return min(statuses, key=STATUSES.index, default="finished")
