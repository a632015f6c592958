"""What an algorithm yields, and the simplest way to stop it.

An algorithm is a generator of snapshots. It knows nothing about budgets, clocks, storage or
screens; the caller decides when to stop, and `run_until` is the simplest caller. Only rolling
methods end on their own, at their longest horizon T.

Work is counted in two units.

- A *backup* is one computation of r + γ E[U] at one (state, action): |S||A| in a Bellman sweep, |S|
  in a sweep of one policy. Savings by the implementation do not reduce the count. The policy of a
  snapshot is greedy for its values, which takes one more sweep. The algorithms get it from the
  next iteration's own sweep and, like the paper, do not count it.
- An *evaluation* is one use of a value function at a next state: M per sampled backup, one for each
  noise outcome per exact backup. A sweep with M samples has |S||A|M.

Sampled algorithms also yield within a sweep, with only the first states updated. `iteration` is
then the number of completed sweeps.

A run can be continued in another process: most algorithms put the values from which they continue
into the snapshot. The caller keeps them together with the state of the random number generator, and
calls the algorithm with both; it then yields the same snapshots as an undisturbed run
(`fsdash.runs.checkpoint`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from fsdash.core.certificate import STALL_LIMIT
from fsdash.core.display import Lines, Summary, value_range
from fsdash.errors import InputError

MAX_ITERATIONS = 10_000_000
NEAR = 100.0
"""Certified errors up to this many times their rounding may be as small as they can become."""
POLICY_KINDS = ("cyclic", "stationary", "rolling", "periodic")

Resume = Mapping[str, Any]
"""Arrays and numbers from which an algorithm continues after a snapshot."""


class Diverged(ArithmeticError):
    """The values of an algorithm are no longer finite; earlier snapshots remain valid."""


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot(Summary):
    """The state of an algorithm after `iteration` iterations of its `phase`.

    Attributes
    ----------
    phase : str
        "base" for algorithms on the base model; "lower" or "upper" for those that freeze;
        "rolling" for those that only make frozen sweeps.
    iteration : int
        Completed iterations of this phase.
    backups : int
        Backups so far.
    policy_PXY : np.ndarray
        The current policy as action indices, shape (P, X, Y) with P phases.
    values_XY : np.ndarray
        The current value function, shape (X, Y).
    error : float
        Certified ‖values − fixed point of the algorithm's operator‖∞; NaN for sampled values.
    evaluations : int
        Value-function evaluations so far.
    policy_kind : str
        "stationary"; "periodic" for (μ, π₁, …, π_{T−1}); "cyclic" for (π_t, …, π_{T−1}), the part
        of a lower level that is known so far; "rolling" for its newest policy π_t in every period.
    resume : mapping, optional
        The algorithm's argument `resume` for continuing after this snapshot; None if it cannot be
        continued here.
    rounding : float, default 0
        The part of `error` that is allowed for rounding in double precision.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> fsdash.run_until(fsdash.fsvi(model, T=4), iterations=2)
    Snapshot of phase upper, iteration 2
      policy       periodic, shape (4, 11, 51)
      values_XY    shape (11, 51), -359.223 to 456.302
      error        4995.27
      backups      34,221
      evaluations  65,637
    """

    phase: str
    iteration: int
    backups: int
    policy_PXY: np.ndarray
    values_XY: np.ndarray
    error: float
    evaluations: int = 0
    policy_kind: str = ""
    resume: Resume | None = None
    rounding: float = 0.0

    def _summary(self) -> tuple[str, Lines]:
        return f"Snapshot of phase {self.phase}, iteration {self.iteration:,}", [
            ("policy", f"{self.policy_kind or 'policy'}, shape {self.policy_PXY.shape}"),
            ("values_XY", value_range(self.values_XY)),
            ("error", self.error),
            ("backups", self.backups),
            ("evaluations", self.evaluations),
        ]


def finite(values: np.ndarray, phase: str, iteration: int) -> np.ndarray:
    """Return the values, or raise `Diverged` if they are not finite."""
    if not np.isfinite(values).all():
        raise Diverged(
            f"{phase} iteration {iteration}: the values are no longer finite; fit more cautiously "
            "(smaller learning rate, more states N, scaled targets) or start from finite values"
        )
    return values


def run_until(
    snapshots: Iterator[Snapshot],
    *,
    iterations: int | None = None,
    tolerance: float | None = None,
) -> Snapshot:
    """Run an algorithm for a number of iterations or to a certified tolerance.

    Exactly one of `iterations` and `tolerance` must be given. Both refer to the last phase: the
    upper level of an algorithm that freezes, the base model otherwise.

    Parameters
    ----------
    snapshots : iterator of Snapshot
        The algorithm, such as `vi(model)`.
    iterations : int, optional
        Iterations of the last phase.
    tolerance : float, optional
        Largest certified error accepted. Sampled and rolling algorithms have no certificate.

    Returns
    -------
    Snapshot
        The first snapshot that satisfies the condition. An error is raised if the algorithm ends
        before, or if double precision cannot certify the tolerance.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> fsdash.run_until(fsdash.fsvi(model, T=6), tolerance=1e-3).error <= 1e-3
    True
    """
    if iterations is not None and tolerance is None:
        if iterations not in range(MAX_ITERATIONS + 1):
            raise InputError(
                f"iterations = {iterations}: use a whole number, 0 to {MAX_ITERATIONS:,}"
            )
        for snapshot in snapshots:
            if snapshot.phase != "lower" and snapshot.iteration == iterations:
                return snapshot
        raise InputError(f"iterations = {iterations}: the algorithm ends earlier; use fewer")
    if tolerance is not None and iterations is None:
        if not tolerance > 0:
            raise InputError(f"tolerance = {tolerance}: use a positive number such as 1e-3")
        return _first_certified((s for s in snapshots if s.phase != "lower"), tolerance)
    raise InputError("give either a number of iterations or a tolerance")


def _first_certified(snapshots: Iterator[Snapshot], tolerance: float) -> Snapshot:
    """Return the first snapshot within the tolerance.

    The certificate may stay as it is for thousands of iterations and improve later, so they only
    end where rounding prevents a better one: `STALL_LIMIT` snapshots in a row have no smaller error
    than one that is at most `NEAR` times its rounding.
    """
    best, stalled = None, 0
    for snapshot in islice(snapshots, MAX_ITERATIONS):
        if np.isnan(snapshot.error):
            raise InputError(
                f"tolerance = {tolerance}: this algorithm does not certify its values; give "
                "run_until a number of iterations instead"
            )
        if snapshot.error <= tolerance:
            return snapshot
        stalled += 1
        if best is None or snapshot.error < best.error:
            best, stalled = snapshot, 0
        if stalled >= STALL_LIMIT and best.error <= NEAR * best.rounding:
            raise InputError(
                f"tolerance = {tolerance}: rounding in double precision limits the certified error "
                f"to {best.error:.3g} here; use a larger tolerance, or optimum and policy_values, "
                "which compute more precisely"
            )
    if best is None:
        raise InputError(f"tolerance = {tolerance}: the algorithm yields nothing to certify")
    raise InputError(
        f"tolerance = {tolerance}: the smallest certified error is {best.error:.3g}, at iteration "
        f"{best.iteration:,}, and the algorithm has ended; use a larger tolerance"
    )
