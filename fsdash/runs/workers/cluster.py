"""A Dask cluster as `Workers`.

The connection is watched by a thread of its own. When the scheduler has gone, all running tasks
fail with `WorkerDied`, `problem` says so, and the thread connects again with growing pauses until
the scheduler is back. The caller submits the failed tasks again. A cluster without workers has the
capacity 0: nothing is submitted to it.

Dask notices at once that a worker has died, and gives its task to another one. It waits for minutes
for a worker that was stopped by a signal or cannot be reached. Here such a worker counts as dead
after `SILENT_SECONDS` without a heartbeat to the scheduler: its tasks fail with `WorkerDied`, and
new ones go to other workers until it returns.

All connections share one event loop. A client of Dask that fails to connect leaves its own loop
behind, with a thread and open files; a scheduler that is away for a day would exhaust the server.

A task on a cluster cannot be killed. `kill` withdraws it from the scheduler and returns False; the
manager then ends its attempt in the database, and the worker stops at its next write.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fsdash.errors import InputError
from fsdash.runs.errors import WorkerDied
from fsdash.runs.retry import pauses
from fsdash.runs.workers.executor import OnRow, Workers, no_row

if TYPE_CHECKING:
    from tornado.ioloop import IOLoop

CONNECT_TIMEOUT = 10.0
CONNECT_ERRORS = (OSError, ValueError, ImportError)
"""No answer, an address that cannot be one, or a scheduler with other versions."""
CHECK_INTERVAL, CLOSE_TIMEOUT = 0.5, 2.0
SILENT_SECONDS = 10.0
"""Seconds without a heartbeat after which a worker counts as dead. Workers send one every 0.5 to 2
seconds (in a cluster of up to 400 workers), from a separate thread."""
LATE_ANSWER = 2.0
"""Seconds between two answers of the scheduler above which silent workers do not count as dead."""
SCHEDULER_GONE = "the scheduler of the Dask cluster does not answer"
NO_WORKERS = "the Dask cluster has no workers"

log = logging.getLogger(__name__)


class DaskWorkers(Workers):
    """The workers of the Dask cluster at an address, at most `workers` tasks at a time."""

    def __init__(self, address: str, workers: int | None = None) -> None:
        self.address, self.most = address, workers
        self._tasks: dict[Future[Any], Any] = {}
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._threads, self._answered = 0, 0.0
        self._heartbeats: dict[str, tuple[float, float]] = {}
        """By worker: its last heartbeat by the scheduler's clock, and when it was noticed here."""
        self._silent: set[str] = set()
        self._check_installed()
        self._loop = LoopThread()
        try:
            self._client = self._connect()
        except CONNECT_ERRORS as error:
            self._loop.close()
            raise InputError(
                f"{address}: no Dask scheduler answers ({error}); start one with `dask scheduler`, "
                "or correct the address"
            ) from None
        self._count_threads()
        super().__init__(workers or max(1, self._threads))
        self._thread = threading.Thread(target=self._watch, name="dask", daemon=True)
        self._thread.start()

    def capacity(self) -> int:
        """Threads of all connected workers, at most as many as the server may use."""
        return self._threads if self.most is None else min(self._threads, self.most)

    def submit(self, fn: Callable[..., Any], /, *args: Any, on_row: OnRow = no_row) -> Future[Any]:
        """Submit a call; raises `WorkerDied` while there is no connection. It sends no rows."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._client.status != "running":
                raise WorkerDied(SCHEDULER_GONE)
            chosen = list(set(self._heartbeats) - self._silent) if self._silent else None
            task = self._client.submit(fn, *args, pure=False, workers=chosen)
            self._tasks[future] = task
        task.add_done_callback(lambda done: self._finish(future, done))
        return future

    def kill(self, future: Future[Any]) -> bool:
        """Withdraw a task from the scheduler. Its worker may still be busy with it."""
        self._withdraw(future)
        return False

    def _withdraw(self, future: Future[Any]) -> bool:
        """Give a task up; False if it has ended already."""
        with self._lock:
            task = self._tasks.pop(future, None)
        if task is None:
            return False
        if task.client.status == "running":  # without a scheduler there is nothing to withdraw
            task.client.loop.add_callback(task.cancel, asynchronous=True)
        return True

    def shutdown(self, wait: bool = True) -> None:
        """Close the connection; the cluster stays."""
        self._closing.set()
        self._thread.join()
        with suppress(OSError):  # the scheduler does not answer
            self._client.close(timeout=CLOSE_TIMEOUT)
        self._loop.close()

    def _finish(self, future: Future[Any], task: Any) -> None:
        """Hand the result of a task to its future, unless the future was given up before."""
        with self._lock:
            if self._tasks.pop(future, None) is None:
                return
        try:
            if task.status == "finished":
                future.set_result(task.result(timeout=CONNECT_TIMEOUT))
            elif task.status == "error":
                error = task.exception(timeout=CONNECT_TIMEOUT)
                killed = type(error).__name__ == "KilledWorker"
                future.set_exception(WorkerDied(str(error)) if killed else error)
            else:
                future.set_exception(WorkerDied(f"the cluster has {task.status} its task"))
        except Exception as error:  # such as a lost connection; in any case the task has ended
            future.set_exception(WorkerDied(f"its result was lost ({error})"))

    # The thread that watches the connection

    def _watch(self) -> None:
        while not self._closing.wait(CHECK_INTERVAL):
            try:
                self._check()
            except Exception as error:  # nobody else would connect again
                self._threads = 0
                problem = f"the Dask cluster cannot be checked ({type(error).__name__}: {error})"
                if problem != self.problem:
                    log.exception("%s", problem)
                self.problem = problem

    def _check(self) -> None:
        status = self._client.status
        if status == "running":
            before = self._threads
            answers = self._count_threads()
            self._report((NO_WORKERS, "")[self._threads > 0] if answers else SCHEDULER_GONE)
            if self._threads > before:
                self.on_ready()
        else:
            self._threads = 0
            self._report(SCHEDULER_GONE)
            if status == "closed":
                self._reconnect()

    def _count_threads(self) -> bool:
        """Ask for the threads of all workers; False if the scheduler does not answer in time."""
        client = self._client
        scheduler = client.scheduler
        if scheduler is None:  # the connection was closed a moment ago
            self._threads = 0
            return False
        try:
            about = client.sync(scheduler.identity, callback_timeout=CONNECT_TIMEOUT)
            workers = about["workers"]
            self._find_silent({name: worker["last_seen"] for name, worker in workers.items()})
            if self._silent:
                busy = client.sync(
                    scheduler.processing,
                    workers=list(self._silent),
                    callback_timeout=CONNECT_TIMEOUT,
                )
                self._give_up({key for keys in busy.values() for key in keys})
        except OSError:  # also lost connections and timeouts; the next check tries again
            self._threads = 0
            return False
        awake = workers.keys() - self._silent
        self._threads = sum(workers[name]["nthreads"] for name in awake)
        return True

    def _find_silent(self, heartbeats: dict[str, float]) -> None:
        """Compare the workers' last heartbeats with those of the check before."""
        now, before = time.monotonic(), self._heartbeats
        if now - self._answered > LATE_ANSWER:
            before = {}
        same = {name for name, beat in heartbeats.items() if before.get(name, (None,))[0] == beat}
        self._heartbeats = {
            name: before[name] if name in same else (beat, now) for name, beat in heartbeats.items()
        }
        self._answered = now
        with self._lock:
            self._silent = {n for n, (_, t) in self._heartbeats.items() if now - t > SILENT_SECONDS}

    def _give_up(self, keys: set[str]) -> None:
        """Let tasks fail that silent workers have."""
        with self._lock:
            lost = [future for future, task in self._tasks.items() if task.key in keys]
        for future in lost:
            if self._withdraw(future):
                future.set_exception(WorkerDied("its worker no longer answers"))

    def _reconnect(self) -> None:
        """Give up the tasks of the lost scheduler, and connect to the next one."""
        with self._lock:
            lost, self._tasks = self._tasks, {}
        for future in lost:
            future.set_exception(WorkerDied(SCHEDULER_GONE))
        for pause in pauses():
            if self._closing.wait(pause):
                return
            try:
                client = self._connect()
            except CONNECT_ERRORS:
                continue
            with self._lock:
                self._client = client
            log.warning("connected to the Dask cluster at %s again", self.address)
            self._count_threads()
            self.on_ready()
            return

    def _connect(self) -> Any:
        from distributed import Client

        return Client(
            self.address, timeout=CONNECT_TIMEOUT, set_as_default=False, loop=self._loop.loop
        )

    @staticmethod
    def _check_installed() -> None:
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise InputError(
                "a Dask cluster needs the package distributed; install it with: "
                'pip install "fsdash[cluster]"'
            ) from None

    def _report(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("%s (%s)", problem, self.address)
        self.problem = problem


class LoopThread:
    """An event loop that runs in a thread of its own."""

    def __init__(self) -> None:
        self._asyncio = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._asyncio.run_forever, name="dask loop", daemon=True
        )
        self._thread.start()
        self.loop: IOLoop = asyncio.run_coroutine_threadsafe(
            _current_loop(), self._asyncio
        ).result()

    def close(self) -> None:
        """Cancel what is left on the loop, and end it."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._asyncio).result(CLOSE_TIMEOUT)
        self._asyncio.call_soon_threadsafe(self._asyncio.stop)
        self._thread.join()
        self._asyncio.close()


async def _current_loop() -> IOLoop:
    from tornado.ioloop import IOLoop

    return IOLoop.current()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
