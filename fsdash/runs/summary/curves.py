"""The mean of each series along the work axis, with its 95% interval.

Between two evaluated policies, a replication is counted with the earlier one, so a curve is a step
function. A replication that diverged has no value after its last row; n, the number of replications
behind a mean, then decreases along x. Intervals end where values become impossible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fsdash.runs.columns import DEFAULT_MEASURE
from fsdash.runs.measures import possible_range
from fsdash.runs.summary.intervals import clipped, intervals
from fsdash.runs.summary.series import (
    SERIES,
    ReplicationCurve,
    check_axes,
    labelled,
    read_at,
    replications,
    series_rows,
)

COMPLETE = 0.8
"""A replication with at least this share of the rows of the longest one counts as complete."""


def summarise(
    frame: pd.DataFrame,
    x: str = "evaluations",
    *,
    y: str = DEFAULT_MEASURE,
    sweep: float = 1.0,
    stationary: bool = False,
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
    stationary : bool
        Include the stationary policies of unfinished lower levels as series of their own.
    points : int
        Replications with different x are read at common points, at most so many.

    Returns
    -------
    pandas.DataFrame
        Columns method, algorithm, T, stationary, x, mean, low, high and n.

    Examples
    --------
    >>> from fsdash.runs.local import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> frame, _ = run_all([RunSpec("inventory", "e-vi", iterations=2, replications=3)])
    >>> summary = summarise(frame)
    >>> list(summary.columns)
    ['method', 'algorithm', 'T', 'stationary', 'x', 'mean', 'low', 'high', 'n']
    >>> summary["n"].unique().tolist()
    [3]
    """
    curves = mean_curves(frame, x, y=y, sweep=sweep, stationary=stationary, points=points)
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
class MeanCurve:
    """One series along x: the mean of measure y over n replications, and its 95% interval."""

    method: str
    algorithm: str
    T: int | None
    stationary: bool
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
    stationary: bool = False,
    points: int = 400,
) -> list[MeanCurve]:
    """The curves that `summarise` puts in a table; series without any value are left out."""
    check_axes(x, y)
    curves = []
    rows = labelled(frame, stationary)
    positions = (np.concatenate(runs) for _, runs in series_rows(rows))
    named = zip(replications(rows, x, y=y, sweep=sweep), positions, strict=True)
    for (key, runs), own in named:
        limits = possible_range(rows.iloc[own], y)
        grid = _common_grid(runs, points)
        values = np.array([read_at(x_R, y_R, grid) for x_R, y_R in runs])
        method, algorithm, T, extra = key
        T = None if T is None or pd.isna(T) else int(T)
        mean, low, high, n = intervals(values)
        ends = clipped(mean, low, high, limits)
        curve = MeanCurve(method, algorithm, T, bool(extra), y, grid, mean, *ends, n)
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
