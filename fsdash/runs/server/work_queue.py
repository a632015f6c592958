"""Who computes what: the queue, the claims of workers and the leases of servers, in the database.

The database decides. A replication changes its status by a conditional update, so that of two who
want different things one succeeds and the other sees it, whichever server or worker they belong to.
Each time a worker takes a replication is an `Attempt` with a number of its own; rows of an attempt
that is no longer the current one are refused (`Superseded`).

A server holds a lease. It has ended when its process is gone, if it ran on this computer, and else
when the lease was not renewed for `LEASE` seconds. What it had queued or running is then marked
interrupted, by whichever server looks next.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, case, func, select, update

from fsdash.errors import InputError
from fsdash.runs.errors import Superseded
from fsdash.runs.records import ACTIVE, RESUMABLE
from fsdash.runs.store.database import Database
from fsdash.runs.store.schema import experiments, policies, replications, rows, runs, servers

LEASE = 60.0
GONE = "the server that ran it has ended; what it recorded is kept, and it can be resumed"


@dataclass(frozen=True)
class Attempt:
    """One go of one worker at one replication."""

    run: int
    replication: int
    number: int

    @cached_property
    def where(self) -> ColumnElement[bool]:
        """Holds while this attempt is the one that counts."""
        p = replications.c
        return and_(
            p.run == self.run,
            p.replication == self.replication,
            p.attempt == self.number,
            p.status == "running",
        )


@dataclass(frozen=True)
class Waiting:
    """The next replication of an owner, and how many more there are."""

    owner: str
    id: int
    queued: int


@dataclass(frozen=True)
class Start:
    """What a worker needs to know to begin, or to go on."""

    spec: str
    rows: int
    last_seconds: float
    worker_seconds: float
    policy_steps: tuple[int, ...]


@dataclass(frozen=True)
class Packed:
    """A policy on its way into the store."""

    step: int
    policy: bytes
    values: bytes

    @property
    def size(self) -> int:
        return len(self.policy) + len(self.values)


@dataclass(frozen=True)
class Batch:
    """What a worker has to write at one time."""

    rows: Sequence[dict] = ()
    policies: Sequence[Packed] = ()
    dropped: Collection[int] = ()
    """Steps whose policies are no longer kept."""
    most_bytes: int = 0
    """Policies beyond so many bytes are not kept, of replication 0 and of all others together."""
    end: tuple[str, str] | None = None
    """With the last batch: how the attempt ended, and why."""


class Ledger:
    """The bookkeeping of work. `server` names the one that asks; a worker has none."""

    def __init__(self, database: Database, server: str = "") -> None:
        self.database, self.server = database, server

    # Servers

    def open_lease(self) -> None:
        self.server = secrets.token_hex(8)
        self.renew_lease()

    def renew_lease(self) -> None:
        """Also after somebody took this server for ended, as when its computer slept."""
        values = {
            "id": self.server,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "born": born(os.getpid()),
            "heartbeat": time.time(),
        }
        with self.database.writing() as connection:
            mine = servers.update().where(servers.c.id == self.server)
            if not connection.execute(mine.values(values)).rowcount:
                connection.execute(servers.insert().values(values))

    def close_lease(self, reason: str) -> None:
        with self.database.writing() as connection:
            _interrupt(connection, self.server, reason)

    def sweep(self) -> int:
        """Mark what ended servers left behind; how many replications there were."""
        with self.database.reading() as connection:
            ended = [s.id for s in connection.execute(select(servers)) if _ended(s)]
        if not ended:
            return 0
        with self.database.writing() as connection:
            return sum(_interrupt(connection, server, GONE) for server in ended)

    # The queue

    def waiting(self) -> list[Waiting]:
        """The head of each owner's queue at this server."""
        count = func.count()
        query = (
            select(experiments.c.owner, func.min(replications.c.id), count)
            .select_from(replications.join(runs).join(experiments))
            .where(replications.c.status == "queued", replications.c.server == self.server)
            .group_by(experiments.c.owner)
        )
        with self.database.reading() as connection:
            return [Waiting(*row) for row in connection.execute(query)]

    def claim(self, id: int) -> Attempt | None:
        """Take a queued replication; None if it is no longer there to be taken."""
        p = replications.c
        with self.database.writing() as connection:
            taken = connection.execute(
                update(replications)
                .where(p.id == id, p.status == "queued", p.server == self.server)
                .values(
                    status="running",
                    reason="",
                    attempt=p.attempt + 1,
                    wanted="",
                    wanted_reason="",
                    heartbeat=time.time(),
                    finished=None,
                    started=func.coalesce(p.started, time.time()),
                )
            )
            if not taken.rowcount:
                return None
            row = connection.execute(select(replications).where(p.id == id)).one()
            return Attempt(row.run, row.replication, row.attempt)

    def enqueue(self, chosen: Collection[int]) -> int:
        """Queue what can be resumed of some runs, at this server; how many replications."""
        p = replications.c
        with self.database.writing() as connection:
            changed = connection.execute(
                update(replications)
                .where(p.run.in_(chosen), p.status.in_(RESUMABLE))
                .values(status="queued", reason="", server=self.server, wanted="", finished=None)
            )
            return changed.rowcount

    def stop(self, chosen: Collection[int], status: str, reason: str) -> None:
        """End what is queued of some runs at once, and ask the workers to end the rest."""
        p = replications.c
        of_runs = p.run.in_(chosen)
        with self.database.writing() as connection:
            ended = {"status": status, "reason": reason, "finished": time.time()}
            queued = update(replications).where(of_runs, p.status == "queued")
            connection.execute(queued.values(**ended))
            asked = update(replications).where(of_runs, p.status == "running")
            connection.execute(asked.values(wanted=status, wanted_reason=reason))
            if status == "cancelled":
                idle = update(replications).where(of_runs, p.status.in_(("paused", "interrupted")))
                connection.execute(idle.values(**ended))

    def stopping(self) -> dict[tuple[int, int], tuple[str, str]]:
        """What this server's running replications were asked to become, and why."""
        p = replications.c
        query = select(p.run, p.replication, p.wanted, p.wanted_reason).where(
            p.status == "running", p.server == self.server, p.wanted != ""
        )
        with self.database.reading() as connection:
            return {(r, i): (wanted, why) for r, i, wanted, why in connection.execute(query)}

    def worker_seconds(self, chosen: Collection[int]) -> dict[int, float]:
        """By run: the seconds that workers have spent on it, as far as they are written."""
        p = replications.c
        query = select(p.run, func.sum(p.seconds)).where(p.run.in_(chosen)).group_by(p.run)
        with self.database.reading() as connection:
            return {run: seconds for run, seconds in connection.execute(query)}

    # Workers

    def begin(self, attempt: Attempt, pid: int) -> Start:
        """Tell that a worker has begun, and where the attempts before came to."""
        with self.database.writing() as connection:
            _own(connection, attempt, pid=pid, heartbeat=time.time())
            p = replications.c
            spec, done, seconds = connection.execute(
                select(runs.c.spec, p.rows, p.seconds)
                .select_from(replications.join(runs))
                .where(attempt.where)
            ).one()
            if not done:
                return Start(spec, 0, 0.0, seconds, ())
            last = connection.scalar(select(func.max(rows.c.seconds)).where(_of(rows, attempt)))
            steps = connection.scalars(select(policies.c.step).where(_of(policies, attempt)))
            again = f"computes its first {done:,} rows again, which are kept, then goes on"
            _own(connection, attempt, reason=again)
            return Start(spec, done, last or 0.0, seconds, tuple(sorted(steps)))

    def append(self, attempt: Attempt, batch: Batch, count: int, seconds: float) -> str:
        """Write a batch; `count` are all rows of the replication then, `seconds` its time.

        Ends the attempt, if the batch says how it ended; else returns what it was asked to become.
        """
        here = {"run": attempt.run, "replication": attempt.replication}
        changes = {"reason": ""} if batch.rows else {}
        changes |= {"rows": count, "seconds": seconds, "heartbeat": time.time()}
        if batch.end:
            changes |= _ended_as(*batch.end)
        with self.database.writing() as connection:
            wanted = "" if batch.end else _wanted(connection, attempt)
            _own(connection, attempt, **changes)  # refuses an attempt that no longer counts
            if batch.rows:
                connection.execute(rows.insert(), [here | row for row in batch.rows])
            if batch.dropped:
                dropped = policies.c.step.in_(batch.dropped)
                connection.execute(policies.delete().where(_of(policies, attempt), dropped))
            if batch.policies:
                _keep_policies(connection, attempt, batch)
            return wanted

    def wanted(self, attempt: Attempt) -> str:
        """What the replication was asked to become; empty if nothing."""
        with self.database.reading() as connection:
            return _wanted(connection, attempt)

    def end(self, attempt: Attempt, status: str, reason: str) -> None:
        """Close an attempt, unless the worker or somebody else has done so."""
        with self.database.writing() as connection, suppress(Superseded):
            _own(connection, attempt, **_ended_as(status, reason))


