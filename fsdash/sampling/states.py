"""The states that a fitted algorithm regresses on: D = {s^(1), …, s^(N)} ~ ρ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError

STATES_PER_SAMPLE = 10
"""By default one state in ten is sampled, as in the paper's pricing experiment."""


@dataclass(frozen=True, eq=False)
class StateSample:
    """N flattened states, drawn anew for each iteration.

    Without ρ the sample is uniform without replacement, in ascending order; with N = |S| it is
    every state once, and nothing is drawn. With ρ it is N independent draws, so a state may occur
    more than once.
    """

    model: FastSlowMDP
    N: int | None = None
    rho_XY: np.ndarray | None = None

    def __post_init__(self) -> None:
        n = self.model.n_real
        N = max(1, round(n / STATES_PER_SAMPLE)) if self.N is None else self.N
        most = n if self.rho_XY is None else max(n, 10_000_000)
        if not (1 <= N <= most and int(N) == N):
            raise InputError(f"N = {N}: sample a whole number of states, 1 to {most:,}")
        object.__setattr__(self, "N", int(N))
        if self.rho_XY is not None:
            rho_S = np.asarray(self.rho_XY, float).reshape(-1)
            outside = rho_S.size != self.model.n_states or rho_S[~self._real_S].any()
            if outside or not (rho_S >= 0).all() or abs(rho_S.sum() - 1) > 1e-9:
                raise InputError(
                    f"rho_XY: is not a distribution over the {n} states; give one probability for "
                    "each (x, y), with sum 1"
                )
            object.__setattr__(self, "rho_XY", rho_S.reshape(self.model.n_slow, -1))

    @property
    def size(self) -> int:
        """The number of sampled states N."""
        assert self.N is not None  # set by __post_init__
        return self.N

    @property
    def pairs(self) -> int:
        """The mean number of feasible state-action pairs of N states: N|A| if all are feasible."""
        return round(self.size * self.model.n_pairs / self.model.n_real)

    @property
    def _real_S(self) -> np.ndarray:
        return self.model.real_XY.reshape(-1)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw the flattened states of one iteration, shape (N,)."""
        n = self.model.n_real
        if self.rho_XY is not None:
            return rng.choice(self.model.n_states, self.size, p=self.rho_XY.reshape(-1))
        real_N = np.flatnonzero(self._real_S)
        if n == self.N:
            return real_N
        return real_N[np.sort(rng.choice(n, self.size, replace=False, shuffle=False))]
