"""Models from other sources, against their targets: `python -m benchmarks.own_models`.

    solve     the seven models of `benchmarks.external_models`, solved to a certified 1e-3, against
              the fastest method of quantecon: VI, PI and MPI with k = 20 and 100, with sparse and,
              where they fit into memory, dense transition matrices
    sweep     one sweep, H U with the greedy policy, against SciPy's product of the same transition
              matrix and V, which gives the expectations only, and against H U from this product
    file      reading and checking a CSV file of a million transitions, in a process of its own
    threads   one exact solve with 10⁷ state-action pairs on one thread and on two, by the clock
              (`benchmarks.large_solve`)

How contestants take turns: `benchmarks.solve`. `python -m benchmarks.own_models sweep file`
measures some parts only.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.checks import fastest
from benchmarks.external_models import MODELS, random_model
from benchmarks.peers import UNLIMITED, Contestant, Fsdash, Problem, QuantEcon
from benchmarks.report import Row, target
from benchmarks.solve import ACCURACY, race
from fsdash.algorithms import mpi
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman
from fsdash.models.law import Law

ROUNDS = 5
DENSE_BYTES = 2**29
"""Largest dense transition matrix that quantecon is given."""
DIRECT_STATES = 20_000
"""Most states for policy iteration, whose direct solver fills a random matrix with non-zeros."""
TIMED = 0.02
"""About how many seconds of sweeps are timed at once."""
CSV_MODEL = ((20, 250, 26), 8)
"""Sizes and next states of a random model with a few more than a million transitions."""


def contestants(model: FastSlowMDP) -> list[Contestant]:
    """Ours first, then every method of quantecon that the model's size allows."""
    problem = Problem(model)
    entered = [Contestant("fsdash MPI", partial(Fsdash, problem, mpi), ACCURACY, ours=True)]
    S, A = problem.reward_SA.shape
    for form in ("sparse", "dense") if 8 * S * S * A <= DENSE_BYTES else ("sparse",):
        quantecon = partial(partial, QuantEcon, problem, dense=form == "dense")
        # quantecon's values are within half of its ε.
        entered += [
            Contestant(
                f"MPI, k={k}, {form}", quantecon("mpi", k=k, max_iter=UNLIMITED), 2 * ACCURACY
            )
            for k in (20, 100)
        ]
        entered.append(Contestant(f"VI, {form}", quantecon("vi", max_iter=UNLIMITED), 2 * ACCURACY))
        if S <= DIRECT_STATES:
            entered.append(Contestant(f"PI, {form}", quantecon("pi"), None))
    return entered


def solve() -> tuple[list[Row], list[Row]]:
    rows, runs, ratios = [], [], []
    for name, source in MODELS.items():
        transitions = source()
        start = perf_counter()
        model = transitions.build()
        building = perf_counter() - start
        entries = race(model, contestants(model), ROUNDS)
        ours, peers = entries[0], [e for e in entries[1:] if e.error <= ACCURACY]
        best = min(peers, key=lambda entry: entry.seconds)
        ratios.append(best.seconds / ours.seconds)
        runs += [
            {
                "model": name,
                "contestant": entry.contestant.name,
                "ms": round(1e3 * entry.seconds, 3),
                "ratio": round(entry.seconds / ours.seconds, 3),
                "error": float(f"{entry.error:.3g}"),
                "runs": entry.runs,
            }
            for entry in entries
        ]
        rows.append(
            {
                "model": name,
                "slow × fast × actions": " × ".join(f"{n:,}" for n in model.reward_XYA.shape),
                "pairs": f"{model.n_pairs:,}",
                "building, s": f"{building:.2f}",
                "fsdash MPI, ms": report.number(1e3 * ours.seconds),
                "best of quantecon": best.contestant.name,
                "its ms": report.number(1e3 * best.seconds),
                "quantecon / ours": f"{ratios[-1]:.1f}",
            }
        )
        print(report.markdown(runs[-len(entries) :]), end="\n\n", flush=True)
    report.save("own_models_runs", runs)
    fast = sum(ratio >= 2 for ratio in ratios)
    return rows, [
        target("smallest ratio quantecon / ours", min(ratios), "> 1", 1.0),
        target("models solved at least twice as fast", fast, "≥ 5", 5),
    ]


