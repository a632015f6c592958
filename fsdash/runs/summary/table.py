"""Statistics as tables: the mean curves, and one row per series with its main numbers.

    start   the mean over replications of the first policy's value
    final   the mean over the whole sweeps in the last tenth of the work, at least three of them,
            then over replications. Policies inside a sweep do not count.
    work    the work after which the mean curve stays at or above a level. A curve that falls below
            the level again has not reached it. Nor has one whose final value is below, or that is
            above for its last one or two policies only: these may be a spike.

A lower level, like a rolling run, is one backward induction, not an iteration: what it ends with is
its last policy, and one policy above a level is enough.

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
from fsdash.runs.summary.curves import (
    SERIES,
    ColumnArrays,
    MeanCurve,
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
"""The final value is the mean over this share of the work, at its end."""
MIN_SWEEPS = 3
"""Whole sweeps in the final value, if the run has so many."""
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


def final_value(
    y: np.ndarray, evaluations: np.ndarray, iteration: np.ndarray, phase: np.ndarray
) -> float:
    """The mean of y over the whole sweeps in the last tenth of one replication's work.

    Parameters
    ----------
    y, evaluations, iteration, phase : np.ndarray
        Columns of one replication and one kind of policy, in the order in which they were recorded.

    Returns
    -------
    float
        The mean over at least three whole sweeps, or all if there are fewer; the last value if no
        sweep of the base model or the upper level is complete.
    """
    new = np.append(True, (np.diff(iteration) != 0) | (phase[1:] != phase[:-1]))
    whole = np.flatnonzero(new & (iteration > 0) & ~np.isin(phase.astype(str), BACKWARD))
    if not len(whole):
        return float(y[-1])
    late = whole[evaluations[whole] >= (1 - LAST_SHARE) * evaluations[-1]]
    return float(y[late if len(late) >= MIN_SWEEPS else whole[-MIN_SWEEPS:]].mean())


def final_values(frame: pd.DataFrame, runs: Sequence[np.ndarray], y: str) -> list[float]:
    """`final_value` of each replication; `runs` are the positions of its rows in the frame."""
    return _final_values(ColumnArrays(frame), runs, y)


def _final_values(columns: ColumnArrays, runs: Sequence[np.ndarray], y: str) -> list[float]:
    chosen = [columns[name] for name in (y, "evaluations", "iteration", "phase")]
    return [final_value(*(values[rows] for values in chosen)) for rows in runs]


def work_to_reach(
    frame: pd.DataFrame,
    levels: Sequence[float] = LEVELS,
    *,
    x: str = "evaluations",
    sweep: float = 1.0,
    lower_policies: Collection[str] = (),
) -> pd.DataFrame:
    """The starting value of each series, the work that it needs to reach levels, its final value.

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
        it ends below, `start_work` if it is never below). `final_low` and
        `final_high` are the 95% interval of `final`; `relative` is the final relative regret.

    Examples
    --------
    >>> from fsdash.runs.local import run_all
    >>> from fsdash.runs.spec import RunSpec
    >>> frame, _ = run_all([RunSpec("inventory", "vi", iterations=300)])
    >>> table = work_to_reach(frame, [0.9])
    >>> table[["method", "n", "start", "final"]].round(2).to_dict("records")
    [{'method': 'VI', 'n': 1, 'start': 0.03, 'final': 1.0}]
    """
    measure = main_measure(frame)
    progress = SHARE if measure == SHARE else RELATIVE
    columns = ColumnArrays(frame)
    found = split(columns, lower_policies)
    curves = curves_of(columns, found, x, y=progress, sweep=sweep)
    curve_of = {(curve.method, curve.policy): curve for curve in curves}
    backward = np.isin(columns["phase"].astype(str), BACKWARD)
    records = []
    for series in found:
        curve = curve_of.get((series.method, series.policy))
        mean, low, high, n = interval(_final_values(columns, series.runs, measure))
        ends = np.array(mean), np.array(low), np.array(high)
        low, high = map(float, clipped(*ends, limits(columns, series, measure)))
        relative = float(np.mean(_final_values(columns, series.runs, RELATIVE)))
        reached = mean if measure == SHARE else 1 - relative
        points = 1 if backward[series.rows].all() else MIN_POLICIES
        records.append(
            {
                **{name: getattr(series, name) for name in SERIES},
                "n": n,
                "measure": measure,
                "start": float(np.mean([columns[measure][run[0]] for run in series.runs])),
                "start_work": float(curve.x[0]) if curve is not None else nan,
                **{
                    f"work_{level * 100:g}": _work(curve, level, reached, points)
                    for level in levels
                },
                "final": mean,
                "final_low": low,
                "final_high": high,
                "relative": relative,
            }
        )
    return pd.DataFrame(records)


def _work(curve: MeanCurve | None, level: float, final: float, points: int) -> float:
    """The work after which the mean curve stays at a level; NaN if it does not, or ends below."""
    if curve is None or not final >= level:
        return nan
    regret = curve.y == RELATIVE
    work = lasting_crossing(curve.x, 1 - curve.mean if regret else curve.mean, level, points)
    return work if work < inf else nan
