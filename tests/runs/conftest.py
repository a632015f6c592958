"""A store on a file of its own."""

import pytest

from fsdash.runs.server import worker
from fsdash.runs.store.experiments import Store


@pytest.fixture
def store(tmp_path):
    with_file = Store(tmp_path / "folder" / "runs.db")
    yield with_file
    worker.database.cache_clear()
    with_file.close()
