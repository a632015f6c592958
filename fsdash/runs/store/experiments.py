"""Experiments that are kept: what pages list, draw, rename, pin, delete, export and import.

    store = Store()                                # the user's own file; or Store(path or URL)
    id = store.add_experiment("me", "T=6 against Base E-VI", [spec, other])
    frame = store.rows([run.id for run in store.experiment(id).runs])
    policy_PXY, values_XY = store.policy(run.id, replication=0, step=12)

Who computes writes through `fsdash.runs.server.work_queue`, into the same database.

**Size.** A replication has at most about 2,500 rows (`engine.Schedule`) of about 100 bytes each.
Policies are kept for replication 0, at most `recorder.SNAPSHOTS` of them spread evenly over its
rows, and the last one of every replication, together at most `recorder.POLICY_BYTES` a run.
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Row, and_, func, or_, select

from fsdash.errors import InputError, encodable
from fsdash.runs.columns import DTYPES, NAMES, ROW_COLUMNS, RUN_NAMES
from fsdash.runs.errors import StoreError
from fsdash.runs.records import ACTIVE, Experiment, Replication, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import schema, transfer
from fsdash.runs.store.arrays import unpack
from fsdash.runs.store.database import LOCK_TIMEOUT, Database, default_url, file_url, set_aside

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
ID_LENGTH = 10
MAX_RUNS = 50
MAX_NAME, MAX_NOTE, MAX_OWNER = 200, 10_000, 100
BATCH = 200

Seen = Mapping[tuple[int, int], int]
"""By (run, replication): how many of its rows the caller has already."""


@dataclass(frozen=True)
class Size:
    """How much is kept. `bytes` is None where the database does not say."""

    bytes: int | None
    experiments: int
    runs: int
    rows: int


class Store:
    """Kept experiments in one database; safe to use from several threads and processes."""

    def __init__(self, where: str | Path | None = None, lock_timeout: float = LOCK_TIMEOUT) -> None:
        """`where` is a path or a URL; `lock_timeout` how many seconds to wait for a locked file."""
        url = default_url() if where is None else str(where)
        self.database = Database(url if "://" in url else file_url(url), lock_timeout)

    @classmethod
    def recover(cls, where: str | Path | None = None) -> tuple[Store, Path]:
        """A new store in the place of a damaged file, and where that file is kept now."""
        url = default_url() if where is None else str(where)
        url = url if "://" in url else file_url(url)
        aside = set_aside(url)
        return cls(url), aside

    @property
    def url(self) -> str:
        """The SQLAlchemy URL of the database."""
        return self.database.url

    def close(self) -> None:
        self.database.close()

    # Experiments

    def add_experiment(
        self, owner: str, name: str, specs: Sequence[RunSpec], status: str = "paused", **values
    ) -> str:
        """Keep a new experiment and return its id. Its replications wait until they are queued."""
        with self.database.writing() as connection:
            return insert_experiment(connection, owner, name, specs, status, **values)

    def experiment(self, id: str) -> Experiment:
        with self.database.reading() as connection:
            found = connection.execute(
                select(schema.experiments).where(schema.experiments.c.id == id)
            ).all()
            if not found:
                raise InputError(f"experiment {id!r} is not kept here; it may have been deleted")
            return _with_runs(connection, found)[0]

    def experiments(
        self,
        owner: str | None = None,
        text: str = "",
        domain: str | None = None,
        algorithm: str | None = None,
        status: str | None = None,
        pinned: bool | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Experiment]:
        """The newest first. `text` is looked for in name and note; the other filters keep what has
        at least one run or replication like that."""
        e, r, p = schema.experiments, schema.runs, schema.replications
        query = select(e).order_by(e.c.created.desc(), e.c.id).limit(limit).offset(offset)
        if owner is not None:
            query = query.where(e.c.owner == owner)
        if pinned is not None:
            query = query.where(e.c.pinned == pinned)
        if text:
            has = [c.icontains(text, autoescape=True) for c in (e.c.name, e.c.note)]
            query = query.where(or_(*has))
        for column, value in ((r.c.domain, domain), (r.c.algorithm, algorithm)):
            if value is not None:
                query = query.where(e.c.id.in_(select(r.c.experiment).where(column == value)))
        if status is not None:
            having = select(r.c.experiment).join(p, p.c.run == r.c.id).where(p.c.status == status)
            query = query.where(e.c.id.in_(having))
        with self.database.reading() as connection:
            return _with_runs(connection, connection.execute(query).all())

    def run(self, id: int) -> Run:
        with self.database.reading() as connection:
            found = connection.execute(select(schema.runs).where(schema.runs.c.id == id)).all()
            if not found:
                raise InputError(f"run {id} is not kept here; it may have been deleted")
            return _runs(connection, found)[0]

    def rename(self, id: str, name: str) -> None:
        name = short("name", name, MAX_NAME)
        if not name:
            raise InputError("name: is empty; type one")
        self._change(id, name=name)

    def note(self, id: str, note: str) -> None:
        self._change(id, note=short("note", note, MAX_NOTE))

    def pin(self, id: str, pinned: bool = True) -> None:
        self._change(id, pinned=bool(pinned))

    def _change(self, id: str, **values) -> None:
        e = schema.experiments
        with self.database.writing() as connection:
            if not connection.execute(e.update().where(e.c.id == id).values(**values)).rowcount:
                raise InputError(f"experiment {id!r} is not kept here; it may have been deleted")

    def delete(self, id: str) -> None:
        """Delete an experiment that is neither pinned nor under way."""
        with self.database.writing() as connection:
            e, r, p = schema.experiments, schema.runs, schema.replications
            pinned = connection.scalar(select(e.c.pinned).where(e.c.id == id))
            if pinned is None:
                return
            if pinned:
                raise InputError(f"experiment {id!r} is pinned: unpin it first")
            busy = (
                select(func.count())
                .select_from(p.join(r))
                .where(r.c.experiment == id, p.c.status.in_(ACTIVE))
            )
            if connection.scalar(busy):
                raise InputError(f"experiment {id!r} is under way: stop it first")
            connection.execute(e.delete().where(e.c.id == id))
        with suppress(StoreError):  # it is deleted all the same, and its space used again
            self.database.shrink()

    # Rows and policies

    def rows(self, runs: Collection[int], seen: Seen | None = None) -> pd.DataFrame:
        """The rows of some runs, `run` and the columns of `fsdash.runs.columns`, ordered by step.

        A page that has rows already passes how many, and gets the new ones only.
        """
        seen = seen or {}
        p = schema.replications
        with self.database.reading() as connection:
            about = select(schema.runs.c["id", *RUN_NAMES]).where(schema.runs.c.id.in_(runs))
            of_run = {row.id: row._mapping for row in connection.execute(about)}
            kept = connection.execute(
                select(p.c["run", "replication", "rows"]).where(p.c.run.in_(runs), p.c.rows > 0)
            )
            new = [(r, i, seen.get((r, i), 0)) for r, i, n in kept if n > seen.get((r, i), 0)]
            found = [row for batch in _batches(new) for row in _rows(connection, batch)]
        return _frame(found, of_run)

    def policy_steps(self, run: int, replication: int = 0) -> list[int]:
        """The steps whose policies are kept."""
        p = schema.policies
        query = select(p.c.step).where(p.c.run == run, p.c.replication == replication)
        with self.database.reading() as connection:
            return list(connection.scalars(query.order_by(p.c.step)))

    def policy(self, run: int, replication: int, step: int) -> tuple[np.ndarray, np.ndarray]:
        """The policy (P, X, Y) and the algorithm's own values (X, Y), in single precision."""
        p = schema.policies
        query = select(p.c.policy, p.c["values"]).where(
            p.c.run == run, p.c.replication == replication, p.c.step == step
        )
        with self.database.reading() as connection:
            found = connection.execute(query).first()
        if found is None:
            raise InputError(
                f"step = {step}: no policy of run {run}, replication {replication}, is kept for "
                "it; choose one of policy_steps"
            )
        return unpack(found[0]), unpack(found[1])

    # Everything

    def export(self, id: str, policies: bool = True) -> dict:
        """An experiment as plain data for a JSON file."""
        experiment = self.experiment(id)
        with self.database.reading() as connection:
            return transfer.exported(connection, experiment, policies)

    def import_(self, data: object, owner: str) -> str:
        """Keep an exported experiment as one of `owner`'s, and return its new id."""
        parts = transfer.checked(data)
        with self.database.writing() as connection:
            specs = [part.spec for part in parts.runs]
            id = insert_experiment(
                connection,
                owner,
                parts.name,
                specs,
                "interrupted",
                note=short("note", parts.note, MAX_NOTE),
                created=parts.created,
            )
            transfer.fill(connection, id, parts)
        return id

    def size(self) -> Size:
        with self.database.reading() as connection:
            tables = schema.experiments, schema.runs
            counts = [connection.scalar(select(func.count()).select_from(t)) for t in tables]
            rows = connection.scalar(select(func.coalesce(func.sum(schema.replications.c.rows), 0)))
        return Size(self.database.size(), *counts, int(rows))


