"""Which rows make one curve, and the mean of each curve with its 95% interval.

A curve belongs to one run. Its identity is the column `run` (the id in a store, the hash of the
specification in frames of `run_all`), together with domain, method, algorithm and T for frames that
have no such column.

Between two evaluated policies, a replication is counted with the earlier one, so a curve is a step
function. A replication that diverged has no value after its last row; n, the number of replications
behind a mean, then decreases along x.

The interval of the mean of n values uses Student's t with n − 1 degrees of freedom; a single value
has none. Intervals end where values become impossible: no policy is better than the optimal one.
An interval of fewer than five values, or of values in two separate groups, carries a `caution`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import nan, pi, sqrt
from operator import itemgetter

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.errors import InputError
from fsdash.runs.columns import DEFAULT_MEASURE, MEASURES, WORK
from fsdash.runs.measures import possible_range, range_columns
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
        found, kinds = pd.factorize(values, use_na_sentinel=False)
        codes = codes * len(kinds) + found
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
    """x and y of every row; evaluations are divided by `sweep` if x is in sweeps."""
    check_axes(x, y)
    work = columns["evaluations"] / sweep if x == "sweeps" else columns[x]
    return work.astype(float), columns[y].astype(float)


def check_axes(x: str, y: str) -> None:
    """Raise `InputError` if x or y is not an axis of learning curves."""
    for name, value, known in (("x", x, X_AXES), ("y", y, Y_AXES)):
        if value not in known:
            raise InputError(f"{name} = {value!r}: choose from {', '.join(known)}")


def read_at(x: np.ndarray, y: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The step function (x, y) at some points; NaN before its first and after its last x."""
    place = np.searchsorted(x, where, side="right") - 1
    inside = (place >= 0) & (where <= x[-1])
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
    found = np.sort(np.asarray(values, float))
    found = found[np.isfinite(found)]
    n = len(found)
    if n < 2:
        return ""
    if n < ENOUGH:
        return FEW
    if found[-1] - found[0] <= VISIBLE_SPREAD * np.abs(found).max():
        return ""
    low_n, sums = np.arange(1, n), np.cumsum(found)
    low_mean, high_mean = sums[:-1] / low_n, (sums[-1] - sums[:-1]) / (n - low_n)
    between = low_n * (n - low_n) / n * (high_mean - low_mean) ** 2
    explained = between.max() / ((found - found.mean()) ** 2).sum()
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
