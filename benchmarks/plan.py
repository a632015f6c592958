"""Plans against their targets: `python -m benchmarks.plan`.

    regret   `plan(sweeps=b)` for b = 1, 2, 4, 8, 16 on the three domains, the seven models of
             `benchmarks.external_models` and 30 random ones that were not used in development:
             mean regret ÷ that of the policy with the best immediate reward, minus the same of the
             best of VI, MPI, FSVI (any T) and rolling freeze (any n), each with its parameters
             chosen in hindsight for free. Everything counts for every method, also the sweep that
             makes a policy from values; in the column "paper" it is free for the others, as in the
             paper. A plan pays for its certificates as well.
    gap      time and sweeps until a certified gap of 1% and 0.1%, ÷ those of plain modified policy
             iteration, which has the same certificate
    seconds  how far `plan(seconds=s)` exceeds s, and the share of its time that the log takes

`python -m benchmarks.plan gap` measures one part only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from math import inf, nan
from statistics import mean, median
from time import perf_counter

import numpy as np

from benchmarks import report
from benchmarks.external_models import MODELS
from benchmarks.random_models import KINDS, random_fast_slow
from benchmarks.report import Row, target
from fsdash.algorithms import fsvi, mpi, rolling, vi
from fsdash.algorithms.snapshot import Snapshot
from fsdash.choice.plan import plan, plan_steps, relative_gap
from fsdash.choice.solved import SolvedModel
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.domains import make

BUDGETS = (1, 2, 4, 8, 16)
GAPS = (0.01, 0.001)
DOMAINS = ("inventory", "gridworld", "pricing")
SEEDS = range(120_000, 120_030)
LONGEST, LARGE = 64, 400_000
"""Longest horizon of rolling freeze, and pairs above which FSVI is run with few T."""
PLENTY = 600.0
ROUNDS = 7
"""Timed repetitions, of which the fastest counts."""


def models() -> Iterator[tuple[str, str, Callable[[], FastSlowMDP]]]:
    """Kind, name and builder of each model."""
    for name in DOMAINS:
        yield "domain", name, make(name).build
    for name, source in MODELS.items():
        yield "outside", name, lambda source=source: source().build()
    for i, seed in enumerate(SEEDS):
        kind = KINDS[i % len(KINDS)]
        yield kind, f"{kind} {seed}", lambda seed=seed, kind=kind: random_fast_slow(seed, kind)


class Regrets:
    """Relative mean regrets of policies, each evaluated once."""

    def __init__(self, model: FastSlowMDP) -> None:
        self.solved, self.model = SolvedModel(model), model
        self.known: dict[bytes, float] = {}
        self.start_XY: np.ndarray | None = None

    def __call__(self, policy_PXY: np.ndarray) -> float:
        key = policy_PXY.astype(np.int32).tobytes()
        if key not in self.known:
            found = policy_values(
                self.model, policy_PXY, tolerance=self.solved.tolerance, start_XY=self.start_XY
            )
            self.start_XY = found.U_XY
            gap_XY = np.maximum(self.solved.best.U_XY - found.U_XY, 0)
            self.known[key] = self.solved.relative_regret(self.model.mean(gap_XY))
        return self.known[key]


def competitors(model: FastSlowMDP) -> Iterator[tuple[str, Iterator[Snapshot], float]]:
    """Each method with its parameter, and the sweeps that its policy takes after its values."""
    yield "rolling", rolling(model, LONGEST), 0.0
    yield "mpi", mpi(model), 1.0
    yield "vi", vi(model), 1.0
    for T in range(2, 25) if model.n_pairs <= LARGE else (2, 4, 8, 16):
        yield f"fsvi T={T}", (s for s in fsvi(model, T) if s.phase != "lower"), 1.0


def hindsight(model: FastSlowMDP, regret: Regrets) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The best regret at each budget, all counted and counted as in the paper, and its method."""
    sweep = model.n_pairs * model.true.outcomes
    best, paper, names = np.ones(len(BUDGETS)), np.ones(len(BUDGETS)), ["none"] * len(BUDGETS)
    for name, snapshots, extraction in competitors(model):
        for snapshot in islice(snapshots, LONGEST):
            cost = snapshot.evaluations / sweep
            if cost > BUDGETS[-1]:
                break
            loss = regret(snapshot.policy_PXY)
            for i, budget in enumerate(BUDGETS):
                if cost <= budget + 1e-9:
                    paper[i] = min(paper[i], loss)
                if cost + extraction <= budget + 1e-9 and loss < best[i]:
                    best[i], names[i] = loss, name
    return best, paper, names


