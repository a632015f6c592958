"""Statistics as tables: the mean curves, and one row per series with its main numbers.

    start   the mean over replications of the first policy's value
    final   the value of the last policy, mean over replications with its 95% interval
    last tenth   the mean over the whole sweeps in the last tenth of the work, then over
            replications, for runs with at least ten whole sweeps. It says where a curve that goes
            up and down has settled; a curve that still rises has left it behind.
    at budget   the value after the work that all runs on a domain have spent
            (`fsdash.runs.summary.compare`), by which methods are ranked
    work    the work after which the mean curve stays at or above a level. A curve that falls below
            the level again has not reached it. Nor has one whose final value is below, or that is
            above for its last one or two policies only: these may be a spike.

A lower level, like a rolling run, is one backward induction, not an iteration: one policy above a
level is enough.

The levels are shares of the optimum. On models without such shares (`fsdash.runs.measures`), start
and final are mean regret, and a level of 75% means that 75% of the initial policy's regret is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf, nan

import numpy as np
import pandas as pd

from fsdash.runs.columns import DEFAULT_MEASURE
from fsdash.runs.measures import RELATIVE, SHARE, main_measure
from fsdash.runs.summary.compare import Sample, budgets_by_domain, curves_by_key
from fsdash.runs.summary.curves import (
    SERIES,
    ColumnArrays,
    MeanCurve,
    Series,
    caution,
    clipped,
    curves_of,
    interval,
    limits,
    mean_curves,
    split,
)

LEVELS = (0.75, 0.9, 0.95)
BACKWARD = ("lower", "rolling")
"""Phases that are one backward induction."""
LAST_SHARE = 0.1
"""The part of the work, at its end, over which whole sweeps are averaged."""
MIN_SWEEPS = 10
"""Whole sweeps that a run needs for this average: then at least one is in the last tenth."""
MIN_POLICIES = 3
"""Policies at the end of a curve that must be at or above a level."""


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
