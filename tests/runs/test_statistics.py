"""The statistics of runs on curves made by hand: no peak, no spike and no start may mislead."""

from math import inf, isnan, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.cli.runs import summarize
from fsdash.domains import make
from fsdash.runs.columns import NAMES
from fsdash.runs.measures import (
    drawable_measures,
    lowest_return,
    main_measure,
    optimal_return,
    possible_range,
    shown_measures,
    with_regret,
)
from fsdash.runs.runner import run_all
from fsdash.runs.spec import RunSpec
from fsdash.runs.summary import (
    Sample,
    caution,
    difference,
    interval,
    last_tenth,
    lasting_crossing,
    mean_curves,
    summarise,
    whole_sweeps,
    work_to_reach,
)

SWEEP = 100
"""Evaluations in one sweep."""


def curve(shares, *, per_sweep=1, replication=0, algorithm="e-vi", optimum=200.0, **columns):
    """One replication with `per_sweep` policies in each sweep, the first one before any work."""
    steps = np.arange(len(shares))
    shares = np.asarray(shares, float)
    share = shares if optimum > 0 else np.full(len(shares), nan)
    regret = abs(optimum) * (1 - shares)
    data = {
        "domain": "inventory",
        "algorithm": algorithm,
        "T": None,
        "replication": replication,
        "step": steps,
        "phase": "base",
        "iteration": steps // per_sweep,
        "evaluations": steps * SWEEP // per_sweep,
        "seconds": steps / 10,
        "mean_return": optimum - regret,
        "fraction_of_optimal": share,
        "mean_regret": regret,
        "relative_regret": regret / abs(optimum),
        "max_regret": 2 * regret,
        "policy_kind": "stationary",
    }
    return pd.DataFrame(data | columns, columns=list(NAMES)).astype({"T": "Int64"})


def statistics(*frames, levels=(0.75,), **options):
    table = work_to_reach(pd.concat(frames), levels, x="sweeps", sweep=SWEEP, **options)
    [record] = table.to_dict("records")
    return record


# ---------------------------------------------------------------------------- four hand-made curves


def test_a_constant_curve_starts_and_ends_at_its_value():
    found = statistics(curve([0.8] * 31))
    assert found["start"] == found["final"] == pytest.approx(0.8)
    assert found["work_75"] == found["start_work"] == 0  # it never was below


def test_a_spike_is_neither_the_final_value_nor_reaches_a_level():
    shares = np.full(41, 0.5)
    shares[20] = 0.99
    found = statistics(curve(shares))
    assert found["final"] == pytest.approx(0.5) and isnan(found["work_75"])


def test_a_spike_at_the_end_does_not_reach_a_level():
    shares = np.full(41, 0.5)
    shares[-1] = 0.99
    found = statistics(curve(shares))
    assert found["final"] == pytest.approx(0.99) and isnan(found["work_75"])
    assert found["last_tenth"] == pytest.approx((4 * 0.5 + 0.99) / 5)  # sweeps 36 to 40


def test_a_peak_inside_a_sweep_does_not_count():
    # Three policies per sweep; those inside a sweep are much better than those at its end.
    shares = np.tile([0.6, 0.9, 0.98], 20)[:-2]
    found = statistics(curve(shares, per_sweep=3))
    assert found["last_tenth"] == pytest.approx(0.6) and isnan(found["work_75"])


def test_the_last_policy_counts_also_inside_a_sweep():
    shares = [0.1, 0.2, 0.2, 0.4, 0.2, 0.2, 0.6, 0.2, 0.2, 0.8, 0.99]
    assert statistics(curve(shares, per_sweep=3))["final"] == pytest.approx(0.99)


