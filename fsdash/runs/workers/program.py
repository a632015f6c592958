"""The program of a worker process: `python -m fsdash.runs.workers.program`.

`executor.WorkerExecutor` starts it. It reads tasks from its standard input, one line of JSON each,
and answers each with one line, before which a task may send rows:

    {"call": "fsdash.runs.runner:compute", "arguments": […]}   →   {"row": …}, …, {"result": …}
                                                           or  {"failure": "…"}

When its input ends, the process that started it has ended; the worker then exits at once, even in
the middle of a task. A worker that was stopped by a signal cannot notice it, so on Linux the system
kills it: it may hold a lock of the database.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any

PR_SET_PDEATHSIG = 1
"""Number of an operation of Linux's `prctl`."""

_answers: IO[str] | None = None
"""Where a worker writes its answers; None in any other process."""


def send_row(row: dict[str, Any]) -> bool:
    """Send a row of the present task at once; False if this process is not a worker."""
    if _answers is None:
        return False
    _write({"row": row})
    return True


def no_preparation() -> None:
    """The first call of a worker that needs nothing before its first task."""


def end_with_parent() -> None:
    """Let the system kill this process when the one that started it has ended (Linux only)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    global _answers
    end_with_parent()
    # Standard output is for answers only; whatever a library prints goes to the log.
    _answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        try:
            _write({"result": _call(json.loads(lines.get()))})
        except Exception as error:
            traceback.print_exc()
            _write({"failure": f"{type(error).__name__}: {error}"})


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _call(task: dict[str, Any]) -> object:
    module, _, name = task["call"].partition(":")
    return getattr(importlib.import_module(module), name)(*task["arguments"])


def _write(answer: dict[str, object]) -> None:
    assert _answers is not None
    line = json.dumps(answer, default=lambda number: number.item())  # a number of NumPy
    _answers.write(line + "\n")
    _answers.flush()


if __name__ == "__main__":
    # Tasks import this module by its name, and must find the answers there.
    from fsdash.runs.workers import program

    program.main()
