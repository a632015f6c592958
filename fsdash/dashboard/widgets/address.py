"""Former names of `url_state`, for pages that still use them; to be deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from fsdash.dashboard.widgets.url_state import (
    _HISTORY,
    AddressHistory,
    Parameter,
    Texts,
    UrlState,
    _query,
    is_history_step,
    list_of,
    whole_number,
)
from fsdash.dashboard.widgets.url_state import comma_separated as listed
from fsdash.dashboard.widgets.url_state import experiment_id as experiment_id
from fsdash.dashboard.widgets.url_state import short_text as short_text
from fsdash.dashboard.widgets.url_state import switch as switch

__all__ = ["Address", "Part", "listed", "several", "stepped", "whole"]
Address, Part, stepped, several, whole = (
    UrlState,
    Parameter,
    is_history_step,
    list_of,
    whole_number,
)
_PAGE = "inspector"


def trail() -> Any:
    """The history of the inspector, with the former names of its members."""
    history = st.session_state.get(_HISTORY)
    if history is None or history.page != _PAGE:
        return None
    return _Trail(history)


class _Trail:
    def __init__(self, history: AddressHistory) -> None:
        self.written, self.fresh, self.knows = history.current, history.just_read, history.wrote
        self.history = history


def take(found: Texts) -> None:
    """Remember the URL that was read."""
    before = trail().history if trail() else AddressHistory(_PAGE, found)
    st.session_state[_HISTORY] = replace(before.then(found, before.current), just_read=True)


def show_address(now: Texts) -> None:
    """Bring the URL up to date."""
    found = _query()
    known = trail().history if trail() else AddressHistory(_PAGE, now)
    if now != found:
        st.query_params.from_dict(now)
    if now == found == known.current:
        st.session_state[_HISTORY] = replace(known, just_read=False)
    else:
        st.session_state[_HISTORY] = known.then(now, known.current, found)


def report(page: str, readers: Mapping[str, Callable[[str], Any]]) -> None:
    """Report unusable values of the link with which a page was opened."""
    state = UrlState(
        f"{page}-link", {name: Parameter(None, read) for name, read in readers.items()}
    )
    key = "fsdash-legacy-notice"
    if st.session_state.get(key, ("", ()))[0] != page:
        from fsdash.dashboard.widgets.url_state import usable_values

        problems = usable_values(_query(), state.parameters)[1]
        st.session_state[key] = (page, tuple(problems))
        st.session_state.pop(_HISTORY, None)
    if problems := st.session_state[key][1]:
        from fsdash.dashboard.widgets.url_state import UNUSABLE

        st.warning(f"{UNUSABLE}\n" + "".join(f"\n- {problem}" for problem in problems))
