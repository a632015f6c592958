"""How owners share the workers.

A replication that lost its worker is served first. Otherwise the waiting owner with the fewest
running replications is served next, and among equals the one that was served longest ago. But a new
experiment comes first: in a full room, its first curve would otherwise wait for a replication of
everybody. Whoever was just served has no such right.

If an owner waits without a running replication and no worker is free, the owner with the most
running replications gives one up after `SHORT_TURN` seconds. If all have one, they take turns of
`TURN` seconds. A replication that gave way is queued again and continues from its checkpoint
(`fsdash.runs.store.recorder`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from fsdash.runs.server.work_queue import OwnerQueue
from fsdash.runs.store.attempts import Attempt

TURN = 10.0
"""Seconds that the only running replication of an owner keeps its worker while others wait."""
SHORT_TURN = 1.0
"""The same if the owner has several."""
FIRST_TURN_INTERVAL = 5.0
"""Seconds after an owner's last turn before a new experiment of theirs goes before others."""


@dataclass(eq=False)
class Job:
    """A replication that a worker computes."""

    owner: str
    attempt: Attempt
    future: Future[list[str]]
    began: float
    gives_way: bool = False
    """Whether it was asked to let others have its worker."""
    stop_seen: float | None = None
    """When the manager first saw the request to stop."""
    forced_end: tuple[str, str] | None = None
    """Status and reason that it ends with because the manager killed its worker."""
    silent_since: tuple[float, float] | None = None
    """When the worker became silent, and the processor time it had used."""


def in_order(
    waiting: Sequence[OwnerQueue],
    jobs: Sequence[Job],
    last_served: Mapping[str, float],
    most: int,
    now: float,
) -> list[OwnerQueue]:
    """The owners in the order in which they are served; each may have `most` replications."""
    running = Counter(job.owner for job in jobs)

    def place(q: OwnerQueue) -> tuple[bool, int, bool, float, int]:
        served = last_served.get(q.owner, 0.0)
        recently = served > now - FIRST_TURN_INTERVAL
        begun = q.begun or recently
        return not q.lost_worker, running[q.owner], begun, served, q.next_id

    return sorted((q for q in waiting if running[q.owner] < most), key=place)


def who_gives_way(waiting: Sequence[OwnerQueue], jobs: Sequence[Job], now: float) -> list[Job]:
    """The jobs that should give up their workers, if all workers are busy."""
    running = Counter(job.owner for job in jobs if not job.gives_way)
    left = [job for job in jobs if not job.gives_way]
    needed = sum(q.owner not in running for q in waiting) - (len(jobs) - len(left))
    chosen: list[Job] = []
    for _ in range(needed):
        ready = [j for j in left if now - j.began > (SHORT_TURN if running[j.owner] > 1 else TURN)]
        if not ready:
            break
        chosen.append(min(ready, key=lambda job: (-running[job.owner], job.began)))
        left.remove(chosen[-1])
        running[chosen[-1].owner] -= 1
    return chosen
