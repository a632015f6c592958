"""Statistics of runs: learning curves with intervals, starting and final values, work to a level.

A *series* is one curve of a chart: one method, and one kind of policy where a method has several.
While a frozen-state method solves its lower level there are up to three policies: the cyclic one
belongs to the method's own series, `policy` = "own". The stationary one that is greedy for J_t and
the rolling one have series of their own, which are left out unless `lower_policies` names them.

**Curves.** A curve belongs to one run. Its identity is the column `run` (the id in a store, the
hash of the specification in frames of `run_all`), together with domain, method, algorithm and T for
frames that have no such column.

Between two evaluated policies, a replication is counted with the earlier one, so a curve is a step
function. A replication that diverged has no value after its last row; n, the number of replications
behind a mean, then decreases along x.

The interval of the mean of n values uses Student's t with n − 1 degrees of freedom; a single value
has none. Intervals end where values become impossible: no policy is better than the optimal one.
An interval of fewer than five values, or of values in two separate groups, carries a `caution`.

**Runs at equal work.**

    budget       the largest work that all compared runs have spent. A rolling method ends at its T
                 by itself and keeps its last policy, so it does not limit the others.
    value        that of the last policy that a replication had after this work
    difference   the mean of one run minus that of another, with its 95% interval. Runs with the
                 same seed are compared replication by replication (paired differences), others by
                 Welch's interval. A run of an exact algorithm counts as a constant.

Whether the intervals of two means overlap says little about their difference, so nothing here asks
for it.

**Tables.**

    start   the mean over replications of the first policy's value
    final   the value of the last policy, mean over replications with its 95% interval
    last tenth   the mean over the whole sweeps in the last tenth of the work, then over
            replications, for runs with at least ten whole sweeps. It says where a curve that goes
            up and down has settled; a curve that still rises has left it behind.
    at budget   the value after the work that all runs on a domain have spent, by which methods are
            ranked
    work    the work after which the mean curve stays at or above a level. A curve that falls below
            the level again has not reached it. Nor has one whose final value is below, or that is
            above for its last one or two policies only: these may be a spike.

A lower level, like a rolling run, is one backward induction, not an iteration: one policy above a
level is enough.

The levels are shares of the optimum. On models without such shares (`fsdash.runs.measures`), start
and final are mean regret, and a level of 75% means that 75% of the initial policy's regret is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import inf, nan, pi, sqrt
from operator import itemgetter

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.errors import InputError
from fsdash.runs.columns import DEFAULT_MEASURE, MEASURES, WORK
from fsdash.runs.measures import RELATIVE, SHARE, main_measure, possible_range, range_columns
from fsdash.runs.records import method_title

X_AXES = (*(column.name for column in WORK), "sweeps")
Y_AXES = tuple(column.name for column in MEASURES)
STATIONARY, ROLLING = ", greedy for J", ", rolling"
LOWER_POLICIES = {"stationary": STATIONARY, "rolling": ROLLING}
"""By kind: the policies of a lower level that are no part of the method's own curve, and what is
added to the method's name in the series of each."""
OWN, SERIES = "own", ["run", "domain", "method", "algorithm", "T", "policy"]
"""The series of a method's own policies, and the columns that tell series apart."""
ITERATION = [
    *("run", "domain", "method", "algorithm", "T"),
    *("replication", "phase", "policy_kind", "iteration"),
]
"""The columns that identify an iteration, where a frame has them."""

ReplicationCurve = tuple[np.ndarray, np.ndarray]
"""x and y of one replication."""
COMPLETE = 0.8
"""A replication with at least this share of the rows of the longest one counts as complete."""
FEW, TWO_GROUPS = "few", "two groups"
"""Cautions about an interval."""
ENOUGH = 5
"""Replications from which on an interval carries no caution because of their number."""
VISIBLE_SPREAD = 1e-3
"""Values that differ less, relative to the largest one, form no groups."""
LEVELS = (0.75, 0.9, 0.95)
BACKWARD = ("lower", "rolling")
"""Phases that are one backward induction."""
LAST_SHARE = 0.1
"""The part of the work, at its end, over which whole sweeps are averaged."""
MIN_SWEEPS = 10
"""Whole sweeps that a run needs for this average: then at least one is in the last tenth."""
MIN_POLICIES = 3
"""Policies at the end of a curve that must be at or above a level."""


# ----------------------------------------------------------------------------------------- series


