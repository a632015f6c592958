"""The cost of evaluating and storing policies: `python -m benchmarks.overhead`.

Computes the lab's plan "T = 6 against Base E-VI" on each domain with five replications, in a worker
process and into a SQLite file, as the dashboard does. The worker's time for a run, from the claim
of each replication to its last commit, consists of

    algorithm    the algorithm's own time, the column `seconds` of the rows
    evaluation   computing the exact values of its policies
    rest         packing and writing rows and policies, waiting for the disk

Overhead is everything but the algorithm's time. A run of one iteration precedes each measurement
and is not counted: a worker builds and solves a model, and loads the compiled code, only once.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import report
from fsdash.dashboard.run_lab.plans import PLANS
from fsdash.dashboard.run_lab.text import budget_text
from fsdash.domains import DOMAINS
from fsdash.runs.engine import execute
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.server.worker import database, warm_up
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.attempts import Attempt, AttemptWriter
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.recorder import Recorder
from fsdash.runs.workers.executor import WorkerExecutor

TARGET = 0.30
REPLICATIONS = 5


def specs() -> list[RunSpec]:
    plan = PLANS["t6-against-base"]
    return [spec for name in DOMAINS for spec in plan.build(name, {}, REPLICATIONS, 0)]


def measured(url: str, run: int, replication: int, number: int) -> list[float]:
    """In a worker: number of rows, and seconds for algorithm, evaluation and everything."""
    writer = AttemptWriter(database(url), Attempt(run, replication, number))
    began = time.perf_counter()
    start = writer.begin(os.getpid())
    spec = RunSpec.from_json(start.spec_json)
    with Recorder(writer, start) as recorder:
        outcome = execute(spec, replication, recorder.record, cancelled=recorder.stop.is_set)
        recorder.end(outcome.status, outcome.reason)
    seconds = time.perf_counter() - began
    return [outcome.rows, outcome.algorithm_seconds, outcome.evaluation_seconds, seconds]


def row(spec: RunSpec, rows: int, algorithm: float, evaluation: float, total: float) -> dict:
    overhead = 1 - algorithm / total
    return {
        "domain": spec.domain,
        "method": spec.label,
        "budget": budget_text(spec),
        "rows": int(rows),
        "worker, s": report.number(total),
        "algorithm": f"{algorithm / total:.1%}",
        "evaluation": f"{evaluation / total:.1%}",
        "rest": f"{1 - (algorithm + evaluation) / total:.1%}",
        "overhead": f"{overhead:.1%}",
        "target": f"< {TARGET:.0%}",
        "met": "yes" if overhead < TARGET else "no",
    }


def main() -> None:
    from benchmarks.overhead import measured  # under a name that a worker can import

    rows, workers = [], WorkerExecutor(1, spare=0, prepare=warm_up)
    with tempfile.TemporaryDirectory() as folder, workers as worker:
        store = Store(Path(folder) / "runs.db")
        queue = WorkQueue(store.database)
        queue.open_lease()

        def run(spec: RunSpec) -> np.ndarray:
            id = store.add_experiment("bench", spec.label, [spec])
            queue.enqueue(store.run_ids(id))
            found = np.zeros(4)
            for _ in range(spec.replications):
                attempt = queue.claim(queue.waiting()[0].next_id)
                arguments = attempt.run, attempt.replication, attempt.number
                task = worker.submit(measured, store.url, *arguments)
                found += task.result()
            return found

        for spec in specs():
            run(replace(spec, iterations=1, evaluations=None))
            rows.append(row(spec, *run(spec)))
    report.save("overhead", rows)
    print(report.markdown(rows))


if __name__ == "__main__":
    main()
