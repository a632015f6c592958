"""Speed and memory of single parts: the backup, the table of bounds, the tables of a model."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from benchmarks.report import Row
from fsdash.core.operators import bellman
from fsdash.domains import make
from fsdash.theory.presets import DEFAULT_PRESET, preset
from fsdash.theory.table import bounds_table

MEGABYTE = 2**20


def fastest(
    tasks: Sequence[Callable[[], object]], rounds: int, clock: Callable[[], float] = perf_counter
) -> list[float]:
    """The least seconds of each task, taken in turns; one round before them to warm up."""
    best = [np.inf] * len(tasks)
    for n in range(rounds + 1):
        for i, task in enumerate(tasks):
            start = clock()
            task()
            seconds = clock() - start
            if n > 0:
                best[i] = min(best[i], seconds)
    return best


def backups(n_references: Sequence[int] = (101, 201, 401, 801), rounds: int = 20) -> list[Row]:
    """The time of one Bellman sweep of pricing models of growing |S|, per (s, a)."""
    models = [make("pricing", n_reference=n).build() for n in n_references]
    starts = [np.random.default_rng(0).random((m.n_slow, m.n_fast)) for m in models]
    sweeps = [lambda m=m, U=U: bellman(m, m.true, U) for m, U in zip(models, starts, strict=True)]
    rows = []
    for n, model, seconds in zip(n_references, models, fastest(sweeps, rounds), strict=True):
        pairs = model.n_states * model.n_actions
        rows.append(
            {
                "n_reference": n,
                "states": model.n_states,
                "actions": model.n_actions,
                "sweep_ms": round(1e3 * seconds, 4),
                "ns_per_backup": round(1e9 * seconds / pairs, 4),
            }
        )
    return rows


def bounds_milliseconds(rounds: int = 7) -> float:
    """`bounds_table` for T = 1, …, 10,000 and 50 values of k."""
    case = preset(DEFAULT_PRESET)
    T, k = np.arange(1, 10_001), 20 * np.arange(1, 51)
    [seconds] = fastest([lambda: bounds_table(case.constants, case.sizes, T=T, k=k)], rounds)
    return 1e3 * seconds


def pricing_megabytes(name: str) -> tuple[float, float]:
    """The tables of a pricing model, and the most memory that building it needed at one time."""
    domain = make("pricing", name)
    tracemalloc.start()
    model = domain.build()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return model.nbytes / MEGABYTE, peak / MEGABYTE


def checks() -> list[Row]:
    """Each measured value with its target."""
    default, default_peak = pricing_megabytes("default")
    large, large_peak = pricing_megabytes("large")
    measured = [
        ("bounds table, T = 1…10⁴ × 50 values of k", bounds_milliseconds(), "ms", 50),
        ("tables of pricing", default, "MB", 32),
        ("tables of pricing-large", large, "MB", 32),
        ("peak while building pricing", default_peak, "MB", None),
        ("peak while building pricing-large", large_peak, "MB", None),
    ]
    return [
        {
            "check": what,
            "value": round(value, 2),
            "unit": unit,
            "target": "" if target is None else f"≤ {target}",
            "met": "" if target is None else "yes" if value <= target else "no",
        }
        for what, value, unit, target in measured
    ]
