"""Backups of a store in use, their restoration, and what is left of a damaged file."""

import pytest

from fsdash.cli.main import main
from fsdash.errors import InputError
from fsdash.runs.errors import Superseded
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store.attempts import AttemptWriter, Batch
from fsdash.runs.store.copies import backup, restore
from fsdash.runs.store.experiments import Store
from tests.runs.work import (
    assert_same_rows,
    base,
    compute,
    finished_experiment,
    overwrite,
)


@pytest.fixture
def store(sqlite_store):
    return sqlite_store


def test_a_backup_is_made_while_the_store_is_written(store, tmp_path):
    finished = finished_experiment(store, base())
    with store.database.writing():  # a writer is in the middle of its transaction
        assert backup(store.url, tmp_path / "copy.db") > 0
    store.add_experiment("me", "later", [base()])
    copy = Store(tmp_path / "copy.db")
    assert [e.id for e in copy.experiments()] == [finished.id]
    assert_same_rows(copy.rows([finished.runs[0].id]), base())
    with pytest.raises(InputError, match="exists already"):
        backup(store.url, tmp_path / "copy.db")
    with pytest.raises(InputError, match="folder does not exist"):
        backup(store.url, tmp_path / "nowhere" / "copy.db")
    with pytest.raises(InputError, match="no name can have"):
        backup(store.url, tmp_path / "\ud800")
    with pytest.raises(InputError, match="tools of the other database"):
        backup("postgresql+psycopg://localhost/x", tmp_path / "new.db")
    assert sorted(p.name for p in tmp_path.glob("*.part")) == []


def test_a_backup_is_restored_under_a_store_in_use(store, tmp_path, monkeypatch):
    monkeypatch.setattr("fsdash.runs.store.database.CONTENT_INTERVAL", 0)
    first = store.add_experiment("me", "first", [base()], status="queued", server="ended")
    backup(store.url, tmp_path / "copy.db")
    second = store.add_experiment("me", "second", [base()])
    before = restore(store.url, tmp_path / "copy.db")
    assert [e.id for e in store.experiments()] == [first]
    assert store.database.generation == 1  # the same file with another content
    [run] = store.experiment(first).runs
    assert run.status == "interrupted" and "when the backup was made" in run.reason
    assert {e.id for e in Store(before).experiments()} == {first, second}
    compute(store, first)
    assert store.experiment(first).status == "finished"


def test_a_worker_does_not_write_into_a_restored_run_with_the_number_of_its_own(
    store, tmp_path, monkeypatch
):
    """The run was started after the backup, and its number is given again."""
    monkeypatch.setattr("fsdash.runs.store.database.CONTENT_INTERVAL", 0)
    backup(store.url, tmp_path / "copy.db")
    attempts, writers = [], []
    for _ in range(2):
        queue = WorkQueue(store.database)
        queue.open_lease()
        store.add_experiment("me", "new", [base()], status="queued", server=queue.server)
        attempts.append(queue.claim(queue.waiting()[0].next_id))
        writers.append(AttemptWriter(store.database, attempts[-1]))
        writers[-1].begin(pid=1)
        if len(attempts) == 1:
            restore(store.url, tmp_path / "copy.db")
    assert attempts[0] == attempts[1]
    with pytest.raises(Superseded):
        writers[0].append(Batch(), 0, 1.0)
    writers[1].append(Batch(), 0, 1.0)


def test_a_backup_is_restored_in_place_of_a_damaged_or_missing_file(store, tmp_path):
    id = store.add_experiment("me", "first", [base()])
    backup(store.url, tmp_path / "copy.db")
    overwrite(store)
    before = restore(store.url, tmp_path / "copy.db")
    assert before.name.startswith("runs.db.corrupt-")
    assert [e.id for e in store.experiments()] == [id]
    elsewhere = f"sqlite:///{tmp_path}/new-folder/runs.db"
    assert restore(elsewhere, tmp_path / "copy.db") is None
    assert [e.id for e in Store(elsewhere).experiments()] == [id]
    with pytest.raises(InputError, match="no such backup"):
        restore(store.url, tmp_path / "nothing.db")
    with pytest.raises(InputError, match="is damaged"):
        restore(store.url, before)
    assert [e.id for e in store.experiments()] == [id]


def test_the_commands_use_the_store_of_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    assert main(["backup", str(tmp_path / "b.db")]) == 2
    assert "no store to back up" in capsys.readouterr().err
    store = Store()
    id = store.add_experiment("me", "kept", [base()])
    assert main(["backup", str(tmp_path / "b.db")]) == 0
    store.delete(id)
    assert main(["restore", str(tmp_path / "b.db")]) == 0
    assert "before-restore" in capsys.readouterr().out
    assert [e.id for e in store.experiments()] == [id]
    assert main(["backup", "/proc/nowhere/x"]) == 2
