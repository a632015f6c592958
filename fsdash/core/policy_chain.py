"""The Markov chain of a policy: the reward and the successors of each state in each phase.

The value of a T-periodic policy is the fixed point of sweeps U ← r + γ E[U] through the phases,
last phase first. Only the fast states that the policy enters again and again need many sweeps.
Remove every fast state that no other state leads to, and repeat until none can be removed: what
remains is the *core*, which no path leaves. Its values are a separate problem, often a much smaller
one (a tenth of the gridworld). The values outside the core follow from it in one sweep, in the
reverse order of removal. A chain of sparse rows (`RowChain`) has no core taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fsdash.core.kernels import axis_strides, choose, flat_successors, jit, sweep
from fsdash.core.row_kernels import row_mean, sweep_row_phases

if TYPE_CHECKING:
    from fsdash.core.rows import Rows
    from fsdash.core.tables import Tables


@dataclass(frozen=True, eq=False)
class Chain:
    """The phases of a policy, last phase first, with tables as in `Tables` for each phase."""

    reward_PXY: np.ndarray
    next_slow_P: np.ndarray
    next_fast_P: np.ndarray
    noise_W: np.ndarray
    separable: bool
    gamma: float

    @classmethod
    def of(cls, law: Tables, reward_XYA: np.ndarray, policy_PXY: np.ndarray, gamma: float) -> Chain:
        """Build the chain of a checked policy."""
        phases = policy_PXY[::-1]
        followed = [law.follow(policy_XY) for policy_XY in phases]
        return cls(
            _rewards(reward_XYA, phases),
            np.stack([d.next_slow for d in followed]),
            np.stack([d.next_fast for d in followed]),
            followed[0].noise_W,
            # Not that of `followed`: with a single fast state, x' depends on the phase.
            law.separable,
            gamma,
        )

    @cached_property
    def flat(self) -> tuple:
        """The first arguments of `sweep_phases`: rewards and flat successors by phase and state."""
        P, X, Y = self.reward_PXY.shape
        W, separable = self.noise_W.size, self.separable
        moves = zip(self.next_slow_P, self.next_fast_P, strict=True)
        next_PWS = np.stack([flat_successors(*move, separable, X, Y, W) for move in moves])
        reward_PS = self.reward_PXY.reshape(P, -1)
        return reward_PS, next_PWS, self.next_slow_P[0], self.noise_W, separable, self.gamma

    def matrices(self) -> list[sparse.csr_array]:
        """The transition matrix of each phase, last phase first."""
        _, X, Y = self.reward_PXY.shape
        W = self.noise_W.size
        found = []
        for slow, fast in zip(self.next_slow_P, self.next_fast_P, strict=True):
            target_N = np.broadcast_to(slow.astype(np.int64) * Y + fast, (X, Y, 1, W)).reshape(-1)
            entries = (np.tile(self.noise_W, X * Y), target_N, np.arange(X * Y + 1) * W)
            found.append(sparse.csr_array(entries, shape=(X * Y, X * Y)))
        return found

    def values_by_phase(self, U_XY: np.ndarray) -> np.ndarray:
        """Make one sweep and return the values of every phase, last phase first: (P, X, Y)."""
        reward_PS, next_PWS, *rest = self.flat
        U_PXY = np.empty_like(self.reward_PXY)
        for p in range(len(U_PXY)):
            U_PXY[p] = U_XY if p == 0 else U_PXY[p - 1]
            sweep_phases(reward_PS[p : p + 1], next_PWS[p : p + 1], *rest, 1, U_PXY[p])
        return U_PXY

    def core(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the fast states of the core, and the others in their order of removal."""
        return find_core(self.next_fast_P, self.reward_PXY.shape[2])

    def restricted_to(self, core_C: np.ndarray) -> Chain:
        """Return the chain on fast states that it never leaves, renumbered from 0."""
        place_Y = np.zeros(self.reward_PXY.shape[2], np.uint32)
        place_Y[core_C] = np.arange(len(core_C))

        def restrict(table_P: np.ndarray) -> np.ndarray:
            return table_P if table_P.shape[2] == 1 else table_P.take(core_C, axis=2)

        return replace(
            self,
            reward_PXY=restrict(self.reward_PXY),
            next_slow_P=restrict(self.next_slow_P),
            next_fast_P=place_Y[restrict(self.next_fast_P)],
        )

    def extended_from_core(
        self, U_PXC: np.ndarray, core_C: np.ndarray, outside: np.ndarray
    ) -> np.ndarray:
        """Return every phase's values in all states, given those on the core; first phase last."""
        U_PXY = np.empty_like(self.reward_PXY)
        U_PXY[:, :, core_C] = U_PXC
        fill_outside_core(
            self.reward_PXY,
            self.next_slow_P,
            self.next_fast_P,
            self.noise_W,
            self.gamma,
            outside,
            U_PXY,
        )
        return U_PXY


