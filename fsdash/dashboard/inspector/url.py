"""The URL of the Policy inspector, and widgets whose options depend on what is saved."""

from collections.abc import Callable, Sequence
from urllib.parse import unquote

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.inspector import text
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    domain_name,
    experiment_id,
    one_of,
    short_text,
    whole_number,
)

LARGEST_T = 100
MAX_SELECTORS = 600
"""Characters of the parameter `at`."""
PREFIX = "inspector-"
"""Of session keys that are not in the URL; they are forgotten when a URL is opened."""

SelectorTexts = dict[str, tuple[str, ...]]
"""By the name of a selector: the selected options as texts."""


def parse_state(value: str) -> tuple[int, int]:
    """The indices of the slow and the fast state, such as 3,17."""
    x, y = (whole_number(0)(part) for part in value.split(","))
    return x, y


def format_state(state: tuple[int, int]) -> str:
    return f"{state[0]},{state[1]}"


def parse_selectors(value: str) -> SelectorTexts:
    """Such as phase:2;demand:0,5,10."""
    if len(value) > MAX_SELECTORS:
        raise ValueError(value)
    parts = [part.split(":", 1) for part in value.split(";")]
    return {unquote(name): tuple(map(unquote, texts.split(","))) for name, texts in parts}


def format_selectors(selected: SelectorTexts) -> str:
    return ";".join(
        f"{_escape(name)}:{','.join(map(_escape, texts))}" for name, texts in selected.items()
    )


def _escape(name: str) -> str:
    """The name without the separators, which a variable of a user's model may contain."""
    return "".join(f"%{ord(c):02X}" if c in "%:;," else c for c in name)


URL = UrlState(
    "inspector",
    {
        "experiment": UrlParameter(None, experiment_id),
        "run": UrlParameter(None, whole_number(0)),
        "replication": UrlParameter(None, whole_number(0)),
        "domain": UrlParameter(None, domain_name),
        "preset": UrlParameter(None, short_text),
        "method": UrlParameter(None, one_of(text.ALGORITHM_LABELS)),
        "T": UrlParameter(None, whole_number(1, LARGEST_T)),
        "step": UrlParameter(None, whole_number(0)),
        "view": UrlParameter(None, short_text),
        "at": UrlParameter(None, parse_selectors, format_selectors),
        "state": UrlParameter(None, parse_state, format_state),
        "compare": UrlParameter(None, one_of(text.COMPARISONS)),
        "other": UrlParameter(None, whole_number(0)),
        "otherstep": UrlParameter(None, whole_number(0)),
    },
)


def start_from_url() -> None:
    """After a URL was opened: forget the session keys that it does not hold."""
    for key in [key for key in st.session_state if str(key).startswith(PREFIX)]:
        del st.session_state[key]


def choose(
    widget: Callable | None,
    label: str,
    name: str,
    options: Sequence,
    default: object,
    describe: Callable[[object], str] = str,
    notices: DeltaGenerator | None = None,
    **arguments,
) -> object:
    """A widget for one of the options. A value that is not among them becomes the default.

    `name` is the parameter of the URL. Without a widget the value stays as it is. A notice is shown
    if the value came from the link that was just opened: in `notices` if the widget itself is in a
    popover.
    """
    asked = URL.get(name)
    if asked not in options:
        URL.put(name, default)
        if asked is not None and URL.just_read:
            (notices or st).warning(text.unavailable(label, asked, describe(default)))
    if widget is None:
        return URL.get(name)
    return widget(label, options, key=URL.key(name), format_func=describe, **arguments)
