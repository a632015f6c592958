"""What measuring and keeping a run costs beside computing it: `python -m benchmarks.overhead`.

One replication of the paper's E-VI and E-FSVI (T = 6) on each domain, in a worker process and into
a SQLite file, as the dashboard does it. Of the worker's time, from the claim to the last commit,

    algorithm    the algorithm's own, what `seconds` in the rows counts
    evaluation   the exact values of its policies
    rest         rows and policies: packing, writing, waiting for the disk

Overhead is all but the algorithm's time. A run of one iteration goes before each, not counted: a
worker builds and solves a model once, and loads the compiled code once, for all its replications.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import report
from fsdash.runs.database import Database
from fsdash.runs.engine import execute
from fsdash.runs.executor import WorkerExecutor
from fsdash.runs.ledger import Attempt, Ledger
from fsdash.runs.recorder import Recorder
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import Store

TARGET = 0.30
ITERATIONS = {"inventory": 20, "gridworld": 20, "pricing": 4}
"""Of the main level; fewer where one takes seconds."""


def specs() -> list[RunSpec]:
    return [
        RunSpec(domain, algorithm, T, iterations=iterations, replications=1)
        for domain, iterations in ITERATIONS.items()
        for algorithm, T in (("e-vi", None), ("e-fsvi", 6))
    ]


def measured(url: str, run: int, replication: int, number: int) -> list[float]:
    """In a worker: rows, and seconds of algorithm, of evaluation and in all."""
    ledger, attempt = Ledger(Database(url)), Attempt(run, replication, number)
    began = time.perf_counter()
    start = ledger.begin(attempt, os.getpid())
    spec = RunSpec.from_json(start.spec)
    with Recorder(ledger, attempt, start) as recorder:
        outcome = execute(spec, replication, recorder.keep, recorder.stop.is_set)
    ledger.end(attempt, outcome.status, outcome.reason)
    seconds = time.perf_counter() - began
    return [outcome.rows, outcome.algorithm_seconds, outcome.evaluation_seconds, seconds]


def row(spec: RunSpec, rows: int, algorithm: float, evaluation: float, total: float) -> dict:
    overhead = 1 - algorithm / total
    return {
        "domain": spec.domain,
        "method": spec.label,
        "iterations": spec.iterations,
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
    from benchmarks.overhead import measured  # by the name that a worker can import

    rows = []
    with tempfile.TemporaryDirectory() as folder, WorkerExecutor(1) as worker:
        store = Store(Path(folder) / "runs.db")
        ledger = Ledger(store.database)
        ledger.open_lease()

        def run(spec: RunSpec) -> list[float]:
            id = store.add_experiment("bench", spec.label, [spec])
            ledger.enqueue([run.id for run in store.experiment(id).runs])
            a = ledger.claim(ledger.waiting()[0].id)
            task = worker.submit(measured, store.database.url, a.run, a.replication, a.number)
            return task.result()

        for spec in specs():
            run(replace(spec, iterations=1))
            rows.append(row(spec, *run(spec)))
    report.save("overhead", rows)
    print(report.markdown(rows))


if __name__ == "__main__":
    main()
