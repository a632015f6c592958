"""Sums and products of the bounds that keep their digits and never turn into NaN.

1 - γ^T is -expm1(T log γ), which keeps its digits as γ → 1. The product γ^n Σ_{j<n} L_f^j takes one
exponential of n log(γ L_f), because its two factors can be 0 and inf.
"""

import math

import numpy as np

Values = float | np.ndarray
"""A number or an array: the arguments and results of the bounds."""

quiet = np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
"""An overflow is inf and an underflow is 0; neither is worth a warning."""


def log(x: float) -> float:
    """log x, and -inf at 0."""
    return math.log(x) if x > 0 else -math.inf


def one_minus_power(gamma: float, T: np.ndarray) -> np.ndarray:
    """1 - γ^T for T >= 1."""
    return -np.expm1(T * log(gamma))


def one_minus_product(one_minus_x: Values, x: Values, y: Values) -> Values:
    """1 - xy, given 1 - x. Few digits cancel, because 1 - y is exact near y = 1."""
    return one_minus_x + x * (1 - y)


def geometric_sum(n: np.ndarray, one_minus_x: float) -> np.ndarray:
    """Σ_{j<n} x^j for x in [0, 1), given 1 - x."""
    log_x = math.log1p(-one_minus_x) if one_minus_x < 1 else -math.inf
    return np.where(n > 0, -np.expm1(np.maximum(n, 1) * log_x) / one_minus_x, 0.0)


def discounted_geometric_sum(gamma: float, ratio: float, n: np.ndarray) -> np.ndarray:
    """γ^n Σ_{j<n} ratio^j, which is 0 at n = 0."""
    m = np.maximum(n, 1)  # 0 times log 0 would be NaN
    if ratio == 1:
        value = np.power(gamma, m) * m
    elif ratio < 1:
        value = np.power(gamma, m) * -np.expm1(m * log(ratio)) / (1 - ratio)
    else:  # (γ ratio)^m comes first, so that γ^m = 0 is never multiplied by ratio^m = inf
        value = np.exp(m * log(gamma * ratio)) * -np.expm1(-m * log(ratio)) / (ratio - 1)
    return np.where(n > 0, value, 0.0)


def product(a: Values, b: Values) -> np.ndarray:
    """a·b with 0·inf = 0: inf stands for the overflow of a finite number, and 0 is exact."""
    result = np.asarray(a * b)
    return np.where(np.isnan(result), 0.0, result) if np.isinf(b).any() else result
