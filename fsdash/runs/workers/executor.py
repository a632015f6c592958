"""`Workers`, which compute tasks, and worker processes on this computer as their first form.

Why not `ProcessPoolExecutor`:

- A worker that dies fails only its own task (`WorkerDied`) and is replaced; the others continue.
  One process more than `workers` is kept ready, so the task need not wait until another process has
  started (1.3 s on an idle core, twice that on a busy one). If the system cannot start a process,
  it is tried again with growing pauses, and `problem` says why. Tasks stay in the queue meanwhile.
  A worker that was stopped by a signal is killed: it may hold a lock of the database, for which
  everybody would wait.
- Workers are separate programs, `python -m fsdash.runs.workers.program`, that read tasks and write
  rows and results as lines of JSON. `multiprocessing` would execute the main module again in each
  of them. The numbers of threads are set before a worker loads NumPy.
- `kill` ends one task at once, whatever it is doing.

A task is therefore an importable function with arguments and a result that JSON can represent. When
this process ends, even by SIGKILL, the workers' input ends, and so do the workers.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from fsdash.errors import InputError
from fsdash.runs.errors import WorkerDied
from fsdash.runs.retry import FIRST_PAUSE, pauses
from fsdash.runs.workers.processes import is_stopped
from fsdash.runs.workers.program import no_preparation

ROOT = Path(__file__).parents[3]
MAX_WORKERS = 256
MAX_RETRIES = 5
"""How often a replication is tried again whose worker has died."""
SINGLE_THREAD = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Environment variables that are set to 1 for a worker process."""
SHORT_LIFE = 5.0
"""Seconds: a worker that ends sooner, before its first task, is replaced only after a pause."""
STOPPED_CHECK = 0.25
"""Seconds between two checks whether workers were stopped by a signal."""
SPARE = 1
"""Processes beyond the number of workers, which take over when one dies; 135 MB of memory each."""
IDLE_CHECK = 1.0
"""Seconds between two checks whether an idle worker is alive."""

log = logging.getLogger(__name__)

OnRow = Callable[[dict[str, Any]], None]
Task = tuple[Future[Any], str, OnRow]
Tasks = queue.SimpleQueue[Task | None]
"""Futures with their calls as JSON and the receivers of their rows; None ends a worker."""


def check_count(workers: int) -> None:
    """Raise an error unless so many workers can be had."""
    if not 1 <= workers <= MAX_WORKERS:
        raise InputError(f"workers = {workers}: use 1 to {MAX_WORKERS} processes")


def no_row(row: dict[str, Any]) -> None:
    """Ignore a row."""


