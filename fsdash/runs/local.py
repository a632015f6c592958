"""Several runs at once, in this process or in worker processes, without a store.

`run_all` computes all replications of the given specifications. A replication is one task with its
own random numbers, so the results do not depend on the number of workers. Ctrl-C ends all tasks
between two snapshots, and what was recorded until then is returned. If this process is killed, its
workers end too.
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
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from fsdash.domains.saved import Contents, remember_content, remembered_content
from fsdash.errors import InputError
from fsdash.runs.engine import Outcome, Record, Row, execute
from fsdash.runs.frames import runs_frame
from fsdash.runs.spec import RunSpec

MAX_WORKERS = 256
SINGLE_THREAD = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Environment variables that are set to 1 for a worker process."""
POLL_INTERVAL = 0.1
CANCELLED = Outcome("cancelled", "interrupted", 0, 0.0, 0.0)


@dataclass(frozen=True)
class Ending:
    """How one replication of one run ended."""

    spec: RunSpec
    replication: int
    outcome: Outcome


Task = tuple[RunSpec, int]
Progress = Callable[[RunSpec, int, Row | None], None]
"""Called with each new row of a replication, and with None when it has ended."""
OnRow = Callable[[int, Row | None], None]
"""The same, with the number of the task."""


def run_all(
    specs: Sequence[RunSpec], workers: int = 1, *, progress: Progress | None = None
) -> tuple[pd.DataFrame, list[Ending]]:
    """Compute all replications of all specifications.

    Parameters
    ----------
    specs : sequence of RunSpec
        Equal specifications give equal rows, so each is computed once.
    workers : int
        Number of processes; with 1, everything is computed in this process.
    progress : callable, optional
        Called with (spec, replication, row) for each new row, and with None as the row when a
        replication has ended.

    Returns
    -------
    frame : pandas.DataFrame
        One row for each evaluated policy. `run` identifies the run (the hash of its specification)
        and `method` is the name of its curve; the other columns are those of `fsdash.runs.columns`.
    endings : list of Ending
        How each replication ended.

    Examples
    --------
    >>> from fsdash.runs.local import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> exact = RunSpec("inventory", "vi", iterations=3)
    >>> sampled = RunSpec("inventory", "e-fsvi", T=3, iterations=2, replications=2)
    >>> frame, endings = run_all([exact, sampled])
    >>> [(ending.spec.label, ending.outcome.status) for ending in endings]
    [('VI', 'finished'), ('E-FSVI, T=3', 'finished'), ('E-FSVI, T=3', 'finished')]
    >>> bool(frame["fraction_of_optimal"].le(1.001).all())
    True
    """
    if not 1 <= workers <= MAX_WORKERS:
        raise InputError(f"workers = {workers}: use 1 to {MAX_WORKERS} processes")
    specs = list(dict.fromkeys(specs))
    tasks = [(spec, i) for spec in specs for i in range(spec.replications)]
    rows: list[tuple[RunSpec, Row]] = []

    def on_row(number: int, row: Row | None) -> None:
        if row is not None:
            rows.append((tasks[number][0], row))
        if progress is not None:
            progress(*tasks[number], row)

    if workers == 1 or len(tasks) == 1:
        outcomes = _in_this_process(tasks, on_row)
    else:
        outcomes = _in_processes(tasks, min(workers, len(tasks)), on_row)
    endings = [Ending(*task, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]
    return runs_frame(specs, rows), endings


def _in_this_process(tasks: Sequence[Task], on_row: OnRow) -> list[Outcome]:
    """Compute the tasks one after the other."""
    outcomes = [CANCELLED] * len(tasks)
    # More BLAS threads would compete with other processes for the cores.
    with threadpool_limits(1), suppress(KeyboardInterrupt):
        for number, (spec, replication) in enumerate(tasks):

            def on_record(record: Record, number: int = number) -> None:
                on_row(number, record.row)

            outcomes[number] = execute_task(spec, replication, on_record)
            on_row(number, None)
    return outcomes


def execute_task(
    spec: RunSpec,
    replication: int,
    on_record: Callable[[Record], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> Outcome:
    """`execute`, with an algorithm's refusal as an outcome: the other runs continue."""
    try:
        return execute(spec, replication, on_record, cancelled=cancelled)
    except (InputError, MemoryError) as error:
        return Outcome("failed", str(error) or "it does not fit into memory", 0, 0.0, 0.0)


def _in_processes(tasks: Sequence[Task], workers: int, on_row: OnRow) -> list[Outcome]:
    """Compute the tasks in worker processes, which send their rows as they come."""
    context = multiprocessing.get_context("spawn")
    rows, stop = context.Queue(), context.Event()
    models = remembered_content(spec.domain for spec, _ in tasks)
    with ProcessPoolExecutor(workers, context, _prepare_worker, (rows, stop, models)) as pool:
        with _worker_environment():
            futures = [pool.submit(_run_task, n, spec, i) for n, (spec, i) in enumerate(tasks)]
        try:
            _receive_rows(futures, rows, on_row)
        except KeyboardInterrupt:
            stop.set()
            for future in futures:
                future.cancel()
            _receive_rows(futures, rows, on_row)
    return [_outcome(future) for future in futures]


def _receive_rows(futures: Sequence[Future[Outcome]], rows: Any, on_row: OnRow) -> None:
    """Pass rows on until all tasks have ended. A task sends None after its last row."""
    ended: set[int] = set()
    while len(ended) < len(futures):
        try:
            number, row = rows.get(timeout=POLL_INTERVAL)
        except Empty:
            # Tasks that were cancelled or whose process died send nothing more.
            ended |= {n for n, f in enumerate(futures) if f.done() and _failed(f)}
            continue
        on_row(number, row)
        if row is None:
            ended.add(number)


def _failed(future: Future[Outcome]) -> bool:
    return future.cancelled() or future.exception() is not None


def _outcome(future: Future[Outcome]) -> Outcome:
    if future.cancelled():
        return CANCELLED
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        reason = "a worker process died, possibly because memory ran out"
        return Outcome("failed", reason, 0, 0.0, 0.0)
    if error is not None:
        raise error
    return future.result()


@contextmanager
def _worker_environment() -> Iterator[None]:
    """The environment in which worker processes are started.

    They compute with one thread each, since more would compete for the cores, and leave Ctrl-C to
    their parent: a new process inherits that a signal is ignored.
    """
    before = {name: os.environ.get(name) for name in SINGLE_THREAD}
    os.environ.update(dict.fromkeys(SINGLE_THREAD, "1"))
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


_rows: Any = None
_stop: Any = None


def _prepare_worker(rows: Any, stop: Any, models: Contents) -> None:
    """In a new worker: remember where rows go, which event stops it, and the caller's models."""
    global _rows, _stop
    _rows, _stop = rows, stop
    remember_content(models)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the process that started it has ended, however that happened."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_task(number: int, spec: RunSpec, replication: int) -> Outcome:
    def on_record(record: Record) -> None:
        _rows.put((number, record.row))

    try:
        return execute_task(spec, replication, on_record, _stop.is_set)
    finally:
        _rows.put((number, None))
