"""Means, intervals and levels against values computed by hand."""

from math import atan, cos, inf, isnan, pi, sin, sqrt, tan

import numpy as np
import pandas as pd
import pytest

from fsdash.errors import InputError
from fsdash.runs.columns import NAMES
from fsdash.runs.records import method_title
from fsdash.runs.summary import (
    first_crossing,
    interval,
    read_at,
    replications,
    summarise,
    t_quantile,
    work_to_reach,
)


def rows(
    algorithm, replication, evaluations, worth, T=None, phase="base", kind="stationary", first=0
):
    """One replication as engine rows, from step `first` on; the optimum is worth 200."""
    return [
        {
            "domain": "inventory",
            "algorithm": algorithm,
            "T": T,
            "replication": replication,
            "step": step,
            "phase": phase,
            "iteration": step,
            "evaluations": e,
            "seconds": e / (50 + replication),
            "mean_return": 200 * w,
            "fraction_of_optimal": w,
            "max_regret": 100 * (1 - w),
            "policy_kind": kind,
        }
        for step, (e, w) in enumerate(zip(evaluations, worth, strict=True), first)
    ]


def frame(*parts):
    return pd.DataFrame([row for part in parts for row in part], columns=list(NAMES)).astype(
        {"T": "Int64"}
    )


TWO = frame(
    rows("e-vi", 0, [0, 100, 200], [0.0, 0.5, 0.8]),
    rows("e-vi", 1, [0, 100, 200], [0.2, 0.7, 1.0]),
)


