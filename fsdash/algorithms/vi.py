"""Exact value iteration for the base model (Algorithm 1, Base VI).

    U^k = H U^{k−1},    ν^k greedy for U^k.

Guarantee (Proposition on the regret of Base VI): R(ν^k) ≤ 2 r_max γ^{k+1} / (1 − γ)².
Work: |S||A| backups per iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot
from fsdash.core.certificate import Certificate, certificate
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, values_of


def vi(
    model: FastSlowMDP, *, U0_XY: np.ndarray | None = None, resume: Resume | None = None
) -> Iterator[Snapshot]:
    """Exact value iteration on the base model.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    U0_XY : np.ndarray, optional
        Initial values, shape (X, Y); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        U^k and the stationary policy ν^k for k = 0, 1, 2, …

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> last = fsdash.run_until(fsdash.vi(model), iterations=10)
    >>> last.backups == 10 * model.n_states * model.n_actions
    True
    """
    bounds = certificate(model)
    start = resume or {"k": 0, "U_XY": values_of(model, U0_XY, "U0_XY").copy()}
    U_XY = start["U_XY"]
    for k in count(start["k"]):
        next_XY, nu_XY = bellman(model, model.true, U_XY)
        error = distance(bounds, U_XY, next_XY)
        backups = k * model.n_pairs
        evaluations = backups * model.true.outcomes
        resume = {"k": k + 1, "U_XY": next_XY}
        yield Snapshot(
            "base",
            k,
            backups,
            nu_XY[None],
            U_XY,
            error,
            evaluations,
            "stationary",
            resume,
            bounds.rounding,
        )
        U_XY = next_XY


def distance(bounds: Certificate, U_XY: np.ndarray, next_XY: np.ndarray) -> float:
    """Certify ‖U − fixed point‖∞, given U and one application of its operator."""
    shift_X1, error = bounds.shift(next_XY - U_XY)
    return float(np.abs(shift_X1).max() + error)
