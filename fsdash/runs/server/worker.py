"""A worker process: `python -m fsdash.runs.server.worker`, started by `executor.WorkerExecutor`.

It reads tasks from its input, one line of JSON each, and answers each with a line:

    {"call": "fsdash.runs.server.worker:replicate", "arguments": […]}   →   {"result": …}
                                                                 or  {"failure": "…"}

Before the first task it has loaded the compiled kernels and solved the default inventory model, so
that the first row of a run is there at once. The end of its input is the end of its server, and it
ends with it, in the middle of a task too; what it has recorded is in the store.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue

from fsdash.errors import InputError
from fsdash.runs.engine import execute
from fsdash.runs.errors import StoreError, Superseded
from fsdash.runs.server.work_queue import Attempt, Ledger, Start
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import Database
from fsdash.runs.store.recorder import Recorder

NICE = 5
"""Pages are served first: a person waits for them."""


def replicate(url: str, run: int, replication: int, number: int) -> list[str]:
    """Compute one replication into the store at `url`; how it ended, and why.

    The end is written to the store too, unless the store is the trouble.
    """
    attempt = Attempt(run, replication, number)
    try:
        ledger = Ledger(database(url))
        start = ledger.begin(attempt, os.getpid())
        try:
            return _computed(ledger, attempt, start)
        except (StoreError, Superseded):
            raise
        except Exception as error:
            ledger.end(attempt, "failed", reason := _told(error))
            return ["failed", reason]
    except StoreError as error:
        return ["interrupted", str(error)]
    except Superseded:
        return ["interrupted", "another attempt took over"]


def _computed(ledger: Ledger, attempt: Attempt, start: Start) -> list[str]:
    spec = RunSpec.from_json(start.spec)
    with Recorder(ledger, attempt, start) as recorder:
        outcome = execute(spec, attempt.replication, recorder.keep, recorder.stop.is_set)
        recorder.end(outcome.status, outcome.reason)
    return [outcome.status, outcome.reason]


def _told(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "it does not fit into memory: use a smaller model or a smaller T"
    sys.excepthook(type(error), error, error.__traceback__)
    return f"an error in the program, {type(error).__name__}: {error}"


@lru_cache(maxsize=4)
def database(url: str) -> Database:
    return Database(url)


def warm_up() -> None:
    """Load what the paper's algorithms need, by running them for a moment."""
    for algorithm, T, samples in (("e-vi", None, {"M": 1}), ("e-fsvi", 2, {"M_u": 1})):
        spec = RunSpec("inventory", algorithm, T, parameters=samples, iterations=1)
        execute(spec, 0, lambda record: None)


def main() -> None:
    # Only answers go to the server: what a library prints goes to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    with suppress(Exception):  # a task that needs what is broken here will say so
        warm_up()
    while True:
        try:
            answer = {"result": _called(json.loads(lines.get()))}
        except Exception as error:
            answer = {"failure": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _called(task: dict) -> object:
    module, _, name = task["call"].partition(":")
    return getattr(importlib.import_module(module), name)(*task["arguments"])


if __name__ == "__main__":
    main()
