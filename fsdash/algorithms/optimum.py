"""The optimal value function U* and the regret of a policy.

Regret is U* − U^policy: the largest over states (the paper's definition) and the mean over the
initial distribution. Both values are exact up to a certified error (`fsdash.core.evaluation`);
neither uses a solver's own value function.

U* is computed by modified policy iteration. Two things can keep its certificate above the
tolerance: a greedy policy whose own values converge slowly (a policy that cycles, γ near 1), and
rounding. Policy iteration on the residual helps against both (`fsdash.core.residual`): the greedy
policy is evaluated exactly in the model whose rewards are r + γ E[U] − U, and its value, which is
the improvement over U, is added to U. It is tried after the first `FIRST_EXACT` iterations, each
time that iteration has since cost as much as the last attempt, and at the end if rounding is
larger than the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from math import inf
from time import perf_counter

import numpy as np

from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.snapshot import Snapshot
from fsdash.core.certificate import certificate, checked_tolerance, unit
from fsdash.core.display import Lines, Summary
from fsdash.core.evaluation import (
    MAX_REFINED,
    TOLERANCE,
    Values,
    evaluate,
    policy_values,
    shown_error,
    spacing,
    within,
)
from fsdash.core.model import FastSlowMDP
from fsdash.core.residual import residual, residual_rounding, two_sum
from fsdash.formatting import number

FIRST_EXACT = 32
"""Iterations of modified policy iteration before its policy is evaluated exactly."""
MOST_ITERATIONS = 20_000
"""Iterations of modified policy iteration after which the best values are returned."""
MOST_MISSED = 2
"""Rounds of policy iteration on the residual in a row that need not halve the error."""


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Values):
    """U* with its certificate, and a policy that is greedy for it.

    Attributes
    ----------
    U_XY : np.ndarray
        Optimal value of each state, shape (X, Y).
    error : float
        Certified largest distance to the exact optimal values.
    tolerance : float
        Error that was accepted in advance.
    policy_PXY : np.ndarray
        The greedy policy, shape (1, X, Y).
    """

    policy_PXY: np.ndarray

    @property
    def notice(self) -> str:
        """A sentence for displays if U* is less precise than asked for; empty otherwise."""
        return "" if self.within_tolerance else _notice(self.error)

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
    within_tolerance : bool
        Whether the values of the policy and of the optimum are within the tolerance asked for.
    """

    max_regret: float
    mean_regret: float
    mean_value: float
    optimal_mean_value: float
    error: float
    within_tolerance: bool = True

    @property
    def notice(self) -> str:
        """A sentence for displays if the values are less precise than asked for; else empty."""
        return "" if self.within_tolerance else _notice(self.error)

    def _summary(self) -> tuple[str, Lines]:
        *lines, (name, error), _ = ((f.name, getattr(self, f.name)) for f in fields(self))
        return "Regret", [*lines, (name, shown_error(error, self.within_tolerance))]


def _notice(error: float) -> str:
    return (
        f"The optimal values of this model could be computed to within ±{number(error)} only. "
        "Regrets and shares of the optimum are no more precise than that."
    )


def optimum(model: FastSlowMDP, *, tolerance: float = TOLERANCE, seconds: float = inf) -> Optimum:
    """Solve the model by modified policy iteration, to a certified tolerance.

    Parameters
    ----------
    model : FastSlowMDP
        The model to solve, under its true dynamics.
    tolerance : float, default 1e-6
        Largest certified distance to U* that is accepted, relative to ‖r‖∞/(1 − γ) where that is
        below 1.
    seconds : float, optional
        Time after which no further iteration is made.

    Returns
    -------
    Optimum
        U* of shape (X, Y), its certified error and a greedy policy. If the error is above the
        tolerance, `within_tolerance` is False, and displays say so.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> best = fsdash.optimum(model)
    >>> round(model.mean(best.U_XY)), best.error <= 1e-6
    (2177, True)
    """
    goal = checked_tolerance(tolerance) * unit(model)
    deadline, best = perf_counter() + seconds, None
    for snapshot in islice(solving(model, lambda: goal), MOST_ITERATIONS):
        if best is None or snapshot.error < best.error:
            best = Optimum(snapshot.values_XY, snapshot.error, snapshot.policy_PXY)
        if best.error <= goal or perf_counter() > deadline:
            break
    assert best is not None
    return replace(best, tolerance=goal)


def solving(
    model: FastSlowMDP,
    goal: Callable[[], float],
    *,
    U0_XY: np.ndarray | None = None,
    m: int | Callable[[], int] = 400,
    exact: Callable[[], bool] = lambda: True,
) -> Iterator[Snapshot]:
    """Modified policy iteration, with policy iteration on the residual where it helps.

    Yields the snapshots of `mpi`, and those of the residual, whose phase is "exact", and ends where
    rounding prevents more. `goal` returns the error asked for, and `exact` whether a policy may be
    evaluated exactly now.
    """
    small, start_XY, made, least = model.reward_XYA.size <= MAX_REFINED, U0_XY, 0, 0
    best: Snapshot | None = None
    while True:
        for snapshot in mpi(model, U0_XY=start_XY, m=m):
            if made:
                snapshot = replace(snapshot, backups=made + snapshot.backups)
            yield snapshot
            best = snapshot if best is None or snapshot.error < best.error else best
            rounded = best.error <= 2 * snapshot.rounding
            may = small and exact()
            if rounded and (not may or within(best.error, goal(), best.values_XY)):
                return
            slow = snapshot.iteration >= FIRST_EXACT and snapshot.backups - made >= least
            if may and (rounded or slow):
                break
        assert best is not None
        values_XY = best.values_XY if rounded else snapshot.values_XY
        refined, start_XY, least, work = _refined(model, values_XY, goal())
        made = snapshot.backups + work
        best = replace(
            snapshot,
            phase="exact",
            backups=made,
            policy_PXY=refined.policy_PXY,
            values_XY=refined.U_XY,
            error=refined.error,
            evaluations=made * model.true.outcomes,
        )
        yield best
        if rounded:
            return


def _refined(
    model: FastSlowMDP, U_XY: np.ndarray, goal: float
) -> tuple[Optimum, np.ndarray, int, int]:
    """Policy iteration on the residual, from any values, as long as it helps.

    Returns the values with the smallest certified error, the last ones, the backups of the
    policies' sweeps, and all backups.
    """
    bounds, zero_XY = certificate(model), np.zeros_like(U_XY)
    low_XY, best, sweeps, rounds, missed = zero_XY, None, 0, 0, 0
    while True:
        rounds += 1
        residual_XYA = residual(model, U_XY, low_XY)
        policy_XY, shift_XY = residual_XYA.argmax(axis=2).astype(np.int32), zero_XY.copy()
        error, _ = bounds.correct(shift_XY, residual_XYA.max(axis=2))
        error += residual_rounding(model, U_XY) + spacing(U_XY)
        missed = 0 if best is None or error < best.error / 2 else missed + 1
        if best is None or error < best.error:
            best = Optimum(U_XY + (low_XY + shift_XY), error, policy_XY[None])
        if within(best.error, goal, U_XY) or missed > MOST_MISSED:
            policies = sweeps * model.n_real
            return best, U_XY, policies, policies + rounds * model.n_pairs
        gain = evaluate(model, policy_XY[None], zero_XY, (1 - model.gamma) * goal, residual_XYA)
        U_XY, low_XY = two_sum(U_XY, low_XY + gain.U_XY)
        sweeps += gain.sweeps


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
        within_tolerance=best.within_tolerance and values.within_tolerance,
    )
