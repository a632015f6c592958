"""How far the runs of an experiment are, and how long they may still take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import and_, select

from fsdash.runs.records import ACTIVE, Experiment, Run
from fsdash.runs.spec import BUDGETS, share_spent
from fsdash.runs.store import schema
from fsdash.runs.store.database import Database

OVER = ("finished", "diverged")
LastRows = Mapping[tuple[int, int], Mapping]
"""By run and replication."""


@dataclass(frozen=True)
class Progress:
    """Of one run. `seconds_left` is None while nothing is known, or nothing is under way."""

    run: int
    status: str
    fraction: float
    seconds_left: float | None
    finished: int
    replications: int


def progress(database: Database, experiment: Experiment) -> list[Progress]:
    """One for each run, in order."""
    return progress_after(experiment, last_rows(database, experiment))


def progress_after(experiment: Experiment, last: LastRows) -> list[Progress]:
    """The same, where the last rows are known already."""
    return [_of_run(run, last) for run in experiment.runs]


def last_rows(database: Database, experiment: Experiment) -> LastRows:
    """How far each replication had come when it last wrote."""
    r, p = schema.rows.c, schema.replications.c
    last = (
        select(r.run, r.replication, r.phase, r.iteration, r.evaluations, r.seconds)
        .join(
            schema.replications,
            and_(p.run == r.run, p.replication == r.replication, p.rows == r.step + 1),
        )
        .where(r.run.in_([run.id for run in experiment.runs]))
    )
    with database.reading() as connection:
        return {(row.run, row.replication): row._mapping for row in connection.execute(last)}


def _of_run(run: Run, rows: LastRows) -> Progress:
    done = [
        1.0 if r.status in OVER else _fraction(run, rows.get((run.id, r.index)))
        for r in run.replications
    ]
    spent = sum(r.seconds for r in run.replications)
    left = None
    if run.status in ACTIVE and sum(done) > 0:
        running = sum(r.status == "running" for r in run.replications)
        # The time so far, in proportion, shared by the workers that this run has now.
        left = spent / sum(done) * (len(done) - sum(done)) / max(1, running)
    over = sum(r.status in OVER for r in run.replications)
    return Progress(run.id, run.status, sum(done) / len(done), left, over, len(done))


def _fraction(run: Run, row: Mapping | None) -> float:
    """Of a replication, from its last row; the specification may be another version's."""
    [unit] = [name for name in BUDGETS if name in run.spec_data]
    return 0.0 if row is None else share_spent(unit, run.spec_data[unit], row)
