"""Runs experiments in worker processes and shares the workers fairly between owners.

    with Manager(Store()) as manager:
        id = manager.submit("me", "T=6 against Base E-VI", [spec, other])
        manager.queue("me")
        manager.pause(id), manager.resume(id), manager.cancel(id)

One thread gives replications to the workers (`sharing`) and watches them. The state of all work is
in the database (`work_queue`); the manager only remembers which worker computes what. So a second
server can use the same database, and another one can take over after this one was killed: it
continues the abandoned work with the same numbers.

Workers notice a request to stop between two snapshots. If a snapshot takes longer than
`STOP_TIMEOUT`, the worker is killed and replaced. Limits on time and memory work in the same way.
A worker that neither renews its heartbeat nor computes is killed too, and its replication is queued
again (`WorkQueue.retry`).

With `FSDASH_DASK`, replications run on the Dask cluster at that address. Its workers need fsdash
and access to the database (`FSDASH_DATABASE_URL`). A request to stop ends the attempt in the
database at once; its worker notices it between two snapshots. Dask limits the memory.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from fsdash.errors import InputError
from fsdash.runs.errors import StoreError, WorkerDied
from fsdash.runs.limits import Limits, Quota
from fsdash.runs.server.sharing import Job, in_order, who_gives_way
from fsdash.runs.server.work_queue import RESUMABLE_REASON, OwnerQueue, WorkQueue
from fsdash.runs.server.worker import replicate, warm_up
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.attempts import Attempt
from fsdash.runs.store.experiments import Store
from fsdash.runs.workers.executor import WorkerExecutor, Workers, check_count
from fsdash.runs.workers.processes import cpu_seconds, memory_megabytes

BUSY_INTERVAL, IDLE_INTERVAL = 0.25, 1.0
"""Seconds between two checks, with and without running replications. Events at this server cause a
check at once; these intervals are for the requests of other servers and for `STOP_TIMEOUT`."""
STOP_TIMEOUT = 0.5
"""Seconds from a request to stop until the worker is killed."""
LEASE_INTERVAL, ABANDONED_INTERVAL, LIMITS_INTERVAL = 5.0, 10.0, 1.0
"""Seconds between renewals of the lease, searches for abandoned work, checks of the workers."""
SHARING_INTERVAL = 0.5
"""Seconds between two checks whether somebody should give way to others."""
LOST_INTERVAL, LOST_SECONDS = 5.0, 1.0
"""Seconds between two searches for lost claims, and of their age. Only this thread claims, so what
has no job has been lost."""
SILENT_SECONDS = 45.0
"""Seconds without a heartbeat and without computing after which a worker counts as dead."""
SILENT_CPU_SECONDS = 0.2
"""Processor time that a silent worker may use meanwhile."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueueStatus:
    """The queue of a server as one owner sees it, in replications."""

    mine: int
    running: int
    total: int
    total_running: int
    ahead: int
    """Number of other owners that are served before this one's next replication."""


