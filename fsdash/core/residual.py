"""The residual r + γ E[U] − U with twice the precision, for values near γ = 1.

Near γ = 1 the values of a model reach ‖r‖∞/(1 − γ), and the residual is the small difference of
large numbers. In double precision it is wrong by about ε ‖U‖∞, and the bounds of
`fsdash.core.certificate` divide that by 1 − γ. So the values are given here as a sum of two doubles
U + low, and the residual is computed with errors of about ε² ‖U‖∞ (Dekker 1971).

Take the residual ρ(s, a) = r(s, a) + γ E[U(s')] − U(s) as rewards instead of r. Along any path the
terms γᵗ U(s_t) cancel, so each policy, periodic or not, then has the value U^π − U, and the optimum
is U* − U. If U is close to U^π, these values are small, and so is their rounding. Evaluating π with
the rewards ρ and adding the result to U is iterative refinement.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.certificate import EPSILON
from fsdash.core.model import FastSlowMDP

SPLITTER = 2.0**27 + 1
"""Cuts a double into two halves whose products are exact."""


def residual(model: FastSlowMDP, U_XY: np.ndarray, low_XY: np.ndarray) -> np.ndarray:
    """Return r + γ E[U + low] − (U + low) for every (x, y, a); −∞ for infeasible actions.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> U_XY = fsdash.optimum(model).U_XY
    >>> bool(abs(residual(model, U_XY, 0 * U_XY).max(axis=2)).max() < 1e-6)
    True
    """
    shape_XYA = model.reward_XYA.shape
    mean, mean_low = U_XY, low_XY
    for terms in model.true.stages():
        U_S, low_S = mean.reshape(-1), mean_low.reshape(-1)
        mean, mean_low = np.zeros(1), np.zeros(1)
        for probability, target in terms:
            product, product_low = two_product(probability, U_S[target])
            mean, rest = two_sum(mean, product)
            mean_low = mean_low + (rest + product_low + probability * low_S[target])
    mean, mean_low = model.true.per_pair(mean), model.true.per_pair(mean_low)
    future, future_low = two_product(model.gamma, np.broadcast_to(mean, shape_XYA))
    total, rest = two_sum(np.where(model.feasible_XYA, model.reward_XYA, 0.0), future)
    total, last_rest = two_sum(total, -U_XY[:, :, None])
    low = rest + last_rest + future_low + model.gamma * mean_low - low_XY[:, :, None]
    return model.mirror(np.where(model.feasible_XYA, total + low, -np.inf))


def residual_rounding(model: FastSlowMDP, U_XY: np.ndarray) -> float:
    """Bound the error of values in a model with these rewards that comes from their computation.

    There are |W| + 4 terms. Each adds up to ε ‖U‖∞ to the low part of the sum, whose rounding is
    then ε times as much, so the error is at most a few (|W| + 4)² ε² ‖U‖∞. The values divide that
    by 1 − γ.
    That the residual itself is rounded to a double is part of every certificate.
    """
    terms = model.true.terms + 4
    return terms**2 * EPSILON**2 * float(np.abs(U_XY).max()) / (1 - model.gamma)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b as the rounded sum and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: np.ndarray | float, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a·b as the rounded product and its rounding error."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    rest = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, rest


def _halves(a: np.ndarray | float) -> tuple[np.ndarray | float, np.ndarray | float]:
    high = SPLITTER * a - (SPLITTER * a - a)
    return high, a - high