@dataclass(frozen=True, eq=False)
class RowChain:
    """The phases of a policy, last phase first, with the rows that each phase uses."""

    reward_PS: np.ndarray
    row_PS: np.ndarray
    """The row of each phase and state, in the rows of all phases one after the other."""
    first_P: np.ndarray
    """The first row of each phase, and the number of all rows."""
    start_R: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray
    gamma: float
    exogenous: tuple[np.ndarray, ...] = ()
    """P(z, z') of a factored law (`fsdash.core.factored`), in which the rows are the inner law."""

    @classmethod
    def of(
        cls, law: Rows, reward_XYA: np.ndarray, policy_PXY: np.ndarray, gamma: float
    ) -> RowChain:
        """Build the chain of a checked policy."""
        phases = policy_PXY[::-1]
        followed = [law.follow(policy_XY) for policy_XY in phases]
        first_P = np.cumsum([0, *(d.n_rows for d in followed)])
        entries_P = np.cumsum([0, *(len(d.target_N) for d in followed)])
        rows = [d.row_XYA.reshape(-1) for d in followed]
        starts = [d.start_R[:-1] + n for d, n in zip(followed, entries_P, strict=False)]
        return cls(
            _rewards(reward_XYA, phases).reshape(len(phases), -1),
            np.stack([row_S + n for row_S, n in zip(rows, first_P, strict=False)]).astype(
                np.uint32
            ),
            first_P,
            np.concatenate([*starts, entries_P[-1:]]),
            np.concatenate([d.target_N for d in followed]),
            np.concatenate([d.probability_N for d in followed]),
            gamma,
        )

    @property
    def flat(self) -> tuple:
        """The first arguments of `sweep_row_phases`."""
        return (
            self.reward_PS,
            self.row_PS,
            self.first_P,
            self.start_R,
            self.target_N,
            self.probability_N,
            self.gamma,
            *self.exogenous,
        )

    def core(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all states as the core and none outside it."""
        return np.arange(self.row_PS.shape[1]), np.arange(0)

    def matrices(self) -> list[sparse.csr_array]:
        """The transition matrix of each phase, last phase first."""
        shape = (len(self.start_R) - 1, self.row_PS.shape[1])
        rows = sparse.csr_array((self.probability_N, self.target_N, self.start_R), shape=shape)
        if self.exogenous:
            start_Z, to_N, p_N = self.exogenous
            Z = len(start_Z) - 1
            P = sparse.csr_array((p_N, to_N, start_Z), shape=(Z, Z))
            rows = rows @ sparse.kron(P, sparse.eye_array(shape[1] // Z), format="csr")
        return [rows[row_S] for row_S in self.row_PS]


def _rewards(reward_XYA: np.ndarray, phases: np.ndarray) -> np.ndarray:
    """The reward of each phase and state, (P, X, Y)."""
    return np.stack([choose(reward_XYA[..., None], pi_XY)[:, :, 0, 0] for pi_XY in phases])


@jit
def sweep_chain(chain, n, U_XY):
    """Make n sweeps through the phases of a chain in either form, in place.

    The forms differ in the length of the tuple, so only one branch is compiled for each.
    """
    if len(chain) == 6:
        sweep_phases(*chain, n, U_XY)
    elif len(chain) == 7:
        sweep_row_phases(*chain, n, U_XY)
    else:
        sweep_factored_phases(*chain, n, U_XY)


@jit
def average_exogenous(first, last, start_Z, to_N, p_N, U_ZQ, out_ZQ):
    """Set out(z, q) = Σ_z' P(z, z') U(z', q) for z = first to last − 1."""
    for z in range(first, last):
        out_Q = out_ZQ[z]
        out_Q[:] = 0.0
        for i in range(start_Z[z], start_Z[z + 1]):
            p, U_Q = p_N[i], U_ZQ[to_N[i]]
            for q in range(out_Q.size):
                out_Q[q] += p * U_Q[q]


@jit
def sweep_factored_phases(
    reward_PS, row_PS, first_P, start_R, target_N, probability_N, gamma, start_Z, to_N, p_N, n, U_XY
):
    """Make n sweeps through the phases of a factored law, in place."""
    Z = len(start_Z) - 1
    U_S, U_ZQ = U_XY.reshape(-1), U_XY.reshape(Z, U_XY.size // Z)
    average_ZQ, mean_R = np.empty_like(U_ZQ), np.empty(len(start_R) - 1)
    average_S = average_ZQ.reshape(-1)
    for _ in range(n):
        for p in range(len(reward_PS)):
            average_exogenous(0, Z, start_Z, to_N, p_N, U_ZQ, average_ZQ)
            for r in range(first_P[p], first_P[p + 1]):
                mean_R[r] = row_mean(start_R[r], start_R[r + 1], target_N, probability_N, average_S)
            for s in range(U_S.size):
                U_S[s] = reward_PS[p, s] + gamma * mean_R[row_PS[p, s]]


@jit
def sweep_phases(reward_PS, next_PWS, next_slow, noise_W, separable, gamma, n, U_XY):
    """Make n sweeps U ← r + γ E[U] through the phases, in place."""
    source_XY = np.empty_like(U_XY)
    for _ in range(n):
        for p in range(len(reward_PS)):
            sweep(reward_PS[p], next_PWS[p], next_slow, noise_W, separable, gamma, source_XY, U_XY)


@jit
def find_core(next_fast_P, n_fast):
    """Return the core, and all other fast states in their order of removal.

    This takes 2·P·|S|·|W| operations: each transition is counted once and removed once.
    """
    P, X, Y, _, W = next_fast_P.shape
    sy = int(Y > 1)
    entries_Y, outside = np.zeros(n_fast, np.int64), np.empty(n_fast, np.int64)
    for p in range(P):
        for x in range(X):
            for y in range(n_fast):
                for w in range(W):
                    entries_Y[next_fast_P[p, x, y * sy, 0, w]] += 1
    removed = 0
    for y in range(n_fast):
        if entries_Y[y] == 0:
            outside[removed] = y
            removed += 1
    done = 0
    while done < removed:
        y = outside[done]
        done += 1
        for p in range(P):
            for x in range(X):
                for w in range(W):
                    z = next_fast_P[p, x, y * sy, 0, w]
                    entries_Y[z] -= 1
                    if entries_Y[z] == 0:
                        outside[removed] = z
                        removed += 1
    return np.flatnonzero(entries_Y), outside[:removed]


@jit
def fill_outside_core(reward_PXY, next_slow_P, next_fast_P, noise_W, gamma, outside, U_PXY):
    """Fill in the values of the fast states outside the core, in place, last removed first."""
    P, X, _ = reward_PXY.shape
    (sx, sy, _), sw = axis_strides(next_slow_P[0]), int(next_slow_P.shape[4] > 1)
    (fx, fy, _), fw = axis_strides(next_fast_P[0]), int(next_fast_P.shape[4] > 1)
    for y in outside[::-1]:
        for p in range(P):  # p − 1 is the phase that follows; p = 0 is the last phase, so it wraps
            for x in range(X):
                future = 0.0
                for w in range(noise_W.size):
                    slow = next_slow_P[p, x * sx, y * sy, 0, w * sw]
                    fast = next_fast_P[p, x * fx, y * fy, 0, w * fw]
                    future += noise_W[w] * U_PXY[p - 1, slow, fast]
                U_PXY[p, x, y] = reward_PXY[p, x, y] + gamma * future