def insert_experiment(
    connection: Connection,
    owner: str,
    name: str,
    specs: Sequence[RunSpec],
    status: str,
    server: str = "",
    note: str = "",
    created: float | None = None,
) -> str:
    """Insert an experiment with all its replications, each of them with this status."""
    if not 1 <= len(specs) <= MAX_RUNS:
        raise InputError(f"specs: {len(specs)} runs were given; use 1 to {MAX_RUNS}")
    id = "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))
    connection.execute(
        schema.experiments.insert().values(
            id=id,
            owner=short("owner", owner, MAX_OWNER),
            name=short("name", name, MAX_NAME),
            note=note,
            pinned=False,
            created=created or time.time(),
        )
    )
    ids = [_insert_run(connection, id, i, spec) for i, spec in enumerate(specs)]
    # The first replications of all runs come first: every curve starts as soon as it can.
    order = sorted((i, ids[n]) for n, spec in enumerate(specs) for i in range(spec.replications))
    fresh = {
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
        schema.replications.insert(), [{"run": run, "replication": i, **fresh} for i, run in order]
    )
    return id


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
    return connection.execute(schema.runs.insert().values(values)).inserted_primary_key.id


def short(field: str, value: object, most: int) -> str:
    """A text that fits, or an error that says how long it may be."""
    if not isinstance(value, str) or len(value) > most:
        raise InputError(f"{field}: give a text of at most {most:,} characters")
    return encodable(field, value.strip())


