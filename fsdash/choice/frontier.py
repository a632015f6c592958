"""The frontier: the true regret of every method, T and k against its cost, on a known model.

One backward pass with the slow state frozen gives the lower level of FSVI for every T and the
rolling policy of every n. Each policy is evaluated exactly. The regret is true, not bounded, so the
model is solved once as well. What could be said without solving it is in the column `certificate`:
an upper bound of U* from the best frozen policy, shared by all rows (`fsdash.choice.certify`),
minus a lower bound of the policy's value.

FSVI is evaluated after k = 0, 1, 2, 8, 32, … iterations and VI after each of the first eight, then
after 10, 12, 15, …, until the values are certified to be within the tolerance of their fixed point,
up to a function of the slow state: such a function does not change a greedy policy. Modified policy
iteration is evaluated after each iteration, and so are the others with `every_iteration`. A policy
that has not changed since the row before has no row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from time import perf_counter
from typing import TypeVar

import numpy as np
import pandas as pd

from fsdash.algorithms.fsvi import check_T, upper_level
from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import Snapshot
from fsdash.algorithms.vi import vi
from fsdash.choice.certify import upper_bound
from fsdash.choice.solved import MAX_ITERATIONS, SolvedModel, until_settled
from fsdash.core.certificate import attainable
from fsdash.core.evaluation import Values, policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import follow
from fsdash.errors import InputError
from fsdash.theory.bounds import vi_bound
from fsdash.theory.measured import measure
from fsdash.theory.parameters import Constants
from fsdash.theory.repaired import repaired_bound
from fsdash.theory.rolling import rolling_bound

Item = TypeVar("Item")
SECONDS = 60.0
"""The time limit if none is given."""
METHODS = ("fsvi", "rolling", "mpi", "vi")
COLUMNS = (
    "method",
    "T",
    "k",
    "backups",
    "evaluations",
    "sweeps",
    "mean_regret",
    "max_regret",
    "relative_regret",
    "certificate",
    "bound",
)
FREEZING = ("fsvi", "rolling")
EVERY_UP_TO, FSVI_RATIO, VI_RATIO = 2, 4, 1.25
"""Iterations up to which every policy is evaluated, and the ratio of the following ones."""
TIGHTEN = 2
"""Iterations of modified policy iteration for the shared upper bound."""
EVALUATED = 1e-4
"""Tolerance of a policy's values, as a share of that of the methods' convergence. A difference that
would decide between two policies must not be numerical error."""
MAX_MEASURED = 400_000
"""State-action pairs up to which the constants for the bounds are measured."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The points of a frontier and their policies.

    Attributes
    ----------
    points : pandas.DataFrame
        One row per policy, with the columns method, T (none for mpi and vi), k (none for rolling),
        backups, evaluations, sweeps (evaluations ÷ those of one sweep of Base VI), mean_regret,
        max_regret, relative_regret (÷ that of the policy that maximises the immediate reward),
        certificate (an upper bound on max_regret) and bound (the proven bound from constants:
        `repaired_bound` of FSVI, `rolling_bound`, `vi_bound`; none for mpi).
    precision : float
        The difference of two regrets that may be numerical error.
    policies : sequence of np.ndarray
        By the label of a row: its policy, as action indices (P, X, Y).
    optimal_return : float
        The optimal mean value.
    upper_bound_sweeps : float
        The cost of the upper bound that all certificates share.
    complete : bool
        Whether all points were measured before the time limit.
    notice : str
        A sentence if U* misses its tolerance; empty otherwise.
    """

    points: pd.DataFrame
    precision: float = 0.0
    policies: Sequence[np.ndarray] = ()
    optimal_return: float = nan
    upper_bound_sweeps: float = nan
    complete: bool = True
    notice: str = ""

    def where(self, chosen: pd.Series) -> Frontier:
        """The frontier with some of its points; they keep their labels."""
        return replace(self, points=self.points[chosen])

    def with_work(self) -> Frontier:
        """The points that cost something.

        Without work there is only the policy with the best immediate reward.
        """
        return self.where(self.points["sweeps"] > 0)


@dataclass(frozen=True, eq=False)
class Point:
    """One policy on the way to the frontier, with the work that led to it."""

    method: str
    T: int | None
    k: int | None
    backups: int
    evaluations: int
    policy_PXY: np.ndarray


def frontier(
    model: FastSlowMDP | SolvedModel,
    T: Sequence[int] = range(2, 25),
    *,
    methods: Sequence[str] = METHODS,
    tolerance: float = 1e-4,
    every_iteration: bool = False,
    bounds: bool = True,
    constants: Constants | None = None,
    constants_seconds: float | None = None,
    seconds: float | None = SECONDS,
    progress: Callable[[float], object] = lambda share: None,
) -> Frontier:
    """Measure the regret of each method, T and k on a model.

    Parameters
    ----------
    model : FastSlowMDP or SolvedModel
        The model.
    T : sequence of int
        Block lengths of FSVI, and horizons n of rolling freeze.
    methods : sequence of {"fsvi", "rolling", "mpi", "vi"}
        The methods.
    tolerance : float, default 1e-4
        Precision of the methods' convergence, relative to the largest |U*|, or to the range of
        rewards ÷ (1 − γ) if that is smaller. Policies are evaluated, and modified policy iteration
        converges, 10,000 times as precisely.
    every_iteration : bool, default False
        Evaluate FSVI and VI after each iteration, so that no budget misses its best policy. Only
        for small models: there are many times more policies to evaluate.
    bounds : bool, default True
        Whether the regret bounds are computed.
    constants : Constants, optional
        Constants for the bounds, from `measure`: with L̃ and η. Measured by default, if the model is
        in index form with all actions feasible and at most 400,000 state-action pairs.
    constants_seconds : float, optional
        Seconds for measuring the constants; then proven upper values are used, which still bound.
    seconds : float, optional
        Time limit, one minute by default; None for none. Each method and T may use an equal share
        of the time that is left, and the points until then are returned. The time for U* is extra.
    progress : callable
        Called with the share that is done, 0 to 1. An exception in it ends the measurement.

    Returns
    -------
    Frontier
        Its `points` have one row per policy, and `policies` the policies.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> points = fsdash.frontier(model, T=[6, 24], methods=["fsvi", "rolling"]).points
    >>> last = points.groupby(["method", "T"])["mean_regret"].last().round()
    >>> last.to_dict()
    {('fsvi', 6): 198.0, ('fsvi', 24): 143.0, ('rolling', 6): 91.0, ('rolling', 24): 23.0}
    >>> bool((points["certificate"] >= points["max_regret"]).all())
    True
    """
    solved = SolvedModel.of(model)
    model = solved.model
    T_values = _check(model, T, methods)
    if not 0 < tolerance < inf:
        raise InputError(f"tolerance = {tolerance}: use a positive number such as 1e-4")
    if bounds and constants is not None and None in (constants.l_frozen, constants.eta):
        raise InputError(
            "constants: L̃ or η is missing, so the bound could be too small; use "
            "fsdash.theory.measure(model).constants(model.gamma)"
        )
    best, goal = solved.best, tolerance * solved.largest_value
    clock = _TimeLimit(inf if seconds is None else seconds)
    if bounds and constants is None and best.within_tolerance and _is_measurable(model):
        progress(0.0)
        if constants_seconds is None and seconds is not None:
            constants_seconds = seconds / 2
        upper = measure(model, best.U_XY, seconds=constants_seconds)
        constants = upper.constants(model.gamma)

    evaluated: list[tuple[Point, Values]] = []
    for done, jobs, points in _series(model, T_values, methods, goal, every_iteration, clock):
        clock.share(jobs - done)
        for point in clock.in_time(points):
            progress(done / jobs)
            # Similar policies follow each other, so the values of one are a start for the next.
            start_XY = evaluated[-1][1].U_XY if evaluated else None
            values = policy_values(
                model, point.policy_PXY, tolerance=EVALUATED * goal, start_XY=start_XY
            )
            evaluated.append((point, values))
    progress(1.0)
    upper_XY, upper_sweeps = _shared_upper_bound(model, evaluated)
    sweep = model.n_pairs * model.true.outcomes
    rows = []
    for point, values in evaluated:
        regret_XY = np.maximum(best.U_XY - values.U_XY, 0.0)
        # The computed regret may be above the true one by its error, and is bounded as well.
        gap_XY = np.maximum(upper_XY - values.U_XY + values.error, 0.0) + best.error
        mean_regret = model.mean(regret_XY)
        rows.append(
            (
                point.method,
                point.T,
                point.k,
                point.backups,
                point.evaluations,
                point.evaluations / sweep,
                mean_regret,
                float(regret_XY[model.real_XY].max()),
                solved.relative_regret(mean_regret),
                float(gap_XY[model.real_XY].max()),
                _bound(point, constants if bounds else None, model.n_slow),
            )
        )
    return Frontier(
        pd.DataFrame(rows, columns=list(COLUMNS)).astype({"T": "Int64", "k": "Int64"}),
        2 * max((values.error for _, values in evaluated), default=0.0),
        [point.policy_PXY for point, _ in evaluated],
        solved.optimal_return,
        upper_sweeps,
        clock.complete,
        best.notice,
    )


class _TimeLimit:
    """A time limit that is shared equally by what is left to do."""

    def __init__(self, seconds: float) -> None:
        self.end = self.deadline = perf_counter() + seconds
        self.complete = True

    def share(self, jobs_left: int) -> None:
        """Let the next job use its share of the time that is left."""
        now = perf_counter()
        self.deadline = now + max(self.end - now, 0.0) / jobs_left

    def in_time(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items until the deadline, at least the first one."""
        for item in items:
            yield item
            if perf_counter() > self.deadline:
                self.complete = False
                return


