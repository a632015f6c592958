"""Which exercises a visitor has solved. It is stored in their browser, never on the server."""

import streamlit as st

from fsdash.dashboard.widgets.browser_storage import browser_value
from fsdash.teaching.exercises import EXERCISES

_KNOWN, _NEW, _FORGET = "fsdash-progress", "fsdash-progress-new", "fsdash-progress-forget"
"""Session keys: what the browser reported, what was solved since, and whether to delete it."""


def read_progress(place: str = "") -> frozenset[str]:
    """The ids of the solved exercises; newly solved ones are stored. Call it once per place."""
    known: frozenset[str] | None = st.session_state.get(_KNOWN)
    new: frozenset[str] = st.session_state.get(_NEW, frozenset())
    write = None
    if st.session_state.pop(_FORGET, False):
        write, known, new = "", frozenset(), frozenset()
    elif known is not None and new - known:
        known = known | new
        write = ",".join(sorted(known))
    value = browser_value("progress", write=write, place=place)
    if write is None and value is not None:
        known = known_ids(value)
    st.session_state[_KNOWN] = known
    st.session_state[_NEW] = new
    return (known or frozenset()) | new


def known_ids(value: str) -> frozenset[str]:
    """The exercises in a stored value; anything else in it is ignored."""
    return frozenset(value.split(",")) & {exercise.id for exercise in EXERCISES}


def add_solved(id: str) -> None:
    """Remember, for the next `read_progress`, that an exercise is solved."""
    st.session_state[_NEW] = st.session_state.get(_NEW, frozenset()) | {id}


def forget_progress() -> None:
    """Let the next `read_progress` delete what the browser has stored."""
    st.session_state[_FORGET] = True
