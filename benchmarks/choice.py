"""Choosing a method and T by measurement, against its targets: `python -m benchmarks.choice`.

    domains       `recommend(sampled=True)` on the three domains with five fresh seeds, against
                  E-FSVI with the best T in hindsight, Base E-VI, the policy greedy for J (best T in
                  hindsight) and rolling freeze. Share of the optimum, by exact evaluation.
    random        the same on 20 random fast-slow models that were not used in development, as a
                  score from 0 (uniform actions) to 1 (optimum).
    certificates  certificate ÷ true largest regret of FSVI for T = 2, …, 24, and its cost, against
                  solving the model to 0.1% by modified policy iteration.
    time          seconds of the frontier behind the measured view.

A recommendation pays for every sample. The baselines are counted as in the paper, without the
samples that extract their policies, which favours them; "in hindsight" means the best mean over the
seeds at each budget. `python -m benchmarks.choice certificates time` measures some parts only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks import report
from benchmarks.random_models import KINDS, random_fast_slow
from benchmarks.report import Row, target
from fsdash.algorithms import efsvi, erolling, evi, fsvi, mpi, rolling, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.snapshot import Snapshot
from fsdash.choice.certify import Certified, certify, upper_bound
from fsdash.choice.frontier import frontier
from fsdash.choice.recommend import SAMPLES, recommend
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import q_values
from fsdash.domains import make
from fsdash.theory.measured import measure

DOMAINS = ("inventory", "gridworld", "pricing")
BUDGETS = (0.25, 0.5, 1, 2, 4, 8, 16)
"""In sweeps of Base E-VI with 50 samples."""
SEEDS = range(9_100, 9_105)
HELD_OUT = range(9_000, 9_005)
"""Seeds of the random models, five of each kind."""
HORIZONS = (2, 3, 6, 12, 24)
LONGEST = 800
LARGE = (10, 1_000, 10)
"""Sizes of a model with 10⁵ state-action pairs."""
CERTIFIED_T = range(2, 25)
RATIO_TARGETS = {"inventory": 3.0, "gridworld": 10.0, "pricing": 3.0}
PRECISION = 1e-5

Score = Callable[[np.ndarray], float]


# ---------------------------------------------------------------------------------------- policies


def share_of_optimum(model: FastSlowMDP) -> Score:
    """The policy's share of the optimal mean return."""
    best = model.mean(optimum(model).U_XY)
    return lambda policy: _value(model, policy, best) / best


def normalised(model: FastSlowMDP) -> Score:
    """0 for uniform actions, 1 for the optimum."""
    best, U_XY = model.mean(optimum(model).U_XY), np.zeros((model.n_slow, model.n_fast))
    for _ in range(round(15 / (1 - model.gamma))):
        U_XY = q_values(model, model.true, U_XY).mean(axis=2)
    worst = model.mean(U_XY)
    return lambda policy: (_value(model, policy, best - worst) - worst) / (best - worst)


def _value(model: FastSlowMDP, policy: np.ndarray, scale: float) -> float:
    return model.mean(policy_values(model, policy, tolerance=PRECISION * abs(scale)).U_XY)


def at_budgets(snapshots: Iterator[Snapshot], unit: int, score: Score) -> dict[str, np.ndarray]:
    """By kind of policy: the score of the last affordable policy at each budget; NaN for none."""
    last: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {}
    due = 0

    def read(budget: int) -> None:
        for kind, policy in last.items():
            found.setdefault(kind, np.full(len(BUDGETS), np.nan))[budget] = score(policy)

    for snapshot in snapshots:
        while due < len(BUDGETS) and snapshot.evaluations > BUDGETS[due] * unit:
            read(due)
            due += 1
        if due == len(BUDGETS):
            return found
        last[snapshot.policy_kind] = snapshot.policy_PXY
    for budget in range(due, len(BUDGETS)):
        read(budget)
    return found


def baselines(model: FastSlowMDP, seed: int, score: Score) -> dict[str, np.ndarray]:
    """The score of each method at each budget; for those with T, one row per T."""
    unit, none = SAMPLES * model.n_pairs, np.full(len(BUDGETS), np.nan)
    found = {
        "Base E-VI": at_budgets(evi(model, _rng(seed), snapshots_per_sweep=1), unit, score)[
            "stationary"
        ],
        "rolling, longest n": at_budgets(erolling(model, _rng(seed), T=LONGEST), unit, score)[
            "rolling"
        ],
    }
    for T in HORIZONS:
        kinds = at_budgets(efsvi(model, _rng(seed), T=T, snapshots_per_sweep=1), unit, score)
        periodic, cyclic = kinds.get("periodic", none), kinds["cyclic"]
        found[f"E-FSVI, T={T}"] = np.where(np.isnan(periodic), cyclic, periodic)
        found[f"greedy for J, T={T}"] = kinds["stationary"]
    return found


def recommended(model: FastSlowMDP, seed: int, score: Score) -> np.ndarray:
    """The score of the recommendation at each budget."""
    choices = (recommend(model, sweeps=b, sampled=True, seed=seed) for b in BUDGETS)
    return np.array([score(choice.policy_PXY) for choice in choices])


def compare(model: FastSlowMDP, seeds: Sequence[int], score: Score) -> dict[str, np.ndarray]:
    """Mean scores over the seeds; methods with T in hindsight."""
    runs = [
        {"recommend": recommended(model, seed, score), **baselines(model, seed, score)}
        for seed in seeds
    ]
    means = {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}
    best: dict[str, np.ndarray] = {}
    for name, mean in means.items():
        family = name.partition(", T=")[0]
        best[family] = np.fmax(best.get(family, mean), mean)
    return best


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------------------- parts


