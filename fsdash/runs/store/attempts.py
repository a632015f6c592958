"""How a worker writes the results of one replication to the store.

Each time a worker takes a replication is an `Attempt` with a number of its own. Every write checks
that its attempt is still the current one; otherwise nothing is written and `Superseded` is raised.
So a worker that was believed dead cannot write into the rows of the one that replaced it.

A checkpoint is written in one transaction with the rows before it, and deleted in the one that ends
the replication (`forget_checkpoints`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property

from sqlalchemy import ColumnElement, Connection, Table, and_, case, exists, func, select, update

from fsdash.runs.errors import Superseded
from fsdash.runs.store.database import Database, database_clock
from fsdash.runs.store.schema import checkpoints, policies, replications, rows, runs

ENDED = ("finished", "diverged", "failed", "cancelled")
"""A replication with one of these statuses has no checkpoint; if resumed, it begins again."""


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

    @property
    def key(self) -> dict[str, object]:
        """The columns of another table that name the replication."""
        return {"run": self.run, "replication": self.replication}

    def rows_of(self, table: Table) -> ColumnElement[bool]:
        """SQL condition: the rows of the replication in another table."""
        return and_(table.c.run == self.run, table.c.replication == self.replication)


@dataclass(frozen=True)
class StoredCheckpoint:
    """A checkpoint as bytes, see `fsdash.runs.checkpoint`."""

    rows: int
    """Rows before it."""
    seconds: float
    """Time that workers had spent on the replication until then."""
    content: bytes


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
    checkpoint: StoredCheckpoint | None = None


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
    checkpoint: StoredCheckpoint | None = None
    """A new one, in place of the last."""
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
            checkpoint = self._checkpoint(connection, done)
            if again := done - (checkpoint.rows if checkpoint else 0):
                reason = f"recomputing the {again:,} rows that are stored already"
                self._update(connection, reason=reason)
            return StartingPoint(
                spec_json, done, last or 0.0, seconds, tuple(sorted(steps)), checkpoint
            )

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
            The status that was asked for: "paused" or "cancelled" by a person, "queued" by the
            server if others wait for the worker; empty if none was.
        """
        attempt = self.attempt
        changes: dict[str, object] = {"reason": "", "retries": 0} if batch.rows else {}
        changes |= {"rows": rows_so_far, "seconds": seconds}
        if batch.end:
            changes |= ended_as(*batch.end)
        with self.database.writing() as connection:
            if again and self._is_written(connection, batch, rows_so_far):
                return ""
            changes["heartbeat"] = database_clock(connection)
            requested = "" if batch.end else self._requested_status(connection)
            self._update(connection, **changes)
            if batch.rows:
                connection.execute(rows.insert(), [{**attempt.key, **row} for row in batch.rows])
            if batch.dropped:
                dropped = policies.c.step.in_(batch.dropped)
                connection.execute(policies.delete().where(attempt.rows_of(policies), dropped))
            if batch.policies:
                self._store_policies(connection, batch)
            if batch.checkpoint:
                self._store_checkpoint(connection, batch.checkpoint)
            if batch.end:
                forget_checkpoints(connection, [attempt.run])
            return requested

    def requested_status(self) -> str:
        """The status that was asked for, as `append` returns it."""
        with self.database.reading() as connection:
            return self._requested_status(connection)

    def end(self, status: str, reason: str) -> None:
        """End the attempt, unless it has ended already."""
        with self.database.writing() as connection, suppress(Superseded):
            self._update(connection, **ended_as(status, reason))
            forget_checkpoints(connection, [self.attempt.run])

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
        p = replications.c
        requests = connection.execute(select(p.wanted, p.give_way).where(self.attempt.is_current))
        if (row := requests.first()) is None:
            raise Superseded
        return row.wanted or ("queued" if row.give_way else "")

    def _update(self, connection: Connection, **values: object) -> None:
        self._check_store()
        current = update(replications).where(self.attempt.is_current)
        if not connection.execute(current.values(**values)).rowcount:
            raise Superseded

    def _checkpoint(self, connection: Connection, done: int) -> StoredCheckpoint | None:
        c = checkpoints.c
        query = select(c.rows, c.seconds, c.content)
        # Rows that are not stored must not be skipped.
        usable = query.where(self.attempt.rows_of(checkpoints), c.rows <= done)
        row = connection.execute(usable).first()
        return None if row is None else StoredCheckpoint(*row)

    def _store_checkpoint(self, connection: Connection, new: StoredCheckpoint) -> None:
        connection.execute(checkpoints.delete().where(self.attempt.rows_of(checkpoints)))
        connection.execute(checkpoints.insert().values(self.attempt.key | asdict(new)))

    def _store_policies(self, connection: Connection, batch: Batch) -> None:
        """Insert the policies that fit into the bytes that are left."""
        attempt, p = self.attempt, policies.c
        counted = p.replication == 0 if attempt.replication == 0 else p.replication > 0
        used = connection.scalars(
            select(func.coalesce(func.sum(p.size), 0)).where(p.run == attempt.run, counted)
        ).one()
        fitting = []
        for packed in batch.policies:
            if used + packed.size <= batch.max_bytes:
                used += packed.size
                fitting.append(attempt.key | asdict(packed) | {"size": packed.size})
        if fitting:
            connection.execute(policies.insert(), fitting)


def forget_checkpoints(connection: Connection, run_ids: Collection[int] | None = None) -> None:
    """Delete the checkpoints of the replications that have ended, of some runs or of all."""
    c, p = checkpoints.c, replications.c
    ended = exists().where(p.run == c.run, p.replication == c.replication, p.status.in_(ENDED))
    chosen = ended if run_ids is None else and_(ended, c.run.in_(run_ids))
    connection.execute(checkpoints.delete().where(chosen))


def ended_as(status: str, reason: str) -> dict[str, object]:
    """Changes that end a replication. One that was asked to stop gets the requested status."""
    ended: dict[str, object] = {
        "status": status,
        "reason": reason,
        "finished": None if status == "queued" else time.time(),
        "wanted": "",
    }
    if status in ("cancelled", "interrupted", "queued"):
        p = replications.c
        ended["status"] = case((p.wanted != "", p.wanted), else_=status)
        ended["reason"] = case((p.wanted != "", p.wanted_reason), else_=reason)
        ended["finished"] = case((p.wanted != "", time.time()), else_=ended["finished"])
    return ended