class ColumnArrays:
    """The columns of a frame as arrays: for some hundred rows, much faster than the frame."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame, self._arrays = frame, dict[str, np.ndarray]()

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            self._arrays[name] = self._frame[name].to_numpy()
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._frame


@dataclass(frozen=True)
class Series:
    """One curve of a chart, and where its rows are."""

    run: Hashable
    """The identity of its run; None in a frame without a column `run`."""
    domain: str
    method: str
    algorithm: str
    T: int | None
    policy: str
    runs: list[np.ndarray]
    """By replication: the positions of its rows in the frame, in order."""

    @cached_property
    def rows(self) -> np.ndarray:
        """The positions of the rows of all replications."""
        return np.concatenate(self.runs)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells it from other series."""
        return tuple(getattr(self, name) for name in SERIES)


def split(columns: ColumnArrays, lower_policies: Collection[str] = ()) -> list[Series]:
    """The series of a frame, in order of appearance.

    Rows of different runs are never in one series. An existing `method` column names the curve.
    Policies inside a sweep are left out for algorithms whose curves are drawn at whole sweeps.
    """
    policies = _policies(columns)
    kept = np.flatnonzero(_drawn(columns) & np.isin(policies, [OWN, *lower_policies]))
    if not len(kept):
        return []
    parts = [columns[name][kept] for name in SERIES if name in columns]
    series, replication = _codes(*parts, policies[kept]), columns["replication"][kept]
    order = np.lexsort((columns["step"][kept], replication, series))
    changes = np.diff(series[order], prepend=-1) | np.diff(replication[order], prepend=-1)
    runs = np.split(kept[order], np.flatnonzero(changes)[1:])
    of_run = series[order][np.flatnonzero(changes)]
    return [
        _series(columns, policies, [run for _, run in group])
        for _, group in groupby(zip(of_run, runs, strict=True), itemgetter(0))
    ]


def _series(columns: ColumnArrays, policies: np.ndarray, runs: list[np.ndarray]) -> Series:
    first = runs[0][0]
    algorithm, T, policy = columns["algorithm"][first], columns["T"][first], str(policies[first])
    T = None if T is None or pd.isna(T) else int(T)
    run = columns["run"][first] if "run" in columns else None
    method = columns["method"][first] if "method" in columns else method_title(algorithm, T)
    method += LOWER_POLICIES.get(policy, "")
    return Series(run, columns["domain"][first], method, algorithm, T, policy, runs)


def _policies(columns: ColumnArrays) -> np.ndarray:
    """The kind of lower-level policy of each row, or `OWN`."""
    lower, kinds = columns["phase"] == "lower", columns["policy_kind"]
    policies = np.full(len(kinds), OWN, "U10")
    for kind in LOWER_POLICIES:
        policies[lower & (kinds == kind)] = kind
    return policies


def _codes(*columns: np.ndarray) -> np.ndarray:
    """A number for each different row of some columns, in order of appearance."""
    codes = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        numbers, kinds = pd.factorize(values, use_na_sentinel=False)
        codes = codes * len(kinds) + numbers
    return pd.factorize(codes)[0]


def whole_sweeps(frame: pd.DataFrame | ColumnArrays) -> np.ndarray:
    """Whether each row is the first one of its iteration, which is recorded at its end.

    The rows that follow with the same iteration are inside the next sweep: their policy is greedy
    for values of two iterations.
    """
    columns = ColumnArrays(frame) if isinstance(frame, pd.DataFrame) else frame
    iterations = _codes(*(columns[name] for name in ITERATION if name in columns))
    order = np.argsort(columns["step"], kind="stable")
    _, first = np.unique(iterations[order], return_index=True)
    whole = np.zeros(len(order), bool)
    whole[order[first]] = True
    return whole


def _drawn(columns: ColumnArrays) -> np.ndarray:
    """Whether a curve shows each row."""
    names = [name for name, algorithm in ALGORITHMS.items() if algorithm.whole_sweeps]
    only_whole = np.isin(columns["algorithm"].astype(str), names)
    return ~only_whole | whole_sweeps(columns) if only_whole.any() else ~only_whole


def replications(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
) -> Iterator[tuple[Series, list[ReplicationCurve]]]:
    """Each series of a frame, with the curves of its replications."""
    columns = ColumnArrays(frame)
    x_all, y_all = axis_values(columns, x, y, sweep)
    for series in split(columns, lower_policies):
        yield series, [(x_all[rows], y_all[rows]) for rows in series.runs]


