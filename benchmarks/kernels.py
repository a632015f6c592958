"""Time every kernel on index tables and on sparse rows: `python -m benchmarks.kernels`.

Prints the processor time of each operation in milliseconds, the least of several rounds, as JSON.
Run it before and after a change of `fsdash/core` or `fsdash/sampling` and compare.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from time import process_time

import numpy as np

from fsdash.algorithms import run_until, slow_agnostic
from fsdash.algorithms.optimum import optimum
from fsdash.core.blocks import frozen_blocks
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, expect, follow, policy_sweeps
from fsdash.core.rows import to_rows
from fsdash.core.simulate import simulate, visits
from fsdash.domains import make
from fsdash.sampling import NextStates, Sampler, UpperSampler, backup

ROUNDS, SECONDS = 7, 0.08
"""Rounds, and about how long an operation is repeated in each."""


def main() -> None:
    times: dict[str, float] = {}
    operations = {
        f"{name}, {form}: {what}": operation
        for name in ("inventory", "gridworld", "pricing")
        for form, model in _forms(make(name).build()).items()
        for what, operation in _operations(model).items()
    }
    for _ in range(ROUNDS):
        for what, operation in operations.items():
            times[what] = min(times.get(what, np.inf), 1000 * _seconds(operation))
    print(json.dumps({what: round(value, 5) for what, value in times.items()}, indent=1))


def _forms(model: FastSlowMDP) -> dict[str, FastSlowMDP]:
    rows = FastSlowMDP(
        reward_XYA=model.reward_XYA,
        rows=to_rows(model),
        frozen_rows=to_rows(model, model.frozen),
        gamma=model.gamma,
    )
    return {"tables": model, "rows": rows}


def _operations(model: FastSlowMDP) -> dict[str, Callable[[], object]]:
    U_XY = model.reward_XYA.max(axis=2)
    policy_XY = bellman(model, model.true, U_XY)[1]
    followed = follow(model.true, policy_XY)
    pair_N = np.random.default_rng(0).choice(np.flatnonzero(model.feasible_XYA), 10_000)
    u_N = np.random.default_rng(1).random(10_000)
    one, common = (Sampler(model, model.true, 50, "random", c) for c in (False, True))
    paths = UpperSampler(model, U_XY, [policy_XY] * 3, 10, sparse=False)
    counts = UpperSampler(model, U_XY, [policy_XY] * 3, 10)
    states, draws = range(0, model.n_states, 1 + model.n_states // 500), NextStates(model)
    rng = np.random.default_rng

    def agnostic() -> object:
        return run_until(slow_agnostic(model, rng(0), M=5), iterations=1)

    return {
        "bellman": lambda: bellman(model, model.true, U_XY),
        "expect": lambda: expect(model, followed, U_XY),
        "follow": lambda: follow(model.true, policy_XY),
        "sweeps": lambda: policy_sweeps(model, policy_XY, U_XY.copy(), 10, 0.0),
        "policy values": lambda: policy_values(model, policy_XY),
        "optimum": lambda: optimum(replace(model, name=model.name)),
        "one step": lambda: backup(one, U_XY, rng(0), states),
        "one step, common": lambda: backup(common, U_XY, rng(0), states),
        "T steps": lambda: backup(counts, U_XY, rng(0), states),
        "T steps, paths": lambda: backup(paths, U_XY, rng(0), states),
        "draws": lambda: draws.draw(pair_N, u_N),
        "path": lambda: simulate(model, policy_XY, rng=rng(0), steps=5_000),
        "blocks": lambda: frozen_blocks(model, policy_XY, rng=rng(0), blocks=500, T=4),
        "visits": lambda: visits(model, policy_XY, tolerance=1e-2),
        "slow agnostic": agnostic,
    }


def _seconds(operation: Callable[[], object]) -> float:
    n, start = 0, process_time()
    while (spent := process_time() - start) < SECONDS:
        operation()
        n += 1
    return spent / n


if __name__ == "__main__":
    main()
