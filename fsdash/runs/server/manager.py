"""Runs experiments in worker processes, fairly between their owners.

    with Manager(Store()) as manager:
        id = manager.submit("me", "T=6 against Base E-VI", [spec, other])
        manager.progress(id), manager.queue("me")
        manager.pause(id), manager.resume(id), manager.cancel(id)

One thread hands replications to workers and looks after them. Of the owners that wait it serves the
one with the fewest replications running, and among those the one that was served longest ago. All
that matters is in the database (`ledger`); the manager only remembers which worker has what. So a
second server on the same database, or the next one after this was killed, is not misled: what a
server leaves behind is marked interrupted when another looks, and `resume` goes on with the same
seed and numbers.

Workers see a request to stop between two snapshots. Where a snapshot takes longer than `GRACE`, the
worker is ended and replaced. Caps on time and memory end replications in the same way.

With `FSDASH_DASK` the replications run on the Dask cluster at that address, whose workers need
fsdash and a database that they can reach (`FSDASH_DATABASE_URL`); there a request to stop is seen
between two snapshots only, and memory is Dask's to watch.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from fsdash.errors import InputError
from fsdash.runs.errors import StoreError, WorkerDied
from fsdash.runs.server.executor import WorkerExecutor
from fsdash.runs.server.limits import Limits
from fsdash.runs.server.memory import megabytes
from fsdash.runs.server.work_queue import Attempt, Ledger, Waiting, runs_of
from fsdash.runs.server.worker import replicate
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store, insert_experiment
from fsdash.runs.store.progress import Progress, progress

TICK, IDLE = 0.25, 1.0
"""Seconds between two looks at the work, with and without any. What begins, ends or is stopped at
this server wakes it at once; the looks are for other servers' requests, and for `GRACE`."""
GRACE = 0.5
"""Seconds from a request to stop until the worker is ended."""
RENEW, SWEEP, INSPECT = 5.0, 10.0, 1.0
"""Seconds between renewals of the lease, looks for ended servers, looks at time and memory."""
MAX_WORKERS = 256
CLOSED = "the server was stopped; what it recorded is kept, and it can be resumed"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Queue:
    """The queue of a server as one owner sees it, in replications."""

    mine: int
    running: int
    total: int
    total_running: int
    ahead: int
    """Other owners that are served before this one's next replication."""


@dataclass(eq=False)
class Job:
    """A replication that a worker has."""

    owner: str
    attempt: Attempt
    future: Future
    began: float
    asked: float | None = None
    doom: tuple[str, str] | None = None
    """Status and reason that it ends with, when its worker is ended from here."""


