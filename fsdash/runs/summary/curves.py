"""Which rows make one curve, and the mean of each curve with its 95% interval.

Between two evaluated policies, a replication is counted with the earlier one, so a curve is a step
function. A replication that diverged has no value after its last row; n, the number of replications
behind a mean, then decreases along x.

The interval of the mean of n values uses Student's t with n − 1 degrees of freedom; a single value
has none. Intervals end where values become impossible: no policy is better than the optimal one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import nan, sqrt
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
OWN = "own"
"""The series of a method's own policies."""
SERIES = ["method", "algorithm", "T", "policy"]
ITERATION = ["run", "method", "algorithm", "T", "replication", "phase", "policy_kind", "iteration"]
"""The columns that identify an iteration, where a frame has them."""

ReplicationCurve = tuple[np.ndarray, np.ndarray]
"""x and y of one replication."""
SeriesKey = tuple[str, str, int | None, str]
"""The values of the columns `SERIES`."""
Series = tuple[SeriesKey, list[np.ndarray]]
"""A series and the positions of its rows, by replication."""
COMPLETE = 0.8
"""A replication with at least this share of the rows of the longest one counts as complete."""


# ----------------------------------------------------------------------------------------- series


def labelled(frame: pd.DataFrame, lower_policies: Collection[str] = ()) -> pd.DataFrame:
    """The rows of all curves, with the columns `method`, the name in a legend, and `policy`.

    An existing `method` column is used: it distinguishes runs that differ in a parameter. Policies
    inside a sweep are left out for algorithms whose curves are drawn at whole sweeps.
    """
    policy = np.full(len(frame), OWN, "U10")
    for kind in LOWER_POLICIES:
        policy[(frame["phase"].eq("lower") & frame["policy_kind"].eq(kind)).to_numpy()] = kind
    kept = _drawn(frame) & np.isin(policy, [OWN, *lower_policies])
    if not kept.all():
        frame, policy = frame[kept], policy[kept]
    if "method" in frame:
        names = frame["method"].to_numpy(object)
    else:
        names = np.array(
            [
                method_title(name, None if pd.isna(T) else int(T))
                for name, T in zip(frame["algorithm"], frame["T"], strict=True)
            ],
            object,
        )
    for kind, ending in LOWER_POLICIES.items():
        names = np.where(policy == kind, names + ending, names) if kind in lower_policies else names
    return frame.assign(
        method=pd.Series(names, frame.index, "str"), policy=pd.Series(policy, frame.index, "str")
    )


def whole_sweeps(frame: pd.DataFrame) -> np.ndarray:
    """Whether each row is the first one of its iteration, which is recorded at its end.

    The rows that follow with the same iteration are inside the next sweep: their policy is greedy
    for values of two iterations.
    """
    order = np.argsort(frame["step"].to_numpy(), kind="stable")
    known = [name for name in ITERATION if name in frame]
    repeated = frame.iloc[order].duplicated(known).to_numpy()
    whole = np.empty(len(frame), bool)
    whole[order] = ~repeated
    return whole


def _drawn(frame: pd.DataFrame) -> np.ndarray:
    """Whether a curve shows each row."""
    names = [name for name, algorithm in ALGORITHMS.items() if algorithm.whole_sweeps]
    only_whole = frame["algorithm"].isin(names).to_numpy()
    return ~only_whole | whole_sweeps(frame) if only_whole.any() else ~only_whole


def series_rows(frame: pd.DataFrame) -> Iterator[Series]:
    """Each series of a labelled frame, with the positions of its rows in each replication."""
    if frame.empty:
        return
    series = _series(frame)
    order = np.lexsort((frame["step"], frame["replication"], series))
    series, replication = series[order], frame["replication"].to_numpy()[order]
    starts = np.flatnonzero(np.diff(series, prepend=-1) | np.diff(replication, prepend=-1))
    ends = np.append(starts[1:], len(order))
    keys = frame[SERIES].iloc[order[starts]].itertuples(index=False, name=None)
    for _, group in groupby(zip(series[starts], keys, starts, ends, strict=True), itemgetter(0)):
        runs = list(group)
        yield runs[0][1], [order[a:b] for _, _, a, b in runs]


