"""A store that is away for a moment, deleted, replaced or damaged while it is in use."""

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from fsdash.errors import InputError
from fsdash.runs import retry
from fsdash.runs.errors import CorruptStore, StoreError, Superseded
from fsdash.runs.server import worker
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store.attempts import AttemptWriter, Batch
from fsdash.runs.store.database import Database, set_aside
from fsdash.runs.store.experiments import Store
from tests.runs.work import assert_same_rows, base, expected, frozen, overwrite, stored_values

pytestmark = pytest.mark.slow  # together they take several seconds


@pytest.fixture
def store(sqlite_store):
    return sqlite_store


def claimed(store, spec):
    """A new experiment whose replication is claimed: its queue, id and attempt."""
    queue = WorkQueue(store.database)
    queue.open_lease()
    id = store.add_experiment("me", "one", [spec], status="queued", server=queue.server)
    return queue, id, queue.claim(queue.waiting()[-1].next_id)


def remove(store):
    for suffix in ("", "-wal", "-shm"):
        store.file.with_name(store.file.name + suffix).unlink(missing_ok=True)


def test_a_worker_waits_for_a_store_that_is_locked(store, monkeypatch):
    """The other program releases its lock when the worker has failed to write twice."""
    spec, failures = frozen(iterations=15), []
    _, id, attempt = claimed(store, spec)
    patient = Database(store.url, lock_timeout=0.01)
    monkeypatch.setattr(worker, "database", lambda url: patient)
    other = sqlite3.connect(store.file, isolation_level=None, check_same_thread=False)
    begin, append = AttemptWriter.begin, AttemptWriter.append

    def begin_and_lock(self, pid):
        start = begin(self, pid)
        other.execute("BEGIN IMMEDIATE")
        return start

    def counted_append(self, *arguments):
        try:
            return append(self, *arguments)
        except StoreError as error:
            failures.append(str(error))
            if len(failures) == 2:
                other.execute("ROLLBACK")
            raise

    monkeypatch.setattr(AttemptWriter, "begin", begin_and_lock)
    monkeypatch.setattr(AttemptWriter, "append", counted_append)
    status, _ = worker.replicate(store.url, attempt.run, attempt.replication, attempt.number)
    assert status == "finished"
    assert len(failures) == 2 and "has locked it" in failures[0]
    assert_same_rows(store.rows([attempt.run]), spec)
    assert store.experiment(id).status == "finished"
    other.close()


def test_a_batch_whose_confirmation_was_lost_is_not_written_twice(store):
    """As when PostgreSQL commits and then ends the connection."""
    _, id, attempt = claimed(store, base())
    writer = AttemptWriter(store.database, attempt)
    writer.begin(pid=1)
    rows = [stored_values(record.row) for record in expected(base())]
    for again in (False, True):
        writer.append(Batch(rows[:2]), 2, 1.0, again)
    last = Batch(rows[2:], end=("finished", "done"))
    for again in (False, True):
        writer.append(last, len(rows), 2.0, again)
    [run] = store.experiment(id).runs
    assert (run.status, run.rows) == ("finished", len(rows))
    assert_same_rows(store.rows([run.id]), base())


def test_waiting_for_the_store_ends(monkeypatch):
    calls = []

    def fails(again):
        calls.append(again)
        raise StoreError("away")

    monkeypatch.setattr(retry, "RETRY_SECONDS", 0.3)
    with pytest.raises(StoreError, match="away"):
        retry.patiently(fails)
    assert calls == [False, True]

    def damaged(again):
        calls.append(again)
        raise CorruptStore("damaged")

    with pytest.raises(CorruptStore):
        retry.patiently(damaged)
    assert calls == [False, True, False]


def test_a_deleted_file_is_replaced_by_a_new_one_for_everybody(store):
    other = Store(store.file)
    queue, _, attempt = claimed(store, base())
    writer = AttemptWriter(other.database, attempt)
    writer.begin(pid=1)
    remove(store)
    assert store.experiments() == [] and other.experiments() == []
    assert (store.database.generation, other.database.generation) == (1, 1)
    queue.renew_lease()
    again, new, same_number = claimed(store, base())
    assert same_number == attempt  # the numbers start again in the new file
    with pytest.raises(Superseded):
        writer.append(Batch(), 0, 1.0)
    assert [e.id for e in other.experiments()] == [new]
    again.close_lease("")


def test_a_file_that_was_replaced_by_another_is_opened(store, tmp_path):
    store.add_experiment("me", "old", [base()])
    prepared = Store(tmp_path / "prepared.db")
    prepared.add_experiment("me", "prepared", [base()])
    prepared.close()
    remove(store)
    os.replace(tmp_path / "prepared.db", store.file)
    assert [e.name for e in store.experiments()] == ["prepared"]
    store.add_experiment("me", "new", [base()])
    assert {e.name for e in Store(store.file).experiments()} == {"prepared", "new"}


def test_another_store_that_was_restored_in_place_is_noticed(store, tmp_path, monkeypatch):
    """The file stays the same; its content belongs to another store."""
    _, _, attempt = claimed(store, base())
    writer = AttemptWriter(store.database, attempt)
    writer.begin(pid=1)
    other = Store(tmp_path / "other.db")
    other.add_experiment("me", "restored", [base()])
    other.close()
    with (
        closing(sqlite3.connect(tmp_path / "other.db")) as source,
        closing(sqlite3.connect(store.file)) as target,
    ):
        source.backup(target)
    monkeypatch.setattr("fsdash.runs.store.database.CONTENT_INTERVAL", 0)
    assert [e.name for e in store.experiments()] == ["restored"]
    assert store.database.generation == 1
    with pytest.raises(Superseded):
        writer.append(Batch(), 0, 1.0)
    assert store.database.generation == 1


def test_several_threads_notice_a_deleted_file(store):
    remove(store)
    threads = [
        threading.Thread(target=store.add_experiment, args=("me", "new", [base()]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.database.generation == 1
    assert len(store.experiments()) == 8


def test_the_log_of_a_new_store_is_not_set_aside(store, monkeypatch):
    """A server creates the new store as soon as the damaged file is gone."""
    overwrite(store)
    rename = Path.rename

    def rename_while_a_server_runs(file, target):
        moved = rename(file, target)
        if file == store.file:
            store.add_experiment("me", "new", [base()])
        return moved

    monkeypatch.setattr(Path, "rename", rename_while_a_server_runs)
    aside = set_aside(store.url)
    assert aside.with_name(aside.name + "-wal").exists()
    store.close()
    assert [e.name for e in Store(store.file).experiments()] == ["new"]


def test_a_healthy_file_is_never_set_aside(store):
    store.add_experiment("me", "here", [base()])
    with pytest.raises(InputError, match=r"in order.*not renamed"):
        set_aside(store.url)
    assert [e.name for e in store.experiments()] == ["here"]
    overwrite(store)
    with pytest.raises(CorruptStore):
        Store(store.file)
    aside = set_aside(store.url)
    assert aside.read_bytes().startswith(b"overwritten")
    assert store.experiments() == []  # this store has the new file, too
    store.add_experiment("me", "new", [base()])
    with pytest.raises(InputError, match="not renamed"):
        set_aside(store.url)
    assert [e.name for e in Store(store.file).experiments()] == ["new"]
    assert len(list(store.file.parent.glob("runs.db.corrupt-*[0-9]"))) == 1
