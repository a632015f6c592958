"""The constants and sizes of a fast-slow MDP, from which bounds and costs are computed.

`Constants` belong to the regret analysis (Section "Theoretical Analysis"): the discount γ, the
fast-slow property (α, d_Y), the Lipschitz constants L = (L_r, L_f, L_U) and the largest reward
r_max. `Sizes` belong to the cost analysis (Section "Computational Cost of FSVI"): |X|, |Y|, |A|.

Both check their values when they are made, so functions that take them need not check again.
"""

import math
from dataclasses import dataclass, fields
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.formatting import shorten

# A larger constant is probably in the wrong unit, and products of a few of them would overflow.
LARGEST_CONSTANT = 1e100
LARGEST_SIZE = 10**12
LARGEST_T = 10**6
# Up to this k, one more sweep always changes a cost stored as a float, so k can be recovered.
LARGEST_K = 2**50


@dataclass(frozen=True, kw_only=True)
class Constants:
    """The constants in Proposition "Reward Approximation Error" and in the regret theorems.

    Parameters
    ----------
    gamma
        Discount factor, 0 <= γ < 1.
    alpha
        The slow state moves at most α·d_Y per period. The paper assumes α <= 1. Constants measured
        on a domain can exceed 1 and the formulas still hold, so every α >= 0 is allowed.
    d_y
        The fast state moves at most d_Y per period.
    l_r
        Lipschitz constant of the reward.
    l_f
        Lipschitz constant of the transition function.
    l_u
        Lipschitz constant of the optimal value U*.
    r_max
        Largest reward; rewards are in [0, r_max].

    Examples
    --------
    >>> from fsdash.theory import Constants, trivial_bound
    >>> c = Constants(gamma=0.75, alpha=0.1, d_y=1, l_r=1, l_f=1.1, l_u=2, r_max=1)
    >>> trivial_bound(c)
    4.0
    """

    gamma: float
    alpha: float
    d_y: float
    l_r: float
    l_f: float
    l_u: float
    r_max: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", discount("gamma", self.gamma))
        for field in fields(self)[1:]:
            object.__setattr__(self, field.name, nonnegative(field.name, getattr(self, field.name)))


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The numbers of slow states |X|, fast states |Y| and actions |A|.

    Examples
    --------
    >>> from fsdash.theory import Sizes
    >>> sizes = Sizes(n_slow=11, n_fast=51, n_actions=11)
    >>> sizes.n_states, sizes.sweep
    (561, 3461931.0)
    """

    n_slow: int
    n_fast: int
    n_actions: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = whole_numbers(field.name, getattr(self, field.name), 1, LARGEST_SIZE)
            if value.ndim:
                raise InputError(f"{field.name} is an array; give one whole number.")
            object.__setattr__(self, field.name, int(value))

    @property
    def n_states(self) -> int:
        """|S| = |X||Y|."""
        return self.n_slow * self.n_fast

    @property
    def sweep(self) -> float:
        """|S|²|A|, the cost of one sweep of Base VI and the unit of budgets."""
        return float(self.n_states**2 * self.n_actions)


def finite_number(name: str, value: object) -> float:
    """`value` as a finite float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputError(f"{name} = {value!r} is not a number; give a finite number.")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise InputError(f"{name} = {result} is not finite; give a finite number.")
    return result


def nonnegative(name: str, value: object) -> float:
    """`value` as a float in [0, LARGEST_CONSTANT]."""
    result = finite_number(name, value)
    if result < 0:
        raise InputError(f"{name} = {result} is negative; give a number >= 0.")
    if result > LARGEST_CONSTANT:
        raise InputError(
            f"{name} = {result} is larger than {LARGEST_CONSTANT:g}; choose larger units."
        )
    return abs(result)  # Normalise -0.0, which would turn a bound of 0 into -0.


def discount(name: str, value: object) -> float:
    """`value` as a discount factor in [0, 1)."""
    result = finite_number(name, value)
    if result == 1:
        raise InputError(
            f"{name} = 1 means no discounting, which makes every bound infinite;"
            " give a number just below 1, such as 0.999."
        )
    if not 0 <= result < 1:
        raise InputError(f"{name} = {result} is not a discount factor; give 0 <= {name} < 1.")
    return abs(result)


def whole_numbers(name: str, values: ArrayLike, low: int, high: int) -> np.ndarray:
    """`values` (a number or an array of any shape) as int64 within [low, high]."""
    remedy = f"give whole numbers from {low} to {high}."
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal length
        raise InputError(f"{name} is a ragged list; {remedy}") from None
    if array.dtype == object and all(type(value) is int for value in array.flat):
        # Integers beyond int64: clip them, so that the range check below can reject them.
        clipped = [min(max(value, -(2**62)), 2**62) for value in array.flat]
        array = np.array(clipped, dtype=np.int64).reshape(array.shape)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} = {shorten(repr(values))} is not made of whole numbers; {remedy}")
    bad = ~((array >= low) & (array <= high) & (array == np.floor(array)))
    if bad.any():
        first = np.asarray(values, dtype=object)[bad].flat[0] if bad.ndim else values
        raise InputError(f"{name} = {first} is out of range or not whole; {remedy}")
    return array.astype(np.int64)


def as_scalar(values: ArrayLike) -> float | np.ndarray:
    """A float if there is a single number, else the array."""
    array = np.asarray(values)
    return float(array) if array.ndim == 0 else array
