"""An experiment in the Run lab without a browser: from start to end, and failures."""

import numpy as np
import pandas as pd
import pytest

from fsdash.dashboard import service as shared
from fsdash.dashboard.curves import state as curves
from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab import view as lab_view
from fsdash.dashboard.run_lab.plans import CUSTOM, refresh_interval
from fsdash.dashboard.service import _service
from fsdash.domains import make
from fsdash.runs.records import run_labels
from fsdash.runs.spec import RunSpec
from fsdash.runs.summary import summarise, work_to_reach
from tests.dashboard.kit import address, figures, traces, words
from tests.dashboard.run_lab.lab import errors, html, lab, shown
from tests.runs.work import ENDLESS, base, finished_experiment, frozen, over, until

# The page starts the worker processes.
pytestmark = pytest.mark.processes
ACTIONS = ("again", "act-pause", "act-stop", "act-play_arrow")


def test_an_example_is_shown_before_the_first_start(service):
    test = lab(domain="gridworld")
    assert len(traces(figures(test)["example"])["E-FSVI, T=6 (n=5)"]["y"]) > 10
    assert text.paper_caption("Gridworld") in [c.value for c in test.caption]
    fixed = lab(preset="paper-gridworld", domain="inventory")
    assert text.paper_caption("Gridworld") in [c.value for c in fixed.caption]


def test_the_preview_of_a_model_of_ones_own_is_computed(service, monkeypatch):
    monkeypatch.setattr(lab_view, "EXAMPLES", {})
    drawn = traces(figures(lab())["example"])
    assert {"FSVI, T=6", "Rolling freeze, n=24", "Base VI"} <= set(drawn)
    monkeypatch.setattr(lab_view, "MAX_STATES", 10)
    lab_view._exact_figure.clear()
    large = lab()
    assert "example" not in figures(large)
    assert text.no_example("Inventory") in [c.value for c in large.caption]
    lab_view._exact_figure.clear()


def test_the_first_points_are_drawn_with_the_start(service, monkeypatch):
    monkeypatch.setattr(shared, "FIRST_ROWS_TIMEOUT", 60)
    test = lab(preset=CUSTOM, algorithms="e-vi", budget="3", replications="1")
    test.button(key="start").click().run()
    assert len(traces(figures(test)["curves"])["Base E-VI"]["y"]) > 0
    over(service.store, shown(service, test).id)


def test_a_start_does_not_wait_for_rows_while_all_workers_are_busy(service, monkeypatch):
    blocks = service.manager.submit("other", "block", [base(ENDLESS, replications=2)])
    until(lambda: service.manager.queue("other").running == 2)
    monkeypatch.setattr(shared, "FIRST_ROWS_TIMEOUT", 1e-9)
    waiting = service.manager.submit("me", "waiting", [base()])
    assert service.wait_for_first_rows(waiting).status == "queued"
    for id in (blocks, waiting):
        service.manager.cancel(id)
        over(service.store, id)


def test_an_experiment_from_the_start_to_its_numbers(service):
    test = lab(preset=CUSTOM, algorithms="e-fsvi,e-vi", T="3", budget="1", replications="2")
    test.button(key="start").click().run()
    assert not test.exception
    experiment = over(service.store, shown(service, test).id)
    assert experiment.status == "finished"

    test = lab(experiment=experiment.id)
    frame = service.store.rows([run.id for run in experiment.runs])
    sweep = sweep_size(make("inventory"))
    drawn = traces(figures(test)["curves"])
    for name, part in summarise(frame, "sweeps", sweep=sweep).groupby("method"):
        part = part[part["x"] > 0]  # the axis is logarithmic
        np.testing.assert_allclose(np.asarray(drawn[name]["y"], float), part["mean"])
        np.testing.assert_allclose(np.asarray(drawn[name]["x"], float), part["x"])
    for record in work_to_reach(frame, x="sweeps", sweep=sweep).to_dict("records"):
        assert all(word in html(test) for word in record["method"].split())
        assert f"{100 * record['final']:.1f}" in html(test)
    assert "aria-valuenow" not in html(test)  # progress is shown until all runs have finished
    assert "What to notice" in words(test)


def test_a_link_shows_the_same_experiment_to_everyone(service):
    id = finished_experiment(service.store, frozen(), base(), name="to *share* [it](x)").id
    first, second = lab(experiment=id), lab(experiment=id)
    np.testing.assert_equal(figures(first)["curves"]["data"], figures(second)["curves"]["data"])
    assert r"to \*share\*" in first.header[0].value