def _check(model: FastSlowMDP, T: Sequence[int], methods: Sequence[str]) -> list[int]:
    if not isinstance(T, Iterable) or isinstance(methods, str):
        raise InputError("methods and T: give sequences, such as ['fsvi'] and [6]")
    for method in methods:
        if method not in METHODS:
            raise InputError(f"methods: {method!r} is not known; choose from {', '.join(METHODS)}")
    T_values = sorted(set(T))
    if not methods or (not T_values and set(methods) & set(FREEZING)):
        raise InputError("methods and T: give at least one method, and one T if it freezes")
    for value in T_values:
        check_T(model, value)
    return T_values


# ------------------------------------------------------------------------------------------ points


def _series(
    model: FastSlowMDP,
    T_values: Sequence[int],
    methods: Sequence[str],
    goal: float,
    every_iteration: bool,
    clock: _TimeLimit,
) -> Iterator[tuple[int, int, Iterator[Point]]]:
    """The points of one method and T at a time, after the number before them and of all."""
    passes = list(rolling(model, T_values[-1])) if set(methods) & set(FREEZING) else []
    jobs: list[Iterator[Point]] = []
    if "fsvi" in methods:
        ratio: float = 1 if every_iteration else FSVI_RATIO
        jobs += _fsvi_series(model, passes, T_values, goal, ratio, clock)
    if "rolling" in methods:
        chosen = (s for s in passes if s.iteration in T_values)
        jobs.append(
            Point("rolling", s.iteration, None, s.backups, s.evaluations, s.policy_PXY)
            for s in chosen
        )
    if "mpi" in methods:
        jobs.append(_mpi_points(model, goal, clock))
    if "vi" in methods:
        ratio = 1 if every_iteration else VI_RATIO
        jobs.append(_iterated(model, "vi", None, vi(model), goal, ratio, clock))
    for done, job in enumerate(jobs):
        yield done, len(jobs), _changed(job)


