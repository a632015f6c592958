"""The state of a page in its address, where widgets come and go with what is chosen.

Streamlit can bind a widget to the address, but then writes the labels of its options and drops a
value that is not an option yet. A page that needs more reads its address when it is new (a link, a
step back) and writes it after each run, in one step, without what is at its default.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from fsdash.dashboard.widgets.url_state import TRAIL, Reader, one_of

ECHO = 5.0
"""Seconds in which a run may still come with an address that the page has left."""
Texts = dict[str, str]


@dataclass(frozen=True)
class AddressHistory:
    """The address that a page took or wrote last, and those that it left, each with its time."""

    written: Texts
    left: tuple[tuple[Texts, float], ...] = ()
    fresh: bool = False
    """Whether it was taken from the visitor and nothing is written yet."""

    def knows(self, found: Texts) -> bool:
        """Whether an address is the page's own: the last one, or an echo of one before.

        A run that was asked for before the browser knew the last address comes with an old one.
        """
        now = time.monotonic()
        return found == self.written or any(
            found == old and now - when < ECHO for old, when in self.left
        )

    def then(self, written: Texts, *left: Texts) -> AddressHistory:
        """The trail after one more step."""
        now = time.monotonic()
        all_left = (*self.left, *((old, now) for old in left))
        return AddressHistory(written, tuple((old, t) for old, t in all_left if now - t < ECHO))


def trail() -> AddressHistory | None:
    """Of this visit; None when it has just begun."""
    return st.session_state.get(TRAIL)


def stepped() -> bool:
    """Whether this run was asked for by the browser's Back or Forward; its address then counts."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def take(found: Texts) -> None:
    """Remember that this address is in the widgets, or a click before the first `show_address`
    would be lost: the run that it asks for would take the address once more."""
    known = trail()
    after = AddressHistory(found) if known is None else known.then(found, known.written)
    st.session_state[TRAIL] = replace(after, fresh=True)


def show_address(now: Texts) -> None:
    """Bring the address up to date, and remember what it was."""
    found, known = st.query_params.to_dict(), trail() or AddressHistory(now)
    if now != found:
        st.query_params.from_dict(now)
    if now == found == known.written:
        st.session_state[TRAIL] = replace(known, fresh=False)
    else:
        st.session_state[TRAIL] = known.then(now, known.written, found)


@dataclass(frozen=True)
class Part:
    """One parameter of the address: its default, and how its text is read and written."""

    default: object
    read: Reader
    write: Callable[[object], str] = str


@dataclass(frozen=True)
class Address:
    """The parameters of one page. A widget's key is `key(name)`; others are set with `put`."""

    page: str
    parts: Mapping[str, Part]

    @property
    def readers(self) -> dict[str, Reader]:
        """For `open_page`, which tells the visitor what a link had in vain."""
        return {name: part.read for name, part in self.parts.items()}

    def key(self, name: str) -> str:
        return f"{self.page}.{name}"

    def get(self, name: str) -> object:
        """What the page has for a parameter now."""
        return st.session_state.get(self.key(name), self.parts[name].default)

    def put(self, name: str, value: object) -> None:
        """Set a parameter; for one with a widget, only before that is drawn (a callback)."""
        st.session_state[self.key(name)] = value

    def read(self) -> None:
        """Take the address into the widgets, if the visitor came by it or went back to it.

        A widget that was changed since the address was written counts more than any address.
        """
        found, known = st.query_params.to_dict(), None if stepped() else trail()
        if known is not None and (known.knows(found) or self._texts() != known.written):
            return
        for name, part in self.parts.items():
            if name in found:
                try:
                    self.put(name, part.read(found[name]))
                    continue
                except (ValueError, OverflowError):  # the frame has told the visitor
                    pass
            if self.key(name) in st.session_state:  # set, not deleted: the browser has to know
                self.put(name, part.default)
        take(found)

    def write(self) -> None:
        """Bring the address up to date."""
        show_address(self._texts())

    def _texts(self) -> Texts:
        return {
            name: part.write(value)
            for name, part in self.parts.items()
            if (value := self.get(name)) is not None and value != part.default
        }


# ----------------------------------------------------------------------------------------- readers


def several(read: Reader) -> Reader:
    """Reads a list with commas; what is named twice counts once."""
    return lambda text: list(dict.fromkeys(read(part) for part in text.split(",")))


def listed(values: list) -> str:
    return ",".join(map(str, values))


def whole(low: int, high: int = 2**62) -> Reader:
    """Reads a whole number from `low` to `high`."""

    def read(text: str) -> int:
        if not low <= (value := int(text)) <= high:
            raise ValueError(text)
        return value

    return read


def switch(default: bool) -> Part:
    return Part(default, lambda text: one_of(("0", "1"))(text) == "1", lambda on: str(int(on)))


def experiment_id(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9]{4,40}", text):
        raise ValueError(text)
    return text


def short_text(text: str) -> str:
    if len(text) > 100:
        raise ValueError(text)
    return text