def test_stop_resume_and_pause(service):
    id = service.manager.submit("me", "long", [base(ENDLESS, replications=3)])
    until(lambda: service.store.experiment(id).runs[0].rows, "the first row")
    test = lab(experiment=id)
    test.button(key="act-stop").click().run()
    assert over(service.store, id).status == "cancelled"
    test = lab(experiment=id)
    assert STATUS_BADGES["cancelled"].word in words(test)
    test.button(key="act-play_arrow").click().run()
    assert service.store.experiment(id).active
    test = lab(experiment=id)
    test.button(key="act-pause").click().run()
    assert over(service.store, id).status == "paused"


def test_running_again_starts_the_same_specifications_under_a_new_name(service):
    id = finished_experiment(service.store, frozen(), base(), name="first time").id
    test = lab(experiment=id)
    test.button(key="again").click().run()
    assert "first time" in words(test)
    assert address(test)["from"] == id
    test.button(key="start").click().run()
    new = shown(service, test)
    assert new.id != id
    assert new.name == "first time (2)"
    assert [r.hash for r in new.runs] == [r.hash for r in service.store.experiment(id).runs]
    over(service.store, new.id)


def test_the_same_plan_started_twice_gets_two_names(service):
    test, names = lab(preset="known-model"), []
    for _ in range(2):
        test.button(key="start").click().run()
        names.append(shown(service, test).name)
        service.manager.cancel(shown(service, test).id)
    assert names[1] == f"{names[0]} (2)"


def test_a_plan_can_be_customized(service):
    test = lab(preset="t6-against-base", domain="gridworld")
    test.button(key="customize").click().run()
    found = address(test)
    assert found["preset"] == CUSTOM and found["domain"] == "gridworld"
    assert found["T"] == "6" and found["budget"] == "40"
    assert "E-FSVI, T=6**, 40 sweeps, 5 replications" in words(test)


def test_an_unknown_experiment_can_be_closed(service):
    test = lab(experiment="nosuchthing")
    assert "nosuchthing" in " ".join(w.value for w in test.warning)
    test.button(key="close").click().run()
    assert "experiment" not in test.query_params


def test_failures_are_listed_with_their_reasons_and_their_rows_are_drawn(service):
    data = service.store.export(
        finished_experiment(service.store, base(replications=2), name="wrong").id
    )
    first, second = data["runs"][0]["replications"]
    first |= {"status": "diverged", "reason": "values are no longer finite"}
    second |= {"status": "running", "reason": "the server was stopped"}
    test = lab(experiment=service.store.import_(data, "me"))
    warnings = " ".join(w.value for w in test.warning).replace("\\", "")
    assert "Diverged: Base E-VI (replication 0)" in warnings
    assert "Interrupted: Base E-VI (replication 1)" in warnings
    assert "no longer finite" in warnings and "server was stopped" in warnings
    assert test.button(key="act-play_arrow").label == text.CONTINUE
    assert len(traces(figures(test)["curves"])["Base E-VI"]["y"]) > 2


def incomplete_experiment(service, *specs):
    """An experiment whose last replication of each run was stopped after its first row."""
    data = service.store.export(finished_experiment(service.store, *specs, name="incomplete").id)
    for run in data["runs"]:
        last = run["replications"][-1]
        rows = {name: values[:1] for name, values in last["rows"].items()}
        last |= {"status": "cancelled", "reason": "stopped", "rows": rows, "policies": []}
    return service.store.experiment(service.store.import_(data, "me"))


def test_no_conclusions_are_drawn_from_stopped_replications(service):
    experiment = incomplete_experiment(service, base(replications=3), frozen(replications=1))
    test = lab(experiment=experiment.id)
    assert test.info[0].value == (
        "Some replications have not finished, so no conclusions are drawn here. The "
        "table counts finished replications; for a method without any, it shows the "
        "values so far."
    )
    assert "What to notice" not in words(test)
    ended, begun = experiment.runs
    labels = run_labels(experiment.runs)
    rows = curves.curve_rows(service.rows(experiment).frame, experiment.runs, labels)
    work = curves.work_table(curves.finished_rows(rows, experiment.runs), "sweeps")
    table = {row.label: row for row in curves.method_rows(experiment.runs, labels, work, None, {})}
    two = rows[(rows["run"] == ended.id) & (rows["replication"] < 2)]
    mean = two.groupby("replication")["fraction_of_optimal"].last().mean()
    assert table[labels[ended.id]].final == f"{100 * mean:.1f}% (2 of 3)"
    assert table[labels[begun.id]].final.endswith("% (so far)")
    assert table[labels[ended.id]].progress_text == "2 of 3 finished"


def test_failures_with_the_same_reason_are_listed_together(service):
    data = service.store.export(
        finished_experiment(service.store, base(replications=3), frozen()).id
    )
    for run in data["runs"]:
        for r in run["replications"]:
            r |= {"status": "interrupted", "reason": "the server has ended"}
    experiment = service.store.experiment(service.store.import_(data, "me"))
    [(title, reason)] = curves.failures(experiment.runs, run_labels(experiment.runs))
    assert title.startswith("Interrupted: Base E-VI (replications 0–2), E-FSVI")
    assert reason == "the server has ended"