def domains() -> tuple[list[Row], list[Row]]:
    rows, targets = [], []
    for name in DOMAINS:
        model = make(name).build()
        found = compare(model, SEEDS, share_of_optimum(model))
        rows += [_score_row("domains", name, method, score) for method, score in found.items()]
        others = [score for method, score in found.items() if method != "recommend"]
        lead = found["recommend"] - np.nanmax(others, axis=0)
        targets.append(target(f"{name}: lead over the best other method", lead.min(), "≥ 0", 0.0))
        targets.append(
            target(f"{name}: shortfall against the best method", -lead.min(), "≤ 0.01", 0.01)
        )
    return rows, targets


def random() -> tuple[list[Row], list[Row]]:
    rows, shortfalls = [], []
    for kind in KINDS:
        for seed in HELD_OUT:
            model = random_fast_slow(seed, kind)
            found = compare(model, SEEDS, normalised(model))
            rows += [_score_row(kind, str(seed), method, score) for method, score in found.items()]
            others = [score for method, score in found.items() if method != "recommend"]
            shortfalls.append(np.nanmax(others, axis=0) - found["recommend"])
    mean = np.mean(shortfalls, axis=0)
    targets = [
        target(f"20 random models: mean shortfall at {budget:g}", value, f"≤ {most:g}", most)
        for budget, value in zip(BUDGETS, mean, strict=True)
        if (most := 0.02 if budget == 0.25 else 0.01 if budget >= 1 else None) is not None
    ]
    return rows, targets


def certificates() -> tuple[list[Row], list[Row]]:
    rows, targets = [], []
    for name in DOMAINS:
        model = make(name).build()
        best = optimum(model)
        solved = run_until(mpi(model), tolerance=1e-3 * float(np.abs(best.U_XY).max()))
        solving = solved.backups / model.n_pairs
        lasts = {T: run_until(fsvi(model, T), iterations=30) for T in CERTIFIED_T}
        true = {T: regret(model, s.policy_PXY, best=best).max_regret for T, s in lasts.items()}
        for way, found, shared in _ways(model, lasts):
            ratio = median(found[T].max_regret / true[T] for T in CERTIFIED_T)
            cost = median(c.sweeps for c in found.values()) + shared
            rows.append(
                {
                    "model": name,
                    "certificate": way,
                    "median ratio": f"{ratio:.2f}",
                    "largest ratio": f"{max(found[T].max_regret / true[T] for T in found):.1f}",
                    "sweeps": f"{cost:.1f}",
                    "sweeps to solve": f"{solving:.1f}",
                }
            )
            if way == "one pass, Hᵀ":
                most = RATIO_TARGETS[name]
                targets.append(target(f"{name}: certificate ÷ regret", ratio, f"≤ {most:g}", most))
                text = f"< {solving:.1f}"
                targets.append(target(f"{name}: sweeps of a certificate", cost, text, solving))
    return rows, targets


def _ways(
    model: FastSlowMDP, lasts: dict[int, Snapshot]
) -> Iterator[tuple[str, dict[int, Certified], float]]:
    """The ways to certify FSVI, and the sweeps for what all T share."""

    def each(**options) -> dict[int, Certified]:
        return {
            T: certify(model, s.policy_PXY, values_XY=s.values_XY, **options)
            for T, s in lasts.items()
        }

    yield "one pass, H", each(steps=1), 0.0
    one_pass = {
        T: certify(model, s.policy_PXY, values_XY=s.values_XY, steps=T) for T, s in lasts.items()
    }
    yield "one pass, Hᵀ", one_pass, 0.0
    policy_PXY = run_until(rolling(model, 24), iterations=24).policy_PXY
    rolled = certify(model, policy_PXY)
    values = policy_values(model, policy_PXY, tolerance=rolled.max_regret / 20)
    evaluating = values.sweeps * model.n_real / model.n_pairs
    for tighten in (0, 2):
        upper_XY, sweeps = upper_bound(model, values.U_XY, tighten=tighten)
        way = f"shared upper bound{f', {tighten} MPI steps' if tighten else ''}"
        yield way, each(upper_XY=upper_XY), evaluating + sweeps


def time() -> tuple[list[Row], list[Row]]:
    rows, targets = [], []
    models = {name: (make(name).build(), 2.0) for name in DOMAINS}
    for kind in ("noise-free", "endogenous"):
        models[f"random, {kind}"] = (random_fast_slow(0, kind, sizes=LARGE), 10.0)
    for name, (model, most) in models.items():
        # A page has the constants of the domains stored; others see no bound at first.
        constants = measure(model).constants(model.gamma) if name in DOMAINS else None
        frontier(model, [2, 3], bounds=name in DOMAINS, constants=constants)
        started = perf_counter()
        frontier(model, bounds=name in DOMAINS, constants=constants)
        seconds = perf_counter() - started
        rows.append({"model": name, "pairs": f"{model.n_pairs:,}", "frontier, s": f"{seconds:.2f}"})
        targets.append(target(f"{name}: seconds of the frontier", seconds, f"≤ {most:g}", most))
    return rows, targets


def _score_row(part: str, model: str, method: str, scores: np.ndarray) -> Row:
    shown = {f"{b:g}": f"{score:.4f}" for b, score in zip(BUDGETS, scores, strict=True)}
    return {"part": part, "model": model, "method": method, **shown}


PARTS = {"domains": domains, "random": random, "certificates": certificates, "time": time}


if __name__ == "__main__":
    report.measure_parts("choice", PARTS, sys.argv[1:])