def _wanted(connection: Connection, attempt: Attempt) -> str:
    """What the attempt was asked to become; empty if nothing."""
    found = connection.scalar(select(replications.c.wanted).where(attempt.where))
    if found is None:
        raise Superseded
    return found


def _ended_as(status: str, reason: str) -> dict[str, object]:
    """The changes of a replication that has ended: a request to stop that was met names the end."""
    ended = {"status": status, "reason": reason, "finished": time.time(), "wanted": ""}
    if status == "cancelled":
        p = replications.c
        ended["status"] = case((p.wanted != "", p.wanted), else_=status)
        ended["reason"] = case((p.wanted != "", p.wanted_reason), else_=reason)
    return ended


def _own(connection: Connection, attempt: Attempt, **values) -> None:
    if not connection.execute(update(replications).where(attempt.where).values(**values)).rowcount:
        raise Superseded


def _of(table: Table, attempt: Attempt) -> ColumnElement[bool]:
    return and_(table.c.run == attempt.run, table.c.replication == attempt.replication)


def _keep_policies(connection: Connection, attempt: Attempt, batch: Batch) -> None:
    p = policies.c
    peers = p.replication == 0 if attempt.replication == 0 else p.replication > 0
    used = connection.scalar(
        select(func.coalesce(func.sum(p.size), 0)).where(p.run == attempt.run, peers)
    )
    fitting = []
    for packed in batch.policies:
        if used + packed.size <= batch.most_bytes:
            used += packed.size
            here = {"run": attempt.run, "replication": attempt.replication}
            fitting.append(here | asdict(packed) | {"size": packed.size})
    if fitting:
        connection.execute(policies.insert(), fitting)


