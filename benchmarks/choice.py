"""Choosing a method and T by measurement, against its targets: `python -m benchmarks.choice`.

    domains       `plan(sampled=True)` on the three domains with 20 fresh seeds, against
                  E-FSVI and the policy greedy for J, each with the best T in hindsight, Base E-VI,
                  also with common random numbers, and certainty equivalence. Share of the optimum,
                  by exact evaluation. Read from the archive; `python -m fsdash.reproduce beyond`
                  computes it (`fsdash.reproduce.budgets`).
    random        the same on 20 random fast-slow models that were not used in development, and
                  against rolling freeze and thawed sweeps, as a score from 0 (uniform actions) to 1
                  (optimum). Certainty equivalence is compared separately.
    certificates  certificate ÷ true largest regret of FSVI for T = 2, …, 24, and its cost, against
                  solving the model to 0.1% by modified policy iteration.
    time          seconds of the frontier behind the measured view.

A recommendation pays for every sample, also for its policy. On the domains the baselines count as
in the paper, without the samples that extract their policies, which favours them. On the random
models all costs count for every method. "In hindsight" means the best mean over the seeds at each
budget. A shortfall is what the recommendation lacks against the best of the other methods, or 0, so
models where the recommendation wins do not make up for others; it has seeds of its own, so it is
never compared with itself. `python -m benchmarks.choice certificates time` measures two parts only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks import report
from benchmarks.random_models import KINDS, random_fast_slow
from benchmarks.report import Row, target
from fsdash.algorithms import fsvi, mpi, rolling, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.snapshot import Snapshot
from fsdash.choice.certify import Certified, certify, upper_bound
from fsdash.choice.frontier import frontier
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import q_values
from fsdash.domains import make
from fsdash.figures.budgets import best_in_hindsight
from fsdash.reproduce.archive import archived_budgets
from fsdash.reproduce.budgets import (
    BUDGETS,
    CERTAINTY,
    CERTIFIED_T,
    COMMON,
    METHODS,
    PRECISION,
    RECOMMENDED,
    Score,
    evidence_name,
    method_scores,
)
from fsdash.reproduce.budgets import evidence as budget_evidence
from fsdash.reproduce.claims.at_budgets import OTHERS
from fsdash.theory.measured import measure

DOMAINS = ("inventory", "gridworld", "pricing")
SEEDS = range(9_100, 9_105)
HELD_OUT = range(9_000, 9_005)
"""Seeds of the random models, five of each kind."""
LARGE = (10, 1_000, 10)
"""Sizes of a model with 10⁵ state-action pairs."""
RATIO_TARGETS = {"inventory": 3.0, "gridworld": 10.0, "pricing": 3.0}


# ---------------------------------------------------------------------------------------- policies


def normalised(model: FastSlowMDP) -> Score:
    """0 for uniform actions, 1 for the optimum."""
    best, U_XY = model.mean(optimum(model).U_XY), np.zeros((model.n_slow, model.n_fast))
    for _ in range(round(15 / (1 - model.gamma))):
        U_XY = q_values(model, model.true, U_XY).mean(axis=2)
    worst = model.mean(U_XY)
    tolerance = PRECISION * (best - worst)
    value = lambda policy: model.mean(policy_values(model, policy, tolerance=tolerance).U_XY)  # noqa: E731
    return lambda policy: (value(policy) - worst) / (best - worst)


def compare(
    model: FastSlowMDP, seeds: Sequence[int], score: Score, all_costs: bool = False
) -> dict[str, np.ndarray]:
    """Mean scores over the seeds; methods with T in hindsight."""
    scores: dict[tuple[str, int | None], list[np.ndarray]] = {}
    for seed in seeds:
        for method, T, found in method_scores(model, seed, score, all_costs):
            scores.setdefault((method, T), []).append(found)
    best: dict[str, np.ndarray] = {}
    for (method, _), found in scores.items():
        mean = np.mean(found, axis=0)
        best[method] = np.fmax(best.get(method, mean), mean)
    return best


def shortfall(scores: dict[str, np.ndarray], others: Sequence[str]) -> np.ndarray:
    """What the recommendation lacks against the best of the others at each budget, or 0."""
    best = np.nanmax([scores[name] for name in others if name in scores], axis=0)
    return np.maximum(best - scores[RECOMMENDED], 0.0)


# ------------------------------------------------------------------------------------------- parts


def domains() -> tuple[list[Row], list[Row]]:
    rows, targets = [], []
    budgets, certified = archived_budgets() or (None, None)
    if budgets is None:
        raise SystemExit("no archive: run `python -m fsdash.reproduce beyond` first")
    evidence = budget_evidence(budgets, certified)
    for name, of_domain in budgets.groupby("domain", sort=False):
        for method in METHODS:
            of_method = of_domain[of_domain["method"] == method].dropna(subset=["share"])
            if of_method.empty:
                continue
            table = best_in_hindsight(of_method).set_index("sweeps")
            for what in ("mean", "least", "most"):
                label = f"{method}, {what}"
                shares = table[what].reindex(BUDGETS).to_numpy()
                rows.append(_score_row("domains", name, label, shares))
        own = evidence[evidence_name(name)]
        leads = [own.at(RECOMMENDED, b) - own.best_of(OTHERS, b) for b in BUDGETS]
        smallest = min(lead.mean() for lead in leads)
        targets.append(target(f"{name}: lead over the other methods", smallest, "≥ 0", 0.0))
    return rows, targets


def random() -> tuple[list[Row], list[Row]]:
    rows: list[Row] = []
    shortfalls: dict[str, list[np.ndarray]] = {"": [], ", with certainty equivalence": []}
    without = [name for name in METHODS if name not in (RECOMMENDED, COMMON, CERTAINTY)]
    for kind in KINDS:
        for seed in HELD_OUT:
            model = random_fast_slow(seed, kind)
            scores = compare(model, SEEDS, normalised(model), all_costs=True)
            rows += [_score_row(kind, str(seed), method, score) for method, score in scores.items()]
            for others, found in zip(
                (without, (*without, CERTAINTY)), shortfalls.values(), strict=True
            ):
                found.append(shortfall(scores, others))
    targets = [
        target(f"20 random models: mean shortfall at {budget:g}{what}", value, f"≤ {most:g}", most)
        for what, found in shortfalls.items()
        for budget, value in zip(BUDGETS, np.mean(found, axis=0), strict=True)
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
