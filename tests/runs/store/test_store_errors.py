"""A store that is damaged, locked, read-only or full, and workers that are superseded."""

import sqlite3

import pytest
from sqlalchemy import event

from fsdash.errors import InputError
from fsdash.runs.errors import CorruptStore, StoreError, Superseded
from fsdash.runs.server import worker
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store.attempts import AttemptWriter, Batch
from fsdash.runs.store.database import data_folder
from fsdash.runs.store.experiments import Store
from tests.runs.work import (
    ENDLESS,
    assert_same_rows,
    base,
    compute,
    expected,
    frozen,
    stored_values,
)


def test_a_damaged_file_is_reported_and_set_aside(tmp_path):
    file = tmp_path / "runs.db"
    file.write_bytes(b"this is no database " * 500)
    with pytest.raises(CorruptStore, match=r"runs\.db.* Set it aside"):
        Store(file)
    store, aside = Store.recover(file)
    assert aside.name.startswith("runs.db.corrupt-")
    assert aside.read_bytes() == b"this is no database " * 500
    assert store.size().experiments == 0


def test_a_locked_database_can_be_read_and_reports_the_lock(tmp_path):
    store = Store(tmp_path / "runs.db", lock_timeout=0.05)
    id = store.add_experiment("me", "here", [base()])
    other = sqlite3.connect(store.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.experiment(id).name == "here"
    with pytest.raises(StoreError, match="another program has locked it"):
        store.rename(id, "there")
    other.execute("ROLLBACK")
    store.rename(id, "there")
    assert store.experiment(id).name == "there"


def test_a_file_without_write_permission_is_reported(tmp_path):
    Store(tmp_path / "runs.db").close()
    with pytest.raises(StoreError, match="right to write"):
        Store(f"sqlite:///file:{tmp_path}/runs.db?mode=ro&uri=true")
    with pytest.raises(StoreError, match="FSDASH_DATA"):
        Store(tmp_path / "runs.db" / "not-a-folder.db")


@pytest.mark.parametrize("url", ["nonsense://x", "postgresql+nodriver://x", "http://["])
def test_an_unusable_url_is_refused(url):
    with pytest.raises(InputError, match="FSDASH_DATABASE_URL"):
        Store(url)


def test_a_full_disk_interrupts_a_run_that_can_be_resumed(sqlite_store, monkeypatch):
    store = sqlite_store
    """Causes SQLite's own error by limiting the number of pages in the file."""
    monkeypatch.setattr("fsdash.runs.retry.RETRY_SECONDS", 0.0)
    spec = frozen(iterations=15)
    id = store.add_experiment("me", "large", [spec])
    engine = worker.database(store.url)._engine

    def limit(raw, _record):
        raw.execute(f"PRAGMA max_page_count = {raw.execute('PRAGMA page_count').fetchone()[0] + 8}")

    event.listen(engine, "connect", limit)
    engine.dispose()
    queue = WorkQueue(store.database)
    queue.open_lease()
    queue.enqueue(store.run_ids(id))
    attempt = queue.claim(queue.waiting()[0].next_id)
    status, reason = worker.replicate(store.url, attempt.run, attempt.replication, attempt.number)
    assert status == "interrupted" and "the disk is full" in reason
    AttemptWriter(store.database, attempt).end(status, reason)
    event.remove(engine, "connect", limit)
    engine.dispose()
    compute(store, id)
    assert_same_rows(store.rows([attempt.run]), spec)


def test_rows_of_a_superseded_attempt_are_refused(store):
    id = store.add_experiment("me", "one", [base(ENDLESS)])
    [run] = store.run_ids(id)
    queue = WorkQueue(store.database)
    queue.open_lease()
    queue.enqueue([run])
    first = queue.claim(queue.waiting()[0].next_id)
    assert queue.claim(1) is None
    AttemptWriter(store.database, first).end("failed", "")
    queue.enqueue([run])
    second = queue.claim(queue.waiting()[0].next_id)
    with pytest.raises(Superseded):
        AttemptWriter(store.database, first).append(Batch(), 3, 1.0)
    AttemptWriter(store.database, second).append(Batch(), 0, 1.0)
    with pytest.raises(InputError, match="running or queued"):
        store.delete(id)


def test_environment_variables_choose_the_default_database(monkeypatch, tmp_path):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path / "here"))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    assert Store().file == tmp_path / "here" / "runs.db"
    monkeypatch.setenv("FSDASH_DATABASE_URL", f"sqlite:///{tmp_path}/there.db")
    assert Store().file == tmp_path / "there.db"
    monkeypatch.delenv("FSDASH_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder().name == "fsdash"


def test_a_resumed_worker_reports_that_it_recomputes_stored_rows(store):
    id = store.add_experiment("me", "one", [base(ENDLESS)])
    queue = WorkQueue(store.database)
    queue.open_lease()

    def begin():
        queue.enqueue(store.run_ids(id))
        writer = AttemptWriter(store.database, queue.claim(queue.waiting()[0].next_id))
        return writer, writer.begin(pid=1)

    def reason():
        return store.experiment(id).runs[0].reason

    rows = [stored_values(record.row) for record in expected(base())]
    writer, start = begin()
    assert (start.rows, start.last_seconds, reason()) == (0, 0.0, "")
    writer.append(Batch(rows[:4]), 4, 1.5)
    writer.end("interrupted", "")
    writer, start = begin()
    assert (start.rows, start.last_seconds) == (4, rows[3]["seconds"])
    assert "recomputing the 4 rows" in reason()
    writer.append(Batch(), 4, 2.5)
    assert "recomputing the 4 rows" in reason()
    writer.append(Batch(rows[4:5]), 5, 2.6)
    assert reason() == ""