class Manager:
    """Runs the experiments of one server; its methods may be called from any thread."""

    def __init__(
        self,
        store: Store,
        workers: int | None = None,
        *,
        limits: Limits | None = None,
        executor: Workers | None = None,
    ) -> None:
        self.store, self.limits = store, limits or Limits()
        self._logged = ""
        self.store_error = ""
        """Why the store cannot be used at the moment; empty while it can."""
        self._internal_error = ""
        self._executor = executor or _workers(workers)
        self._queue = WorkQueue(store.database)
        try:
            self._queue.open_lease()
            self._queue.recover_abandoned()
        except StoreError:  # whoever tries again starts new workers
            self._executor.shutdown(wait=False)
            raise
        self._generation = store.database.generation
        self._jobs: list[Job] = []
        self._last_served: dict[str, float] = {}
        self._quota = Quota(
            "queued replications", "start fewer replications, or wait until some have finished"
        )
        self._last_done: dict[str, float] = {}
        self._wake, self._closing = threading.Event(), False
        self._executor.on_ready = self._wake.set
        self._admitting = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="manager", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def workers(self) -> int:
        """The number of workers when all of them run."""
        return self._executor.workers

    @property
    def ready_workers(self) -> int:
        """The number of workers that are ready for a replication or have one."""
        return self._executor.capacity()

    @property
    def problem(self) -> str:
        """Why work does not go on at the moment; empty while it does."""
        return self.store_error or self._internal_error or self._executor.problem

    # Requests of pages

    def submit(self, owner: str, name: str, specs: Sequence[RunSpec], address: str = "") -> str:
        """Queue an experiment and return its id; raises `QueueFull` beyond the limits.

        `address` is the owner's network address: a visitor can have many names, but few addresses.
        """
        with self._admitting:
            self._admit(owner, address, sum(spec.replications for spec in specs))
            server = self._queue.server
            id = self.store.add_experiment(owner, name, specs, status="queued", server=server)
        self._wake.set()
        return id

    def cancel(self, chosen: str | int) -> None:
        """End an experiment (its id) or a run (its number); the stored rows stay."""
        self._stop(chosen, "cancelled", "cancelled by request")

    def pause(self, chosen: str | int) -> None:
        """Release the workers of an experiment or a run until it is resumed."""
        self._stop(chosen, "paused", "paused by request")

    def resume(self, chosen: str | int, address: str = "") -> int:
        """Continue what is paused, interrupted, failed or cancelled.

        `address` is the owner's network address, as for `submit`. Returns the number of
        replications that were queued.
        """
        run_ids = self.store.run_ids(chosen)
        with self._admitting:
            runs = [self.store.run(id) for id in run_ids]
            owner = self.store.experiment(runs[0].experiment).owner
            self._admit(owner, address, sum(len(run.resumable) for run in runs))
            count = self._queue.enqueue(run_ids)
        self._wake.set()
        return count

    def queue(self, owner: str) -> QueueStatus:
        """The state of the queue for an owner."""
        waiting, jobs = self._queue.waiting(), list(self._jobs)
        queued = {q.owner: q.queued for q in waiting}
        order = [q.owner for q in self._in_order(waiting)]
        return QueueStatus(
            mine=queued.get(owner, 0),
            running=sum(job.owner == owner for job in jobs),
            total=sum(queued.values()),
            total_running=len(jobs),
            ahead=order.index(owner) if owner in order else 0,
        )

    def close(self) -> None:
        """Stop the workers; unfinished replications are marked interrupted."""
        if self._closing:
            return
        self._closing = True
        atexit.unregister(self.close)
        self._wake.set()
        self._thread.join()
        self._executor.shutdown(wait=False)
        try:
            self._queue.close_lease(f"the server was stopped; {RESUMABLE_REASON}")
        except StoreError as error:  # the next server marks the work as interrupted
            log.warning("%s", error)

    def _stop(self, chosen: str | int, status: str, reason: str) -> None:
        self._queue.request_stop(self.store.run_ids(chosen), status, reason)
        self._wake.set()

    def _admit(self, owner: str, address: str, more: int) -> None:
        queued = {q.owner: q.queued for q in self._queue.waiting()}
        most = self.limits
        each = most.queued_per_owner, most.queued_per_address, most.queued
        self._quota.check(owner, address, queued, each, more)

    # The manager's thread

    def _serve(self) -> None:
        while not self._closing:
            self._wake.wait(BUSY_INTERVAL if self._jobs else IDLE_INTERVAL)
            self._wake.clear()
            try:
                self._check()
                self.store_error = self._internal_error = ""
            except StoreError as error:  # tried again at the next check
                if str(error) != self.store_error:
                    log.warning("%s", error)
                self.store_error = str(error)
            except Exception as error:
                if repr(error) != self._logged:  # the same error may return at every check
                    log.exception("the manager continues after an error")
                self._logged = repr(error)
                kind = type(error).__name__
                self._internal_error = f"the server has an internal error ({kind}: {error})"

    def _check(self) -> None:
        now = time.monotonic()
        if self._is_due("lease", LEASE_INTERVAL, now):
            self._queue.renew_lease()
        if self.store.database.generation != self._generation:
            self._start_with_another_store()
        for job in [job for job in self._jobs if job.future.done()]:
            self._finish(job)
        if self._jobs:
            self._kill_unresponsive(now)
            if self._is_due("limits", LIMITS_INTERVAL, now):
                self._enforce_limits(now)
                self._end_silent(now)
        self._assign_work()
        if self._is_due("abandoned", ABANDONED_INTERVAL, now):
            self._queue.recover_abandoned()
        if self._is_due("lost", LOST_INTERVAL, now):
            self._retry_lost_claims()

    def _start_with_another_store(self) -> None:
        """The file was deleted or replaced: what runs belongs to a store that is gone."""
        for job in self._jobs:
            self._executor.kill(job.future)
            job.future.cancel()
        self._jobs.clear()
        self._queue.renew_lease()
        self._generation = self.store.database.generation

    def _is_due(self, task: str, interval: float, now: float) -> bool:
        due = now - self._last_done.get(task, 0.0) > interval
        if due:
            self._last_done[task] = now
        return due

    def _assign_work(self) -> None:
        """Give queued replications to the free workers; if there is none, share them."""
        free = self.ready_workers - len(self._jobs)
        if free <= 0 and not self._is_due("sharing", SHARING_INTERVAL, time.monotonic()):
            return
        waiting = self._queue.waiting()
        for _ in range(free):
            if not (order := self._in_order(waiting)):
                return
            owner, id = order[0].owner, order[0].next_id
            if attempt := self._queue.claim(id):  # None if it was cancelled a moment ago
                self._hand_out(owner, attempt)
            waiting = self._queue.waiting()
        for job in who_gives_way(waiting, self._jobs, time.monotonic()):
            self._queue.ask_to_give_way(job.attempt)
            job.gives_way = True

    def _hand_out(self, owner: str, attempt: Attempt) -> None:
        """Give a claimed replication to a worker."""
        arguments = attempt.run, attempt.replication, attempt.number
        try:
            future = self._executor.submit(replicate, self.store.url, *arguments)
        except Exception:
            self._queue.release(attempt)
            raise
        future.add_done_callback(lambda _: self._wake.set())
        self._last_served[owner] = time.monotonic()
        self._jobs.append(Job(owner, attempt, future, self._last_served[owner]))

    def _retry_lost_claims(self) -> None:
        """Queue again what was claimed, but has no job: the store failed before it had one."""
        attempts = {job.attempt for job in self._jobs}
        for attempt in self._queue.silent(LOST_SECONDS) - attempts:
            self._queue.retry(attempt, "no worker has received it")

    def _in_order(self, waiting: list[OwnerQueue]) -> list[OwnerQueue]:
        """The owners in the order in which they are served next."""
        most = self.limits.running_per_owner
        return in_order(waiting, list(self._jobs), self._last_served, most, time.monotonic())

    def _finish(self, job: Job) -> None:
        """Store how a job ended, if its worker has not, and forget the job."""
        job.future.cancel()
        if job.forced_end:
            status, reason = job.forced_end
        elif job.future.cancelled():
            status, reason = "interrupted", "its task was cancelled"
        elif error := job.future.exception():
            status, reason = _ending(error)
        else:
            status, reason = job.future.result()
        if status == "interrupted":
            self._queue.retry(job.attempt, reason)
        else:
            self._queue.end(job.attempt, status, reason)
        self._jobs.remove(job)

    def _kill_unresponsive(self, now: float) -> None:
        """Kill the workers that were asked to stop and have not done so in time."""
        requests = self._queue.stop_requests()
        for job in list(self._jobs):
            requested = requests.get((job.attempt.run, job.attempt.replication))
            if requested is None:
                continue
            job.stop_seen = job.stop_seen or now
            if now - job.stop_seen > STOP_TIMEOUT:
                self._kill(job, *requested)

    def _enforce_limits(self, now: float) -> None:
        used = self._queue.worker_seconds({job.attempt.run for job in self._jobs})
        for job in list(self._jobs):
            run = job.attempt.run
            if max(used.get(run, 0.0), now - job.began) > self.limits.seconds:
                self._queue.request_stop(
                    [run],
                    "failed",
                    f"stopped: the run has used {self.limits.seconds:,g} seconds of computing "
                    "time, the limit for one run; give it a smaller budget or fewer replications",
                )
            pid = self._executor.pid(job.future)
            if pid is not None and memory_megabytes(pid) > self.limits.megabytes:
                self._kill(
                    job,
                    "failed",
                    f"stopped: it used more than {self.limits.megabytes:,} MB of memory, the limit "
                    "for one worker; use a smaller model or a smaller T",
                )

    def _end_silent(self, now: float) -> None:
        """Kill the workers that neither report nor compute."""
        silent = self._queue.silent(SILENT_SECONDS)
        for job in list(self._jobs):
            pid = self._executor.pid(job.future)
            if job.attempt not in silent:
                job.silent_since = None
            elif pid is None:
                self._kill(job, "interrupted", "its worker no longer answers")
            else:
                used = cpu_seconds(pid)
                since, used_before = job.silent_since or (now, used)
                if used - used_before > SILENT_CPU_SECONDS:  # a long snapshot
                    since, used_before = now, used
                job.silent_since = since, used_before
                if now - since > SILENT_SECONDS:
                    self._kill(job, "interrupted", "its worker process no longer answers")

    def _kill(self, job: Job, status: str, reason: str) -> None:
        """End a job at once, even where the worker cannot be killed, as on a cluster."""
        job.forced_end = job.forced_end or (status, reason)
        if not self._executor.kill(job.future):
            self._finish(job)


def _ending(error: BaseException) -> tuple[str, str]:
    """Status and reason of a replication whose task failed."""
    if isinstance(error, WorkerDied):
        return "interrupted", str(error)
    return "failed", f"internal error, {type(error).__name__}: {error}"


def _workers(workers: int | None) -> Workers:
    if workers is None and (text := os.environ.get("FSDASH_WORKERS")):
        if not text.isdecimal():
            raise InputError(f"FSDASH_WORKERS = {text}: give a whole number of processes")
        workers = int(text)
    count = (os.cpu_count() or 1) if workers is None else workers
    check_count(count)
    if address := os.environ.get("FSDASH_DASK"):
        from fsdash.runs.workers.cluster import DaskWorkers

        return DaskWorkers(address, workers)
    return WorkerExecutor(count, prepare=warm_up)