def _fsvi_series(
    model: FastSlowMDP,
    passes: Sequence[Snapshot],
    T_values: Sequence[int],
    goal: float,
    ratio: float,
    clock: _TimeLimit,
) -> list[Iterator[Point]]:
    """The upper level of each T, on the lower level that all T share.

    With T periods in a block, π̃_t is the policy with n = T − t frozen periods to go.
    """
    zero_XY = np.zeros((model.n_slow, model.n_fast))
    policies = [s.policy_PXY[0] for s in passes]
    followed = [follow(model.true, pi_XY) for pi_XY in policies[: T_values[-1] - 1]]
    jobs = []
    for T in T_values:
        n = T - 1
        J_XY = passes[n - 1].values_XY if n else zero_XY
        lower = np.array(policies[:n][::-1], np.int32).reshape(n, *zero_XY.shape)
        backups = passes[n - 1].backups if n else 0
        upper = upper_level(model, J_XY, lower, followed[:n][::-1], zero_XY, backups)
        jobs.append(_iterated(model, "fsvi", T, upper, goal, ratio, clock))
    return jobs


def _iterated(
    model: FastSlowMDP,
    method: str,
    T: int | None,
    snapshots: Iterator[Snapshot],
    goal: float,
    ratio: float,
    clock: _TimeLimit,
) -> Iterator[Point]:
    """The points at each k up to `EVERY_UP_TO`, then at k that grow by a ratio.

    The last one is at convergence, if that is much later than the one before.
    """
    due = 0
    for snapshot, last in clock.in_time(until_settled(model, T or 1, snapshots, goal)):
        k = snapshot.iteration
        if k == due or (last and 2 * k >= due):
            yield _point(method, T, snapshot)
            due = k + 1 if k < EVERY_UP_TO else max(int(ratio * k), k + 1)


