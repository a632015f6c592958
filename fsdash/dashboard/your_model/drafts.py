"""Files that visitors dropped and have not saved: kept for a while, so that a reload finds them.

A file is found by a key that is made from its content, so only somebody who has the file or the
link can find it. The oldest ones are forgotten first.
"""

from __future__ import annotations

import threading

import streamlit as st
from cachetools import LRUCache

from fsdash.dashboard.your_model.state import Upload

MAX_BYTES = 256 * 2**20
"""Of all files together."""


class Drafts:
    """Uploaded files by their keys."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._uploads: LRUCache[str, Upload] = LRUCache(
            max_bytes, getsizeof=lambda upload: min(len(upload.content), max_bytes)
        )
        self._lock = threading.Lock()

    def add(self, upload: Upload) -> str:
        """Keep a file and return its key."""
        with self._lock:
            self._uploads[upload.key] = upload
        return upload.key

    def get(self, key: str) -> Upload | None:
        with self._lock:
            return self._uploads.get(key)


@st.cache_resource(show_spinner=False)
def drafts() -> Drafts:
    """The server's files."""
    return Drafts()