class Workers:
    """Whatever computes tasks, as the manager and `run_all` use it.

    The methods here suit workers without processes on this computer, such as a pool of threads.
    """

    on_ready: Callable[[], None] = staticmethod(lambda: None)
    """Called when the capacity may have changed."""
    problem: str = ""
    """Why some workers are missing; empty if none is."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown(wait=False)

    def capacity(self) -> int:
        """How many tasks can run at the same time now."""
        return self.workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, on_row: OnRow = no_row) -> Future[Any]:
        """Start a call of an importable function; raises `WorkerDied` if that is not possible now.

        `on_row` receives the rows that the task sends before its result, if it can send any.
        """
        raise NotImplementedError

    def shutdown(self, wait: bool = True) -> None:
        """Stop the workers; without `wait`, running tasks are killed."""

    def kill(self, future: Future[Any]) -> bool:
        """End a running task at once; False if that is not possible."""
        return False

    def pid(self, future: Future[Any]) -> int | None:
        """The process on this computer that runs a task; None if there is none."""
        return None


class WorkerExecutor(Workers):
    """A number of worker processes and a spare one, each of which is replaced when it dies.

    It does not limit how many tasks run at a time: the caller checks `capacity`. Each worker calls
    `prepare` before it counts as ready.
    """

    def __init__(
        self, workers: int, spare: int = SPARE, prepare: Callable[[], None] = no_preparation
    ) -> None:
        super().__init__(workers)
        self._tasks: Tasks = queue.SimpleQueue()
        self._closing = threading.Event()
        self._slots: list[_Slot] = []
        for i in range(workers + spare):
            self._slots.append(_Slot(self._tasks, f"slot-{i}", self._changed, prepare))
        threading.Thread(target=self._watch, name="stopped workers", daemon=True).start()
        self._changed()

    def _watch(self) -> None:
        """Kill the workers that were stopped by a signal; needs no database."""
        while not self._closing.wait(STOPPED_CHECK):
            for slot in self._slots:
                with suppress(OSError):  # no more open files; the next check looks again
                    slot.kill_if_stopped()

    def _changed(self) -> None:
        """Called by a slot whose worker is ready, or cannot be started."""
        self.problem = next((slot.problem for slot in self._slots if slot.problem), "")
        self.on_ready()

    def capacity(self) -> int:
        """The number of workers that are ready for a task or have one, without the spare one."""
        return min(self.workers, sum(slot.is_ready for slot in self._slots))

    def submit(self, fn: Callable[..., Any], /, *args: Any, on_row: OnRow = no_row) -> Future[Any]:
        """Queue a call of an importable function with arguments that JSON can represent."""
        if self._closing.is_set():
            raise RuntimeError("the workers are being shut down")
        future: Future[Any] = Future()
        self._tasks.put((future, _as_line(fn, *args), on_row))
        return future

    def kill(self, future: Future[Any]) -> bool:
        """Kill the worker of a running task, which then fails with `WorkerDied`."""
        return any([slot.kill(future) for slot in self._slots])

    def pid(self, future: Future[Any]) -> int | None:
        """The process that runs a task; None if none does."""
        return next((slot.pid for slot in self._slots if slot.future is future), None)

    def shutdown(self, wait: bool = True) -> None:
        self._closing.set()
        if not wait:
            self._cancel_queued()
        for _ in self._slots:
            self._tasks.put(None)
        for slot in self._slots:
            slot.close(wait)
        self._cancel_queued()  # no worker is left to carry them out

    def _cancel_queued(self) -> None:
        with suppress(queue.Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None:
                    task[0].cancel()


class _Slot:
    """One worker process, and the thread that communicates with it."""

    def __init__(
        self,
        tasks: Tasks,
        name: str,
        changed: Callable[[], None],
        prepare: Callable[[], None],
    ) -> None:
        self.future: Future[Any] | None = None
        self.problem = ""
        """Why its worker cannot be started."""
        self._tasks, self._changed, self._lock = tasks, changed, threading.Lock()
        self._first_line = _as_line(prepare)
        self._process: subprocess.Popen[str] | None = None
        self._pauses, self._started, self._next_start = pauses(), 0.0, 0.0
        self._ready = self._used = self._was_stopped = False
        self._closing, self._tried = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()
        self._tried.wait()

    @property
    def pid(self) -> int | None:
        """The worker's process; None if it is dead."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def is_ready(self) -> bool:
        """Whether the worker lives and has loaded what it needs."""
        return self._ready and self.pid is not None

    def kill(self, future: Future[Any]) -> bool:
        with self._lock:
            if self.future is not future or self._process is None:
                return False
            self._process.kill()
            self._process.wait()
            return True

    def kill_if_stopped(self) -> None:
        pid = self.pid
        if pid is not None and is_stopped(pid):
            with self._lock:
                if self._process is not None and self._process.pid == pid:
                    self._was_stopped = True
                    self._process.kill()

    def close(self, wait: bool) -> None:
        self._closing.set()
        with self._lock:
            if not wait and self._process is not None:
                self._process.kill()
        self._thread.join()

    def _serve(self) -> None:
        self._restart()
        self._tried.set()
        while not (self._closing.is_set() and self.pid is None):
            if self.pid is None and not self._restart():
                self._closing.wait(FIRST_PAUSE)
                continue
            if not self._ready and not self._prepare():
                continue
            try:
                task = self._tasks.get(timeout=IDLE_CHECK)
            except queue.Empty:
                continue
            if task is None:
                break
            if self.pid is None:  # it died idle: a living worker takes the task
                self._tasks.put(task)
            elif task[0].set_running_or_notify_cancel():
                self._carry_out(*task)
        if self._process is not None:
            _close_worker(self._process)

    def _prepare(self) -> bool:
        """Wait until the worker has loaded what it needs; False if it died meanwhile."""
        assert self._process is not None
        self._ready = bool(_answer(self._process, self._first_line))
        if self._ready:
            self.problem = ""
            self._changed()
        else:
            self._process.wait()
        return self._ready

    def _carry_out(self, future: Future[Any], line: str, on_row: OnRow) -> None:
        assert self._process is not None
        with self._lock:
            self.future, self._used = future, True
        answer = _answer(self._process, line, on_row)
        with self._lock:
            self.future = None
        if "result" in answer:
            future.set_result(answer["result"])
        elif "failure" in answer:
            future.set_exception(RuntimeError(answer["failure"]))
        else:
            death = _cause_of_death(self._process)
            death = "was stopped by a signal" if self._was_stopped else death
            future.set_exception(WorkerDied(f"its worker process {death}"))

    def _restart(self) -> bool:
        """Start a worker in place of the dead one; False if it has to wait.

        Only this slot's thread does it: on Linux a worker ends with the thread that started it.
        """
        now = time.monotonic()
        with self._lock:
            if self._process is not None:
                _close_worker(self._process)
                code, self._process = self._process.returncode, None
                if not self._used and now - self._started < SHORT_LIFE:
                    self._postpone(f"a worker process ended with exit code {code} when it started")
                else:
                    self._pauses = pauses()
            if self._closing.is_set() or now < self._next_start:
                return False
            try:
                self._process, self._started = _start_worker(), now
                self._ready = self._used = self._was_stopped = False
            except OSError as error:
                self._postpone(f"a worker process cannot be started ({error.strerror})")
                return False
        return True

    def _postpone(self, problem: str) -> None:
        """Wait before the next attempt to start a worker, each time for longer."""
        if not self.problem:
            log.warning("%s", problem)
        self.problem = f"{problem}; it is tried again"
        self._changed()
        self._next_start = time.monotonic() + next(self._pauses)


