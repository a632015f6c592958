"""Time to build a model beside the time to solve it: `python -m benchmarks.building`.

Two tables, processor time, the least of several rounds, certified error 1e-3:

- random models from CSR arrays with one row per pair: a copy of the arrays, building with all
  checks, the first and the second solve;
- a battery with exogenous hour, regime and price level, of which the regime alone is slow: the law
  in two factors (`fsdash.from_markov_chain`), and written out as rows where that fits.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd
from scipy import sparse

import fsdash
from benchmarks.report import Row, markdown, number, save
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman
from fsdash.core.rows import to_rows

ROUNDS, TOLERANCE = 3, 1e-3
RANDOM = ((10, 2_000, 10, 3), (10, 2_000, 10, 10), (10, 10_000, 10, 10), (10, 500, 10, 100))
"""|X|, |Y|, |A| and successors."""
BATTERIES = ((50, 19), (50, 140), (400, 140))
"""Charges and actions, with 24 hours, 3 regimes and 20 levels."""
MOST_WRITTEN_OUT = 60_000_000


def main() -> None:
    for name, rows in (
        ("building", [built(*sizes) for sizes in RANDOM]),
        ("factored", [battery(*sizes) for sizes in BATTERIES]),
    ):
        save(name, rows)
        print(markdown(rows), end="\n\n", flush=True)


def built(X: int, Y: int, A: int, n: int) -> Row:
    """A random model from CSR arrays."""
    rng, S = np.random.default_rng(0), X * Y
    L = S * A
    next_LN = np.sort(rng.integers(S, size=(L, n), dtype=np.int32), axis=1)
    P = sparse.csr_array(
        (rng.dirichlet(np.ones(n), L).ravel(), next_LN.ravel(), np.arange(L + 1) * n), shape=(L, S)
    )
    P.sum_duplicates()
    R, s, a = rng.random(L), np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    arrays = (P.indptr, P.indices, P.data, R, s, a)
    copy, _ = least(lambda: [array.copy() for array in arrays])
    build, model = least(
        lambda: fsdash.from_arrays(P, R, gamma=0.95, s_indices=s, a_indices=a), rounds=ROUNDS + 2
    )
    solves = [least(lambda: fsdash.optimum(model, tolerance=TOLERANCE), rounds=1)[0] for _ in "abc"]
    return {
        "pairs": f"{L:,}",
        "probabilities": f"{P.nnz:,}",
        "copy, ms": number(1e3 * copy),
        "build, ms": number(1e3 * build),
        "build / copy": number(build / copy, 2),
        "first solve, ms": number(1e3 * solves[0]),
        "next solve, ms": number(1e3 * min(solves[1:])),
    }


def battery_model(charges: int, actions: int) -> FastSlowMDP:
    """Buy and sell at a price with a daily course, a level and a regime."""
    hours, regimes, levels = 24, 3, 20
    chain = pd.DataFrame(
        list(np.ndindex(regimes, hours, levels)), columns=["regime", "hour", "level"]
    )
    step = sparse.diags_array([0.3, 0.4, 0.3], offsets=[-1, 0, 1], shape=(levels, levels)).toarray()
    step /= step.sum(axis=1, keepdims=True)
    stay = np.full((regimes, regimes), 0.01) + 0.97 * np.eye(regimes)
    far = np.linalg.matrix_power(step, 5)  # all levels that are near
    forward = np.roll(np.eye(hours), 1, axis=1)
    P = sparse.kron(stay, sparse.kron(forward, far), format="csr")
    change_A = np.linspace(-charges // 2, charges // 2, actions).round().astype(int)
    next_QA = np.arange(charges)[:, None] + change_A
    next_QA[(next_QA < 0) | (next_QA >= charges)] = -1
    daily_H = 1 + 0.4 * np.sin(2 * np.pi * np.arange(hours) / hours)
    price_Z = daily_H[chain.hour] * (1 + chain.level / levels) * (1 + 0.5 * chain.regime)
    reward = -price_Z.to_numpy()[:, None, None] * change_A - 0.02 * np.abs(change_A)
    return fsdash.from_markov_chain(
        P,
        next_QA,
        np.broadcast_to(reward, (len(chain), charges, actions)),
        gamma=0.99,
        slow_values=chain,
        slow="regime",
    )


def battery(charges: int, actions: int) -> Row:
    """Build, sweep and solve the battery in two factors, and written out if that fits."""
    build, model = least(lambda: battery_model(charges, actions), rounds=1)
    U_XY = np.zeros(model.real_XY.shape)
    sweep, _ = least(lambda: bellman(model, model.true, U_XY))
    solve, best = least(lambda: fsdash.optimum(model, tolerance=TOLERANCE), rounds=1)
    # What a sweep must read and write: rewards, rows and values.
    traffic = model.reward_XYA.nbytes + model.true.row_XYA.nbytes + 4 * U_XY.nbytes
    copied = np.empty(traffic // 16)
    copied[:] = 1.0
    copy, _ = least(lambda: copied.copy())
    row: Row = {
        "pairs": f"{model.n_pairs:,}",
        "transitions": f"{model.n_pairs * model.true.outcomes:,}",
        "stored": f"{model.true.entries:,}",
        "build, s": number(build),
        "sweep, ms": number(1e3 * sweep),
        "sweep / traffic": number(sweep / copy, 2),
        "solve, s": number(solve),
        "within 1e-3": str(best.within_tolerance),
        "GB at most": number(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20),
    }
    written = [None, None]
    if model.true.to_rows_size() <= MOST_WRITTEN_OUT:
        options = {"reward_XYA": model.reward_XYA, "gamma": model.gamma}
        written[0], rows = least(lambda: FastSlowMDP(rows=to_rows(model), **options), rounds=1)
        written[1], _ = least(lambda: fsdash.optimum(rows, tolerance=TOLERANCE), rounds=1)
    return row | {"rows: build, s": number(written[0]), "rows: solve, s": number(written[1])}


def least(task: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, object]:
    """The least processor time of a task, and what it returned."""
    best, result = np.inf, None
    for _ in range(rounds):
        start = process_time()
        result = task()
        best = min(best, process_time() - start)
    return best, result


if __name__ == "__main__":
    main()
