"""What an algorithm yields, and how a driver stops it.

An algorithm is a generator of snapshots and never ends by itself; it knows nothing of budgets,
clocks, storage or screens. `run_until` is the simplest driver.

Work is counted in backups. One backup is one evaluation of r + γ E[U] at one (state, action): a
Bellman sweep has |S||A|, a sweep of a policy |S|. Short cuts that the code takes do not count
less. The policy of a snapshot is greedy for its values, which takes one more sweep; the algorithms
get it from the next iteration's own sweep, and it is not counted (as the paper does not).

They count `evaluations` too, of a value function at a next state: M in a sampled backup, one for
each outcome of the noise in an exact one. A sweep with M samples has |S||A|M. Sampled algorithms
also yield within a sweep: the values with the first part of the states renewed. `iteration` is then
the number of whole sweeps before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fsdash.core.certificate import STALL_LIMIT
from fsdash.errors import InputError

MAX_ITERATIONS = 10_000_000
POLICY_KINDS = ("cyclic", "stationary", "periodic")


class Diverged(ArithmeticError):
    """The values of an algorithm are no longer finite; the snapshots before stay good."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of an algorithm after `iteration` iterations of its `phase`."""

    phase: str
    iteration: int
    backups: int
    policy_PXY: np.ndarray
    values_XY: np.ndarray
    error: float
    """Certified ‖values − fixed point of the algorithm's operator‖∞; nan for sampled values."""
    evaluations: int = 0
    """Value-function evaluations so far."""
    policy_kind: str = ""
    """stationary; cyclic, π_t, …, π_{T−1} of a lower level that is under way; or periodic,
    (μ, π₁, …, π_{T−1})."""


def finite(values: np.ndarray, phase: str, iteration: int) -> np.ndarray:
    """The values, if a policy can be read off them."""
    if not np.isfinite(values).all():
        raise Diverged(
            f"{phase} iteration {iteration}: the values are not finite any more; fit more gently "
            "(smaller learning rate, more states N, scaled targets) or start from finite values"
        )
    return values


def run_until(
    snapshots: Iterator[Snapshot],
    iterations: int | None = None,
    tolerance: float | None = None,
) -> Snapshot:
    """The first snapshot of the last phase with so many iterations, or certified so closely.

    If double precision cannot certify that closely, the best snapshot is returned: look at its
    `error`.
    """
    if (iterations is None) == (tolerance is None):
        raise InputError("give either a number of iterations or a tolerance")
    if iterations is not None and iterations not in range(MAX_ITERATIONS + 1):
        raise InputError(f"iterations = {iterations}: use a whole number, 0 to {MAX_ITERATIONS:,}")
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"tolerance = {tolerance}: use a positive number such as 1e-3")
    last_phase = (snapshot for snapshot in snapshots if snapshot.phase != "lower")
    if iterations is not None:
        return next(snapshot for snapshot in last_phase if snapshot.iteration == iterations)
    return first_certified(last_phase, tolerance)


def first_certified(items: Iterator, tolerance: float):
    """The first item whose `error` is so small, or the best if `STALL_LIMIT` more bring no better."""
    best, stalled = next(items), 0
    while best.error > tolerance and stalled < STALL_LIMIT:
        item = next(items)
        best, stalled = (item, 0) if item.error < best.error else (best, stalled + 1)
    return best
