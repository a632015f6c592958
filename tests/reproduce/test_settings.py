"""Count, ties and budget: what a setting changes, and what it does not."""

import pandas as pd
import pytest

from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.reproduce.experiments import SAMPLE_SIZES, experiment
from fsdash.reproduce.settings import Setting, all_settings, counted, rows_for
from fsdash.runs.engine import execute
from fsdash.runs.frames import tidy
from fsdash.runs.spec import RunSpec

LOWER, SWEEP = 2 * 561 * 11, 561 * 11 * 50
"""The work of the lower level with T = 3, and of one sweep of Base E-VI."""
FROZEN = ("E-FSVI", "Lin-FSFVI", "Deep-FSFVI")


def rows_of(spec):
    rows = []
    execute(spec, 0, lambda record: rows.append(record.row))
    return tidy(rows).assign(variant="", ties="random")


@pytest.fixture(scope="module")
def frozen():
    parameters = {"snapshots_per_sweep": 2}
    return rows_of(RunSpec("inventory", "e-fsvi", T=3, parameters=parameters, iterations=2))


def test_one_evaluation_per_upper_sample_halves_the_work_of_the_upper_level_only(frozen):
    upper = frozen["phase"] == "upper"
    two, one = counted(frozen, 2), counted(frozen, 1)
    half = SWEEP * 280 // 561  # a sweep in two parts: 280 of 561 states first
    sizes = [0, half, SWEEP, SWEEP + half, 2 * SWEEP]
    assert two[upper]["evaluations"].tolist() == [LOWER + 2 * size for size in sizes]
    assert one[upper]["evaluations"].tolist() == [LOWER + size for size in sizes]
    pd.testing.assert_frame_equal(one[~upper], two[~upper])
    others = one.columns.drop("evaluations")
    pd.testing.assert_frame_equal(one[others], two[others])


@pytest.mark.parametrize(("algorithm", "T"), [("e-vi", None), ("fsvi", 3)])
def test_the_count_changes_no_other_method(algorithm, T):
    frame = rows_of(RunSpec("inventory", algorithm, T=T, iterations=2, replications=1))
    pd.testing.assert_frame_equal(counted(frame, 1), frame)


def test_rows_are_chosen_by_ties(frozen):
    both = pd.concat([frozen, frozen.assign(ties="first"), frozen.assign(ties="")])
    for ties in ("random", "first"):
        found = rows_for(both, Setting(ties=ties))
        assert set(found["ties"]) == {ties, ""} and len(found) == 2 * len(frozen)


def test_there_are_twelve_settings_and_bad_ones_are_refused():
    assert len(set(all_settings())) == 12
    for bad in ({"count": 3}, {"ties": "last"}, {"share": 0.0}):
        with pytest.raises(InputError):
            Setting(**bad)


@pytest.mark.parametrize("domain", ["inventory", "gridworld", "pricing"])
def test_every_sampled_method_runs_with_both_ways_to_break_ties(domain):
    plan = experiment(domain)
    kinds = {
        ties: {
            (run.spec.algorithm, run.spec.T, run.variant)
            for run in plan.runs
            if run.ties == ties and dict(run.spec.parameters)["ties"] == ties
        }
        for ties in ("random", "first")
    }
    assert kinds["random"] == kinds["first"] and len(kinds["first"]) >= 7
    alone = {run.spec.algorithm for run in plan.runs if not run.ties}
    assert alone == {"vi", "fsvi", "mpi"} | ({"e-vi"} if domain != "pricing" else set())


@pytest.mark.parametrize("domain", ["inventory", "gridworld"])
def test_the_yardstick_and_the_samples_are_run_as_the_paper_and_the_question_say(domain):
    runs = [run for run in experiment(domain).runs if run.variant and run.spec.method.sampled]
    yardsticks = [run.spec for run in runs if "yardstick" in run.variant]
    assert {(spec.iterations, dict(spec.parameters)["M"]) for spec in yardsticks} == {(50, 100)}
    samples = [dict(run.spec.parameters) for run in runs if "yardstick" not in run.variant]
    found = {(p["M"], p["common_random_numbers"]) for p in samples}
    assert found == {(M, common) for M in SAMPLE_SIZES for common in (False, True)}


@pytest.mark.parametrize("domain", ["inventory", "gridworld", "pricing"])
def test_a_sweep_is_one_of_base_evi_on_every_domain(domain):
    """On pricing it was one of FVI, a tenth of the sweeps of the methods at budgets."""
    n_slow, n_fast, n_actions, _ = make(domain).shape
    assert experiment(domain).sweep == n_slow * n_fast * n_actions * 50


@pytest.mark.parametrize("domain", ["inventory", "gridworld", "pricing"])
def test_frozen_runs_fill_the_budget_with_either_count(domain):
    plan = experiment(domain)
    frozen = [run.spec for run in plan.runs if run.spec.label.startswith(FROZEN)]
    assert {spec.evaluations for spec in frozen} == {2 * plan.budget * plan.sweep}
    short = [spec for spec in plan.paper_specs() if spec.method.freezes]
    assert {spec.evaluations for spec in short} == {plan.budget * plan.sweep}
    assert len(plan.paper_specs()) == (10 if domain == "pricing" else 6)
