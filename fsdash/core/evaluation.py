"""What a policy is worth, and by how much it misses the optimum.

A policy is an array `policy_PXY`: P = 1 is stationary, P = T is the T-periodic policy
(μ, π₁, …, π_{T−1}), whose phase-0 value Ū^μ(s, π) is what the paper's regret compares with U*. Both
are evaluated under the true dynamics, by fixed-point iteration on the core of the policy's chain
(`fsdash.core.policy_chain`), with Anderson's acceleration (`fsdash.core.anderson`) and the bounds of
`fsdash.core.certificate`: the value returned is within `error` of the exact one in every
state, and `error` exceeds the tolerance only where rounding leaves no other way.

Regret is U* − U^policy: the largest over states (the paper's definition) and the mean over the
initial distribution. Neither uses a solver's own value function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.snapshot import STALL_LIMIT, run_until
from fsdash.core.anderson import memory, mixture
from fsdash.core.certificate import attainable, certificate, midpoint, rounding
from fsdash.core.kernels import jit
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_policy, values_of
from fsdash.core.policy_chain import Chain, passes

TOLERANCE = 1e-6
PASSES_PER_CHECK = 40
"""About how many sweeps are made between two looks at the certificate."""


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
    chain = Chain.of(model, check_policy(model, policy[None] if policy.ndim == 2 else policy))
    U_XY, goal = values_of(model, start_XY, "start_XY"), attainable(model, tolerance)
    core_C, others = chain.core()
    if not len(others):
        return _settled(model, chain, U_XY, goal)
    # The sweep over all states may add as much rounding as a certificate has.
    goal = max(goal - rounding(model), 2 * rounding(model))
    inner = chain.on(core_C)
    known = _settled(model, inner, U_XY[:, core_C], goal)
    U_XY = chain.carried(inner.unrolled(known.U_XY), core_C, others)
    return Values(U_XY, known.error + rounding(model))


def _settled(model: FastSlowMDP, chain: Chain, U_XY: np.ndarray, goal: float) -> Values:
    """The fixed point of a chain, certified to the goal or as well as rounding allows."""
    phases = len(chain.reward_PXY)
    n = max(1, PASSES_PER_CHECK // phases)
    bounds = certificate(model, n * phases)
    U_XY, error = settle(
        chain.flat,
        n,
        bounds.PT_XX,
        bounds.resolvent_XX,
        bounds.discount,
        goal - bounds.rounding,
        U_XY.copy(),
    )
    return Values(U_XY, error + bounds.rounding)


@jit
def settle(chain, n, PT_XX, resolvent_XX, discount, goal, U_XY):
    """Passes B, n at a time, corrected by their certificate and mixed, until that is small enough.

    The certificate of U gives a shift c(x). B (U + c) = B U + γᵀ Pᵀ c is then known too, and within
    γᵀ times the certified error. Over many passes the errors of a policy that walks in circles
    cancel, so the certificate of B is much narrower than that of a single pass. If `STALL_LIMIT` more
    iterates bring no better certificate, the best one is returned.
    """
    kept, k, stalled = memory(U_XY.size), 0, 0
    best_XY, error = U_XY, np.inf
    while error > goal and stalled < STALL_LIMIT:
        image_XY = U_XY.copy()
        passes(*chain, n, image_XY)
        shift_X, width = midpoint(image_XY - U_XY, resolvent_XX, discount)
        for x in range(len(U_XY)):
            moved = 0.0 if PT_XX.size else shift_X[x]
            for to in range(len(PT_XX)):
                moved += PT_XX[x, to] * shift_X[to]
            U_XY[x] += shift_X[x]
            image_XY[x] += discount * moved
        stalled += 1
        if discount * width < error:
            best_XY, error, stalled = image_XY.copy(), discount * width, 0
        mixture(k, kept, (image_XY - U_XY).reshape(-1), image_XY.reshape(-1))
        U_XY = image_XY
        k += 1
    return best_XY, error


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
