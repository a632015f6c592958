"""Where a policy goes: one seeded path to look at, and exact visit frequencies.

A policy is `policy_PXY` as in `fsdash.core.evaluation`: period t plays phase t mod P. Everything here is
under the true dynamics. A path is for showing, never for measuring: its rewards are r(x, y, a), the
model's expectation over the period's noise. How often states are visited is not counted on paths
but computed, as the discounted occupancy

    d(p, s) = (1 − γ) Σ_k γ^(kP+p) Pr(s_{kP+p} = s),     s₀ ~ the initial distribution,

by pushing the distribution forward, |S|·|W| operations a period. It sums to 1 over phases and
states, and ⟨d, r_π⟩ / (1 − γ) is the policy's mean value.

Stopping rule: let m be the distribution at the start of a cycle, m' at its end, δ = ‖m' − m‖₁. The
cycles not yet made carry the share γ^t of d; to fill in the last cycle for them is wrong by at most
γ^t·min(1, δ / 2(1 − γᴾ)) in total variation, since a transition kernel never spreads two
distributions apart. A chain that mixes needs far fewer sweeps than γ^t alone would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.core import kernels
from fsdash.core.model import Dynamics, FastSlowMDP
from fsdash.core.operators import check_policy, check_state, follow
from fsdash.errors import InputError

MAX_STEPS = 1_000_000
MAX_SWEEPS = 20_000
LOOK_EVERY = 10
"""Cycles between two looks at δ, so that looking costs little."""


@dataclass(frozen=True, eq=False)
class Path:
    """N periods of a policy: the state, the action, its expected reward and the phase of each."""

    x_N: np.ndarray
    y_N: np.ndarray
    action_N: np.ndarray
    reward_N: np.ndarray
    phase_N: np.ndarray
    gamma: float
    period: int
    """P: 1 for a stationary policy."""

    def __len__(self) -> int:
        return len(self.x_N)

    @property
    def total(self) -> float:
        """Σ_t γ^t r_t over the path."""
        return float(self.reward_N @ self.gamma ** np.arange(len(self)))

    @property
    def collected_N(self) -> np.ndarray:
        """Rewards up to and including each period, not discounted."""
        return np.cumsum(self.reward_N)


@dataclass(frozen=True, eq=False)
class Visits:
    """The discounted share of periods in each phase and state, within `error` in total variation.

    `error` exceeds the tolerance only where `MAX_SWEEPS` did not suffice.
    """

    share_PXY: np.ndarray
    error: float

    @property
    def share_XY(self) -> np.ndarray:
        return self.share_PXY.sum(axis=0)


def simulate(
    model: FastSlowMDP,
    policy: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    start: tuple[int, int] | None = None,
) -> Path:
    """A path of steps periods from `start` (x, y), by default drawn from the initial law."""
    policy_PXY = _phases(model, policy)
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng = {rng!r}: give a generator, np.random.default_rng(seed)")
    if steps not in range(1, MAX_STEPS + 1):
        raise InputError(f"steps = {steps}: use a whole number of periods, 1 to {MAX_STEPS:,}")
    x, y = _start(model, rng) if start is None else check_state(model, *start)
    d = model.true
    outcome_N = rng.choice(len(d.noise_W), size=steps, p=d.noise_W)
    x_N, y_N, action_N = (np.empty(steps, np.int64) for _ in range(3))
    _walk(d.next_slow, d.next_fast, policy_PXY, outcome_N, x, y, x_N, y_N, action_N)
    return Path(
        x_N,
        y_N,
        action_N,
        reward_N=model.reward_XYA[x_N, y_N, action_N],
        phase_N=np.arange(steps) % len(policy_PXY),
        gamma=model.gamma,
        period=len(policy_PXY),
    )


def visits(model: FastSlowMDP, policy: np.ndarray, tolerance: float = 1e-8) -> Visits:
    """The exact discounted occupancy of a stationary or T-periodic policy."""
    if not tolerance > 0:
        raise InputError(f"tolerance = {tolerance}: use a positive number such as 1e-8")
    followed = [follow(model.true, policy_XY) for policy_XY in _phases(model, policy)]
    P, gamma = len(followed), model.gamma
    share_PXY = np.zeros((P, model.n_slow, model.n_fast))
    now_XY, left, error, sweeps = model.initial_XY.copy(), 1.0, 1.0, 0
    while error > tolerance and sweeps < MAX_SWEEPS:
        for _ in range(LOOK_EVERY):
            cycle = []
            for p, dynamics in enumerate(followed):
                share_PXY[p] += (1 - gamma) * left * gamma**p * now_XY
                cycle.append(now_XY)
                now_XY = push(dynamics, now_XY)
            left *= gamma**P
        sweeps += LOOK_EVERY * P
        delta = np.abs(now_XY - cycle[0]).sum()
        error = left * min(1.0, delta / (2 * (1 - gamma**P)))
    for p, last_XY in enumerate(cycle):
        share_PXY[p] += left * (1 - gamma) * gamma**p / (1 - gamma**P) * last_XY
    return Visits(share_PXY, float(error))


def push(dynamics: Dynamics, m_XY: np.ndarray) -> np.ndarray:
    """The distribution one period later, for dynamics that `follow` a policy."""
    out_XY = np.zeros_like(m_XY)
    _push(
        dynamics.next_slow, dynamics.next_fast, dynamics.noise_W, dynamics.separable, m_XY, out_XY
    )
    return out_XY


def _phases(model: FastSlowMDP, policy: np.ndarray) -> np.ndarray:
    policy = np.asarray(policy)
    policy_PXY = check_policy(model, policy[None] if policy.ndim == 2 else policy)
    return np.ascontiguousarray(policy_PXY, dtype=np.int32)  # one kind: compiled once


def _start(model: FastSlowMDP, rng: np.random.Generator) -> tuple[int, int]:
    return divmod(int(rng.choice(model.n_states, p=model.initial_XY.ravel())), model.n_fast)


@kernels.jit
def _walk(next_slow, next_fast, policy_PXY, outcome_N, x, y, x_N, y_N, action_N):
    (sx, sy, sa), sw = kernels.steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = kernels.steps(next_fast), int(next_fast.shape[3] > 1)
    for t in range(outcome_N.size):
        a, w = policy_PXY[t % policy_PXY.shape[0], x, y], outcome_N[t]
        x_N[t], y_N[t], action_N[t] = x, y, a
        slow = next_slow[x * sx, y * sy, a * sa, w * sw]
        y = int(next_fast[x * fx, y * fy, a * fa, w * fw])
        x = int(slow)


@kernels.jit
def _push(next_slow, next_fast, noise_W, separable, m_XY, out_XY):
    """out(x', y') += p(w) m(x, y): for separable dynamics y moves first, then x in whole rows."""
    X, Y = m_XY.shape
    (sx, sy, _), sw = kernels.steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, _), fw = kernels.steps(next_fast), int(next_fast.shape[3] > 1)
    moved_Y = np.empty(Y)
    for x in range(X):
        if separable:
            moved_Y[:] = 0.0
            for y in range(Y):
                moved_Y[next_fast[x * fx, y * fy, 0, 0]] += m_XY[x, y]
            for w in range(next_slow.shape[3]):
                p, row = noise_W[w], out_XY[next_slow[x * sx, 0, 0, w]]
                for y in range(Y):
                    row[y] += p * moved_Y[y]
        else:
            for y in range(Y):
                for w in range(noise_W.size):
                    slow = next_slow[x * sx, y * sy, 0, w * sw]
                    fast = next_fast[x * fx, y * fy, 0, w * fw]
                    out_XY[slow, fast] += noise_W[w] * m_XY[x, y]