def test_an_oscillation_settles_at_its_mean_and_reaches_what_it_never_leaves():
    for shares in (np.tile([0.7, 0.9], 50), np.tile([0.9, 0.7], 50)):
        found = statistics(curve(shares), levels=(0.65, 0.75, 0.85))
        assert found["last_tenth"] == pytest.approx(0.8, abs=0.01)
        assert found["final"] == shares[-1]
        assert found["work_65"] == 0
        assert isnan(found["work_75"]) and isnan(found["work_85"])  # also if it ends on 0.9


def test_a_fall_after_a_peak_loses_the_level():
    rise, fall = np.linspace(0.1, 0.95, 20), np.linspace(0.95, 0.4, 30)
    found = statistics(curve([*rise, *fall]))
    assert isnan(found["work_75"])
    assert found["last_tenth"] == pytest.approx(np.mean([*rise, *fall][-5:]))
    assert found["final"] == pytest.approx(0.4)


def test_a_level_counts_from_where_the_curve_stays_above():
    shares = [0.1, 0.8, 0.3, 0.7, 0.76, 0.8, 0.9, 0.9]
    assert statistics(curve(shares))["work_75"] == 4
    x = np.arange(8.0)
    assert lasting_crossing(x, np.array(shares), 0.75) == 4
    assert lasting_crossing(x, np.array(shares), 0.95) == inf


def test_the_mean_curve_decides_not_single_replications():
    up, down = [0.2, 0.9, 0.9, 0.9, 0.9, 0.9], [0.2, 0.5, 0.5, 0.7, 0.7, 0.7]
    found = statistics(curve(up), curve(down, replication=1))
    assert found["work_75"] == 3  # the means are 0.2, 0.7, 0.7, 0.8, 0.8, 0.8
    assert found["start"] == pytest.approx(0.2)


# ---------------------------------------------------------------------------------- the final value


@pytest.mark.parametrize("sweeps", [1, 3, 9, 10, 12, 100])
def test_the_final_value_is_that_of_the_last_policy_however_long_the_run_is(sweeps):
    """An average over the last tenth is a number of its own, from ten whole sweeps on."""
    numbers = np.arange(sweeps + 1.0)
    found = statistics(curve(numbers / 100))
    assert found["final"] == pytest.approx(sweeps / 100)
    late = numbers[numbers >= 0.9 * sweeps]
    expected = np.mean(late) / 100 if sweeps >= 10 else nan
    assert found["last_tenth"] == pytest.approx(expected, nan_ok=True)


def test_a_long_run_is_averaged_over_its_last_tenth():
    numbers = np.arange(101.0)
    base = np.full(101, "base")
    found = last_tenth(numbers, SWEEP * numbers, numbers.astype(int), base)
    assert found == np.mean(np.arange(90, 101))


def test_the_final_value_has_the_interval_of_the_last_policies():
    ends = (0.8, 0.82, 0.9, 0.86, 0.85)
    found = statistics(*(curve([0.1, 0.2, end], replication=i) for i, end in enumerate(ends)))
    mean, low, high, n = interval(ends)
    assert (found["final"], found["final_low"]) == pytest.approx((mean, low))
    assert (found["final_high"], found["n"]) == (pytest.approx(high), n)


def test_a_lower_level_ends_with_its_last_policy():
    lower = curve([0.1, 0.5, 0.9], phase="lower", iteration=[1, 2, 3], policy_kind="cyclic")
    found = statistics(lower.assign(algorithm="e-fsvi", T=6))
    assert (found["final"], found["work_75"]) == (pytest.approx(0.9), 2)


def test_the_upper_level_alone_decides_the_final_value():
    lower = curve([0.1, 0.5], phase="lower", iteration=[1, 2], policy_kind="cyclic")
    upper = curve(
        [0.6, 0.7, 0.8], phase="upper", iteration=[0, 1, 2], policy_kind="periodic", step=[2, 3, 4]
    )
    both = pd.concat([lower, upper]).assign(algorithm="e-fsvi", T=3)
    found = statistics(both)
    assert (found["start"], found["final"]) == (pytest.approx(0.1), pytest.approx(0.8))


