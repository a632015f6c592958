"""Certified bounds on the distance between a value function and the fixed point of its operator.

Let B be an operator of the model (H, a policy's, or T steps of them) and δ = B U − U. The classical
bounds of MacQueen and Porteus shift U by one constant. If the slow state is exogenous, more is
true: adding a function c(x) of the slow state to U adds γᵀ (Pᵀ c)(x) to B U under every policy,
because the slow kernel P is the same for all actions. With

    c⁺ = (I − γᵀ Pᵀ)⁻¹ max_y δ(·, y)      and      c⁻ = (I − γᵀ Pᵀ)⁻¹ min_y δ(·, y)

we get B(U + c⁺) = B U + γᵀ Pᵀ c⁺ ≤ U + max_y δ + γᵀ Pᵀ c⁺ = U + c⁺, and by monotonicity the fixed
point lies between U + c⁻ and U + c⁺. Hence the **certificate**

    ‖U + (c⁺ + c⁻)/2 − fixed point‖∞ ≤ max_x (c⁺ − c⁻)(x) / 2 (+ rounding),

which holds for any U, however it was computed. It depends only on differences within a slow state,
so it is never wider than the classical one, and the midpoint removes every error that depends on x
alone in one step. With an endogenous slow state, or more than `MAX_SLOW` slow states, the classical
bound is used: one constant for all states.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from fsdash.core.kernels import jit
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError

EPSILON = float(np.finfo(float).eps)
MAX_SLOW = 2_000
"""|X| up to which the |X|×|X| inverse is formed (32 MB)."""
CACHE_BYTES = 2**28
"""Memory for the matrices of one model's certificates: a frontier needs them for many T."""
STALL_LIMIT = 200
"""Iterates without a better certificate after which an iteration near its rounding error ends."""


def slow_kernel(model: FastSlowMDP) -> np.ndarray:
    """Return P(x, x'), the |X|×|X| kernel of an exogenous slow state."""
    return model.true.slow_kernel()


