"""Runs of the command line on a Dask cluster: `run_all` with another place to compute.

    frame, endings = run_on_cluster(specs, "tcp://192.0.2.7:8786")

The cluster's workers need fsdash, and no database: users' own models are sent with the
replications, and a replication returns its rows when it has ended. A replication whose worker or
scheduler died is submitted again, at most `MAX_RETRIES` times; its numbers depend on its seed only.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import pandas as pd

from fsdash.domains.saved import Contents, all_content, remember_content
from fsdash.runs.engine import Outcome, Record
from fsdash.runs.errors import WorkerDied
from fsdash.runs.frames import runs_frame
from fsdash.runs.local import CANCELLED, Ending, Progress, execute_task
from fsdash.runs.server.cluster import DaskWorkers
from fsdash.runs.server.work_queue import MAX_RETRIES
from fsdash.runs.spec import RunSpec

WAIT = 0.5
"""Seconds between two checks of the capacity of the cluster."""

Answer = tuple[list[dict[str, Any]], Outcome]


def run_on_cluster(
    specs: Sequence[RunSpec],
    address: str,
    *,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, list[Ending]]:
    """Compute all replications of all specifications on a cluster.

    Parameters
    ----------
    specs : sequence of RunSpec
    address : str
        Address of the Dask scheduler, such as `tcp://192.0.2.7:8786`.
    progress : callable, optional
        Called with (spec, replication, row) for each row, and with None as the row when a
        replication has ended; all at once when it has ended.

    Returns
    -------
    frame : pandas.DataFrame
        One row for each evaluated policy, as `fsdash.runs.local.run_all` returns it.
    endings : list of Ending
        How each replication ended.
    """
    specs = list(dict.fromkeys(specs))
    tasks = [(spec, i) for spec in specs for i in range(spec.replications)]
    outcomes, rows = [CANCELLED] * len(tasks), []
    workers = DaskWorkers(address)
    try:
        for number, (found, outcome) in _answers(workers, tasks):
            outcomes[number] = outcome
            rows += [(tasks[number][0], row) for row in found]
            if progress is not None:
                for row in [*found, None]:
                    progress(*tasks[number], row)
    except KeyboardInterrupt:
        pass  # the replications that have ended are returned
    finally:
        workers.shutdown(wait=False)
    endings = [Ending(*task, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]
    return runs_frame(specs, rows), endings


def _answers(
    workers: DaskWorkers, tasks: Sequence[tuple[RunSpec, int]]
) -> Iterator[tuple[int, Answer]]:
    """The number of each task with its rows and outcome, as they arrive."""
    waiting, tries = deque(range(len(tasks))), [0] * len(tasks)
    models = {domain: all_content([domain]) for domain in {spec.domain for spec, _ in tasks}}
    done: queue.SimpleQueue[tuple[int, Future[Answer]]] = queue.SimpleQueue()
    running = 0
    while waiting or running:
        while waiting and running < workers.capacity():
            number = waiting.popleft()
            spec, replication = tasks[number]
            try:
                future = workers.submit(compute, models[spec.domain], spec.to_json(), replication)
            except WorkerDied:  # the connection was lost a moment ago
                waiting.appendleft(number)
                break
            running += 1
            future.add_done_callback(partial(_put, done, number))
        try:
            number, future = done.get(timeout=WAIT)
        except queue.Empty:
            continue
        running -= 1
        try:
            yield number, future.result()
        except WorkerDied as error:
            tries[number] += 1
            if tries[number] > MAX_RETRIES:
                yield number, ([], Outcome("failed", str(error), 0, 0.0, 0.0))
            else:
                waiting.append(number)


def _put(done: queue.SimpleQueue[Any], number: int, future: Future[Answer]) -> None:
    done.put((number, future))


def compute(models: Contents, spec_json: str, replication: int) -> Answer:
    """On a worker: the rows of one replication, and how it ended."""
    remember_content(models)
    rows: list[dict[str, Any]] = []

    def on_record(record: Record) -> None:
        rows.append(dict(record.row))

    outcome = execute_task(RunSpec.from_json(spec_json), replication, on_record)
    return rows, outcome
