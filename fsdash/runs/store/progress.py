"""How far the runs of an experiment are, and how long they may still take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fsdash.runs.records import ACTIVE, Experiment, Run
from fsdash.runs.spec import BUDGETS, share_spent

OVER = ("finished", "diverged")
LastRows = Mapping[tuple[int, int], Mapping[str, Any]]
"""The last stored row of each replication, by run and replication."""


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
