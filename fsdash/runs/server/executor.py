"""Worker processes behind the `concurrent.futures.Executor` interface.

Why not `ProcessPoolExecutor`:

- A worker that dies fails only its own task (`WorkerDied`) and is replaced; the others continue.
- Workers are separate programs, `python -m fsdash.runs.server.worker`, that read tasks and write
  results as lines of JSON. `multiprocessing` would execute the server's main module again in each
  of them. The numbers of threads are set before a worker loads NumPy.
- `kill` ends one task at once, whatever it is doing.

A task is therefore an importable function with arguments and a result that JSON can represent. When
the server ends, even by SIGKILL, the workers' input ends, and so do the workers.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from fsdash.runs.errors import WorkerDied
from fsdash.runs.local import SINGLE_THREAD

ROOT = Path(__file__).parents[3]

Task = tuple[Future[Any], str]
Tasks = queue.SimpleQueue[Task | None]
"""Futures with their calls as JSON; None ends a worker."""


class WorkerExecutor(Executor):
    """A fixed number of worker processes, each of which is replaced when it dies."""

    def __init__(self, workers: int) -> None:
        self._tasks: Tasks = queue.SimpleQueue()
        self._closing = False
        self._slots = [_Slot(self._tasks, f"slot-{i}") for i in range(workers)]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a call of an importable function with arguments that JSON can represent."""
        if self._closing:
            raise RuntimeError("the workers are being shut down")
        name = f"{fn.__module__}:{fn.__qualname__}"
        if fn.__module__ == "__main__" or "<" in name:
            raise ValueError(f"{name}: a worker cannot import it; move it to a module")
        if kwargs:
            raise ValueError(f"{name}: give the arguments by position, not by name")
        future: Future[Any] = Future()
        self._tasks.put((future, json.dumps({"call": name, "arguments": args})))
        return future

    def kill(self, future: Future[Any]) -> bool:
        """Kill the worker of a running task, which then fails with `WorkerDied`."""
        return any([slot.kill(future) for slot in self._slots])

    def pid(self, future: Future[Any]) -> int | None:
        """The process that runs a task; None if none does."""
        return next((slot.pid for slot in self._slots if slot.future is future), None)

    def pids(self) -> list[int]:
        """The processes of all workers."""
        return [slot.pid for slot in self._slots]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the workers; without `wait`, running tasks are killed."""
        self._closing = True
        while cancel_futures or not wait:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if task is not None:
                task[0].cancel()
        for _ in self._slots:
            self._tasks.put(None)
        for slot in self._slots:
            slot.close(wait)


class _Slot:
    """One worker process, and the thread that communicates with it."""

    def __init__(self, tasks: Tasks, name: str) -> None:
        self.future: Future[Any] | None = None
        self._tasks, self._lock = tasks, threading.Lock()
        self._process = _start_worker()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self, future: Future[Any]) -> bool:
        with self._lock:
            if self.future is not future:
                return False
            self._process.kill()
            self._process.wait()
            return True

    def close(self, wait: bool) -> None:
        if not wait:
            self._process.kill()
        self._thread.join()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, line = task
            if not future.set_running_or_notify_cancel():
                continue
            with self._lock:
                if self._process.poll() is not None:
                    _close_worker(self._process)
                    self._process = _start_worker()
                self.future = future
            answer = _answer(self._process, line)
            with self._lock:
                self.future = None
            if "result" in answer:
                future.set_result(answer["result"])
            elif "failure" in answer:
                future.set_exception(RuntimeError(answer["failure"]))
            else:
                death = _cause_of_death(self._process)
                future.set_exception(WorkerDied(f"its worker process {death}"))
        _close_worker(self._process)


def _start_worker() -> subprocess.Popen[str]:
    environment = os.environ | dict.fromkeys(SINGLE_THREAD, "1") | {"OMP_WAIT_POLICY": "passive"}
    path = [str(ROOT), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return subprocess.Popen(
        [sys.executable, "-m", "fsdash.runs.server.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,  # so that Ctrl-C in the terminal reaches the server only
    )


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    """A worker's input and output."""
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _answer(process: subprocess.Popen[str], line: str) -> dict[str, Any]:
    """The worker's answer to a task; empty if it died."""
    tasks, answers = _pipes(process)
    try:
        tasks.write(line + "\n")
        tasks.flush()
        answer = answers.readline()
    except OSError:
        answer = ""
    return json.loads(answer) if answer.endswith("\n") else {}


def _cause_of_death(process: subprocess.Popen[str]) -> str:
    code = process.wait()
    if code >= 0:
        return f"ended with exit code {code}; see the server's log"
    name = signal.Signals(-code).name
    why = ", possibly by the system because memory ran out" if name == "SIGKILL" else ""
    return f"was killed by {name}{why}"


def _close_worker(process: subprocess.Popen[str]) -> None:
    """Close the pipes, which ends a living worker, and wait for it."""
    for pipe in _pipes(process):
        with suppress(OSError):  # a dead worker did not read everything
            pipe.close()
    process.wait()
