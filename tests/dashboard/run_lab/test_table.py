"""The table of runs as pure functions: order, best runs, selection, file names."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from fsdash.dashboard.run_lab.table import (
    BEST,
    OPEN,
    SORT_KEYS,
    Filters,
    RunRow,
    RunScore,
    Search,
    best_rows,
    experiment_letters,
    file_stem,
    mark_best,
    next_order,
    numeric_settings,
    read_search,
    run_rows,
    selected_references,
    shortest_selection,
    sorted_rows,
    table_columns,
    work_in_sweeps,
)
from fsdash.dashboard.run_lab.text import COLUMNS
from fsdash.runs.records import Experiment, Replication, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.summary import RunCurves

SHARE, REGRET = "fraction_of_optimal", "mean_regret"


def run_of(spec: RunSpec, experiment="aaaa", position=0) -> Run:
    ended = Replication(0, "finished", "", 5, 1.5, None, None, None, None, False)
    return Run(
        position + 10 * ord(experiment[0]),
        experiment,
        position,
        spec.to_json(),
        spec.hash,
        spec.domain,
        spec.algorithm,
        spec.T,
        (ended,),
    )


def experiment_of(id: str, *specs: RunSpec, name="one", created=0.0) -> Experiment:
    runs = tuple(run_of(spec, id, i) for i, spec in enumerate(specs))
    return Experiment(id, "me", name, "", False, created, runs)


def score(final=nan, measure=SHARE, work=nan, ends=None, x=(1.0,), seed=0, algorithm="e-vi"):
    """A run whose replications have the given curves over the work x; their last values differ."""
    curves = {
        i: np.broadcast_to(y, len(x)) for i, y in enumerate([final] if ends is None else ends)
    }
    last = np.mean([y[-1] for y in curves.values()])
    record = {
        "measure": measure,
        "final": last,
        "final_low": nan,
        "final_high": nan,
        "last_tenth": nan,
        "caution": "",
        "relative": 0.25,
        "start_work": 0.0,
        "work_90": work,
    }
    steps = {i: (np.array(x), np.array(y)) for i, y in curves.items()}
    return RunScore(record, 3, (), RunCurves(algorithm, steps), seed)


def vi(**parameters: float) -> RunSpec:
    return RunSpec("inventory", "vi", domain_parameters=parameters, iterations=3)


def row(final=None, position=0, spec=None, experiment="aaaa", **more) -> RunRow:
    spec = spec or vi()
    scored = final is not None or "ends" in more
    owner = experiment_of(experiment, spec)
    found = score(nan if final is None else final, **more) if scored else None
    return RunRow(owner, run_of(spec, experiment, position), found, 100.0)


def test_every_column_but_the_curve_and_the_links_can_be_sorted():
    assert set(COLUMNS) - set(SORT_KEYS) == {"curve", "open"}
    rows = [row(0.5, 0), row(None, 1), row(2.0, 2, measure=REGRET)]
    for name in SORT_KEYS:
        assert {r.id for r in sorted_rows(rows, f"-{name}")} == {r.id for r in rows}
    assert "owner" not in [column.name for column in table_columns(with_owner=False)]


def test_rows_without_a_value_are_last_in_both_directions():
    rows = [row(None, 0), row(0.5, 1), row(0.9, 2)]
    places = [[r.run.position for r in sorted_rows(rows, order)] for order in ("final", "-final")]
    assert places == [[1, 2, 0], [2, 1, 0]]


def test_a_smaller_regret_is_better_and_shares_come_first():
    rows = [row(3.0, 0, measure=REGRET), row(1.0, 1, measure=REGRET), row(0.2, 2)]
    assert [r.run.position for r in sorted_rows(rows, "-final")] == [2, 1, 0]


def test_a_click_on_a_heading_turns_the_order_round():
    assert next_order("-created", "final") == "-final"
    assert next_order("-final", "final") == "final"
    assert next_order("final", "final") == "-final"
    assert next_order("-final", "work") == "work"


def test_only_runs_on_the_same_model_compete():
    rows = [row(0.5, 0), row(0.9, 1), row(0.7, 2, vi(K=100.0)), row(0.6, 3, vi(K=100.0))]
    assert [r.run.position for r in best_rows(rows, "domain")] == [1, 2]
    assert [r.rank for r in mark_best(rows)] == ["", BEST, BEST, ""]
    assert [r.rank for r in mark_best([row(0.5, 0), row(0.9, 1, vi(K=100.0))])] == ["", ""]


def test_the_best_run_per_method_and_per_experiment():
    fsvi = RunSpec("inventory", "fsvi", T=3, iterations=3)
    rows = [row(0.5, 0), row(0.9, 1, fsvi), row(0.7, 2, experiment="bbbb"), row(None, 3)]
    assert [r.run.position for r in best_rows(rows, "method")] == [1, 2]
    assert [r.run.position for r in best_rows(rows, "experiment")] == [1, 2]


LUCK = (0.1, 0.3, 0.5, 0.7, 0.9)
"""What the replications of runs with the same seed have in common."""


def test_runs_with_the_same_seed_are_ranked_by_paired_differences():
    """The intervals of all three means overlap; only the differences decide."""
    best = row(0, position=0, ends=[v + 0.02 for v in LUCK])
    worse = row(0, position=1, ends=[v + 0.001 * i for i, v in enumerate(LUCK)])
    unclear = row(0, position=2, ends=[v + 0.05 * (-1) ** i for i, v in enumerate(LUCK)])
    assert [r.rank for r in mark_best([best, worse, unclear])] == [BEST, "", OPEN]
    independent = row(0, position=1, ends=list(LUCK), seed=1)
    marked = mark_best([best, independent])
    assert [r.rank for r in marked] == [BEST, OPEN] and "independent" in marked[1].comparison


def test_the_best_run_is_the_best_at_equal_work():
    """The longer run ends higher, but with twice the work; after the same work it is behind."""
    long = row(0, position=0, ends=[(0.2, 0.5, 0.9)] * 3, x=(100.0, 200.0, 400.0))
    short = row(0, position=1, ends=[(0.3, 0.8)] * 3, x=(100.0, 200.0))
    assert long.score.final > short.score.final
    first, second = mark_best([long, short])
    assert (first.rank, second.rank) == ("", BEST)
    assert second.comparison == "80.0% after 2 sweeps"
    assert [r.run.position for r in best_rows([long, short], "domain")] == [1]
    later = row(0, position=2, ends=[(0.1,)] * 3, x=(300.0,))
    assert "no policy yet" in mark_best([long, short, later])[2].comparison


def test_a_rolling_run_that_ended_early_does_not_shorten_the_comparison():
    rolling = row(0, position=0, ends=[(0.85,)] * 3, x=(10.0,), algorithm="e-rolling")
    other = row(0, position=1, ends=[(0.2, 0.9)] * 3, x=(10.0, 400.0))
    assert [r.rank for r in mark_best([rolling, other])] == ["", BEST]


def test_runs_that_show_the_same_value_may_both_be_best():
    same = [row(0.9, 0, seed=None), row(0.90001, 1, seed=None)]
    assert [r.rank for r in mark_best(same)] == [OPEN, BEST]
    one_replication = [row(0.8, 0, seed=0), row(0.9, 1, seed=1)]
    assert [r.rank for r in mark_best(one_replication)] == ["", BEST]


def test_work_is_shown_in_sweeps():
    record = work_in_sweeps(score(0.9, work=250.0), 100.0)
    assert (record["work_90"], record["start_work"], record["final"]) == (2.5, 0.0, 0.9)


def test_a_sweep_is_the_same_work_for_fitted_and_tabular_methods():
    """A run of FVI on the same domain changed the unit of all runs to a tenth of it."""
    specs = (RunSpec("pricing", name, evaluations=10**6) for name in ("e-vi", "lin-fvi"))
    both = [experiment_of("aaaa", *specs)]
    assert {r.sweep for r in run_rows(both, {}, Filters())} == {15_150 * 21 * 50}


def test_an_experiment_stands_for_all_its_runs():
    both = [experiment_of("aaaa", vi(), vi(K=1.0)), experiment_of("bbbb", vi(), vi(K=1.0))]
    refs = selected_references(["bbbb.1", "aaaa", "nothere", "bbbb.9"], both)
    assert refs == ["bbbb.1", "aaaa.0", "aaaa.1"]
    assert shortest_selection(refs, both) == ["bbbb.1", "aaaa"]


def test_numeric_settings_are_those_that_differ_with_evaluations_in_sweeps():
    sweep = 561 * 11 * 50
    specs = [
        RunSpec("inventory", "e-fsvi", T=T, evaluations=n * sweep, seed=T)
        for T, n in ((3, 1), (6, 2))
    ]
    specs.append(RunSpec("inventory", "e-vi", evaluations=2 * sweep))
    runs = [run_of(spec, position=i) for i, spec in enumerate(specs)]
    assert numeric_settings(runs) == {"T": [3.0, 6.0, None], "sweeps": [1.0, 2.0, 2.0]}


@pytest.mark.parametrize(
    ("names", "stem"),
    [
        (["Inventory: Quick look"], "inventory-quick-look"),
        (["../../etc/passwd"], "etc-passwd"),
        (["***"], "aaaa"),
        (["One", "two", "three"], "one-and-2-more"),
    ],
)
def test_files_are_named_after_the_experiment(names, stem):
    experiments = [replace(experiment_of("aaaa", vi()), name=name) for name in names]
    assert file_stem(experiments) == stem


def test_letters_do_not_run_out():
    many = [experiment_of(f"{i:04d}", vi()) for i in range(60)]
    letters = list(experiment_letters(many).values())
    assert (letters[0], letters[25], letters[26], len(set(letters))) == ("A", "Z", "AA", 60)
    assert experiment_letters(many[:1]) == {}


# ------------------------------------------------------------------------------------------ search


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", Search()),
        ("night runs", Search("night runs")),
        ("T=6", Search(T=(6,))),
        ("E-FSVI T=3,6,12", Search(T=(3, 6, 12), algorithm="e-fsvi")),
        ("t = 3, 6 night", Search("night", (3, 6))),
        ("T=3 T=6,6", Search(T=(3, 6))),
        ("base e-vi  my shop", Search(algorithm="e-vi", domain="shop")),
        ("slow-agnostic e-vi night", Search("night", algorithm="slow-agnostic")),
        ("part=6 e-fsvis", Search("part=6 e-fsvis")),
        ("T=2:4", Search(T=(2, 3, 4))),
    ],
)
def test_a_search_can_name_a_method_a_domain_and_values_of_T(words, expected):
    found = read_search(words, {"shop": "My shop"})
    assert found == expected and not found.problem


@pytest.mark.parametrize("words", ["T=", "night T=", "T=abc", "T=3,", "T=3,x", "T=6:2", "T=1:9999"])
def test_values_of_T_that_cannot_be_read_are_reported_with_a_remedy(words):
    found = read_search(words, {})
    assert found.T == () and found.text in ("", "night")
    assert any(remedy in found.problem for remedy in ("whole numbers", "write 2:6", "list fewer"))


def test_values_of_T_that_can_be_read_count_although_others_are_reported():
    found = read_search("T=6 T=x", {})
    assert found.T == (6,) and "'x'" in found.problem


def test_only_runs_with_one_of_the_values_of_T_are_accepted():
    frozen = run_of(RunSpec("inventory", "e-fsvi", T=6, iterations=1))
    base = run_of(RunSpec("inventory", "e-vi", iterations=1))
    assert Filters(T=(3, 6)).accept(frozen) and not Filters(T=(3,)).accept(frozen)
    assert Filters().accept(base) and not Filters(T=(3, 6)).accept(base)
