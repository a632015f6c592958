"""Where a policy leads: a simulated path, and exact visit frequencies, under the true dynamics.

A policy is `policy_PXY` as in `fsdash.core.evaluation`: period t plays phase t mod P. A path is an
illustration, not a measurement; its rewards are r(x, y, a), the expectation over the period's
noise. Visit frequencies are not counted on paths but computed exactly, as the discounted occupancy

    d(p, s) = (1 − γ) Σ_k γ^(kP+p) Pr(s_{kP+p} = s),     s₀ ~ the initial distribution,

by pushing the distribution forward, one operation per state and outcome in a period. It sums to 1
over phases and states, and ⟨d, r_π⟩ / (1 − γ) is the policy's mean value.

Stopping rule: let m be the distribution at the start of a cycle, m' at its end, δ = ‖m' − m‖₁. The
cycles after period t have the share γ^t of d. Replacing them by the last cycle has an error of at
most γ^t·min(1, δ / 2(1 − γᴾ)) in total variation, because a transition kernel never increases the
distance between two distributions. A chain that mixes needs far fewer sweeps than γ^t suggests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba.extending import overload

from fsdash.core import kernels
from fsdash.core.display import Lines, Summary, value_range
from fsdash.core.factored import FactoredStep, next_factored
from fsdash.core.law import TransitionLaw
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_policy, check_state
from fsdash.core.row_kernels import next_state
from fsdash.core.tables import TableStep
from fsdash.errors import InputError

MAX_STEPS = 1_000_000
MAX_SWEEPS = 20_000
CYCLES_PER_CHECK = 10
"""Cycles between two computations of δ, to keep their cost small."""


@dataclass(frozen=True, eq=False, repr=False)
class Path(Summary):
    """N periods of a policy: the state, action, expected reward and phase of each period."""

    x_N: np.ndarray
    y_N: np.ndarray
    action_N: np.ndarray
    reward_N: np.ndarray
    phase_N: np.ndarray
    gamma: float
    period: int
    """The number of phases P: 1 for a stationary policy."""

    def __len__(self) -> int:
        return len(self.x_N)

    @property
    def total(self) -> float:
        """Σ_t γ^t r_t over the path."""
        return float(self.reward_N @ self.gamma ** np.arange(len(self)))

    def _summary(self) -> tuple[str, Lines]:
        return f"Path of {len(self):,} periods", [
            ("start (x, y)", f"({self.x_N[0]}, {self.y_N[0]})"),
            ("end (x, y)", f"({self.x_N[-1]}, {self.y_N[-1]})"),
            ("phases", self.period),
            ("rewards", value_range(self.reward_N)),
            ("discounted total", self.total),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Visits(Summary):
    """The discounted share of periods in each phase and state, within `error` in total variation.

    `error` exceeds the tolerance only if `MAX_SWEEPS` sweeps were not enough.
    """

    share_PXY: np.ndarray
    error: float

    @property
    def share_XY(self) -> np.ndarray:
        """The share of each state, summed over the phases."""
        return self.share_PXY.sum(axis=0)

    def _summary(self) -> tuple[str, Lines]:
        visited = np.count_nonzero(self.share_XY > self.error)
        return "Visits", [
            ("share_PXY", value_range(self.share_PXY)),
            ("visited states", f"{visited:,} of {self.share_XY.size:,}"),
            ("error", self.error),
        ]


def simulate(
    model: FastSlowMDP,
    policy: np.ndarray,
    *,
    rng: np.random.Generator,
    steps: int,
    start: tuple[int, int] | None = None,
) -> Path:
    """Simulate a policy under the true dynamics.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    policy : np.ndarray
        Action indices, shape (X, Y) for a stationary policy or (P, X, Y) for one with P phases.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same path.
    steps : int
        Number of periods.
    start : tuple of int, optional
        Indices (x, y) of the first state; drawn from the initial distribution by default.

    Returns
    -------
    Path
        The state, action, expected reward and phase of each period.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> best = fsdash.optimum(model)
    >>> path = fsdash.simulate(
    ...     model, best.policy_PXY, rng=np.random.default_rng(0), steps=100, start=(5, 0)
    ... )
    >>> len(path), int(path.x_N[0]), int(path.y_N[0])
    (100, 5, 0)
    """
    policy_PXY = phases_of(model, policy)
    return walk(model, policy_PXY, *draw_noise(model, rng, steps, start))


def draw_noise(
    model: FastSlowMDP,
    rng: np.random.Generator,
    steps: int,
    start: tuple[int, int] | None = None,
    law: TransitionLaw | None = None,
) -> tuple[np.ndarray, int, int]:
    """Draw the noise of each period and the first state, unless `start` gives it.

    The noise is an outcome w, or for sparse rows a uniform number; by default that of the true
    dynamics. It does not depend on the policy, so several policies can be simulated on it.
    """
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng = {rng!r}: give a generator, np.random.default_rng(seed)")
    if steps not in range(1, MAX_STEPS + 1):
        raise InputError(f"steps = {steps}: use a whole number of periods, 1 to {MAX_STEPS:,}")
    if start is None:
        state = int(rng.choice(model.n_states, p=model.initial_XY.ravel()))
        x, y = divmod(state, model.n_fast)
    else:
        x, y = check_state(model, *start)
    return (law or model.true).draw_noise(rng, steps), x, y


def walk(model: FastSlowMDP, policy_PXY: np.ndarray, noise_N: np.ndarray, x: int, y: int) -> Path:
    """Follow a policy from (x, y) on given noise (`draw_noise`).

    With index tables, the outcome w moves every state. With sparse rows, the uniform number picks
    the next state by the inverse CDF of the row.
    """
    x_N, y_N, action_N = (np.empty(len(noise_N), np.int64) for _ in range(3))
    _walk(model.true.step, policy_PXY, noise_N, x, y, x_N, y_N, action_N)
    return path_of(model, len(policy_PXY), x_N, y_N, action_N)


def path_of(
    model: FastSlowMDP, P: int, x_N: np.ndarray, y_N: np.ndarray, action_N: np.ndarray
) -> Path:
    """Return the path with these states and actions of a policy with P phases."""
    return Path(
        x_N,
        y_N,
        action_N,
        reward_N=model.reward_XYA[x_N, y_N, action_N],
        phase_N=np.arange(len(x_N)) % P,
        gamma=model.gamma,
        period=P,
    )


def visits(model: FastSlowMDP, policy: np.ndarray, *, tolerance: float = 1e-8) -> Visits:
    """Compute the exact discounted occupancy of a stationary or T-periodic policy.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    policy : np.ndarray
        Action indices, shape (X, Y) for a stationary policy or (P, X, Y) for one with P phases.
    tolerance : float, default 1e-8
        Largest error accepted, in total variation.

    Returns
    -------
    Visits
        The discounted share of periods in each phase and state, which sums to 1.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> found = fsdash.core.visits(model, fsdash.optimum(model).policy_PXY)
    >>> round(found.share_XY.sum(), 6), found.error <= 1e-8
    (np.float64(1.0), True)
    """
    if not tolerance > 0:
        raise InputError(f"tolerance = {tolerance}: use a positive number such as 1e-8")
    followed = [model.true.follow(policy_XY) for policy_XY in phases_of(model, policy)]
    P, gamma = len(followed), model.gamma
    share_PXY = np.zeros((P, model.n_slow, model.n_fast))
    now_XY, remaining, error, sweeps = model.initial_XY.copy(), 1.0, 1.0, 0
    cycle: list[np.ndarray] = []
    while error > tolerance and sweeps < MAX_SWEEPS:
        for _ in range(CYCLES_PER_CHECK):
            cycle = []
            for p, dynamics in enumerate(followed):
                share_PXY[p] += (1 - gamma) * remaining * gamma**p * now_XY
                cycle.append(now_XY)
                now_XY = dynamics.push_forward(now_XY)
            remaining *= gamma**P
        sweeps += CYCLES_PER_CHECK * P
        delta = np.abs(now_XY - cycle[0]).sum()
        error = remaining * min(1.0, delta / (2 * (1 - gamma**P)))
    for p, last_XY in enumerate(cycle):
        share_PXY[p] += remaining * (1 - gamma) * gamma**p / (1 - gamma**P) * last_XY
    return Visits(share_PXY, float(error))


def phases_of(model: FastSlowMDP, policy: np.ndarray) -> np.ndarray:
    """Return a checked policy, shape (P, X, Y) or (X, Y), as an array with phases."""
    policy = np.asarray(policy)
    policy_PXY = check_policy(model, policy[None] if policy.ndim == 2 else policy)
    return np.ascontiguousarray(policy_PXY, dtype=np.int32)  # one type: compiled once


def successor(step, x, y, a, noise):
    """Return (x', y') after (x, y, a) on the noise of a period, in either form of the law."""


@overload(successor, inline="always")
def _successor(step, x, y, a, noise):
    if step.instance_class is TableStep:

        def in_tables(step, x, y, a, noise):
            (sx, sy, sa), sw = kernels.axis_strides(step.slow), int(step.slow.shape[3] > 1)
            (fx, fy, fa), fw = kernels.axis_strides(step.fast), int(step.fast.shape[3] > 1)
            slow = step.slow[x * sx, y * sy, a * sa, noise * sw]
            return int(slow), int(step.fast[x * fx, y * fy, a * fa, noise * fw])

        return in_tables

    if step.instance_class is FactoredStep:

        def in_factors(step, x, y, a, noise):
            X, Y, _ = step.row_XYA.shape
            Q = X * Y // (len(step.exogenous.start_Z) - 1)
            s = next_factored(step, Q, x * Y + y, step.row_XYA[x, y, a], noise)
            return s // Y, s % Y

        return in_factors

    def in_rows(step, x, y, a, noise):
        row, Y = step.row_XYA[x, y, a], step.row_XYA.shape[1]
        s = next_state(step.start_R, step.target_N, step.probability_N, row, noise)
        return s // Y, s % Y

    return in_rows


@kernels.jit
def _walk(step, policy_PXY, noise_N, x, y, x_N, y_N, action_N):
    for t in range(noise_N.size):
        a = policy_PXY[t % policy_PXY.shape[0], x, y]
        x_N[t], y_N[t], action_N[t] = x, y, a
        x, y = successor(step, x, y, a, noise_N[t])


@kernels.jit
def walk_plan(step, policy_PXY, noise_N, T, x_N, y_N, action_N):
    """Overwrite the periods t ≥ 2 of each block of T periods by steps of the frozen law."""
    for t in range(x_N.size):
        if t % T >= 2:
            x, y = successor(step, x_N[t - 1], y_N[t - 1], action_N[t - 1], noise_N[t - 1])
            x_N[t], y_N[t], action_N[t] = x, y, policy_PXY[t % policy_PXY.shape[0], x, y]
