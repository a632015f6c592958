"""A bound on a budget is a staircase: it falls each time the budget pays for one more iteration."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory import Constants, Regime, Sizes, fsvi_regret
from fsdash.theory.budget import Bound
from fsdash.theory.costs import fsvi_cost, k_max, k_max_vi, vi_cost

ALL_STEPS = 200
"""So many steps of a staircase are drawn one by one; on a log axis later ones cannot be seen."""
LATER_STEPS = 80


@dataclass(frozen=True, eq=False)
class Curve:
    """The staircase of one competitor (T = 1 is Base VI): bound and cost after k iterations."""

    T: int
    k: np.ndarray
    cost: np.ndarray
    regret: np.ndarray


def curves(
    constants: Constants, sizes: Sizes, T: ArrayLike, largest: float, bound: Bound = fsvi_regret
) -> list[Curve]:
    """The staircases of Base VI and of FSVI with each T > 1, up to a budget of `largest`."""
    found = []
    for horizon in (1, *sorted({int(t) for t in np.ravel(T)} - {1})):
        most = k_max_vi(sizes, largest) if horizon == 1 else k_max(sizes, horizon, largest)
        k = _steps(most)
        cost = vi_cost(sizes, k) if horizon == 1 else fsvi_cost(sizes, horizon, k)
        found.append(Curve(horizon, k, cost, bound(constants, horizon, k).total))
    return [curve for curve in found if curve.k.size]


def curves_table(
    constants: Constants, sizes: Sizes, T: ArrayLike, largest: float, bound: Bound = fsvi_regret
) -> dict[str, list]:
    """The same as columns, a line for each step: T, k, cost, cost in sweeps, regret."""
    drawn = curves(constants, sizes, T, largest, bound)
    cost = np.concatenate([curve.cost for curve in drawn] or [np.empty(0)])
    return {
        "T": [curve.T for curve in drawn for _ in curve.k],
        "k": [int(k) for curve in drawn for k in curve.k],
        "cost": cost.tolist(),
        "sweeps": (cost / sizes.sweep).tolist(),
        "regret": [float(regret) for curve in drawn for regret in curve.regret],
    }


def budget_range(
    constants: Constants, sizes: Sizes, budget: float, regimes: Sequence[Regime]
) -> tuple[float, float]:
    """The budgets to draw: from below one sweep to well past the last change of the winner, and to
    where Base VI's bound, 2 r_max γ^{k+1}/(1-γ)², has become informative."""
    last = max(regime.start for regime in regimes) / sizes.sweep
    gamma = constants.gamma
    informative = log(2 / (1 - gamma)) / -log(gamma) if gamma > 0 else 0.0
    low = min(0.93 * sizes.sweep, 0.9 * budget if budget > 0 else inf)
    return low, max(max(4 * last, 100, 2 * informative) * sizes.sweep, 1.5 * budget)


def _steps(most: int) -> np.ndarray:
    """The iterations to draw: all of the first ones, then ever fewer."""
    first = np.arange(1, min(most, ALL_STEPS) + 1)
    if most <= ALL_STEPS:
        return first
    later = np.geomspace(ALL_STEPS, most, LATER_STEPS).astype(np.int64)
    return np.unique(np.concatenate((first, later)))
