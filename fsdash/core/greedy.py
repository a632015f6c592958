"""The two steps of modified policy iteration: greedy for U, and sweeps of the greedy policy.

`GreedySteps` calls `bellman` and `policy_sweeps` of `fsdash.core.operators`. `OwnRows` has the same
results for large models in which most pairs have a row of their own, and reads less memory:

- The greedy action's row is copied while it is in the processor's cache, and only if the action
  changed. The sweeps then read the copies one after the other.
- An upper bound on each Q(s, a) is known from the last U. From one U to the next, the expectations
  in all states with the slow state x change by amounts between

      low(x) = (P min_y Δ)(x)    and    high(x) = (P max_y Δ)(x),    Δ = U_new − U_old,

  if the slow state is exogenous, and between min Δ and max Δ otherwise. If the bound, raised by
  γ high, lies below (H U_old)(s) + γ low, the action cannot be greedy, and its row is not needed.
  As the values converge, few rows are needed: in the platelets model of `benchmarks.own_models`
  43%, 5% and then 0.1%. While many are needed, reading all of them in their order is faster.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.certificate import certificate
from fsdash.core.kernels import inlined, jit
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, policy_reward, policy_sweeps, sweep_rows
from fsdash.core.row_kernels import row_mean
from fsdash.core.rows import INDEX, Rows
from fsdash.core.threads import split

LARGE = 100_000
"""Probabilities in a model from which on `OwnRows` is used."""
EXTRA_READS = 24
"""A row that is read alone takes as long as a row with so many more probabilities read in order."""
CHUNK = 64
"""States whose rows stay in the processor's cache until the greedy ones are copied."""
SAMPLED = 64
"""One in so many states is examined to estimate how many rows are needed."""


def greedy_steps(model: FastSlowMDP) -> GreedySteps:
    """Return the two steps in the form that suits the model.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.core.operators import H
    >>> model = fsdash.make("inventory").build()
    >>> U_XY = model.reward_XYA.max(axis=2)
    >>> HU_XY, greedy_XY = greedy_steps(model).greedy(U_XY)
    >>> bool((HU_XY == H(model, U_XY)).all())
    True
    """
    d = model.true
    if isinstance(d, Rows) and len(d.target_N) >= LARGE and 2 * d.n_rows > model.n_pairs:
        return OwnRows(model, d)
    return GreedySteps(model)


