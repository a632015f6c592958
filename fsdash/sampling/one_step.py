"""One-step samples: the sampled H and H̃, with the noise drawn as counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsdash.core.law import TransitionLaw
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import policy_reward, values_of
from fsdash.core.table_samples import read_only
from fsdash.errors import InputError
from fsdash.sampling.options import Sampling, check_centre, check_samples

States = range | np.ndarray | None
"""Flattened states x·|Y| + y: a range, an array of indices, or None for all states."""


@dataclass(frozen=True, eq=False)
class Sampler:
    """One-step samples: the sampled H (true dynamics) or H̃ (frozen dynamics)."""

    model: FastSlowMDP
    dynamics: TransitionLaw
    M: int
    sampling: Sampling = Sampling(ties="first")
    samples: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_samples("M", self.M)
        check_centre(self.model, self.sampling.centre)
        object.__setattr__(self, "samples", self.dynamics.samples(int(self.M)))

    def q_values(
        self, U_XY: np.ndarray, rng: np.random.Generator, states: States = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sample Q(s, a) and a greedy action for flattened states: (N, A) and (N,).

        Q is −∞ for infeasible actions.
        """
        states_N, Q_NA, greedy_N = working_arrays(self.model, states)
        how = (bool(self.sampling.common_random_numbers), self.sampling.ties == "random")
        values = self._values(U_XY)
        self.samples.one_step(rng, *how, self.model.reward_XYA, *values, states_N, Q_NA, greedy_N)
        return Q_NA, greedy_N

    def policy_values(
        self,
        policy_XY: np.ndarray,
        U_XY: np.ndarray,
        rng: np.random.Generator,
        states: States = None,
    ) -> np.ndarray:
        """Sample one step of a policy, r(s, π) + γ · 1/M Σ_j U(s^(π,j)), for flattened states."""
        states_N, Q_NA, greedy_N = working_arrays(self.model, states)
        value_N1 = np.ascontiguousarray(Q_NA[:, :1])
        reward_XY1 = read_only(policy_reward(self.model, policy_XY)[:, :, None])
        how = (rng, True, False, reward_XY1, *self._values(U_XY))
        self.samples.under(policy_XY).one_step(*how, states_N, value_N1, greedy_N)
        return value_N1[:, 0]

    def _values(self, U_XY: np.ndarray) -> tuple[float, np.ndarray]:
        U_XY = values_of(self.model, U_XY)
        return self.model.gamma, centred(U_XY) if self.sampling.centre else U_XY


def centred(U_XY: np.ndarray) -> np.ndarray:
    """Return U minus its mean over y in each slow state.

    With an exogenous slow state this changes every Q(s, ·) by a constant, so no greedy action. The
    samples of x' then no longer add the differences of U between slow states as noise.
    """
    return U_XY - U_XY.mean(axis=1, keepdims=True)


def working_arrays(model: FastSlowMDP, states: States) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the states as an index array, and arrays for their Q and greedy actions."""
    n = model.n_states
    states_N = np.arange(n) if states is None else np.asarray(states, np.int64)
    if outside := states_N[(states_N < 0) | (states_N >= n)].tolist():
        raise InputError(f"states: {outside[0]} is not a state; use indices from 0 to {n - 1}")
    return states_N, np.empty((len(states_N), model.n_actions)), np.empty(len(states_N), np.int32)
