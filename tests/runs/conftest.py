"""A store of its own for each test, on both databases."""

import pytest

from fsdash.runs.server import worker
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store.experiments import Store
from tests.databases import DATABASES, new_url, postgres_or_skip


@pytest.fixture(scope="session")
def postgres():
    with postgres_or_skip() as server:
        yield server


@pytest.fixture(params=DATABASES)
def store(request, tmp_path):
    store = Store(new_url(request.param, request, tmp_path / "folder"))
    yield store
    worker.database.cache_clear()
    store.close()


@pytest.fixture
def sqlite_store(tmp_path):
    """For tests of the file itself."""
    store = Store(tmp_path / "folder" / "runs.db")
    yield store
    worker.database.cache_clear()
    store.close()


@pytest.fixture
def queue(store):
    """The store's queue, with the lease of a server."""
    queue = WorkQueue(store.database)
    queue.open_lease()
    return queue
