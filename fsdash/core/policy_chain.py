"""The Markov chain of a policy: what each of its phases earns, and where it leads.

Under a T-periodic policy a state's value comes from passes U ← r + γ E[U] through the phases, last
phase first. Only the fast states that the policy keeps entering take many of them. Take away a fast
state that nothing leads to, then again one that nothing left leads to, and so on: what remains is
the *core*, which no path leaves. Its values are a problem of their own, often much smaller (a tenth
of the gridworld). The others follow from it in one sweep, the last one taken away first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fsdash.core.kernels import flat_successors, jit, steps, sweep
from fsdash.core.model import INDEX, FastSlowMDP
from fsdash.core.operators import follow, policy_reward


@dataclass(frozen=True, eq=False)
class Chain:
    """The phases of a policy, last phase first; the tables as in `Dynamics`, one for each phase."""

    reward_PXY: np.ndarray
    next_slow_P: np.ndarray
    next_fast_P: np.ndarray
    noise_W: np.ndarray
    separable: bool
    gamma: float

    @classmethod
    def of(cls, model: FastSlowMDP, policy_PXY: np.ndarray) -> Chain:
        """The chain of a checked policy under the true dynamics."""
        phases = policy_PXY[::-1]
        followed = [follow(model.true, policy_XY) for policy_XY in phases]
        return cls(
            np.stack([policy_reward(model, policy_XY) for policy_XY in phases]),
            np.stack([d.next_slow for d in followed]),
            np.stack([d.next_fast for d in followed]),
            followed[0].noise_W,
            followed[0].separable,
            model.gamma,
        )

    @cached_property
    def flat(self) -> tuple:
        """The arguments of `passes`: what each phase and state earns and leads to."""
        P, X, Y = self.reward_PXY.shape
        W, separable = self.noise_W.size, self.separable
        moves = zip(self.next_slow_P, self.next_fast_P, strict=True)
        next_PWS = np.stack([flat_successors(*move, separable, X, Y, W) for move in moves])
        reward_PS = self.reward_PXY.reshape(P, -1)
        return reward_PS, next_PWS, self.next_slow_P[0], self.noise_W, separable, self.gamma

    def unrolled(self, U_XY: np.ndarray) -> np.ndarray:
        """One pass that keeps the values of every phase, last phase first."""
        reward_PS, next_PWS, *rest = self.flat
        U_PXY = np.empty_like(self.reward_PXY)
        for p in range(len(U_PXY)):
            U_PXY[p] = U_XY if p == 0 else U_PXY[p - 1]
            passes(reward_PS[p : p + 1], next_PWS[p : p + 1], *rest, 1, U_PXY[p])
        return U_PXY

    def core(self) -> tuple[np.ndarray, np.ndarray]:
        """The fast states of the core, and the others in the order in which they are taken away."""
        return peel(self.next_fast_P, self.reward_PXY.shape[2])

    def on(self, core_C: np.ndarray) -> Chain:
        """The same chain on fast states that it does not leave, counted anew."""
        place_Y = np.zeros(self.reward_PXY.shape[2], INDEX)
        place_Y[core_C] = np.arange(len(core_C))

        def there(table_P: np.ndarray) -> np.ndarray:
            return table_P if table_P.shape[2] == 1 else table_P.take(core_C, axis=2)

        return replace(
            self,
            reward_PXY=there(self.reward_PXY),
            next_slow_P=there(self.next_slow_P),
            next_fast_P=place_Y[there(self.next_fast_P)],
        )

    def carried(self, U_PXC: np.ndarray, core_C: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The values of the first phase in all states, from those of all phases on the core."""
        U_PXY = np.empty_like(self.reward_PXY)
        U_PXY[:, :, core_C] = U_PXC
        carry(
            self.reward_PXY,
            self.next_slow_P,
            self.next_fast_P,
            self.noise_W,
            self.gamma,
            others,
            U_PXY,
        )
        return U_PXY[-1]


@jit
def passes(reward_PS, next_PWS, next_slow, noise_W, separable, gamma, n, U_XY):
    """n passes U ← r + γ E[U] through the phases, in place."""
    source_XY = np.empty_like(U_XY)
    for _ in range(n):
        for p in range(len(reward_PS)):
            sweep(reward_PS[p], next_PWS[p], next_slow, noise_W, separable, gamma, source_XY, U_XY)


@jit
def peel(next_fast_P, n_fast):
    """The core, and all other fast states in the order in which they are taken away.

    2·P·|S|·|W| operations: each arrow from a fast state to another is put in and taken out once.
    """
    P, X, Y, _, W = next_fast_P.shape
    sy = int(Y > 1)
    arrows_Y, others = np.zeros(n_fast, np.int64), np.empty(n_fast, np.int64)
    for p in range(P):
        for x in range(X):
            for y in range(n_fast):
                for w in range(W):
                    arrows_Y[next_fast_P[p, x, y * sy, 0, w]] += 1
    taken = 0
    for y in range(n_fast):
        if arrows_Y[y] == 0:
            others[taken] = y
            taken += 1
    done = 0
    while done < taken:
        y = others[done]
        done += 1
        for p in range(P):
            for x in range(X):
                for w in range(W):
                    z = next_fast_P[p, x, y * sy, 0, w]
                    arrows_Y[z] -= 1
                    if arrows_Y[z] == 0:
                        others[taken] = z
                        taken += 1
    return np.flatnonzero(arrows_Y), others[:taken]


@jit
def carry(reward_PXY, next_slow_P, next_fast_P, noise_W, gamma, others, U_PXY):
    """Fill in the values of the fast states outside the core, in place, the last taken first."""
    P, X, _ = reward_PXY.shape
    (sx, sy, _), sw = steps(next_slow_P[0]), int(next_slow_P.shape[4] > 1)
    (fx, fy, _), fw = steps(next_fast_P[0]), int(next_fast_P.shape[4] > 1)
    for y in others[::-1]:
        for p in range(P):  # what follows the last phase, the first of them here, is the first one
            for x in range(X):
                future = 0.0
                for w in range(noise_W.size):
                    slow = next_slow_P[p, x * sx, y * sy, 0, w * sw]
                    fast = next_fast_P[p, x * fx, y * fy, 0, w * fw]
                    future += noise_W[w] * U_PXY[p - 1, slow, fast]
                U_PXY[p, x, y] = reward_PXY[p, x, y] + gamma * future
