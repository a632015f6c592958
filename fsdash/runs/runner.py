"""One way to compute runs: in this process, in worker processes, or on a Dask cluster.

`run_all` computes all replications of the given specifications, without a store. A replication is
one task with its own random numbers, so the results do not depend on who computes it. The server
records its runs in a store instead, on the same `Workers` (`fsdash.runs.server.manager`).

- Users' own models are sent with the replications; workers need no database.
- A replication whose worker died is computed again, at most `MAX_RETRIES` times.
- Ctrl-C ends all tasks, and what was recorded until then is returned: all rows that worker
  processes have computed, and the replications that have ended on a cluster.
- If this process is killed, its worker processes end too.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from fsdash.domains.saved import Contents, contents_of, remember_contents
from fsdash.errors import InputError
from fsdash.runs.engine import Outcome, Record, Row, execute
from fsdash.runs.errors import WorkerDied
from fsdash.runs.frames import runs_frame
from fsdash.runs.spec import RunSpec
from fsdash.runs.workers.executor import MAX_RETRIES, WorkerExecutor, Workers, check_count
from fsdash.runs.workers.program import send_row

CHECK_INTERVAL = 0.5
"""Seconds between two checks of the capacity, if nothing happens before."""
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


class _Results:
    """The rows and the outcome of each task."""

    def __init__(self, tasks: Sequence[Task], progress: Progress | None) -> None:
        self.tasks, self._progress = tasks, progress
        self.rows: list[list[Row]] = [[] for _ in tasks]
        self.outcomes = [CANCELLED] * len(tasks)

    def add(self, number: int, row: Row) -> None:
        self.rows[number].append(row)
        if self._progress is not None:
            self._progress(*self.tasks[number], row)

    def end(self, number: int, outcome: Outcome) -> None:
        self.outcomes[number] = outcome
        if self._progress is not None:
            self._progress(*self.tasks[number], None)


def run_all(
    specs: Sequence[RunSpec],
    workers: int = 1,
    *,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, list[Ending]]:
    """Compute all replications of all specifications.

    Parameters
    ----------
    specs : sequence of RunSpec
        Equal specifications give equal rows, so each is computed once.
    workers : int
        Number of processes; with 1, everything is computed in this process.
    cluster : str, optional
        Address of a Dask scheduler, such as `tcp://192.0.2.7:8786`; its workers compute instead.
    progress : callable, optional
        Called with (spec, replication, row) for each new row, and with None as the row when a
        replication has ended. The rows of a cluster come when their replication has ended. A
        replication that is computed again, because its worker died, sends its rows again.

    Returns
    -------
    frame : pandas.DataFrame
        One row for each evaluated policy. `run` identifies the run (the hash of its specification)
        and `method` is the name of its curve; the other columns are those of `fsdash.runs.columns`.
    endings : list of Ending
        How each replication ended.

    Examples
    --------
    >>> from fsdash.runs.runner import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> exact = RunSpec("inventory", "vi", iterations=3)
    >>> sampled = RunSpec("inventory", "e-fsvi", T=3, iterations=2, replications=2)
    >>> frame, endings = run_all([exact, sampled])
    >>> [(ending.spec.label, ending.outcome.status) for ending in endings]
    [('Base VI', 'finished'), ('E-FSVI, T=3', 'finished'), ('E-FSVI, T=3', 'finished')]
    >>> bool(frame["fraction_of_optimal"].le(1.001).all())
    True
    """
    check_count(workers)
    specs = list(dict.fromkeys(specs))
    results = _Results([(spec, i) for spec in specs for i in range(spec.replications)], progress)
    count = min(workers, len(results.tasks))
    if cluster is not None:
        # Imported here: Dask is an optional dependency.
        from fsdash.runs.workers.cluster import DaskWorkers

        _drive(DaskWorkers(cluster), results)
    elif count > 1:
        _drive(WorkerExecutor(count, spare=0), results)
    else:
        _compute_here(results)
    endings = [
        Ending(*task, outcome)
        for task, outcome in zip(results.tasks, results.outcomes, strict=True)
    ]
    rows = [(e.spec, row) for e, rows in zip(endings, results.rows, strict=True) for row in rows]
    return runs_frame(specs, rows), endings


def _compute_here(results: _Results) -> None:
    """Compute the tasks one after the other in this process."""
    # More BLAS threads would compete with other processes for the cores.
    with threadpool_limits(1), suppress(KeyboardInterrupt):
        for number, (spec, replication) in enumerate(results.tasks):
            outcome = _replicate(spec, replication, partial(results.add, number))
            results.end(number, outcome)


def _replicate(spec: RunSpec, replication: int, on_row: Callable[[Row], None]) -> Outcome:
    """`execute`, with an algorithm's refusal as an outcome: the other runs continue."""

    def on_record(record: Record) -> None:
        on_row(record.row)

    try:
        return execute(spec, replication, on_record)
    except (InputError, MemoryError) as error:
        return _failed(str(error) or "it does not fit into memory")


def _failed(reason: str) -> Outcome:
    return Outcome("failed", reason, 0, 0.0, 0.0)


def compute(models: Contents, spec_json: str, replication: int) -> tuple[list[Row], list[Any]]:
    """On a worker: one replication. A worker process sends its rows as they come.

    Returns the rows that were not sent, and the fields of the outcome.
    """
    rows: list[Row] = []

    def on_row(row: Row) -> None:
        if not send_row(row):
            rows.append(row)

    remember_contents(models)
    try:
        spec = RunSpec.from_json(spec_json)
    except InputError as error:  # such as a domain that only the calling process has registered
        remedy = "a worker knows the modules that FSDASH_DOMAINS and FSDASH_ALGORITHMS name"
        return [], list(astuple(_failed(f"{error}; {remedy}")))
    return rows, list(astuple(_replicate(spec, replication, on_row)))


def _drive(workers: Workers, results: _Results) -> None:
    """Give the tasks to workers while these have capacity, and collect what they answer."""
    tasks, interrupted = results.tasks, False
    waiting, running, tries = deque(range(len(tasks))), 0, [0] * len(tasks)
    models = {domain: contents_of(domain) for domain in {spec.domain for spec, _ in tasks}}
    events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    workers.on_ready = lambda: events.put(lambda: None)

    def submit(number: int) -> None:
        nonlocal running
        spec, replication = tasks[number]
        on_row = lambda row: events.put(partial(results.add, number, row))  # noqa: E731
        task = models[spec.domain], spec.to_json(), replication
        future = workers.submit(compute, *task, on_row=on_row)
        running += 1
        future.add_done_callback(lambda done: events.put(partial(collect, number, done)))

    def collect(number: int, future: Future[Any]) -> None:
        nonlocal running
        running -= 1
        if future.cancelled():
            return
        try:
            rows, outcome = future.result()
        except WorkerDied as error:
            if interrupted:  # it was killed here, and its rows count
                return
            tries[number] += 1
            if tries[number] > MAX_RETRIES:
                results.end(number, _failed(str(error)))
            else:
                results.rows[number].clear()
                waiting.append(number)
            return
        for row in rows:
            results.add(number, row)
        results.end(number, Outcome(*outcome))

    with workers:
        try:
            while waiting or running:
                with suppress(WorkerDied):  # the connection was lost a moment ago
                    while waiting and running < workers.capacity():
                        submit(waiting[0])
                        waiting.popleft()
                with suppress(queue.Empty):
                    events.get(timeout=CHECK_INTERVAL)()
        except KeyboardInterrupt:
            interrupted = True
    while not events.empty():  # rows that came before their workers ended
        events.get()()
