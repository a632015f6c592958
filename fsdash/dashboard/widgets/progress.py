"""Which exercises a visitor has solved. It is stored in their browser, never on the server."""

import streamlit as st

from fsdash.dashboard.widgets.browser_storage import browser_value
from fsdash.teaching.exercises import EXERCISES

_STORED, _NEW, _FORGET = "fsdash-progress", "fsdash-progress-new", "fsdash-progress-forget"
"""Session keys: what the browser reported, what was solved since, and whether to delete it."""


def read_progress(place: str = "") -> frozenset[str]:
    """The ids of the solved exercises; newly solved ones are stored. Call it once per place."""
    stored: frozenset[str] | None = st.session_state.get(_STORED)
    new: frozenset[str] = st.session_state.get(_NEW, frozenset())
    write = None
    if st.session_state.pop(_FORGET, False):
        write, stored, new = "", frozenset(), frozenset()
    elif stored is not None and new - stored:
        stored = stored | new
        write = ",".join(sorted(stored))
    value = browser_value("progress", write=write, place=place)
    if write is None and value is not None:
        stored = known_ids(value)
    st.session_state[_STORED] = stored
    st.session_state[_NEW] = new
    return (stored or frozenset()) | new


def known_ids(value: str) -> frozenset[str]:
    """The exercises in a stored value; anything else in it is ignored."""
    return frozenset(value.split(",")) & {exercise.id for exercise in EXERCISES}


def add_solved(id: str) -> None:
    """Remember, for the next `read_progress`, that an exercise is solved."""
    st.session_state[_NEW] = st.session_state.get(_NEW, frozenset()) | {id}


def forget_progress() -> None:
    """Let the next `read_progress` delete what the browser has stored."""
    st.session_state[_FORGET] = True
