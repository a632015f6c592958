"""The queue of replications and the leases of servers, in the database.

All decisions are conditional updates in the database. When two servers or workers want to change
the same replication, one update succeeds and the other changes nothing.

A server holds a lease that it renews. Its work counts as abandoned when its process has ended, if
the server ran on this computer, or else when the lease was not renewed for `LEASE_SECONDS` by the
database's clock. Another container, or this computer before its last start, is another computer.
Whichever server notices first takes the work over. While the database is away nobody can renew a
lease; so a server that could not, or has just started, leaves the leases of other computers alone
for `OUTAGE_SECONDS`.

**Retries.** Work that ends for a reason outside of it (its worker or its server died, the store was
away) is queued again, at most `MAX_RETRIES` times without a new row. Then it is marked interrupted
and waits for a person.
"""

from __future__ import annotations

import math
import os
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    false,
    func,
    select,
    update,
)

from fsdash.runs.records import ACTIVE, RESUMABLE
from fsdash.runs.store.attempts import Attempt, AttemptWriter, ended_as, forget_checkpoints
from fsdash.runs.store.database import Database, database_clock
from fsdash.runs.store.schema import experiments, replications, runs, servers
from fsdash.runs.workers.executor import MAX_RETRIES
from fsdash.runs.workers.processes import computer, is_running, start_time

LEASE_SECONDS = 60.0
OUTAGE_SECONDS = LEASE_SECONDS / 2
"""If this server could not renew its lease for so long, the others could not either; they get as
long to do it."""
SERVER_ENDED = "its server has ended"
RESUMABLE_REASON = "the stored rows are safe, and it can be resumed"


@dataclass(frozen=True)
class OwnerQueue:
    """The queued replications of one owner."""

    owner: str
    next_id: int
    """The replication that is served next."""
    queued: int
    lost_worker: bool
    """Whether that replication was running and has lost its worker."""
    begun: bool
    """Whether the experiment of that replication has begun."""


def _waiting() -> Select[Any]:
    """The query of `WorkQueue.waiting`; building it takes longer than the database needs."""
    p = replications.c
    first_lost = func.min(case((and_(p.retries > 0, p.give_way == false()), p.id)))
    owners = (
        select(
            experiments.c.owner,
            func.coalesce(first_lost, func.min(p.id)).label("next_id"),
            func.count().label("queued"),
            first_lost.is_not(None).label("lost_worker"),
        )
        .select_from(replications.join(runs).join(experiments))
        .where(p.status == "queued", p.server == bindparam("server"))
        .group_by(experiments.c.owner)
        .subquery()
    )
    others, run_of_others = replications.alias(), runs.alias()
    begun = (
        select(others.c.id)
        .join(run_of_others, run_of_others.c.id == others.c.run)
        .where(run_of_others.c.experiment == runs.c.experiment, others.c.started.is_not(None))
    ).exists()
    return (
        select(owners, begun)
        .join(replications, replications.c.id == owners.c.next_id)
        .join(runs, runs.c.id == replications.c.run)
    )


WAITING = _waiting()


