"""Every sentence about curves follows from the curves."""

import numpy as np
import pandas as pd
import pytest

from fsdash.dashboard.curves.observations import (
    COMPARE_TWO,
    NOTHING_FROZEN,
    observations,
    overtakes,
    why_agnostic_wins,
)
from fsdash.runs.summary import (
    SERIES,
    MeanCurve,
    Sample,
    common_budget,
    mean_curves,
    run_curves,
    work_to_reach,
)
from tests.runs.test_statistics import SWEEP, curve


def runs(**shares_of):
    """One replication of each algorithm; e-fsvi has T = 6."""
    parts = []
    for name, shares in shares_of.items():
        algorithm = name.replace("_", "-")
        parts.append(curve(shares, algorithm=algorithm).assign(T=6 if "fsvi" in name else pd.NA))
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(T=frame["T"].astype("Int64"))


def sentences(frame, n_slow=150):
    work = work_to_reach(frame, x="sweeps", sweep=SWEEP)
    y = work["measure"].iloc[0]
    curves = mean_curves(frame, "sweeps", y=y, sweep=SWEEP)
    found = run_curves(frame, "sweeps", y=y, sweep=SWEEP)
    budget = common_budget(found.values())
    samples = {
        key[SERIES.index("method")]: Sample(run.values(budget), 0) for key, run in found.items()
    }
    return " ".join(observations(work, curves, samples, "sweeps", n_slow))


UP = [0.1, 0.2, 0.4, 0.7, 0.8, 0.9, 0.97, 0.97, 0.97]
EARLY = [0.1, 0.8, 0.85, 0.85, 0.85, 0.85, 0.85, 0.85, 0.85]


def test_who_is_first_who_ends_highest_and_who_overtakes():
    said = sentences(runs(e_vi=UP, e_fsvi=EARLY))
    assert "**E-FSVI, T=6** reaches 75% of the optimum first, after 1 sweep;" in said
    assert "Base E-VI needs 4 times as much" in said
    assert (
        "After 8 sweeps, the work that all methods have spent, **Base E-VI** is best: 97.0%" in said
    )
    assert "Its lead over E-FSVI, T=6 is 12.0 percentage points (no interval" in said
    assert "**Base E-VI** overtakes E-FSVI, T=6 after 5 sweeps and stays ahead" in said


def test_nothing_is_said_about_a_crossing_that_does_not_happen():
    assert "overtakes" not in sentences(runs(e_vi=[0.05] * 9, e_fsvi=EARLY))
    back_and_forth = [0.1, 0.9, 0.2, 0.9, 0.2, 0.9, 0.2, 0.9, 0.2]
    assert "**Base E-VI** overtakes" not in sentences(runs(e_vi=back_and_forth, e_fsvi=EARLY))
    assert NOTHING_FROZEN in sentences(runs(e_vi=UP, e_qi=EARLY))
    assert sentences(runs(e_vi=UP)) == COMPARE_TWO


def test_a_high_start_is_named_and_a_higher_level_compared():
    start = [0.81, 0.82, 0.85, 0.93, 0.93, 0.93, 0.93]
    slow = [0.81, 0.82, 0.82, 0.82, 0.85, 0.85, 0.85]
    said = sentences(runs(e_vi=start, e_fsvi=slow))
    assert "The first policies are already worth 81.0% of the optimum." in said
    assert "reaches 90% of the optimum first, after 3 sweeps" in said and "75%" not in said


def test_a_level_that_nobody_keeps_is_not_reached():
    spike = [0.1, 0.9, 0.2, 0.2, 0.2, 0.2]
    assert "No method reaches 75% of the optimum and stays there." in sentences(
        runs(e_vi=spike, e_fsvi=spike)
    )


def test_why_the_slow_agnostic_baseline_can_win_is_said_where_it_wins():
    high, low = [0.8, 0.95, 0.98, 0.98, 0.98], [0.8, 0.85, 0.9, 0.9, 0.9]
    won = runs(slow_agnostic=high, e_vi=low)
    said = sentences(won)
    assert "can win although it does not observe the slow state" in said
    assert "1/150 of the work" in said and "98.0% of the optimum" in said
    assert why_agnostic_wins(work_to_reach(won), 150) in said
    assert not why_agnostic_wins(work_to_reach(runs(slow_agnostic=low, e_vi=high)), 150)
    assert not why_agnostic_wins(work_to_reach(won), 1)


def test_regret_is_named_where_the_optimum_is_negative():
    frame = pd.concat(
        [curve(UP, optimum=-50.0), curve(EARLY, optimum=-50.0, algorithm="e-qi")],
        ignore_index=True,
    )
    said = sentences(frame)
    assert "removes 75% of the initial policy's regret first" in said
    assert "**Base E-VI** is best: a mean regret of 1.5" in said and "6 in mean regret" in said
    assert "of the optimum" not in said


def test_equal_methods_are_all_named():
    said = sentences(runs(e_vi=UP, e_qi=UP, e_fsvi=EARLY))
    assert "**Base E-VI** and **Base E-QI** have the same, best value: 97.0%" in said


def test_methods_are_ranked_at_equal_work():
    """Base E-VI ends higher after 8 sweeps; after the 3 of E-FSVI it is behind."""
    said = sentences(runs(e_vi=UP, e_fsvi=EARLY[:4]))
    assert (
        "After 3 sweeps, the work that all methods have spent, **E-FSVI, T=6** is best: 85.0%"
        in (said)
    )


def several(gains):
    """Replications that share their luck: Base E-VI, and Base E-QI with additional gains."""
    luck = np.linspace(0.3, 0.7, len(gains))
    parts = [
        curve([0.1, value, value + gain], algorithm=name, replication=i)
        for i, (value, added) in enumerate(zip(luck, gains, strict=True))
        for name, gain in (("e-vi", 0.0), ("e-qi", added))
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_lead_is_judged_by_the_interval_of_the_differences():
    clear, open_ = several([0.02, 0.03, 0.02, 0.03, 0.02]), several([0.2, -0.1, 0.1, -0.1, 0.1])
    work = work_to_reach(clear).set_index("algorithm")
    assert work.loc["e-qi", "final_low"] < work.loc["e-vi", "final_high"]  # intervals overlap
    said = sentences(clear)
    assert "**Base E-QI** is best" in said and "5 pairs with the same seed" in said
    said = sentences(open_)
    assert "**Base E-QI** has the best mean" in said and "to decide between them" in said


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([0, 1, 2, 3], [1, 1, 1, 1], 1),
        ([1, 1, 1, 1], [0, 0, 0, 0], np.inf),
        ([0, 2, 0, 2], [1, 1, 1, 1], 3),
        ([0, 2, 2, 0], [1, 1, 1, 1], np.inf),
    ],
)
def test_overtaking(one, other, expected):
    def made(y):
        x, mean = np.arange(4.0), np.array(y, float)
        return MeanCurve("m", "vi", None, False, "fraction_of_optimal", x, mean, mean, mean, x)

    assert overtakes(made(one), made(other)) == expected