def _interrupt(connection: Connection, server: str, reason: str) -> int:
    """End a server's lease and its work; what was about to be cancelled or paused is so now."""
    p = replications.c
    mine = and_(p.server == server, p.status.in_(ACTIVE))
    now = time.time()
    asked = update(replications).where(mine, p.wanted != "")
    connection.execute(
        asked.values(status=p.wanted, reason=p.wanted_reason, wanted="", finished=now)
    )
    left = update(replications).where(mine)
    changed = connection.execute(
        left.values(status="interrupted", reason=reason, finished=now)
    ).rowcount
    connection.execute(servers.delete().where(servers.c.id == server))
    return changed


def _ended(server: Row) -> bool:
    # On Windows asking for a process would send it a signal.
    if server.host != socket.gethostname() or sys.platform == "win32":
        return time.time() - server.heartbeat > LEASE
    return not alive(server.pid) or born(server.pid) != server.born


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def born(pid: int) -> str:
    """When a process began, as its system counts: another process may get the same number later."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    state, *rest = stat.rpartition(")")[2].split()
    return "" if state == "Z" else rest[18]  # a zombie has ended; field 22 is the start


def runs_of(connection: Connection, chosen: str | int) -> list[int]:
    """The runs of an experiment (its id), or a run itself (its number)."""
    column = runs.c.id if isinstance(chosen, int) else runs.c.experiment
    found = list(connection.scalars(select(runs.c.id).where(column == chosen)))
    if not found:
        kind = "run" if isinstance(chosen, int) else "experiment"
        raise InputError(f"{kind} {chosen!r} is not kept here; it may have been deleted")
    return found
