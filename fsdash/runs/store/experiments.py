"""Stored experiments: what pages list, draw, rename, pin, delete, export and import.

    store = Store()                                # the user's own file; or Store(path or URL)
    id = store.add_experiment("me", "T=6 against Base E-VI", [spec, other])
    frame = store.rows([run.id for run in store.experiment(id).runs])
    policy_PXY, values_XY = store.policy(run.id, replication=0, step=12)

Workers write to the same database through `fsdash.runs.store.attempts`.

**Size.** A replication has at most about 2,500 rows (`engine.Schedule`) of about 100 bytes each.
Policies are stored for replication 0, at most `recorder.MAX_POLICIES` of them at equal distances,
and the last one of every replication, together at most `recorder.POLICY_BYTES` for one run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Row, func, or_, select

from fsdash.errors import InputError
from fsdash.runs.columns import RUN_NAMES
from fsdash.runs.errors import StoreError
from fsdash.runs.records import ACTIVE, Experiment, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import schema, transfer
from fsdash.runs.store.arrays import unpack
from fsdash.runs.store.class_tasks import ClassTasks
from fsdash.runs.store.database import (
    LOCK_TIMEOUT,
    Database,
    default_url,
    file_url,
    set_aside,
    storable,
)
from fsdash.runs.store.models import ModelTable
from fsdash.runs.store.queries import (
    MAX_NOTE,
    checked_name,
    checked_text,
    experiment_records,
    insert_experiment,
    rows_frame,
    run_records,
    select_rows,
)

QUERY_SIZE = 200
"""Replications in one query: databases limit the depth and the parameters of an expression."""

RowCounts = Mapping[tuple[int, int], int]
"""By (run, replication): how many of its rows the caller has already."""


@dataclass(frozen=True)
class StoreSize:
    """How much is stored."""

    bytes: int | None
    """None where the database does not tell."""
    experiments: int
    runs: int
    rows: int


class Store:
    """Experiments in one database.

    A store may be used from several threads and processes at the same time.

    Parameters
    ----------
    where : str or Path, optional
        Path of a SQLite file, or any SQLAlchemy URL. By default the user's own file.
    lock_timeout : float
        Seconds to wait for a file that another program has locked.
    """

    def __init__(self, where: str | Path | None = None, lock_timeout: float = LOCK_TIMEOUT) -> None:
        self.database = Database(_url(where), lock_timeout)
        self.models = ModelTable(self.database)
        self.class_tasks = ClassTasks(self.database)

    @classmethod
    def recover(cls, where: str | Path | None = None) -> tuple[Store, Path]:
        """Rename a damaged file; return a new store in its place and the damaged file's path."""
        aside = set_aside(_url(where))
        return cls(where), aside

    @property
    def url(self) -> str:
        """URL of the database, as SQLAlchemy writes it."""
        return self.database.url

    @property
    def file(self) -> Path | None:
        """Path of the SQLite file; None for other databases."""
        return self.database.file

    def close(self) -> None:
        self.database.close()

    # Experiments

    def add_experiment(
        self,
        owner: str,
        name: str,
        specs: Sequence[RunSpec],
        *,
        status: str = "paused",
        server: str = "",
    ) -> str:
        """Store a new experiment and return its id.

        Its replications have the given status; only a server sets it to "queued".
        """
        with self.database.writing() as connection:
            return insert_experiment(connection, owner, name, specs, status, server)

    def experiment(self, id: str) -> Experiment:
        """One experiment with all its runs."""
        with self.database.reading() as connection:
            return _experiment(connection, id)

    def experiments(
        self,
        *,
        owner: str | None = None,
        text: str = "",
        domain: str | None = None,
        algorithm: str | None = None,
        status: str | None = None,
        pinned: bool | None = None,
        created: float | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Experiment]:
        """The experiments that pass all filters, newest first.

        `text` is searched in name and note; `created` is the exact time. An experiment passes the
        filters for domain, algorithm and status if at least one of its runs or replications does.
        """
        e, r, p = schema.experiments, schema.runs, schema.replications
        query = select(e).order_by(e.c.created.desc(), e.c.id).limit(limit).offset(offset)
        if owner is not None:
            query = query.where(e.c.owner == owner)
        if pinned is not None:
            query = query.where(e.c.pinned == pinned)
        if created is not None:
            query = query.where(e.c.created == created)
        if text:
            storable("text", text)
            has = [c.icontains(text, autoescape=True) for c in (e.c.name, e.c.note)]
            query = query.where(or_(*has))
        for column, value in ((r.c.domain, domain), (r.c.algorithm, algorithm)):
            if value is not None:
                query = query.where(e.c.id.in_(select(r.c.experiment).where(column == value)))
        if status is not None:
            having = select(r.c.experiment).join(p, p.c.run == r.c.id).where(p.c.status == status)
            query = query.where(e.c.id.in_(having))
        with self.database.reading() as connection:
            return experiment_records(connection, connection.execute(query).all())

    def run(self, id: int) -> Run:
        """One run with its replications."""
        query = select(schema.runs).where(schema.runs.c.id == id)
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
            if not rows:
                raise _missing("run", id)
            return run_records(connection, rows)[0]

    def run_ids(self, chosen: str | int) -> list[int]:
        """The numbers of an experiment's runs (its id), or of one run (its number)."""
        r = schema.runs.c
        column = r.id if isinstance(chosen, int) else r.experiment
        with self.database.reading() as connection:
            ids = list(connection.scalars(select(r.id).where(column == chosen)))
        if not ids:
            raise _missing("run" if isinstance(chosen, int) else "experiment", chosen)
        return ids

    def rename(self, id: str, name: str) -> None:
        self._change(id, name=checked_name(name))

    def note(self, id: str, note: str) -> None:
        """Replace the note of an experiment."""
        self._change(id, note=checked_text("note", note, MAX_NOTE))

    def pin(self, id: str, pinned: bool = True) -> None:
        """Protect an experiment from deletion, or allow it again."""
        self._change(id, pinned=bool(pinned))

    def _change(self, id: str, **values: object) -> None:
        e = schema.experiments
        with self.database.writing() as connection:
            if not connection.execute(e.update().where(e.c.id == id).values(**values)).rowcount:
                raise _missing("experiment", id)

    def delete(self, id: str) -> None:
        """Delete an experiment that is neither pinned nor active."""
        with self.database.writing() as connection:
            e, r, p = schema.experiments, schema.runs, schema.replications
            # On PostgreSQL the locks make others wait who pin or resume it at this moment.
            pinned_query = select(e.c.pinned).where(e.c.id == id)
            pinned = connection.scalar(pinned_query.with_for_update())
            if pinned is None:
                return
            if pinned:
                raise InputError(f"experiment {id!r} is pinned: unpin it first")
            statuses = select(p.c.status).select_from(p.join(r)).where(r.c.experiment == id)
            if set(connection.scalars(statuses.with_for_update(of=p))) & set(ACTIVE):
                raise InputError(f"experiment {id!r} is running or queued: stop it first")
            connection.execute(e.delete().where(e.c.id == id))
        with suppress(StoreError):  # it is deleted all the same, and its space can be used again
            self.database.shrink()

    # Rows and policies

    def rows(self, runs: Collection[int], seen: RowCounts | None = None) -> pd.DataFrame:
        """The rows of some runs: `run` and the columns of `fsdash.runs.columns`, ordered by step.

        With `seen`, only the rows that the caller does not have yet.
        """
        seen = seen or {}
        p = schema.replications.c
        with self.database.reading() as connection:
            r = schema.runs.c
            about = select(r.id, *(r[name] for name in RUN_NAMES)).where(r.id.in_(runs))
            of_run = {row.id: row._mapping for row in connection.execute(about)}
            stored = connection.execute(
                select(p.run, p.replication, p.rows).where(p.run.in_(runs), p.rows > 0)
            )
            new = [
                (run, i, seen.get((run, i), 0))
                for run, i, count in stored
                if count > seen.get((run, i), 0)
            ]
            stored_rows: list[Row[Any]] = []
            for first in range(0, len(new), QUERY_SIZE):
                stored_rows += select_rows(connection, new[first : first + QUERY_SIZE])
        return rows_frame(stored_rows, of_run)

    def policy_steps(self, run: int, replication: int = 0) -> list[int]:
        """The steps whose policies are stored."""
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
            packed = connection.execute(query).first()
        if packed is None:
            raise InputError(
                f"step = {step}: no policy of run {run}, replication {replication}, is stored for "
                "this step; choose one of policy_steps"
            )
        return unpack(packed[0]), unpack(packed[1])

    # Whole experiments

    def export(self, id: str, policies: bool = True) -> dict[str, Any]:
        """An experiment as data for a JSON file."""
        with self.database.reading() as connection:
            return transfer.export_experiment(connection, _experiment(connection, id), policies)

    def import_(self, data: object, owner: str) -> str:
        """Store an exported experiment as one of `owner`'s, and return its new id."""
        return self.import_all([data], owner)[0]

    def import_all(self, data: Sequence[object], owner: str) -> list[str]:
        """Store several exported experiments, all or none of them, and return their new ids."""
        checked = [transfer.check_import(one) for one in data]
        with self.database.writing() as connection:
            return [transfer.insert_imported(connection, owner, one) for one in checked]

    def size(self) -> StoreSize:
        """How much is stored."""
        p = schema.replications.c
        with self.database.reading() as connection:
            experiments, runs = (
                connection.scalars(select(func.count()).select_from(table)).one()
                for table in (schema.experiments, schema.runs)
            )
            rows = connection.scalars(select(func.coalesce(func.sum(p.rows), 0))).one()
        return StoreSize(self.database.size(), experiments, runs, int(rows))


def _url(where: str | Path | None) -> str:
    url = default_url() if where is None else str(where)
    return url if "://" in url else file_url(url)


def _experiment(connection: Connection, id: str) -> Experiment:
    e = schema.experiments
    rows = connection.execute(select(e).where(e.c.id == id)).all()
    if not rows:
        raise _missing("experiment", id)
    return experiment_records(connection, rows)[0]


def _missing(kind: str, id: str | int) -> InputError:
    return InputError(f"{kind} {id!r} is not in the store; it may have been deleted")
