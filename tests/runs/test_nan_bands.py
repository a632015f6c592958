"""Means and 95% bands where some replications have no value (NaN), by hand."""

from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest

from fsdash.figures.learning import learning_figure
from fsdash.runs.columns import NAMES
from fsdash.runs.summary import interval, intervals, summarise, t_quantile

GRID = [100, 200, 300, 400, 500]
WORTH = [
    [0.40, 0.45, 0.50, 0.55, 0.60],
    [0.41, nan, 0.51, nan, 0.62],
    [0.42, 0.49, nan, nan, 0.61],
]
"""Three replications. The mean at 400 is that of one replication, so it has no interval."""


def frame(worth=WORTH):
    rows = [
        {
            "domain": "inventory",
            "algorithm": "e-vi",
            "replication": replication,
            "step": step,
            "phase": "base",
            "iteration": step,
            "evaluations": GRID[step],
            "seconds": GRID[step] / 100,
            "mean_return": 500 * w,
            "fraction_of_optimal": w,
            "max_regret": 9 * (1 - w),
            "policy_kind": "stationary",
        }
        for replication, values in enumerate(worth)
        for step, w in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=list(NAMES)).astype({"T": "Int64"})


def test_each_column_is_averaged_over_its_known_values():
    values_RG = np.array([[1, nan, nan, 4, nan], [3, 2, nan, nan, nan], [8, 6, 5, nan, nan]])
    mean_G, low_G, high_G, n_G = intervals(values_RG)
    np.testing.assert_array_equal(n_G, [3, 2, 1, 1, 0])
    np.testing.assert_array_equal(mean_G, [4, 4, 5, 4, nan])
    # Deviations −3, −1, 4 with two degrees of freedom, and −2, 2 with one.
    half = [t_quantile(2) * sqrt(26 / 2) / sqrt(3), t_quantile(1) * sqrt(8 / 1) / sqrt(2)]
    np.testing.assert_allclose(high_G - mean_G, [*half, nan, nan, nan], rtol=1e-14)
    np.testing.assert_allclose(mean_G - low_G, [*half, nan, nan, nan], rtol=1e-14)


def test_a_missing_value_does_not_change_the_interval_of_the_others():
    known = [0.3, 0.7, 0.4]
    assert interval([nan, 0.3, 0.7, nan, 0.4]) == pytest.approx(interval(known), rel=1e-14)


def test_a_curve_has_a_band_wherever_two_replications_have_a_value():
    found = summarise(frame())
    assert found["x"].tolist() == GRID
    assert found["n"].tolist() == [3, 2, 2, 1, 3]
    assert found["mean"].tolist() == pytest.approx([0.41, 0.47, 0.505, 0.55, 0.61])
    assert found["low"].isna().tolist() == found["high"].isna().tolist()
    assert found["low"].isna().tolist() == [False, False, False, True, False]
    for x, known in ((100, (0.40, 0.41, 0.42)), (500, (0.60, 0.62, 0.61))):
        half = t_quantile(2) * np.std(known, ddof=1) / sqrt(3)
        [row] = found[found["x"] == x].to_dict("records")
        assert (row["low"], row["high"]) == pytest.approx((row["mean"] - half, row["mean"] + half))


def test_the_band_is_interrupted_where_there_is_no_interval():
    worth = np.array([[0.5, 0.6, 0.7, 0.8, 0.9], [0.51, 0.61, nan, 0.81, 0.91], [0.52] * 5])
    worth[2, 1:] = worth[0, 1:] + 0.02
    worth[2, 2] = nan
    figure = learning_figure(frame(worth), "evaluations", "fraction_of_optimal", log_x=False)
    [band] = [trace for trace in figure.data if trace.fill]
    found = summarise(frame(worth))
    low, high = found["low"].tolist(), found["high"].tolist()
    assert np.isnan(low[2])
    upper, lower = [100, 200, 200], [200, 200, 100]  # a step at 200, there and back
    assert list(band.x) == [*upper, *lower, None, 400, 500, 500, 500, 500, 400, None]
    assert list(band.y) == [
        *(high[0], high[0], high[1], low[1], low[0], low[0], None),
        *(high[3], high[3], high[4], low[4], low[3], low[3], None),
    ]


def test_a_single_point_between_two_gaps_has_no_band():
    worth = np.array([[0.5, 0.6, 0.7, 0.8, 0.9], [0.51, nan, 0.71, nan, 0.91]])
    [band] = [
        t
        for t in learning_figure(frame(worth), y="fraction_of_optimal", log_x=False).data
        if t.fill
    ]
    assert not band.x and not band.y


def test_a_gap_of_several_points_has_no_band():
    worth = np.array([[0.5, 0.6, 0.7, 0.8, 0.9], [0.51, 0.61, nan, nan, 0.91]])
    figure = learning_figure(frame(worth), "evaluations", "fraction_of_optimal", log_x=False)
    [band] = [trace for trace in figure.data if trace.fill]
    assert list(band.x) == [100, 200, 200, 200, 200, 100, None]
