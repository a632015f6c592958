"""Which measure of a policy the views show: one rule for all of them.

The share of the optimum, mean return ÷ optimal mean return, has a meaning only if the optimal mean
return is positive. On other models, for example where every reward is a cost, the views show

    mean regret        optimal mean return − mean return, at least 0
    relative regret    mean regret ÷ mean regret of the initial policy

The initial policy maximises the immediate reward: it is greedy for zero, where algorithms start.
Learning curves, tables, the inspector, the Runs page and the command line ask `main_measure`. If
runs of several models are shown together, all of them must have a share.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import lru_cache
from math import inf, isnan, nan

import numpy as np
import pandas as pd

from fsdash.domains import Domain
from fsdash.runs.columns import BY_NAME, DEFAULT_MEASURE, MEASURES

Table = pd.DataFrame | Mapping[str, np.ndarray]
"""Rows as a frame, or its columns as arrays."""
SHARE, REGRET, RELATIVE = DEFAULT_MEASURE, "mean_regret", "relative_regret"
FALLBACKS = (SHARE, REGRET, "max_regret")
"""Rows that were recorded by an earlier version have no mean regret."""

LOWEST = "lowest_return"
"""Column that a view may add: `lowest_return` of each row's domain."""
MAX_ENTRIES = 1_000_000
"""Entries of a table that is built to find the lowest return."""
SAME_OPTIMUM = 0.01
"""Relative difference of optima that rounding explains."""


def share_of_optimum(mean_return: float, optimal_return: float, error: float = 0.0) -> float:
    """The share of the optimum, or NaN if the optimal mean return is not positive.

    `error` is the certified error of the optimal mean return: within it, the sign is unknown.

    Examples
    --------
    >>> share_of_optimum(0.25, 0.5), share_of_optimum(-2.0, -1.0)
    (0.5, nan)
    """
    return mean_return / optimal_return if optimal_return > error else nan


def main_measure(frame: pd.DataFrame) -> str:
    """The measure that views of these rows show: the share of the optimum if all rows have it."""
    return next((name for name in FALLBACKS if frame[name].notna().all()), "mean_return")


def shown_measures(frame: pd.DataFrame) -> tuple[str, ...]:
    """The measures in a summary of these rows, the main one first.

    Regret and relative regret replace the share of the optimum where it has no meaning. Measures
    without any value are left out.
    """
    main = main_measure(frame)
    other = (REGRET, RELATIVE) if main == SHARE else (SHARE,)
    names = [c.name for c in MEASURES if c.name not in other and frame[c.name].notna().any()]
    return tuple(sorted(names, key=lambda name: (name != main, name != RELATIVE)))


def drawable_measures(frame: pd.DataFrame) -> tuple[str, ...]:
    """The measures that a learning curve of these rows can show, the main one first."""
    if frame.empty:
        return tuple(column.name for column in MEASURES)
    names = [column.name for column in MEASURES if frame[column.name].notna().all()]
    main = main_measure(frame)
    return tuple(sorted({*names, main}, key=lambda name: (name != main, _place(name))))


def _place(name: str) -> int:
    return [column.name for column in MEASURES].index(name)


def with_regret(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the mean regret also in rows of an earlier version, where a share gives it."""
    for name in (REGRET, RELATIVE):
        if name not in frame:
            frame = frame.assign(**{name: nan})
    missing = frame[REGRET].isna() & frame[SHARE].ne(0) & frame[SHARE].notna()
    if not missing.any():
        return frame
    regret = (frame["mean_return"] / frame[SHARE] - frame["mean_return"]).clip(lower=0)
    return frame.assign(**{REGRET: frame[REGRET].where(~missing, regret)})


def optimal_return(frame: Table) -> float:
    """The optimal mean return, computed from the rows.

    NaN if they do not tell, or if they are about models whose optima differ.
    """
    returns, regrets, shares = (
        np.asarray(frame[name], float) for name in ("mean_return", REGRET, SHARE)
    )
    optima_of_rows = returns + regrets
    if np.isnan(optima_of_rows).all():
        optima_of_rows = np.divide(
            returns, shares, out=np.full(len(optima_of_rows), nan), where=shares != 0
        )
    has_optimum = ~np.isnan(optima_of_rows)
    models, optima_of_rows = (
        np.asarray(frame[_model_column(frame)])[has_optimum],
        optima_of_rows[has_optimum],
    )
    optima = [np.median(optima_of_rows[models == model]) for model in pd.unique(models)]
    if not optima or np.ptp(optima) > SAME_OPTIMUM * np.abs(optima).max():
        return nan
    return float(np.median(optima))


def _model_column(frame: Container[str]) -> str:
    """The column that distinguishes models at least as far as their optima differ."""
    return "run" if "run" in frame else "domain"


def range_columns(frame: Container[str]) -> list[str]:
    """The columns that `possible_range` reads."""
    names = [_model_column(frame), "mean_return", REGRET, SHARE]
    return [*names, LOWEST] if LOWEST in frame else names


def optimal_value(frame: Table, measure: str) -> float:
    """The value of the optimal policy in a measure; NaN if it is unknown."""
    return optimal_return(frame) if measure == "mean_return" else BY_NAME[measure].optimal_value


@lru_cache(maxsize=256)
def lowest_return(domain: Domain) -> float:
    """A mean return that no policy is below, r_min/(1 − γ); −∞ for large models."""
    if domain.entries > MAX_ENTRIES:
        return -inf
    return domain.build().reward_range[0] / (1 - domain.gamma)


def possible_range(frame: Table, measure: str) -> tuple[float, float]:
    """The values that a measure can have.

    No policy is better than the optimal one. If the frame has a column `lowest_return`, none is
    below that either.
    """
    best, lowest = optimal_value(frame, measure), -inf
    if LOWEST in frame and not np.isnan(frame[LOWEST]).any():
        lowest = float(np.min(frame[LOWEST]))
    if measure == SHARE:
        lowest /= optimal_return(frame)
    elif measure == REGRET:
        lowest = lowest - optimal_return(frame)
    elif measure != "mean_return":
        lowest = -inf
    if BY_NAME[measure].lower_is_better:
        return _known(best, -inf), _known(-lowest, inf)
    return _known(lowest, -inf), _known(best, inf)


def _known(value: float, otherwise: float) -> float:
    return otherwise if isnan(value) else value