def _as_line(fn: Callable[..., Any], *args: Any) -> str:
    """A call as a worker reads it."""
    name = f"{fn.__module__}:{fn.__qualname__}"
    if fn.__module__ == "__main__" or "<" in name:
        raise ValueError(f"{name}: a worker cannot import it; move it to a module")
    return json.dumps({"call": name, "arguments": args})


def _start_worker() -> subprocess.Popen[str]:
    environment = os.environ | dict.fromkeys(SINGLE_THREAD, "1") | {"OMP_WAIT_POLICY": "passive"}
    # A module of the user's is found where this process finds it.
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-m", "fsdash.runs.workers.program"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,  # so that Ctrl-C in the terminal reaches this process only
    )


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    """A worker's input and output."""
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _answer(process: subprocess.Popen[str], line: str, on_row: OnRow = no_row) -> dict[str, Any]:
    """The worker's answer to a task, after its rows; empty if it died."""
    tasks, answers = _pipes(process)
    with suppress(OSError):
        tasks.write(line + "\n")
        tasks.flush()
        while (text := answers.readline()).endswith("\n"):
            answer: dict[str, Any] = json.loads(text)
            if "row" not in answer:
                return answer
            on_row(answer["row"])
    return {}


def _cause_of_death(process: subprocess.Popen[str]) -> str:
    code = process.wait()
    if code >= 0:
        return f"ended with exit code {code}; see its log"
    names = {number.value: number.name for number in signal.Signals}
    name = names.get(-code, f"signal {-code}")  # most real-time signals have no name
    why = ", possibly by the system because memory ran out" if name == "SIGKILL" else ""
    return f"was killed by {name}{why}"


def _close_worker(process: subprocess.Popen[str]) -> None:
    """Close the pipes, which ends a living worker, and wait for it."""
    for pipe in _pipes(process):
        with suppress(OSError):  # a dead worker did not read everything
            pipe.close()
    process.wait()
