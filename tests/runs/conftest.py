"""A store in a file of its own."""

import pytest

from fsdash.runs.server import worker
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store.experiments import Store


@pytest.fixture
def store(tmp_path):
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
