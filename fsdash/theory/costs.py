"""The cost of a run in operations, from Section "Computational Cost of FSVI" with all constants 1.

    Base VI    k |S|²|A|
    FSVI       |X||Y|²|A| T + |S|² T  +  k |S|²|A|
               (lower level, once)       (upper level)

The paper charges the lower level for T sweeps although it makes T-1, so FSVI with T = 1 costs
slightly more than Base VI, which is the same algorithm. We keep the paper's count.

Costs are floats. `k_max` and `k_max_vi` are exact in floating-point arithmetic: their result
satisfies cost(k) <= budget < cost(k+1) for the costs computed here.
"""

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.theory.arithmetic import Values
from fsdash.theory.parameters import (
    LARGEST_K,
    LARGEST_T,
    Sizes,
    as_scalar,
    finite_number,
    whole_numbers,
)

Count = int | np.ndarray


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
    """The largest number of sweeps of Base VI within `budget` operations."""
    return int(largest_k(0.0, sizes.sweep, check_budget(sizes, budget)))


def k_max(sizes: Sizes, T: ArrayLike, *, budget: float) -> Count:
    """The largest number of FSVI's upper-level iterations within `budget`.

    It is 0 if the budget pays for the lower level only, and -1 if it does not even pay for that.
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
