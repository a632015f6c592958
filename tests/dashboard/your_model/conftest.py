"""An empty store for each test of the page."""

import pytest
import streamlit as st

from fsdash.dashboard.service import _store
from fsdash.runs.store.database import default_url


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty store of its own for each test."""
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    yield _store(default_url())
    st.cache_resource.clear()
