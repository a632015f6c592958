"""T-step samples: the sampled F, drawn as counts or simulated as the model's structure allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsdash.core.draws import LowerKernel, q_on_stored_paths
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import Policies, check_policy, values_of
from fsdash.core.rows import INDEX
from fsdash.errors import InputError
from fsdash.sampling.one_step import States, centred, working_arrays
from fsdash.sampling.options import Sampling, check_centre

MAX_MEAN_ROW = 64
"""Mean number of non-zeros in a row of K up to which counts are drawn instead of paths."""
MAX_ROW = 512
"""Number of non-zeros in a single row of K above which K is considered dense."""


@dataclass(frozen=True, eq=False)
class UpperSampler:
    """The sampled F for lower-level values J₁ and policy π = (π₁, …, π_{T−1})."""

    model: FastSlowMDP
    J1_XY: np.ndarray
    lower: Policies
    sampling: Sampling = Sampling(ties="first")
    samples: Any = field(init=False, repr=False)
    kernel: LowerKernel | None = field(init=False, repr=False)
    """K if counts are drawn, None if paths are simulated."""

    def __post_init__(self) -> None:
        check_centre(self.model, self.sampling.centre)
        if self.sampling.sparse and self.sampling.common_random_numbers:
            raise InputError(
                "sparse = True: rows of K do not show the noise that common_random_numbers shares; "
                "turn one of the two off"
            )
        put = lambda key, value: object.__setattr__(self, key, value)  # noqa: E731
        put("J1_XY", self._values(self.J1_XY, "J1_XY"))
        if len(self.lower):
            check_policy(self.model, np.asarray(self.lower))
        put("samples", self.model.true.samples(int(self.sampling.M_u), self.lower))
        put("kernel", self._lower_kernel())

    def _lower_kernel(self) -> LowerKernel | None:
        n = self.model.n_states
        if self.sampling.sparse is False or self.sampling.common_random_numbers:
            return None
        widest, limit = (n, n) if self.sampling.sparse else (MAX_ROW, MAX_MEAN_ROW)
        # The working arrays hold one entry per state, so a row cannot be wider than that.
        return self.samples.lower_kernel(min(widest, n), min(limit, n) * n)

    def q_values(
        self, V_XY: np.ndarray, rng: np.random.Generator, states: States = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sample Q(s, a) and a greedy action for flattened states: (N, A) and (N,).

        Q is −∞ for infeasible actions.
        """
        states_N, Q_NA, greedy_N = working_arrays(self.model, states)
        if self.kernel is None:
            self._simulate(V_XY, rng, states_N, Q_NA, greedy_N, np.empty((0, 0, 0), INDEX))
        else:
            how = (rng, self.sampling.ties == "random", *self._upper(V_XY))
            self.samples.count(self.kernel, *how, states_N, Q_NA, greedy_N)
        return Q_NA, greedy_N

    def store_paths(self, rng: np.random.Generator) -> StoredPaths:
        """Simulate M paths of every (s, a) and store their ends, in 4·|S||A|M bytes."""
        m, (states_N, Q_SA, greedy_S) = self.model, working_arrays(self.model, None)
        end_SAM = np.empty((*Q_SA.shape, int(self.sampling.M_u)), INDEX)
        # With V = 0, Q is the part of the first step and J₁ on these paths.
        self._simulate(np.zeros_like(self.J1_XY), rng, states_N, Q_SA, greedy_S, end_SAM)
        return StoredPaths(m, self.sampling.ties, Q_SA, end_SAM, m.gamma ** (len(self.lower) + 1))

    def _simulate(self, V_XY, rng, states_N, Q_NA, greedy_N, end_NAM) -> None:
        how = (bool(self.sampling.common_random_numbers), self.sampling.ties == "random")
        self.samples.simulate(rng, *how, *self._upper(V_XY), states_N, Q_NA, greedy_N, end_NAM)

    def _upper(self, V_XY: np.ndarray) -> tuple:
        values_XY = self._values(V_XY, "V_XY")
        gamma = self.model.gamma
        return self.model.reward_XYA, gamma, gamma ** len(self.lower), self.J1_XY, values_XY

    def _values(self, values_XY: np.ndarray, name: str) -> np.ndarray:
        values_XY = values_of(self.model, values_XY, name)
        return centred(values_XY) if self.sampling.centre else values_XY


@dataclass(frozen=True, eq=False)
class StoredPaths:
    """The sampled F on one stored set of paths for every V.

    For a V that does not depend on these paths, Q has the distribution of fresh paths, but the
    errors for two such V are correlated. Extracting a policy then takes no simulation.
    """

    model: FastSlowMDP
    ties: str
    first_SA: np.ndarray = field(repr=False)
    """r + γ times the mean of J₁(s₁)."""
    end_SAM: np.ndarray = field(repr=False)
    discount: float

    def q_values(
        self, V_XY: np.ndarray, rng: np.random.Generator, states: States = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sample Q(s, a) and a greedy action for flattened states: (N, A) and (N,)."""
        states_N, Q_NA, greedy_N = working_arrays(self.model, states)
        V_S = values_of(self.model, V_XY, "V_XY").reshape(-1)
        q_on_stored_paths(
            rng,
            self.ties == "random",
            self.first_SA,
            self.end_SAM,
            self.discount,
            V_S,
            states_N,
            Q_NA,
            greedy_N,
        )
        return Q_NA, greedy_N
