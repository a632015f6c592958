"""The state of a page in its address, where widgets come and go with what is chosen.

Streamlit can bind a widget to the address, but then writes the labels of its options and drops a
value that is not an option yet. A page that needs more reads its address when it is new (a link, a
step back) and writes it after each run, in one step, without what is at its default.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from fsdash.ui.link import Reader, one_of

_WRITTEN, _LEFT = " written", " left"
ECHO = 2.0
"""Seconds in which the address before the last change is taken for an echo, not for a step back."""


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
    anchor: str
    """The key of a widget that the page always draws: Streamlit forgets it with the visit."""
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

        A change that was made before the browser knew the last address comes with an old one,
        which then must not count; nor must a mere run of the page with it right afterwards.
        """
        found = self._found()
        if self.anchor in st.session_state:
            written = st.session_state.get(self.key(_WRITTEN))
            if found == written or self._texts() != written or self._is_echo(found):
                return
        for name, part in self.parts.items():
            st.session_state.pop(self.key(name), None)
            if name in found:
                try:
                    self.put(name, part.read(found[name]))
                except (ValueError, OverflowError):  # the frame has told the visitor
                    continue

    def write(self) -> None:
        """Bring the address up to date."""
        now = self._texts()
        if now != st.query_params.to_dict():
            st.session_state[self.key(_LEFT)] = (self._found(), time.monotonic())
            st.query_params.from_dict(now)
        st.session_state[self.key(_WRITTEN)] = now

    def _found(self) -> dict[str, str]:
        return {name: st.query_params[name] for name in self.parts if name in st.query_params}

    def _is_echo(self, found: dict[str, str]) -> bool:
        left, when = st.session_state.get(self.key(_LEFT), (None, 0.0))
        return found == left and time.monotonic() - when < ECHO

    def _texts(self) -> dict[str, str]:
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
