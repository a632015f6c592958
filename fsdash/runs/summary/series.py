"""Which rows of a run make one curve, and which of them are at whole sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import nan
from operator import itemgetter

import numpy as np
import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.errors import InputError
from fsdash.runs.columns import DEFAULT_MEASURE, MEASURES, WORK

X_AXES = (*(column.name for column in WORK), "sweeps")
Y_AXES = tuple(column.name for column in MEASURES)
STATIONARY = ", greedy for J"
"""Added to the name of a method's stationary series."""
SERIES = ["method", "algorithm", "T", "stationary"]
ITERATION = ["run", "method", "algorithm", "T", "replication", "phase", "policy_kind", "iteration"]
"""The columns that identify an iteration, where a frame has them."""

ReplicationCurve = tuple[np.ndarray, np.ndarray]
"""x and y of one replication."""
SeriesKey = tuple[str, str, int | None, bool]
"""The values of the columns `SERIES`."""


def labelled(frame: pd.DataFrame, stationary: bool = False) -> pd.DataFrame:
    """The rows of all curves, with the columns `method`, the name in a legend, and `stationary`.

    An existing `method` column is used: it distinguishes runs that differ in a parameter. Policies
    inside a sweep are left out for algorithms whose curves are drawn at whole sweeps.
    """
    extra = ((frame["phase"] == "lower") & (frame["policy_kind"] == "stationary")).to_numpy()
    kept = _drawn(frame) if stationary else _drawn(frame) & ~extra
    if not kept.all():
        frame, extra = frame[kept], extra[kept]
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
    """The name of a method in a legend, such as "E-FSVI, T=6"."""
    title = ALGORITHMS[name].title if name in ALGORITHMS else name
    return title if T is None else f"{title}, T={T}"


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


def series_rows(frame: pd.DataFrame) -> Iterator[tuple[SeriesKey, list[np.ndarray]]]:
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
    check_axes(x, y)
    column = "evaluations" if x == "sweeps" else x
    scale = sweep if x == "sweeps" else 1.0
    x_all, y_all = frame[column].to_numpy(float) / scale, frame[y].to_numpy(float)
    for key, runs in series_rows(frame):
        yield key, [(x_all[rows], y_all[rows]) for rows in runs]


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
