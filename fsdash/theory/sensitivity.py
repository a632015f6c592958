"""The best T for many budgets and many sets of constants at once, as a heat map needs it.

Each cell compares the candidates of `fsdash.theory.budget` at one budget. `advise` finds the
regimes of all budgets exactly; here only the given budgets are evaluated, in one array expression
per set of constants.

Ties go to Base VI, then to the smaller T. (`advise` also considers who was best on smaller budgets,
which decides between values of T whose bounds are equal to the last bit or have underflowed to 0.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsdash.core.display import Lines, Summary, value_range
from fsdash.errors import InputError
from fsdash.theory.bounds import fsvi_bound, trivial_bound
from fsdash.theory.budget import Bound, Candidates
from fsdash.theory.parameters import Constants, Sizes, check_budget, nonnegative

VARIABLE = {
    "gamma": 10.0,
    "alpha": 10.0,
    "l_f": 1.5,
    "l_u": 10.0,
    "l_r": 10.0,
    "d_y": 10.0,
    "r_max": 10.0,
}
"""The constants that can be varied, each with the factor of its range above and below its value."""


@dataclass(frozen=True, eq=False, repr=False)
class BestChoices(Summary):
    """The winner in each cell, as arrays of one shape.

    T = 1 is Base VI. Where the budget pays for no run, T = 0 and regret = inf. `vacuous` says
    where the smallest bound is not below r_max/(1-γ).
    """

    T: np.ndarray
    k: np.ndarray
    regret: np.ndarray
    vacuous: np.ndarray

    def _summary(self) -> tuple[str, Lines]:
        rows = [(field.name, value_range(getattr(self, field.name))) for field in fields(self)]
        return "BestChoices", rows


def best_T(
    constants: Constants,
    sizes: Sizes,
    *,
    budgets: ArrayLike,
    T: ArrayLike,
    bound: Bound = fsvi_bound,
) -> BestChoices:
    """The winner for each of the budgets, among Base VI and FSVI with the horizons `T`.

    Examples
    --------
    >>> import numpy as np
    >>> from fsdash.theory import best_T, preset
    >>> p = preset("three-regimes")
    >>> best_T(p.constants, p.sizes, budgets=p.sizes.sweep * np.array([4, 20, 60]), T=p.T).T
    array([16,  9,  1])
    """
    candidates = Candidates(constants, sizes, T, bound)
    budgets_B = np.ravel(np.asarray(budgets, dtype=float))
    for end in (budgets_B.min(), budgets_B.max()):  # a NaN would be both
        check_budget(sizes, end)
    k_BT = candidates.iterations(budgets_B[:, None])
    regret_BT = candidates.regret(k_BT)
    # Base VI is the first candidate, so the first minimum resolves ties correctly.
    cell = np.arange(len(budgets_B)), regret_BT.argmin(axis=1)
    affordable = k_BT[:, 0] >= 1
    return BestChoices(
        T=np.where(affordable, candidates.T[cell[1]], 0),
        k=np.where(affordable, k_BT[cell], 0),
        regret=regret_BT[cell],
        vacuous=regret_BT[cell] >= trivial_bound(constants),
    )


def best_T_rows(
    rows: Sequence[Constants],
    sizes: Sizes,
    *,
    budgets: ArrayLike,
    T: ArrayLike,
    bound: Bound = fsvi_bound,
) -> BestChoices:
    """`best_T` for several sets of constants: arrays of shape (len(rows), len(budgets))."""
    cells = [best_T(constants, sizes, budgets=budgets, T=T, bound=bound) for constants in rows]
    return BestChoices(
        *(np.array([getattr(cell, f.name) for cell in cells]) for f in fields(BestChoices))
    )


def vary(constants: Constants, name: str, *, values: ArrayLike) -> list[Constants]:
    """Copies of the constants in which one constant takes each of the values."""
    _check_variable(name)
    changes: list[dict[str, Any]] = [{name: float(value)} for value in np.ravel(values)]
    return [replace(constants, **change) for change in changes]


def values_around(name: str, value: float, *, n: int = 40) -> np.ndarray:
    """n values of a constant around the given one, geometrically spaced (for γ, in 1-γ).

    A constant that is 0 is varied from 0.01 to 1.
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


def sensitivity_table(
    name: str, values: np.ndarray, budgets: np.ndarray, best: BestChoices
) -> dict[str, list]:
    """The cells of the heat map as columns, row by row."""
    return {
        name: np.repeat(values, budgets.size).tolist(),
        "budget": np.tile(budgets, values.size).tolist(),
        **{
            column: getattr(best, column).ravel().tolist() for column in BestChoices.__annotations__
        },
    }
