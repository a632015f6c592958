"""The time to solve six models to ‖V − V*‖∞ ≤ 1e-3, ours and the peers'.

Method. Every peer is timed at two tolerances. `promised` is the one for which its stopping rule
guarantees 1e-3: what a user would choose who wants to be sure, and the like of our own 1e-3, which
is certified. `loosest` is found here with the answer in hand: steps of a factor 10 from there on,
as long as the error against a V* certified to 1e-7 stays below 1e-3. The targets are held against
`loosest`, which favours the peers: ours always stops by its certificate. A peer that broke its
promise would not count. These first runs also compile and warm up everything.

Then the contestants take turns for several rounds, and the fastest run of each counts: turns make
the ratios robust to whatever else the machine does. A contestant that needs more than `ONCE`
seconds keeps its first run. Making the solver from the model is not timed (`benchmarks.peers`).

Nothing here fails on a slow machine: targets are printed as met or not.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks import report
from benchmarks.checks import backups, checks
from benchmarks.peers import Contestant, contestants
from fsdash.domains import make
from fsdash.evaluation import optimum
from fsdash.model import FastSlowMDP

ACCURACY = 1e-3
REFERENCE = 1e-7
ONCE = 4.0
MOST_STEPS = 3
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
class Run:
    """A contestant at one tolerance: the error it leaves, and its fastest time so far."""

    tolerance: float | None
    seconds: float
    error: float
    runs: int = 1


@dataclass
class Entry:
    """A contestant at its two tolerances; one and the same run where they agree."""

    contestant: Contestant
    promised: Run
    loosest: Run


def run(contestant: Contestant, tolerance: float | None, V: np.ndarray) -> Run:
    """One solve by a fresh solver."""
    solver = contestant.prepare()
    gc.collect()
    gc.disable()
    start = perf_counter()
    solver.solve(tolerance)
    seconds = perf_counter() - start
    gc.enable()
    return Run(tolerance, seconds, float(np.abs(solver.values() - V).max()))


def calibrate(contestant: Contestant, V: np.ndarray) -> Entry:
    """The first runs of a contestant, which find its loosest accurate tolerance."""
    promised = loosest = run(contestant, contestant.promised, V)
    if contestant.ours or contestant.promised is None:
        return Entry(contestant, promised, promised)
    for step in range(1, MOST_STEPS + 1):
        if loosest.seconds > ONCE:
            break
        trial = run(contestant, contestant.promised * 10**step, V)
        if trial.error > ACCURACY:
            break
        loosest = trial
    return Entry(contestant, promised, loosest)


def race(model: FastSlowMDP, rounds: int, paper_size: bool) -> list[Entry]:
    """All contestants on one model, ours first."""
    V = optimum(model, REFERENCE).U_XY.reshape(-1)
    entered = [c for c in contestants(model) if paper_size or not c.paper_sizes_only]
    entries = [calibrate(contestant, V) for contestant in entered]
    quick = []
    for entry in entries:
        for first in {id(r): r for r in (entry.promised, entry.loosest)}.values():
            if first.seconds <= ONCE:
                first.seconds, first.runs = np.inf, 0  # it may have compiled on the way
                quick.append((entry.contestant, first))
    for _ in range(rounds):
        for contestant, best in quick:
            again = run(contestant, best.tolerance, V)
            best.seconds, best.runs = min(best.seconds, again.seconds), best.runs + 1
    return entries


def races() -> Iterator[tuple[str, FastSlowMDP, list[Entry]]]:
    for preset, rounds in PRESETS.items():
        for domain in ("inventory", "gridworld", "pricing"):
            name = domain if preset == "default" else f"{domain}-{preset}"
            model = make(domain, preset).build()
            yield name, model, race(model, rounds, paper_size=preset == "default")


def detail(name: str, model: FastSlowMDP, entries: list[Entry]) -> list[report.Row]:
    """One row per contestant; None where it did not run on this model."""
    by_name = {entry.contestant.name: entry for entry in entries}
    ours = entries[0].promised.seconds
    rows = []
    for contestant in contestants(model):
        row = {"model": name, "states": model.n_states, "actions": model.n_actions}
        row["contestant"] = contestant.name
        entry = by_name.get(contestant.name)
        for which in ("loosest", "promised"):
            r = entry and getattr(entry, which)
            row |= {
                f"{which}_ms": r and round(1e3 * r.seconds, 3),
                f"{which}_ratio": r and round(r.seconds / ours, 3),
                f"{which}_error": r and float(f"{r.error:.3g}"),
                f"{which}_tolerance": r and r.tolerance,
                f"{which}_runs": r and r.runs,
            }
        rows.append(row)
    return rows


def summary(name: str, model: FastSlowMDP, entries: list[Entry]) -> report.Row:
    """Ours against the fastest peer, each peer at its loosest tolerance; then as promised."""
    ours = entries[0].promised.seconds
    peers = [e for e in entries if not e.contestant.ours and e.promised.error <= ACCURACY]
    best = min(peers, key=lambda entry: entry.loosest.seconds)
    ratio = best.loosest.seconds / ours
    promised = min(entry.promised.seconds for entry in peers) / ours
    return {
        "model": name,
        "states × actions": f"{model.n_states:,} × {model.n_actions}",
        "fsdash MPI, ms": report.number(1e3 * ours),
        "best peer": best.contestant.name,
        "its ms": report.number(1e3 * best.loosest.seconds),
        "best peer / ours": f"{ratio:.1f}",
        "at promised tolerances": f"{promised:.1f}",
        "target": f"≥ {TARGETS[name]:g}" if TARGETS[name] > 1 else "> 1",
        "met": "yes" if ratio >= TARGETS[name] else "no",
    }


def shown(row: report.Row) -> report.Row:
    """A row of the detail as it is printed."""

    def scientific(key: str, form: str) -> str:
        return "—" if row[key] is None else format(row[key], form)

    return {
        "model": row["model"],
        "contestant": row["contestant"],
        "ms": report.number(row["loosest_ms"]),
        "ratio to ours": report.number(row["loosest_ratio"], 2),
        "error": scientific("loosest_error", ".2e"),
        "tolerance": scientific("loosest_tolerance", "g"),
        "ms as promised": report.number(row["promised_ms"]),
        "ratio to ours as promised": report.number(row["promised_ratio"], 2),
        "error as promised": scientific("promised_error", ".2e"),
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
