"""Planning with simulators against its targets: `python -m benchmarks.simulators [part …]`.

    solve        shortfall of coarse lattices from a fine one, calls (without those of
                 `check_simulator`) and CPU seconds; rolling freeze with n = 64 against thawed.
                 400 common paths.
    certificate  the limit at the optimum with 30 paths, as a share of the value; the smallest gap
                 of a path; certified ÷ true for rolling freeze with small n on pricing.
    coverage     how often the limit is below the true regret: 500 repetitions on tabular models.
    race         how often a race of 13 candidates with 5·10⁴ calls picks one within .3% of the
                 best one.
    plan         the gap that `plan_simulator(seconds=60)` returns.

Five seeds each. Seconds are CPU seconds of one thread, except in `plan`, whose budget is wall time.
A target is judged by the worst seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time

import numpy as np

from benchmarks import report
from benchmarks.report import Row, target
from fsdash.algorithms.optimum import optimum
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.simulators.battery import Battery
from fsdash.simulators.dual import MIN_PATHS, certified_paths, one_sided_limit
from fsdash.simulators.lattice import Lattice
from fsdash.simulators.lost_sales import LostSales
from fsdash.simulators.plan import plan_simulator
from fsdash.simulators.policy import LatticePolicy
from fsdash.simulators.pricing import ContinuousPricing
from fsdash.simulators.queue import Queue
from fsdash.simulators.race import Entrant, discounted_returns, race, rule_candidate
from fsdash.simulators.simulator import Driver, Simulator, check_simulator
from fsdash.simulators.tabular import TabularSimulator

SEEDS = range(5)
PATHS, PERIODS = 400, 4.6
"""Paths of an evaluation, and their length in units of 1/(1 − γ): γᵗ is then .01."""


def lattice_of(sim: Simulator, seed: int, coarse: int = 1) -> Lattice:
    return Lattice(Driver(sim), check_simulator(sim), np.random.default_rng(seed), coarse=coarse)


def solved(lattice: Lattice, first: int = 32) -> np.ndarray:
    V_NL = chain_values(lattice, first)
    for _, V_NL in lattice.solve(V_NL):  # noqa: B007, B020
        pass
    return V_NL


def chain_values(lattice: Lattice, n: int) -> np.ndarray:
    return next(V_NL for k, V_NL in lattice.chain() if k == n)


def returns(sim: Simulator, policy: LatticePolicy, seed: int = 1_000) -> np.ndarray:
    driver = Driver(sim)
    periods = round(PERIODS / (1 - driver.spec.gamma))
    return discounted_returns(driver, [policy.act], np.random.default_rng(seed), PATHS, periods)[0]


def shortfall(best: np.ndarray, other: np.ndarray) -> float:
    """In percent of the best value."""
    return float(100 * (best - other).mean() / abs(best.mean()))


def _solve() -> tuple[list[Row], list[Row]]:
    rows: list[Row] = []
    for sim, coarse in ((ContinuousPricing(), 4), (Battery(), 4)):
        fine = lattice_of(sim, 500)
        best = returns(sim, fine.policy(solved(fine), True, "thawed"))
        for seed in SEEDS:
            start = process_time()
            lattice = lattice_of(sim, seed, coarse)
            thawed = lattice.policy(solved(lattice), True, "thawed")
            seconds, calls = process_time() - start, lattice.driver.calls
            frozen = lattice.policy(chain_values(lattice, 64), False, "rolling")
            J = returns(sim, thawed)
            rows.append(
                {
                    "simulator": sim.name,
                    "seed": seed,
                    "calls": calls,
                    "CPU seconds": round(seconds, 2),
                    "shortfall %": round(shortfall(best, J), 3),
                    "n = 64 against thawed %": round(shortfall(J, returns(sim, frozen)), 3),
                }
            )
    targets = []
    for name, percent, calls, seconds in (
        ("ContinuousPricing", 0.1, 5e4, 1),
        ("Battery", 1, 1e6, 2),
    ):
        mine = [row for row in rows if row["simulator"] == name]
        worst = {key: max(row[key] for row in mine) for key in mine[0] if key != "simulator"}  # type: ignore[type-var]
        for key, limit in (("shortfall %", percent), ("calls", calls), ("CPU seconds", seconds)):
            targets.append(target(f"{name}: {key}", worst[key], f"≤ {limit:g}", limit))  # type: ignore[arg-type]
        key = "n = 64 against thawed %"
        targets.append(target(f"{name}: {key}", worst[key], "≤ 0.1", 0.1))  # type: ignore[arg-type]
    return rows, targets


def _certificate() -> tuple[list[Row], list[Row]]:
    rows: list[Row] = []
    for sim, coarse in ((ContinuousPricing(), 2), (Battery(), 1), (LostSales(3), 1)):
        lattice = lattice_of(sim, 500, coarse)
        V_NL = solved(lattice)
        policy = lattice.policy(V_NL, True, "thawed")
        for seed in SEEDS:
            start, calls = process_time(), lattice.driver.calls
            *_, last = certified_paths(lattice, V_NL, policy.act, seed=seed, most=MIN_PATHS)
            assert last is not None
            rows.append(
                {
                    "simulator": sim.name,
                    "policy": "thawed",
                    "seed": seed,
                    "mean gap %": round(100 * last.gap / abs(last.value), 4),
                    "limit %": round(100 * last.limit_share, 4),
                    "smallest gap": round(float(last.gaps.min()), 4),
                    "true %": 0.0,
                    "calls": lattice.driver.calls - calls,
                    "CPU seconds": round(process_time() - start, 1),
                }
            )
        if sim.name == "ContinuousPricing":
            best = returns(sim, policy)
            for n in (8, 16):
                rolling = lattice.policy(chain_values(lattice, n), False, "rolling")
                *_, last = certified_paths(lattice, V_NL, rolling.act, seed=9, most=MIN_PATHS)
                assert last is not None
                rows.append(
                    {
                        **rows[-1],
                        "policy": f"rolling, n = {n}",
                        "seed": 9,
                        "mean gap %": round(100 * last.gap / abs(last.value), 4),
                        "limit %": round(100 * last.limit_share, 4),
                        "smallest gap": round(float(last.gaps.min()), 4),
                        "true %": round(shortfall(best, returns(sim, rolling)), 4),
                    }
                )
    targets = []
    for name, percent in (("ContinuousPricing", 0.05), ("Battery", 1), ("LostSales", 1)):
        mine = [r for r in rows if r["simulator"] == name and r["policy"] == "thawed"]
        worst = max(float(row["limit %"]) for row in mine)  # type: ignore[arg-type]
        targets.append(target(f"{name}: limit at the optimum, %", worst, f"≤ {percent}", percent))
    least = min(float(r["smallest gap"]) for r in rows if r["simulator"] == "LostSales")  # type: ignore[arg-type]
    targets.append(target("LostSales: smallest gap of a path", least, "≥ 0", 0))
    for row in rows:
        if row["policy"] != "thawed":
            ratio = float(row["mean gap %"]) / float(row["true %"])  # type: ignore[arg-type]
            targets.append(target(f"pricing, {row['policy']}: certified ÷ true", ratio, "≤ 2", 2))
    return rows, targets


def _tabular(seed: int) -> FastSlowMDP:
    rng = np.random.default_rng(seed)
    X, Y, A, W = 3, 5, 3, 3
    return FastSlowMDP(
        reward_XYA=rng.uniform(-1, 1, (X, Y, A)),
        noise_W=rng.dirichlet(np.ones(W)),
        next_slow=rng.integers(X, size=(X, 1, 1, W)),
        next_fast=rng.integers(Y, size=(X, Y, A, W)),
        gamma=0.9,
    )


def _coverage(repetitions: int = 100) -> tuple[list[Row], list[Row]]:
    """With poor values V, which leave slack, and with solved ones, which leave almost none."""
    rows: list[Row] = []
    for seed in SEEDS:
        model = _tabular(seed)
        lattice = lattice_of(TabularSimulator(model), seed)
        poor_NL = chain_values(lattice, 3)
        policy = lattice.policy(poor_NL, False, "rolling")
        x, y = np.indices((model.n_slow, model.n_fast)).reshape(2, -1, 1).astype(float)
        policy_PXY = policy.act(x, y).reshape(1, model.n_slow, model.n_fast)
        regret = model.mean(optimum(model).U_XY - policy_values(model, policy_PXY).U_XY)
        for name, V_NL in (("poor", poor_NL), ("solved", solved(lattice))):
            most = MIN_PATHS * repetitions
            *_, last = certified_paths(lattice, V_NL, policy.act, seed=seed, most=most)
            assert last is not None
            limits = [one_sided_limit(block) for block in last.gaps.reshape(repetitions, MIN_PATHS)]
            rows.append(
                {
                    "model": seed,
                    "V": name,
                    "true regret": round(regret, 4),
                    "mean gap": round(last.gap, 4),
                    "smallest gap": round(float(last.gaps.min()), 9),
                    "limit below the regret": sum(limit < regret for limit in limits),
                    "limit below the mean gap": sum(limit < last.gap for limit in limits),
                    "repetitions": repetitions,
                }
            )
    targets = []
    for name in ("poor", "solved"):
        missed = sum(int(str(r["limit below the regret"])) for r in rows if r["V"] == name)
        share = missed / (len(SEEDS) * repetitions)
        targets.append(target(f"limit below the true regret, {name} V", share, "≤ 5%", 0.05))
    return rows, targets


def _race(repetitions: int = 20) -> tuple[list[Row], list[Row]]:
    sim = LostSales(3)
    driver, lattice = Driver(sim), lattice_of(sim, 500)
    policies = {"thawed": lattice.policy(solved(lattice), True, "thawed")}
    for n in (1, 2, 3, 4, 6, 8, 12, 16):
        policies[f"n = {n}"] = lattice.policy(chain_values(lattice, n), False, "rolling")
    acts: dict[str, Callable] = {name: policy.act for name, policy in policies.items()}
    for k, theta in enumerate(([2, 3.6, 1.6], [6, 3.6, 1.6], [4, 3, 1.6], [8, 4.2, 1.4])):
        acts[f"rule {k}"] = rule_candidate(driver, np.array(theta)).act
    periods, rng = round(PERIODS / (1 - sim.gamma)), np.random.default_rng(77)
    means = discounted_returns(driver, list(acts.values()), rng, 1_000, periods).mean(axis=1)
    value = dict(zip(acts, means, strict=True))
    best, rows = max(value.values()), list[Row]()
    for seed in range(5 * repetitions):
        before = driver.calls
        entered = [Entrant(name, act) for name, act in acts.items()]
        winner = race(driver, entered, 5e4, [seed])[0]
        lost = float(100 * (best - value[winner.name]) / abs(best))
        used = driver.calls - before
        rows.append({"seed": seed, "winner": winner.name, "lost %": round(lost, 3), "calls": used})
    share = float(np.mean([float(str(row["lost %"])) <= 0.3 for row in rows]))
    return rows, [target("race within .3% of the best", share, "≥ 95%", 0.95)]


def _plan() -> tuple[list[Row], list[Row]]:
    limits = {"ContinuousPricing": 1, "LostSales": 1, "Battery": 2, "Queue": 3}
    rows: list[Row] = []
    for sim in (ContinuousPricing(), LostSales(3), Battery(), Queue()):
        for seed in SEEDS:
            plan = plan_simulator(sim, seconds=60, seed=seed)
            rows.append(
                {
                    "simulator": sim.name,
                    "seed": seed,
                    "method": plan.method,
                    "n": plan.T,
                    "value": round(plan.value, 2),
                    "gap %": None if plan.gap_share is None else round(100 * plan.gap_share, 3),
                    "lead": None if plan.lead is None else round(plan.lead, 2),
                    "calls": sum(plan.calls.values()),
                    "seconds": round(sum(plan.seconds.values()), 1),
                }
            )
    targets = []
    for name, limit in limits.items():
        gaps = [row["gap %"] for row in rows if row["simulator"] == name]
        worst = max(float("inf") if gap is None else float(str(gap)) for gap in gaps)
        targets.append(target(f"{name}: gap in 60 s, %", worst, f"≤ {limit}", limit))
    return rows, targets


PARTS = {
    "solve": _solve,
    "certificate": _certificate,
    "coverage": _coverage,
    "race": _race,
    "plan": _plan,
}

if __name__ == "__main__":
    report.measure_parts("simulators", PARTS, sys.argv[1:])
