"""Worker processes behind the `concurrent.futures.Executor` interface, each of which may die.

Differences to `ProcessPoolExecutor`, and why there is this one:

- A worker that dies fails its own task (`WorkerDied`) and is replaced; the others go on.
- Workers are programs of their own, `python -m fsdash.runs.server.worker`, that read tasks and write
  results as lines of JSON. Nothing of the server's main module is run again in them, as it would
  be with `multiprocessing`; the numbers of threads are set before NumPy is loaded.
- `kill` ends one task at once, whatever it is doing.

So a task is a function that can be imported, with arguments and a result that are plain data. When
the server ends, even by SIGKILL, the workers read the end of their input and end too.
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

from fsdash.runs.errors import WorkerDied
from fsdash.runs.local import ONE_THREAD

ROOT = Path(__file__).parents[3]
CLOSING = None


class WorkerExecutor(Executor):
    """A fixed number of worker processes, started at once and again when one has died."""

    def __init__(self, workers: int) -> None:
        self._tasks: queue.SimpleQueue = queue.SimpleQueue()
        self._closing = False
        self._slots = [_Slot(self._tasks, f"slot-{i}") for i in range(workers)]

    def submit(self, fn: Callable, /, *args: object) -> Future:
        if self._closing:
            raise RuntimeError("the workers are being shut down")
        name = f"{fn.__module__}:{fn.__qualname__}"
        if fn.__module__ == "__main__" or "<" in name:
            raise ValueError(f"{name}: a worker cannot import it; put it into a module")
        future: Future = Future()
        self._tasks.put((future, json.dumps({"call": name, "arguments": args})))
        return future

    def kill(self, future: Future) -> bool:
        """End the worker of a running task, which then fails with `WorkerDied`."""
        return any([slot.kill(future) for slot in self._slots])

    def pid(self, future: Future) -> int | None:
        """The process that works on a task now."""
        return next((slot.pid for slot in self._slots if slot.future is future), None)

    def pids(self) -> list[int]:
        return [slot.pid for slot in self._slots]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Without `wait` running tasks are ended at once."""
        self._closing = True
        while cancel_futures or not wait:
            try:
                self._tasks.get_nowait()[0].cancel()
            except queue.Empty:
                break
        for _ in self._slots:
            self._tasks.put(CLOSING)
        for slot in self._slots:
            slot.close(wait)


class _Slot:
    """One worker process, and the thread that speaks with it."""

    def __init__(self, tasks: queue.SimpleQueue, name: str) -> None:
        self.future: Future | None = None
        self._tasks, self._lock = tasks, threading.Lock()
        self._process = _started()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self, future: Future) -> bool:
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
        while (task := self._tasks.get()) is not CLOSING:
            future, line = task
            if not future.set_running_or_notify_cancel():
                continue
            with self._lock:
                if self._process.poll() is not None:
                    _ended(self._process)
                    self._process = _started()
                self.future = future
            answer = _answer(self._process, line)
            with self._lock:
                self.future = None
            if "result" in answer:
                future.set_result(answer["result"])
            elif "failure" in answer:
                future.set_exception(RuntimeError(answer["failure"]))
            else:
                future.set_exception(WorkerDied(f"its worker process {_death(self._process)}"))
        _ended(self._process)


def _started() -> subprocess.Popen:
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1") | {"OMP_WAIT_POLICY": "passive"}
    path = [str(ROOT), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return subprocess.Popen(
        [sys.executable, "-m", "fsdash.runs.server.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,  # Ctrl-C in the terminal is the server's to handle
    )


def _answer(process: subprocess.Popen, line: str) -> dict:
    """What the worker says to a task; nothing if it died over it."""
    try:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:
        answer = ""
    return json.loads(answer) if answer.endswith("\n") else {}


def _death(process: subprocess.Popen) -> str:
    code = process.wait()
    if code >= 0:
        return f"ended with exit code {code}; the server's log says more"
    name = signal.Signals(-code).name
    why = ", perhaps by the system for lack of memory" if name == "SIGKILL" else ""
    return f"was ended by {name}{why}"


def _ended(process: subprocess.Popen) -> None:
    """Close the pipes, on which a living worker ends, and wait for it."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent to a dead worker
            pipe.close()
    process.wait()
