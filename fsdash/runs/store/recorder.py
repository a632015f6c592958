"""Writes what one replication records, in batches and beside the computation.

A thread of its own writes every `FLUSH` seconds what has come together, the first rows after
`FIRST`, and learns on the way whether the replication shall stop; the engine only appends to a
list. It also tells that the worker is alive while a single snapshot takes long. A replication that
takes less than `FIRST` is written in one go.

**Going on.** A replication that was paused or interrupted starts again from its seed and computes
the same rows; those that are kept already are passed over. They are evaluated again too: an
evaluation starts from the values of the policy before, so without it the last digits of the next
row would depend on where the run was interrupted. `seconds` goes on from where it was.

**Policies** are kept at steps 0, s, 2s, …, and at the last one. s is the smallest power of 2 for
which they are no more than `SNAPSHOTS`, or fewer where they are large: replication 0 may take half
of `POLICY_BYTES`, and the last policies of the others share the rest.
"""

from __future__ import annotations

import math
import threading
import time

from fsdash.runs.columns import ROW_COLUMNS
from fsdash.runs.engine import Record
from fsdash.runs.server.work_queue import Attempt, Batch, Ledger, Packed, Start
from fsdash.runs.store.arrays import pack_policy, pack_values

FIRST = 0.07
FLUSH = 0.2
BEAT = 2.0
"""Seconds after which a worker tells that it is alive when there is nothing else to write."""
SNAPSHOTS = 100
POLICY_BYTES = 16 * 2**20
HALF = POLICY_BYTES // 2


class Recorder:
    """Use it as a context: leaving it writes the rest, and raises what went wrong in its thread."""

    def __init__(self, ledger: Ledger, attempt: Attempt, start: Start) -> None:
        self.ledger, self.attempt, self.start = ledger, attempt, start
        self.stop = threading.Event()
        """Set when the replication shall end."""
        self.rows = start.rows
        self.policies = PolicyKeeper(start.policy_steps, every=attempt.replication == 0)
        self._new: list[dict] = []
        self._ahead = 0.0
        self._began = self._written = time.monotonic()
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._leaving = False
        self._end: tuple[str, str] | None = None
        self._trouble: Exception | None = None
        self._thread = threading.Thread(target=self._write, name="recorder", daemon=True)

    def keep(self, record: Record) -> None:
        """The engine's `keep`."""
        row = record.row
        if row["step"] < self.start.rows:
            self._ahead = max(0.0, self.start.last_seconds - row["seconds"])
            return
        slim = {column.name: _plain(row[column.name]) for column in ROW_COLUMNS}
        slim["seconds"] += self._ahead
        with self._lock:
            self._new.append(slim)
            self.rows = row["step"] + 1
            self.policies.offer(record)
        if row["step"] == 0 and time.monotonic() - self._began > FIRST:
            self._wake.set()

    def end(self, status: str, reason: str) -> None:
        """How the replication ended: written with the last of its rows."""
        self._end = status, reason

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._leaving = True
        self._wake.set()
        self._thread.join()
        if self._trouble is not None and error is None:
            raise self._trouble

    def _write(self) -> None:
        try:
            wait = FIRST
            while not self._leaving:
                self._wake.wait(wait)
                self._wake.clear()
                wait = FLUSH
                if self._leaving:
                    break
                if self._flush():
                    self.stop.set()
            self._flush(last=True)
        except Exception as error:  # the engine's thread raises it
            self._trouble = error
            self.stop.set()

    def _flush(self, last: bool = False) -> str:
        """Write what is new; what the replication was asked to become."""
        with self._lock:
            new, self._new = self._new, []
            count = self.rows
            policies, dropped = self.policies.due(last)
        now = time.monotonic()
        if new or policies or last or now - self._written > BEAT:
            batch = Batch(new, policies, dropped, HALF, self._end if last else None)
            seconds = self.start.worker_seconds + now - self._began
            self._written = now
            return self.ledger.append(self.attempt, batch, count, seconds)
        return self.ledger.wanted(self.attempt)


class PolicyKeeper:
    """Chooses which policies are kept: `every`, thinned out as they come, or the last one only."""

    def __init__(self, kept: tuple[int, ...], every: bool) -> None:
        self.kept, self.every = set(kept), every
        self._offered: dict[int, Record] = {}
        self._last: Record | None = None
        self._largest = 1

    def offer(self, record: Record) -> None:
        self._last, step = record, record.row["step"]
        if self.every and step % self._stride(step) == 0:
            self._offered[step] = record

    def due(self, last: bool) -> tuple[list[Packed], set[int]]:
        """The policies to be written now, and the steps of those that are kept no longer."""
        if self._last is None or not (self.every or last):
            return [], set()
        newest = self._last.row["step"]
        offered, self._offered = self._offered | {newest: self._last}, {}
        packed = [_packed(record) for step, record in offered.items() if step not in self.kept]
        self._largest = max([self._largest, *(p.size for p in packed)])
        stride = self._stride(newest)
        spread = {s for s in self.kept | set(offered) if self.every and s % stride == 0}
        good = spread | {newest}
        dropped = self.kept - good
        written = [p for p in packed if p.step in good]
        self.kept = (self.kept & good) | {p.step for p in written}
        return written, dropped

    def _stride(self, step: int) -> int:
        """The smallest power of 2 whose multiples, up to this step, are not too many or large."""
        most = max(2, min(SNAPSHOTS, HALF // self._largest) - 1)
        return 1 << max(0, math.ceil(math.log2((step + 1) / most)))


def _packed(record: Record) -> Packed:
    return Packed(record.row["step"], pack_policy(record.policy_PXY), pack_values(record.values_XY))


def _plain(value: object) -> object:
    """Not every database has a number that is none."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
