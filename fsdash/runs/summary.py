"""Replications in a few numbers: means with 95% intervals, and the work that a level takes.

A *series* is one curve of a chart: one method, and one kind of policy where a method has two. While
the lower level of a frozen-state method is under way there are two policies, the cyclic one, which
belongs to the method's own series, and the stationary one that is greedy for J_t, which has a
series of its own (`stationary` = True) and is left out unless asked for.

Between two looks a replication keeps the policy of the last one, so curves are read as steps. A
replication that diverged has no value after its last look; n, the number of replications behind a
mean, then falls along x.

Intervals are Student's t with n − 1 degrees of freedom, of the mean of n replications; there is
none for n = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from math import atan, cos, inf, nan, pi, sin, sqrt
from operator import itemgetter

import numpy as np
import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.errors import InputError
from fsdash.runs.columns import DEFAULT_MEASURE, MEASURES, WORK

X_AXES = (*(column.name for column in WORK), "sweeps")
Y_AXES = tuple(column.name for column in MEASURES)
LEVELS = (0.75, 0.9, 0.95)
STATIONARY = ", greedy for J"
SERIES = ["method", "algorithm", "T", "stationary"]
COMPLETE = 0.8
"""A replication with at least this share of the looks of the longest one was not cut short."""


@cache
def t_quantile(freedom: int) -> float:
    """The 97.5% quantile of Student's t with so many (whole) degrees of freedom."""
    if freedom < 1:
        raise InputError(f"freedom = {freedom}: an interval needs two values or more")
    low, high = 1.9, 13.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, freedom) < 0.95 else (low, middle)
    return low


