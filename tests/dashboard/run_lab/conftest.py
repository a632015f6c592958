"""One store and one manager for the tests of a file."""

import pytest
import streamlit as st

from fsdash.dashboard.service import Service, _service


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Service:
    """The pages' store and manager, in a folder of this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSDASH_DATA", str(tmp_path_factory.mktemp("lab")))
        patch.delenv("FSDASH_DATABASE_URL", raising=False)
        from fsdash.runs.store.database import default_url

        yield _service(default_url())
        st.cache_resource.clear()
