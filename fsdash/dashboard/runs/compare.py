"""The right side of the Runs page: the selected experiments and the actions on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from fsdash.dashboard.curves import state as curves
from fsdash.dashboard.curves.observations import why_agnostic_wins
from fsdash.dashboard.curves.text import REGRET_SHOWN
from fsdash.dashboard.curves.view import read_curve_options, show_method_table, show_text_table
from fsdash.dashboard.runs import files, text
from fsdash.dashboard.runs.list import LAB_PAGE, PROBLEM, SUCCESS
from fsdash.dashboard.runs.state import (
    MAX_COMPARED,
    MAX_CURVES,
    MAX_IN_LEGEND,
    experiment_letters,
    settings_table,
)
from fsdash.dashboard.runs.url import runs_url
from fsdash.dashboard.service import Service, as_sentence, may_change
from fsdash.dashboard.widgets.chart import chart
from fsdash.errors import InputError
from fsdash.formatting import escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment, Run
from fsdash.runs.store.experiments import MAX_NAME, MAX_NOTE


def selected_experiments(service: Service) -> list[Experiment]:
    """The selected experiments; those that no longer exist are reported and deselected."""
    selected = runs_url().get("selected")
    found, missing = [], []
    for id in selected[:MAX_COMPARED]:
        try:
            found.append(service.store.experiment(id))
        except InputError:
            missing.append(id)
    if missing:
        st.warning(text.missing(missing))
        runs_url().put("selected", [id for id in selected if id not in missing])
    return found


def draw_selection(service: Service, experiments: Sequence[Experiment], visitor: str) -> None:
    """Actions, curves and tables of the selected experiments."""
    letters = experiment_letters(experiments)
    if len(runs_url().get("selected")) > MAX_COMPARED:
        st.info(text.too_many(MAX_COMPARED))
    if letters:
        st.subheader(text.COMPARISON, anchor=False)
        now = time.time()
        lines = (text.experiment_line(letters[e.id], e, now) for e in experiments)
        st.markdown("  \n".join(lines))
    else:
        st.subheader(escape_markdown(experiments[0].name), anchor=False)
    _draw_actions(service, experiments, visitor)
    runs = [run for experiment in experiments for run in experiment.runs][:MAX_CURVES]
    labels = curves.run_labels(runs, letters)
    _draw_curves(service, experiments, runs, labels)
    names, rows = settings_table(runs, labels)
    if names:
        st.markdown(f"**{text.DIFFERENT_SETTINGS}**")
        columns = [text.RUN, *(name.replace("_", " ") for name in names)]
        show_text_table(columns, rows, text.DIFFERENT_SETTINGS)
    else:
        st.caption(text.SAME_SETTINGS)


def _draw_curves(
    service: Service,
    experiments: Sequence[Experiment],
    runs: Sequence[Run],
    labels: dict[int, str],
) -> None:
    frame = pd.concat([service.rows(e).frame for e in experiments], ignore_index=True)
    rows = curves.curve_rows(frame[frame["run"].isin(labels)], runs, labels)
    options = read_curve_options(runs_url(), rows, single_runs=False)
    if rows.empty:
        st.info(text.NO_ROWS)
        return
    figure = curves.curves_figure(rows, options, curves.sweep_sizes(runs)[1])
    # The table below shows the line of every method, so a long legend can be left out.
    figure.update_layout(showlegend=len(runs) <= MAX_IN_LEGEND)
    alt_text = text.curves_alt_text(list(labels.values()))
    work = curves.work_table(curves.finished_rows(rows, runs), options.x)
    share = curves.is_share(work)
    if not share:
        st.caption(REGRET_SHOWN)
    chart(figure, "compared", alt_text=alt_text, height=420)
    dashes = curves.line_dashes(figure)
    table = curves.method_rows(runs, labels, work, None, dashes, options.dark)
    show_method_table(table, options.x, progress=False, share=share)
    if why := why_agnostic_wins(work, curves.slow_states(runs)):
        st.caption(why)


# ----------------------------------------------------------------------------------------- actions


def _draw_actions(service: Service, experiments: Sequence[Experiment], visitor: str) -> None:
    changeable = all(may_change(experiment, visitor) for experiment in experiments)
    with st.container(horizontal=True, gap="small", key="runs-actions"):
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
            runs_url().put("selected", [id for id in selected if id not in deleted])

    if any(experiment.pinned for experiment in experiments):
        st.button(text.DELETE, icon=":material/delete:", disabled=True, help=text.DELETE_PINNED)
        return
    with st.popover(text.DELETE, icon=":material/delete:"):
        st.markdown(text.delete_question(len(experiments)))
        st.button(text.DELETE_NOW, key="delete", type="primary", on_click=delete)


def _draw_export(service: Service, experiments: Sequence[Experiment]) -> None:
    name = experiments[0].id if len(experiments) == 1 else "experiments"
    store = service.store
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
