"""The SQL statements behind `Store`: inserting experiments, and reading records and rows."""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, and_, or_, select

from fsdash.domains.saved import PREFIX
from fsdash.errors import InputError
from fsdash.runs.columns import DTYPES, ROW_COLUMNS, RUN_NAMES
from fsdash.runs.estimate import worker_seconds
from fsdash.runs.records import Experiment, Replication, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import schema
from fsdash.runs.store.database import storable

MAX_RUNS = 50
MAX_NAME, MAX_NOTE, MAX_OWNER = 200, 10_000, 100


def checked_text(field: str, value: object, most: int) -> str:
    """The text without spaces at its ends, or an error that says how long it may be."""
    if not isinstance(value, str) or len(value) > most:
        raise InputError(f"{field}: give text of at most {most:,} characters")
    return storable(field, value.strip())


def checked_name(name: object) -> str:
    """The name of an experiment or a model, or an error that says what is wrong with it."""
    checked = checked_text("name", name, MAX_NAME)
    if not checked:
        raise InputError("name: is empty; type one")
    return checked


def new_id() -> str:
    """A random id that is easy to read aloud."""
    return "".join(secrets.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(10))


# ---------------------------------------------------------------------------------------- inserting


def insert_experiment(
    connection: Connection,
    owner: str,
    name: object,
    specs: Sequence[RunSpec],
    status: str,
    server: str = "",
    note: str = "",
    created: float | None = None,
) -> str:
    """Insert an experiment and all its replications, each of them with this status."""
    if not 1 <= len(specs) <= MAX_RUNS:
        raise InputError(f"specs: {len(specs)} runs were given; use 1 to {MAX_RUNS}")
    id = new_id()
    connection.execute(
        schema.experiments.insert().values(
            id=id,
            owner=checked_text("owner", owner, MAX_OWNER),
            name=checked_text("name", name, MAX_NAME),
            note=note,
            pinned=False,
            created=created or time.time(),
        )
    )
    _lock_models(connection, specs)
    ids = [_insert_run(connection, id, i, spec) for i, spec in enumerate(specs)]
    # Runs take turns: every run has its first replication before any has its second. Within a turn
    # the shortest comes first, so that no curve waits for a long run.
    each = [worker_seconds(spec) / spec.replications for spec in specs]
    turns = [(i, each[n], n) for n, spec in enumerate(specs) for i in range(spec.replications)]
    order = [(i, ids[n]) for i, _, n in sorted(turns)]
    new = {
        "status": status,
        "server": server,
        "reason": "",
        "wanted": "",
        "wanted_reason": "",
        "attempt": 0,
        "rows": 0,
        "seconds": 0.0,
    }
    connection.execute(
        schema.replications.insert(), [{"run": run, "replication": i, **new} for i, run in order]
    )
    return id


def _lock_models(connection: Connection, specs: Sequence[RunSpec]) -> None:
    """On PostgreSQL, make a deletion of a saved model of these runs wait until they are stored."""
    saved = {spec.domain.removeprefix(PREFIX) for spec in specs if spec.domain.startswith(PREFIX)}
    if saved:
        m = schema.models.c.hash
        connection.execute(select(m).where(m.in_(saved)).with_for_update(read=True))


def _insert_run(connection: Connection, experiment: str, position: int, spec: RunSpec) -> int:
    values = {
        "experiment": experiment,
        "position": position,
        "spec": spec.to_json(),
        "hash": spec.hash,
        "domain": spec.domain,
        "algorithm": spec.algorithm,
        "T": spec.T,
    }
    inserted: Any = connection.execute(schema.runs.insert().values(values)).inserted_primary_key
    return int(inserted.id)


# ------------------------------------------------------------------------------------------ reading


def experiment_records(connection: Connection, rows: Sequence[Row[Any]]) -> list[Experiment]:
    """Rows of the table of experiments as records with their runs."""
    r = schema.runs
    ids = [row.id for row in rows]
    query = select(r).where(r.c.experiment.in_(ids)).order_by(r.c.experiment, r.c.position)
    by_experiment: dict[str, list[Run]] = defaultdict(list)
    for run in run_records(connection, connection.execute(query).all()):
        by_experiment[run.experiment].append(run)
    return [Experiment(**row._mapping, runs=tuple(by_experiment[row.id])) for row in rows]


def run_records(connection: Connection, rows: Sequence[Row[Any]]) -> list[Run]:
    """Rows of the table of runs as records with their replications."""
    p = schema.replications
    query = select(p).where(p.c.run.in_([row.id for row in rows]))
    by_run: dict[int, list[Replication]] = defaultdict(list)
    for row in connection.execute(query.order_by(p.c.run, p.c.replication)):
        by_run[row.run].append(
            Replication(
                index=row.replication,
                status=row.status,
                reason=row.reason,
                rows=row.rows,
                seconds=row.seconds,
                pid=row.pid,
                heartbeat=row.heartbeat,
                started=row.started,
                finished=row.finished,
                stopping=bool(row.wanted),
            )
        )
    return [
        Run(
            id=row.id,
            experiment=row.experiment,
            position=row.position,
            spec_json=row.spec,
            hash=row.hash,
            domain=row.domain,
            algorithm=row.algorithm,
            T=row._mapping["T"],
            replications=tuple(by_run[row.id]),
        )
        for row in rows
    ]


def select_rows(connection: Connection, new: Sequence[tuple[int, int, int]]) -> Sequence[Row[Any]]:
    """The rows of (run, replication) pairs, each from a step on."""
    t = schema.rows
    wanted = [and_(t.c.run == r, t.c.replication == i, t.c.step >= n) for r, i, n in new]
    columns = [t.c.run, t.c.replication, *(t.c[column.name] for column in ROW_COLUMNS)]
    query = select(*columns).where(or_(*wanted)).order_by(t.c.run, t.c.replication, t.c.step)
    return connection.execute(query).all()


def rows_frame(rows: Sequence[Row[Any]], of_run: Mapping[int, Mapping[Any, Any]]) -> pd.DataFrame:
    """Rows as a frame; what belongs to the run is repeated in each of its rows."""
    names = ["run", "replication", *(column.name for column in ROW_COLUMNS)]
    values = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    columns: dict[str, Sequence[Any]] = dict(zip(names, values, strict=True))
    for name in RUN_NAMES:
        columns[name] = [of_run[run][name] for run in columns["run"]]
    dtypes = {"run": "int64", **DTYPES}
    return pd.DataFrame({name: pd.Series(columns[name], dtype=d) for name, d in dtypes.items()})
