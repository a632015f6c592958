"""The queue of replications and the leases of servers, in the database.

All decisions are conditional updates in the database. When two servers or workers want to change
the same replication, one update succeeds and the other changes nothing.

A server holds a lease that it renews. Its work counts as abandoned when its process has ended, if
the server ran on this computer, or else when the lease was not renewed for `LEASE_SECONDS`.
Whichever server notices first marks that work as interrupted.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select, update

from fsdash.runs.records import ACTIVE, RESUMABLE
from fsdash.runs.server.processes import is_running, start_time
from fsdash.runs.store.attempts import Attempt, AttemptWriter
from fsdash.runs.store.database import Database
from fsdash.runs.store.schema import experiments, replications, runs, servers

LEASE_SECONDS = 60.0
SERVER_ENDED = "its server has ended; the stored rows are safe, and it can be resumed"


@dataclass(frozen=True)
class OwnerQueue:
    """The queued replications of one owner."""

    owner: str
    next_id: int
    """The replication that is served next."""
    queued: int


class WorkQueue:
    """The queue as one server sees it; `server` is empty until it opens a lease."""

    def __init__(self, database: Database) -> None:
        self.database, self.server = database, ""

    # Leases

    def open_lease(self) -> None:
        """Register as a server."""
        self.server = secrets.token_hex(8)
        self.renew_lease()

    def renew_lease(self) -> None:
        """Keep the lease, or get it back if another server has ended it meanwhile.

        That happens when this computer was asleep for longer than the lease.
        """
        values = {
            "id": self.server,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "born": _start_text(os.getpid()),
            "heartbeat": time.time(),
        }
        with self.database.writing() as connection:
            own = servers.update().where(servers.c.id == self.server)
            if not connection.execute(own.values(values)).rowcount:
                connection.execute(servers.insert().values(values))

    def close_lease(self, reason: str) -> None:
        """Give the lease back; unfinished work is marked interrupted for this reason."""
        with self.database.writing() as connection:
            _interrupt(connection, self.server, reason)

    def interrupt_abandoned(self) -> int:
        """Mark the work of ended servers as interrupted; return how many replications."""
        with self.database.reading() as connection:
            ended = [s.id for s in connection.execute(select(servers)) if _has_ended(s)]
        if not ended:
            return 0
        with self.database.writing() as connection:
            return sum(_interrupt(connection, server, SERVER_ENDED) for server in ended)

    # The queue

    def waiting(self) -> list[OwnerQueue]:
        """The queues of all owners at this server."""
        query = (
            select(experiments.c.owner, func.min(replications.c.id), func.count())
            .select_from(replications.join(runs).join(experiments))
            .where(replications.c.status == "queued", replications.c.server == self.server)
            .group_by(experiments.c.owner)
        )
        with self.database.reading() as connection:
            found = connection.execute(query).all()
        return [OwnerQueue(owner, next_id, queued) for owner, next_id, queued in found]

    def claim(self, id: int) -> Attempt | None:
        """Start an attempt at a queued replication; None if it is no longer queued here."""
        p = replications.c
        with self.database.writing() as connection:
            claimed = connection.execute(
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
            if not claimed.rowcount:
                return None
            row = connection.execute(select(replications).where(p.id == id)).one()
            return Attempt(row.run, row.replication, row.attempt)

    def enqueue(self, run_ids: Collection[int]) -> int:
        """Queue the resumable replications of some runs at this server; return how many."""
        p = replications.c
        with self.database.writing() as connection:
            changed = connection.execute(
                update(replications)
                .where(p.run.in_(run_ids), p.status.in_(RESUMABLE))
                .values(status="queued", reason="", server=self.server, wanted="", finished=None)
            )
            return changed.rowcount

    def request_stop(self, run_ids: Collection[int], status: str, reason: str) -> None:
        """End the queued replications of some runs, and ask the workers to end the running ones.

        With the status "cancelled", paused and interrupted replications are cancelled too.
        """
        p = replications.c
        chosen = p.run.in_(run_ids)
        with self.database.writing() as connection:
            ended = {"status": status, "reason": reason, "finished": time.time()}
            queued = update(replications).where(chosen, p.status == "queued")
            connection.execute(queued.values(**ended))
            running = update(replications).where(chosen, p.status == "running")
            connection.execute(running.values(wanted=status, wanted_reason=reason))
            if status == "cancelled":
                idle = update(replications).where(chosen, p.status.in_(("paused", "interrupted")))
                connection.execute(idle.values(**ended))

    def stop_requests(self) -> dict[tuple[int, int], tuple[str, str]]:
        """Requested status and reason of this server's running replications.

        By run and replication; those that were not asked to stop are left out.
        """
        p = replications.c
        query = select(p.run, p.replication, p.wanted, p.wanted_reason).where(
            p.status == "running", p.server == self.server, p.wanted != ""
        )
        with self.database.reading() as connection:
            found = connection.execute(query).all()
        return {(run, i): (status, reason) for run, i, status, reason in found}

    def end(self, attempt: Attempt, status: str, reason: str) -> None:
        """End an attempt, unless it has ended already."""
        AttemptWriter(self.database, attempt).end(status, reason)

    def worker_seconds(self, run_ids: Collection[int]) -> dict[int, float]:
        """By run: the seconds that workers have spent on it, as of their last write."""
        p = replications.c
        query = select(p.run, func.sum(p.seconds)).where(p.run.in_(run_ids)).group_by(p.run)
        with self.database.reading() as connection:
            found = connection.execute(query).all()
        return {run: seconds for run, seconds in found}


def _interrupt(connection: Connection, server: str, reason: str) -> int:
    """End a lease and interrupt its work; return how many replications.

    Replications that were asked to stop get the requested status instead.
    """
    p = replications.c
    active = and_(p.server == server, p.status.in_(ACTIVE))
    now = time.time()
    asked = update(replications).where(active, p.wanted != "")
    connection.execute(
        asked.values(status=p.wanted, reason=p.wanted_reason, wanted="", finished=now)
    )
    others = update(replications).where(active)
    changed = connection.execute(
        others.values(status="interrupted", reason=reason, finished=now)
    ).rowcount
    connection.execute(servers.delete().where(servers.c.id == server))
    return changed


def _start_text(pid: int) -> str:
    """The start of a process in hundredths of a second since the computer's, for the database."""
    started = start_time(pid)
    return "" if started is None else f"{100 * started:.0f}"


def _has_ended(server: Row[Any]) -> bool:
    if server.host != socket.gethostname():
        return time.time() - server.heartbeat > LEASE_SECONDS
    return not is_running(server.pid, int(server.born) / 100 if server.born else None)