def _with_runs(connection: Connection, found: Sequence[Row]) -> list[Experiment]:
    r = schema.runs
    ids = [row.id for row in found]
    query = select(r).where(r.c.experiment.in_(ids)).order_by(r.c.experiment, r.c.position)
    by_experiment = defaultdict(list)
    for run in _runs(connection, connection.execute(query).all()):
        by_experiment[run.experiment].append(run)
    return [Experiment(**row._mapping, runs=tuple(by_experiment[row.id])) for row in found]


def _runs(connection: Connection, found: Sequence[Row]) -> list[Run]:
    p = schema.replications
    query = select(p).where(p.c.run.in_([row.id for row in found]))
    by_run = defaultdict(list)
    for row in connection.execute(query.order_by(p.c.run, p.c.replication)):
        by_run[row.run].append(
            Replication(
                row.replication,
                row.status,
                row.reason,
                row.rows,
                row.seconds,
                row.pid,
                row.heartbeat,
                row.started,
                row.finished,
                bool(row.wanted),
            )
        )
    return [Run(*row, replications=tuple(by_run[row.id])) for row in found]


def _batches(items: list) -> list[list]:
    """SQL expressions have a largest depth and number of parameters."""
    return [items[i : i + BATCH] for i in range(0, len(items), BATCH)]


def _rows(connection: Connection, new: Sequence[tuple[int, int, int]]) -> list[Row]:
    t = schema.rows
    wanted = [and_(t.c.run == r, t.c.replication == i, t.c.step >= n) for r, i, n in new]
    columns = [t.c.run, t.c.replication, *(t.c[column.name] for column in ROW_COLUMNS)]
    query = select(*columns).where(or_(*wanted)).order_by(t.c.run, t.c.replication, t.c.step)
    return connection.execute(query).all()


def _frame(rows: Sequence[Row], of_run: Mapping[int, Mapping[str, object]]) -> pd.DataFrame:
    """Rows as a frame; what belongs to the run is repeated in each of its rows."""
    names = ["run", "replication", *(column.name for column in ROW_COLUMNS)]
    frame = pd.DataFrame(rows, columns=names)
    for name in RUN_NAMES:
        frame[name] = frame["run"].map({run: values[name] for run, values in of_run.items()})
    return frame[["run", *NAMES]].astype({"run": "int64", **DTYPES})
