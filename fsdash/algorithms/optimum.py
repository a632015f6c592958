"""The optimal value function U* and the regret of a policy.

Regret is U* − U^policy: the largest over states (the paper's definition) and the mean over the
initial distribution. Both values are exact up to a certified error (`fsdash.core.evaluation`);
neither uses a solver's own value function.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.snapshot import run_until
from fsdash.core.certificate import attainable, unit
from fsdash.core.display import Lines, Summary
from fsdash.core.evaluation import TOLERANCE, Values, policy_values
from fsdash.core.model import FastSlowMDP


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Values):
    """U* with its certificate, and a policy that is greedy for it.

    Attributes
    ----------
    U_XY : np.ndarray
        Optimal value of each state, shape (X, Y).
    error : float
        Certified largest distance to the exact optimal values.
    policy_PXY : np.ndarray
        The greedy policy, shape (1, X, Y).
    """

    policy_PXY: np.ndarray

    def _summary(self) -> tuple[str, Lines]:
        title, rows = super()._summary()
        return title, [*rows, ("policy_PXY", f"shape {self.policy_PXY.shape}, greedy for U_XY")]


@dataclass(frozen=True, repr=False)
class Regret(Summary):
    """How much a policy loses against the optimum; each number is within `error` of the exact one.

    Attributes
    ----------
    max_regret : float
        Largest loss over the states, the paper's regret.
    mean_regret : float
        Mean loss over the initial distribution.
    mean_value : float
        Mean value of the policy over the initial distribution.
    optimal_mean_value : float
        Mean of U* over the initial distribution.
    error : float
        Certified error of each of these numbers.
    """

    max_regret: float
    mean_regret: float
    mean_value: float
    optimal_mean_value: float
    error: float

    def _summary(self) -> tuple[str, Lines]:
        return "Regret", [(f.name, getattr(self, f.name)) for f in fields(self)]


def optimum(model: FastSlowMDP, *, tolerance: float = TOLERANCE) -> Optimum:
    """Solve the model by modified policy iteration, to a certified tolerance.

    Parameters
    ----------
    model : FastSlowMDP
        The model to solve, under its true dynamics.
    tolerance : float, default 1e-6
        Largest certified distance to U* that is accepted, relative to ‖r‖∞/(1 − γ) where that is
        below 1. A tolerance below what double precision can certify is raised to that.

    Returns
    -------
    Optimum
        U* of shape (X, Y), its certified error and a greedy policy.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> best = fsdash.optimum(model)
    >>> round(model.mean(best.U_XY)), best.error <= 1e-6
    (2177, True)
    """
    best = run_until(mpi(model), tolerance=attainable(model, tolerance * unit(model)))
    return Optimum(best.values_XY, best.error, best.policy_PXY)


def regret(
    model: FastSlowMDP,
    policy: np.ndarray,
    *,
    best: Values | None = None,
    tolerance: float = TOLERANCE,
) -> Regret:
    """Compute the regret U* − U^policy of a policy.

    Parameters
    ----------
    model : FastSlowMDP
        The model whose true dynamics the policy is evaluated under.
    policy : np.ndarray
        Action indices, shape (X, Y) for a stationary policy or (P, X, Y) for one with P phases.
    best : Values, optional
        U* of this model, from `optimum`. It is computed here if it is not given.
    tolerance : float, default 1e-6
        Largest certified error accepted for the policy's values, and for U* if computed here; as
        in `optimum`.

    Returns
    -------
    Regret
        The largest and the mean regret, and the two mean values they come from.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> best = fsdash.optimum(model)
    >>> fsdash.regret(model, best.policy_PXY, best=best).max_regret < 1e-5
    True
    """
    best = optimum(model, tolerance=tolerance) if best is None else best
    values = policy_values(model, policy, tolerance=tolerance * unit(model))
    gap_XY = np.maximum(best.U_XY - values.U_XY, 0)
    return Regret(
        max_regret=float(gap_XY.max()),
        mean_regret=model.mean(gap_XY),
        mean_value=model.mean(values.U_XY),
        optimal_mean_value=model.mean(best.U_XY),
        error=best.error + values.error,
    )
