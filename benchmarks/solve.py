"""The time to solve six models to ‖V − V*‖∞ ≤ 1e-3, ours and the peers'.

Method. Every contestant runs at the tolerance for which its stopping rule guarantees 1e-3
(`benchmarks.peers`): the like of our own, which is certified. The error that it really leaves is
printed beside, against a V* certified to 1e-7; a peer that broke its promise would not count.

The first runs compile and warm up everything. Then the contestants take turns for several rounds,
and the fastest run of each counts: turns make the ratios robust to whatever else the machine does.
Processor time is measured, because on a busy machine the clock counts other programs' work too. A
turn consists of several runs if they take milliseconds: the first one finds the processor's caches
full of the other contestants' data. A contestant that needs more than `ONCE` seconds keeps its
first run. Making the solver from the model is not timed.

Nothing here fails on a slow machine: targets are printed as met or not.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import numpy as np

from benchmarks import report
from benchmarks.checks import backups, checks
from benchmarks.peers import Contestant, contestants
from fsdash.algorithms.optimum import optimum
from fsdash.core.model import FastSlowMDP
from fsdash.domains import make

ACCURACY = 1e-3
REFERENCE = 1e-7
ONCE = 4.0
TURN = 0.02
"""About how many seconds a turn lasts, unless a single run takes longer."""
PRESETS = {"default": 5, "large": 3}
"""Rounds for each preset of a domain."""
TARGETS = {
    "inventory": 4.0,
    "gridworld": 4.0,
    "pricing": 4.0,
    "inventory-large": 1.0,
    "gridworld-large": 2.0,
    "pricing-large": 2.0,
}
"""How many times as long as ours the best peer should take, at least."""


@dataclass
class Entry:
    """A contestant with the error it leaves and its fastest time so far."""

    contestant: Contestant
    seconds: float
    error: float
    runs: int = 1


def run(contestant: Contestant, V: np.ndarray) -> Entry:
    """One solve by a fresh solver."""
    solver = contestant.prepare()
    start = process_time()
    solver.solve(contestant.promised)
    seconds = process_time() - start
    return Entry(contestant, seconds, float(np.abs(solver.values() - V).max()))


def race(model: FastSlowMDP, entered: list[Contestant], rounds: int) -> list[Entry]:
    """All contestants on one model, ours first."""
    V = optimum(model, tolerance=REFERENCE).U_XY[model.real_XY]
    entries = [run(contestant, V) for contestant in entered]
    quick = [entry for entry in entries if entry.seconds <= ONCE]
    turns = [max(1, int(TURN / entry.seconds)) for entry in quick]
    for entry in quick:
        entry.seconds, entry.runs = np.inf, 0  # the first run may have compiled on the way
    for _ in range(rounds):
        for entry, runs in zip(quick, turns, strict=True):
            gc.collect()
            gc.disable()
            times = [run(entry.contestant, V).seconds for _ in range(runs)]
            gc.enable()
            entry.seconds, entry.runs = min(entry.seconds, min(times)), entry.runs + runs
    return entries


def races() -> Iterator[tuple[str, FastSlowMDP, list[Entry]]]:
    for preset, rounds in PRESETS.items():
        for domain in ("inventory", "gridworld", "pricing"):
            name = domain if preset == "default" else f"{domain}-{preset}"
            model = make(domain, preset).build()
            entered = contestants(model)
            if preset != "default":
                entered = [c for c in entered if not c.paper_sizes_only]
            yield name, model, race(model, entered, rounds)


def detail(name: str, model: FastSlowMDP, entries: list[Entry]) -> list[report.Row]:
    """One row per contestant; None where it did not run on this model."""
    by_name = {entry.contestant.name: entry for entry in entries}
    ours = entries[0].seconds
    rows = []
    for contestant in contestants(model):
        entry = by_name.get(contestant.name)
        rows.append(
            {
                "model": name,
                "states": model.n_states,
                "actions": model.n_actions,
                "contestant": contestant.name,
                "ms": entry and round(1e3 * entry.seconds, 3),
                "ratio": entry and round(entry.seconds / ours, 3),
                "error": entry and float(f"{entry.error:.3g}"),
                "tolerance": contestant.promised,
                "runs": entry and entry.runs,
            }
        )
    return rows


def summary(name: str, model: FastSlowMDP, entries: list[Entry]) -> report.Row:
    """Ours against the fastest peer."""
    ours = entries[0].seconds
    peers = [e for e in entries if not e.contestant.ours and e.error <= ACCURACY]
    best = min(peers, key=lambda entry: entry.seconds)
    ratio = best.seconds / ours
    return {
        "model": name,
        "states × actions": f"{model.n_states:,} × {model.n_actions}",
        "fsdash MPI, ms": report.number(1e3 * ours),
        "best peer": best.contestant.name,
        "its ms": report.number(1e3 * best.seconds),
        "best peer / ours": f"{ratio:.1f}",
        "target": f"≥ {TARGETS[name]:g}" if TARGETS[name] > 1 else "> 1",
        "met": "yes" if ratio >= TARGETS[name] else "no",
    }


def shown(row: report.Row) -> report.Row:
    """A row of the detail as it is printed."""
    return {
        "model": row["model"],
        "contestant": row["contestant"],
        "ms": report.number(row["ms"]),
        "ratio to ours": report.number(row["ratio"], 2),
        "error": "—" if row["error"] is None else f"{row['error']:.2e}",
    }


def main() -> None:
    environment = report.environment()
    where = ", ".join(f"{key} {value}" for key, value in environment.items())
    print(where, end="\n\n")
    report.save("environment", [environment])

    details, summaries = [], []
    for name, model, entries in races():
        rows = detail(name, model, entries)
        details += rows
        summaries.append(summary(name, model, entries))
        print(report.markdown([shown(row) for row in rows]), end="\n\n", flush=True)
    report.save("solve", details)
    report.save("summary", summaries)
    print(report.markdown(summaries), end="\n\n")

    sweeps = backups()
    report.save("backup", sweeps)
    costs = [row["ns_per_backup"] for row in sweeps]
    print(report.markdown(sweeps))
    print(f"time per backup: largest / smallest = {max(costs) / min(costs):.2f}", end="\n\n")

    checked = checks()
    report.save("checks", checked)
    print(report.markdown(checked))

    tables = (summaries, [shown(row) for row in details], sweeps, checked)
    text = "\n\n".join([where + ".", *map(report.markdown, tables)])
    (report.RESULTS / "solve.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