class WorkQueue:
    """The queue as one server sees it; `server` is empty until it opens a lease."""

    def __init__(self, database: Database) -> None:
        self.database, self.server = database, ""
        self._renewed = self._trusted_from = -math.inf
        """When the lease was renewed, and from when on those of other computers can be judged."""

    # Leases

    def open_lease(self) -> None:
        """Register as a server."""
        self.server, self._renewed = secrets.token_hex(8), -math.inf
        self.renew_lease()

    def renew_lease(self) -> None:
        """Keep the lease, or get it back if another server has ended it meanwhile.

        That happens when this computer was asleep for longer than the lease.
        """
        values = {
            "id": self.server,
            "host": computer(),
            "pid": os.getpid(),
            "born": _start_text(os.getpid()),
        }
        with self.database.writing() as connection:
            values["heartbeat"] = database_clock(connection)
            lease = servers.update().where(servers.c.id == self.server)
            if not connection.execute(lease.values(values)).rowcount:
                connection.execute(servers.insert().values(values))
        now = time.monotonic()
        if now - self._renewed > OUTAGE_SECONDS:
            self._trusted_from = now + OUTAGE_SECONDS
        self._renewed = now

    def close_lease(self, reason: str) -> None:
        """Give the lease back; unfinished work is marked interrupted for this reason."""
        with self.database.writing() as connection:
            _interrupt(connection, self.server, reason)

    def recover_abandoned(self) -> int:
        """Take over the work of ended servers; return how many replications.

        Without a lease of its own, this queue marks them as interrupted.
        """
        others = time.monotonic() >= self._trusted_from
        with self.database.reading() as connection:
            age = (database_clock(connection) - servers.c.heartbeat).label("age")
            leases_now = connection.execute(select(servers, age))
            ended = [server.id for server in leases_now if _has_ended(server, others)]
            # A server that lost its lease may have queued work and died before it got it back.
            p, leases = replications.c, select(servers.c.id)
            active = select(p.server).where(p.status.in_(ACTIVE), p.server != self.server)
            ended += connection.scalars(active.where(p.server.not_in(leases)).distinct())
        if not ended:
            return 0
        with self.database.writing() as connection:
            return sum(self._recover(connection, server) for server in ended)

    def _recover(self, connection: Connection, ended: str) -> int:
        p, taken = replications.c, 0
        if self.server:
            mine = and_(p.server == ended, p.wanted == "")
            queued = update(replications).where(mine, p.status == "queued")
            taken += connection.execute(queued.values(server=self.server)).rowcount
            running = update(replications).where(mine, _may_retry())
            again = _again(SERVER_ENDED) | {"server": self.server}
            taken += connection.execute(running.values(again)).rowcount
        return taken + _interrupt(connection, ended, f"{SERVER_ENDED}; {RESUMABLE_REASON}")

    # The queue

    def waiting(self) -> list[OwnerQueue]:
        """The queues of all owners at this server."""
        with self.database.reading() as connection:
            rows = connection.execute(WAITING, {"server": self.server})
            return [OwnerQueue(*row) for row in rows]

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
                    give_way=False,
                    wanted="",
                    wanted_reason="",
                    heartbeat=database_clock(connection),
                    finished=None,
                    started=func.coalesce(p.started, time.time()),
                )
            )
            if not claimed.rowcount:
                return None
            row = connection.execute(select(replications).where(p.id == id)).one()
            return Attempt(row.run, row.replication, row.attempt)

    def retry(self, attempt: Attempt, reason: str) -> None:
        """Queue an attempt again that ended for a reason outside of it, or mark it interrupted.

        Nothing happens if it has ended already. If it was asked to stop, it ends as requested.
        """
        p = replications.c
        with self.database.writing() as connection:
            again = update(replications).where(attempt.is_current, p.wanted == "", _may_retry())
            if connection.execute(again.values(**_again(reason))).rowcount:
                return
        tried = f"it was tried {MAX_RETRIES + 1} times without a new row"
        self.end(attempt, "interrupted", f"{reason}; {tried}; {RESUMABLE_REASON}")

    def release(self, attempt: Attempt) -> None:
        """Undo a claim: the attempt could not be handed to a worker."""
        self.end(attempt, "queued", "")

    def silent(self, seconds: float) -> set[Attempt]:
        """This server's running attempts without a heartbeat for some seconds."""
        p = replications.c
        with self.database.reading() as connection:
            query = select(p.run, p.replication, p.attempt).where(
                p.status == "running",
                p.server == self.server,
                p.heartbeat < database_clock(connection) - seconds,
            )
            return {Attempt(*row) for row in connection.execute(query)}

    def enqueue(self, run_ids: Collection[int]) -> int:
        """Queue the resumable replications of some runs at this server; return how many."""
        p = replications.c
        with self.database.writing() as connection:
            changed = connection.execute(
                update(replications)
                .where(p.run.in_(run_ids), p.status.in_(RESUMABLE))
                .values(
                    status="queued",
                    reason="",
                    server=self.server,
                    wanted="",
                    finished=None,
                    retries=0,
                )
            )
            return changed.rowcount

    def request_stop(self, run_ids: Collection[int], status: str, reason: str) -> None:
        """End the queued replications of some runs, and ask the workers to end the running ones.

        With the status "cancelled", paused and interrupted replications are cancelled too.
        """
        p = replications.c
        idle = ("paused", "interrupted") if status == "cancelled" else ()
        chosen = and_(p.run.in_(run_ids), p.status.in_((*ACTIVE, *idle)))
        running = p.status == "running"
        # One statement: a replication may change from running to queued, or back, between two.
        request = {
            "status": case((running, p.status), else_=status),
            "reason": case((running, p.reason), else_=reason),
            "finished": case((running, p.finished), else_=time.time()),
            "wanted": case((running, status), else_=""),
            "wanted_reason": case((running, reason), else_=""),
        }
        with self.database.writing() as connection:
            connection.execute(update(replications).where(chosen).values(request))
            forget_checkpoints(connection, run_ids)

    def ask_to_give_way(self, attempt: Attempt) -> None:
        """Ask a worker to go on with this replication later, because others wait."""
        with self.database.writing() as connection:
            connection.execute(update(replications).where(attempt.is_current).values(give_way=True))

    def stop_requests(self) -> dict[tuple[int, int], tuple[str, str]]:
        """Requested status and reason of this server's running replications.

        By run and replication; those that were not asked to stop are left out.
        """
        p = replications.c
        query = select(p.run, p.replication, p.wanted, p.wanted_reason).where(
            p.status == "running", p.server == self.server, p.wanted != ""
        )
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return {(run, i): (status, reason) for run, i, status, reason in rows}

    def end(self, attempt: Attempt, status: str, reason: str) -> None:
        """End an attempt, unless it has ended already."""
        AttemptWriter(self.database, attempt).end(status, reason)

    def worker_seconds(self, run_ids: Collection[int]) -> dict[int, float]:
        """By run: the seconds that workers have spent on it, as of their last write."""
        p = replications.c
        query = select(p.run, func.sum(p.seconds)).where(p.run.in_(run_ids)).group_by(p.run)
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return {run: seconds for run, seconds in rows}


