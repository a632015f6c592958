"""Several runs at once, in this process or in worker processes, with every row kept.

`run_all` carries out all replications of the given specifications and returns a tidy frame with how
each replication ended. A replication is one task; its random numbers are its own, so the numbers do
not depend on the number of workers. Ctrl-C ends all of them between two snapshots, and what was
recorded is returned.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty

import pandas as pd
from threadpoolctl import threadpool_limits

from fsdash.errors import InputError
from fsdash.runs.engine import Outcome, Record, Row, execute
from fsdash.runs.frames import tidy
from fsdash.runs.spec import RunSpec

MAX_WORKERS = 256
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
TICK = 0.1


@dataclass(frozen=True)
class Ending:
    """How one replication of one run ended."""

    spec: RunSpec
    replication: int
    outcome: Outcome


Task = tuple[RunSpec, int]
Progress = Callable[[RunSpec, int, Row | None], None]
"""Called with each new row of a replication, and with None when it has ended."""


def run_all(
    specs: Sequence[RunSpec], workers: int = 1, progress: Progress | None = None
) -> tuple[pd.DataFrame, list[Ending]]:
    """All replications of all specifications: their rows, and how each of them ended."""
    if not 1 <= workers <= MAX_WORKERS:
        raise InputError(f"workers = {workers}: use 1 to {MAX_WORKERS} processes")
    tasks = [(spec, i) for spec in specs for i in range(spec.replications)]
    rows: list[Row] = []

    def seen(task: int, row: Row | None) -> None:
        if row is not None:
            rows.append(row)
        if progress is not None:
            progress(*tasks[task], row)

    drive = _here if workers == 1 or len(tasks) == 1 else _in_processes
    outcomes = drive(tasks, min(workers, len(tasks)), seen)
    endings = [Ending(*task, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]
    return tidy(rows), endings


CANCELLED = Outcome("cancelled", "interrupted", 0, 0.0, 0.0)


def _here(tasks: Sequence[Task], workers: int, seen: Callable) -> list[Outcome]:
    """One after the other in this process."""
    outcomes = [CANCELLED] * len(tasks)
    with threadpool_limits(1), suppress(KeyboardInterrupt):
        for number, (spec, replication) in enumerate(tasks):
            outcomes[number] = _carried_out(
                spec, replication, lambda record, number=number: seen(number, record.row)
            )
            seen(number, None)
    return outcomes


def _carried_out(*arguments) -> Outcome:
    """The outcome of `execute`; what the algorithm refuses is no reason to lose the other runs."""
    try:
        return execute(*arguments)
    except (InputError, MemoryError) as error:
        return Outcome("failed", str(error) or "it does not fit into memory", 0, 0.0, 0.0)


def _in_processes(tasks: Sequence[Task], workers: int, seen: Callable) -> list[Outcome]:
    """Side by side in worker processes, which send their rows as they come."""
    context = multiprocessing.get_context("spawn")
    rows, stop = context.Queue(), context.Event()
    with ProcessPoolExecutor(workers, context, _prepare, (rows, stop)) as pool:
        with _worker_surroundings():
            futures = [pool.submit(_task, n, spec, i) for n, (spec, i) in enumerate(tasks)]
        try:
            _listen(futures, rows, seen)
        except KeyboardInterrupt:
            stop.set()
            for future in futures:
                future.cancel()
            _listen(futures, rows, seen)
    return [_outcome(future) for future in futures]


def _listen(futures: Sequence[Future], rows: multiprocessing.Queue, seen: Callable) -> None:
    """Pass the rows on until all tasks have ended. A task's None comes after its last row."""
    ended: set[int] = set()
    while len(ended) < len(futures):
        try:
            number, row = rows.get(timeout=TICK)
        except Empty:
            # What was cancelled or died sends nothing more.
            ended |= {n for n, f in enumerate(futures) if f.done() and _failed(f)}
            continue
        seen(number, row)
        if row is None:
            ended.add(number)


def _failed(future: Future) -> bool:
    return future.cancelled() or future.exception() is not None


def _outcome(future: Future) -> Outcome:
    if future.cancelled():
        return CANCELLED
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        return Outcome("failed", "a worker process died, for lack of memory perhaps", 0, 0.0, 0.0)
    if error is not None:
        raise error
    return future.result()


@contextmanager
def _worker_surroundings() -> Iterator[None]:
    """Processes started meanwhile compute with one thread each, since more would fight over the
    cores, and leave Ctrl-C to their parent: an ignored signal stays ignored in a new process."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _prepare(rows: multiprocessing.Queue, stop) -> None:
    """In a new worker: remember where rows go."""
    global _rows, _stop
    _rows, _stop = rows, stop


def _task(number: int, spec: RunSpec, replication: int) -> Outcome:
    def keep(record: Record) -> None:
        _rows.put((number, record.row))

    try:
        return _carried_out(spec, replication, keep, _stop.is_set)
    finally:
        _rows.put((number, None))