def _mpi_points(model: FastSlowMDP, goal: float, clock: _TimeLimit) -> Iterator[Point]:
    """The points of modified policy iteration until its values are as precise as evaluations.

    It converges fast, and a budget that pays for the optimum must not end with a worse policy.
    """
    enough = attainable(model, EVALUATED * goal)
    for snapshot in clock.in_time(mpi(model)):
        yield _point("mpi", None, snapshot)
        if snapshot.error <= enough or snapshot.iteration == MAX_ITERATIONS:
            return


def _changed(points: Iterator[Point]) -> Iterator[Point]:
    """The points whose policy differs from that of the point before."""
    last = None
    for point in points:
        if last is None or not np.array_equal(point.policy_PXY, last.policy_PXY):
            yield point
        last = point


def _point(method: str, T: int | None, s: Snapshot) -> Point:
    return Point(method, T, s.iteration, s.backups, s.evaluations, s.policy_PXY)


# ---------------------------------------------------------------------------------------- measures


def _shared_upper_bound(
    model: FastSlowMDP, evaluated: Sequence[tuple[Point, Values]]
) -> tuple[np.ndarray, float]:
    """An upper bound of U* from the best policy that freezes, if there is one."""
    frozen = [values for point, values in evaluated if point.method in FREEZING]
    candidates = frozen or [values for _, values in evaluated]
    values = max(candidates, key=lambda values: model.mean(values.U_XY))
    return upper_bound(model, values.U_XY, tighten=TIGHTEN)


def _is_measurable(model: FastSlowMDP) -> bool:
    """Whether `measure` knows the model's form and answers within seconds."""
    product = model.true.common_noise_W is not None and model.feasible_XYA.all()
    return bool(product) and model.n_pairs <= MAX_MEASURED


def _bound(point: Point, constants: Constants | None, n_slow: int) -> float:
    """The proven bound of the method; there is none for modified policy iteration."""
    if constants is None or point.method == "mpi":
        return nan
    if point.T is None:
        return float(vi_bound(constants, point.k or 0))
    if point.k is None:
        return float(rolling_bound(constants, point.T, n_slow=n_slow).total)
    return float(repaired_bound(constants, point.T, k=point.k, n_slow=n_slow).total)
