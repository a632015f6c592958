"""The state of a page in its address: what a link may hold, and what is said about the rest.

Widgets are bound to the address by Streamlit (`bind="query-params"`). It drops what it cannot use
without a word; here the visitor is told. A page names its parameters with a reader for each.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import isfinite

import streamlit as st
from streamlit.runtime.state import get_session_state

BIND = "query-params"
# Raises ValueError on a text that the page cannot use.
Reader = Callable[[str], object]

TRAIL = "fsdash-trail"
"""Key of the session: what `fsdash.ui.address` knows of the visit of a page."""
_PAGE, _NOTICE = "fsdash-page", "fsdash-notice"
_LONGEST = 40


def number_in(low: float, high: float) -> Reader:
    """Reads a number from `low` to `high`."""

    def read(text: str) -> float:
        value = float(text)
        if not (isfinite(value) and low <= value <= high):
            raise ValueError(text)
        return value

    return read


def one_of(options) -> Reader:
    """Reads one of the options, as Streamlit writes them: by their text."""
    known = {str(option): option for option in options}

    def read(text: str) -> object:
        if text not in known:
            raise ValueError(text)
        return known[text]

    return read


def unusable(found: Mapping[str, str], parameters: Mapping[str, Reader]) -> list[str]:
    """The parts of a link that the page cannot use, as `name=value`."""
    return [
        f"{_short(name)}={_short(value)}"
        for name, value in found.items()
        if name not in parameters or not _readable(parameters[name], value)
    ]


def open_link(page: str, parameters: Mapping[str, Reader]) -> None:
    """Begin a visit of the page: forget other pages' values, and say what the link had in vain.

    Streamlit hands a bound value on to the next page that uses the same name. Every page has
    defaults of its own, so a value counts only if it stands in the link.
    """
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state.pop(TRAIL, None)
        for name in parameters:
            if name in st.session_state and name not in st.query_params:
                del st.session_state[name]
        st.session_state[_NOTICE] = unusable(st.query_params.to_dict(), parameters)
    refused = st.session_state.get(_NOTICE)
    if refused:
        st.warning(
            "The link had values that could not be used: "
            + ", ".join(f"`{part}`" for part in refused)
            + ". Defaults are shown instead."
        )


@contextmanager
def one_step() -> Iterator[None]:
    """Changes of many bound widgets inside become one step in the browser's history.

    Streamlit announces each change of the address on its own, and the browser would need as many
    steps back. There is no public way to collect them; should the private one go, each is a step
    again.
    """
    with get_session_state().query_params() as parameters:
        pass
    send = getattr(parameters, "_send_query_param_msg", None)
    if send is None:
        yield
        return
    changes = []
    parameters._send_query_param_msg = lambda: changes.append(1)
    try:
        yield
    finally:
        with suppress(AttributeError):
            del parameters._send_query_param_msg
        if changes:
            send()


def _readable(read: Reader, text: str) -> bool:
    try:
        read(text)
    except (ValueError, OverflowError):
        return False
    return True


def _short(text: str) -> str:
    plain = "".join(c for c in text if c.isprintable() and c != "`")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
