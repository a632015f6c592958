"""Exact policy evaluation under the true dynamics.

A policy is an array `policy_PXY`: P = 1 is stationary, P = T is the T-periodic policy
(μ, π₁, …, π_{T−1}), whose phase-0 value Ū^μ(s, π) is what the paper's regret compares with U*.

The value is the fixed point of one sweep through the phases. It is computed by fixed-point
iteration on the core of the policy's chain (`fsdash.core.policy_chain`), with Anderson acceleration
(`fsdash.core.anderson`) and the bounds of `fsdash.core.certificate`. Where it converges too slowly,
a system of at most `MAX_DIRECT` equations is solved directly. Where rounding is larger than the
tolerance, the values are refined by residuals of twice the precision (`fsdash.core.residual`).

The returned values are within `error` of the exact ones in every state. `error` exceeds the
tolerance only if a large system converges too slowly, or if doubles near the values are further
apart than the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from fsdash.core.anderson import accelerate, new_history
from fsdash.core.certificate import (
    EPSILON,
    STALL_LIMIT,
    certificate,
    checked_tolerance,
    correct,
    relative_rounding,
)
from fsdash.core.display import Lines, Summary, value_range
from fsdash.core.kernels import jit
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_policy, values_of
from fsdash.core.policy_chain import Chain, RowChain, sweep_chain
from fsdash.core.residual import residual, residual_rounding, two_sum

TOLERANCE = 1e-6
SWEEPS_PER_CHECK = 40
"""About how many sweeps are made between two computations of the certificate."""
MAX_DIRECT = 3_000
"""Equations up to which a system is solved directly: states times phases."""
MAX_REFINED = 5_000_000
"""State-action pairs up to which residuals of twice the precision are computed (40 MB each)."""


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
    tolerance : float
        Error that was accepted in advance; infinite if none was asked for.
    """

    U_XY: np.ndarray
    error: float
    sweeps: int = field(default=0, kw_only=True)
    tolerance: float = field(default=np.inf, kw_only=True)

    @property
    def within_tolerance(self) -> bool:
        """Whether the error is within the tolerance, or within a few roundings of the values."""
        return within(self.error, self.tolerance, self.U_XY)

    def _summary(self) -> tuple[str, Lines]:
        error = shown_error(self.error, self.within_tolerance)
        return type(self).__name__, [("U_XY", value_range(self.U_XY)), ("error", error)]


def within(error: float, tolerance: float, U_XY: np.ndarray) -> bool:
    """Whether an error is within a tolerance, or within a few roundings of the values."""
    return error <= max(tolerance, 4 * spacing(U_XY))


def shown_error(error: float, within_tolerance: bool) -> float | str:
    """An error for displays, marked if it is above the tolerance."""
    return error if within_tolerance else f"{error:.6g}, above the tolerance"


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
        The values at phase 0, shape (X, Y), and their certified error. If it is above the
        tolerance, `within_tolerance` is False.

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
    checked_tolerance(tolerance)
    U_XY = values_of(model, start_XY, "start_XY")
    values = evaluate(model, policy_PXY, model.mirror(U_XY), tolerance)
    high_XY, low_XY, sweeps = values.U_XY, np.zeros_like(U_XY), values.sweeps
    while not within(values.error, tolerance, high_XY) and model.reward_XYA.size <= MAX_REFINED:
        rewards_XYA = residual(model, high_XY, low_XY)
        part = evaluate(model, policy_PXY, np.zeros_like(U_XY), tolerance / 2, rewards_XYA)
        sweeps += part.sweeps
        error = part.error + residual_rounding(model, high_XY) + spacing(high_XY)
        if not error < values.error / 2:
            break
        high_XY, low_XY = two_sum(high_XY, low_XY + part.U_XY)
        values = Values(high_XY, error, sweeps=sweeps)
    return replace(values, tolerance=tolerance)


def spacing(U_XY: np.ndarray) -> float:
    """Bound the rounding of values to doubles."""
    return EPSILON * float(np.abs(U_XY).max())


