"""The axes of learning curves: their ticks and ranges, by hand."""

from math import log10

import pandas as pd
import pytest

from fsdash.figures.learning import learning_figure
from fsdash.runs.columns import NAMES


def frame(evaluations, start=0.5):
    rows = [
        {
            "domain": "inventory",
            "algorithm": "vi",
            "replication": 0,
            "step": step,
            "phase": "base",
            "iteration": step,
            "evaluations": e,
            "seconds": e / 1000,
            "mean_return": 500 * (start + 0.01 * step),
            "fraction_of_optimal": start + 0.01 * step,
            "max_regret": 9.0 - step,
            "policy_kind": "stationary",
        }
        for step, e in enumerate(evaluations)
    ]
    return pd.DataFrame(rows, columns=list(NAMES)).astype({"T": "Int64"})


def x_axis(evaluations, x="sweeps", **options):
    return learning_figure(frame(evaluations), x, sweep=100, **options).layout.xaxis


@pytest.mark.parametrize(
    ("evaluations", "ticks"),
    [
        ([0, 10, 1000, 4000], ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]),
        ([0, 100, 200, 500], ["1", "2", "5"]),
        ([100, 1_000_000], ["1", "10", "100", "1,000", "10,000"]),
        ([0, 300], []),  # a single point at 3 sweeps
    ],
)
def test_sweeps_have_ticks_at_round_numbers(evaluations, ticks):
    axis = x_axis(evaluations)
    assert (axis.type, axis.tickmode) == ("log", "array")
    assert list(axis.ticktext) == ticks
    assert list(axis.tickvals) == [float(tick.replace(",", "")) for tick in ticks]


def test_seconds_have_ticks_at_round_numbers_of_seconds():
    axis = x_axis([100, 1000, 2000], "seconds")
    assert list(axis.tickvals) == [0.1, 0.2, 0.5, 1, 2]


def test_evaluations_have_a_tick_at_each_power_of_ten():
    axis = x_axis([100, 1000, 2000], "evaluations")
    assert (axis.tickmode, axis.dtick, axis.exponentformat) == ("linear", 1, "power")
    assert axis.tickvals is None


def test_the_range_has_a_margin_of_one_fiftieth():
    low, high = x_axis([0, 10, 1000, 4000]).range
    width = log10(40) - log10(0.1)
    assert (low, high) == pytest.approx((-1 - 0.02 * width, log10(40) + 0.02 * width))
    # A single point gets a range too.
    assert x_axis([300]).range == pytest.approx((log10(3) - 0.1, log10(3) + 0.1))


def test_a_linear_axis_leaves_its_ticks_to_the_chart():
    axis = x_axis([0, 100, 200], log_x=False)
    assert axis.type == "linear" and axis.tickvals is None and axis.range is None


def test_shares_have_ticks_in_per_cent():
    assert learning_figure(frame([0, 100])).layout.yaxis.tickformat == ".0%"


@pytest.mark.parametrize(
    ("shares", "low", "labels"),
    [
        ([-0.1, 0.5, 0.9], -0.15, []),
        ([-8.34, -3.09, 0.9], -0.25, ["Base VI: lowest −834%, off the scale"]),
        ([-8.34, -3.09, -2.0], -2.05, ["Base VI: lowest −834%, off the scale"]),
        ([0.9, -0.5, -2.0], -2.05, []),
    ],
)
def test_low_shares_are_off_the_scale_unless_a_curve_ends_there(shares, low, labels):
    rows = frame([10, 100, 200]).assign(fraction_of_optimal=shares)
    layout = learning_figure(rows).layout
    assert layout.yaxis.range == pytest.approx((low, 1.07))
    assert [a.text for a in layout.annotations if a.text != "optimum"] == labels
