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
from functools import cache
from math import atan, cos, inf, nan, pi, sin, sqrt

import numpy as np
import pandas as pd

from fsdash.errors import InputError
from fsdash.runs.methods import METHODS

X_AXES = ("evaluations", "sweeps", "seconds")
MEASURES = ("fraction_of_optimal", "mean_return", "max_regret")
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
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return nan, nan, nan, 0
    if not np.isfinite(values).all():
        return float(values.sum()), nan, nan, n
    mean = float(values.mean())
    if n == 1:
        return mean, nan, nan, 1
    half = t_quantile(n - 1) * float(values.std(ddof=1)) / sqrt(n)
    return mean, mean - half, mean + half, n


# ------------------------------------------------------------------------------------------ series


def labelled(frame: pd.DataFrame, stationary: bool = False) -> pd.DataFrame:
    """The frame with its series named: `method`, as a legend calls it, and `stationary`.

    A `method` column that is already there stays: it tells runs apart that differ in a parameter.
    """
    frame = frame.copy()
    if "method" not in frame:
        titles = [
            method_title(name, None if pd.isna(T) else int(T))
            for name, T in zip(frame["algorithm"], frame["T"], strict=True)
        ]
        frame["method"] = pd.Series(titles, index=frame.index, dtype="str")
    extra = (frame["phase"] == "lower") & (frame["policy_kind"] == "stationary")
    frame["stationary"] = extra
    frame.loc[extra, "method"] += STATIONARY
    return frame if stationary else frame[~extra]


def method_title(name: str, T: int | None) -> str:
    title = METHODS[name].title if name in METHODS else name
    return title if T is None else f"{title}, T={T}"


def replications(
    frame: pd.DataFrame, x: str = "evaluations", y: str = "fraction_of_optimal", sweep: float = 1.0
) -> Iterator[tuple[tuple, list[tuple[np.ndarray, np.ndarray]]]]:
    """Each series of a labelled frame, with x and y of each of its replications."""
    check_axes(x, y)
    column = "evaluations" if x == "sweeps" else x
    scale = sweep if x == "sweeps" else 1.0
    for key, series in frame.groupby(SERIES, sort=False, dropna=False):
        runs = []
        for _, run in series.groupby("replication", sort=True):
            run = run.sort_values("step")
            runs.append((run[column].to_numpy(float) / scale, run[y].to_numpy(float)))
        yield key, runs


def check_axes(x: str, y: str) -> None:
    for name, value, known in (("x", x, X_AXES), ("y", y, MEASURES)):
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
    y: str = "fraction_of_optimal",
    sweep: float = 1.0,
    stationary: bool = False,
    points: int = 400,
) -> pd.DataFrame:
    """Mean and 95% interval of each series along x: method, algorithm, T, stationary, x, mean, ….

    `sweep` is the work of one Base E-VI sweep, |S||A|M: the unit of x = "sweeps". Replications that
    looked at different x are read on a common grid of at most `points` points.
    """
    parts = []
    for key, runs in replications(labelled(frame, stationary), x, y, sweep):
        grid = _common_grid(runs, points)
        values = np.array([read_at(*run, grid) for run in runs])
        rows = [interval(column) for column in values.T]
        part = pd.DataFrame(rows, columns=["mean", "low", "high", "n"])
        part.insert(0, "x", grid)
        for place, (name, value) in enumerate(zip(SERIES, key, strict=True)):
            part.insert(place, name, value)
        parts.append(part[part["n"] > 0])
    columns = [*SERIES, "x", "mean", "low", "high", "n"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _common_grid(runs: list[tuple[np.ndarray, np.ndarray]], points: int) -> np.ndarray:
    """Where the replications are read: at their own points if they share them.

    Otherwise from where all have begun to where the first that was not cut short ends: beyond it
    the mean would jump with each replication that drops out.
    """
    places = [x for x, _ in runs]
    grid = np.unique(np.concatenate(places))
    shared = all(np.isin(x, max(places, key=len)).all() for x in places)
    if shared:
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