@pytest.mark.slow
@settings(derandomize=True, database=None, deadline=None, max_examples=200)
@given(
    st.lists(st.floats(-3, 1), min_size=2, max_size=60),
    st.integers(1, 4),
    st.floats(0.05, 0.95),
)
def test_final_and_work_on_random_curves(shares, per_sweep, level):
    frame = curve(shares, per_sweep=per_sweep)
    found = statistics(frame, levels=(level,))
    assert min(shares) - 1e-12 <= found["final"] <= max(shares) + 1e-12
    work = found[f"work_{100 * level:g}"]
    [mean] = mean_curves(frame, "sweeps", sweep=SWEEP)
    if not isnan(work):
        assert (mean.mean[mean.x >= work] >= level).all() and found["final"] >= level
        before = mean.mean[mean.x < work]
        assert not len(before) or before[-1] < level


# ----------------------------------------------------------------------------- intervals and sweeps


@pytest.mark.parametrize("y", ["fraction_of_optimal", "mean_return", "mean_regret", "max_regret"])
def test_intervals_end_at_the_optimum(y):
    frames = [curve([0.0, 0.5, value], replication=i) for i, value in enumerate((0.9, 0.99, 1.0))]
    frame = pd.concat(frames)
    low, high = possible_range(frame, y)
    best = {"fraction_of_optimal": 1, "mean_return": 200}.get(y, 0)
    assert (high if y in ("fraction_of_optimal", "mean_return") else low) == pytest.approx(best)
    found = summarise(frame, y=y)
    assert found["low"].min() >= low - 1e-9 and found["high"].max() <= high + 1e-9
    assert (found["low"] <= found["mean"]).all() and (found["mean"] <= found["high"]).all()
    wide = found.iloc[-1]
    assert min(wide["high"] - wide["mean"], wide["mean"] - wide["low"]) < 0.5 * max(
        wide["high"] - wide["mean"], wide["mean"] - wide["low"]
    )


def test_intervals_end_at_the_lowest_possible_return():
    """Where no reward is negative, no share is; regret is then at most the optimum."""
    frames = [curve([0.0, v, 0.9], replication=i) for i, v in enumerate((0.0, 0.01, 0.4))]
    frame = pd.concat(frames)
    assert summarise(frame)["low"].min() < -0.3
    known = frame.assign(lowest_return=0.0)
    assert summarise(known)["low"].min() == 0
    assert summarise(known, y="mean_return")["low"].min() == 0
    assert summarise(frame, y="mean_regret")["high"].max() > 260
    assert summarise(known, y="mean_regret")["high"].max() == pytest.approx(200)
    assert lowest_return(make("gridworld", size=6)) == 0
    small = make("inventory", y_max=5, order_max=5)
    model = small.build()
    assert lowest_return(small) == pytest.approx(model.reward_XYA.min() / (1 - model.gamma))
    assert lowest_return(make("gridworld", size=60)) == -inf  # too large to build for a chart


def test_each_model_has_its_own_limit():
    """Two models in one chart: neither the optimum nor the limit of one holds for the other."""
    small = [curve([0.5, 0.9, v], replication=i) for i, v in enumerate((0.9, 0.99, 1.0))]
    large = [
        curve([0.5, 0.9, v], replication=i, algorithm="e-qi", optimum=2000.0, domain="pricing")
        for i, v in enumerate((0.9, 0.99, 1.0))
    ]
    frame = pd.concat(small + large)
    assert isnan(optimal_return(frame))
    highest = summarise(frame, y="mean_return").groupby("method")["high"].max()
    assert highest.to_dict() == pytest.approx({"Base E-VI": 200, "Base E-QI": 2000})


def test_the_interval_of_the_final_value_ends_at_the_optimum():
    frames = [curve([0.0, v, v, v], replication=i) for i, v in enumerate((0.9, 0.99, 1.0))]
    found = statistics(*frames)
    assert found["final_high"] == 1.0 and found["final_low"] < found["final"] < 1


