"""A bound as a function of the budget: a staircase that falls with each iteration paid for.

Rolling freeze has no iterations: a larger budget pays for a longer horizon n, and the bound is that
of the best n so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fsdash.core.display import Lines, Summary, value_range
from fsdash.theory.bounds import fsvi_bound
from fsdash.theory.budget import Bound, Regime
from fsdash.theory.parameters import (
    LARGEST_T,
    Constants,
    Sizes,
    fsvi_cost,
    k_max,
    k_max_vi,
    vi_cost,
)
from fsdash.theory.rolling import rolling_bound, rolling_cost

ALL_STEPS = 200
"""The first steps of a staircase, all of which are drawn; a log axis cannot resolve later ones."""
LATER_STEPS = 80


@dataclass(frozen=True, eq=False, repr=False)
class Staircase(Summary):
    """The bound and the cost of one candidate after k iterations (T = 1 is Base VI)."""

    T: int
    k: np.ndarray
    cost: np.ndarray
    regret: np.ndarray

    def _summary(self) -> tuple[str, Lines]:
        arrays = [(name, value_range(getattr(self, name))) for name in ("k", "cost", "regret")]
        return "Staircase", [("T", self.T), *arrays]


def staircases(
    constants: Constants,
    sizes: Sizes,
    *,
    T: ArrayLike,
    max_budget: float,
    bound: Bound = fsvi_bound,
) -> list[Staircase]:
    """The staircases of Base VI and of FSVI with each T > 1, up to a budget.

    A candidate that cannot run on `max_budget` is left out.

    Examples
    --------
    >>> from fsdash.theory import preset
    >>> from fsdash.theory.staircase import staircases
    >>> p = preset("three-regimes")
    >>> [(s.T, s.k.size) for s in staircases(p.constants, p.sizes, T=p.T, max_budget=1e10)]
    [(1, 2), (2, 1), (4, 1), (9, 1), (16, 1), (25, 1)]
    """
    found = []
    for horizon in (1, *sorted({int(t) for t in np.ravel(T)} - {1})):
        if horizon == 1:
            k = _steps(k_max_vi(sizes, max_budget))
            cost = vi_cost(sizes, k)
        else:
            k = _steps(int(k_max(sizes, horizon, budget=max_budget)))
            cost = fsvi_cost(sizes, horizon, k=k)
        regret = bound(constants, horizon, k=k).total
        found.append(Staircase(horizon, k, np.asarray(cost), np.asarray(regret)))
    return [staircase for staircase in found if staircase.k.size]


def staircases_table(
    constants: Constants,
    sizes: Sizes,
    *,
    T: ArrayLike,
    max_budget: float,
    bound: Bound = fsvi_bound,
) -> dict[str, list]:
    """The curves as columns: method, T, k, cost, cost in sweeps, regret.

    Each row is a step. For rolling freeze T is the horizon n, and k is 0.
    """
    found = staircases(constants, sizes, T=T, max_budget=max_budget, bound=bound)
    rolling = rolling_curve(constants, sizes, max_budget=max_budget)
    cost = np.concatenate([*(staircase.cost for staircase in found), rolling.cost])
    regret = np.concatenate([*(staircase.regret for staircase in found), rolling.regret])
    methods = ["vi" if staircase.T == 1 else "fsvi" for staircase in found for _ in staircase.k]
    return {
        "method": methods + ["rolling"] * rolling.n.size,
        "T": [staircase.T for staircase in found for _ in staircase.k] + rolling.n.tolist(),
        "k": [int(k) for staircase in found for k in staircase.k] + [0] * rolling.n.size,
        "cost": cost.tolist(),
        "sweeps": (cost / sizes.sweep).tolist(),
        "regret": regret.tolist(),
    }


class RollingCurve(NamedTuple):
    """The horizons n at which rolling freeze has a smaller bound than with every shorter one."""

    n: np.ndarray
    cost: np.ndarray
    regret: np.ndarray


def rolling_curve(constants: Constants, sizes: Sizes, *, max_budget: float) -> RollingCurve:
    """The bound of rolling freeze for each budget, with the best n; there is always n = 1.

    Examples
    --------
    >>> from fsdash.theory import preset
    >>> from fsdash.theory.staircase import rolling_curve
    >>> p = preset("three-regimes")
    >>> curve = rolling_curve(p.constants, p.sizes, max_budget=1e10)
    >>> curve.n.tolist()
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    n = _steps(int(min(max(max_budget // rolling_cost(sizes, 1), 1), LARGEST_T)))
    regret = np.asarray(rolling_bound(constants, n, n_slow=sizes.n_slow).total)
    better = np.append(True, regret[1:] < np.minimum.accumulate(regret)[:-1])
    return RollingCurve(n[better], np.asarray(rolling_cost(sizes, n))[better], regret[better])


def budget_range(
    constants: Constants, sizes: Sizes, *, budget: float, regimes: Sequence[Regime]
) -> tuple[float, float]:
    """The range of budgets to draw.

    It goes from below one sweep to well past the last change of the winner, and past the budget
    where the bound of Base VI, 2 r_max γ^{k+1}/(1-γ)², becomes informative.
    """
    last = max(regime.start for regime in regimes) / sizes.sweep
    gamma = constants.gamma
    informative = log(2 / (1 - gamma)) / -log(gamma) if gamma > 0 else 0.0
    low = min(0.93 * sizes.sweep, 0.9 * budget if budget > 0 else inf)
    return low, max(max(4 * last, 100, 2 * informative) * sizes.sweep, 1.5 * budget)


def _steps(k_max: int) -> np.ndarray:
    """The iterations to draw: all of the first ones, then geometrically spaced ones."""
    first = np.arange(1, min(k_max, ALL_STEPS) + 1)
    if k_max <= ALL_STEPS:
        return first
    later = np.geomspace(ALL_STEPS, k_max, LATER_STEPS).astype(np.int64)
    return np.unique(np.concatenate((first, later)))
