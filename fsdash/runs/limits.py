"""What a visitor, a network address and all visitors of a server may have.

    Limits     the numbers: queued and running work, and the time and memory of a run
    Quota      counts what a visitor, an address and everybody have: queued work, tasks for a class
    Failures   counts the wrong passwords of an address in the last minute

A visitor can have many names but few addresses, so both are counted. Addresses are remembered until
the server ends, and are not stored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields

from cachetools import LRUCache

from fsdash.errors import InputError
from fsdash.runs.errors import QueueFull

MAX_FAILURES, FAILURE_SECONDS = 10, 60.0
"""Wrong passwords of one address within this many seconds, before it has to wait."""
MAX_ADDRESSES = 10_000
"""Addresses whose wrong passwords are remembered."""


@dataclass(frozen=True)
class Limits:
    """Limits of one server. Work is counted in replications."""

    queued_per_owner: int = 1_000
    queued_per_address: int = 3_000
    """Of all visitors with one network address, such as a room behind one router."""
    queued: int = 10_000
    running_per_owner: int = 1_000
    """The total of running replications is limited by the number of workers."""
    seconds: float = 4 * 3600
    """Computing time of one run, summed over its replications."""
    megabytes: int = 2_048
    """Memory of one worker."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InputError(f"{field.name} = {value!r}: use a number above 0")


class Quota:
    """How many of some things a visitor, a network address and everybody may have."""

    def __init__(self, things: str, remedy: str) -> None:
        self._things, self._remedy = things, remedy
        self._addresses: dict[str, str] = {}
        """Of the owners that have some."""

    def check(
        self,
        owner: str,
        address: str,
        counts: Mapping[str, int],
        most: tuple[int, int, int],
        more: int = 1,
    ) -> None:
        """Raise `QueueFull` if an owner must not have more.

        Parameters
        ----------
        owner, address : str
            Who wants them; what is empty has no limit.
        counts : mapping
            How many each owner has now.
        most : tuple of int
            The limits of an owner, an address and everybody.
        more : int
            How many the owner wants.
        """
        if owner and address:
            self._addresses[owner] = address
        owners = {*counts, owner}
        self._addresses = {o: a for o, a in self._addresses.items() if o in owners}
        here = self._addresses.get(owner, "")
        of_address = sum(n for o, n in counts.items() if here and self._addresses.get(o) == here)
        totals = counts.get(owner, 0) if owner else 0, of_address, sum(counts.values())
        for subject, count, limit in zip(
            ("you have", "your network has", "this server has"), totals, most, strict=True
        ):
            if more > limit:
                raise QueueFull(
                    f"{more:,} {self._things} at once are too many: the limit is {limit:,}; "
                    f"{self._remedy}"
                )
            if count + more > limit:
                raise QueueFull(
                    f"{subject} {count:,} {self._things}, and {more:,} more would exceed the limit "
                    f"of {limit:,}; {self._remedy}"
                )


class Failures:
    """The failed attempts of each network address."""

    def __init__(self) -> None:
        self._times: LRUCache[str, list[float]] = LRUCache(MAX_ADDRESSES)
        self._lock = threading.Lock()

    def add(self, address: str) -> None:
        with self._lock:
            times = self._times.get(address, [])
            self._times[address] = [*times[-MAX_FAILURES:], time.monotonic()]

    def are_too_many(self, address: str) -> bool:
        """Whether the address has to wait."""
        oldest = time.monotonic() - FAILURE_SECONDS
        with self._lock:
            return sum(when > oldest for when in self._times.get(address, [])) >= MAX_FAILURES