def test_whole_sweeps_are_the_first_rows_of_their_iterations():
    frame = curve(np.zeros(7), per_sweep=3)
    assert whole_sweeps(frame).tolist() == [True, False, False, True, False, False, True]
    backwards = frame.iloc[::-1]
    assert whole_sweeps(backwards).tolist() == [True, False, False, True, False, False, True]


def test_the_slow_agnostic_baseline_is_drawn_at_whole_sweeps():
    shares = [0.8, 0.82, 0.9, 0.98, 0.82, 0.9, 0.98]
    [drawn] = mean_curves(
        curve(shares, per_sweep=3, algorithm="slow-agnostic"), "sweeps", sweep=SWEEP
    )
    assert drawn.x.tolist() == [0, 1, 2] and drawn.mean.tolist() == [0.8, 0.98, 0.98]
    [other] = mean_curves(curve(shares, per_sweep=3), "sweeps", sweep=SWEEP)
    assert len(other.x) == 7
    assert [name for name, method in ALGORITHMS.items() if method.whole_sweeps] == ["slow-agnostic"]


@pytest.mark.slow
def test_policies_inside_a_sweep_of_the_slow_agnostic_baseline_on_pricing_mislead():
    """As the guide says: they swing from 82% to 98%, and the run starts at 81% of the optimum."""
    frame, _ = run_all([RunSpec("pricing", "slow-agnostic", iterations=40, replications=1)])
    late = frame[(frame["iteration"] >= 25) & (frame["iteration"] < 40)]
    first, second, third = (late["fraction_of_optimal"].to_numpy()[i::3].mean() for i in range(3))
    assert (round(first, 2), round(second, 2), round(third, 2)) == (0.98, 0.82, 0.90)
    found = work_to_reach(frame).iloc[0]
    assert round(found["start"], 2) == 0.81 and found["work_75"] == 0
    assert found["last_tenth"] == pytest.approx(first, abs=0.005)
    [drawn] = mean_curves(frame)
    assert len(drawn.x) == 41 and drawn.mean[25:].min() > 0.97


# --------------------------------------------------------------------------------- identity of runs


def test_runs_that_differ_in_a_parameter_or_the_domain_are_never_merged():
    few, many = (
        RunSpec("inventory", "e-vi", parameters={"M": M}, iterations=1, replications=2)
        for M in (5, 500)
    )
    other = RunSpec("gridworld", "e-vi", iterations=1, replications=2)
    frame, _ = run_all([few, many, other, few])
    alone = {spec.hash: run_all([spec])[0] for spec in (few, many, other)}
    assert set(frame["run"]) == set(alone) and frame["method"].nunique() == 3
    table, curves = work_to_reach(frame).set_index("run"), summarise(frame)
    assert len(table) == 3 and set(table["n"]) == {2}
    for run, rows in alone.items():
        assert len(rows) == (frame["run"] == run).sum()
        [record] = work_to_reach(rows).to_dict("records")
        assert table.loc[run, "final"] == record["final"]
        assert len(curves[curves["run"] == run]) == len(summarise(rows))
    records = summarize(frame, [few, many, other])
    assert [record["replications"] for record in records] == [2, 2, 2]
    assert len({record["run"] for record in records}) == 3


def test_frames_that_were_computed_separately_can_be_put_together():
    """Both curves are named Base E-VI; they remain two."""
    specs = [
        RunSpec("inventory", "e-vi", parameters={"M": M}, iterations=1, replications=2)
        for M in (5, 500)
    ]
    frame = pd.concat([run_all([spec])[0] for spec in specs])
    assert len(work_to_reach(frame)) == len(mean_curves(frame)) == 2
    without = frame.drop(columns=["run", "method"])
    assert len(work_to_reach(pd.concat([without, without.assign(domain="other")]))) == 2


