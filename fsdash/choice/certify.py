"""Certificates: bounds on the regret of a policy, computed on the model without solving it.

The regret U* − U^π is at most upper − lower for any upper ≥ U* and lower ≤ U^π. Both come from one
fact (`docs/proofs.md`, section 5). Let B be an operator of t steps, and δ = B V − V for any V. Then

    fixed point of B ≤ B V + γᵗ Pᵗ c⁺,     c⁺ = (I − γᵗ Pᵗ)⁻¹ max_y δ,
    fixed point of B ≥ B V + γᵗ Pᵗ c⁻,     c⁻ = (I − γᵗ Pᵗ)⁻¹ min_y δ,

with P the kernel of an exogenous slow state; with an endogenous one, c⁺ = max δ/(1 − γᵗ) and
c⁻ = min δ/(1 − γᵗ) for all states.

    upper   B = Hᵗ, whose fixed point is U*. More steps t make it tighter: a single bad state no
            longer counts as if it were visited in every period.
    lower   B = B_πⁿ, n cycles of the policy's P phases, whose fixed point is U^π, with about as
            many steps as above.

V is arbitrary: an algorithm's own values, such as J of rolling freeze or V of FSVI, or the policy's
exact values. Which of them is better depends on the model: J ignores that x moves, U^π contains the
mistakes of π. Without evaluating π, its cycles lead from V towards U^π, so their result is a second
start for the upper bound, and each state has the smaller of the two bounds. An upper bound does not
depend on the policy, so several policies can share the best one. A few steps of modified policy
iteration before the sweeps tighten it further.

Work is counted in sweeps of Base VI, |S||A| backups: t for an upper bound, P/|A| for a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.snapshot import run_until
from fsdash.core.certificate import certificate, relative_rounding, rounding
from fsdash.core.display import Lines, Summary, value_range
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import (
    H,
    bellman,
    check_policy,
    expect,
    follow,
    policy_reward,
    values_of,
)
from fsdash.errors import InputError

MIN_STEPS = 4
"""Steps of H in an upper bound, unless the policy has more phases."""
FIRST_PRECISION, FINAL_SHARE = 1e-2, 0.05
"""A policy is first evaluated to this precision, relative to r_max/(1 − γ), and then, if needed, to
this share of its certified regret."""


@dataclass(frozen=True, eq=False, repr=False)
class Certified(Summary):
    """Bounds on the values of a policy and of the optimum; iterating gives `lower, upper`.

    Attributes
    ----------
    lower_XY : np.ndarray
        U^π ≥ lower in every state, shape (X, Y).
    upper_XY : np.ndarray
        U* ≥ U^π is at most this in every state, shape (X, Y).
    max_regret, mean_regret : float
        The certificate: the largest and the mean regret of π are at most this.
    sweeps : float
        What it cost, in sweeps of Base VI.
    """

    lower_XY: np.ndarray
    upper_XY: np.ndarray
    max_regret: float
    mean_regret: float
    sweeps: float

    def __iter__(self) -> Iterator[np.ndarray]:
        yield from (self.lower_XY, self.upper_XY)

    def _summary(self) -> tuple[str, Lines]:
        return "Certified", [
            ("max_regret", self.max_regret),
            ("mean_regret", self.mean_regret),
            ("lower_XY", value_range(self.lower_XY)),
            ("upper_XY", value_range(self.upper_XY)),
            ("sweeps", self.sweeps),
        ]


def certify(
    model: FastSlowMDP,
    policy_or_values: np.ndarray,
    *,
    values_XY: np.ndarray | None = None,
    upper_XY: np.ndarray | None = None,
    steps: int | None = None,
    tighten: int = 0,
) -> Certified:
    """Bound the regret of a policy without solving the model.

    Parameters
    ----------
    model : FastSlowMDP
        The model, under its true dynamics.
    policy_or_values : np.ndarray
        A policy as integers, shape (X, Y) or (P, X, Y); or values as floats, shape (X, Y), whose
        greedy policy is certified.
    values_XY : np.ndarray, optional
        Values to start from, such as those of FSVI: the bounds then cost about `steps` steps of the
        policy, in whole cycles, and two times `steps` sweeps. Without them the policy is evaluated.
    upper_XY : np.ndarray, optional
        An upper bound of U* from another certificate or from `upper_bound`, used instead of a new
        one.
    steps : int, optional
        Applications of H in an upper bound; by default one per phase of the policy, at least 4.
    tighten : int, default 0
        Iterations of modified policy iteration before the upper bound.

    Returns
    -------
    Certified
        The two bounds, the certificate of the regret, and its cost. Rounding is included.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> policy_PXY = fsdash.run_until(fsdash.rolling(model, T=24), iterations=24).policy_PXY
    >>> found = fsdash.certify(model, policy_PXY, tighten=2)
    >>> true = fsdash.regret(model, policy_PXY).max_regret
    >>> bool(true <= found.max_regret <= 1.1 * true)
    True
    """
    start, cost = np.asarray(policy_or_values), 0.0
    if np.issubdtype(start.dtype, np.integer):
        policy_PXY = check_policy(model, start[None] if start.ndim == 2 else start)
        if values_XY is None:
            return _certify_evaluated(model, policy_PXY, upper_XY, steps, tighten)
        values_XY = _finite(model, values_XY, "values_XY")
    elif values_XY is None:
        # The first step of the greedy policy is a sweep.
        values_XY, cost = _finite(model, start, "values"), 1.0 - model.n_real / model.n_pairs
        policy_PXY = bellman(model, model.true, values_XY)[1][None]
    else:
        raise InputError("values_XY: leave it out if values are given instead of a policy")
    steps = _checked_steps(steps, len(policy_PXY))
    lower_XY, sweeps = _cycles(model, policy_PXY, values_XY, steps)
    cost += sweeps
    if upper_XY is None:
        first_XY, sweeps = upper_bound(model, values_XY, steps=steps, tighten=tighten)
        second_XY, more = upper_bound(model, lower_XY, steps=steps, tighten=tighten)
        upper_XY, cost = np.minimum(first_XY, second_XY), cost + sweeps + more
    return _certified(model, lower_XY, upper_XY, cost)


def upper_bound(
    model: FastSlowMDP, values_XY: np.ndarray, *, steps: int = MIN_STEPS, tighten: int = 0
) -> tuple[np.ndarray, float]:
    """Bound U* from above in every state, from any values.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    values_XY : np.ndarray
        The values, shape (X, Y). The closer they are to U*, up to a function of the slow state, the
        tighter is the bound.
    steps : int, default 4
        Applications of H.
    tighten : int, default 0
        Iterations of modified policy iteration before them.

    Returns
    -------
    upper_XY : np.ndarray
        U* is at most this in every state.
    sweeps : float
        The cost in sweeps of Base VI.
    """
    _check_whole("steps", steps, 1)
    _check_whole("tighten", tighten, 0)
    values_XY, sweeps = _finite(model, values_XY, "values_XY"), 0.0
    if tighten:
        last = run_until(mpi(model, U0_XY=values_XY), iterations=tighten)
        # One more sweep: the snapshot's values are corrected by its residual.
        values_XY, sweeps = last.values_XY, last.backups / model.n_pairs + 1
    image_XY = values_XY
    for _ in range(steps):
        image_XY = H(model, image_XY)
    return _above(model, steps, values_XY, image_XY), sweeps + steps


def _checked_steps(steps: int | None, phases: int) -> int:
    """The applications of H in an upper bound; by default one per phase, at least `MIN_STEPS`."""
    if steps is None:
        return max(MIN_STEPS, phases)
    _check_whole("steps", steps, 1)
    return steps


def _check_whole(name: str, count: int, least: int) -> None:
    if not isinstance(count, int | np.integer) or count < least:
        raise InputError(f"{name} = {count}: use a whole number, {least} or more")


def _certify_evaluated(
    model: FastSlowMDP,
    policy_PXY: np.ndarray,
    upper_XY: np.ndarray | None,
    steps: int | None,
    tighten: int,
) -> Certified:
    """Certify a policy by its values, evaluated as precisely as the certificate needs."""
    sweep = model.n_real / model.n_pairs
    tolerance = FIRST_PRECISION * model.largest_reward / (1 - model.gamma) or 1.0
    known = policy_values(model, policy_PXY, tolerance=tolerance)
    cost = known.sweeps * sweep
    if upper_XY is None:
        steps = _checked_steps(steps, len(policy_PXY))
        upper_XY, sweeps = upper_bound(model, known.U_XY, steps=steps, tighten=tighten)
        cost += sweeps
    first = _certified(model, known.U_XY - known.error, upper_XY, cost)
    enough = FINAL_SHARE * first.max_regret
    if known.error <= enough or not enough:
        return first
    known = policy_values(model, policy_PXY, tolerance=enough, start_XY=known.U_XY)
    cost += known.sweeps * sweep
    return _certified(model, known.U_XY - known.error, upper_XY, cost)


def _certified(
    model: FastSlowMDP, lower_XY: np.ndarray, upper_XY: np.ndarray, sweeps: float
) -> Certified:
    gap_XY = np.where(model.real_XY, _finite(model, upper_XY, "upper_XY") - lower_XY, 0.0)
    gap_XY = np.maximum(gap_XY, 0.0)
    return Certified(lower_XY, upper_XY, float(gap_XY.max()), model.mean(gap_XY), sweeps)


def _cycles(
    model: FastSlowMDP, policy_PXY: np.ndarray, values_XY: np.ndarray, steps: int
) -> tuple[np.ndarray, float]:
    """Return a lower bound of U^π from whole cycles of at least so many steps, and its cost."""
    cycles = ceil(steps / len(policy_PXY))
    followed = [(policy_reward(model, pi), follow(model.true, pi)) for pi in policy_PXY[::-1]]
    image_XY = values_XY
    for reward_XY, law in followed * cycles:
        image_XY = reward_XY + model.gamma * expect(model, law, image_XY)[:, :, 0]
    made = cycles * len(policy_PXY)
    return below(model, made, values_XY, image_XY), made * model.n_real / model.n_pairs


def _finite(model: FastSlowMDP, values_XY: np.ndarray, name: str) -> np.ndarray:
    """Return finite values of shape (X, Y), mirrored at padding, or raise."""
    values_XY = model.mirror(values_of(model, values_XY, name))
    if not np.isfinite(values_XY).all():
        raise InputError(f"{name}: some values are not finite; give a number for each (x, y)")
    return values_XY


def _above(model: FastSlowMDP, t: int, V_XY: np.ndarray, BV_XY: np.ndarray) -> np.ndarray:
    """Bound the fixed point of an operator B of t steps from above, given V and B V."""
    bounds = certificate(model, t)
    high_X1 = (BV_XY - V_XY).max(axis=1, keepdims=True)
    if bounds.resolvent_XX.size:
        c_X1 = bounds.resolvent_XX @ high_X1
        # c − γᵗ Pᵗ c ≥ max_y δ must hold although the inverse is rounded: a constant repairs it.
        missing = (high_X1 - c_X1 + bounds.discount * bounds.shift_later(c_X1)).max()
        c_X1 = c_X1 + max(missing, 0.0) / (1 - bounds.discount)
    else:
        c_X1 = np.full_like(high_X1, high_X1.max() / (1 - bounds.discount))
    later_X1 = bounds.discount * bounds.shift_later(c_X1)
    return BV_XY + later_X1 + _rounding(model, V_XY, BV_XY, c_X1)


def below(model: FastSlowMDP, t: int, V_XY: np.ndarray, BV_XY: np.ndarray) -> np.ndarray:
    """Bound the fixed point of an operator B of t steps from below, given V and B V."""
    return -_above(model, t, -V_XY, -BV_XY)


def _rounding(model: FastSlowMDP, *arrays: np.ndarray) -> float:
    """Bound the rounding error: as `core.certificate.rounding`, for values of any size.

    A matrix product with Pᵗ adds |X| terms.
    """
    largest = max(float(np.abs(array).max()) for array in arrays)
    product = model.n_slow * np.finfo(float).eps / (1 - model.gamma)
    return rounding(model) + (relative_rounding(model) + product) * largest
