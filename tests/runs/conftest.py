"""A store in a file of its own."""

import pytest

from fsdash.runs.server import worker
from fsdash.runs.store.experiments import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "folder" / "runs.db")
    yield store
    worker.database.cache_clear()
    store.close()
