"""The state of a page in its address: what a link may hold, and what is said about the rest.

Widgets are bound to the address by Streamlit (`bind="query-params"`). It drops what it cannot use
without a word; here the visitor is told. A page names its parameters with a reader for each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import isfinite
from numbers import Real

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.state import get_session_state

BIND = "query-params"
# Raises ValueError on a text that the page cannot use.
Reader = Callable[[str], object]

TRAIL = "fsdash-trail"
"""Key of the session: what `fsdash.dashboard.widgets.address` knows of the visit of a page."""
_PAGE, _NOTICE = "fsdash-page", "fsdash-notice"
_LONGEST = 40


@dataclass(frozen=True)
class Wanted:
    """A reader that says what it wants, for who gave it something else.

    With `exact`, Streamlit knows a value only by its own text for it: 0.0, not 0. `most` is how
    many values of that name a link may have.
    """

    read: Reader
    words: str
    exact: bool = False
    most: int = 1

    def __call__(self, text: str) -> object:
        return self.read(text)

    def upto(self, most: int) -> "Wanted":
        """The same for a widget that takes several values."""
        return replace(self, most=most)


def number_in(low: float, high: float, whole: bool = False, hint: str = "") -> Wanted:
    """Reads a number from `low` to `high`; `hint` goes on where the range is told."""

    def read(text: str) -> float:
        value = float(text)
        if not (isfinite(value) and low <= value <= high) or (whole and value != int(value)):
            raise ValueError(text)
        return int(value) if whole else value

    kind = "a whole number" if whole else "a number"
    return Wanted(read, f"give {kind} from {low:.10g} to {high:.10g}{hint}", exact=whole)


def one_of(options: Iterable) -> Wanted:
    """Reads one of the options: a number in any spelling, all else as Streamlit writes it."""
    options = tuple(options)
    numbers = all(isinstance(option, Real) for option in options)
    known = {float(option) if numbers else str(option): option for option in options}

    def read(text: str) -> object:
        found = float(text) if numbers else text
        if found not in known:
            raise ValueError(text)
        return known[found]

    return Wanted(read, f"give one of {', '.join(map(str, options))}", exact=True)


def _unknown(text: str) -> object:
    raise ValueError(text)


_refuse = Wanted(_unknown, "this page has no such parameter")


def sorted_out(
    found: Mapping[str, Sequence[str]], parameters: Mapping[str, Reader]
) -> tuple[dict[str, list[str]], list[str]]:
    """The texts of a link that the page can use, as Streamlit spells them, and what is left out.

    What is left out reads `name=value`, with what it should have been where that is known.
    """
    used: dict[str, list[str]] = {}
    left_out = []
    for name, texts in found.items():
        read = parameters.get(name, _refuse)
        most, words = getattr(read, "most", 1), getattr(read, "words", "")
        known = {text: _spelled(read, text) for text in texts}
        fit = list(dict.fromkeys(text for text in known.values() if text is not None))
        for text in texts:
            if known[text] is None:
                left_out.append(_quoted(name, text) + (f": {words}" if words else ""))
        if len(fit) > most:
            # Of several values for one place, none is more meant than the others.
            keep = most if most > 1 else 0
            extra = ", ".join(_quoted(name, text) for text in fit[keep:])
            left_out.append(f"{extra}: give at most {most} of that name")
            fit = fit[:keep]
        if fit:
            used[name] = fit
    return used, left_out


def open_link(page: str, parameters: Mapping[str, Reader]) -> None:
    """Begin a visit of the page: forget other pages' values, and say what the link had in vain.

    Streamlit hands a bound value on to the next page that uses the same name. Every page has
    defaults of its own, so a value counts only if it stands in the link. A link with something
    that is not usable, or not spelled as Streamlit does, is put right before widgets read it.
    """
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state.pop(TRAIL, None)
        for name in parameters:
            if name in st.session_state and name not in st.query_params:
                del st.session_state[name]
        found = {name: st.query_params.get_all(name) for name in st.query_params}
        used, st.session_state[_NOTICE] = sorted_out(found, parameters)
        if used != found:
            _put_right(used)
    if refused := st.session_state.get(_NOTICE):
        st.warning(
            "The link had values that could not be used and are left out. Defaults are shown where "
            "nothing else is given.\n" + "".join(f"\n- {part}" for part in refused)
        )


def _put_right(link: Mapping[str, Sequence[str]]) -> None:
    # A name that is still bound by the page before this one cannot be set; its widgets then sort
    # out what they can.
    with suppress(StreamlitAPIException):
        st.query_params.from_dict(link)
        st.rerun()


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


def _spelled(read: Reader, text: str) -> str | None:
    """The text as Streamlit knows it, or None if it cannot be used."""
    try:
        value = read(text)
    except (ValueError, OverflowError):
        return None
    return str(value) if getattr(read, "exact", False) else text


def _quoted(name: str, text: str) -> str:
    return f"`{_short(name)}={_short(text)}`"


def _short(text: str) -> str:
    plain = "".join(c for c in text if c.isprintable() and c != "`")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
