"""Sampled sweeps, ours beside straightforward implementations: `python -m benchmarks.sampled`.

    E-VI sweep          M = 50 samples a (s, a), against vectorised NumPy: draw (chunk, A, M)
                        outcomes by inverse CDF, look the successors up, take the mean.
    E-FSVI upper sweep  M_u = 50 paths a (s, a), against a Numba loop that simulates every path;
                        for a lower policy with ties broken at random (the default: about 8
                        non-zeros a row of K) and by first index (about 2).

All contestants draw from the same distribution; a check before the race compares their means. They
take turns, and the fastest of several rounds counts. Nothing here fails on a slow machine: targets
are printed as met or not.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product, takewhile

import numba
import numpy as np

from benchmarks import report
from benchmarks.checks import fastest
from fsdash.algorithms.e_fsvi import e_fsvi
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import follow, q_values, upper_bellman
from fsdash.domains import make
from fsdash.sampling import TIES, Sampler, Sampling, UpperSampler, backup

M = 50
CHUNK = 256
"""States that NumPy handles at a time: its arrays then fit into the cache, its best case here."""
SWEEP_TARGETS = {"gridworld": 20.0, "pricing": 8.0}
UPPER_TARGET = 25.0
UPPER_T = (6, 12)


def numpy_sweep(model: FastSlowMDP, U_XY: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The sampled H U, as one would write it with NumPy."""
    X, Y, A = model.reward_XYA.shape
    cdf_W = np.cumsum(model.noise_W)
    cdf_W[-1] = 1.0
    shape = (X, Y, A, len(cdf_W))
    next_slow = np.broadcast_to(model.next_slow, shape)
    next_fast = np.broadcast_to(model.next_fast, shape)
    reward_SA, HU_S = model.reward_XYA.reshape(-1, A), np.empty(X * Y)
    a = np.arange(A)[:, None]
    for start in range(0, X * Y, CHUNK):
        s = np.arange(start, min(start + CHUNK, X * Y))
        w = np.searchsorted(cdf_W, rng.random((len(s), A, M)), side="right")
        x, y = (s // Y)[:, None, None], (s % Y)[:, None, None]
        samples = U_XY[next_slow[x, y, a, w], next_fast[x, y, a, w]]
        HU_S[s] = (reward_SA[s] + model.gamma * samples.mean(axis=2)).max(axis=1)
    return HU_S


@numba.njit(nogil=True)
def simulate(rng, reward_XYA, next_slow, next_fast, noise_W, gamma, policy_PXY, J1_XY, V_XY):
    """The sampled F V, as one would write it with Numba, for an exogenous slow state and a fast
    state that sees neither x nor noise (gridworld)."""
    X, Y, A = reward_XYA.shape
    T = len(policy_PXY) + 1
    cdf_W = np.cumsum(noise_W)
    FV_S = np.empty(X * Y)
    for x0 in range(X):
        for y0 in range(Y):
            best = -np.inf
            for a in range(A):
                total = 0.0
                for _ in range(M):
                    w = np.searchsorted(cdf_W, rng.random(), side="right")
                    x, y = next_slow[x0, 0, 0, w], next_fast[0, y0, a, 0]
                    total += gamma * J1_XY[x, y]
                    for t in range(T - 1):
                        w = np.searchsorted(cdf_W, rng.random(), side="right")
                        action = policy_PXY[t, x, y]
                        x, y = next_slow[x, 0, 0, w], next_fast[0, y, action, 0]
                    total += gamma**T * V_XY[x, y]
                best = max(best, reward_XYA[x0, y0, a] + total / M)
            FV_S[x0 * Y + y0] = best
    return FV_S


def agree(ours: Callable, theirs: Callable, exact_S: np.ndarray, scale: float) -> float:
    """By how much the two mean values differ, relative to the values: sampling noise, no more."""
    return float(abs((ours() - exact_S).mean() - (theirs() - exact_S).mean()) / scale)


def sweep_tasks(model: FastSlowMDP) -> tuple[Callable, Callable, np.ndarray]:
    rng = np.random.default_rng(0)
    U_XY = rng.random((model.n_slow, model.n_fast))
    sampler = Sampler(model, model.true, M)
    exact_S = q_values(model, model.true, U_XY).max(axis=2).reshape(-1)
    return (
        lambda: backup(sampler, U_XY, rng)[0],
        lambda: numpy_sweep(model, U_XY, rng),
        exact_S,
    )


def upper_tasks(model: FastSlowMDP, T: int, ties: str) -> tuple[Callable, Callable, np.ndarray]:
    rng = np.random.default_rng(0)
    lower = takewhile(
        lambda s: s.phase == "lower", e_fsvi(model, rng, T=T, sampling=Sampling(ties=ties))
    )
    *_, cyclic = (snapshot for snapshot in lower if snapshot.policy_kind == "cyclic")
    J1_XY, lower = cyclic.values_XY, cyclic.policy_PXY
    V_XY = 100 * rng.random(J1_XY.shape)
    sampler = UpperSampler(model, J1_XY, lower, Sampling(M_u=M, ties="first"))
    followed = [follow(model.true, policy_XY) for policy_XY in lower]
    tables = model.reward_XYA, model.next_slow, model.next_fast, model.noise_W, model.gamma
    return (
        lambda: backup(sampler, V_XY, rng)[0],
        lambda: simulate(rng, *tables, lower, J1_XY, V_XY),
        upper_bellman(model, J1_XY, followed, V_XY)[0].reshape(-1),
    )


def races():
    """Name, straightforward way, tasks, target and rounds of each race."""
    for domain, target in SWEEP_TARGETS.items():
        model = make(domain).build()
        yield f"E-VI sweep, {domain}", "NumPy", sweep_tasks(model), target, 7
    model = make("gridworld").build()
    for ties, T in product(TIES, UPPER_T):
        name = f"E-FSVI upper sweep, gridworld T={T}, {ties} ties"
        yield name, "Numba simulation", upper_tasks(model, T, ties), UPPER_TARGET, 7


def main() -> None:
    rows = []
    for name, way, (ours, theirs, exact_S), target, rounds in races():
        difference = agree(ours, theirs, exact_S, float(np.abs(exact_S).mean()))
        mine, plain = fastest([ours, theirs], rounds)
        rows.append(
            {
                "what": name,
                "fsdash, ms": report.number(1e3 * mine),
                "straightforward": way,
                "its ms": report.number(1e3 * plain),
                "ratio": f"{plain / mine:.1f}",
                "target": f"≥ {target:g}",
                "met": "yes" if plain / mine >= target else "no",
                "means differ by": f"{difference:.1e}",
            }
        )
    report.save("sampled", rows)
    print(report.markdown(rows))


if __name__ == "__main__":
    main()