class Certificate:
    """The bounds for operators that span T steps of the true dynamics.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.core.operators import H
    >>> model = fsdash.make("inventory").build()
    >>> U_XY = 100 * model.reward_XYA.max(axis=2)
    >>> shift_X1, error = Certificate(model).shift(H(model, U_XY) - U_XY)
    >>> bool(abs(U_XY + shift_X1 - fsdash.optimum(model).U_XY).max() <= error)
    True
    """

    def __init__(self, model: FastSlowMDP, T: int = 1) -> None:
        self.discount = model.gamma**T
        self.rounding, self.relative_rounding = rounding(model), relative_rounding(model)
        # Pᵀ and (I − γᵀ Pᵀ)⁻¹; empty for the classical bound.
        self.PT_XX: np.ndarray = np.empty((0, 0))
        self.resolvent_XX: np.ndarray = np.empty((0, 0))
        if model.true.exogenous_slow and model.n_slow <= MAX_SLOW:
            self.PT_XX = np.linalg.matrix_power(slow_kernel(model), T)
            self.resolvent_XX = np.linalg.inv(np.eye(model.n_slow) - self.discount * self.PT_XX)

    def shift(self, delta_XY: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the shift c(x) of U, shape (X, 1), and its certified error, for δ = B U − U."""
        shift_X, error = midpoint(delta_XY, self.resolvent_XX, self.discount)
        return shift_X[:, None], error + self.rounding

    def correct(self, U_XY: np.ndarray, image_XY: np.ndarray) -> tuple[float, float]:
        """Replace U by U + c and B U by B (U + c), in place.

        Returns the error of U + c, and the part of it that is allowed for rounding.

        B is a single step, so no value that occurs in it is larger than those of U and B U. A
        reward that is larger belongs to an action that does not attain the maximum.
        """
        width, largest = correct(U_XY, image_XY, self.PT_XX, self.resolvent_XX, self.discount)
        rounding = self.relative_rounding * largest
        return width + rounding, rounding

    def shift_later(self, shift_X1: np.ndarray) -> np.ndarray:
        """Return (Pᵀ c)(x), the expected shift T steps later."""
        return self.PT_XX @ shift_X1 if self.PT_XX.size else shift_X1


_certificates: WeakKeyDictionary[FastSlowMDP, dict[int, Certificate]] = WeakKeyDictionary()


@jit
def midpoint(delta_XY, resolvent_XX, discount):
    """Return (c⁺ + c⁻)/2 and max_x (c⁺ − c⁻)/2 for δ = B U − U.

    The latter includes the rounding of the inverse and of the product with it, which is at most
    about |X| ε/(1 − γᵀ) relative to ‖δ‖∞/(1 − γᵀ).
    """
    X = len(delta_XY)
    high_X, low_X = np.empty(X), np.empty(X)
    for x in range(X):
        high_X[x], low_X[x] = delta_XY[x].max(), delta_XY[x].min()
    if not resolvent_XX.size:
        high, low = high_X.max() / (1 - discount), low_X.min() / (1 - discount)
        return np.full(X, (high + low) / 2), (high - low) / 2
    shift_X, error = np.empty(X), 0.0
    for x in range(X):
        high = low = 0.0
        for to in range(X):
            high += resolvent_XX[x, to] * high_X[to]
            low += resolvent_XX[x, to] * low_X[to]
        shift_X[x] = (high + low) / 2
        error = max(error, (high - low) / 2)
    largest = max(np.abs(high_X).max(), np.abs(low_X).max())
    return shift_X, error + X * EPSILON * largest / (1 - discount) ** 2


@jit
def correct(U_XY, image_XY, PT_XX, resolvent_XX, discount):
    """Add c to U and γᵀ Pᵀ c to B U, in place.

    B (U + c) = B U + γᵀ Pᵀ c follows without another application of B. Returns max_x (c⁺ − c⁻)/2,
    and the largest |value| of the four arrays.
    """
    shift_X, error = midpoint(image_XY - U_XY, resolvent_XX, discount)
    largest = 0.0
    for x in range(len(U_XY)):
        later = 0.0 if PT_XX.size else shift_X[x]
        for to in range(len(PT_XX)):
            later += PT_XX[x, to] * shift_X[to]
        for y in range(U_XY.shape[1]):
            largest = max(largest, abs(U_XY[x, y]), abs(image_XY[x, y]))
            U_XY[x, y] += shift_X[x]
            image_XY[x, y] += discount * later
            largest = max(largest, abs(U_XY[x, y]), abs(image_XY[x, y]))
    return error, largest


def certificate(model: FastSlowMDP, T: int = 1) -> Certificate:
    """Return the bounds of a model, cached because every evaluation of a policy needs them."""
    by_T = _certificates.setdefault(model, {})
    if T not in by_T:
        if len(by_T) >= max(2, CACHE_BYTES // (16 * model.n_slow**2)):
            del by_T[next(iter(by_T))]
        by_T[T] = Certificate(model, T)
    return by_T[T]


def rounding(model: FastSlowMDP) -> float:
    """Bound the rounding error in double precision, which every certified error includes.

    Values of the model reach ‖r‖∞/(1 − γ).
    """
    return relative_rounding(model) * model.largest_reward / (1 - model.gamma)


def relative_rounding(model: FastSlowMDP) -> float:
    """Bound the rounding error relative to the largest value.

    A backup adds |W| products of that size and a few more terms, and the bounds divide its rounding
    by 1 − γ. In row form |W| is the longest row, and the laws of x' of one slow state may differ by
    as much as they were found to.
    """
    law = model.true
    gap = law.exogenous_gap if law.exogenous_slow else 0.0
    return float(((law.terms + 4) * EPSILON + gap) / (1 - model.gamma))


def attainable(model: FastSlowMDP, tolerance: float) -> float:
    """Return the tolerance, raised to what double precision can certify if that is larger."""
    return max(checked_tolerance(tolerance), 2 * rounding(model))


def checked_tolerance(tolerance: float) -> float:
    """Return the tolerance, or raise an error if it is not positive."""
    if not tolerance > 0:
        raise InputError(f"tolerance = {tolerance}: use a positive number such as 1e-6")
    return tolerance


def unit(model: FastSlowMDP) -> float:
    """Return what an absolute tolerance counts in: 1, or ‖r‖∞/(1 − γ) where that is smaller.

    Otherwise every policy of a model with very small rewards would count as optimal.
    """
    return min(1.0, model.largest_reward / (1 - model.gamma)) or 1.0
