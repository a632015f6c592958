"""What can be done with the selected experiments: name, pin, delete, export, repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.runs import files, text
from fsdash.dashboard.runs.imports import PROBLEM, SUCCESS
from fsdash.dashboard.runs.state import file_stem
from fsdash.dashboard.runs.url import runs_url
from fsdash.dashboard.service import Service
from fsdash.dashboard.visitors import may_change
from fsdash.errors import InputError
from fsdash.formatting import as_sentence
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment, Run
from fsdash.runs.store.queries import MAX_NAME, MAX_NOTE

LAB_PAGE, INSPECTOR_PAGE = PAGES["run_lab"].script, PAGES["inspector"].script


def draw_selection_bar(
    service: Service,
    experiments: Sequence[Experiment],
    runs: Sequence[Run],
    listed: Sequence[Run],
    visitor: str,
) -> None:
    """How many runs are selected, with buttons and links; `listed` are the runs in the table."""
    changeable = all(may_change(experiment, visitor) for experiment in experiments)
    hidden = len({run.id for run in runs} - {run.id for run in listed})
    with st.container(
        horizontal=True, gap="small", vertical_alignment="center", key="runs-actions"
    ):
        st.markdown(text.selection(len(runs), hidden), width="content")
        _draw_compare_policies(runs)
        if changeable:
            if len(experiments) == 1:
                _draw_edit(service, experiments[0])
            _draw_pin(service, experiments)
            _draw_delete(service, experiments)
        with st.popover(text.EXPORT, icon=":material/download:"):
            _draw_export(service, experiments)
        if len(experiments) == 1:
            st.page_link(
                LAB_PAGE,
                label=text.RUN_AGAIN,
                icon=":material/replay:",
                query_params={"from": experiments[0].id},
            )
        st.button(
            text.CLEAR,
            icon=":material/close:",
            type="tertiary",
            key="clear",
            on_click=runs_url().put,
            args=("selected", []),
        )


def _draw_compare_policies(runs: Sequence[Run]) -> None:
    """A link to the inspector with the policies of two runs on the same model."""
    if len(runs) != 2 or not all(run.rows for run in runs):
        return
    one, other = runs
    parameters = (run.spec_data.get("domain_parameters") for run in runs)
    if one.domain == other.domain and next(parameters) == next(parameters):
        query = {"experiment": one.experiment, "run": str(one.id)}
        st.page_link(
            INSPECTOR_PAGE,
            label=text.COMPARE_POLICIES,
            icon=":material/compare_arrows:",
            query_params=query | {"compare": "run", "other": str(other.id)},
        )


def _draw_edit(service: Service, experiment: Experiment) -> None:
    id, store = experiment.id, service.store
    with st.popover(text.EDIT, icon=":material/edit:"), st.form(f"edit-{id}", border=False):
        name = st.text_input(text.NAME, experiment.name, max_chars=MAX_NAME)
        note = st.text_area(text.NOTE, experiment.note, max_chars=MAX_NOTE)
        if st.form_submit_button(text.SAVE, type="primary"):
            _try(lambda: (store.rename(id, name), store.note(id, note)), text.SAVED)
            st.rerun()


def _draw_pin(service: Service, experiments: Sequence[Experiment]) -> None:
    pinned = all(experiment.pinned for experiment in experiments)

    def change() -> None:
        message = text.UNPINNED if pinned else text.PINNED
        _try(lambda: [service.store.pin(e.id, not pinned) for e in experiments], message)

    st.button(
        text.UNPIN if pinned else text.PIN,
        icon=":material/keep:",
        key="pin",
        on_click=change,
        help=text.PIN_HELP,
    )


def _draw_delete(service: Service, experiments: Sequence[Experiment]) -> None:
    def delete() -> None:
        _try(lambda: [service.store.delete(e.id) for e in experiments], text.DELETED)
        deleted = {e.id for e in experiments}
        if PROBLEM not in st.session_state:
            selected = runs_url().get("selected")
            left = [ref for ref in selected if ref.partition(".")[0] not in deleted]
            runs_url().put("selected", left)

    if any(experiment.pinned for experiment in experiments):
        st.button(text.DELETE, icon=":material/delete:", disabled=True, help=text.DELETE_PINNED)
        return
    with st.popover(text.DELETE, icon=":material/delete:"):
        st.markdown(text.delete_question(len(experiments)))
        st.button(text.DELETE_NOW, key="delete", type="primary", on_click=delete)


def _draw_export(service: Service, experiments: Sequence[Experiment]) -> None:
    name, store = file_stem(experiments), service.store
    frame = lambda: files.rows_frame(store, experiments)  # noqa: E731
    json, parquet = "application/json", "application/vnd.apache.parquet"
    downloads: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
        (text.EXPORT_CSV, f"{name}.csv", "text/csv", lambda: files.as_csv(frame())),
        (text.EXPORT_PARQUET, f"{name}.parquet", parquet, lambda: files.as_parquet(frame())),
        (text.EXPORT_SPECS, f"{name}-specs.json", json, lambda: files.specs_json(experiments)),
        (
            text.EXPORT_EVERYTHING,
            f"{name}-full.json",
            json,
            lambda: files.full_json(store, experiments),
        ),
    )
    for label, file, kind, content in downloads:
        st.download_button(
            label, content, file, kind, key=f"export-{label}", on_click="ignore", width="stretch"
        )
    st.caption(text.EXPORT_CAPTION)


def _try(action: Callable[[], object], message: str) -> None:
    """Carry out the action; the next run of the page shows the message or the error."""
    try:
        action()
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = as_sentence(problem)
        return
    st.session_state[SUCCESS] = message