def _may_retry() -> ColumnElement[bool]:
    """SQL condition: running, and not yet retried too often."""
    return and_(replications.c.status == "running", replications.c.retries < MAX_RETRIES)


def _again(reason: str) -> dict[str, object]:
    """Changes that queue a replication again."""
    return {
        "status": "queued",
        "reason": f"{reason}; it continues automatically",
        "retries": replications.c.retries + 1,
    }


def _interrupt(connection: Connection, server: str, reason: str) -> int:
    """End a lease and interrupt its work; return how many replications.

    Replications that were asked to stop get the requested status instead.
    """
    p = replications.c
    active = update(replications).where(p.server == server, p.status.in_(ACTIVE))
    changed = connection.execute(active.values(ended_as("interrupted", reason))).rowcount
    connection.execute(servers.delete().where(servers.c.id == server))
    forget_checkpoints(connection)
    return changed


def _start_text(pid: int) -> str:
    """The start of a process in hundredths of a second since the computer's, for the database."""
    started = start_time(pid)
    return "" if started is None else f"{100 * started:.0f}"


def _has_ended(server: Row[Any], others: bool) -> bool:
    """Whether a server has ended; with `others`, also one of another computer."""
    if server.host != computer():
        return others and bool(server.age > LEASE_SECONDS)
    return not is_running(server.pid, int(server.born) / 100 if server.born else None)
