"""The bar of a tour, the same on every page: where the visitor is, what to do, back and next.

The position is in the URL (`tour=lecturer.2`). A page that the visitor opens on the way, by another
link, has no position in its URL; the bar then leads back to the stop. `fsdash.teaching.tours` has
the tours.
"""

import streamlit as st

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.widgets.url_state import Reader, report_unusable
from fsdash.teaching.tours import Position, parse_position

PARAMETER = "tour"
POSITION, _AT_STOP = "fsdash-tour", "fsdash-tour-at-stop"
"""Session keys: the position, and whether the page in view was opened as that stop."""

BACK, NEXT, RETURN, END = "Back", "Next", "Return to the tour", "End the tour"
DO, LOOK_FOR = "To do", "Look for"
LAST = "This is the last stop."


def place(position: Position) -> str:
    """Such as: For lecturers: stop 2 of 5."""
    return f"{position.tour.audience}: stop {position.number} of {len(position.tour.stops)}"


def read_position() -> bool:
    """Read the position in the URL; returns whether the visitor has just come to this stop."""
    found = st.query_params.get(PARAMETER)
    if found is None:
        st.session_state[_AT_STOP] = False
        return False
    position, problems = Reader(parse_position).usable(PARAMETER, found)
    if not position:
        report_unusable(problems)
        st.query_params.pop(PARAMETER)
        return False
    was_here = st.session_state.get(_AT_STOP) and st.session_state.get(POSITION) == position[0]
    st.session_state[POSITION], st.session_state[_AT_STOP] = position[0], True
    return not was_here


def draw_bar() -> None:
    """The bar, if the visitor is on a tour."""
    position = st.session_state.get(POSITION)
    if position is None:
        return
    with st.container(border=True, key="tour", gap="small"):
        if st.session_state.get(_AT_STOP):
            _draw_stop(position)
        else:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{place(position)}**", width="content")
                link_to_stop(position, RETURN, ":material/undo:")
                _draw_end()


def _draw_stop(position: Position) -> None:
    stop = position.stop
    st.progress(position.number / len(position.tour.stops), place(position))
    st.markdown(f"**{stop.title}**\n\n- **{DO}:** {stop.do}\n- **{LOOK_FOR}:** {stop.look_for}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if before := position.moved(-1):
            link_to_stop(before, BACK, ":material/chevron_left:")
        if after := position.moved(1):
            link_to_stop(after, f"{NEXT}: {after.stop.title}", ":material/chevron_right:")
        else:
            st.markdown(LAST, width="content")
        _draw_end()


def _draw_end() -> None:
    st.button(END, key="tour-end", type="tertiary", icon=":material/close:", on_click=_end)


def _end() -> None:
    st.session_state.pop(POSITION, None)
    st.query_params.pop(PARAMETER, None)


def link_to_stop(position: Position, label: str, icon: str) -> None:
    """A link that opens the stop's page in the stop's state."""
    st.page_link(
        PAGES[position.stop.page].script,
        label=label,
        icon=icon,
        query_params={**position.stop.state, PARAMETER: str(position)},
        width="content",
    )
