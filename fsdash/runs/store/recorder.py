"""Collects the records of one replication and writes them to the store in batches.

The engine's thread only appends to a list. A second thread writes the new rows, the first time
after `FIRST_WRITE` seconds and then every `WRITE_INTERVAL` seconds, and learns with each write
whether the replication was asked to stop. A single snapshot may take long, so it also renews the
worker's heartbeat. A replication that takes less than `FIRST_WRITE` is written in one transaction.
While the store is unavailable the engine continues; the second thread writes as soon as it can
(`fsdash.runs.retry`).

**Resuming.** A replication that was paused or interrupted continues from its last checkpoint, or
from its seed if it has none, and computes the same rows; those that are stored already are not
written again. They are evaluated again too: each evaluation starts from the values of the previous
policy, so without it the last digits of the next row would depend on where the run was interrupted.
`seconds` continues from its stored value.

**Checkpoints** are taken every `CHECKPOINT_INTERVAL` seconds, or less often if they are large, and
when the replication has to stop.

**Giving way.** If others wait for the worker, the replication stops at its next checkpoint. If
there is none within `GIVE_WAY_SECONDS`, it stops anyway, and later repeats what it has computed
since the last one. Before it stops in this way, it computes for as long as earlier attempts have
since that checkpoint, so each attempt goes further than the one before.

**Policies** are stored for the steps 0, s, 2s, … and the last one. The stride s is the smallest
power of 2 that gives at most `MAX_POLICIES` of them, or fewer where they are large: replication 0
may use half of `POLICY_BYTES`, and the last policies of all other replications share the rest.
"""

from __future__ import annotations

import math
import threading
import time
from types import TracebackType

from fsdash.runs.checkpoint import Checkpoint, read
from fsdash.runs.columns import ROW_COLUMNS
from fsdash.runs.engine import Record
from fsdash.runs.retry import patiently
from fsdash.runs.store.arrays import pack_policy, pack_values
from fsdash.runs.store.attempts import (
    AttemptWriter,
    Batch,
    PackedPolicy,
    StartingPoint,
    StoredCheckpoint,
)

FIRST_WRITE = 0.07
WRITE_INTERVAL = 0.2
HEARTBEAT_INTERVAL = 2.0
"""Seconds after which a worker renews its heartbeat when it has nothing to write."""
CHECKPOINT_INTERVAL = 2.0
CHECKPOINT_SHARE = 0.05
"""Largest share of the time that is spent on packing checkpoints."""
GIVE_WAY_SECONDS = 2.0
"""How long a replication that should give way waits for a checkpoint."""
MAX_POLICIES = 100
POLICY_BYTES = 16 * 2**20
HALF_OF_POLICY_BYTES = POLICY_BYTES // 2


