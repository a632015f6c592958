"""Landmarks of the reward approximation error ε_r: where it peaks, and where it loses its ceiling.

Section "Illustrating Reward Error" of the paper tells two shapes apart, by L_f below or above 1.
The sums of Proposition "Reward Approximation Error" say that the line between them is γ L_f = 1:

    freeze error as T → ∞    α d_Y L_r Σ_{i>=1} γ^i Σ_{j<i} L_f^j = α d_Y L_r γ / ((1-γ)(1-γ L_f))

if γ L_f < 1, and infinity otherwise. With 1 < L_f < 1/γ the freeze error grows for long and still
has a ceiling; on a finite range of T that looks like growth without bound.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import reward_error
from fsdash.theory.parameters import Constants, as_scalar

# Two heights of a curve that differ by less than this share look the same in a figure.
VISIBLE = 0.01


@dataclass(frozen=True)
class Peak:
    """The largest total over a range of T; `inside` unless it lies at the range's right end."""

    T: int
    value: float
    inside: bool


@dataclass(frozen=True)
class Course:
    """How the total runs over a range of T, each part as (T, value), as far as it can be seen.

    It rises from 0 to its `end`. It may fall on the way, from a `top` to a `bottom` (both None if
    it does not); the bottom is the end itself if the total never rises again.
    """

    top: tuple[int, float] | None
    bottom: tuple[int, float] | None
    end: tuple[int, float]

    @property
    def rises_again(self) -> bool:
        """Whether the end lies above the bottom."""
        return self.bottom is not None and self.end[1] > (1 + VISIBLE) * self.bottom[1]


def critical_l_f(gamma: float) -> float:
    """1/γ, the L_f from which on the freeze error has no ceiling; inf at γ = 0."""
    return 1 / gamma if gamma > 0 else np.inf


def freeze_ceiling(constants: Constants, l_f: ArrayLike | None = None) -> float | np.ndarray:
    """The limit of the freeze error as T → ∞, for the constants' own L_f or for others."""
    c = constants
    l_f = np.asarray(c.l_f if l_f is None else l_f, dtype=float)
    scale = c.alpha * c.d_y * c.l_r * c.gamma / (1 - c.gamma)
    gap = 1 - c.gamma * l_f
    limit = np.where(gap > 0, scale / np.where(gap > 0, gap, 1.0), np.inf)
    return as_scalar(limit if scale > 0 else np.zeros_like(l_f))


def freeze_error(constants: Constants, T: int, l_f: ArrayLike) -> float | np.ndarray:
    """The freeze error of `reward_error` at one T, for many L_f at once.

    Its terms g_i = γ^i Σ_{j<i} L_f^j follow from one another: g_{i+1} = γ (g_i + (γ L_f)^i). All
    of them are positive, so adding them up loses nothing, and what overflows is inf.
    """
    c, l_f = constants, np.asarray(l_f, dtype=float)
    term, total, power = np.zeros_like(l_f), np.zeros_like(l_f), np.ones_like(l_f)
    with np.errstate(over="ignore"):
        for _ in range(T - 2):
            term = c.gamma * (term + power)
            total = total + term
            power = power * (c.gamma * l_f)
        scale = c.alpha * c.d_y * c.l_r
        return as_scalar(scale * total if scale > 0 else np.zeros_like(l_f))


def peak(constants: Constants, T: ArrayLike) -> Peak:
    """Where the total of ε_r is largest among these T, the first one if there are several."""
    T = np.asarray(T)
    total = np.asarray(reward_error(constants, T).total)
    best = int(np.argmax(total))
    return Peak(int(T[best]), float(total[best]), inside=best < len(T) - 1)


def course(constants: Constants, T: ArrayLike) -> Course:
    """Rises and falls of the total over these T, which are in order."""
    T = np.asarray(T)
    total = np.asarray(reward_error(constants, T).total)

    def place(i: int) -> tuple[int, float]:
        return int(T[i]), float(total[i])

    end = len(T) - 1
    # The deepest fall below any earlier value; the last steps of a flat curve do not count.
    before = np.maximum.accumulate(np.minimum(total, np.finfo(float).max))
    low = int(np.argmax(before - total))
    if not total[low] < (1 - VISIBLE) * before[low]:
        return Course(None, None, place(end))
    return Course(place(int(np.argmax(total[: low + 1]))), place(low), place(end))


def long_run(constants: Constants) -> float:
    """The limit of the total as T → ∞: the freeze error's ceiling in general, and inf if none.

    The end-of-horizon error dies out if γ L_f < 1 and grows without bound if γ L_f > 1. In between,
    at γ L_f = 1, γ^{T-1} Σ_{j<T-1} L_f^j tends to 1/(L_f - 1).
    """
    c, product = constants, constants.gamma * constants.l_f
    drift = c.alpha * c.d_y * c.l_u
    if drift == 0 or product < 1:
        return float(freeze_ceiling(constants))
    end = drift / (c.l_f - 1) if product == 1 else np.inf
    return float(freeze_ceiling(constants) + end)
