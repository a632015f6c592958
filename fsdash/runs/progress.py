"""A progress bar for the terminal."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

from fsdash.formatting import duration
from fsdash.runs.engine import Row
from fsdash.runs.spec import RunSpec, share_spent

WIDTH = 30


@dataclass
class ProgressBar:
    """A line on stderr with the share of work done and the time left.

    It draws nothing if stderr is not a terminal.
    """

    tasks: int
    """The number of replications, over all runs."""
    started: float = field(default_factory=time.monotonic)
    shares: dict[tuple[str, int], float] = field(default_factory=dict)
    """The share of its budget that each replication has spent."""

    def update(self, spec: RunSpec, replication: int, row: Row | None) -> None:
        """Record a new row of a replication, or its end (None), and redraw the line."""
        if not sys.stderr.isatty():
            return
        self.shares[spec.hash, replication] = 1.0 if row is None else share_spent(*spec.budget, row)
        share = sum(self.shares.values()) / self.tasks
        elapsed = time.monotonic() - self.started
        left = f"{duration(elapsed / share - elapsed)} left" if share > 0.01 else "starting"
        done = "█" * round(WIDTH * share)
        print(f"\r{done:░<{WIDTH}} {share:4.0%} {left:<20}", end="", file=sys.stderr)

    def clear(self) -> None:
        """Remove the line."""
        if self.shares:
            print("\r" + " " * (WIDTH + 30) + "\r", end="", file=sys.stderr)
