"""One value in the browser's own storage (`localStorage`), for what the server must not keep.

    progress = browser_value("progress", write=new)     # None until the browser has answered

The browser reports the value when the page opens and whenever it changes. Where the storage is
blocked, the value lasts as long as the page.
"""

from pathlib import Path

import streamlit as st

MAX_LENGTH = 4_000
"""Characters of a value; a longer one is read as empty."""
_PREFIX = "browser-storage"
_component = st.components.v2.component(
    "fsdash_browser_storage", js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)
STYLE = f"[class*='st-key-{_PREFIX}'] {{display: none;}}"
"""CSS rule that keeps the component, which shows nothing, from taking space."""


def browser_value(
    name: str, *, write: str | None = None, initial: str | None = None, place: str = ""
) -> str | None:
    """The value stored under a name; empty if there is none, None until the browser answers.

    `write` replaces it. `initial` is stored only if there is no value yet. A page that
    reads a value twice gives each `place` a name.
    """
    key = f"{_PREFIX}-{name}{place}"
    data = {"name": f"fsdash-{name}", "write": write, "initial": initial}
    result = _component(key=key, data=data, on_value_change=lambda: None)
    value = result.value
    if value is None:
        return None
    return value if isinstance(value, str) and len(value) <= MAX_LENGTH else ""
