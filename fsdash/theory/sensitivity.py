"""The best T on many budgets and for many sets of constants at once: what a heat map needs.

Each cell is the contest of `fsdash.theory.budget` at one budget: Base VI and FSVI with each of the
horizons, each for as many iterations as the budget pays for. `advise` finds the whole budget axis
exactly; here only given budgets are looked at, all in one array expression per set of constants.

Ties go to Base VI, then to the smaller T. (`advise` also knows who led on smaller budgets, which
decides between values of T whose bounds are equal to the last bit.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.theory.bounds import fsvi_regret, trivial_bound
from fsdash.theory.budget import Bound, Contest
from fsdash.theory.costs import check_budget
from fsdash.theory.parameters import Constants, Sizes, nonnegative

# What one may vary, with the factor that its range spans to either side of the present value.
VARIABLE = {
    "gamma": 10.0,
    "alpha": 10.0,
    "l_f": 1.5,
    "l_u": 10.0,
    "l_r": 10.0,
    "d_y": 10.0,
    "r_max": 10.0,
}


@dataclass(frozen=True, eq=False)
class Best:
    """The winner in each cell. T = 1 is Base VI; T = 0 and regret = inf where nothing can run.

    Where `vacuous`, the winning bound is not below r_max/(1-γ): it wins on paper only.
    """

    T: np.ndarray
    k: np.ndarray
    regret: np.ndarray
    vacuous: np.ndarray


def best_T(
    constants: Constants, sizes: Sizes, budgets: ArrayLike, T: ArrayLike, bound: Bound = fsvi_regret
) -> Best:
    """The winner on each of the budgets, among Base VI and FSVI with the horizons `T`."""
    contest = Contest(constants, sizes, T, bound)
    budgets_B = np.ravel(np.asarray(budgets, dtype=float))
    for end in (budgets_B.min(), budgets_B.max()):  # NaN is both
        check_budget(sizes, end)
    k_BT = contest.iterations(budgets_B[:, None])
    regret_BT = contest.regret(k_BT)
    # Base VI is the first competitor, so the first minimum is also the right one among ties.
    cell = np.arange(len(budgets_B)), regret_BT.argmin(axis=1)
    runs = k_BT[:, 0] >= 1
    return Best(
        T=np.where(runs, contest.T[cell[1]], 0),
        k=np.where(runs, k_BT[cell], 0),
        regret=regret_BT[cell],
        vacuous=regret_BT[cell] >= trivial_bound(constants),
    )


def best_T_rows(
    rows: Sequence[Constants],
    sizes: Sizes,
    budgets: ArrayLike,
    T: ArrayLike,
    bound: Bound = fsvi_regret,
) -> Best:
    """`best_T` for several sets of constants: arrays of shape (len(rows), len(budgets))."""
    cells = [best_T(constants, sizes, budgets, T, bound) for constants in rows]
    return Best(*(np.array([getattr(c, name) for c in cells]) for name in Best.__annotations__))


def vary(constants: Constants, name: str, values: ArrayLike) -> list[Constants]:
    """The constants with one of them moved through `values`, the others as they stand."""
    _check_variable(name)
    return [replace(constants, **{name: float(value)}) for value in np.ravel(values)]


def values_around(name: str, value: float, n: int = 40) -> np.ndarray:
    """n values of a constant around the present one, in even ratios (for γ, of 1-γ).

    A constant that is 0 has no surroundings in ratios: it is varied from 0.01 to 1.
    """
    _check_variable(name)
    span = VARIABLE[name]
    if name == "gamma":
        rest = np.clip(1 - value, 1e-4, 1 - 1e-4)
        return 1 - np.geomspace(min(rest * span, 0.6), max(rest / span, 1e-4), n)
    value = nonnegative(name, value)
    return np.geomspace(value / span, value * span, n) if value > 0 else np.geomspace(0.01, 1, n)


def _check_variable(name: str) -> None:
    if name not in VARIABLE:
        raise InputError(f"{name} is not a constant to vary; choose one of {', '.join(VARIABLE)}.")
