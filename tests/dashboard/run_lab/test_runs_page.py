"""The stored runs in the Run lab: filters, comparison, naming, pinning, deleting, files."""

import io
import json

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from fsdash.dashboard.run_lab import files, text
from fsdash.dashboard.service import Service, _service
from fsdash.dashboard.widgets.url_state import UNUSABLE
from fsdash.errors import InputError
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import default_url
from fsdash.runs.summary import work_to_reach
from tests.dashboard.kit import component_data, figures, opened, table_rows, traces, words
from tests.runs.work import base, finished_experiment, frozen

# The page starts the worker processes.
pytestmark = pytest.mark.processes
PAGE = "5_Run_lab.py"


@pytest.fixture
def service(tmp_path, monkeypatch) -> Service:
    """A new store. Nothing is computed here, so no worker has to start."""
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    monkeypatch.setattr("fsdash.dashboard.service.Manager", IdleManager)
    yield _service(default_url())
    st.cache_resource.clear()


class IdleManager:
    """A manager that starts no workers."""

    problem = ""

    def __init__(self, store) -> None:
        self.store = store

    def close(self) -> None:
        pass


@pytest.fixture
def two(service) -> tuple[str, str]:
    """Two experiments that differ in one parameter of one method."""
    other = RunSpec("inventory", "e-vi", parameters={"M": 7}, iterations=3, replications=1)
    first = finished_experiment(service.store, frozen(), base(), owner="ann", name="plain")
    second = finished_experiment(service.store, other, owner="ben", name="more samples")
    return first.id, second.id


def runs(**query: str) -> AppTest:
    return opened(PAGE, tab="stored", **query)


def names(test: AppTest) -> list[str]:
    """The experiment of each row of the table."""
    return [row["cells"]["name"]["text"] for row in table_rows(test)]


def selected(test: AppTest) -> list[str]:
    [table] = [data for data in component_data(test) if "rows" in data]
    return table["selected"]


def html(test: AppTest) -> str:
    return " ".join(element.proto.body for element in test.get("html"))


def test_an_empty_store_links_to_the_lab(service):
    assert runs().info[0].value == "No run is stored yet. Start one in the Run lab, or import some."


def test_the_newest_is_first_and_filters_narrow_the_table(service, two):
    assert names(runs()) == ["more samples", "plain", "plain"]
    assert names(runs(text="PLAI")) == ["plain", "plain"]
    assert [r["cells"]["method"]["text"] for r in table_rows(runs(method="e-fsvi"))] == ["E-FSVI"]
    other = runs(on="gridworld")
    assert (
        names(other) == []
        and other.info[0].value
        == "No run matches the search and the filters. Change them, or start a run."
    )
    assert names(runs(status="failed")) == []
    assert names(runs(owner="mine")) == []


def test_a_search_compares_what_it_finds(service, two):
    """Without a selection, the runs of a search are compared; without a search, none are."""

    def captions(page: AppTest) -> list[str]:
        return [caption.value for caption in page.caption]

    assert text.all_found(1) not in captions(runs(text="T=3")), "one run is no comparison"
    searched = runs(text="plain")
    assert text.all_found(2) in captions(searched)
    assert {"Base E-VI", "E-FSVI, T=3"} <= set(traces(figures(searched)["compared-inventory"]))
    assert (
        "Select one run to see its curve, or several to **compare** them and the "
        "settings in which they differ."
    ) in words(runs())
    assert text.all_found(2) not in captions(runs(text="plain", selected=two[0]))


def test_an_unusable_T_in_the_search_is_reported_above_the_unfiltered_table(service, two):
    page = runs(text="T=")
    assert "T= has no value" in page.warning[0].value
    assert len(names(page)) == 3 and (
        "Select one run to see its curve, or several to **compare** them and the "
        "settings in which they differ."
    ) in words(page)


def test_a_row_has_the_run_with_its_result_and_links(service, two):
    row = next(r for r in table_rows(runs()) if r["cells"]["method"]["text"] == "E-FSVI")
    cells, experiment = row["cells"], service.store.experiment(two[0])
    run = experiment.runs[0]
    assert row["id"] == f"{two[0]}.0"
    assert (cells["domain"]["text"], cells["T"]["text"]) == ("Inventory", "3")
    assert cells["budget"]["text"] == "3 iterations"
    frame = service.store.rows([run.id])
    [record] = work_to_reach(frame).to_dict("records")
    assert cells["final"]["text"] == f"{100 * record['final']:.1f}%"
    assert cells["status"]["text"] == "finished"
    assert len(cells["curve"]["line"]) > 10
    assert {link["text"]: link["href"] for link in cells["open"]["links"]} == {
        "Policy": f"Policy_inspector?experiment={two[0]}&run={run.id}",
        "Lab": f"Run_lab?experiment={two[0]}",
        "Sweep": f"Run_lab?base={two[0]}.0",
    }


