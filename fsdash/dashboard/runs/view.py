"""The Runs page: find, compare, rename, pin, export, import and delete experiments."""

import streamlit as st

from fsdash.dashboard.runs import text
from fsdash.dashboard.runs.compare import draw_selection, selected_experiments
from fsdash.dashboard.runs.list import (
    draw_filters,
    draw_import,
    draw_list,
    draw_messages,
    find_experiments,
)
from fsdash.dashboard.runs.url import runs_url
from fsdash.dashboard.service import as_sentence, open_service, show_store_error, visitor_id
from fsdash.dashboard.shell import open_page
from fsdash.errors import InputError
from fsdash.runs.errors import StoreError


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, runs_url())
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    try:
        _draw_page()
    except InputError as problem:
        st.error(as_sentence(problem))
    except StoreError as problem:
        show_store_error(problem)


def _draw_page() -> None:
    service, visitor = open_service(), visitor_id()
    draw_messages()
    left, right = st.columns([5, 7], gap="large")
    with left:
        draw_filters(service)
        draw_list(find_experiments(service, visitor))
        draw_import(service, visitor)
    with right:
        experiments = selected_experiments(service)
        if experiments:
            draw_selection(service, experiments, visitor)
        else:
            st.subheader(text.NOTHING_SELECTED, anchor=False)
            st.markdown(text.NOTHING_SELECTED_BODY)
    runs_url().write()
