"""The right side of the Runs page: what is selected, side by side, and what can be done with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from fsdash.dashboard.curves import state as lab_view
from fsdash.dashboard.curves.options import read_look
from fsdash.dashboard.curves.state import X_LABELS
from fsdash.dashboard.curves.table import methods_html, plain_html
from fsdash.dashboard.run_lab.form import escape_markdown
from fsdash.dashboard.run_lab.text import BADGES
from fsdash.dashboard.runs import files as runs_files
from fsdash.dashboard.runs.list import LAB_PAGE, PROBLEM, RUNS, SAID
from fsdash.dashboard.service import Service, as_sentence, may_change
from fsdash.dashboard.widgets.chart import chart
from fsdash.errors import InputError
from fsdash.formatting import setting, time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment, Run
from fsdash.runs.store.experiments import MAX_NAME, MAX_NOTE

LETTERS = "ABCDEFGH"
MOST_COMPARED = len(LETTERS)
MOST_CURVES = 24
MOST_IN_LEGEND = 8
"""More entries would leave no room for the curves."""


def chosen(service: Service) -> list[Experiment]:
    """The selected experiments that are still kept; the others are told and forgotten."""
    kept, gone = [], []
    for id in RUNS.get("selected")[:MOST_COMPARED]:
        try:
            kept.append(service.store.experiment(id))
        except InputError:
            gone.append(id)
    if gone:
        st.warning(f"Not kept here, or no longer: {', '.join(f'`{id}`' for id in gone)}.")
        RUNS.put("selected", [id for id in RUNS.get("selected") if id not in gone])
    return kept


def draw_selection(service: Service, experiments: Sequence[Experiment], me: str) -> None:
    """Curves and tables of the selected experiments, then what can be done with them."""
    if len(RUNS.get("selected")) > MOST_COMPARED:
        st.info(f"Only the first {MOST_COMPARED} of those selected are compared.")
    if len(experiments) == 1:
        st.subheader(escape_markdown(experiments[0].name), anchor=False)
    else:
        st.subheader("Side by side", anchor=False)
        letters = marks(experiments)
        now = time.time()
        st.markdown(
            "  \n".join(
                f"**{letters[e.id]}** · {escape_markdown(e.name)}, {BADGES[e.status][0]}, "
                f"{time_ago(e.created, now)}"
                for e in experiments
            )
        )
    _draw_actions(service, experiments, me)
    runs = [run for experiment in experiments for run in experiment.runs][:MOST_CURVES]
    named = lab_view.labels(runs, marks(experiments))
    look = read_look(RUNS, singles=False)
    frames = [service.rows(experiment).frame for experiment in experiments]
    rows = lab_view.prepared(pd.concat(frames, ignore_index=True), runs, named)
    rows = rows[rows["run"].isin(named)]
    if rows.empty:
        st.info("Nothing has been recorded for them yet.")
    else:
        figure = lab_view.curves(rows, look, lab_view.sweeps_of(runs)[1])
        alt_text = f"Learning curves of {', '.join(named.values())}."
        # The table below names every line by its stroke, so a long legend can go.
        figure.update_layout(showlegend=len(runs) <= MOST_IN_LEGEND)
        chart(figure, "compared", alt_text=alt_text, height=420)
        work = lab_view.work_table(lab_view.settled(rows, runs), look.x)
        strokes = lab_view.strokes(figure)
        table = lab_view.method_rows(runs, named, work, None, strokes, look.dark)
        st.html(methods_html(table, X_LABELS[look.x].lower(), progress=False))
    _draw_differences(runs, named)


def marks(experiments: Sequence[Experiment]) -> dict[str, str]:
    """A letter for each of several experiments."""
    return (
        dict(zip((e.id for e in experiments), LETTERS, strict=False))
        if len(experiments) > 1
        else {}
    )


def _draw_differences(runs: Sequence[Run], named: dict[int, str]) -> None:
    """Only the settings that are not the same in all runs."""
    names = [name for name in lab_view.differing(runs) if name not in ("algorithm", "T")]
    if not names:
        st.caption("All settings but the method are the same.")
        return
    st.markdown("**Settings that differ between the runs**")
    rows = [
        [named[run.id], *(setting(lab_view.settings(run).get(name, "–")) for name in names)]
        for run in runs
    ]
    heads = ["Run", *(name.replace("_", " ") for name in names)]
    st.html(plain_html(heads, rows, "Settings that differ"))


# ----------------------------------------------------------------------------------------- actions


def _draw_actions(service: Service, experiments: Sequence[Experiment], me: str) -> None:
    mine = [experiment for experiment in experiments if may_change(experiment, me)]
    with st.container(horizontal=True, gap="small", key="runs-actions"):
        if len(mine) == len(experiments):
            if len(mine) == 1:
                _draw_naming(service, mine[0])
            _draw_pin(service, mine)
            _draw_delete(service, mine)
        with st.popover("Export", icon=":material/download:"):
            _draw_export(service, experiments)
        if len(experiments) == 1:
            st.page_link(
                LAB_PAGE,
                label="Run it again",
                icon=":material/replay:",
                query_params={"from": experiments[0].id},
            )


def _draw_naming(service: Service, experiment: Experiment) -> None:
    id = experiment.id
    with st.popover("Name and note", icon=":material/edit:"), st.form(f"naming-{id}", border=False):
        name = st.text_input("Name", experiment.name, max_chars=MAX_NAME)
        note = st.text_area("Note", experiment.note, max_chars=MAX_NOTE)
        if st.form_submit_button("Save", type="primary"):
            _try(lambda: (service.store.rename(id, name), service.store.note(id, note)), "Saved.")
            st.rerun()


def _draw_pin(service: Service, experiments: Sequence[Experiment]) -> None:
    pinned = all(experiment.pinned for experiment in experiments)

    def change() -> None:
        said = "Unpinned." if pinned else "Pinned: it cannot be deleted until it is unpinned."
        _try(lambda: [service.store.pin(e.id, not pinned) for e in experiments], said)

    st.button(
        "Unpin" if pinned else "Pin",
        icon=":material/keep:",
        key="pin",
        on_click=change,
        help="What is pinned cannot be deleted.",
    )


def _draw_delete(service: Service, experiments: Sequence[Experiment]) -> None:
    def delete() -> None:
        _try(lambda: [service.store.delete(e.id) for e in experiments], "Deleted.")
        gone = {e.id for e in experiments}
        if PROBLEM not in st.session_state:
            RUNS.put("selected", [id for id in RUNS.get("selected") if id not in gone])

    if any(experiment.pinned for experiment in experiments):
        st.button("Delete", icon=":material/delete:", disabled=True, help="Pinned: unpin it first.")
        return
    with st.popover("Delete", icon=":material/delete:"):
        count = len(experiments)
        st.markdown(
            f"Delete {'this experiment' if count == 1 else f'these {count} experiments'} with all "
            "rows and policies? This cannot be undone; export first what you may want again."
        )
        st.button("Delete for good", key="delete", type="primary", on_click=delete)


def _draw_export(service: Service, experiments: Sequence[Experiment]) -> None:
    name = experiments[0].id if len(experiments) == 1 else "experiments"
    store = service.store
    frame = lambda: runs_files.rows_frame(store, experiments)  # noqa: E731
    files: list[tuple[str, str, str, Callable[[], bytes]]] = [
        ("Rows, CSV", f"{name}.csv", "text/csv", lambda: runs_files.as_csv(frame())),
        (
            "Rows, Parquet",
            f"{name}.parquet",
            "application/vnd.apache.parquet",
            lambda: runs_files.as_parquet(frame()),
        ),
        (
            "Specification, JSON",
            f"{name}-specs.json",
            "application/json",
            lambda: runs_files.specs_json(experiments),
        ),
        (
            "Everything, JSON",
            f"{name}-full.json",
            "application/json",
            lambda: runs_files.full_json(store, experiments),
        ),
    ]
    for label, file, kind, make in files:
        st.download_button(
            label, make, file, kind, key=f"export-{label}", on_click="ignore", width="stretch"
        )
    st.caption("*Everything* holds the policies too, and can be imported.")


def _try(act: Callable[[], object], said: str) -> None:
    """Do it, and keep for the next run what is to be said about it."""
    try:
        act()
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = as_sentence(problem)
        return
    st.session_state[SAID] = said
