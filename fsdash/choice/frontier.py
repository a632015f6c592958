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
from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pandas as pd

from fsdash.algorithms.fsvi import check_T, fsvi, upper_level
from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import Snapshot, run_until
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
    progress: Callable[[float], object] = lambda share: None,
) -> pd.DataFrame:
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
    progress : callable
        Called with the share that is done, 0 to 1.

    Returns
    -------
    pandas.DataFrame
        One row per policy, with the columns method, T (none for mpi and vi), k (none for rolling),
        backups, evaluations, sweeps (evaluations ÷ those of one sweep of Base VI), mean_regret,
        max_regret, relative_regret (÷ that of the policy that maximises the immediate reward),
        certificate (an upper bound on max_regret) and bound (the proven bound from constants:
        `repaired_bound` of FSVI, `rolling_bound`, `vi_bound`; none for mpi). `attrs` holds the
        optimal mean value, the evaluations of one sweep, the cost of the shared upper bound in
        sweeps, the precision (the difference of two regrets that may be numerical error), and a
        notice if U* misses its tolerance.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> found = fsdash.frontier(model, T=[6, 24], methods=["fsvi", "rolling"])
    >>> last = found.groupby(["method", "T"])["mean_regret"].last().round()
    >>> last.to_dict()
    {('fsvi', 6): 198.0, ('fsvi', 24): 143.0, ('rolling', 6): 91.0, ('rolling', 24): 23.0}
    >>> bool((found["certificate"] >= found["max_regret"]).all())
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
            "fsdash.measure(model).constants(model.gamma)"
        )
    best, goal = solved.best, tolerance * solved.largest_value
    if bounds and constants is None and best.within_tolerance and _is_measurable(model):
        progress(0.0)
        upper = measure(model, best.U_XY, seconds=constants_seconds)
        constants = upper.constants(model.gamma)

    found: list[tuple[Point, Values]] = []
    for share, points in _series(model, T_values, methods, goal, every_iteration):
        for point in points:
            progress(share)
            # Similar policies follow each other, so the values of one are a start for the next.
            start_XY = found[-1][1].U_XY if found else None
            values = policy_values(
                model, point.policy_PXY, tolerance=EVALUATED * goal, start_XY=start_XY
            )
            found.append((point, values))
    progress(1.0)
    upper_XY, upper_sweeps = _shared_upper_bound(model, found)
    sweep = model.n_pairs * model.true.outcomes
    rows = []
    for point, values in found:
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
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"T": "Int64", "k": "Int64"})
    frame.attrs = {
        "optimal_mean_value": solved.optimal_return,
        "evaluations_per_sweep": sweep,
        "upper_bound_sweeps": upper_sweeps,
        "precision": 2 * max((values.error for _, values in found), default=0.0),
        "notice": best.notice,
    }
    return frame


def policy_of(model: FastSlowMDP, method: str, T: int | None, k: int | None) -> np.ndarray:
    """Compute the policy of a row again, as action indices (P, X, Y)."""
    if method == "rolling":
        return run_until(rolling(model, T or 1), iterations=T).policy_PXY
    runs = {"fsvi": lambda: fsvi(model, T or 1), "mpi": lambda: mpi(model), "vi": lambda: vi(model)}
    return run_until(runs[method](), iterations=k).policy_PXY


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
) -> Iterator[tuple[float, Iterator[Point]]]:
    """The points of one method and T at a time, with the share that is done before them."""
    passes = list(rolling(model, T_values[-1])) if set(methods) & set(FREEZING) else []
    jobs: list[Iterator[Point]] = []
    if "fsvi" in methods:
        jobs += _fsvi_series(model, passes, T_values, goal, 1 if every_iteration else FSVI_RATIO)
    if "rolling" in methods:
        chosen = (s for s in passes if s.iteration in T_values)
        jobs.append(
            Point("rolling", s.iteration, None, s.backups, s.evaluations, s.policy_PXY)
            for s in chosen
        )
    if "mpi" in methods:
        jobs.append(_mpi_points(model, goal))
    if "vi" in methods:
        jobs.append(
            _iterated(model, "vi", None, vi(model), goal, 1 if every_iteration else VI_RATIO)
        )
    for done, job in enumerate(jobs):
        yield done / len(jobs), _changed(job)


def _fsvi_series(
    model: FastSlowMDP,
    passes: Sequence[Snapshot],
    T_values: Sequence[int],
    goal: float,
    ratio: float,
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
        jobs.append(_iterated(model, "fsvi", T, upper, goal, ratio))
    return jobs


def _iterated(
    model: FastSlowMDP,
    method: str,
    T: int | None,
    snapshots: Iterator[Snapshot],
    goal: float,
    ratio: float,
) -> Iterator[Point]:
    """The points at each k up to `EVERY_UP_TO`, then at k that grow by a ratio.

    The last one is at convergence, if that is much later than the one before.
    """
    due = 0
    for snapshot, last in until_settled(model, T or 1, snapshots, goal):
        k = snapshot.iteration
        if k == due or (last and 2 * k >= due):
            yield _point(method, T, snapshot)
            due = k + 1 if k < EVERY_UP_TO else max(int(ratio * k), k + 1)


def _mpi_points(model: FastSlowMDP, goal: float) -> Iterator[Point]:
    """The points of modified policy iteration until its values are as precise as evaluations.

    It converges fast, and a budget that pays for the optimum must not end with a worse policy.
    """
    enough = attainable(model, EVALUATED * goal)
    for snapshot in mpi(model):
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
    model: FastSlowMDP, found: Sequence[tuple[Point, Values]]
) -> tuple[np.ndarray, float]:
    """An upper bound of U* from the best policy that freezes, if there is one."""
    frozen = [values for point, values in found if point.method in FREEZING]
    candidates = frozen or [values for _, values in found]
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