def test_a_link_holds_the_order_and_the_best_runs(service, two):
    every, best = table_rows(runs(sort="-final")), table_rows(runs(sort="-final", best="domain"))
    finals = [float(row["cells"]["final"]["text"].rstrip("%")) for row in every]
    assert len(finals) == 3 and finals == sorted(finals, reverse=True)
    assert [row["id"] for row in best] == [every[0]["id"]]
    assert every[0]["cells"]["final"]["mark"] == text.RANK_MARKS["best"]


def test_experiments_are_compared_with_the_settings_that_differ(service, two):
    test = runs(selected=",".join(two))
    assert set(traces(figures(test)["compared-inventory"])) >= {
        "A · E-FSVI, T=3",
        "A · Base E-VI",
        "B · Base E-VI",
    }
    table = html(runs(selected=",".join(two), view="settings"))
    heads = [part.partition("<")[0] for part in table.split('scope="col" class="words">')[1:]]
    assert {"Run", "algorithm", "T", "M"} <= set(heads)
    assert "gamma" not in table and "replications" not in table
    assert dict(test.query_params)["selected"] in (",".join(two), [",".join(two)])


def test_each_domain_has_its_own_chart(service, two):
    grid = RunSpec("gridworld", "vi", iterations=3)
    other = finished_experiment(service.store, grid, name="grid")
    found = figures(runs(selected=f"{two[0]},{other.id}"))
    assert set(found) == {"compared-inventory", "compared-gridworld"}
    assert "B · Base VI" in traces(found["compared-gridworld"])
    assert not any(name.startswith("B") for name in traces(found["compared-inventory"]))


def test_single_runs_of_an_experiment_can_be_selected(service, two):
    test = runs(selected=f"{two[0]}.1")
    assert selected(test) == [f"{two[0]}.1"]
    drawn = set(traces(figures(test)["compared-inventory"]))
    assert "Base E-VI" in drawn and "E-FSVI, T=3" not in drawn


def test_parallel_coordinates_show_the_numbers_that_differ(service, two):
    specs = [frozen(T=T) for T in (2, 3)]
    sweep = finished_experiment(service.store, *specs, name="sweep")
    drawn = traces(figures(runs(selected=sweep.id, view="parallel"))["parallel-inventory"])
    assert "T: 2" in drawn["E-FSVI, T=2"]["text"]
    one = runs(selected=f"{sweep.id}.0", view="parallel")
    assert (
        "Select at least two runs that have results and differ in a number, such as T "
        "or the budget."
    ) in [info.value for info in one.info]


def test_a_link_restores_a_comparison(service, two):
    test = runs(selected=",".join(two), x="evaluations")
    assert selected(test) == [f"{two[0]}.0", f"{two[0]}.1", f"{two[1]}.0"]
    assert "A · Base E-VI" in traces(figures(test)["compared-inventory"])


def test_deleted_experiments_are_left_out_of_the_selection(service, two):
    test = runs(selected=f"{two[0]},nosuchthing")
    assert test.header[0].value == "plain"
    assert test.warning[0].value == text.missing(["nosuchthing"])
    assert test.query_params["selected"] == two[0]


def test_name_and_note_can_be_changed(service, two):
    test = runs(selected=two[0])
    test.text_input[1].set_value("renamed")
    test.text_area[0].set_value("a *note*")
    save = next(b for b in test.button if b.label == "Save")
    save.click().run()
    assert not test.exception
    found = service.store.experiment(two[0])
    assert (found.name, found.note) == ("renamed", "a *note*")
    assert r"a \*note\*" in " ".join(c.value for c in test.caption)


def test_an_empty_name_is_refused(service, two):
    test = runs(selected=two[0])
    test.text_input[1].set_value("   ")
    next(b for b in test.button if b.label == "Save").click().run()
    assert "name" in test.error[0].value
    assert service.store.experiment(two[0]).name == "plain"


def test_a_pinned_experiment_cannot_be_deleted(service, two):
    test = runs(selected=two[0])
    test.button(key="pin").click().run()
    assert service.store.experiment(two[0]).pinned
    [delete] = [button for button in test.button if button.label == text.DELETE]
    assert (
        delete.disabled and delete.help == "Pinned experiments cannot be deleted. Unpin them first."
    )
    assert "delete" not in [button.key for button in test.button]
    test.button(key="pin").click().run()
    test.button(key="delete").click().run()
    assert test.success[0].value == "Deleted."
    assert [e.id for e in service.store.experiments()] == [two[1]]
    assert "selected" not in test.query_params


def test_visitors_of_a_shared_server_change_only_their_own_experiments(service, two, monkeypatch):
    monkeypatch.setattr("fsdash.dashboard.visitors.is_single_user", lambda: False)
    keys = {button.key for button in runs(selected=two[0]).button}
    assert not keys & {"pin", "delete"}


def test_exported_files_contain_all_rows_and_specifications(service, two):
    experiments = [service.store.experiment(id) for id in two]
    frame = files.rows_frame(service.store, experiments)
    assert set(frame["experiment"]) == set(two)
    assert len(frame) == service.store.size().rows
    csv = pd.read_csv(io.BytesIO(files.as_csv(frame)))
    parquet = pd.read_parquet(io.BytesIO(files.as_parquet(frame)))
    pd.testing.assert_frame_equal(parquet, frame, check_dtype=False)
    assert list(csv.columns) == list(frame.columns)
    specs = json.loads(files.specs_json(experiments))
    again = [RunSpec.from_dict(spec) for entry in specs for spec in entry["specs"]]
    assert again == [run.spec for e in experiments for run in e.runs]


