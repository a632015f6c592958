"""The shape of the reward approximation error ε_r over T: its peak and its limits as T → ∞.

Section "Illustrating Reward Error" of the paper distinguishes two shapes, by L_f below or above 1.
The sums of Proposition "Reward Approximation Error" show that the line between them is γ L_f = 1:

    freeze error as T → ∞    α d_Y L_r Σ_{i>=1} γ^i Σ_{j<i} L_f^j = α d_Y L_r γ / ((1-γ)(1-γ L_f))

if γ L_f < 1, and infinity otherwise. With 1 < L_f < 1/γ the freeze error grows for a long time
before it levels off; on a finite range of T that looks like unbounded growth.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import reward_error
from fsdash.theory.parameters import Constants, Values, as_scalar

VISIBLE = 0.01
"""Two values of a curve whose relative difference is smaller look the same in a figure."""


@dataclass(frozen=True)
class Peak:
    """The largest total over a range of T; `inside` unless it is at the range's right end."""

    T: int
    value: float
    inside: bool


@dataclass(frozen=True)
class Shape:
    """How the total changes over a range of T, each point as (T, value).

    It rises from 0 and ends at `end`. If it visibly falls in between, it falls from `top` to
    `bottom`; both are None if it does not. `bottom` equals `end` if the total never rises again.
    """

    top: tuple[int, float] | None
    bottom: tuple[int, float] | None
    end: tuple[int, float]

    @property
    def rises_again(self) -> bool:
        """Whether the end is visibly above the bottom."""
        return self.bottom is not None and self.end[1] > (1 + VISIBLE) * self.bottom[1]


def critical_l_f(gamma: float) -> float:
    """1/γ, the smallest L_f for which the freeze error is unbounded; inf at γ = 0.

    Examples
    --------
    >>> critical_l_f(0.5)
    2.0
    """
    return 1 / gamma if gamma > 0 else np.inf


def freeze_error_limit(constants: Constants, l_f: ArrayLike | None = None) -> Values:
    """The limit of the freeze error as T → ∞, for the constants' own L_f or for other values.

    Examples
    --------
    >>> from fsdash.theory import preset
    >>> freeze_error_limit(preset("reward-error-small").constants, [0.5, 1.1]).round(4)
    array([0.1937,    inf])
    """
    c = constants
    ratios = np.asarray(c.l_f if l_f is None else l_f, dtype=float)
    scale = c.alpha * c.d_y * c.l_r * c.gamma / (1 - c.gamma)
    gap = 1 - c.gamma * ratios
    limit = np.where(gap > 0, scale / np.where(gap > 0, gap, 1.0), np.inf)
    return as_scalar(limit if scale > 0 else np.zeros_like(ratios))


def freeze_error(constants: Constants, T: int, *, l_f: ArrayLike) -> Values:
    """The freeze error of `reward_error` at one T, for many values of L_f at once.

    The terms g_i = γ^i Σ_{j<i} L_f^j satisfy g_{i+1} = γ (g_i + (γ L_f)^i). They are positive, so
    their sum loses no digits. An overflow is inf.
    """
    c, ratios = constants, np.asarray(l_f, dtype=float)
    term, total, power = np.zeros_like(ratios), np.zeros_like(ratios), np.ones_like(ratios)
    with np.errstate(over="ignore"):
        for _ in range(T - 2):
            term = c.gamma * (term + power)
            total = total + term
            power = power * (c.gamma * ratios)
        scale = c.alpha * c.d_y * c.l_r
        return as_scalar(scale * total if scale > 0 else np.zeros_like(ratios))


def peak(constants: Constants, T: ArrayLike) -> Peak:
    """The first T, of those given, at which the total of ε_r is largest.

    Examples
    --------
    >>> from fsdash.theory import preset
    >>> peak(preset("reward-error-small").constants, range(1, 151)).T
    23
    """
    horizons = np.asarray(T)
    total = np.asarray(reward_error(constants, horizons).total)
    best = int(np.argmax(total))
    return Peak(int(horizons[best]), float(total[best]), inside=best < len(horizons) - 1)


def reward_error_shape(constants: Constants, T: ArrayLike) -> Shape:
    """Where the total of ε_r rises and falls over these T, which must be in order."""
    horizons = np.asarray(T)
    total = np.asarray(reward_error(constants, horizons).total)

    def point(i: int) -> tuple[int, float]:
        return int(horizons[i]), float(total[i])

    end = len(horizons) - 1
    # The deepest fall below an earlier value; rounding on a flat curve does not count.
    before = np.maximum.accumulate(np.minimum(total, np.finfo(float).max))
    low = int(np.argmax(before - total))
    if not total[low] < (1 - VISIBLE) * before[low]:
        return Shape(None, None, point(end))
    return Shape(point(int(np.argmax(total[: low + 1]))), point(low), point(end))


def reward_error_limit(constants: Constants) -> float:
    """The limit of the total of ε_r as T → ∞; usually that of the freeze error, possibly inf.

    The end-of-horizon error vanishes if γ L_f < 1 and grows without bound if γ L_f > 1. At
    γ L_f = 1, γ^{T-1} Σ_{j<T-1} L_f^j tends to 1/(L_f - 1).

    Examples
    --------
    >>> from fsdash.theory import preset
    >>> round(reward_error_limit(preset("reward-error-small").constants), 3)
    1.793
    """
    c, growth = constants, constants.gamma * constants.l_f
    drift = c.alpha * c.d_y * c.l_u
    if drift == 0 or growth < 1:
        return float(freeze_error_limit(constants))
    end_of_horizon = drift / (c.l_f - 1) if growth == 1 else np.inf
    return float(freeze_error_limit(constants) + end_of_horizon)
