"""Modified policy iteration, the standard choice when the model is known.

    greedy       ν greedy for U, δ = H U − U
    correction   U ← H U + γ P c, with c(x) the midpoint of the slow-state bounds on δ
    evaluation   U ← up to m sweeps of ν

With m = T−1 an iteration costs as much as an iteration of FSVI's upper level, and it converges to
the true optimum. The correction makes it fast here: it removes in one step the errors that depend
on the slow state alone, which otherwise decay like γ^k (`fsdash.core.certificate`). The sweeps end
early once ν's own residual is the share `enough` of the greedy residual. If the error has not
fallen since the last iteration, ν is still far from its final form, and no sweeps of it are made.
`enough=0` always makes m.

Guarantee: every snapshot's `values` are within `error` of U*.
Work: |S||A| + (sweeps made)·|S| backups per iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from fsdash.algorithms.snapshot import Snapshot
from fsdash.core.certificate import certificate
from fsdash.core.greedy import greedy_steps
from fsdash.core.kernels import widest_change
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.errors import InputError


def mpi(
    model: FastSlowMDP,
    *,
    m: int | Callable[[], int] = 400,
    enough: float = 0.1,
    U0_XY: np.ndarray | None = None,
) -> Iterator[Snapshot]:
    """Modified policy iteration on the base model.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    m : int or callable, default 400
        Largest number of evaluation sweeps per iteration; a function is called before them.
    enough : float, default 0.1
        The sweeps stop when the policy's residual is this share of the greedy residual.
    U0_XY : np.ndarray, optional
        Initial values, shape (X, Y); zero by default.

    Yields
    ------
    Snapshot
        Values at the midpoint of their bounds and the greedy stationary policy, for k = 0, 1, 2, …

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> fsdash.run_until(fsdash.mpi(model), tolerance=1e-3).iteration < 20
    True
    """
    if not callable(m) and (not isinstance(m, int | np.integer) or m < 0):
        raise InputError(f"m = {m}: use a whole number of evaluation sweeps, 0 or more")
    bounds, steps = certificate(model), greedy_steps(model)
    n_pairs, n_real, outcomes = model.n_pairs, model.n_real, model.true.outcomes
    U_XY = values_of(model, U0_XY, "U0_XY").copy()
    backups, last_error = 0, np.inf
    for iteration in count():
        HU_XY, nu_XY = steps.greedy(U_XY)
        goal = enough * widest_change(U_XY, HU_XY)
        # U becomes U + c and H U becomes H(U + c), for which ν is greedy too.
        error, rounding = bounds.correct(U_XY, HU_XY)
        yield Snapshot(
            "base",
            iteration,
            backups,
            nu_XY[None],
            U_XY,
            error,
            backups * outcomes,
            "stationary",
            rounding=rounding,
        )

        helped = error < last_error or not enough
        most = m() if callable(m) else m
        sweeps = steps.sweeps(HU_XY, most, goal) if helped and most else 0
        backups += n_pairs + n_real * sweeps
        U_XY, last_error = HU_XY, error