@pytest.mark.parametrize("count", [1, 2])
def test_an_exported_file_can_be_imported(service, two, count):
    experiments = [service.store.experiment(id) for id in two[:count]]
    content = files.full_json(service.store, experiments)
    for id in two[:count]:
        service.store.delete(id)
    test = upload(content)
    assert test.success[0].value == text.imported(count)
    new = [e for e in service.store.experiments() if e.id not in two]
    assert sorted(e.name for e in new) == sorted(e.name for e in experiments)
    assert sum(r.rows for e in new for r in e.runs) == sum(
        r.rows for e in experiments for r in e.runs
    )


def upload(content: bytes) -> AppTest:
    test = runs()
    test.file_uploader[0].set_value(("exported.json", content, "application/json")).run()
    assert not test.exception
    return test


def test_an_import_of_what_is_stored_already_says_so_and_offers_to_show_it(service, two):
    content = files.full_json(service.store, [service.store.experiment(two[0])])
    test = upload(content)
    assert text.already_stored(["plain"]) in [info.value for info in test.info]
    assert service.store.size().experiments == 2
    test.button(key="show-existing").click().run()
    assert test.query_params["selected"] in (two[0], [two[0]])
    assert service.store.size().experiments == 2
    test = upload(content)
    test.button(key="import-copy").click().run()
    assert test.success[0].value == text.imported(1)
    assert service.store.size().experiments == 3


def test_an_export_with_more_rows_than_the_stored_copy_is_new(service, two):
    data = service.store.export(two[0])
    for run in data["runs"]:
        for replication in run["replications"]:
            rows = replication["rows"]
            last = {name: values[-1:] for name, values in rows.items()}
            for name, values in rows.items():
                values += [len(values)] if name == "step" else last[name]
    assert files.existing_copy(service.store, service.store.export(two[0])).id == two[0]
    assert files.existing_copy(service.store, data) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe nonsense", "is not JSON"),
        (b"[]", "contains 0 experiments"),
        (b"{}", "not an exported experiment"),
        (b'{"format": "fsdash experiment", "version": 99}', "version = 99"),
    ],
)
def test_an_unusable_file_is_refused_with_the_reason(service, content, message):
    test = runs()
    test.file_uploader[0].set_value(("bad.json", content, "application/json")).run()
    assert not test.exception
    assert test.error[0].value.startswith(text.not_imported("bad.json", ""))
    assert message in test.error[0].value
    assert service.store.size().experiments == 0


def test_a_file_name_is_not_markup(service):
    name = "![x](http://elsewhere.example/x.png).json"
    test = runs()
    test.file_uploader[0].set_value((name, b"{}", "application/json")).run()
    shown = test.error[0].value
    assert "![" not in shown and "http:" not in shown and "\u2060" in shown


def test_a_list_with_an_unusable_experiment_is_not_imported_at_all(service, two):
    stored = service.store.export(two[0])
    good = stored | {"created": stored["created"] - 1}  # not a copy of what is stored
    content = json.dumps([good, good, good | {"name": 3}]).encode()
    test = runs()
    test.file_uploader[0].set_value(("bad.json", content, "application/json")).run()
    assert "was not imported" in test.error[0].value
    assert service.store.size().experiments == 2


def test_names_are_not_formulas_in_exported_files(service):
    experiment = finished_experiment(service.store, base(), name='=HYPERLINK("http://x";"y")')
    csv = files.as_csv(files.rows_frame(service.store, [experiment])).decode()
    assert "'=HYPERLINK" in csv and ",=HYPERLINK" not in csv and ',"=HYPERLINK' not in csv


def test_a_file_that_is_too_large_is_refused():
    with pytest.raises(InputError, match="larger than 20 MB"):
        files.read_export(b" " * 20_000_001)


@pytest.mark.parametrize("junk", ["", "x" * 200, "<b>", "1,,2"])
def test_unusable_values_in_a_link_are_reported(service, two, junk):
    test = runs(on=junk, status=junk, selected=junk, shown=junk, sort=junk, best=junk)
    assert UNUSABLE in test.warning[0].value
    assert len(names(test)) == 3


def test_the_size_of_the_store_is_shown(service, two):
    size = service.store.size()
    assert text.store_size(size) in [c.value for c in runs().caption]
    assert f"2 experiments, {size.rows:,} rows" in text.store_size(size)


def test_markup_in_names_is_escaped(service):
    id = finished_experiment(service.store, base(), name="<script>alert(1)</script> **x** $y$").id
    test = runs(selected=id)
    assert "<script>alert" not in html(test)
    assert r"\<script\>" in test.header[0].value
    # The table's script writes cells as text, never as markup.
    assert names(test) == ["<script>alert(1)</script> **x** $y$"]
