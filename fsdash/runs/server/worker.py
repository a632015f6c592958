"""A worker process: `python -m fsdash.runs.server.worker`, started by `executor.WorkerExecutor`.

It reads tasks from its standard input, one line of JSON each, and answers each with one line:

    {"call": "fsdash.runs.server.worker:replicate", "arguments": […]}   →   {"result": …}
                                                                 or  {"failure": "…"}

The first task is `warm_up`: it loads the compiled kernels and solves the default inventory model,
so the first row of a run appears at once. When its input ends, its server has ended; the worker
then exits at once, even in the middle of a task. The rows it has recorded are in the store. A
worker that was stopped by a signal cannot notice it, so on Linux the system kills it: it may hold
a lock of the database.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue
from typing import Any

from fsdash.errors import InputError
from fsdash.runs.engine import execute
from fsdash.runs.errors import StoreError, Superseded
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.attempts import Attempt, AttemptWriter, StartingPoint
from fsdash.runs.store.database import Database
from fsdash.runs.store.models import look_in
from fsdash.runs.store.recorder import Recorder
from fsdash.runs.store.retry import patiently

PR_SET_PDEATHSIG = 1
"""Number of an operation of Linux's `prctl`."""
GAVE_WAY = "others were waiting; it continues automatically"
NICE = 15
"""Added to the process's niceness: pages, which people wait for, are served first."""


def replicate(url: str, run: int, replication: int, number: int) -> list[str]:
    """Compute one replication and record it in the store at `url`.

    Returns the status that it ended with, and the reason. Both are written to the store as well,
    unless the store itself failed.
    """
    try:
        opened = patiently(lambda _: database(url))
        writer = AttemptWriter(opened, Attempt(run, replication, number))
        start = patiently(lambda _: writer.begin(os.getpid()))
        try:
            return _compute(writer, start)
        except (StoreError, Superseded):
            raise
        except Exception as error:
            reason = _reason(error)
            writer.end("failed", reason)
            return ["failed", reason]
    except StoreError as error:
        return ["interrupted", str(error)]
    except Superseded:
        return ["interrupted", "another attempt has replaced this one"]


def _compute(writer: AttemptWriter, start: StartingPoint) -> list[str]:
    spec = RunSpec.from_json(start.spec_json)
    with Recorder(writer, start) as recorder:
        outcome = execute(
            spec,
            writer.attempt.replication,
            recorder.record,
            cancelled=recorder.must_stop,
            checkpoints=recorder,
        )
        end = outcome.status, outcome.reason
        if outcome.status == "cancelled" and recorder.gives_way:
            end = "queued", GAVE_WAY
        recorder.end(*end)
    return list(end)


def _reason(error: Exception) -> str:
    """Why a replication failed, as text for a person; internal errors are also logged."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "it does not fit into memory: use a smaller model or a smaller T"
    sys.excepthook(type(error), error, error.__traceback__)
    return f"internal error, {type(error).__name__}: {error}"


@lru_cache(maxsize=4)
def database(url: str) -> Database:
    """The database at a URL, opened once per worker; users' own models are found there."""
    opened = Database(url)
    look_in(opened)
    return opened


def warm_up() -> None:
    """Load what the paper's algorithms need by running them for one iteration."""
    for algorithm, T, samples in (("e-vi", None, {"M": 1}), ("e-fsvi", 2, {"M_u": 1})):
        spec = RunSpec("inventory", algorithm, T=T, parameters=samples, iterations=1)
        execute(spec, 0, lambda record: None)


def end_with_parent() -> None:
    """Let the system kill this process when the one that started it has ended (Linux only)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    end_with_parent()
    # Standard output is for answers only; whatever a library prints goes to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        answer: dict[str, object]
        try:
            answer = {"result": _call(json.loads(lines.get()))}
        except Exception as error:
            answer = {"failure": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _call(task: dict[str, Any]) -> object:
    module, _, name = task["call"].partition(":")
    return getattr(importlib.import_module(module), name)(*task["arguments"])


if __name__ == "__main__":
    main()
