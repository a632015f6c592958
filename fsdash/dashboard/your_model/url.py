"""The URL of the page Your model: the saved model in view, or the file and what was chosen."""

from __future__ import annotations

import re
from collections.abc import Collection

import streamlit as st

from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    labelled,
    number_in,
    one_of,
    short_text,
    switch,
    whole_number,
)
from fsdash.dashboard.your_model import text
from fsdash.dashboard.your_model.state import DEFAULT_T, EXAMPLES, LARGEST_T
from fsdash.domains import is_saved_name
from fsdash.errors import InputError

NO_NAMES = "-"
"""An empty list, or no column, in the URL; an empty text would be left out."""
MAX_NAMES = 64


def model_name(value: str) -> str:
    """Reads the name of a saved model, whether it exists or not."""
    if not is_saved_name(value):
        raise InputError("this is not a saved model; choose one below")
    return value


def file_key(value: str) -> str:
    """Reads the key of an uploaded file."""
    if not re.fullmatch(r"[0-9a-f]{16}", value):
        raise InputError("this is not an uploaded file; upload it again")
    return value


def names(value: str) -> list[str]:
    """Reads names separated by commas."""
    if value == NO_NAMES:
        return []
    found = value.split(",")
    if len(found) > MAX_NAMES or max(map(len, found)) > 100:
        raise ValueError(value)
    return list(dict.fromkeys(found))


def names_text(values: Collection[str]) -> str:
    """The text that `names` reads; names with a comma are left out of the URL."""
    if any("," in value for value in values):
        return ""
    return ",".join(values) or NO_NAMES


def pairs(value: str) -> list[tuple[str, str]]:
    """Reads state variables with the columns of their next values: stock>next_stock."""
    found = [tuple(part.split(">")) for part in names(value)]
    if any(len(pair) != 2 for pair in found):
        raise ValueError(value)
    return found


def pairs_text(values: Collection[tuple[str, str]]) -> str:
    return names_text([">".join(pair) for pair in values])


URL = UrlState(
    "your-model",
    {
        "model": UrlParameter(None, model_name),
        "example": UrlParameter(None, one_of(EXAMPLES)),
        "file": UrlParameter(None, file_key),
        "states": UrlParameter(None, pairs, pairs_text),
        "action": UrlParameter(None, short_text),
        "p": UrlParameter(None, short_text),
        "reward": UrlParameter(None, short_text),
        "initial": UrlParameter(None, short_text),
        "end": UrlParameter(None, short_text),
        "sense": UrlParameter(None, one_of(text.SENSES)),
        "rescale": switch(False),
        "ends": switch(False),
        "slow": UrlParameter(None, names, names_text),
        "gamma": UrlParameter(None, number_in(0, 1, hint=" (below 1)")),
        "tab": labelled("policy", text.TABS),
        "method": UrlParameter("optimal", one_of(text.METHODS)),
        "T": UrlParameter(DEFAULT_T, whole_number(1, LARGEST_T)),
    },
)
DEFAULTS = "your-model-defaults"
"""Key of the values that follow from the file in view."""


def remember_default(name: str, value: object) -> None:
    """A value that follows from the file: the URL need not hold it."""
    st.session_state[DEFAULTS][name] = value


def write_url() -> None:
    """Bring the URL up to date, without what follows from the file."""
    defaults = st.session_state.get(DEFAULTS, {})
    URL.write(**{name: None for name, value in defaults.items() if URL.get(name) == value})


def open_new(**chosen: str | None) -> None:
    """Show another file, example or saved model, or none of them; forget all other choices."""
    for name, parameter in URL.parameters.items():
        URL.put(name, chosen.get(name, parameter.default))
