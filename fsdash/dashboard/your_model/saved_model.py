"""A saved model: its policy as a file, its regret over T, its constants, its name and note."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import streamlit as st

from fsdash.choice.solved import Suitability
from fsdash.choice.splits import rank_splits
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.visitors import may_change
from fsdash.dashboard.widgets.chart import chart, export
from fsdash.dashboard.widgets.planning import draw_planning
from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.state import Solution
from fsdash.dashboard.your_model.url import URL, open_new
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.figures.regret_over_T import regret_figure
from fsdash.formatting import as_sentence, escape_markdown, number
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.models import SavedModelRecord
from fsdash.runs.store.queries import MAX_NAME, MAX_NOTE
from fsdash.theory.measured import MeasuredConstants, measure

CONSTANTS_SECONDS = 20.0
"""Time limit of the measured constants."""
MESSAGE, PROBLEM, CONFIRM = "your-model-message", "your-model-problem", "your-model-confirm"
PREVIEW_HEIGHT = 320


def draw_saved_model(store: Store, saved: SavedModelRecord, visitor: str) -> None:
    """Everything about one saved model."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(escape_markdown(saved.name), anchor=False)
        st.button("New model", icon=":material/add:", key="new-model", on_click=open_new)
    st.caption(text.describe_model(saved))
    if saved.note:
        st.markdown(escape_markdown(saved.note))
    _draw_links(saved)
    drawings = {
        "policy": lambda: _draw_policy(saved),
        "plan": lambda: _draw_plan(saved),
        "regret": lambda: _draw_regret(saved),
        "constants": lambda: _draw_constants(saved),
        "manage": lambda: _draw_manage(store, saved, visitor),
    }
    tabs = st.tabs(list(text.TABS.values()), key=URL.key("tab"), on_change="rerun")
    for tab, draw in zip(tabs, drawings.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _draw_links(saved: SavedModelRecord) -> None:
    """The same model on the other pages."""
    links = (
        ("Run in the lab", "run_lab", {"domain": saved.domain}),
        ("Inspect the policy", "inspector", {"domain": saved.domain} | _inspected_policy()),
        ("Choose T", "choose_t", {"model": saved.domain}),
    )
    with st.container(horizontal=True, gap="medium", key="model-links"):
        for label, page, query in links:
            script, icon = PAGES[page].script, PAGES[page].icon
            st.page_link(script, label=label, icon=icon, query_params=query)


def _inspected_policy() -> dict[str, str]:
    """The policy in view, in the terms of the Policy inspector, where MPI finds the optimum."""
    if URL.get("method") == "optimal":
        return {"method": "mpi"}
    return {"method": "fsvi", "T": str(URL.get("T"))}


def _draw_plan(saved: SavedModelRecord) -> None:
    draw_planning(saved.domain, make(saved.domain).build, text.file_stem(saved.name))


# ------------------------------------------------------------------------------------------ policy


def _draw_policy(saved: SavedModelRecord) -> None:
    left, right = st.columns([4, 7], gap="medium")
    with left:
        method = st.segmented_control(
            "Policy",
            tuple(text.METHODS),
            default="optimal",
            required=True,
            format_func=text.METHODS.get,
            key=URL.key("method"),
        )
        T = state.DEFAULT_T
        if method == "fsvi":
            T = st.number_input("Periods T to freeze", 1, state.LARGEST_T, T, key=URL.key("T"))
        solution = _solve(saved.domain, method, T if method == "fsvi" else 1)
        _draw_downloads(saved, method, T, solution)
        _draw_worth(solution)
    with right:
        frame = solution.policy.to_frame()
        st.dataframe(
            frame.head(state.MAX_PREVIEW),
            hide_index=True,
            height=PREVIEW_HEIGHT,
            key="model-policy",
        )
        st.caption(text.policy_caption(solution.policy.period, len(frame), state.MAX_PREVIEW))


def _draw_downloads(saved: SavedModelRecord, method: str, T: int, solution: Solution) -> None:
    name = text.file_stem(saved.name) + "-policy"
    if method == "fsvi":
        name += f"-fsvi-T{T}"
    with st.container(horizontal=True):
        st.download_button(
            "Policy, CSV",
            solution.policy.to_csv,
            f"{name}.csv",
            "text/csv",
            icon=":material/download:",
            type="primary",
            key="policy-csv",
            on_click="ignore",
        )


def _draw_worth(solution: Solution) -> None:
    if solution.worth.notice:
        st.warning(solution.worth.notice)
    with st.container(horizontal=True, gap="large", key="model-worth"):
        st.metric(
            text.MEAN[solution.sense],
            number(solution.mean),
            width="content",
            help=text.MEAN_HELP[solution.sense],
        )
        st.metric(
            "Mean regret",
            text.regret_text(solution.worth.mean_regret, solution.relative_regret),
            width="content",
            help=text.REGRET_HELP,
        )


@st.cache_resource(max_entries=64, show_spinner="Solving …")
def _solve(domain: str, method: str, T: int) -> Solution:
    return state.solve(domain, method, T)


# --------------------------------------------------------------------------------- regret over T


def _draw_regret(saved: SavedModelRecord) -> None:
    st.markdown(text.REGRET_INTRODUCTION)
    rows, bar = [], st.progress(0.0)
    for i, T in enumerate(state.HORIZONS):
        bar.progress(i / len(state.HORIZONS), f"FSVI with T = {T} …")
        rows.append(_regret_row(saved.domain, T))
    table, verdict = pd.DataFrame(rows), _verdict(saved.domain)
    bar.empty()
    (st.success if verdict.suits else st.warning)(verdict.text)
    figure = regret_figure(table)
    chart(figure, "regret-over-T", height=360, alt_text=text.REGRET_ALT_TEXT)
    export(f"regret-{saved.hash}", figure, table, state.regret_snippet(saved.domain))
    _draw_splits(saved)


@st.cache_resource(max_entries=256, show_spinner=False)
def _regret_row(domain: str, T: int) -> dict[str, float]:
    return state.regret_row(domain, T)


@st.cache_resource(max_entries=32, show_spinner=False)
def _verdict(domain: str) -> Suitability:
    return state.verdict(domain)


def _draw_splits(saved: SavedModelRecord) -> None:
    """Other choices of slow variables, compared on request."""
    if len(saved.variables["slow"]) + len(saved.variables["fast"]) < 2:
        return
    st.markdown("**Other choices of slow variables**")
    key = f"splits-{saved.hash}"
    if not st.session_state.get(key):
        st.button(
            "Compare by regret",
            key=f"compare-{key}",
            on_click=st.session_state.update,
            args=({key: True},),
            help="Solves the model with up to eight choices of slow variables.",
        )
        return
    frame = _splits(saved.domain)
    shown = frame[[name for name in frame.columns if name not in ("padding", "suits")]]
    config = {
        name: st.column_config.NumberColumn(text.split_label(name), format="percent")
        if name.startswith("regret_")
        else st.column_config.Column(text.split_label(name))
        for name in shown.columns
    }
    st.dataframe(shown, hide_index=True, key="model-splits", column_config=config)
    st.caption(text.SPLITS_CAPTION)


@st.cache_resource(max_entries=16, show_spinner="Comparing choices of slow variables …")
def _splits(domain: str) -> pd.DataFrame:
    return rank_splits(make(domain).build())


# --------------------------------------------------------------------------------------- constants


def _draw_constants(saved: SavedModelRecord) -> None:
    st.markdown(text.CONSTANTS_INTRODUCTION)
    try:
        measured = _constants(saved.domain)
    except InputError as problem:
        st.error(escape_markdown(as_sentence(problem)), icon=":material/error:")
        return
    st.markdown(text.constants_table(asdict(measured)))
    notes = [text.COUPLINGS[measured.coupling]]
    if not measured.exact:
        notes.append(text.NOT_EXACT)
    if saved.n_pairs < saved.n_slow * saved.n_fast * saved.n_actions:
        notes.append(text.SOME_INFEASIBLE)
    st.caption(" ".join(notes))


@st.cache_resource(max_entries=32, show_spinner="Measuring the constants …")
def _constants(domain: str) -> MeasuredConstants:
    return measure(make(domain).build(), seconds=CONSTANTS_SECONDS)


# ------------------------------------------------------------------------------------------ manage


def _draw_manage(store: Store, saved: SavedModelRecord, visitor: str) -> None:
    """Rename, annotate, export and delete."""
    mine = may_change(saved, visitor)
    if message := st.session_state.pop(MESSAGE, None):
        st.success(message)
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(escape_markdown(as_sentence(problem)), icon=":material/error:")
    if not mine:
        st.info(text.NOT_YOURS)
    with st.form("manage-model", border=False):
        name = st.text_input(
            "Name", saved.name, MAX_NAME, disabled=not mine, key=f"manage-name-{saved.hash}"
        )
        note = st.text_area(
            "Note",
            saved.note,
            max_chars=MAX_NOTE,
            disabled=not mine,
            key=f"manage-note-{saved.hash}",
        )
        if st.form_submit_button("Save name and note", disabled=not mine, key="rename-model"):
            _change(lambda: _rename(store, saved, name, note), "Saved.")
            st.rerun()
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Export, NPZ",
            lambda: store.models.content(saved.hash),
            f"{text.file_stem(saved.name)}.npz",
            "application/octet-stream",
            icon=":material/download:",
            key="export-model",
            on_click="ignore",
            help="The whole model as one file; upload it here to open it again.",
        )
        _draw_delete(store, saved, mine)
    st.caption(
        f"On the command line: `fsdash solve {saved.domain}`. In Python: "
        f"`fsdash.make({saved.domain!r})`."
    )


def _rename(store: Store, saved: SavedModelRecord, name: str, note: str) -> None:
    store.models.rename(saved.hash, name)
    store.models.note(saved.hash, note)


def _draw_delete(store: Store, saved: SavedModelRecord, mine: bool) -> None:
    """Two clicks: a deleted model cannot be restored."""
    if st.session_state.get(CONFIRM) != saved.hash:
        st.button(
            "Delete",
            icon=":material/delete:",
            key="delete-model",
            disabled=not mine,
            on_click=st.session_state.update,
            args=({CONFIRM: saved.hash},),
        )
        return

    def delete() -> None:
        st.session_state.pop(CONFIRM)
        if _change(lambda: store.models.delete(saved.hash), "The model was deleted."):
            open_new()

    st.button(
        "Yes, delete it",
        icon=":material/delete_forever:",
        type="primary",
        key="confirm-delete",
        on_click=delete,
    )
    st.button("Cancel", key="cancel-delete", on_click=st.session_state.pop, args=(CONFIRM,))


def _change(action, done: str) -> bool:
    """Change something in the store, and keep the result for the next run of the page."""
    try:
        action()
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = str(problem)
        return False
    st.session_state[MESSAGE] = done
    return True
