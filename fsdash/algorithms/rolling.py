"""Rolling freeze: replan with the slow state frozen, in every period.

Backward induction with the slow state frozen, as in the lower level of FSVI:

    J_n = H̃ J_{n−1},  π̃_n greedy,      n = 1, …, T,    J_0 = 0.

FSVI commits to these policies for a block of T periods. Here the newest one, π̃_n, is played in
every period: a stationary policy, the receding horizon of n frozen periods. There is no upper
level, and the true dynamics are never used. One pass gives the policy of every n ≤ T.

Guarantee: `fsdash.theory.rolling_bound` from constants, which is usually vacuous; `fsdash.certify`
bounds the regret of each policy on the model. With an endogenous slow state the method does not see
how an action moves x.
Work: |S||A| backups per sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.fsvi import check_periods
from fsdash.algorithms.snapshot import Resume, Snapshot
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, values_of


def rolling(
    model: FastSlowMDP,
    T: int,
    *,
    J0_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Rolling freeze with exact expectations.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    T : int
        Longest horizon: the slow state is frozen for n = 1, …, T periods.
    J0_XY : np.ndarray, optional
        Terminal value J_0, shape (X, Y); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        J_n and the rolling policy π̃_n for n = 1, …, T. The generator then ends.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> last = fsdash.run_until(fsdash.rolling(model, T=24), iterations=24)
    >>> result = fsdash.regret(model, last.policy_PXY)
    >>> round(result.mean_value / result.optimal_mean_value, 2)  # FSVI with T = 24: 0.93
    0.99
    """
    check_periods(T)
    start = resume or {"n": 1, "J_XY": values_of(model, J0_XY, "J0_XY")}
    J_XY = start["J_XY"]
    for n in range(start["n"], T + 1):
        J_XY, pi_XY = bellman(model, model.frozen, J_XY)
        backups = n * model.n_pairs
        evaluations = backups * model.frozen.outcomes
        # J_n is exact, but it is not an estimate of a fixed point that would certify the policy.
        resume = {"n": n + 1, "J_XY": J_XY}
        yield Snapshot(
            "rolling", n, backups, pi_XY[None], J_XY, nan, evaluations, "rolling", resume
        )
