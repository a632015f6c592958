"""The contestants: fsdash, quantecon and mdpsolver on the same model, to the same accuracy.

Each contestant is a solver object made fresh from the model for every run: mdpsolver starts from
its last solution when it solves a second time. Making it is not timed, `solve` is, and reading the
values afterwards is not. A user of a general library also has to write the sparse matrix down;
for the largest model here that takes longer than solving it, and it is left out in the peers'
favour.

Representation, each library's best for these models:

    quantecon   state-action pairs, R (L,), Q a CSR matrix (L, |S|), outcomes that lead to the same
                state added up
    mdpsolver   lists of probabilities and columns of the non-zeros, without `parallel` (on one
                thread that is the faster setting) and without its final check

Stopping rules, as documented and as read in the sources. `promised` is the tolerance for which the
rule guarantees ‖V − V*‖∞ ≤ 1e-3, the last column:

    fsdash             certified error ≤ tolerance                                       1e-3
    quantecon MPI      span(δ) < ε(1−γ)/γ, then the mid-range correction: error ≤ ε/2    2e-3
    quantecon VI       ‖δ‖∞ < ε(1−γ)/(2γ): error ≤ ε/2                                   2e-3
    quantecon PI       the policy repeats, or 250 iterations: exact                      none
    mdpsolver MPI      span(δ) < ε(1−γ)/γ, then the lower bound: error ≤ ε               1e-3
    mdpsolver MPI, GS  ‖δ‖∞ < ε(1−γ)/(2γ), updates in place: error ≤ ε/2                 2e-3
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Protocol

import mdpsolver
import numpy as np
from quantecon.markov import DiscreteDP
from scipy import sparse

from fsdash.algorithms import mpi, run_until, vi
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows

UNLIMITED = 10**6


class Solver(Protocol):
    """One model in the form of one library, not solved yet."""

    def solve(self, tolerance: float) -> None: ...

    def values(self) -> np.ndarray:
        """V, one entry per state without padding."""


@dataclass(frozen=True)
class Contestant:
    """`prepare()` makes a fresh solver; `promised` is None where no tolerance can be chosen."""

    name: str
    prepare: Callable[[], Solver]
    promised: float | None
    ours: bool = False
    paper_sizes_only: bool = False


class Problem:
    """A model with the representations of it that the peers' fresh solvers are made from.

    States without padding are numbered 0, 1, …; L is the number of feasible pairs.
    """

    def __init__(self, model: FastSlowMDP) -> None:
        self.model = model
        self.real_S = model.real_XY.reshape(-1)
        feasible_SA = model.feasible_XYA.reshape(-1, model.n_actions)[self.real_S]
        self.state_L, self.action_L = np.nonzero(feasible_SA)

    @cached_property
    def reward_SA(self) -> np.ndarray:
        return self.model.reward_XYA.reshape(-1, self.model.n_actions)[self.real_S]

    @cached_property
    def reward_L(self) -> np.ndarray:
        return self.reward_SA[self.state_L, self.action_L]

    @cached_property
    def Q(self) -> sparse.csr_matrix:
        """P(s' | s, a), one row per feasible pair (s, a)."""
        d, S = self.model.true, self.model.n_states
        if isinstance(d, Rows):
            # 32-bit indices are SciPy's own choice for matrices of this size.
            parts = (d.probability_N, d.target_N.astype(np.int32), d.start_R.astype(np.int32))
            row_L = d.row_XYA.reshape(S, -1)[self.real_S][self.state_L, self.action_L]
            return sparse.csr_matrix(parts, shape=(d.n_rows, S))[row_L][:, self.real_S]
        W = len(d.noise_W)
        shape = (*self.model.reward_XYA.shape, W)
        first_of_row = d.next_slow.astype(np.int64) * self.model.n_fast
        next_XYAW = np.broadcast_to(first_of_row + d.next_fast, shape)
        L = S * self.model.n_actions
        entries = (np.tile(d.noise_W, L), next_XYAW.flatten(), np.arange(0, L * W + 1, W))
        Q = sparse.csr_matrix(entries, shape=(L, S))
        Q.sum_duplicates()
        return Q

    @cached_property
    def lists(self) -> dict[str, list]:
        """The arguments of mdpsolver: nested lists [s][a], and [s][a][j] over the non-zeros."""
        ends = self.Q.indptr.tolist()
        pairs = list(pairwise(ends))

        def nested(flat: list) -> list:
            rows = [flat[start:end] for start, end in pairs]
            A = self.model.n_actions
            return [rows[i : i + A] for i in range(0, len(rows), A)]

        return {
            "rewards": self.reward_SA.tolist(),
            "tranMatProbs": nested(self.Q.data.tolist()),
            "tranMatColumns": nested(self.Q.indices.tolist()),
        }


class Fsdash:
    def __init__(self, problem: Problem, algorithm: Callable) -> None:
        self.model, self.algorithm = problem.model, algorithm

    def solve(self, tolerance: float) -> None:
        self.snapshot = run_until(self.algorithm(self.model), tolerance=tolerance)

    def values(self) -> np.ndarray:
        return self.snapshot.values_XY[self.model.real_XY]


class QuantEcon:
    def __init__(self, problem: Problem, method: str, dense: bool = False, **options) -> None:
        pairs, gamma = (problem.state_L, problem.action_L), problem.model.gamma
        self.ddp = DiscreteDP(problem.reward_L, problem.Q, gamma, *pairs)
        if dense:
            self.ddp = self.ddp.to_product_form()
        self.method, self.options = method, options

    def solve(self, tolerance: float) -> None:
        self.result = self.ddp.solve(self.method, epsilon=tolerance, **self.options)

    def values(self) -> np.ndarray:
        return self.result.v


class MDPSolver:
    def __init__(self, problem: Problem, update: str) -> None:
        self.mdl = mdpsolver.model()
        self.mdl.mdp(discount=problem.model.gamma, **problem.lists)
        self.update = update

    def solve(self, tolerance: float) -> None:
        self.mdl.solve("mpi", tolerance, update=self.update, parallel=False, makeFinalCheck=False)

    def values(self) -> np.ndarray:
        return np.array(self.mdl.getValueVector())


def contestants(model: FastSlowMDP) -> list[Contestant]:
    """Ours first. Those for paper sizes only take half a minute and more on the large models."""
    problem = Problem(model)
    # `fsdash(mpi)` is a function without arguments that makes a fresh Fsdash(problem, mpi).
    fsdash = partial(partial, Fsdash, problem)
    quantecon = partial(partial, QuantEcon, problem)
    mdpsolver_ = partial(partial, MDPSolver, problem)
    small = {"paper_sizes_only": True}
    return [
        Contestant("fsdash MPI", fsdash(mpi), 1e-3, ours=True),
        Contestant("fsdash VI", fsdash(vi), 1e-3, ours=True, **small),
        Contestant("quantecon MPI, k=20", quantecon("mpi", k=20, max_iter=UNLIMITED), 2e-3),
        Contestant("quantecon MPI, k=100", quantecon("mpi", k=100, max_iter=UNLIMITED), 2e-3),
        Contestant("quantecon PI", quantecon("pi"), None, **small),
        Contestant("quantecon VI", quantecon("vi", max_iter=UNLIMITED), 2e-3, **small),
        Contestant("mdpsolver MPI", mdpsolver_("standard"), 1e-3, **small),
        Contestant("mdpsolver MPI, GS", mdpsolver_("gs"), 2e-3, **small),
    ]
