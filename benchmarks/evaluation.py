"""Evaluation of policies, ours beside SciPy's linear solvers: `python -m benchmarks.evaluation`.

The value of a policy with P phases solves (I − γ P_π) U = r_π, a sparse system with P·|S| unknowns.
Evaluated are the optimal policy (P = 1) and the 6-periodic policy of FSVI on each domain.

    fsdash     `policy_values`, certified to an error of at most 1e-6 in every state
    spsolve    SuperLU, a direct solver; left out for the largest system, which takes minutes
    bicgstab   until ‖residual‖₂ ≤ 1e-6 (1 − γ), which implies an error of at most 1e-6 but for
               rounding; GMRES, more than ten times slower on the inventory, is left out

Building the matrix is not timed, in SciPy's favour. The contestants take turns, and the fastest of
several rounds counts. `missed` names the solvers whose largest distance to our values exceeds what
both promise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import bicgstab, spsolve

from benchmarks import report
from benchmarks.checks import fastest
from fsdash.algorithms import fsvi, mpi, run_until
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.domains import make

TOLERANCE = 1e-6
T = 6
DOMAINS = ("inventory", "gridworld", "pricing")
MAX_STEPS = 20_000
LARGEST_DIRECT = 50_000
"""Unknowns of the largest system for the direct solver."""
ROUNDS = 5


def system(model: FastSlowMDP, policy_PXY: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """The matrix I − γ P_π and the rewards r_π of a policy, phase by phase."""
    P, n, W = len(policy_PXY), model.n_states, len(model.noise_W)
    x, y = np.divmod(np.arange(n), model.n_fast)
    shape = (*model.reward_XYA.shape, W)
    next_slow = np.broadcast_to(model.next_slow, shape)
    next_fast = np.broadcast_to(model.next_fast, shape)
    rewards, columns = [], []
    for phase in range(P):
        a = policy_PXY[phase].reshape(-1)
        successor = next_slow[x, y, a].astype(np.int64) * model.n_fast + next_fast[x, y, a]
        rewards.append(model.reward_XYA[x, y, a])
        columns.append((phase + 1) % P * n + successor)
    entries = np.tile(model.noise_W, P * n), np.concatenate(columns).reshape(-1)
    chain = sparse.csr_array((*entries, np.arange(0, P * n * W + 1, W)), shape=(P * n, P * n))
    chain.sum_duplicates()
    return sparse.eye_array(P * n, format="csr") - model.gamma * chain, np.concatenate(rewards)


def solvers(model: FastSlowMDP, policy_PXY: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """Each contestant as a function that returns the values at phase 0."""
    matrix, reward = system(model, policy_PXY)
    direct, n = matrix.tocsc(), model.n_states
    limit = {"rtol": 0.0, "atol": TOLERANCE * (1 - model.gamma), "maxiter": MAX_STEPS}
    contestants = {
        "fsdash": lambda: policy_values(model, policy_PXY, tolerance=TOLERANCE).U_XY.reshape(-1),
        "spsolve": lambda: spsolve(direct, reward)[:n],
        "bicgstab": lambda: bicgstab(matrix, reward, **limit)[0][:n],
    }
    if len(reward) > LARGEST_DIRECT:
        del contestants["spsolve"]
    return contestants


def row(domain: str, kind: str, model: FastSlowMDP, policy_PXY: np.ndarray) -> report.Row:
    contestants = solvers(model, policy_PXY)
    values = {name: solve() for name, solve in contestants.items()}
    seconds = dict(zip(contestants, fastest(list(contestants.values()), ROUNDS), strict=True))
    distance = {name: float(abs(U_S - values["fsdash"]).max()) for name, U_S in values.items()}
    missed = [name for name, error in distance.items() if not error <= 2 * TOLERANCE]
    ratio = {name: seconds[name] / seconds["fsdash"] for name in contestants}
    return {
        "domain": domain,
        "policy": kind,
        "unknowns": f"{policy_PXY.size:,}",
        "fsdash, ms": report.number(1e3 * seconds["fsdash"]),
        "spsolve / ours": report.number(ratio.get("spsolve"), 2),
        "bicgstab / ours": report.number(ratio["bicgstab"], 2),
        "missed": ", ".join(missed) or "none",
    }


def policies(model: FastSlowMDP) -> dict[str, Callable[[], np.ndarray]]:
    return {
        "optimal": partial(_policy, mpi(model)),
        f"FSVI, T={T}": partial(_policy, fsvi(model, T)),
    }


def _policy(algorithm) -> np.ndarray:
    return run_until(algorithm, tolerance=1e-3).policy_PXY


def main() -> None:
    rows = []
    for name in DOMAINS:
        model = make(name).build()
        for kind, policy in policies(model).items():
            rows.append(row(name, kind, model, policy()))
    report.save("evaluation", rows)
    print(report.markdown(rows))


if __name__ == "__main__":
    main()
