"""Who may queue how much: limits for a visitor, for a network address and for the server."""

from __future__ import annotations

from fsdash.runs.errors import QueueFull
from fsdash.runs.server.limits import Limits
from fsdash.runs.server.work_queue import OwnerQueue


class Admission:
    """Remembers the network addresses of owners with queued work."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}

    def came_from(self, owner: str, address: str) -> None:
        """Remember an owner's network address."""
        if address:
            self._addresses[owner] = address

    def check(self, owner: str, more: int, waiting: list[OwnerQueue], limits: Limits) -> None:
        """Raise `QueueFull` if so many more replications of an owner exceed a limit."""
        mine = sum(q.queued for q in waiting if q.owner == owner)
        total = sum(q.queued for q in waiting)
        for subject, queued, limit in (
            ("you have", mine, limits.queued_per_owner),
            ("your network has", self._from_address(owner, waiting), limits.queued_per_address),
            ("there are", total, limits.queued),
        ):
            if more > limit:
                raise QueueFull(
                    f"{more:,} replications at once are too many: at most {limit:,} may be queued; "
                    "start fewer now and the others later"
                )
            if queued + more > limit:
                raise QueueFull(
                    f"the queue is full: {subject} {queued:,} replications queued, and {more:,} "
                    f"more would exceed the limit of {limit:,}; start fewer replications, or wait "
                    "until some have finished"
                )

    def _from_address(self, owner: str, waiting: list[OwnerQueue]) -> int:
        """Replications that visitors with the address of this one have queued."""
        known = {q.owner for q in waiting} | {owner}
        self._addresses = {o: a for o, a in self._addresses.items() if o in known}
        address = self._addresses.get(owner)
        if address is None:
            return 0
        return sum(q.queued for q in waiting if self._addresses.get(q.owner) == address)
