"""How much work may wait and run, for each owner and in total, and how much one run may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fsdash.errors import InputError
from fsdash.runs.errors import QueueFull


@dataclass(frozen=True)
class Limits:
    """Caps of one server. Counts are of replications, the unit of work."""

    queued_per_owner: int = 1_000
    queued: int = 10_000
    running_per_owner: int = 1_000
    """The number of workers is the cap in total."""
    seconds: float = 4 * 3600
    """Time of workers for one run, all its replications together."""
    megabytes: int = 2_048
    """Memory of one worker."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InputError(f"{field.name} = {value!r}: use a number above 0")

    def admit(self, more: int, mine: int, total: int) -> None:
        """Refuse `more` replications of an owner who has `mine` waiting, of `total` in all."""
        whose = (("you have", mine, self.queued_per_owner), ("there are", total, self.queued))
        for words, waiting, most in whose:
            if more > most:
                raise QueueFull(
                    f"{more:,} replications at once are too many: at most {most:,} may wait; ask "
                    "for fewer, and for the others later"
                )
            if waiting + more > most:
                raise QueueFull(
                    f"the queue is full: {words} {waiting:,} replications waiting, these are "
                    f"{more:,} more, and the limit is {most:,}; ask for fewer replications, or "
                    "wait until some have finished"
                )