# --------------------------------------------------------------------------------------- equal work


def test_methods_are_compared_after_the_work_that_all_have_spent():
    long = curve(np.linspace(0, 1, 11))
    short = curve([0.1, 0.3, 0.4], algorithm="e-qi")
    table = work_to_reach(pd.concat([long, short]), x="sweeps", sweep=SWEEP).set_index("algorithm")
    assert set(table["budget"]) == {2.0}
    assert table["at_budget"].to_dict() == pytest.approx({"e-vi": 0.2, "e-qi": 0.4})
    assert table["final"].to_dict() == pytest.approx({"e-vi": 1.0, "e-qi": 0.4})


def test_a_rolling_method_keeps_its_last_policy_and_does_not_limit_the_others():
    rolling = curve([0.5, 0.9], algorithm="e-rolling", phase="rolling", policy_kind="rolling")
    frame = pd.concat([curve(np.linspace(0, 1, 11)), rolling.assign(T=2)])
    table = work_to_reach(frame, x="sweeps", sweep=SWEEP).set_index("algorithm")
    assert set(table["budget"]) == {10.0}
    assert table["at_budget"].to_dict() == pytest.approx({"e-vi": 1.0, "e-rolling": 0.9})


def test_runs_with_the_same_seed_are_compared_by_paired_differences():
    """Both means lie in wide, overlapping intervals, but one run is better in every replication."""
    luck = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    one, other = (dict(enumerate(luck + gain)) for gain in (0.05, [0, 0.01, 0.02, 0.0, 0.01]))
    paired = difference(Sample(one, 0), Sample(other, 0))
    mean, low, high, _ = interval([one[i] - other[i] for i in range(5)])
    assert (paired.mean, paired.low, paired.high) == pytest.approx((mean, low, high))
    assert paired.pairs == 5 and not paired.contains_zero
    independent = difference(Sample(one, 0), Sample(other, 1))
    assert independent.pairs == 0 and independent.contains_zero
    welch = ttest_ind(list(one.values()), list(other.values()), equal_var=False)
    expected = welch.confidence_interval(0.95)
    assert (independent.low, independent.high) == pytest.approx((expected.low, expected.high))


def test_disjoint_differences_can_hide_behind_overlapping_intervals():
    """Intervals of means overlap although the difference of independent means is clear."""
    one = dict(enumerate(np.array([0.80, 0.82, 0.84, 0.86, 0.88])))
    other = dict(enumerate(np.array([0.85, 0.87, 0.89, 0.91, 0.93])))
    assert interval(list(one.values()))[2] > interval(list(other.values()))[1]
    assert not difference(Sample(one, 0), Sample(other, 1)).contains_zero


def test_an_exact_run_is_a_constant_and_a_single_replication_has_no_interval():
    sampled, exact = Sample({0: 0.8, 1: 0.9, 2: 0.85}, 0), Sample({0: 0.7}, None)
    found = difference(sampled, exact)
    _, low, high, _ = interval([0.1, 0.2, 0.15])
    assert (found.low, found.high) == pytest.approx((low, high))
    assert difference(exact, Sample({0: 0.6}, None)).low == pytest.approx(0.1)
    assert not difference(sampled, Sample({0: 0.7}, 3)).has_interval


# ---------------------------------------------------------------------------------------- cautions


def test_few_replications_and_two_groups_are_named():
    assert caution([0.5]) == "" and caution([0.5, 0.6, 0.4, 0.5]) == "few"
    assert caution([0.1, 0.11, 0.12, 0.9, 0.91, 0.92]) == "two groups"
    assert caution([0.9, 0.9, 0.9, 0.9, 0.1]) == "two groups"
    assert caution([0.90001, 0.90002, 0.90003, 0.90051, 0.90052]) == ""  # a rounding error
    frames = [curve([0.0, v], replication=i) for i, v in enumerate((0.1, 0.1, 0.1, 0.9, 0.9))]
    assert statistics(*frames)["caution"] == "two groups"
    assert statistics(*frames[:3])["caution"] == "few"