def sweep() -> tuple[list[Row], list[Row]]:
    rows, to_product, to_same = [], [], []
    for name, source in MODELS.items():
        model = source().build()
        problem = Problem(model)
        U_XY = model.mirror(np.random.default_rng(0).random(model.real_XY.shape))
        V, Q, d = U_XY[model.real_XY], problem.Q, model.true
        first_S = np.flatnonzero(np.diff(problem.state_L, prepend=-1))

        def same(problem=problem, Q=Q, V=V, first_S=first_S) -> np.ndarray:
            return np.maximum.reduceat(problem.reward_L + problem.model.gamma * (Q @ V), first_S)

        difference = np.abs(bellman(model, d, U_XY)[0][model.real_XY] - same()).max()
        assert difference <= 1e-9, f"{name}: the sweeps differ by {difference}"
        tasks = (
            lambda m=model, U=U_XY: bellman(m, m.true, U),
            lambda Q=Q, V=V: Q @ V,
            same,
        )
        repeats = max(1, int(TIMED / min(fastest(tasks, rounds=3))))
        repeated = [partial(_repeat, task, repeats) for task in tasks]
        ours, product, theirs = fastest(repeated, 3 * ROUNDS, process_time)
        to_product.append(ours / product)
        to_same.append(ours / theirs)
        rows.append(
            {
                "model": name,
                "probabilities": f"{Q.nnz:,}",
                "in different rows": f"{len(d.target_N):,}",
                "sweep, µs": report.number(1e6 * ours / repeats),
                "SciPy's product, µs": report.number(1e6 * product / repeats),
                "sweep / product": f"{to_product[-1]:.2f}",
                "sweep / SciPy's sweep": f"{to_same[-1]:.2f}",
            }
        )
    return rows, [
        target("largest ratio sweep / bare product", max(to_product), "≤ 1.3", 1.3),
        target("largest ratio sweep / the same with SciPy", max(to_same), "≤ 1.3", 1.3),
    ]


def _repeat(task, times: int) -> None:
    for _ in range(times):
        task()


def file() -> tuple[list[Row], list[Row]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transitions.csv"
        lines = write_csv(path)
        megabytes = path.stat().st_size / 1e6
        # A new process: the peak of this one has the models of the other parts in it.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, peak = min(pool.apply(read_csv, (path,)) for _ in range(3))
    rows = [
        {
            "rows": f"{lines:,}",
            "file, MB": f"{megabytes:.0f}",
            "seconds": f"{seconds:.2f}",
            "peak of the process, MB": f"{peak:.0f}",
        }
    ]
    return rows, [
        target("seconds to read and check", seconds, "< 5", 5),
        target("peak of the process, MB", peak, "< 1000", 1000),
    ]


def write_csv(path: Path) -> int:
    """Write the transitions of a random model; return their number."""
    model = random_model(*CSV_MODEL).build()
    law = Law.of(model, model.true)
    pair_N, take_N = law.transitions_in(law.row_P)
    x, y = np.divmod(law.state_P[pair_N], model.n_fast)
    new_x, new_y = np.divmod(law.next_N[take_N], model.n_fast)
    frame = pd.DataFrame(
        {
            "regime": x,
            "stock": y,
            "action": law.action_P[pair_N],
            "next_regime": new_x,
            "next_stock": new_y,
        }
    )
    frame["p"], frame["reward"] = law.probability_N[take_N], law.reward_P[pair_N]
    frame.to_csv(path, index=False)
    return len(frame)


def read_csv(path: Path) -> tuple[float, float]:
    """Read and check a file; return the seconds and the most megabytes the process has used."""
    import fsdash

    start = perf_counter()
    fsdash.load(path, slow=["regime"], gamma=0.99)
    seconds = perf_counter() - start
    # Unlike `ru_maxrss`, this does not count what the process that started this one uses.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    [peak] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return seconds, int(peak.split()[1]) * 1024 / 1e6


def threads() -> tuple[list[Row], list[Row]]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large_solve"], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    ratio = found["one thread, s"] / found["two threads, s"]
    rows = [{**found, "one / two": f"{ratio:.2f}"}]
    return rows, [target("one thread / two threads", ratio, "≥ 1.6", 1.6)]


PARTS = {"solve": solve, "sweep": sweep, "file": file, "threads": threads}

if __name__ == "__main__":
    report.measure_parts("own_models", PARTS, sys.argv[1:])
