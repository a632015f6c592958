"""One-step samples: the sampled H and H̃, with the noise drawn as counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from fsdash.core.kernels import axis_strides, jit
from fsdash.core.model import Dynamics, FastSlowMDP
from fsdash.core.operators import follow, policy_reward, values_of
from fsdash.core.rows import Rows
from fsdash.errors import InputError
from fsdash.sampling.laws import Multinomial, draw_counts, multinomial, pick_action
from fsdash.sampling.options import Sampling, check_centre, check_samples
from fsdash.sampling.row_steps import RowLaw, one_step_rows, row_law

States = range | np.ndarray | None
"""Flattened states x·|Y| + y: a range, an array of indices, or None for all states."""


@jit
def one_step(
    rng,
    law,
    M,
    common,
    random,
    reward_XYA,
    next_slow,
    next_fast,
    gamma,
    U_XY,
    states_N,
    Q_NA,
    greedy_N,
):
    """Set Q and a greedy action of the flattened states `states_N`."""
    Y, A = reward_XYA.shape[1:]
    (sx, sy, sa), sw = axis_strides(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = axis_strides(next_fast), int(next_fast.shape[3] > 1)
    size_R = np.empty(1 if common else A, np.int64)
    w_P, n_P = np.empty(size_R.size * M, np.int64), np.empty(size_R.size * M, np.int64)
    first = law.outcome_W[0]
    for n in range(greedy_N.size):
        x, y = states_N[n] // Y, states_N[n] % Y
        draw_counts(rng, law, size_R, w_P, n_P)
        low = high = 0
        for a in range(A):
            if a == 0 or not common:
                low, high = high, high + size_R[a]
            slow = next_slow[x * sx, y * sy, a * sa, first * sw]
            base = U_XY[slow, next_fast[x * fx, y * fy, a * fa, first * fw]]
            # Differences to one value, so that equal values have exactly that mean for any counts.
            total = 0.0
            for i in range(low, high):
                w = w_P[i]
                slow = next_slow[x * sx, y * sy, a * sa, w * sw]
                fast = next_fast[x * fx, y * fy, a * fa, w * fw]
                total += n_P[i] * (U_XY[slow, fast] - base)
            Q_NA[n, a] = reward_XYA[x, y, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)


@dataclass(frozen=True, eq=False)
class Sampler:
    """One-step samples: the sampled H (true dynamics) or H̃ (frozen dynamics)."""

    model: FastSlowMDP
    dynamics: Dynamics
    M: int
    sampling: Sampling = Sampling(ties="first")
    law: Multinomial | RowLaw = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_samples("M", self.M)
        check_centre(self.model, self.sampling.centre)
        d, M = self.dynamics, int(self.M)
        law = row_law(d, M) if isinstance(d, Rows) else multinomial(d.noise_W, M)
        object.__setattr__(self, "law", law)

    def q_values(
        self, U_XY: np.ndarray, rng: np.random.Generator, states: States = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sample Q(s, a) and a greedy action for flattened states: (N, A) and (N,).

        Q is −∞ for infeasible actions.
        """
        m, (states_N, Q_NA, greedy_N) = self.model, working_arrays(self.model, states)
        how = (bool(self.sampling.common_random_numbers), self.sampling.ties == "random")
        self._sample(rng, *how, m.reward_XYA, self.dynamics, U_XY, states_N, Q_NA, greedy_N)
        return Q_NA, greedy_N

    def policy_values(
        self,
        policy_XY: np.ndarray,
        U_XY: np.ndarray,
        rng: np.random.Generator,
        states: States = None,
    ) -> np.ndarray:
        """Sample one step of a policy, r(s, π) + γ · 1/M Σ_j U(s^(π,j)), for flattened states."""
        m, d = self.model, self.dynamics
        states_N, Q_NA, greedy_N = working_arrays(m, states)
        value_N1 = np.ascontiguousarray(Q_NA[:, :1])
        reward_XY1 = _read_only(policy_reward(m, policy_XY)[:, :, None])
        if isinstance(d, Rows):
            # The same rows, so that the tables for drawing from them remain valid.
            row_XY1 = np.take_along_axis(d.row_XYA, policy_XY[:, :, None].astype(np.int64), axis=2)
            followed: Dynamics = replace(d, row_XYA=row_XY1)
        else:
            followed = follow(d, policy_XY)
        self._sample(rng, True, False, reward_XY1, followed, U_XY, states_N, value_N1, greedy_N)
        return value_N1[:, 0]

    def _sample(
        self, rng, common, random, reward_XYA, dynamics, U_XY, states_N, Q_NA, greedy_N
    ) -> None:
        U_XY, A = values_of(self.model, U_XY), reward_XYA.shape[2]
        U_XY = centred(U_XY) if self.sampling.centre else U_XY
        how = (rng, self.law, int(self.M), common, random)
        if isinstance(dynamics, Rows):
            tables = (reward_XYA.reshape(-1, A), _read_only(dynamics.row_XYA).reshape(-1, A))
            values = (self.model.gamma, U_XY.reshape(-1))
            one_step_rows(*how, *tables, *values, states_N, Q_NA, greedy_N)
        else:
            tables = (_read_only(dynamics.next_slow), _read_only(dynamics.next_fast))
            values = (self.model.gamma, U_XY)
            one_step(*how, reward_XYA, *tables, *values, states_N, Q_NA, greedy_N)


def centred(U_XY: np.ndarray) -> np.ndarray:
    """Return U minus its mean over y in each slow state.

    With an exogenous slow state this changes every Q(s, ·) by a constant, so no greedy action. The
    samples of x' then no longer add the differences of U between slow states as noise.
    """
    return U_XY - U_XY.mean(axis=1, keepdims=True)


def _read_only(table: np.ndarray) -> np.ndarray:
    """Return a read-only contiguous view: the type for which the kernels are compiled."""
    view = np.ascontiguousarray(table).view()
    view.flags.writeable = False
    return view


def working_arrays(model: FastSlowMDP, states: States) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the states as an index array, and arrays for their Q and greedy actions."""
    n = model.n_states
    states_N = np.arange(n) if states is None else np.asarray(states, np.int64)
    if outside := states_N[(states_N < 0) | (states_N >= n)].tolist():
        raise InputError(f"states: {outside[0]} is not a state; use indices from 0 to {n - 1}")
    return states_N, np.empty((len(states_N), model.n_actions)), np.empty(len(states_N), np.int32)