class Manager:
    """Give one to a whole server; its methods may be called from any thread."""

    def __init__(
        self,
        store: Store,
        workers: int | None = None,
        limits: Limits | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.store, self.limits = store, limits or Limits()
        self.trouble = ""
        """What is wrong with the store now, in words; empty while all is well."""
        self._ledger = Ledger(store.database)
        self._ledger.sweep()
        self._ledger.open_lease()
        self._executor, self.workers, self._release = _executor(workers, executor)
        self._jobs: list[Job] = []
        self._served: dict[str, float] = {}
        self._done: dict[str, float] = {}
        self._wake, self._closing = threading.Event(), False
        self._admission = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="manager", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # What a page asks for

    def submit(self, owner: str, name: str, specs: Sequence[RunSpec]) -> str:
        """Queue an experiment and return its id; `QueueFull` beyond the limits."""
        with self._admission:
            self._admit(owner, sum(spec.replications for spec in specs))
            with self.store.database.writing() as connection:
                id = insert_experiment(
                    connection, owner, name, specs, "queued", self._ledger.server
                )
        self._wake.set()
        return id

    def cancel(self, chosen: str | int) -> None:
        """End an experiment (its id) or a run (its number); its rows stay."""
        self._stop(chosen, "cancelled", "cancelled by request")

    def pause(self, chosen: str | int) -> None:
        """Give the workers of an experiment or a run to others until it is resumed."""
        self._stop(chosen, "paused", "paused by request")

    def resume(self, chosen: str | int) -> int:
        """Go on with what is paused, interrupted, failed or cancelled; how many replications."""
        runs = self._runs(chosen)
        with self._admission:
            kept = [self.store.run(run) for run in runs]
            owner = self.store.experiment(kept[0].experiment).owner
            self._admit(owner, sum(len(run.resumable) for run in kept))
            count = self._ledger.enqueue(runs)
        self._wake.set()
        return count

    def queue(self, owner: str) -> Queue:
        waiting, jobs = self._ledger.waiting(), list(self._jobs)
        queued = {w.owner: w.queued for w in waiting}
        order = [w.owner for w in self._in_order(waiting)]
        return Queue(
            mine=queued.get(owner, 0),
            running=sum(job.owner == owner for job in jobs),
            total=sum(queued.values()),
            total_running=len(jobs),
            ahead=order.index(owner) if owner in order else 0,
        )

    def progress(self, experiment: str) -> list[Progress]:
        """How far each run of an experiment is."""
        return progress(self.store.database, self.store.experiment(experiment))

    def close(self) -> None:
        """End the workers; what is not finished is marked interrupted."""
        if self._closing:
            return
        self._closing = True
        atexit.unregister(self.close)
        self._wake.set()
        self._thread.join()
        self._executor.shutdown(wait=False)
        self._release()
        try:
            self._ledger.close_lease(CLOSED)
        except StoreError as error:  # the next server will mark it
            log.warning("%s", error)

    def _runs(self, chosen: str | int) -> list[int]:
        with self.store.database.reading() as connection:
            return runs_of(connection, chosen)

    def _stop(self, chosen: str | int, status: str, reason: str) -> None:
        self._ledger.stop(self._runs(chosen), status, reason)
        self._wake.set()

    def _admit(self, owner: str, more: int) -> None:
        queue = self.queue(owner)
        self.limits.admit(more, queue.mine, queue.total)

    # The thread

    def _serve(self) -> None:
        while not self._closing:
            self._wake.wait(TICK if self._jobs else IDLE)
            self._wake.clear()
            try:
                self._tick()
                self.trouble = ""
            except StoreError as error:  # tried again with the next tick
                if str(error) != self.trouble:
                    log.warning("%s", error)
                self.trouble = str(error)
            except Exception:
                log.exception("the manager goes on after an error")

    def _tick(self) -> None:
        now = time.monotonic()
        for job in [job for job in self._jobs if job.future.done()]:
            self._close_job(job)
        if self._jobs:
            self._end_stopped(now)
            if self._time_for("inspection", INSPECT, now):
                self._enforce_caps(now)
        self._hand_out()
        if self._time_for("renewal", RENEW, now):
            self._ledger.renew_lease()
        if self._time_for("sweep", SWEEP, now):
            self._ledger.sweep()

    def _time_for(self, what: str, every: float, now: float) -> bool:
        due = now - self._done.get(what, 0.0) > every
        if due:
            self._done[what] = now
        return due

    def _hand_out(self) -> None:
        """Give free workers something to do."""
        while len(self._jobs) < self.workers and (order := self._in_order(self._ledger.waiting())):
            owner, id = order[0].owner, order[0].id
            attempt = self._ledger.claim(id)
            if attempt is None:  # cancelled a moment ago
                continue
            arguments = attempt.run, attempt.replication, attempt.number
            future = self._executor.submit(replicate, self.store.database.url, *arguments)
            future.add_done_callback(lambda _: self._wake.set())
            self._served[owner] = time.monotonic()
            self._jobs.append(Job(owner, attempt, future, self._served[owner]))

    def _in_order(self, waiting: list[Waiting]) -> list[Waiting]:
        """The owners in the order in which they are served next."""
        running = Counter(job.owner for job in list(self._jobs))
        allowed = [w for w in waiting if running[w.owner] < self.limits.running_per_owner]
        return sorted(
            allowed, key=lambda w: (running[w.owner], self._served.get(w.owner, 0.0), w.id)
        )

    def _close_job(self, job: Job) -> None:
        """Write how a job ended, if its worker has not, and forget it."""
        if job.future.cancelled():
            status, reason = "interrupted", "its place in the cluster was withdrawn; resume it"
        elif error := job.future.exception():
            status, reason = job.doom or ("failed", _told(error))
        else:
            status, reason = job.future.result()
        self._ledger.end(job.attempt, status, reason)
        self._jobs.remove(job)

    def _end_stopped(self, now: float) -> None:
        """End the workers that were asked to stop and did not see it in time."""
        stopping = self._ledger.stopping()
        for job in self._jobs:
            wanted = stopping.get((job.attempt.run, job.attempt.replication))
            if wanted is None:
                continue
            job.asked = job.asked or now
            if now - job.asked > GRACE:
                self._kill(job, *wanted)

    def _enforce_caps(self, now: float) -> None:
        used = self._ledger.worker_seconds({job.attempt.run for job in self._jobs})
        for job in self._jobs:
            run = job.attempt.run
            if max(used.get(run, 0.0), now - job.began) > self.limits.seconds:
                self._ledger.stop(
                    [run],
                    "failed",
                    f"stopped: the run has used the {self.limits.seconds:,g} seconds of computing "
                    "that one run may use here; give it a smaller budget or fewer replications",
                )
            pid = self._pid(job)
            if pid is not None and megabytes(pid) > self.limits.megabytes:
                self._kill(
                    job,
                    "failed",
                    f"stopped: it needed more than the {self.limits.megabytes:,} MB of memory that "
                    "a worker may use here; use a smaller model or a smaller T",
                )

    def _pid(self, job: Job) -> int | None:
        return self._executor.pid(job.future) if self._can_kill else None

    def _kill(self, job: Job, status: str, reason: str) -> None:
        job.doom = job.doom or (status, reason)
        if self._can_kill:
            self._executor.kill(job.future)

    @property
    def _can_kill(self) -> bool:
        return isinstance(self._executor, WorkerExecutor)


def _told(error: BaseException) -> str:
    if isinstance(error, WorkerDied):
        return f"{error}; what it recorded is kept, and it can be resumed"
    return f"an error in the program, {type(error).__name__}: {error}"


Place = tuple[Executor, int, Callable[[], object]]
"""Where replications are computed, how many of them at once, and what to call in the end."""


def _executor(workers: int | None, given: Executor | None) -> Place:
    count = workers or os.cpu_count() or 1
    if not 1 <= count <= MAX_WORKERS:
        raise InputError(f"workers = {workers}: use 1 to {MAX_WORKERS} processes")
    if given is not None:
        return given, count, lambda: None
    if address := os.environ.get("FSDASH_DASK"):
        return _dask(address, workers)
    return WorkerExecutor(count), count, lambda: None


def _dask(address: str, workers: int | None) -> Place:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "FSDASH_DASK needs the package distributed: pip install distributed"
        ) from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError(f"FSDASH_DASK = {address}: no Dask scheduler answers ({error})") from None
    count = workers or max(1, sum(client.nthreads().values()))
    return client.get_executor(pure=False), count, client.close