def probability_within(t, freedom):
    """P(|X| < t) for Student's t, as a finite sum of cosines.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for j in range(odd, freedom - 1, 2):
        total += term
        term *= cos(angle) ** 2 * (j + 1) / (j + 2)
    return 2 * (angle + sin(angle) * total) / pi if odd else sin(angle) * total


@pytest.mark.parametrize("freedom", [*range(1, 31), 100, 999])
def test_the_quantile_is_that_of_students_t(freedom):
    t = t_quantile(freedom)
    assert probability_within(t - 1e-12 * t, freedom) < 0.95 + 1e-14
    assert probability_within(t + 1e-12 * t, freedom) > 0.95 - 1e-14


@pytest.mark.parametrize(("freedom", "exact"), [(1, tan(0.475 * pi)), (2, 0.95 / sqrt(0.04875))])
def test_the_quantile_equals_its_closed_form(freedom, exact):
    assert t_quantile(freedom) == pytest.approx(exact, rel=1e-12)


def test_the_interval_of_five_values():
    mean, low, high, n = interval([1, 2, 3, 4, 5])
    half = 2.7764451 * np.sqrt(2.5) / np.sqrt(5)
    assert (mean, n) == (3, 5)
    assert (low, high) == pytest.approx((3 - half, 3 + half))


def test_intervals_of_few_equal_and_infinite_values():
    assert interval([])[3] == 0
    mean, low, high, n = interval([2.0, np.nan])
    assert (mean, n) == (2.0, 1) and isnan(low) and isnan(high)
    assert interval([4.0, 4.0, 4.0])[:3] == (4.0, 4.0, 4.0)
    assert interval([1.0, inf])[0] == inf
    with pytest.raises(InputError, match="freedom"):
        t_quantile(0)


def test_means_at_shared_points():
    found = summarise(TWO)
    assert found["x"].tolist() == [0, 100, 200]
    assert found["mean"].tolist() == pytest.approx([0.1, 0.6, 0.9])
    half = tan(0.475 * pi) * np.std([0.5, 0.7], ddof=1) / np.sqrt(2)
    assert found["low"][1] == pytest.approx(0.6 - half)
    assert set(found["method"]) == {"Base E-VI"} and set(found["n"]) == {2}


def test_sweeps_are_evaluations_in_another_unit():
    assert summarise(TWO, "sweeps", sweep=100)["x"].tolist() == [0, 1, 2]


def test_a_diverged_replication_counts_until_its_last_row():
    found = summarise(
        frame(rows("e-qi", 0, [0, 100, 200], [0, 0.5, 0.8]), rows("e-qi", 1, [0, 100], [0.2, 0.7]))
    )
    assert found["n"].tolist() == [2, 2, 1]
    assert found["mean"].tolist() == pytest.approx([0.1, 0.6, 0.8])
    assert isnan(found["low"].iloc[-1])


def test_seconds_are_read_as_step_functions_at_common_points():
    found = summarise(TWO, "seconds")
    # 100 evaluations are 2 s in replication 0 and 100/51 s in replication 1, which ends first.
    assert found["x"].tolist() == pytest.approx([0, 100 / 51, 2, 200 / 51])
    assert found["mean"].tolist() == pytest.approx([0.1, 0.35, 0.6, 0.75])
    assert set(found["n"]) == {2}


def test_reading_before_between_and_after_the_rows():
    x, y = np.array([1.0, 2.0, 2.0, 4.0]), np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(
        read_at(x, y, np.array([0.5, 1, 1.9, 2, 3.9, 4, 4.1])),
        [np.nan, 0.1, 0.1, 0.3, 0.3, 0.4, np.nan],
    )


def test_the_policy_greedy_for_J_is_a_series_of_its_own():
    lower = frame(
        rows("e-fsvi", 0, [1, 2], [0.1, 0.2], 6, "lower", "cyclic"),
        rows("e-fsvi", 0, [1, 2], [0.7, 0.9], 6, "lower", "stationary"),
        rows("e-fsvi", 0, [3, 4], [0.3, 0.4], 6, "upper", "periodic", 2),
    )
    assert summarise(lower)["mean"].tolist() == [0.1, 0.2, 0.3, 0.4]
    both = summarise(lower, lower_policies=("stationary",)).groupby("method")["mean"].apply(list)
    assert both["E-FSVI, T=6, greedy for J"] == [0.7, 0.9]
    assert both["E-FSVI, T=6"] == [0.1, 0.2, 0.3, 0.4]


def test_rolling_policies_of_a_lower_level_are_a_series_of_their_own():
    rolled = rows("e-fsvi", 0, [1, 2], [0.6, 0.8], 6, "lower", "rolling")
    own = rows("e-rolling", 0, [1, 2], [0.5, 0.9], 6, "rolling", "rolling")
    lower = frame(rows("e-fsvi", 0, [1, 2], [0.1, 0.2], 6, "lower", "cyclic"), rolled, own)
    by_method = {"E-FSVI, T=6": [0.1, 0.2], "E-Rolling, n=6": [0.5, 0.9]}
    assert summarise(lower).groupby("method")["mean"].apply(list).to_dict() == by_method
    found = summarise(lower, lower_policies=("rolling",))
    by_method["E-FSVI, T=6, rolling"] = [0.6, 0.8]
    assert found.groupby("method")["mean"].apply(list).to_dict() == by_method
    assert set(found["policy"]) == {"own", "rolling"}
    # A rolling method is one backward induction: its final value is its last policy's.
    finals = work_to_reach(lower, [0.9]).set_index("method")
    assert finals.loc["E-Rolling, n=6", "final"] == 0.9
    assert finals.loc["E-Rolling, n=6", "work_90"] == 2


def test_a_stationary_base_policy_is_not_left_out():
    assert sum(len(series.rows) for series, _ in replications(TWO)) == len(TWO)
    assert method_title("e-fsvi", 12) == "E-FSVI, T=12"


def test_a_method_column_distinguishes_equal_algorithms():
    split = pd.concat([TWO.assign(method="MPI, m=2"), TWO.assign(method="MPI, m=5")])
    assert set(summarise(split)["method"]) == {"MPI, m=2", "MPI, m=5"}


def test_a_series_of_nan_is_left_out():
    assert summarise(TWO.assign(fraction_of_optimal=np.nan)).empty


def test_the_work_to_reach_a_level():
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.9, 0.4])
    assert first_crossing(x, y, 0.9) == 1.0
    assert first_crossing(x, y, 0.95) == inf
    four = frame(
        rows("e-vi", 0, [0, 100, 200, 300], [0.0, 0.5, 0.8, 0.8]),
        rows("e-vi", 1, [0, 100, 200, 300], [0.2, 0.7, 1.0, 1.0]),
    )
    [found] = work_to_reach(four, (0.5, 0.9, 1.01), x="sweeps", sweep=100).to_dict("records")
    # The means are 0.1, 0.6, 0.9 and 0.9; two policies above a level are not enough.
    assert (found["start"], found["work_50"], found["n"]) == (pytest.approx(0.1), 1.0, 2)
    assert found["final"] == pytest.approx(0.9)
    assert isnan(found["work_90"]) and isnan(found["work_101"])


def test_unknown_axes_are_refused():
    with pytest.raises(InputError, match="x = 'hours'"):
        summarise(TWO, "hours")
    with pytest.raises(InputError, match="y = 'luck'"):
        summarise(TWO, y="luck")
