"""The constants and sizes of a fast-slow MDP, from which bounds and costs are computed.

`Constants` belong to the regret analysis (Section "Theoretical Analysis"): the discount γ, the
fast-slow property (α, d_Y), the Lipschitz constants L = (L_r, L_f, L_U) and the largest reward
r_max. `Sizes` belong to the cost analysis (Section "Computational Cost of FSVI"): |X|, |Y|, |A|.

Both check their values when they are made, so functions that take them need not check again. Below
them are the cost of a run and the arithmetic that bounds and costs share.

Costs are in operations, from Section "Computational Cost of FSVI" with all constants 1.

    Base VI    k |S|²|A|
    FSVI       |X||Y|²|A| T + |S|² T  +  k |S|²|A|
               (lower level, once)       (upper level)

The paper charges the lower level for T sweeps although it makes T-1, so FSVI with T = 1 costs
slightly more than Base VI, which is the same algorithm. We keep the paper's count.

Costs are floats. `k_max` and `k_max_vi` are exact in floating-point arithmetic: their result
satisfies cost(k) <= budget < cost(k+1) for the costs computed here.

The arithmetic of the bounds keeps its digits and never turns into NaN: 1 - γ^T is
-expm1(T log γ), which keeps its digits as γ → 1. The product γ^n Σ_{j<n} L_f^j takes one
exponential of n log(γ L_f), because its two factors can be 0 and inf.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.formatting import shorten

Values = float | np.ndarray
"""A number or an array: the arguments and results of the bounds."""
Count = int | np.ndarray

COUPLINGS = ("noise", "wasserstein")
"""How the next states of two state-action pairs are compared; see `fsdash.theory.measured`."""
# A larger constant is probably in the wrong unit, and products of a few of them would overflow.
LARGEST_CONSTANT = 1e100
ROUNDING = 1e-9
"""Distance below 1 at which a measured L̃ counts as 1."""
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
    l_frozen
        L̃, Lipschitz constant of the frozen map (x, y, a) -> (x, ỹ'). If None, `frozen_lipschitz`
        derives it from L_f.
    eta
        η, the largest distance between the next state (x', y') and the frozen one (x, ỹ'). If None,
        the frozen map is f_Y itself, ỹ' = y', and η is α·d_Y.
    d_y_frozen
        d̃_Y, how far the fast state moves at most per period while x is frozen. If None, d_Y.
    coupling
        How L_f, L̃ and η compare next states: "noise", as in the paper, or "wasserstein".

    `fsdash.theory.measure` finds all of them. The bounds as stated in the paper do not use the last
    four.

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
    l_frozen: float | None = None
    eta: float | None = None
    d_y_frozen: float | None = None
    coupling: str = "noise"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", discount("gamma", self.gamma))
        for field in fields(self)[1:-1]:
            value = getattr(self, field.name)
            if value is not None or field.default is not None:  # only the last ones may be None
                object.__setattr__(self, field.name, nonnegative(field.name, value))
        if self.coupling not in COUPLINGS:
            raise InputError(f"coupling = {self.coupling!r}: choose from {', '.join(COUPLINGS)}")


SHORT_NAMES = {
    "gamma": "gamma",
    "alpha": "alpha",
    "dY": "d_y",
    "Lr": "l_r",
    "Lf": "l_f",
    "LU": "l_u",
    "rmax": "r_max",
}
"""The field of `Constants` for each name in the links of the dashboard."""


def constants_from(values: Mapping[str, float]) -> Constants:
    """The constants from values under their short names; other values are ignored.

    Examples
    --------
    >>> from fsdash.theory.parameters import constants_from
    >>> short = dict(gamma=0.75, alpha=0.1, dY=1, Lr=1, Lf=1.1, LU=2, rmax=1)
    >>> constants_from({**short, "T": 12}).l_f
    1.1
    """
    fields_of: dict[str, Any] = {field: values[name] for name, field in SHORT_NAMES.items()}
    return Constants(**fields_of)


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


def frozen_lipschitz(constants: Constants, l_frozen: float | None, n_slow: int) -> float:
    """L̃, the Lipschitz constant of the frozen map: as given, as measured, or derived from L_f.

    With two or more slow states the frozen map is the identity in x, so L̃ >= 1. If it moves y as
    f_Y does, L_f alone gives ‖(x - x', f_Y - f_Y')‖² <= (1 + L_f²) ‖s - s'‖², so L̃ <= √(1 + L_f²)
    with a common noise, and L̃ <= 1 + L_f for Wasserstein constants. With one slow state this
    frozen map is f, and L̃ = L_f. If η or d̃_Y are given, the model may have a frozen map of its own,
    and nothing follows from L_f.
    """
    several = int(whole_numbers("n_slow", n_slow, 1, LARGEST_SIZE)) > 1
    if l_frozen is None:
        l_frozen = constants.l_frozen
    if l_frozen is None:
        if constants.eta is not None or constants.d_y_frozen is not None:
            raise InputError(
                "l_frozen is missing: η or d̃_Y are given, so the frozen map may differ from f_Y, "
                "and L̃ does not follow from L_f. Give l_frozen too; fsdash.theory.measure "
                "computes it."
            )
        if not several:
            return constants.l_f
        common_noise = constants.coupling == "noise"
        return math.hypot(1.0, constants.l_f) if common_noise else 1 + constants.l_f
    l_frozen = nonnegative("l_frozen", l_frozen)
    if several and 1 - ROUNDING <= l_frozen < 1:
        return 1.0  # a measured constant, rounded
    if several and l_frozen < 1:
        raise InputError(
            f"l_frozen = {l_frozen:g} is below 1; the frozen map keeps x, so with two or more slow "
            "states L̃ >= 1. Give a number >= 1, or n_slow = 1 if there is one slow state."
        )
    return l_frozen


def frozen_steps(constants: Constants) -> tuple[float, float]:
    """η and d̃_Y; if they are not given, those of the frozen map f_Y, which are α·d_Y and d_Y."""
    c = constants
    eta = c.alpha * c.d_y if c.eta is None else c.eta
    return eta, c.d_y if c.d_y_frozen is None else c.d_y_frozen


def as_scalar(values: ArrayLike) -> float | np.ndarray:
    """A float if there is a single number, else the array."""
    array = np.asarray(values)
    return float(array) if array.ndim == 0 else array


# ------------------------------------------------------------------------------------------ costs


def vi_cost(sizes: Sizes, k: ArrayLike) -> Values:
    """The cost of k sweeps of Base VI.

    Examples
    --------
    >>> from fsdash.theory import Sizes, vi_cost
    >>> vi_cost(Sizes(n_slow=2, n_fast=3, n_actions=4), 10)
    1440.0
    """
    return as_scalar(_cost(0.0, sizes.sweep, whole_numbers("k", k, 0, LARGEST_K)))


def fsvi_cost(sizes: Sizes, T: ArrayLike, *, k: ArrayLike) -> Values:
    """The cost of FSVI: the lower level for T periods and k sweeps of the upper level.

    Examples
    --------
    >>> from fsdash.theory import Sizes, fsvi_cost
    >>> fsvi_cost(Sizes(n_slow=2, n_fast=3, n_actions=4), 6, k=10)
    2088.0
    """
    sweeps = whole_numbers("k", k, 0, LARGEST_K)
    return as_scalar(_cost(lower_level_cost(sizes, T), sizes.sweep, sweeps))


def lower_level_cost(sizes: Sizes, T: ArrayLike) -> Values:
    """The cost of FSVI's lower level and its T-step transition probabilities, paid once."""
    frozen_sweep = sizes.n_slow * sizes.n_fast**2 * sizes.n_actions
    transitions = sizes.n_states**2
    return as_scalar(float(frozen_sweep + transitions) * whole_numbers("T", T, 1, LARGEST_T))


