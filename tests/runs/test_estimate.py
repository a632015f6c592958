"""How long a run may take: in proportion to what its like took in the kept results."""

from dataclasses import replace

import pytest

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.reproduce.archive import kept_rows
from fsdash.reproduce.experiments import experiment
from fsdash.runs.estimate import MEASURING, rates, seconds, wall_seconds
from fsdash.runs.spec import RunSpec

EVI = RunSpec("inventory", "e-vi", evaluations=1_000_000, replications=4)


def test_a_kept_run_is_estimated_at_what_it_took():
    [run] = [r for r in experiment("gridworld").runs if r.spec.label == "E-FSVI, T=6"]
    rows = kept_rows("gridworld")
    mine = rows[rows["algorithm"].eq("e-fsvi") & rows["T"].eq(6)]
    ends = mine.groupby("replication")[["seconds", "evaluations"]].last().sum()
    share = run.spec.evaluations * run.spec.replications / ends["evaluations"]
    assert seconds(run.spec) == pytest.approx(MEASURING * ends["seconds"] * share)


def test_twice_the_work_takes_twice_the_time():
    assert seconds(replace(EVI, evaluations=2_000_000)) == pytest.approx(2 * seconds(EVI))
    assert seconds(replace(EVI, replications=8)) == pytest.approx(2 * seconds(EVI))
    by_seconds = RunSpec("inventory", "e-vi", seconds=3.0, replications=4)
    assert seconds(by_seconds) == pytest.approx(12 * MEASURING)


def test_iterations_count_as_the_evaluations_that_they_make():
    sweep = 561 * 11 * 50
    iterations = RunSpec("inventory", "e-vi", iterations=10, replications=4)
    assert seconds(iterations) == pytest.approx(seconds(replace(EVI, evaluations=10 * sweep)))
    fewer = RunSpec("inventory", "e-vi", iterations=10, replications=4, parameters={"M": 25})
    assert seconds(fewer) == pytest.approx(seconds(iterations) / 2)


def test_beyond_the_kept_T_a_path_takes_longer_in_proportion():
    twelve, fifty = (
        RunSpec("inventory", "e-fsvi", T, evaluations=10**6, replications=1) for T in (12, 60)
    )
    assert seconds(fifty) == pytest.approx(5 * seconds(twelve))


def test_every_algorithm_has_a_rate_and_any_domain_an_estimate():
    assert {rate.algorithm for rate in rates()} == set(ALGORITHMS)
    for name, method in ALGORITHMS.items():
        spec = RunSpec("pricing", name, 6 if method.freezes else None, iterations=2, replications=1)
        assert 0 < seconds(spec) < 1e4


def test_runs_share_the_workers_but_a_replication_is_not_split():
    one = replace(EVI, replications=1)
    assert wall_seconds([one], 8) == pytest.approx(seconds(one))
    assert wall_seconds([EVI, EVI], 2) == pytest.approx(seconds(EVI))