class Recorder:
    """Use it as a context manager.

    Leaving the context writes what is left, and raises the error that stopped the writing thread.
    """

    def __init__(self, writer: AttemptWriter, start: StartingPoint) -> None:
        self.writer, self.start = writer, start
        self.stop = threading.Event()
        """Set when the replication should end."""
        self.rows = start.rows
        first = writer.attempt.replication == 0
        self.policies = PolicySelection(start.policy_steps, several=first)
        self.last = read(start.checkpoint.content) if start.checkpoint else None
        """The checkpoint to start from."""
        self.gives_way = False
        """Whether it has stopped because others wait."""
        self._new: list[dict[str, object]] = []
        self._checkpoint: StoredCheckpoint | None = None
        self._seconds_before, self._repeated = 0.0, start.worker_seconds
        if self.last is not None and start.checkpoint is not None:
            self._seconds_before = max(0.0, start.last_seconds - self.last.seconds)
            self._repeated -= start.checkpoint.seconds
        self._began = self._written = time.monotonic()
        self._next_checkpoint = self._began + CHECKPOINT_INTERVAL
        self._others_wait: float | None = None
        """When the replication was asked to give way."""
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._leaving = False
        self._end: tuple[str, str] | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._write, name="recorder", daemon=True)

    def record(self, record: Record) -> None:
        """Take a record from the engine."""
        row, step = record.row, record.step
        if step < self.start.rows:
            self._seconds_before = max(0.0, self.start.last_seconds - record.seconds)
            return
        values = {column.name: _finite_or_none(row[column.name]) for column in ROW_COLUMNS}
        values["seconds"] = record.seconds + self._seconds_before
        with self._lock:
            self._new.append(values)
            self.rows = step + 1
            self.policies.add(record)
        if step == 0 and time.monotonic() - self._began > FIRST_WRITE:
            self._wake.set()

    def must_stop(self) -> bool:
        """Whether the engine should stop now."""
        if self._others_wait is not None:
            now = time.monotonic()
            patient = now - self._others_wait < GIVE_WAY_SECONDS
            if not patient and now - self._began > self._repeated:
                self.gives_way = True
        return self.stop.is_set() or self.gives_way

    def are_due(self) -> bool:
        """Whether the engine should make a checkpoint now."""
        late = time.monotonic() > self._next_checkpoint
        return late or self.stop.is_set() or self._others_wait is not None

    def keep(self, new: Checkpoint) -> None:
        """Take a checkpoint from the engine; a large one is dropped."""
        began = time.monotonic()
        content = new.pack()
        now = time.monotonic()
        wait = max(CHECKPOINT_INTERVAL, (now - began) / CHECKPOINT_SHARE)
        self._next_checkpoint = now + wait
        if content:
            seconds = self.start.worker_seconds + now - self._began
            with self._lock:
                self._checkpoint = StoredCheckpoint(new.rows, seconds, content)
            self.gives_way = self._others_wait is not None

    def end(self, status: str, reason: str) -> None:
        """Set how the replication ended; it is written together with the last rows."""
        self._end = status, reason

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leaving = True
        self._wake.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def _write(self) -> None:
        try:
            wait = FIRST_WRITE
            while not self._leaving:
                self._wake.wait(wait)
                self._wake.clear()
                wait = WRITE_INTERVAL
                if self._leaving:
                    break
                self._obey(self._flush())
            self._flush(last=True)
        except Exception as error:  # raised again in the engine's thread
            self._error = error
            self.stop.set()

    def _obey(self, requested: str) -> None:
        if requested == "queued":
            self._others_wait = self._others_wait or time.monotonic()
        elif requested:
            self.stop.set()

    def _flush(self, last: bool = False) -> str:
        """Write what is new; return the status that was asked for, empty if none."""
        with self._lock:
            new, self._new = self._new, []
            checkpoint, self._checkpoint = self._checkpoint, None
            count = self.rows
            policies, dropped = self.policies.take(last)
        now = time.monotonic()
        if new or policies or checkpoint or last or now - self._written > HEARTBEAT_INTERVAL:
            end = self._end if last else None
            batch = Batch(new, policies, dropped, checkpoint, HALF_OF_POLICY_BYTES, end)
            seconds = self.start.worker_seconds + now - self._began
            self._written = now
            return patiently(lambda again: self.writer.append(batch, count, seconds, again))
        return patiently(lambda _: self.writer.requested_status())


class PolicySelection:
    """Chooses which policies of a replication are stored.

    With `several`, these are policies at equal distances and the last one; otherwise only the last.
    """

    def __init__(self, stored: tuple[int, ...], several: bool) -> None:
        self.stored, self.several = set(stored), several
        self._new: dict[int, Record] = {}
        self._last: Record | None = None
        self._largest = 1

    def add(self, record: Record) -> None:
        """Consider the policy of a record."""
        self._last, step = record, record.step
        if self.several and step % self._stride(step) == 0:
            self._new[step] = record

    def take(self, last: bool) -> tuple[list[PackedPolicy], set[int]]:
        """The policies to write now, and the steps of stored policies to delete."""
        if self._last is None or not (self.several or last):
            return [], set()
        newest = self._last.step
        new, self._new = self._new | {newest: self._last}, {}
        packed = [_packed(record) for step, record in new.items() if step not in self.stored]
        self._largest = max([self._largest, *(p.size for p in packed)])
        stride = self._stride(newest)
        spread = {s for s in self.stored | set(new) if self.several and s % stride == 0}
        selected = spread | {newest}
        dropped = self.stored - selected
        written = [p for p in packed if p.step in selected]
        self.stored = (self.stored & selected) | {p.step for p in written}
        return written, dropped

    def _stride(self, step: int) -> int:
        """The smallest power of 2 whose multiples up to this step are within the limits."""
        most = max(2, min(MAX_POLICIES, HALF_OF_POLICY_BYTES // self._largest) - 1)
        return 1 << max(0, math.ceil(math.log2((step + 1) / most)))


def _packed(record: Record) -> PackedPolicy:
    return PackedPolicy(record.step, pack_policy(record.policy_PXY), pack_values(record.values_XY))


def _finite_or_none(value: object) -> object:
    """NaN and infinity become NULL: not every database can store them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
