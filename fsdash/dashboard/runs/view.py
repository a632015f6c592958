"""The Runs page: what has been kept. Find, compare, name, pin, export, import, delete."""

import streamlit as st

from fsdash.dashboard.runs.compare import chosen, draw_selection
from fsdash.dashboard.runs.list import (
    RUNS,
    draw_filters,
    draw_list,
    draw_messages,
    draw_store,
    found,
)
from fsdash.dashboard.service import as_sentence, open_service, show_store_error, visitor_id
from fsdash.dashboard.shell import open_page
from fsdash.errors import InputError
from fsdash.runs.errors import StoreError


def draw_page() -> None:
    service, me = open_service(), visitor_id()
    RUNS.read()
    draw_messages()
    left, right = st.columns([5, 7], gap="large")
    with left:
        draw_filters()
        draw_list(found(service, me))
        draw_store(service, me)
    with right:
        experiments = chosen(service)
        if experiments:
            draw_selection(service, experiments, me)
        else:
            st.subheader("Nothing is selected", anchor=False)
            st.markdown(
                "Tick one experiment to see its curves, several to see them **side by side**, with "
                "only those settings that differ. The address then holds the comparison: copy it "
                "to share what you see."
            )
    RUNS.write()


def show() -> None:
    """Draw the page."""
    open_page("Runs", parameters=RUNS.readers)
    st.title("What has been run", anchor=False)
    st.markdown("Every experiment is kept until it is deleted, whoever's browser started it.")
    try:
        draw_page()
    except InputError as problem:
        st.error(as_sentence(problem))
    except StoreError as problem:
        show_store_error(problem)