def replications(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
) -> Iterator[tuple[SeriesKey, list[ReplicationCurve]]]:
    """Each series of a labelled frame, with the curves of its replications."""
    x_all, y_all = axis_values(frame, x, y, sweep)
    for key, runs in series_rows(frame):
        yield key, [(x_all[rows], y_all[rows]) for rows in runs]


def axis_values(frame: pd.DataFrame, x: str, y: str, sweep: float) -> tuple[np.ndarray, np.ndarray]:
    """x and y of every row; evaluations are divided by `sweep` if x is in sweeps."""
    check_axes(x, y)
    work = frame["evaluations"].to_numpy(float) / sweep if x == "sweeps" else frame[x]
    return np.asarray(work, float), frame[y].to_numpy(float)


def _series(frame: pd.DataFrame) -> np.ndarray:
    """The number of each row's series; series are numbered in order of appearance."""
    codes = np.zeros(len(frame), np.int64)
    for name in SERIES:
        values, kinds = pd.factorize(frame[name], use_na_sentinel=False)
        codes = codes * len(kinds) + values
    return pd.factorize(codes)[0]


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
        Columns method, algorithm, T, policy, x, mean, low, high and n.

    Examples
    --------
    >>> from fsdash.runs.local import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> frame, _ = run_all([RunSpec("inventory", "e-vi", iterations=2, replications=3)])
    >>> summary = summarise(frame)
    >>> list(summary.columns)
    ['method', 'algorithm', 'T', 'policy', 'x', 'mean', 'low', 'high', 'n']
    >>> summary["n"].unique().tolist()
    [3]
    """
    curves = mean_curves(frame, x, y=y, sweep=sweep, lower_policies=lower_policies, points=points)
    lengths = [len(curve.x) for curve in curves]
    columns = {
        name: np.repeat(np.array([getattr(curve, name) for curve in curves], object), lengths)
        for name in SERIES
    } | {
        name: np.concatenate([getattr(curve, name) for curve in curves] or [[]])
        for name in ("x", "mean", "low", "high", "n")
    }
    kinds = {"method": "str", "algorithm": "str", "T": "Int64", "policy": "str", "n": "int64"}
    return pd.DataFrame(columns).astype(kinds)


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
    """The curves that `summarise` puts in a table; series without any value are left out."""
    rows = labelled(frame, lower_policies)
    return curves_of(rows, series_rows(rows), x, y=y, sweep=sweep, points=points)


def curves_of(
    rows: pd.DataFrame,
    series: Iterable[Series],
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    points: int = 400,
) -> list[MeanCurve]:
    """`mean_curves` of a labelled frame whose `series_rows` are known."""
    x_all, y_all = axis_values(rows, x, y, sweep)
    numbers = rows[range_columns(rows)]
    curves = []
    for (method, algorithm, T, policy), runs in series:
        limits = possible_range(numbers.iloc[np.concatenate(runs)], y)
        found = [(x_all[run], y_all[run]) for run in runs]
        grid = _common_grid(found, points)
        values = np.array([read_at(x_R, y_R, grid) for x_R, y_R in found])
        T = None if T is None or pd.isna(T) else int(T)
        mean, low, high, n = intervals(values)
        ends = clipped(mean, low, high, limits)
        curve = MeanCurve(method, algorithm, T, policy, y, grid, mean, *ends, n)
        curve = curve.where(curve.n > 0)
        if len(curve.x):
            curves.append(curve)
    return curves


def _common_grid(runs: list[ReplicationCurve], points: int) -> np.ndarray:
    """The points at which the replications are read: their own if they share them.

    Otherwise from where all have started to where the first complete one ends; beyond that, the
    mean would jump with each replication that ends.
    """
    places = [x for x, _ in runs]
    grid = np.unique(np.concatenate(places))
    if len(grid) == len(np.unique(max(places, key=len))):
        return grid
    most = max(len(x) for x in places)
    last = min(x[-1] for x in places if len(x) >= COMPLETE * most)
    grid = grid[(grid >= max(x[0] for x in places)) & (grid <= last)]
    if len(grid) <= points:
        return grid
    return grid[np.unique(np.linspace(0, len(grid) - 1, points).astype(int))]
