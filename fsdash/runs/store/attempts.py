"""How a worker writes the results of one replication to the store.

Each time a worker takes a replication is an `Attempt` with a number of its own. Every write checks
that its attempt is still the current one; otherwise nothing is written and `Superseded` is raised.
So a worker that was believed dead cannot write into the rows of the one that replaced it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property

from sqlalchemy import ColumnElement, Connection, Table, and_, case, func, select, update

from fsdash.runs.errors import Superseded
from fsdash.runs.store.database import Database, database_clock
from fsdash.runs.store.schema import policies, replications, rows, runs


@dataclass(frozen=True)
class Attempt:
    """One attempt of one worker to compute one replication."""

    run: int
    replication: int
    number: int

    @cached_property
    def is_current(self) -> ColumnElement[bool]:
        """SQL condition: this attempt is running and has not been superseded."""
        p = replications.c
        return and_(
            p.run == self.run,
            p.replication == self.replication,
            p.attempt == self.number,
            p.status == "running",
        )

    def rows_of(self, table: Table) -> ColumnElement[bool]:
        """SQL condition: the rows of the replication in another table."""
        return and_(table.c.run == self.run, table.c.replication == self.replication)


@dataclass(frozen=True)
class StartingPoint:
    """What a worker needs to start a replication or to continue it."""

    spec_json: str
    rows: int
    """Rows that earlier attempts have stored."""
    last_seconds: float
    """`seconds` of the last of these rows."""
    worker_seconds: float
    """Time that workers have spent on the replication so far."""
    policy_steps: tuple[int, ...]
    """Steps whose policies are stored."""


@dataclass(frozen=True)
class PackedPolicy:
    """A policy and its values as bytes, see `fsdash.runs.store.arrays`."""

    step: int
    policy: bytes
    values: bytes

    @property
    def size(self) -> int:
        return len(self.policy) + len(self.values)


@dataclass(frozen=True)
class Batch:
    """What a worker writes in one transaction."""

    rows: Sequence[Mapping[str, object]] = ()
    policies: Sequence[PackedPolicy] = ()
    dropped: Collection[int] = ()
    """Steps whose stored policies are deleted."""
    max_bytes: int = 0
    """Policies beyond this size are not stored. Replication 0 and all others are counted apart."""
    end: tuple[str, str] | None = None
    """In the last batch: the status that the attempt ends with, and the reason."""


class AttemptWriter:
    """Writes the results of one attempt."""

    def __init__(self, database: Database, attempt: Attempt) -> None:
        self.database, self.attempt = database, attempt
        self._generation = database.generation

    def begin(self, pid: int) -> StartingPoint:
        """Record that a worker has started; return how far earlier attempts came."""
        attempt, p = self.attempt, replications.c
        with self.database.writing() as connection:
            self._generation = self.database.generation
            self._update(connection, pid=pid, heartbeat=database_clock(connection))
            spec_json, done, seconds = connection.execute(
                select(runs.c.spec, p.rows, p.seconds)
                .select_from(replications.join(runs))
                .where(attempt.is_current)
            ).one()
            if not done:
                return StartingPoint(spec_json, 0, 0.0, seconds, ())
            last = connection.scalar(select(func.max(rows.c.seconds)).where(attempt.rows_of(rows)))
            steps = connection.scalars(select(policies.c.step).where(attempt.rows_of(policies)))
            self._update(
                connection, reason=f"recomputing the {done:,} rows that are stored already"
            )
            return StartingPoint(spec_json, done, last or 0.0, seconds, tuple(sorted(steps)))

    def append(self, batch: Batch, rows_so_far: int, seconds: float, again: bool = False) -> str:
        """Write a batch, and end the attempt if the batch says how.

        Parameters
        ----------
        batch : Batch
        rows_so_far : int
            Rows of the replication including this batch.
        seconds : float
            Time that workers have spent on the replication.
        again : bool
            The batch was tried before, and may have been written although that failed.

        Returns
        -------
        str
            The status that a person asked for (such as "paused"); empty if none.
        """
        attempt = self.attempt
        here = {"run": attempt.run, "replication": attempt.replication}
        changes: dict[str, object] = {"reason": "", "retries": 0} if batch.rows else {}
        changes |= {"rows": rows_so_far, "seconds": seconds}
        if batch.end:
            changes |= _ended_as(*batch.end)
        with self.database.writing() as connection:
            if again and self._is_written(connection, batch, rows_so_far):
                return ""
            changes["heartbeat"] = database_clock(connection)
            requested = "" if batch.end else self._requested_status(connection)
            self._update(connection, **changes)
            if batch.rows:
                connection.execute(rows.insert(), [{**here, **row} for row in batch.rows])
            if batch.dropped:
                dropped = policies.c.step.in_(batch.dropped)
                connection.execute(policies.delete().where(attempt.rows_of(policies), dropped))
            if batch.policies:
                self._store_policies(connection, batch)
            return requested

    def requested_status(self) -> str:
        """The status that a person asked for (such as "paused"); empty if none."""
        with self.database.reading() as connection:
            return self._requested_status(connection)

    def end(self, status: str, reason: str) -> None:
        """End the attempt, unless it has ended already."""
        with self.database.writing() as connection, suppress(Superseded):
            self._update(connection, **_ended_as(status, reason))

    def _is_written(self, connection: Connection, batch: Batch, rows_so_far: int) -> bool:
        """Whether an earlier attempt to write the batch has succeeded."""
        attempt, p = self.attempt, replications.c
        stored, status = connection.execute(
            select(p.rows, p.status).where(
                attempt.rows_of(replications), p.attempt == attempt.number
            )
        ).first() or (0, "")
        if batch.end:
            return bool(status == batch.end[0])
        return bool(batch.rows) and bool(stored >= rows_so_far)

    def _check_store(self) -> None:
        """Refuse to write into a store that has replaced the one where the attempt began."""
        if self.database.generation != self._generation:
            raise Superseded

    def _requested_status(self, connection: Connection) -> str:
        self._check_store()
        found = connection.scalar(select(replications.c.wanted).where(self.attempt.is_current))
        if found is None:
            raise Superseded
        return found

    def _update(self, connection: Connection, **values: object) -> None:
        self._check_store()
        current = update(replications).where(self.attempt.is_current)
        if not connection.execute(current.values(**values)).rowcount:
            raise Superseded

    def _store_policies(self, connection: Connection, batch: Batch) -> None:
        """Insert the policies that fit into the bytes that are left."""
        attempt, p = self.attempt, policies.c
        counted = p.replication == 0 if attempt.replication == 0 else p.replication > 0
        used = connection.scalars(
            select(func.coalesce(func.sum(p.size), 0)).where(p.run == attempt.run, counted)
        ).one()
        here = {"run": attempt.run, "replication": attempt.replication}
        fitting = []
        for packed in batch.policies:
            if used + packed.size <= batch.max_bytes:
                used += packed.size
                fitting.append(here | asdict(packed) | {"size": packed.size})
        if fitting:
            connection.execute(policies.insert(), fitting)


def _ended_as(status: str, reason: str) -> dict[str, object]:
    """Changes that end a replication. One that was asked to stop gets the requested status."""
    ended: dict[str, object] = {
        "status": status,
        "reason": reason,
        "finished": time.time(),
        "wanted": "",
    }
    if status in ("cancelled", "interrupted"):
        p = replications.c
        ended["status"] = case((p.wanted != "", p.wanted), else_=status)
        ended["reason"] = case((p.wanted != "", p.wanted_reason), else_=reason)
    return ended