def _t_within(t: float, freedom: int) -> float:
    """P(|t-distributed| < t), Abramowitz and Stegun 26.7.3 and 26.7.4: a finite sum of cosines."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for j in range(odd, freedom - 1, 2):
        total += term
        term *= cos(angle) ** 2 * (j + 1) / (j + 2)
    return 2 * (angle + sin(angle) * total) / pi if odd else sin(angle) * total


def interval(values: Sequence[float]) -> tuple[float, float, float, int]:
    """Mean, the ends of its 95% interval (nan for a single value), and how many values there are.

    An infinite value, work that was never enough, makes the mean infinite, without an interval.
    """
    ends = intervals(np.asarray(values, float)[:, None])
    mean, low, high, n = (found.item() for found in ends)
    return mean, low, high, n


def intervals(values_RG: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`interval` of every column: mean, low, high and n, each along G."""
    known_RG = ~np.isnan(values_RG)
    n_G = known_RG.sum(axis=0)
    factor = [nan, nan] + [t_quantile(n - 1) / sqrt(n) for n in range(2, len(values_RG) + 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_G = np.where(known_RG, values_RG, 0.0).sum(axis=0) / n_G
        off_RG = np.where(known_RG, values_RG - mean_G, 0.0)
        half_G = np.array(factor)[n_G] * np.sqrt((off_RG**2).sum(axis=0) / (n_G - 1))
    return mean_G, mean_G - half_G, mean_G + half_G, n_G


# ------------------------------------------------------------------------------------------ series


def labelled(frame: pd.DataFrame, stationary: bool = False) -> pd.DataFrame:
    """The frame with its series named: `method`, as a legend calls it, and `stationary`.

    A `method` column that is already there stays: it tells runs apart that differ in a parameter.
    """
    extra = ((frame["phase"] == "lower") & (frame["policy_kind"] == "stationary")).to_numpy()
    if not stationary and extra.any():
        frame, extra = frame[~extra], extra[~extra]
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
    names = np.where(extra, names + STATIONARY, names) if extra.any() else names
    return frame.assign(method=pd.Series(names, frame.index, "str"), stationary=extra)


def method_title(name: str, T: int | None) -> str:
    title = ALGORITHMS[name].title if name in ALGORITHMS else name
    return title if T is None else f"{title}, T={T}"


def replications(
    frame: pd.DataFrame, x: str = "evaluations", y: str = DEFAULT_MEASURE, sweep: float = 1.0
) -> Iterator[tuple[tuple, list[tuple[np.ndarray, np.ndarray]]]]:
    """Each series of a labelled frame, with x and y of each of its replications."""
    check_axes(x, y)
    column = "evaluations" if x == "sweeps" else x
    scale = sweep if x == "sweeps" else 1.0
    if frame.empty:
        return
    series = _series(frame)
    order = np.lexsort((frame["step"], frame["replication"], series))
    series, replication = series[order], frame["replication"].to_numpy()[order]
    x_all, y_all = frame[column].to_numpy(float)[order] / scale, frame[y].to_numpy(float)[order]
    starts = np.flatnonzero(np.diff(series, prepend=-1) | np.diff(replication, prepend=-1))
    ends = np.append(starts[1:], len(order))
    keys = frame[SERIES].iloc[order[starts]].itertuples(index=False, name=None)
    for _, group in groupby(zip(series[starts], keys, starts, ends, strict=True), itemgetter(0)):
        runs = list(group)
        yield runs[0][1], [(x_all[a:b], y_all[a:b]) for _, _, a, b in runs]


def _series(frame: pd.DataFrame) -> np.ndarray:
    """For each row the number of its series, in the order in which they first appear."""
    codes = np.zeros(len(frame), np.int64)
    for name in SERIES:
        values, kinds = pd.factorize(frame[name], use_na_sentinel=False)
        codes = codes * len(kinds) + values
    return pd.factorize(codes)[0]


def check_axes(x: str, y: str) -> None:
    for name, value, known in (("x", x, X_AXES), ("y", y, Y_AXES)):
        if value not in known:
            raise InputError(f"{name} = {value!r}: choose from {', '.join(known)}")


def read_at(x: np.ndarray, y: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The value of the last look at or before each point; nan before the first, after the last."""
    place = np.searchsorted(x, where, side="right") - 1
    inside = (place >= 0) & (where <= x[-1])
    return np.where(inside, y[np.maximum(place, 0)], nan)


# --------------------------------------------------------------------------------------- summaries


def summarise(
    frame: pd.DataFrame,
    x: str = "evaluations",
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    stationary: bool = False,
    points: int = 400,
) -> pd.DataFrame:
    """Mean and 95% interval of each series along x: method, algorithm, T, stationary, x, mean, ….

    `sweep` is the work of one Base E-VI sweep, |S||A|M: the unit of x = "sweeps". Replications that
    looked at different x are read on a common grid of at most `points` points.
    """
    curves = mean_curves(frame, x, y, sweep, stationary, points)
    lengths = [len(curve.x) for curve in curves]
    columns = {
        name: np.repeat(np.array([getattr(curve, name) for curve in curves], object), lengths)
        for name in SERIES
    } | {
        name: np.concatenate([getattr(curve, name) for curve in curves] or [[]])
        for name in ("x", "mean", "low", "high", "n")
    }
    kinds = {"method": "str", "algorithm": "str", "T": "Int64", "stationary": "bool", "n": "int64"}
    return pd.DataFrame(columns).astype(kinds)


@dataclass(frozen=True, eq=False)
class Curve:
    """One series along x: the mean of n replications and the ends of its 95% interval."""

    method: str
    algorithm: str
    T: int | None
    stationary: bool
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray

    def where(self, chosen: np.ndarray) -> Curve:
        """The curve at some of its points only."""
        names = ("x", "mean", "low", "high", "n")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


def mean_curves(
    frame: pd.DataFrame,
    x: str = "evaluations",
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    stationary: bool = False,
    points: int = 400,
) -> list[Curve]:
    """What `summarise` tells, series by series; those without any value are left out."""
    curves = []
    for key, runs in replications(labelled(frame, stationary), x, y, sweep):
        grid = _common_grid(runs, points)
        values = np.array([read_at(*run, grid) for run in runs])
        method, algorithm, T, extra = key
        T = None if pd.isna(T) else int(T)
        curve = Curve(method, algorithm, T, bool(extra), grid, *intervals(values))
        curve = curve.where(curve.n > 0)
        if len(curve.x):
            curves.append(curve)
    return curves


def _common_grid(runs: list[tuple[np.ndarray, np.ndarray]], points: int) -> np.ndarray:
    """Where the replications are read: at their own points if they share them.

    Otherwise from where all have begun to where the first that was not cut short ends: beyond it
    the mean would jump with each replication that drops out.
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


def crossings(x: np.ndarray, y: np.ndarray, level: float) -> float:
    """The first x with y at the level or above; infinity if there is none."""
    reached = np.flatnonzero(y >= level)
    return float(x[reached[0]]) if len(reached) else inf


def work_to_reach(
    frame: pd.DataFrame,
    levels: Sequence[float] = LEVELS,
    x: str = "evaluations",
    sweep: float = 1.0,
    stationary: bool = False,
) -> pd.DataFrame:
    """For each series the work to each share of the optimum, and where it ends.

    `work_90` is the mean, over the replications that get there, of the first look at 90% or more;
    nan where none does. `reached_90` says how many do, of `n`. `final` is the mean of last looks.
    """
    records = []
    for key, runs in replications(labelled(frame, stationary), x, sweep=sweep):
        record = dict(zip(SERIES, key, strict=True), n=len(runs))
        for level in levels:
            found = [w for run in runs if (w := crossings(*run, level)) < inf]
            record[f"work_{level * 100:g}"] = float(np.mean(found)) if found else nan
            record[f"reached_{level * 100:g}"] = len(found)
        record["final"], record["final_low"], record["final_high"], _ = interval(
            [y[-1] for _, y in runs]
        )
        records.append(record)
    return pd.DataFrame(records)
