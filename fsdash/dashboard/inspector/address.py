"""The address of the Policy inspector.

What can be chosen there depends on what is kept, so its widgets cannot be bound to the address one
by one: Streamlit would write their labels, which change, and drop a value that is not an option
yet. Instead the page reads the address when it was opened, or when the visitor went back, and
writes it after each run.
"""

from collections.abc import Mapping

import streamlit as st

from fsdash.dashboard.widgets.address import show_address, stepped, take, trail, whole
from fsdash.dashboard.widgets.url_state import Reader, one_of
from fsdash.domains import DOMAINS

BESIDE = {
    "": "nothing",
    "optimum": "the optimal policy",
    "phase": "another phase of it",
    "step": "another step of the run",
    "run": "another run",
    "fsvi": "exact FSVI",
}
METHODS = ("fsvi", "mpi")
LONGEST_T = 100

Chosen = dict[str, tuple[str, ...]]
"""By the name of a selector: the texts of what is chosen."""

SOURCE, CHOICE, OWN = "source", "at-", "inspector-"
"""Keys of the session: where policies come from, a view's selectors, and what only we set."""
_LONGEST = 300


def word(text: str) -> str:
    if not text or len(text) > _LONGEST:
        raise ValueError(text)
    return text


def pair(text: str) -> tuple[int, int]:
    """A state: the indices of its slow and its fast part, such as 3,17."""
    x, y = (whole(0)(part) for part in text.split(","))
    return x, y


def selection(text: str) -> Chosen:
    """Such as phase:2;demand:0,5,10."""
    parts = [part.split(":", 1) for part in word(text).split(";")]
    return {name: tuple(values.split(",")) for name, values in parts}


def selection_text(chosen: Chosen) -> str:
    return ";".join(f"{name}:{','.join(values)}" for name, values in chosen.items())


PARAMETERS: dict[str, Reader] = {
    "experiment": word,
    "run": whole(0),
    "replication": whole(0),
    "step": whole(0),
    "domain": one_of(DOMAINS),
    "preset": word,
    "method": one_of(METHODS),
    "T": whole(1, LONGEST_T),
    "view": word,
    "at": selection,
    "state": pair,
    "beside": one_of(BESIDE),
    "other": whole(0),
    "otherstep": whole(0),
}


def read_address() -> None:
    """Take all values from the address, if the visitor came by it or went back to it."""
    found = st.query_params.to_dict()
    if not stepped() and trail() is not None and trail().knows(found):
        return
    for key in [key for key in st.session_state if _belongs(str(key))]:
        del st.session_state[key]
    for name, text in found.items():
        if name in PARAMETERS:
            try:
                st.session_state[name] = PARAMETERS[name](text)
            except ValueError:  # the frame has told the visitor already
                continue
    take(found)


def _belongs(key: str) -> bool:
    """Whether a key is part of what the address says."""
    return key in PARAMETERS or key == SOURCE or key.startswith((CHOICE, OWN))


def write_address(values: Mapping[str, object]) -> None:
    """Show the values in the address; those that are None or empty are left out."""
    show_address({n: str(value) for n, value in values.items() if value not in (None, "")})
