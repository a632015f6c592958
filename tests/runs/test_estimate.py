"""Time estimates: in proportion to what similar runs took in the reproduction."""

from dataclasses import replace

import pytest

from fsdash.algorithms import registry
from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.run_lab.plans import PLANS
from fsdash.reproduce.archive import archived_domains, archived_rows
from fsdash.reproduce.experiments import experiment
from fsdash.reproduce.timings import recorded_timings
from fsdash.runs.estimate import OVERHEAD, timings, wall_seconds, worker_seconds, write_timings
from fsdash.runs.spec import RunSpec

EVI = RunSpec("inventory", "e-vi", evaluations=1_000_000, replications=4)


def test_the_timings_are_those_of_the_archived_results(tmp_path):
    results = {name: (experiment(name), archived_rows(name)) for name in archived_domains()}
    assert recorded_timings(results) == timings()
    write_timings(timings(), tmp_path / "timings.csv")
    assert len((tmp_path / "timings.csv").read_text().splitlines()) == len(timings()) + 1


def test_an_archived_run_is_estimated_at_what_it_took():
    label = "E-FSVI, T=6"
    [run] = [r for r in experiment("gridworld").runs if (r.spec.label, r.ties) == (label, "random")]
    rows = archived_rows("gridworld").query("ties == 'random'")
    same = rows[rows["algorithm"].eq("e-fsvi") & rows["T"].eq(6)]
    last = same.groupby("replication")[["seconds", "evaluations"]].last().sum()
    share = run.spec.evaluations * run.spec.replications / last["evaluations"]
    assert worker_seconds(run.spec) == pytest.approx(OVERHEAD * last["seconds"] * share)


def test_twice_the_work_takes_twice_the_time():
    once = worker_seconds(EVI)
    assert worker_seconds(replace(EVI, evaluations=2_000_000)) == pytest.approx(2 * once)
    assert worker_seconds(replace(EVI, replications=8)) == pytest.approx(2 * once)
    by_seconds = RunSpec("inventory", "e-vi", seconds=3.0, replications=4)
    assert worker_seconds(by_seconds) == pytest.approx(12 * OVERHEAD)


def test_iterations_are_converted_to_evaluations():
    sweep = 561 * 11 * 50
    ten = RunSpec("inventory", "e-vi", iterations=10, replications=4)
    same_work = replace(EVI, evaluations=10 * sweep)
    assert worker_seconds(ten) == pytest.approx(worker_seconds(same_work))
    half = RunSpec("inventory", "e-vi", iterations=10, replications=4, parameters={"M": 25})
    assert worker_seconds(half) == pytest.approx(worker_seconds(ten) / 2)


def test_beyond_the_recorded_T_the_time_grows_in_proportion_to_T():
    twelve, sixty = (
        RunSpec("inventory", "e-fsvi", T=T, evaluations=10**6, replications=1) for T in (12, 60)
    )
    assert worker_seconds(sixty) == pytest.approx(5 * worker_seconds(twelve))


@pytest.mark.parametrize("name", ["rolling", "e-rolling", "lin-rolling"])
def test_a_rolling_run_is_estimated_at_the_work_of_its_T_backups(name):
    """It ends at T: a budget that it cannot spend takes no time."""
    whole, twice = (
        RunSpec("gridworld", name, T=24, evaluations=sweeps * 800 * 800, replications=1)
        for sweeps in (10**4, 2 * 10**4)
    )
    assert worker_seconds(whole) == worker_seconds(twice)
    seconds = [
        worker_seconds(RunSpec("gridworld", name, T=T, iterations=100, replications=1))
        for T in (12, 24)
    ]
    assert seconds[1] == pytest.approx(2 * seconds[0])


def test_the_shortest_method_is_estimated_to_be_the_shortest():
    """E-Rolling makes 1/25 of the evaluations of the others, so it is to start first."""
    specs = PLANS["ways-to-freeze"].build("gridworld", {}, 1, 0)
    shortest = min(specs, key=worker_seconds)
    assert shortest.algorithm == "e-rolling"


def test_every_algorithm_has_a_timing_and_every_domain_an_estimate():
    # What is not part of the reproduction is estimated by its kind: FSAVI as FSVI, Rolling as VI.
    not_recorded = {"fsavi", "e-thaw", *(name for name in ALGORITHMS if "rolling" in name)}
    assert {timing.algorithm for timing in timings()} == set(ALGORITHMS) - not_recorded
    for name, algorithm in ALGORITHMS.items():
        T = 6 if algorithm.freezes else None
        spec = RunSpec("pricing", name, T=T, iterations=2, replications=1)
        assert 0 < worker_seconds(spec) < 1e4


@pytest.mark.parametrize("like", ["e-vi", "fsvi", "lin-fsfvi"])
def test_an_algorithm_without_a_timing_is_estimated_by_its_kind(monkeypatch, like):
    monkeypatch.setitem(registry.ALGORITHMS, "new", replace(ALGORITHMS[like], name="new"))
    T = 6 if ALGORITHMS[like].freezes else None
    new, known = (
        worker_seconds(RunSpec("gridworld", name, T=T, iterations=5, replications=1))
        for name in ("new", like)
    )
    assert known / 100 < new < known * 100


def test_an_algorithm_of_an_unknown_kind_has_an_estimate_too(monkeypatch):
    odd = replace(ALGORITHMS["lin-fsfvi"], name="odd", sampled=False)
    monkeypatch.setitem(registry.ALGORITHMS, "odd", odd)
    assert worker_seconds(RunSpec("inventory", "odd", T=6, iterations=5)) > 0


def test_runs_share_the_workers_but_a_replication_is_not_divided():
    one = replace(EVI, replications=1)
    assert wall_seconds([one], 8) == pytest.approx(worker_seconds(one))
    assert wall_seconds([EVI, EVI], 2) == pytest.approx(worker_seconds(EVI))
    assert wall_seconds([], 2) == 0
