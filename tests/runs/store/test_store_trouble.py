"""A store that is corrupt, locked, read-only or full, and workers that are superseded."""

import sqlite3

import pytest
from sqlalchemy import event

from fsdash.errors import InputError
from fsdash.runs.columns import ROW_COLUMNS
from fsdash.runs.errors import CorruptStore, StoreError, Superseded
from fsdash.runs.server import worker
from fsdash.runs.server.work_queue import Batch, Ledger
from fsdash.runs.store.database import data_folder
from fsdash.runs.store.experiments import Store
from tests.runs.work import ENDLESS, assert_same_rows, base, compute, expected, frozen


def test_a_corrupt_file_is_told_and_kept_aside(tmp_path):
    file = tmp_path / "runs.db"
    file.write_bytes(b"this is no database " * 500)
    with pytest.raises(CorruptStore, match=r"runs\.db.* Set it aside"):
        Store(file)
    store, aside = Store.recover(file)
    assert aside.name.startswith("runs.db.corrupt-")
    assert aside.read_bytes() == b"this is no database " * 500
    assert store.size().experiments == 0


def test_a_locked_database_can_be_read_and_says_that_it_is_locked(tmp_path):
    store = Store(tmp_path / "runs.db", lock_timeout=0.05)
    id = store.add_experiment("me", "here", [base()])
    other = sqlite3.connect(store.database.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.experiment(id).name == "here"
    with pytest.raises(StoreError, match="locked by another program"):
        store.rename(id, "there")
    other.execute("ROLLBACK")
    store.rename(id, "there")
    assert store.experiment(id).name == "there"


def test_a_file_that_may_not_be_written_to(tmp_path):
    Store(tmp_path / "runs.db").close()
    with pytest.raises(StoreError, match="right to write"):
        Store(f"sqlite:///file:{tmp_path}/runs.db?mode=ro&uri=true")
    with pytest.raises(StoreError, match="FSDASH_DATA"):
        Store(tmp_path / "runs.db" / "not-a-folder.db")


@pytest.mark.parametrize("url", ["nonsense://x", "postgresql+nodriver://x", "http://["])
def test_a_url_that_cannot_be_used(url):
    with pytest.raises(InputError, match="FSDASH_DATABASE_URL"):
        Store(url)


def test_a_full_disk_interrupts_and_what_was_recorded_goes_on(store):
    """SQLite's own error: the file may have a few pages more and no others."""
    spec = frozen(iterations=15)
    id = store.add_experiment("me", "large", [spec])
    engine = worker.database(store.database.url)._engine

    def limit(raw, _record):
        raw.execute(f"PRAGMA max_page_count = {raw.execute('PRAGMA page_count').fetchone()[0] + 8}")

    event.listen(engine, "connect", limit)
    engine.dispose()
    ledger = Ledger(store.database)
    ledger.open_lease()
    ledger.enqueue([store.experiment(id).runs[0].id])
    attempt = ledger.claim(ledger.waiting()[0].id)
    status, reason = worker.replicate(
        store.database.url, attempt.run, attempt.replication, attempt.number
    )
    assert status == "interrupted" and "the disk is full" in reason
    ledger.end(attempt, status, reason)
    event.remove(engine, "connect", limit)
    engine.dispose()
    compute(store, id)
    assert_same_rows(store.rows([attempt.run]), spec)


def test_rows_of_an_attempt_that_was_taken_over_are_refused(store):
    id = store.add_experiment("me", "one", [base(ENDLESS)])
    [run] = [run.id for run in store.experiment(id).runs]
    ledger = Ledger(store.database)
    ledger.open_lease()
    ledger.enqueue([run])
    first = ledger.claim(ledger.waiting()[0].id)
    assert ledger.claim(1) is None
    ledger.end(first, "failed", "")
    ledger.enqueue([run])
    second = ledger.claim(ledger.waiting()[0].id)
    with pytest.raises(Superseded):
        ledger.append(first, Batch(), 3, 1.0)
    ledger.append(second, Batch(), 0, 1.0)
    with pytest.raises(InputError, match="under way"):
        store.delete(id)


def test_the_default_place(monkeypatch, tmp_path):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path / "here"))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    assert Store().database.file == tmp_path / "here" / "runs.db"
    monkeypatch.setenv("FSDASH_DATABASE_URL", f"sqlite:///{tmp_path}/there.db")
    assert Store().database.file == tmp_path / "there.db"
    monkeypatch.delenv("FSDASH_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder().name == "fsdash"


def test_a_worker_tells_that_it_computes_kept_rows_again(store):
    id = store.add_experiment("me", "one", [base(ENDLESS)])
    ledger = Ledger(store.database)
    ledger.open_lease()

    def begin():
        ledger.enqueue([run.id for run in store.experiment(id).runs])
        attempt = ledger.claim(ledger.waiting()[0].id)
        return attempt, ledger.begin(attempt, pid=1)

    def reason():
        return store.experiment(id).runs[0].reason

    rows = [slim(record.row) for record in expected(base())]
    attempt, start = begin()
    assert (start.rows, start.last_seconds, reason()) == (0, 0.0, "")
    ledger.append(attempt, Batch(rows[:4]), 4, 1.5)
    ledger.end(attempt, "interrupted", "")
    attempt, start = begin()
    assert (start.rows, start.last_seconds) == (4, rows[3]["seconds"])
    assert "first 4 rows again" in reason()
    ledger.append(attempt, Batch(), 4, 2.5)
    assert "first 4 rows again" in reason()
    ledger.append(attempt, Batch(rows[4:5]), 5, 2.6)
    assert reason() == ""


def slim(row):
    return {column.name: row[column.name] for column in ROW_COLUMNS}