def evaluate(
    model: FastSlowMDP,
    policy_PXY: np.ndarray,
    start_XY: np.ndarray,
    goal: float,
    reward_XYA: np.ndarray | None = None,
) -> Values:
    """Evaluate a policy to the goal, or as closely as rounding or slow convergence allows.

    `reward_XYA` are rewards instead of those of the model.
    """
    reward_XYA = model.reward_XYA if reward_XYA is None else reward_XYA
    chain = model.true.chain(reward_XYA, policy_PXY, model.gamma)
    core_C, outside = chain.core()
    if isinstance(chain, RowChain) or not len(outside):
        return _fixed_point(model, chain, start_XY, goal)
    inner, relative = chain.restricted_to(core_C), relative_rounding(model)
    limit = relative * largest_value(chain)
    core = _fixed_point(model, inner, start_XY[:, core_C], max(goal - limit, goal / 2))
    U_PXY = chain.extended_from_core(inner.values_by_phase(core.U_XY), core_C, outside)
    # The final sweep over all states may add as much rounding as the certificate contains.
    error = core.error + min(limit, relative * float(np.abs(U_PXY).max()))
    return Values(U_PXY[-1].copy(), error, sweeps=core.sweeps + len(policy_PXY))


def largest_value(chain: Chain | RowChain) -> float:
    """Bound the values of a chain: its largest reward in every period."""
    return float(np.abs(chain.flat[0]).max()) / (1 - chain.gamma)


def _fixed_point(
    model: FastSlowMDP, chain: Chain | RowChain, U_XY: np.ndarray, goal: float
) -> Values:
    """Find the fixed point of a chain, certified to the goal or as closely as possible."""
    phases = len(chain.flat[0])
    n = max(1, SWEEPS_PER_CHECK // phases)
    bounds = certificate(model, n * phases)
    shifts = (bounds.PT_XX, bounds.resolvent_XX, bounds.discount)
    law = (chain.flat, n, *shifts, largest_value(chain), bounds.relative_rounding, goal)
    best_XY, error, reached, k = iterate_to_goal(*law, U_XY.copy())
    if not reached and chain.flat[0].size <= MAX_DIRECT:
        solved_XY, solved_error, _, more = iterate_to_goal(*law, solve(chain, U_XY.shape))
        k += more
        if solved_error < error:
            best_XY, error = solved_XY, solved_error
    return Values(best_XY, error, sweeps=k * n * phases)


def solve(chain: Chain | RowChain, shape: tuple[int, ...]) -> np.ndarray:
    """Solve U_p − γ P_p U_{p−1} = r_p for all phases; return the first phase, which stands last."""
    matrices = chain.matrices()
    size = matrices[0].shape[0]
    ones = sparse.eye_array(len(matrices) * size)
    # Row p of the blocks has P_p in column p − 1.
    order = [len(matrices) - 1, *range(len(matrices) - 1)]
    after = sparse.block_diag(matrices).tocsr() @ sparse.kron(
        sparse.eye_array(len(matrices)).tocsr()[order], sparse.eye_array(size)
    )
    U_PS = spsolve((ones - chain.gamma * after).tocsc(), chain.flat[0].reshape(-1))
    return U_PS[-size:].reshape(shape)


@jit
def iterate_to_goal(chain, n, PT_XX, resolvent_XX, discount, limit, relative, goal, U_XY):
    """Apply B (n sweeps), correct by the certificate and accelerate, until the error ≤ goal.

    The certificate of U gives a shift c(x) (`fsdash.core.certificate.correct`). The image of U + c
    is within γᵀ times the certified error. Over many sweeps the errors of a policy that cycles
    cancel, so the certificate of B is much narrower than that of a single sweep. The iteration
    ends before the goal if half of the error is rounding, or if `STALL_LIMIT` further iterates do
    not improve the certificate.

    `relative` bounds the rounding relative to the largest value in the sweeps. That value is at
    most `limit` or the start; and at most 2 ‖U^π‖ + ‖U‖, because the distance to U^π never grows.
    Returns the best values, their error, whether the goal or rounding was reached, and how often B
    was applied.
    """
    history, k, stalled = new_history(U_XY.size), 0, 0
    best_XY, error, least = U_XY, np.inf, 0.0
    while error > max(goal, 2 * least) and stalled < STALL_LIMIT:
        image_XY = U_XY.copy()
        sweep_chain(chain, n, image_XY)
        width, largest = correct(U_XY, image_XY, PT_XX, resolvent_XX, discount)
        rounding = relative * min(max(limit, largest), 3 * (largest + width))
        certified = discount * width + rounding
        stalled += 1
        if certified < error:
            best_XY, error, least, stalled = image_XY.copy(), certified, rounding, 0
        accelerate(k, history, (image_XY - U_XY).reshape(-1), image_XY.reshape(-1))
        U_XY = image_XY
        k += 1
    return best_XY, error, error <= max(goal, 2 * least), k
