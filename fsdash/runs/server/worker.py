"""What a worker does for a server: `replicate` computes one replication and records it.

`warm_up` is the first call of each worker: it loads the compiled kernels and solves the default
inventory model, so the first row of a run appears at once. When the server ends, its workers end in
the middle of a task; the rows they have recorded are in the store.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache

from fsdash.errors import InputError
from fsdash.runs.engine import execute
from fsdash.runs.errors import StoreError, Superseded
from fsdash.runs.retry import patiently
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.attempts import Attempt, AttemptWriter, StartingPoint
from fsdash.runs.store.database import Database
from fsdash.runs.store.models import look_in
from fsdash.runs.store.recorder import Recorder

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
            end = "queued", "others were waiting; it continues automatically"
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
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    for algorithm, T, samples in (("e-vi", None, {"M": 1}), ("e-fsvi", 2, {"M_u": 1})):
        spec = RunSpec("inventory", algorithm, T=T, parameters=samples, iterations=1)
        execute(spec, 0, lambda record: None)
