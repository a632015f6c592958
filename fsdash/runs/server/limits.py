"""Limits of one server: queued and running work, and the time and memory of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fsdash.errors import InputError


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
