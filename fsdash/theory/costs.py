"""What a run costs, by the two equations of Section "Computational Cost of FSVI" (constants 1).

    Base VI    k |S|²|A|
    FSVI       |X||Y|²|A| T + |S|² T  +  k |S|²|A|
               (lower level, paid once)  (upper level)

The paper charges the lower level for T sweeps although it makes T-1, so FSVI with T = 1 costs a
little more than Base VI, the same algorithm. We keep the paper's count.

Costs are floats. The k_max functions are exact in that arithmetic: what they return satisfies
cost(k) <= budget < cost(k+1) as computed here, not only on paper.
"""

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.theory.parameters import LARGEST_K, LARGEST_T, Sizes, as_scalar, number, whole_numbers

Cost = float | np.ndarray
Count = int | np.ndarray


def vi_cost(sizes: Sizes, k: ArrayLike) -> Cost:
    """The cost of k sweeps of Base VI."""
    return as_scalar(_cost(0.0, sizes.sweep, whole_numbers("k", k, 0, LARGEST_K)))


def fsvi_cost(sizes: Sizes, T: ArrayLike, k: ArrayLike) -> Cost:
    """The cost of FSVI: the lower level for T and k sweeps of the upper level."""
    k = whole_numbers("k", k, 0, LARGEST_K)
    return as_scalar(_cost(lower_level_cost(sizes, T), sizes.sweep, k))


def lower_level_cost(sizes: Sizes, T: ArrayLike) -> Cost:
    """What FSVI pays once: the frozen lower level and its T-step transition probabilities."""
    frozen_sweep = sizes.n_slow * sizes.n_fast**2 * sizes.n_actions
    transitions = sizes.n_states**2
    return as_scalar(float(frozen_sweep + transitions) * whole_numbers("T", T, 1, LARGEST_T))


def k_max_vi(sizes: Sizes, budget: float) -> Count:
    """The most sweeps of Base VI that `budget` pays for."""
    return _count(largest_k(0.0, sizes.sweep, check_budget(sizes, budget)))


def k_max(sizes: Sizes, T: ArrayLike, budget: float) -> Count:
    """The most upper-level iterations of FSVI that `budget` pays for; -1 if not even 0."""
    budget = check_budget(sizes, budget)
    k = largest_k(lower_level_cost(sizes, T), sizes.sweep, budget)
    return _count(np.maximum(k, -1))


def check_budget(sizes: Sizes, budget: float) -> float:
    """`budget` as a float >= 0 small enough for its sweeps to be counted."""
    budget = number("budget", budget)
    if budget < 0:
        raise InputError(f"budget = {budget} is negative; give a number >= 0.")
    if budget > LARGEST_K / 2 * sizes.sweep:
        raise InputError(
            f"budget = {budget:g} is more than 2**49 sweeps of Base VI, beyond what is counted;"
            f" give at most {LARGEST_K / 2 * sizes.sweep:.6g}."
        )
    return budget


def largest_k(lower: Cost, sweep: float, budget: float) -> np.ndarray:
    """The largest whole k, negative ones included, with lower + k·sweep <= budget as floats.

    The division may round across a whole number, by one at most (k < 2**50): look both ways.
    """
    k = np.asarray(np.floor((budget - lower) / sweep))
    k = k + (_cost(lower, sweep, k + 1) <= budget)
    k = k - (_cost(lower, sweep, k) > budget)
    return k.astype(np.int64)


def _cost(lower: Cost, sweep: float, k: np.ndarray) -> np.ndarray:
    return lower + k * sweep


def _count(values: np.ndarray) -> Count:
    return int(values) if values.ndim == 0 else values