class GreedySteps:
    """The two steps for any model."""

    def __init__(self, model: FastSlowMDP) -> None:
        self.model = model

    def greedy(self, U_XY: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return H U and a greedy policy, which the next sweeps follow."""
        HU_XY, self.greedy_XY = bellman(self.model, self.model.true, U_XY)
        return HU_XY, self.greedy_XY

    def sweeps(self, U_XY: np.ndarray, m: int, goal: float) -> int:
        """Make up to m sweeps of the greedy policy, in place, as `policy_sweeps` does."""
        return policy_sweeps(self.model, self.greedy_XY, U_XY, m, goal)


class OwnRows(GreedySteps):
    """The two steps for a large model in which most pairs have a row of their own."""

    def __init__(self, model: FastSlowMDP, rows: Rows) -> None:
        super().__init__(model)
        shape = (model.n_states, model.n_actions)
        reward_SA, row_SA = model.reward_XYA.reshape(shape), rows.row_XYA.reshape(shape)
        self.law = (reward_SA, row_SA, rows.start_R, rows.target_N, rows.probability_N)
        self.work, self.row_length = len(rows.target_N), len(rows.target_N) / rows.n_rows
        # A state's copy has room for the longest of its rows.
        start_S, size = places(row_SA, rows.start_R)
        self.copies = (start_S, start_S.copy(), np.empty(size, INDEX), np.empty(size))
        self.state_S = np.arange(model.n_states, dtype=INDEX)
        # What is known for U = 0: all expectations are 0, so the rewards are the Q-values.
        self.U_XY = np.zeros((model.n_slow, model.n_fast))
        self.HU_XY, self.bound_SA = np.empty_like(self.U_XY), np.empty(shape)
        set_rewards(reward_SA, self.HU_XY.reshape(-1), self.bound_SA)
        self.greedy_XY = np.full(self.U_XY.shape, -1, np.int32)

    def greedy(self, U_XY: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.greedy_XY = self.greedy_XY.copy()
        U_S, HU_S, greedy_S = (a.reshape(-1) for a in (U_XY, self.HU_XY, self.greedy_XY))
        result = (self.bound_SA, HU_S, greedy_S, self.copies)
        low_S, high_S = self._range_of_change(U_XY - self.U_XY)
        floor_S = HU_S + low_S
        few = self._few_needed(floor_S, high_S)

        def block(i: int, j: int) -> None:
            if few:
                read_needed_rows(i, j, self.law, self.model.gamma, U_S, floor_S, high_S, *result)
            else:
                read_rows(i, j, self.law, self.model.gamma, U_S, *result)

        split(block, self.model.n_states, self.work)
        self.U_XY = U_XY.copy()
        return self.HU_XY.copy(), self.greedy_XY

    def sweeps(self, U_XY: np.ndarray, m: int, goal: float) -> int:
        reward_S = policy_reward(self.model, self.greedy_XY).reshape(-1)
        return sweep_rows(reward_S, self.state_S, self.copies, self.model.gamma, m, goal, U_XY)

    def _range_of_change(self, delta_XY: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bound the change of γ E[U] in each state, from below and from above."""
        bounds, gamma = certificate(self.model), self.model.gamma
        low_X, high_X = delta_XY.min(axis=1), delta_XY.max(axis=1)
        if bounds.PT_XX.size:
            low_X, high_X = bounds.PT_XX @ low_X, bounds.PT_XX @ high_X
        else:
            low_X[:], high_X[:] = low_X.min(), high_X.max()
        low_X, high_X = gamma * low_X - bounds.rounding, gamma * high_X + bounds.rounding
        return np.repeat(low_X, self.model.n_fast), np.repeat(high_X, self.model.n_fast)

    def _few_needed(self, floor_S: np.ndarray, high_S: np.ndarray) -> bool:
        """Whether reading the needed rows alone is faster than reading all, from a sample."""
        bound_SA = self.bound_SA[::SAMPLED] + high_S[::SAMPLED, None]
        share = (bound_SA >= floor_S[::SAMPLED, None]).mean()
        return bool(share * (self.row_length + EXTRA_READS) < self.row_length)


@jit
def set_rewards(reward_SA, HU_S, bound_SA):
    """Set H U and the bounds for U = 0."""
    S, A = reward_SA.shape
    for s in range(S):
        best = -np.inf
        for a in range(A):
            bound_SA[s, a] = reward_SA[s, a]
            best = max(best, reward_SA[s, a])
        HU_S[s] = best


@jit
def places(row_SA, start_R):
    """Return where the copy of each state's row starts, and where the last one ends."""
    S, A = row_SA.shape
    start_S, size = np.empty(S, np.int64), 0
    for s in range(S):
        longest = 0
        for a in range(A):
            longest = max(longest, start_R[row_SA[s, a] + 1] - start_R[row_SA[s, a]])
        start_S[s], size = size, size + longest
    return start_S, size


@jit
def read_rows(first, last, law, gamma, U_S, Q_SA, HU_S, greedy_S, copies):
    """Set Q, H U and the greedy actions of the states first to last − 1; copy the greedy rows.

    A chunk of states is finished before the next one, while its rows are in the processor's cache.
    """
    reward_SA, row_SA, start_R, target_N, probability_N = law
    A = reward_SA.shape[1]
    row_P, reward_P, Q_P = row_SA.reshape(-1), reward_SA.reshape(-1), Q_SA.reshape(-1)
    for begin in range(first, last, CHUNK):
        end = min(begin + CHUNK, last)
        for p in range(begin * A, end * A):
            row = row_P[p]
            mean = row_mean(start_R[row], start_R[row + 1], target_N, probability_N, U_S)
            Q_P[p] = reward_P[p] + gamma * mean
        for s in range(begin, end):
            best, arg = -np.inf, 0
            for a in range(A):
                if Q_SA[s, a] > best:
                    best, arg = Q_SA[s, a], a
            HU_S[s] = best
            if greedy_S[s] != arg:
                greedy_S[s] = arg
                copy_row(s, row_SA[s, arg], start_R, target_N, probability_N, copies)


@jit
def read_needed_rows(
    first, last, law, gamma, U_S, floor_S, high_S, bound_SA, HU_S, greedy_S, copies
):
    """Do the same as `read_rows`, but read only the rows of actions that may be greedy.

    bound_SA holds upper bounds on the Q-values of the last U, floor_S lower bounds on H U.
    """
    reward_SA, row_SA, start_R, target_N, probability_N = law
    for s in range(first, last):
        best, arg = -np.inf, 0
        for a in range(reward_SA.shape[1]):
            q = bound_SA[s, a] + high_S[s]
            if q >= floor_S[s]:
                row = row_SA[s, a]
                mean = row_mean(start_R[row], start_R[row + 1], target_N, probability_N, U_S)
                q = reward_SA[s, a] + gamma * mean
            bound_SA[s, a] = q
            if q > best:
                best, arg = q, a
        HU_S[s] = best
        if greedy_S[s] != arg:
            greedy_S[s] = arg
            copy_row(s, row_SA[s, arg], start_R, target_N, probability_N, copies)


@inlined
def copy_row(s, row, start_R, target_N, probability_N, copies):
    """Copy a row to the place of state s."""
    start_S, stop_S, to_target_N, to_probability_N = copies
    source, place = start_R[row], start_S[s]
    size = start_R[row + 1] - source
    for i in range(size):
        to_target_N[place + i] = target_N[source + i]
        to_probability_N[place + i] = probability_N[source + i]
    stop_S[s] = place + size