def k_max_vi(sizes: Sizes, budget: float) -> int:
    """The largest number k of sweeps of Base VI with vi_cost(k) ≤ `budget`."""
    return int(largest_k(0.0, sizes.sweep, check_budget(sizes, budget)))


def k_max(sizes: Sizes, T: ArrayLike, *, budget: float) -> Count:
    """The largest number k of FSVI's upper-level iterations with fsvi_cost(T, k) ≤ `budget`.

    It is 0 if the budget pays for the lower level only, and -1 if it does not even pay for that.
    The paper's text defines k_max(T, B) with "less than B"; here a run may cost exactly B.
    """
    budget = check_budget(sizes, budget)
    k = np.maximum(largest_k(lower_level_cost(sizes, T), sizes.sweep, budget), -1)
    return int(k) if k.ndim == 0 else k


def check_budget(sizes: Sizes, budget: float) -> float:
    """`budget` as a float >= 0 that is small enough to count its sweeps exactly."""
    budget = finite_number("budget", budget)
    if budget < 0:
        raise InputError(f"budget = {budget} is negative; give a number >= 0.")
    if budget > LARGEST_K / 2 * sizes.sweep:
        raise InputError(
            f"budget = {budget:g} is more than 2**49 sweeps of Base VI, too many to count;"
            f" give at most {LARGEST_K / 2 * sizes.sweep:.6g}."
        )
    return budget


def largest_k(lower: Values, sweep: float, budget: Values) -> np.ndarray:
    """The largest whole k, possibly negative, with lower + k·sweep <= budget in floats.

    The quotient can be rounded past a whole number, by at most one since k < 2**50. Hence the
    corrections by one in both directions.
    """
    k = np.asarray(np.floor((budget - lower) / sweep))
    k = k + (_cost(lower, sweep, k + 1) <= budget)
    k = k - (_cost(lower, sweep, k) > budget)
    return k.astype(np.int64)


def _cost(lower: Values, sweep: float, k: np.ndarray) -> np.ndarray:
    return lower + k * sweep


# ------------------------------------------------------------------------------------- arithmetic

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