@pytest.mark.parametrize("n", [5, 8, 20, 50])
def test_a_normal_sample_is_called_two_groups_in_five_percent_of_cases_at_most(n):
    samples = np.random.default_rng(n).normal(10, 1, (2000, n))
    assert np.mean([caution(sample) != "" for sample in samples]) < 0.06


# ------------------------------------------------------------------------------------ which measure


def test_the_share_is_the_measure_if_every_row_has_one():
    gain, cost = curve([0.5, 0.9]), curve([0.5, 0.9], optimum=-200.0)
    assert main_measure(gain) == "fraction_of_optimal"
    assert main_measure(cost) == "mean_regret"
    assert main_measure(pd.concat([gain, cost])) == "mean_regret"
    assert "fraction_of_optimal" not in shown_measures(cost) + drawable_measures(cost)
    assert shown_measures(gain)[0] == drawable_measures(gain)[0] == "fraction_of_optimal"
    assert "mean_regret" not in shown_measures(gain)


def test_a_cost_model_has_regret_in_place_of_shares():
    cost = curve([0.0, 0.5, 0.9, 0.9, 0.9], optimum=-200.0)
    found = statistics(cost)
    assert (found["measure"], found["start"]) == ("mean_regret", 200)
    assert found["final"] == pytest.approx(20) and found["relative"] == pytest.approx(0.1)
    assert found["work_75"] == 2  # three quarters of the initial regret are gone
    assert found["final_low"] != found["final_low"]  # one replication has no interval


def test_rows_of_an_earlier_version_get_their_regret_from_the_share():
    old = curve([-0.5, 0.25, 1.0]).drop(columns=["mean_regret", "relative_regret"])
    filled = with_regret(old)
    assert filled["mean_regret"].tolist() == pytest.approx([300, 150, 0])
    assert optimal_return(filled) == pytest.approx(200)
    assert "relative_regret" not in drawable_measures(filled)


def test_old_rows_of_a_cost_model_show_the_largest_regret():
    old = curve([0.5, 0.9], optimum=-200.0).assign(mean_regret=nan, relative_regret=nan)
    assert main_measure(with_regret(old)) == "max_regret"
    assert not isnan(statistics(old)["final"])


# --------------------------------------------------------------------------------- the command line


def test_the_summary_of_a_run_has_one_line_for_each_kind_of_policy():
    spec = RunSpec("inventory", "e-fsvi", T=3, iterations=2, replications=1)
    lower = {"phase": "lower", "iteration": [1, 2], "evaluations": [1, 2]}
    parts = [
        curve([0.1, 0.2], policy_kind="cyclic", **lower),
        curve([0.9, 0.99], policy_kind="stationary", **lower),
        curve([0.3, 0.6, 0.5], phase="upper", iteration=[0, 1, 2], policy_kind="periodic"),
    ]
    frame = pd.concat(parts, ignore_index=True).assign(algorithm="e-fsvi", T=3)
    frame["T"] = frame["T"].astype("Int64")
    frame = frame.assign(step=range(len(frame)), run=spec.hash, method=spec.label)
    found = {record["policy"]: record for record in summarize(frame, [spec])}
    assert list(found) == ["periodic", "cyclic", "stationary"]
    periodic = found["periodic"]
    assert periodic["best_fraction"] == pytest.approx(0.6)  # not the 0.99 of the greedy policy
    assert periodic["start_fraction"] == pytest.approx(0.3)
    assert periodic["final_fraction"] == pytest.approx(0.5)
    assert found["stationary"]["best_fraction"] == pytest.approx(0.99)
    assert found["cyclic"]["final_fraction"] == pytest.approx(0.2)