def regret() -> tuple[list[Row], list[Row]]:
    rows, excess, excess_paper = [], [], []
    for kind, name, build in models():
        model = build()
        loss = Regrets(model)
        best, paper, names = hindsight(model, loss)
        planned = np.array([loss(plan(model, sweeps=b).policy_PXY) for b in BUDGETS])
        if np.isnan(planned).any():  # the policy with the best immediate reward is optimal
            planned, best, paper = (np.zeros(len(BUDGETS)) for _ in range(3))
        excess.append(planned - best)
        excess_paper.append(planned - paper)
        for what, numbers in (("plan", planned), ("best", best), ("paper", paper)):
            shown = {f"{b}": f"{n:.4f}" for b, n in zip(BUDGETS, numbers, strict=True)}
            method = names[2] if what == "best" else ""
            rows.append({"kind": kind, "model": name, "what": what, **shown, "at 4": method})
    targets = []
    for i, budget in enumerate(BUDGETS):
        average, worst = np.mean(excess, axis=0)[i], np.max(excess, axis=0)[i]
        free = np.mean(excess_paper, axis=0)[i]
        what = f"{len(excess)} models, {budget} sweeps: regret above the best in hindsight"
        targets += [
            target(f"{what}, mean", average, "≤ 0.01", 0.01),
            target(f"{what}, largest", worst, "≤ 0.05", 0.05),
            target(f"{what}, their policies free, mean", free, "≤ 0.01", 0.01),
        ]
    return rows, targets


def plain(model: FastSlowMDP, gap: float) -> float:
    """Modified policy iteration until the gap; the sweeps, with the one that makes the policy."""
    bound = inf
    for snapshot in islice(mpi(model), 5_000):
        value = model.mean(snapshot.values_XY)
        bound = min(bound, value + snapshot.error)
        if relative_gap(value - snapshot.error, bound) <= gap:
            return snapshot.evaluations / (model.n_pairs * model.true.outcomes) + 1
    return nan


def fastest(*computations: Callable[[], object]) -> list[float]:
    """Seconds of each computation, in turns, the fastest of several rounds."""
    best = [inf] * len(computations)
    for _ in range(ROUNDS):
        for i, compute in enumerate(computations):
            started = perf_counter()
            compute()
            best[i] = min(best[i], perf_counter() - started)
    return best


def gap() -> tuple[list[Row], list[Row]]:
    rows, ratios = [], []
    for kind, name, build in models():
        model = build()
        for goal in GAPS:
            sweeps, planned = plain(model, goal), plan(model, sweeps=1e5, gap=goal)
            theirs, ours = fastest(
                lambda model=model, goal=goal: plain(model, goal),
                lambda model=model, goal=goal: plan(model, seconds=PLENTY, gap=goal),
            )
            counted = planned.log["sweeps"].iloc[-1] / sweeps
            ratios.append((goal, theirs, ours / theirs, counted))
            rows.append(
                {
                    "kind": kind,
                    "model": name,
                    "gap": f"{goal:.1%}",
                    "MPI, ms": f"{1e3 * theirs:.2f}",
                    "plan, ms": f"{1e3 * ours:.2f}",
                    "time ratio": f"{ours / theirs:.2f}",
                    "MPI, sweeps": f"{sweeps:.1f}",
                    "sweeps ratio": f"{counted:.2f}",
                }
            )
    targets = []
    for goal in GAPS:
        mine = [(theirs, time, counted) for g, theirs, time, counted in ratios if g == goal]
        slow = [time for theirs, time, _ in mine if theirs >= 1e-3]
        what = f"gap {goal:.1%}: plan ÷ MPI"
        targets += [
            target(f"{what}, seconds, largest", max(t for _, t, _ in mine), "≤ 1.1", 1.1),
            target(f"{what}, seconds, MPI ≥ 1 ms, largest", max(slow), "≤ 1.1", 1.1),
            target(f"{what}, seconds, median", median(t for _, t, _ in mine), "≤ 1", 1.0),
            target(f"{what}, sweeps, largest", max(c for _, _, c in mine), "≤ 1.1", 1.1),
            target(f"{what}, sweeps, median", median(c for _, _, c in mine), "≤ 1", 1.0),
        ]
    return rows, targets


def seconds() -> tuple[list[Row], list[Row]]:
    rows, late, shares = [], [], []
    for _, name, build in islice(models(), len(DOMAINS) + len(MODELS)):
        model = build()
        for size in (0.01, 0.1, 1.0):
            started = perf_counter()
            steps = list(plan_steps(model, seconds=size, gap=1e-300))
            took = perf_counter() - started
            started = perf_counter()
            log = [step.row for step in steps]
            share = (perf_counter() - started) / took
            late.append(took - 1.1 * size)
            shares.append(share)
            shown = {"seconds": size, "took": f"{took:.3f}", "rows": len(log)}
            rows.append({"model": name, **shown, "log": f"{share:.3%}"})
    return rows, [
        target("seconds beyond 1.1 times the budget, largest", max(late), "≤ 0.05", 0.05),
        target("share of the log, mean", mean(shares), "≤ 0.02", 0.02),
    ]


PARTS = {"regret": regret, "gap": gap, "seconds": seconds}


if __name__ == "__main__":
    report.measure_parts("plan", PARTS, sys.argv[1:])