def axis_values(
    columns: ColumnArrays, x: str, y: str, sweep: float
) -> tuple[np.ndarray, np.ndarray]:
    """x and y of every row; without a column `sweeps`, evaluations are divided by `sweep`."""
    check_axes(x, y)
    converted = x == "sweeps" and x not in columns
    work = columns["evaluations"] / sweep if converted else columns[x]
    return work.astype(float), columns[y].astype(float)


def check_axes(x: str, y: str) -> None:
    """Raise `InputError` if x or y is not an axis of learning curves."""
    for name, value, axes in (("x", x, X_AXES), ("y", y, Y_AXES)):
        if value not in axes:
            raise InputError(f"{name} = {value!r}: choose from {', '.join(axes)}")


def read_at(
    x: np.ndarray, y: np.ndarray, where: np.ndarray | float, keep_last: bool = False
) -> np.ndarray:
    """The step function (x, y) at some points; NaN before its first and after its last x.

    With `keep_last`, the last policy stays in force after its x.
    """
    place = np.searchsorted(x, where, side="right") - 1
    inside = (place >= 0) & (keep_last | (where <= x[-1]))
    return np.where(inside, y[np.maximum(place, 0)], nan)


# -------------------------------------------------------------------------------------- intervals


def t_quantile(freedom: int) -> float:
    """The 97.5% quantile of Student's t distribution with so many degrees of freedom.

    Examples
    --------
    >>> round(t_quantile(4), 4)
    2.7764
    """
    if freedom < 1:
        raise InputError(f"freedom = {freedom}: an interval needs at least two values")
    return float(stdtrit(freedom, 0.975))


def interval(values: Sequence[float]) -> tuple[float, float, float, int]:
    """The mean of some values and its 95% interval.

    Parameters
    ----------
    values : sequence of float
        NaN values are left out. An infinite value makes the mean infinite, without an interval.

    Returns
    -------
    mean, low, high : float
        The mean and the ends of its interval; the ends of a single value are NaN.
    n : int
        The number of values.

    Examples
    --------
    >>> mean, low, high, n = interval([1, 2, 3, 4, 5])
    >>> mean, round(low, 3), round(high, 3), n
    (3.0, 1.037, 4.963, 5)
    """
    mean, low, high, n = intervals(np.asarray(values, float)[:, None])
    return mean.item(), low.item(), high.item(), n.item()


