"""The Runs page: find, sort, compare, rename, pin, export, import and delete experiments."""

import streamlit as st

from fsdash.dashboard.runs import text
from fsdash.dashboard.runs.actions import draw_selection_bar
from fsdash.dashboard.runs.compare import draw_comparison, selected_experiments, selected_runs
from fsdash.dashboard.runs.imports import draw_messages
from fsdash.dashboard.runs.list import draw_filters, draw_table, find_experiments, search
from fsdash.dashboard.runs.table import Search
from fsdash.dashboard.runs.url import runs_url
from fsdash.dashboard.service import Service, open_service, show_store_error
from fsdash.dashboard.shell import add_style, exercises, open_page
from fsdash.dashboard.visitors import visitor_id
from fsdash.errors import InputError
from fsdash.formatting import as_sentence, escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment

# The table needs the whole width. On a narrow screen two filters share a line.
STYLE = """<style>
[data-testid="stMainBlockContainer"] {max-width: 1600px;}
.st-key-selection-bar {min-height: 2.8rem; justify-content: center;}
@media (max-width: 640px) {
  .st-key-filters > div {flex: 1 0 40% !important;}
  .st-key-filters > .st-key-runs-text {flex-basis: 100% !important;}
  .st-key-filters [data-testid="stPopoverButton"] {width: 100%;}
}
@media (min-width: 900px) {[data-testid="stMainBlockContainer"] {padding: 3rem 2.5rem;}}
</style>"""
REFRESH = 5.0
"""Seconds between two refreshes while a run in the table is active."""

MAX_COMPARED = 30
"""Runs found by a search that are compared although none is selected."""


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, runs_url())
    add_style(STYLE)
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    service, visitor = open_service(), visitor_id()
    active = _guarded(lambda: any(e.active for e in _find(service, visitor)[1]))
    st.fragment(_refresh, run_every=REFRESH if active else None)(service, visitor, bool(active))
    exercises("runs", runs_url())


def _refresh(service: Service, visitor: str, was_active: bool) -> None:
    _guarded(lambda: _draw_page(service, visitor, was_active))


def _guarded(draw):
    """The result of `draw`; if it fails, the page says why."""
    try:
        return draw()
    except InputError as problem:
        st.error(as_sentence(problem))
    except StoreError as problem:
        show_store_error(problem)
    return None


def _find(service: Service, visitor: str) -> tuple[Search, list[Experiment]]:
    """What the visitor searches for, and the experiments that have it."""
    asked = search(service)
    return asked, find_experiments(service, visitor, asked)


def _draw_page(service: Service, visitor: str, was_active: bool) -> None:
    draw_messages(service, visitor)
    draw_filters(service, visitor)
    asked, found = _find(service, visitor)
    if asked.problem:
        st.warning(escape_markdown(asked.problem))
    if any(e.active for e in found) != was_active:
        st.rerun()  # Streamlit fixes the interval of a fragment when the page runs
    experiments = selected_experiments(service)
    bar, above = st.container(key="selection-bar"), st.container()
    listed = draw_table(service, found, experiments, visitor, asked)
    runs = selected_runs(experiments)
    compared = not runs and asked != Search() and 1 < len(listed) <= MAX_COMPARED
    with bar:
        if runs:
            draw_selection_bar(service, experiments, runs, listed, visitor)
        elif listed and not compared:
            st.markdown(text.NOTHING_SELECTED)
    # A search for several T is for comparing them. A search for a name is for finding one run.
    with above if len(asked.T) > 1 else st.container():
        if runs:
            draw_comparison(service, experiments, runs)
        elif compared:
            draw_comparison(service, found, listed, text.all_found(len(listed)))
    st.caption(text.store_size(service.store.size()))
    runs_url().write()
