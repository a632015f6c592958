"""Databases of earlier versions are upgraded, once and completely."""

import sqlite3
import threading

import numpy as np
import pytest
from sqlalchemy import text

from fsdash.runs.errors import StoreError
from fsdash.runs.store import schema
from fsdash.runs.store.experiments import Store
from tests.runs.work import base

VERSION_1 = """
CREATE TABLE meta (
  version INTEGER NOT NULL
);
CREATE TABLE servers (
  id VARCHAR(32) NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid INTEGER NOT NULL,
  born VARCHAR(32) NOT NULL,
  heartbeat DOUBLE NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE experiments (
  id VARCHAR(16) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  name VARCHAR(200) NOT NULL,
  note TEXT NOT NULL,
  pinned BOOLEAN NOT NULL,
  created DOUBLE NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX experiments_created ON experiments (created);
CREATE TABLE runs (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  experiment VARCHAR(16) NOT NULL,
  position INTEGER NOT NULL,
  spec TEXT NOT NULL,
  hash VARCHAR(16) NOT NULL,
  domain VARCHAR(100) NOT NULL,
  algorithm VARCHAR(100) NOT NULL,
  "T" INTEGER,
  FOREIGN KEY(experiment) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE INDEX runs_hash ON runs (hash);
CREATE UNIQUE INDEX runs_experiment ON runs (experiment, position);
CREATE TABLE replications (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  replication INTEGER NOT NULL,
  status VARCHAR(16) NOT NULL,
  reason TEXT NOT NULL,
  wanted VARCHAR(16) NOT NULL,
  wanted_reason TEXT NOT NULL,
  server VARCHAR(32) NOT NULL,
  attempt INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  seconds DOUBLE NOT NULL,
  pid INTEGER,
  heartbeat DOUBLE,
  started DOUBLE,
  finished DOUBLE,
  FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX replications_run ON replications (run, replication);
CREATE INDEX replications_queue ON replications (status, server);
CREATE TABLE rows (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  replication INTEGER NOT NULL,
  step INTEGER NOT NULL,
  phase VARCHAR(16) NOT NULL,
  iteration INTEGER NOT NULL,
  evaluations BIGINT NOT NULL,
  seconds DOUBLE NOT NULL,
  mean_return DOUBLE,
  fraction_of_optimal DOUBLE,
  max_regret DOUBLE,
  policy_kind VARCHAR(16) NOT NULL,
  FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX rows_step ON rows (run, replication, step);
CREATE TABLE policies (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  replication INTEGER NOT NULL,
  step INTEGER NOT NULL,
  policy BLOB NOT NULL,
  "values" BLOB NOT NULL,
  size INTEGER NOT NULL,
  FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX policies_step ON policies (run, replication, step);
INSERT INTO meta (version) VALUES (1);
INSERT INTO experiments VALUES ('abc', 'me', 'old', 'kept', 1, 1700000000.0);
INSERT INTO runs VALUES (1, 'abc', 0, '{"algorithm":"e-vi","domain":"inventory","iterations":1,
  "replications":1,"seed":0}', '0123456789abcdef', 'inventory', 'e-vi', NULL);
INSERT INTO replications VALUES
  (1, 1, 0, 'finished', 'done', '', '', '', 1, 1, 0.5, 123, 1.0, 1.0, 2.0);
INSERT INTO rows VALUES (1, 1, 0, 0, 'base', 0, 0, 0.25, 7.5, NULL, 1.5, 'stationary');
"""


def tables(path):
    """All tables and indices with their columns; a column that was added later may come last."""
    query = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    with sqlite3.connect(path) as connection:
        found = []
        for kind, name, sql in connection.execute(query).fetchall():
            if kind == "table":
                columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
                references = connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()
                found.append((name, sorted(column[1:] for column in columns), references))
            else:
                found.append((name, " ".join(sql.split())))
    return found


@pytest.fixture
def old_file(tmp_path):
    """A file as the first version wrote it; this text must never change."""
    file = tmp_path / "old.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(VERSION_1)
    return file


def test_a_file_of_the_first_version_is_upgraded(old_file, tmp_path):
    store = Store(old_file)
    Store(tmp_path / "new.db")
    assert tables(old_file) == tables(tmp_path / "new.db")
    experiment = store.experiment("abc")
    assert (experiment.name, experiment.note, experiment.pinned) == ("old", "kept", True)
    [row] = store.rows([1]).to_dict("records")
    assert (row["mean_return"], row["policy_kind"]) == (7.5, "stationary")
    assert np.isnan(row["fraction_of_optimal"])


def test_migrations_run_in_order_and_only_once(old_file, monkeypatch):
    def second(connection):
        connection.execute(text("ALTER TABLE experiments ADD COLUMN stars INTEGER DEFAULT 5"))

    def third(connection):
        connection.execute(text("UPDATE experiments SET stars = stars + 1"))

    monkeypatch.setattr(schema, "VERSION", 3)
    monkeypatch.setattr(schema, "MIGRATIONS", {2: second, 3: third})
    for _ in range(2):
        store = Store(old_file)
        with store.database.reading() as connection:
            assert connection.scalar(text("SELECT stars FROM experiments")) == 6
            assert connection.scalar(schema.meta.select()) == 3


def test_a_migration_that_fails_changes_nothing(old_file, monkeypatch):
    def half(connection):
        connection.execute(text("ALTER TABLE experiments ADD COLUMN stars INTEGER"))
        connection.execute(text("UPDATE nowhere SET stars = 1"))

    monkeypatch.setattr(schema, "VERSION", 2)
    monkeypatch.setattr(schema, "MIGRATIONS", {2: half})
    before = tables(old_file)
    with pytest.raises(StoreError, match="nowhere"):
        Store(old_file)
    assert tables(old_file) == before


def test_a_file_of_a_newer_version_is_refused(old_file):
    with sqlite3.connect(old_file) as connection:
        connection.execute("UPDATE meta SET version = 99")
    with pytest.raises(StoreError, match=r"version 99.*update fsdash"):
        Store(old_file)


def test_several_threads_open_a_new_file_at_the_same_time(tmp_path):
    errors = []
    start = threading.Barrier(8)

    def open_one():
        start.wait()
        try:
            Store(tmp_path / "runs.db").add_experiment("me", "mine", [base()])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=open_one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert Store(tmp_path / "runs.db").size().experiments == 8
