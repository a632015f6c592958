"""Limits of one server: queued and running work, and the time and memory of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fsdash.errors import InputError
from fsdash.runs.errors import QueueFull


@dataclass(frozen=True)
class Limits:
    """Limits of one server. Work is counted in replications."""

    queued_per_owner: int = 1_000
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

    def admit(self, more: int, mine: int, total: int) -> None:
        """Raise `QueueFull` if `more` replications exceed a limit.

        `mine` replications of the same owner are queued already, and `total` of all owners.
        """
        counts = (("you have", mine, self.queued_per_owner), ("there are", total, self.queued))
        for subject, queued, limit in counts:
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