def intervals(values_RG: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`interval` of every column of an array (R, G): mean, low, high and n, each of length G."""
    known_RG = ~np.isnan(values_RG)
    n_G = known_RG.sum(axis=0)
    factor = [nan, nan] + [t_quantile(n - 1) / sqrt(n) for n in range(2, len(values_RG) + 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_G = np.where(known_RG, values_RG, 0.0).sum(axis=0) / n_G
        deviation_RG = np.where(known_RG, values_RG - mean_G, 0.0)
        half_G = np.array(factor)[n_G] * np.sqrt((deviation_RG**2).sum(axis=0) / (n_G - 1))
    return mean_G, mean_G - half_G, mean_G + half_G, n_G


def caution(values: Sequence[float]) -> str:
    """Why the interval of some values is doubtful: `FEW`, `TWO_GROUPS`, or empty if it is not.

    Student's interval assumes values that scatter around their mean. Values form two groups if a
    split into a lower and a higher part explains more of their variance than in 95% of normal
    samples of this size, about 2/π + 0.72/√n.

    Examples
    --------
    >>> caution([0.8, 0.9, 0.85]), caution([0.1, 0.12, 0.9, 0.91, 0.9])
    ('few', 'two groups')
    >>> caution([0.1, 0.2, 0.3, 0.4, 0.5])
    ''
    """
    ordered = np.sort(np.asarray(values, float))
    ordered = ordered[np.isfinite(ordered)]
    n = len(ordered)
    if n < 2:
        return ""
    if n < ENOUGH:
        return FEW
    if ordered[-1] - ordered[0] <= VISIBLE_SPREAD * np.abs(ordered).max():
        return ""
    low_n, sums = np.arange(1, n), np.cumsum(ordered)
    low_mean, high_mean = sums[:-1] / low_n, (sums[-1] - sums[:-1]) / (n - low_n)
    between = low_n * (n - low_n) / n * (high_mean - low_mean) ** 2
    explained = between.max() / ((ordered - ordered.mean()) ** 2).sum()
    return TWO_GROUPS if explained > 2 / pi + 0.72 / sqrt(n) else ""


def clipped(
    mean: np.ndarray, low: np.ndarray, high: np.ndarray, limits: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of an interval, moved to the limits where they are outside.

    The mean itself may be outside by a rounding error; the interval always contains it. Ends that
    are NaN stay NaN.

    Examples
    --------
    >>> low, high = clipped(np.array([0.9]), np.array([0.7]), np.array([1.1]), (0.0, 1.0))
    >>> low.tolist(), high.tolist()
    ([0.7], [1.0])
    """
    least, most = limits
    return np.minimum(np.maximum(low, least), mean), np.maximum(np.minimum(high, most), mean)


# ------------------------------------------------------------------------------------ mean curves


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """One series along x: the mean of measure y over n replications, and its 95% interval."""

    method: str
    algorithm: str
    T: int | None
    policy: str
    """"own", or the kind of the lower level's policy."""
    y: str
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray
    run: Hashable = None
    domain: str = ""
    caution: str = ""
    """About the interval of the last policies (`caution`)."""
    ends: Sequence[tuple[float, float]] = ()
    """x and y of the last policy of each replication."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """That of its series."""
        return tuple(getattr(self, name) for name in SERIES)

    def where(self, chosen: np.ndarray) -> MeanCurve:
        """The curve at the chosen points only."""
        names = ("x", "mean", "low", "high", "n")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


def mean_curves(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
    points: int = 400,
) -> list[MeanCurve]:
    """The curves that `summarise` puts in a table (there the arguments are explained).

    Series without any value are left out.
    """
    columns = ColumnArrays(frame)
    return curves_of(columns, split(columns, lower_policies), x, y=y, sweep=sweep, points=points)


def curves_of(
    columns: ColumnArrays,
    all_series: Sequence[Series],
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    points: int = 400,
) -> list[MeanCurve]:
    """The mean curves of some series of a frame; those without any value are left out."""
    x_all, y_all = axis_values(columns, x, y, sweep)
    curves = []
    for series in all_series:
        runs = [(x_all[rows], y_all[rows]) for rows in series.runs]
        grid = _common_grid(runs, points)
        mean, low, high, n = intervals(np.array([read_at(*run, grid) for run in runs]))
        low, high = clipped(mean, low, high, limits(columns, series, y))
        ends = [(float(run_x[-1]), float(run_y[-1])) for run_x, run_y in runs]
        about = {name: getattr(series, name) for name in SERIES}
        doubt = caution([end for _, end in ends])
        curve = MeanCurve(
            **about, y=y, x=grid, mean=mean, low=low, high=high, n=n, caution=doubt, ends=ends
        ).where(n > 0)
        if len(curve.x):
            curves.append(curve)
    return curves


def limits(columns: ColumnArrays, series: Series, measure: str) -> tuple[float, float]:
    """The values of a measure that are possible on the model of a series."""
    names = range_columns(columns)
    return possible_range({name: columns[name][series.rows] for name in names}, measure)


def _common_grid(runs: list[ReplicationCurve], points: int) -> np.ndarray:
    """The points at which the replications are read: their own if they share them.

    Otherwise from where all have started to where the first complete one ends; beyond that, the
    mean would jump with each replication that ends.
    """
    places = [x for x, _ in runs]
    grid = np.unique(np.concatenate(places))
    if len(grid) == len(np.unique(max(places, key=len))):
        return grid
    grid = grid[(grid >= max(x[0] for x in places)) & (grid <= work_spent(runs))]
    if len(grid) <= points:
        return grid
    return grid[np.unique(np.linspace(0, len(grid) - 1, points).astype(int))]


def work_spent(runs: Sequence[ReplicationCurve]) -> float:
    """The work that every complete replication has spent."""
    most = max(len(x) for x, _ in runs)
    return float(min(x[-1] for x, _ in runs if len(x) >= COMPLETE * most))


# ----------------------------------------------------------------------------- runs at equal work


@dataclass(frozen=True, eq=False)
class RunCurves:
    """The curves of one run, by replication."""

    algorithm: str
    replications: Mapping[int, ReplicationCurve]

    @property
    def work(self) -> float:
        """The work that it has spent; infinite if it keeps its last policy for any more work."""
        entry = ALGORITHMS.get(self.algorithm)
        return inf if entry and entry.ends_at_T else self.own_work

    @property
    def own_work(self) -> float:
        """The work of its last policy."""
        return work_spent(list(self.replications.values()))

    def values(self, budget: float) -> dict[int, float]:
        """The value of each replication after a budget, without those that had no policy then."""
        curves = self.replications.items()
        values = {i: float(read_at(x, y, budget, keep_last=True)) for i, (x, y) in curves}
        return {i: value for i, value in values.items() if not np.isnan(value)}


def common_budget(runs: Iterable[RunCurves]) -> float:
    """The largest work that all runs have spent."""
    runs = list(runs)
    shortest = min((run.work for run in runs), default=nan)
    return shortest if shortest < inf else max(run.own_work for run in runs)


def run_curves(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
) -> dict[tuple[Hashable, ...], RunCurves]:
    """The curves of the replications of each series, by `Series.key`."""
    columns = ColumnArrays(frame)
    return curves_by_key(columns, split(columns, lower_policies), x, y, sweep)


def curves_by_key(
    columns: ColumnArrays, all_series: Sequence[Series], x: str, y: str, sweep: float
) -> dict[tuple[Hashable, ...], RunCurves]:
    """`run_curves` of some series of a frame."""
    x_all, y_all = axis_values(columns, x, y, sweep)
    replication = columns["replication"]
    return {
        series.key: RunCurves(
            series.algorithm,
            {int(replication[rows[0]]): (x_all[rows], y_all[rows]) for rows in series.runs},
        )
        for series in all_series
    }


def budgets_by_domain(runs: Mapping[tuple[Hashable, ...], RunCurves]) -> dict[Hashable, float]:
    """The common budget of the runs on each domain; policies of lower levels do not limit it."""
    runs_on: dict[Hashable, list[RunCurves]] = {}
    for (_, domain, *_, policy), curves in runs.items():
        if policy == OWN:
            runs_on.setdefault(domain, []).append(curves)
    return {domain: common_budget(curves) for domain, curves in runs_on.items()}


@dataclass(frozen=True)
class Sample:
    """The values of one run at some work."""

    values: Mapping[int, float]
    """By replication."""
    seed: int | None
    """The seed of its random numbers; None for an exact algorithm, whose value is a constant."""

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.values.values()))) if self.values else nan


@dataclass(frozen=True)
class Difference:
    """The mean of one run minus that of another, with its 95% interval."""

    mean: float
    low: float
    high: float
    """Both ends are NaN if a sampled run has a single replication."""
    pairs: int
    """The number of pairs with the same random numbers; 0 if the runs are independent."""

    @property
    def has_interval(self) -> bool:
        return not np.isnan(self.low)

    @property
    def contains_zero(self) -> bool:
        """Whether the interval leaves open which run is better."""
        return self.low <= 0 <= self.high


def difference(one: Sample, other: Sample) -> Difference:
    """How much larger the mean of one run is than that of another.

    Replications with the same number and the same seed have the same random numbers, so their
    differences are compared: what both have in common cancels.

    Examples
    --------
    >>> one = Sample({0: 0.90, 1: 0.70, 2: 0.80}, seed=0)
    >>> other = Sample({0: 0.88, 1: 0.68, 2: 0.775}, seed=0)
    >>> gain = difference(one, other)
    >>> round(gain.mean, 3), gain.pairs, gain.contains_zero
    (0.022, 3, False)
    >>> difference(one, Sample(other.values, seed=1)).contains_zero
    True
    """
    both = sorted(set(one.values) & set(other.values))
    if one.seed is not None and one.seed == other.seed and len(both) > 1:
        mean, low, high, n = interval([one.values[i] - other.values[i] for i in both])
        return Difference(mean, low, high, n)
    mean, sampled = one.mean - other.mean, [run for run in (one, other) if run.seed is not None]
    samples = [np.array(list(run.values.values()), float) for run in sampled]
    if np.isnan(mean) or any(len(sample) < 2 for sample in samples):
        return Difference(mean, nan, nan, 0)
    half = _welch(samples)
    return Difference(mean, mean - half, mean + half, 0)


def _welch(samples: Sequence[np.ndarray]) -> float:
    """Half the width of the interval of a difference of independent means; 0 for constants."""
    errors = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    if not sum(errors) > 0:
        return 0.0
    freedom = sum(errors) ** 2 / sum(
        error**2 / (len(sample) - 1) for error, sample in zip(errors, samples, strict=True)
    )
    return float(stdtrit(freedom, 0.975)) * sqrt(sum(errors))


# ---------------------------------------------------------------------------------------- tables


def summarise(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
    points: int = 400,
) -> pd.DataFrame:
    """Mean and 95% interval of each series along x.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows as `run_all` or a store returns them.
    x : {"evaluations", "seconds", "sweeps"}
        Unit of work.
    y : str
        Measure of the policy: "fraction_of_optimal", "mean_return", "mean_regret",
        "relative_regret" or "max_regret".
    sweep : float
        Evaluations in one sweep of Base E-VI, |S||A|M: the unit of x = "sweeps".
    lower_policies : collection of str
        Kinds of policies of a lower level to include as series of their own: "stationary", greedy
        for J, and "rolling".
    points : int
        Replications with different x are read at common points, at most so many.

    Returns
    -------
    pandas.DataFrame
        Columns run (where the frame has one), domain, method, algorithm, T, policy, x, mean, low,
        high and n. Different runs are never in one row, even if they have the same name.

    Examples
    --------
    >>> from fsdash.runs.runner import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> frame, _ = run_all([RunSpec("inventory", "e-vi", iterations=2, replications=3)])
    >>> summary = summarise(frame)
    >>> list(summary.columns)
    ['run', 'domain', 'method', 'algorithm', 'T', 'policy', 'x', 'mean', 'low', 'high', 'n']
    >>> summary["n"].unique().tolist()
    [3]
    """
    curves = mean_curves(frame, x, y=y, sweep=sweep, lower_policies=lower_policies, points=points)
    lengths = [len(curve.x) for curve in curves]
    columns = {
        name: np.repeat(np.array([getattr(curve, name) for curve in curves], object), lengths)
        for name in _identity(frame)
    } | {
        name: np.concatenate([getattr(curve, name) for curve in curves] or [[]])
        for name in ("x", "mean", "low", "high", "n")
    }
    texts = dict.fromkeys(("domain", "method", "algorithm", "policy"), "str")
    table = pd.DataFrame(columns).astype(texts | {"T": "Int64", "n": "int64"})
    return table.astype({"run": frame["run"].dtype}) if "run" in table else table


def _identity(frame: pd.DataFrame) -> list[str]:
    """The columns of a table that say which run a row is about."""
    return [name for name in SERIES if name != "run" or "run" in frame]


def first_crossing(x: np.ndarray, y: np.ndarray, level: float) -> float:
    """The first x at which y is at least the level; infinity if there is none."""
    reached = np.flatnonzero(y >= level)
    return float(x[reached[0]]) if len(reached) else inf


def lasting_crossing(x: np.ndarray, y: np.ndarray, level: float, points: int = 1) -> float:
    """The x after which y stays at or above the level; infinity if it ends below.

    Examples
    --------
    >>> x = np.arange(5.0)
    >>> lasting_crossing(x, np.array([0.1, 0.8, 0.2, 0.8, 0.9]), 0.75)  # a spike does not count
    3.0
    >>> lasting_crossing(x, np.array([0.1, 0.8, 0.9, 0.8, 0.7]), 0.75)
    inf
    """
    below = np.flatnonzero(~(y >= level))
    start = below[-1] + 1 if len(below) else 0
    return float(x[start]) if len(x) - start >= min(points, len(x)) else inf


def last_tenth(
    y: np.ndarray, evaluations: np.ndarray, iteration: np.ndarray, phase: np.ndarray
) -> float:
    """The mean of y over the whole sweeps in the last tenth of one replication's work.

    Policies inside a sweep do not count: they are greedy for values of two iterations.

    Parameters
    ----------
    y, evaluations, iteration, phase : np.ndarray
        Columns of one replication and one kind of policy, in the order in which they were recorded.

    Returns
    -------
    float
        NaN if the replication has fewer than ten whole sweeps of the base model or the upper level.
    """
    new = np.append(True, (np.diff(iteration) != 0) | (phase[1:] != phase[:-1]))
    whole = np.flatnonzero(new & (iteration > 0) & ~np.isin(phase.astype(str), BACKWARD))
    if len(whole) < MIN_SWEEPS:
        return nan
    late = whole[evaluations[whole] >= (1 - LAST_SHARE) * evaluations[-1]]
    return float(y[late if len(late) else whole[-1:]].mean())


def work_to_reach(
    frame: pd.DataFrame,
    levels: Sequence[float] = LEVELS,
    *,
    x: str = "evaluations",
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
) -> pd.DataFrame:
    """Each series in one row: its starting value, its work to reach levels, its final value.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows as `run_all` or a store returns them.
    levels : sequence of float
        Shares of the optimum, such as 0.9. Without such shares, the part of the initial policy's
        regret that is gone.
    x, sweep, lower_policies
        As for `summarise`.

    Returns
    -------
    pandas.DataFrame
        One row for each series, with n replications. `measure` is the measure of `start` and
        `final`: "fraction_of_optimal", or "mean_regret" if the optimum is not positive. For a
        level of 90%, `work_90` is the work after which the mean curve stays at or above it (NaN if
        it ends below, `start_work` if it is never below). `final` is the value of the last policy,
        `final_low` and `final_high` its 95% interval, and `caution` says why this interval is
        doubtful ("few" replications, or values in "two groups"; empty if it is not). `last_tenth`
        is the mean over the last tenth of the work (NaN with fewer than ten whole sweeps).
        `at_budget` is the value after `budget`, the work that all runs on the domain have spent,
        and `relative` the final relative regret.

    Examples
    --------
    >>> from fsdash.runs.runner import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> frame, _ = run_all([RunSpec("inventory", "vi", iterations=300)])
    >>> table = work_to_reach(frame, [0.9])
    >>> table[["method", "n", "start", "final"]].round(2).to_dict("records")
    [{'method': 'Base VI', 'n': 1, 'start': 0.03, 'final': 1.0}]
    """
    measure = main_measure(frame)
    progress = SHARE if measure == SHARE else RELATIVE
    columns = ColumnArrays(frame)
    all_series = split(columns, lower_policies)
    curves = {c.key: c for c in curves_of(columns, all_series, x, y=progress, sweep=sweep)}
    runs = curves_by_key(columns, all_series, x, measure, sweep)
    budgets = budgets_by_domain(runs)
    backward = np.isin(columns["phase"].astype(str), BACKWARD)
    records = []
    for series in all_series:
        curve = curves.get(series.key)
        start, last = (_values(columns, series, measure, place) for place in (0, -1))
        mean, low, high, n = interval(last)
        ends = np.array(mean), np.array(low), np.array(high)
        low, high = map(float, clipped(*ends, limits(columns, series, measure)))
        relative = float(np.mean(_values(columns, series, RELATIVE, -1)))
        reached = mean if measure == SHARE else 1 - relative
        points = 1 if backward[series.rows].all() else MIN_POLICIES
        budget = budgets.get(series.domain, nan)
        records.append(
            {
                **{name: getattr(series, name) for name in _identity(frame)},
                "n": n,
                "measure": measure,
                "start": float(np.mean(start)),
                "start_work": float(curve.x[0]) if curve is not None else nan,
                **{
                    f"work_{level * 100:g}": _work(curve, level, reached, points)
                    for level in levels
                },
                "final": mean,
                "final_low": low,
                "final_high": high,
                "caution": caution(last),
                "last_tenth": _last_tenth(columns, series, measure),
                "budget": budget,
                "at_budget": Sample(runs[series.key].values(budget), None).mean,
                "relative": relative,
            }
        )
    return pd.DataFrame(records)


def _values(columns: ColumnArrays, series: Series, y: str, place: int) -> list[float]:
    """The value of the first (0) or the last (−1) policy of each replication."""
    return [float(columns[y][rows[place]]) for rows in series.runs]


def _last_tenth(columns: ColumnArrays, series: Series, y: str) -> float:
    chosen = [columns[name] for name in (y, "evaluations", "iteration", "phase")]
    return float(np.mean([last_tenth(*(c[rows] for c in chosen)) for rows in series.runs]))


def _work(curve: MeanCurve | None, level: float, final: float, points: int) -> float:
    """The work after which the mean curve stays at a level; NaN if it does not, or ends below."""
    if curve is None or not final >= level:
        return nan
    regret = curve.y == RELATIVE
    work = lasting_crossing(curve.x, 1 - curve.mean if regret else curve.mean, level, points)
    return work if work < inf else nan
