"""Exact policy evaluation under the true dynamics.

A policy is an array `policy_PXY`: P = 1 is stationary, P = T is the T-periodic policy
(μ, π₁, …, π_{T−1}), whose phase-0 value Ū^μ(s, π) is what the paper's regret compares with U*.

The value is the fixed point of one sweep through the phases. It is computed by fixed-point
iteration on the core of the policy's chain (`fsdash.core.policy_chain`), with Anderson acceleration
(`fsdash.core.anderson`) and the bounds of `fsdash.core.certificate`. The returned values are within
`error` of the exact ones in every state. `error` exceeds the tolerance only where double precision
cannot certify more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsdash.core.anderson import accelerate, new_history
from fsdash.core.certificate import STALL_LIMIT, attainable, certificate, correct, rounding
from fsdash.core.display import Lines, Summary, value_range
from fsdash.core.kernels import jit
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_policy, values_of
from fsdash.core.policy_chain import Chain, RowChain, sweep_chain

TOLERANCE = 1e-6
SWEEPS_PER_CHECK = 40
"""About how many sweeps are made between two computations of the certificate."""


@dataclass(frozen=True, eq=False, repr=False)
class Values(Summary):
    """A value function with its certificate, ‖U − exact‖∞ ≤ error.

    Attributes
    ----------
    U_XY : np.ndarray
        Value of each state, shape (X, Y).
    error : float
        Certified largest distance to the exact values.
    sweeps : int
        Sweeps over all states that a policy's evaluation took, one per phase; 0 if not counted.
    """

    U_XY: np.ndarray
    error: float
    sweeps: int = field(default=0, kw_only=True)

    def _summary(self) -> tuple[str, Lines]:
        return type(self).__name__, [("U_XY", value_range(self.U_XY)), ("error", self.error)]


def policy_values(
    model: FastSlowMDP,
    policy: np.ndarray,
    *,
    tolerance: float = TOLERANCE,
    start_XY: np.ndarray | None = None,
) -> Values:
    """Compute the exact value of a stationary or T-periodic policy.

    Parameters
    ----------
    model : FastSlowMDP
        The model whose true dynamics the policy is evaluated under.
    policy : np.ndarray
        Action indices, shape (X, Y) for a stationary policy or (P, X, Y) for one with P phases.
    tolerance : float, default 1e-6
        Largest certified error that is accepted.
    start_XY : np.ndarray, optional
        Values to start the iteration from, such as those of a similar policy. Zero by default.

    Returns
    -------
    Values
        The values at phase 0, shape (X, Y), and their certified error.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> never_order = [[0] * model.n_fast] * model.n_slow
    >>> values = fsdash.policy_values(model, never_order)
    >>> values.U_XY.shape, values.error <= 1e-6
    ((11, 51), True)
    """
    policy = np.asarray(policy)
    policy_PXY = check_policy(model, policy[None] if policy.ndim == 2 else policy)
    U_XY, goal = values_of(model, start_XY, "start_XY"), attainable(model, tolerance)
    if model.rows is not None:
        return _fixed_point(model, RowChain.of(model, policy_PXY), model.mirror(U_XY), goal)
    chain = Chain.of(model, policy_PXY)
    core_C, outside = chain.core()
    if not len(outside):
        return _fixed_point(model, chain, U_XY, goal)
    # The final sweep over all states may add as much rounding as the certificate contains.
    goal = max(goal - rounding(model), 2 * rounding(model))
    inner = chain.restricted_to(core_C)
    known = _fixed_point(model, inner, U_XY[:, core_C], goal)
    U_XY = chain.extended_from_core(inner.values_by_phase(known.U_XY), core_C, outside)
    return Values(U_XY, known.error + rounding(model), sweeps=known.sweeps + len(policy_PXY))


def _fixed_point(
    model: FastSlowMDP, chain: Chain | RowChain, U_XY: np.ndarray, goal: float
) -> Values:
    """Find the fixed point of a chain, certified to the goal or as closely as rounding allows."""
    phases = len(chain.flat[0])
    n = max(1, SWEEPS_PER_CHECK // phases)
    bounds = certificate(model, n * phases)
    U_XY, error, k = iterate_to_goal(
        chain.flat,
        n,
        bounds.PT_XX,
        bounds.resolvent_XX,
        bounds.discount,
        (bounds.rounding, bounds.relative_rounding),
        goal,
        U_XY.copy(),
    )
    return Values(U_XY, error, sweeps=k * n * phases)


@jit
def iterate_to_goal(chain, n, PT_XX, resolvent_XX, discount, rounding, goal, U_XY):
    """Apply B (n sweeps), correct by the certificate and accelerate, until the error ≤ goal.

    The certificate of U gives a shift c(x) (`fsdash.core.certificate.correct`). The image of U + c
    is within γᵀ times the certified error. Over many sweeps the errors of a policy that cycles
    cancel, so the certificate of B is much narrower than that of a single sweep. If
    `STALL_LIMIT` further iterates do not improve the certificate, the best one is returned.
    `rounding` is the rounding error of the model's values, and of larger ones relative to them.
    Returns the values, their error and how often B was applied.
    """
    least, relative = rounding
    history, k, stalled = new_history(U_XY.size), 0, 0
    best_XY, error = U_XY, np.inf
    while error > goal and stalled < STALL_LIMIT:
        image_XY = U_XY.copy()
        sweep_chain(chain, n, image_XY)
        largest = max(np.abs(U_XY).max(), np.abs(image_XY).max())
        width = correct(U_XY, image_XY, PT_XX, resolvent_XX, discount)
        certified = discount * width + max(least, relative * largest)
        stalled += 1
        if certified < error:
            best_XY, error, stalled = image_XY.copy(), certified, 0
        accelerate(k, history, (image_XY - U_XY).reshape(-1), image_XY.reshape(-1))
        U_XY = image_XY
        k += 1
    return best_XY, error, k
