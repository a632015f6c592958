"""The URL of the Policy inspector: its parameters, and reading and writing them.

The options of the widgets depend on what is saved, so Streamlit cannot bind them to the URL one by
one: it would write their labels, which change, and drop a value that is not an option yet. The
page reads the URL when it is opened or after Back, and writes it after each run.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from fsdash.dashboard.inspector import text
from fsdash.dashboard.widgets.address import show_address, stepped, take, trail, whole
from fsdash.dashboard.widgets.url_state import Reader, one_of
from fsdash.domains import DOMAINS

LARGEST_T = 100
MAX_LENGTH = 300

SelectorTexts = dict[str, tuple[str, ...]]
"""By the name of a selector: the selected options as texts."""

SOURCE, SELECTOR_PREFIX, PAGE_PREFIX = "source", "at-", "inspector-"
"""Session keys: where policies come from, selectors of a figure, and keys without a widget."""


def bounded_text(value: str) -> str:
    if not value or len(value) > MAX_LENGTH:
        raise ValueError(value)
    return value


def state_indices(value: str) -> tuple[int, int]:
    """The indices of the slow and the fast state, such as 3,17."""
    x, y = (whole(0)(part) for part in value.split(","))
    return x, y


def parse_selectors(value: str) -> SelectorTexts:
    """Such as phase:2;demand:0,5,10."""
    parts = [part.split(":", 1) for part in bounded_text(value).split(";")]
    return {name: tuple(options.split(",")) for name, options in parts}


def format_selectors(selected: SelectorTexts) -> str:
    return ";".join(f"{name}:{','.join(options)}" for name, options in selected.items())


PARAMETERS: dict[str, Reader] = {
    "experiment": bounded_text,
    "run": whole(0),
    "replication": whole(0),
    "step": whole(0),
    "domain": one_of(DOMAINS),
    "preset": bounded_text,
    "method": one_of(text.ALGORITHMS),
    "T": whole(1, LARGEST_T),
    "view": bounded_text,
    "at": parse_selectors,
    "state": state_indices,
    "beside": one_of(text.COMPARISONS),
    "other": whole(0),
    "otherstep": whole(0),
}


def read_url() -> None:
    """Take all values from the URL when the page was just opened or the visitor went back."""
    found = st.query_params.to_dict()
    if not stepped() and trail() is not None and trail().knows(found):
        return
    for key in [key for key in st.session_state if _in_url(str(key))]:
        del st.session_state[key]
    for name, value in found.items():
        if name in PARAMETERS:
            try:
                st.session_state[name] = PARAMETERS[name](value)
            except ValueError:  # `open_page` has shown a notice
                continue
    take(found)


def _in_url(key: str) -> bool:
    """Whether the URL determines the value of this session key."""
    return key in PARAMETERS or key == SOURCE or key.startswith((SELECTOR_PREFIX, PAGE_PREFIX))


def write_url(values: Mapping[str, object]) -> None:
    """Show the values in the URL; those that are None or empty are left out."""
    show_address({n: str(value) for n, value in values.items() if value not in (None, "")})


def choose(
    widget: Callable,
    label: str,
    key: str,
    options: Sequence,
    default: object,
    describe: Callable[[object], str] = str,
    **arguments,
) -> object:
    """A widget for one of the options. A value that is not among them becomes the default.

    A notice says so if the value came from the link that was just opened.
    """
    asked = st.session_state.get(key)
    if asked not in options:
        st.session_state[key] = default
        if asked is not None and trail().fresh:
            st.warning(text.unavailable(label, asked, describe(default)))
    return widget(label, options, key=key, format_func=describe, **arguments)
