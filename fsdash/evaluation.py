"""What a policy is worth, and by how much it misses the optimum.

A policy is an array `policy_PXY`: P = 1 is stationary, P = T is the T-periodic policy
(μ, π₁, …, π_{T−1}), whose phase-0 value Ū^μ(s, π) is what the paper's regret compares with U*. Both
are evaluated under the true dynamics, by fixed-point iteration with Anderson's acceleration and the
bounds of `fsdash.certificate`: the value returned is within `error` of the exact one in every
state, and `error` exceeds the tolerance only where rounding leaves no other way.

Regret is U* − U^policy: the largest over states (the paper's definition) and the mean over the
initial distribution. Neither uses a solver's own value function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fsdash import kernels
from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.snapshot import first_certified, run_until
from fsdash.certificate import Certificate, attainable
from fsdash.model import FastSlowMDP
from fsdash.operators import check_policy, follow, policy_reward, values_of

TOLERANCE = 1e-6
SWEEPS = 40
"""About how many sweeps are made between two looks at the certificate."""
DEPTH = 8
"""Iterates that are combined into the next one."""


@dataclass(frozen=True, eq=False)
class Values:
    """A value function with its certificate: ‖U − exact‖∞ ≤ error."""

    U_XY: np.ndarray
    error: float


@dataclass(frozen=True, eq=False)
class Optimum(Values):
    """U* and a policy that is greedy for it."""

    policy_PXY: np.ndarray


@dataclass(frozen=True)
class Regret:
    """The true regret of a policy, the largest and the mean over the initial distribution.

    Each number is within `error` of the exact one.
    """

    max_regret: float
    mean_regret: float
    mean_value: float
    optimal_mean_value: float
    error: float


def policy_values(
    model: FastSlowMDP,
    policy: np.ndarray,
    tolerance: float = TOLERANCE,
    start_XY: np.ndarray | None = None,
) -> Values:
    """The exact value of a stationary or T-periodic policy; `start_XY` warms the iteration up."""
    policy = np.asarray(policy)
    policy_PXY = check_policy(model, policy[None] if policy.ndim == 2 else policy)
    steps = [(policy_reward(model, p), follow(model.true, p)) for p in policy_PXY[::-1]]
    iterates = _iterates(model, steps, values_of(model, start_XY, "start_XY"))
    return first_certified(iterates, attainable(model, tolerance))


def _iterates(model: FastSlowMDP, steps: list, U_XY: np.ndarray) -> Iterator[Values]:
    """About `SWEEPS` sweeps of a policy at a time, combined, and corrected by their certificate."""
    certificate = Certificate(model, T=len(steps))
    images, residuals = deque(maxlen=DEPTH), deque(maxlen=DEPTH)
    while True:
        image_XY = _cycles(model, steps, U_XY, max(1, SWEEPS // len(steps)))
        images.append(image_XY.ravel())
        residuals.append((image_XY - U_XY).ravel())
        U_XY = _combined(np.array(images), np.array(residuals)).reshape(U_XY.shape)
        shift_X1, error = certificate.shift(_cycles(model, steps, U_XY, 1) - U_XY)
        U_XY = U_XY + shift_X1
        yield Values(U_XY, error)


def _combined(images_IS: np.ndarray, residuals_IS: np.ndarray) -> np.ndarray:
    """Anderson's mixture: the weights, of sum 1, that make the mixed residual smallest.

    A policy that walks in circles has values whose error turns and hardly shrinks; a few residuals
    span those turns, so their best mixture is nearly free of them.
    """
    last_S, changes_IS = residuals_IS[-1], residuals_IS[:-1] - residuals_IS[-1]
    weights_I = np.linalg.lstsq(changes_IS @ changes_IS.T, -changes_IS @ last_S)[0]
    return images_IS[-1] + weights_I @ (images_IS[:-1] - images_IS[-1])


def _cycles(model: FastSlowMDP, steps: list, U_XY: np.ndarray, n: int) -> np.ndarray:
    """n passes through the phases of a policy, last phase first."""
    U_XY = U_XY.copy()
    # The n passes of a stationary policy are n sweeps of one and the same step: a single call.
    passes, sweeps = (1, n) if len(steps) == 1 else (n, 1)
    for _ in range(passes):
        for reward_XY, d in steps:
            kernels.policy_sweeps(
                reward_XY, d.next_slow, d.next_fast, d.noise_W, d.separable, model.gamma,
                sweeps, -1.0, U_XY,
            )  # fmt: skip
    return U_XY


def optimum(model: FastSlowMDP, tolerance: float = TOLERANCE) -> Optimum:
    """U* to a certified tolerance, by modified policy iteration, with its greedy policy."""
    best = run_until(mpi(model), tolerance=attainable(model, tolerance))
    return Optimum(best.values_XY, best.error, best.policy_PXY)


def regret(
    model: FastSlowMDP, policy: np.ndarray, best: Values | None = None, tolerance: float = TOLERANCE
) -> Regret:
    """The regret of a policy against U* (solved here unless given)."""
    best = optimum(model, tolerance) if best is None else best
    values = policy_values(model, policy, tolerance)
    gap_XY = np.maximum(best.U_XY - values.U_XY, 0)
    return Regret(
        max_regret=float(gap_XY.max()),
        mean_regret=model.mean(gap_XY),
        mean_value=model.mean(values.U_XY),
        optimal_mean_value=model.mean(best.U_XY),
        error=best.error + values.error,
    )