def test_a_damaged_store_can_be_replaced_by_a_new_one(tmp_path, monkeypatch):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    (tmp_path / "runs.db").write_bytes(b"this is no database" * 100)
    test = lab()
    assert "damaged" in errors(test)
    test.button(key="recover").click().run()
    assert not test.exception and not test.error
    assert test.success[0].value.startswith(shared.NEW_STORE.partition("{")[0])
    [aside] = tmp_path.glob("runs.db.corrupt-*")
    assert aside.read_bytes().startswith(b"this is no database")
    from fsdash.runs.store.database import default_url

    _service.clear(default_url())


def test_pages_share_one_store(service):
    assert shared._store(service.store.url) is service.store


def test_domains_of_one_experiment_have_charts_and_tables_of_their_own(service):
    grid = RunSpec("gridworld", "vi", iterations=2)
    id = finished_experiment(service.store, base(), frozen(), grid, name="two domains").id
    test = lab(experiment=id)
    found = figures(test)
    assert {"curves-inventory", "curves-gridworld"} <= set(found)
    assert "Base VI" in traces(found["curves-gridworld"])
    assert "Base VI" not in traces(found["curves-inventory"])
    tables = [e.proto.body for e in test.get("html") if "fs-methods" in e.proto.body]
    assert len(tables) == 2


def test_nothing_slides_under_the_pointer_when_an_experiment_is_stopped(service):
    id = service.manager.submit("me", "long", [base(ENDLESS)])
    until(lambda: service.store.experiment(id).runs[0].rows, "the first row")
    before = [b.key for b in lab(experiment=id).button if b.key in ACTIONS]
    service.manager.cancel(id)
    over(service.store, id)
    after = [b.key for b in lab(experiment=id).button if b.key in ACTIONS]
    assert before == ["again", "act-pause", "act-stop"]
    assert after == ["again", "act-play_arrow"]  # in the place of Pause; nothing in that of Stop


# ------------------------------------------------------------------------------------------- parts


def test_series_keep_their_names_while_replications_arrive(service):
    id = finished_experiment(service.store, base(replications=3), name="growing").id
    experiment = service.store.experiment(id)
    labels = run_labels(experiment.runs)
    frame = service.store.rows([run.id for run in experiment.runs])
    options = curves.CurveOptions(single_runs=True)
    names = []
    for count in (1, 2, 3):
        rows = curves.curve_rows(frame[frame["replication"] < count], experiment.runs, labels)
        names.append([trace.name for trace in curves.curves_figure(rows, options).data])
    assert names[0] == names[1] == names[2]


def test_runs_of_one_method_are_labelled_by_what_differs(service):
    slow = base(seed=3)
    id = finished_experiment(service.store, base(), slow, frozen(), name="alike").id
    labels = run_labels(service.store.experiment(id).runs)
    assert list(labels.values()) == ["Base E-VI, seed=0", "Base E-VI, seed=3", "E-FSVI, T=3"]


def test_the_page_refreshes_only_while_the_experiment_can_change(service):
    done = finished_experiment(service.store, base(), name="done")
    assert refresh_interval(done, done.created) is None
    id = service.store.add_experiment("me", "paused", [base()])
    paused = service.store.experiment(id)
    assert refresh_interval(paused, paused.created) == 5
    service.manager.resume(id)
    over(service.store, id)


def test_a_busy_server_refreshes_less_often_but_still_shows_the_first_point_soon(service):
    id = service.store.add_experiment("me", "new", [base()], status="queued")
    new = service.store.experiment(id)
    intervals = [refresh_interval(new, new.created + age, p) for age in (0, 9) for p in (1, 4)]
    assert intervals == [0.5, 1, 2, 2]
    service.manager.cancel(id)


def test_only_new_rows_are_read(service, monkeypatch):
    id = service.manager.submit("me", "counted", [base(ENDLESS)])
    until(lambda: service.store.experiment(id).runs[0].rows > 3, "some rows")
    experiment = service.store.experiment(id)
    first = service.rows(experiment)
    asked = []
    real = service.store.rows
    monkeypatch.setattr(
        service.store, "rows", lambda runs, seen=None: asked.append(dict(seen)) or real(runs, seen)
    )
    assert service.rows(experiment).version == first.version and not asked
    until(lambda: service.rows(service.store.experiment(id)).version > first.version, "more rows")
    assert asked[0] == first.counts
    service.manager.cancel(id)
    over(service.store, id)
    whole = real([run.id for run in experiment.runs])
    pd.testing.assert_frame_equal(service.rows(service.store.experiment(id)).frame, whole)
