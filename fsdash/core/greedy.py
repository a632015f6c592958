"""The two steps of modified policy iteration: greedy for U, and sweeps of the greedy policy.

`GreedySteps` calls `bellman` and `policy_sweeps` of `fsdash.core.operators`. `OwnRows` has the same
results for large models in which most pairs have a row of their own, and reads less memory:

- The row of each state's greedy action is copied when the action changes. The sweeps read the
  copies one after the other.
- From one U to the next, the expectations in all states with the slow state x rise by at most

      (P max_y Δ)(x)    with    Δ = U_new − U_old

  if the slow state is exogenous, and by at most max Δ otherwise. So a Q-value that was computed
  for an earlier U gives an upper bound for this one. If it lies below the Q-value of the last
  greedy action, the action cannot be greedy, and its row is not needed. As the values converge,
  few rows are needed. While many are needed, reading all of them in their order is faster.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.certificate import certificate
from fsdash.core.kernels import inlined, jit
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, policy_sweeps
from fsdash.core.row_kernels import row_mean
from fsdash.core.rows import INDEX, Rows, sweep_rows
from fsdash.core.threads import split

LARGE = 100_000
"""`OwnRows` is used for models with at least this many probabilities."""
EXTRA_READS = 48
"""Reading a row alone takes as long as reading this many more probabilities in order."""
CHUNK = 64
"""States that are finished before the next ones, while their data are in the processor's cache."""
TRUSTED = 16
"""Chunks that are read as a whole before the next one is examined."""


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
    """The two steps for a large model in which most pairs have a row of their own.

    The Q-values of the current U are at most bound(s, a) + rise(s).
    """

    def __init__(self, model: FastSlowMDP, rows: Rows) -> None:
        super().__init__(model)
        shape = (model.n_states, model.n_actions)
        reward_SA, row_SA = model.reward_XYA.reshape(shape), rows.row_XYA.reshape(shape)
        self.law = (reward_SA, row_SA, rows.start_R, rows.target_N, rows.probability_N)
        self.work = len(rows.target_N)
        length = self.work / rows.n_rows
        self.few = length / (length + EXTRA_READS)  # if a smaller share of the rows is needed
        gap = rows.exogenous_gap if rows.exogenous_slow else 0.0
        self.precision = (rows.longest + 8) * np.finfo(float).eps + gap
        # A state's copy has room for the longest of its rows.
        start_S, size = places(row_SA, rows.start_R)
        copies = (start_S, np.empty_like(start_S), np.empty(size, INDEX), np.empty(size))
        self.copies = (np.empty(len(start_S)), *copies)
        self.state_S = np.arange(model.n_states, dtype=INDEX)
        # For U = 0 the rewards are the Q-values.
        self.U_XY = np.zeros((model.n_slow, model.n_fast))
        self.bound_SA, self.rise_S, self.moved = np.empty(shape), np.zeros(len(start_S)), 0.0
        self.greedy_XY = np.empty(self.U_XY.shape, np.int32)
        result = (self.bound_SA, self.greedy_XY.reshape(-1), self.copies)
        split(lambda i, j: start(i, j, self.law, *result), model.n_states, self.work)

    def greedy(self, U_XY: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._raise_bounds(U_XY - self.U_XY)
        HU_XY, greedy_XY = np.empty_like(U_XY), self.greedy_XY.copy()
        values = (U_XY.reshape(-1), self.rise_S, self.bound_SA)
        result = (HU_XY.reshape(-1), greedy_XY.reshape(-1), self.copies)
        law = (self.law, self.few, self.model.gamma)
        split(lambda i, j: improve(i, j, *law, *values, *result), U_XY.size, self.work)
        self.U_XY, self.greedy_XY = U_XY.copy(), greedy_XY
        return HU_XY, greedy_XY

    def sweeps(self, U_XY: np.ndarray, m: int, goal: float) -> int:
        reward_S, *law = self.copies
        return sweep_rows(reward_S, self.state_S, tuple(law), self.model.gamma, m, goal, U_XY)

    def _raise_bounds(self, delta_XY: np.ndarray) -> None:
        """Add the largest change of γ E[U] to the bounds of each slow state, and rounding errors.

        `moved` is an upper bound on |U| and on |rise|, with which the errors grow.
        """
        bounds = certificate(self.model)
        high_X = delta_XY.max(axis=1)
        high_X = bounds.PT_XX @ high_X if bounds.PT_XX.size else np.full_like(high_X, high_X.max())
        self.moved += float(np.abs(delta_XY).max())
        high_X = self.model.gamma * high_X + bounds.rounding + self.precision * self.moved
        self.rise_S += np.repeat(high_X, self.model.n_fast)


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
def start(first, last, law, bound_SA, greedy_S, copies):
    """Set the bounds and the greedy actions of the states first to last − 1 for U = 0."""
    reward_SA = law[0]
    for s in range(first, last):
        arg = 0
        for a in range(reward_SA.shape[1]):
            bound_SA[s, a] = reward_SA[s, a]
            if reward_SA[s, a] > reward_SA[s, arg]:
                arg = a
        greedy_S[s] = arg
        copy_row(s, arg, law, copies)


@jit
def improve(first, last, law, few, gamma, U_S, rise_S, bound_SA, HU_S, greedy_S, copies):
    """Set H U and the greedy actions of the states first to last − 1, and copy their rows.

    greedy_S holds the last greedy actions. While more than the share `few` of the rows are needed,
    one chunk in `TRUSTED` is examined and the others are read as a whole.
    """
    A, trusted = bound_SA.shape[1], 0
    Q_CA, needed_P = np.empty((CHUNK, A)), np.empty((CHUNK * A, 2), np.int64)
    for begin in range(first, last, CHUNK):
        end = min(begin + CHUNK, last)
        n = 0
        if trusted == 0:
            n = list_needed(
                begin, end, gamma, U_S, rise_S, bound_SA, greedy_S, copies, Q_CA, needed_P
            )
            if n > few * (end - begin) * A:
                trusted = TRUSTED
        if trusted > 0:
            read_chunk(begin, end, law, gamma, U_S, rise_S, bound_SA, Q_CA)
            trusted -= 1
        else:
            read_needed(needed_P[:n], begin, law, gamma, U_S, rise_S, bound_SA, Q_CA)
        for s in range(begin, end):
            best, arg = -np.inf, 0
            for a in range(A):
                if Q_CA[s - begin, a] > best:
                    best, arg = Q_CA[s - begin, a], a
            HU_S[s] = best
            if greedy_S[s] != arg:
                greedy_S[s] = arg
                copy_row(s, arg, law, copies)


@inlined
def list_needed(begin, end, gamma, U_S, rise_S, bound_SA, greedy_S, copies, Q_CA, needed_P):
    """Set Q of the last greedy actions and upper bounds on the others; list those to be computed.

    The list has pairs (s, a) and is not filled by branches, which the processor could not predict.
    """
    reward_S, start_S, stop_S, target_N, probability_N = copies
    n = 0
    for s in range(begin, end):
        greedy = greedy_S[s]
        mean = row_mean(start_S[s], stop_S[s], target_N, probability_N, U_S)
        value = reward_S[s] + gamma * mean
        for a in range(bound_SA.shape[1]):
            q = bound_SA[s, a] + rise_S[s]
            Q_CA[s - begin, a] = q
            needed_P[n, 0], needed_P[n, 1] = s, a
            n += (q >= value) & (a != greedy)
        Q_CA[s - begin, greedy] = value
        bound_SA[s, greedy] = value - rise_S[s]
    return n


@inlined
def read_needed(needed_P, begin, law, gamma, U_S, rise_S, bound_SA, Q_CA):
    """Compute the Q-values of the listed pairs."""
    reward_SA, row_SA, start_R, target_N, probability_N = law
    for i in range(len(needed_P)):
        s, a = needed_P[i]
        row = row_SA[s, a]
        mean = row_mean(start_R[row], start_R[row + 1], target_N, probability_N, U_S)
        Q_CA[s - begin, a] = reward_SA[s, a] + gamma * mean
        bound_SA[s, a] = Q_CA[s - begin, a] - rise_S[s]


@inlined
def read_chunk(begin, end, law, gamma, U_S, rise_S, bound_SA, Q_CA):
    """Compute the Q-values of all pairs of a chunk of states."""
    reward_SA, row_SA, start_R, target_N, probability_N = law
    for s in range(begin, end):
        for a in range(bound_SA.shape[1]):
            row = row_SA[s, a]
            mean = row_mean(start_R[row], start_R[row + 1], target_N, probability_N, U_S)
            Q_CA[s - begin, a] = reward_SA[s, a] + gamma * mean
            bound_SA[s, a] = Q_CA[s - begin, a] - rise_S[s]


@inlined
def copy_row(s, a, law, copies):
    """Copy the reward and the row of an action to the place of state s."""
    reward_SA, row_SA, start_R, target_N, probability_N = law
    own_reward_S, own_start_S, own_stop_S, own_target_N, own_probability_N = copies
    source, place = start_R[row_SA[s, a]], own_start_S[s]
    size = start_R[row_SA[s, a] + 1] - source
    for i in range(size):
        own_target_N[place + i] = target_N[source + i]
        own_probability_N[place + i] = probability_N[source + i]
    own_reward_S[s], own_stop_S[s] = reward_SA[s, a], place + size
