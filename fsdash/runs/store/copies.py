"""Backup, restore and salvage of the store's SQLite file.

- `backup` copies the store while servers use it (SQLite's backup API): one consistent state.
- `restore` replaces the content of the store by that of a backup, in one transaction. Servers may
  be running; they notice it by the new name of the content, end what they compute, and continue
  with the restored experiments. The content before is backed up first, or set aside if it is
  damaged.
- `salvage` copies what can still be read from a damaged file into a new one. Rows are kept up to
  the first missing one of their replication; a replication that lost rows can be resumed and
  computes them again from its seed.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fsdash.errors import InputError
from fsdash.runs.errors import StoreError
from fsdash.runs.records import ACTIVE
from fsdash.runs.store import schema
from fsdash.runs.store.database import (
    LOCK_TIMEOUT,
    Database,
    damage,
    file_url,
    set_aside,
    sqlite_file,
)

NOT_SALVAGED = (schema.meta, schema.identity, schema.servers, schema.checkpoints)
CHUNK = 1_000
"""Rows that are read at once from a damaged file."""
RESTORED = "it was not finished when the backup was made; it can be resumed"
SALVAGED = "the file was damaged; the rows that were lost are computed again when it is resumed"


@dataclass(frozen=True)
class Salvage:
    """How much was copied from a damaged file, and what was wrong with it."""

    experiments: int
    runs: int
    rows: int
    incomplete: int
    """Replications that lost rows."""
    problem: str


def backup(url: str | None, target: Path) -> int:
    """Copy the store into a new file; return its size in bytes."""
    source = sqlite_file(url, "only a SQLite file can be backed up here")
    if not source.exists():
        raise InputError(f"{source}: there is no store to back up")
    _check_new(target)
    if problem := damage(source):
        raise InputError(f"{source} is damaged ({problem}); use `fsdash salvage` instead")
    part = target.with_name(target.name + ".part")
    try:
        _copy(source, part)
        os.replace(part, target)  # an incomplete backup never has the final name
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def restore(url: str | None, source: Path) -> Path | None:
    """Replace the content of the store by that of a backup.

    Returns the file with the content before; None if there was no store.
    """
    file = sqlite_file(url, "only a SQLite file can be restored here")
    if not source.is_file():
        raise InputError(f"{source}: there is no such backup")
    if problem := damage(source):
        raise InputError(f"{source} is damaged ({problem}); use `fsdash salvage` instead")
    before = None
    if damage(file):
        before = set_aside(url)
    elif file.exists():
        before = file.with_name(f"{file.name}.before-restore-{time.strftime('%Y%m%d-%H%M%S')}")
        backup(url, before)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    try:
        _copy(source, part)
        _without_active_work(part)
        _copy(part, file)
    finally:
        _remove(part)
    return before


def salvage(source: Path, target: Path) -> Salvage:
    """Copy what can be read from a damaged file into a new one."""
    if not source.is_file():
        raise InputError(f"{source}: there is no such file")
    _check_new(target)
    Database(file_url(target)).close()
    problem = damage(source) or "SQLite finds it in order"
    try:
        with closing(_connect(source)) as old, closing(_connect(target)) as new:
            for table in schema.metadata.sorted_tables:  # parents first
                if table not in NOT_SALVAGED:
                    _copy_table(old, new, table.name)
            new.commit()
            return _make_consistent(new, problem)
    except sqlite3.DatabaseError as error:
        _remove(target)
        raise StoreError(f"nothing can be read from {source} ({error})") from None


# --------------------------------------------------------------------------------------- copying


def _copy(source: Path, target: Path) -> None:
    """Copy all pages in one step, which readers and writers of the source do not notice."""
    try:
        with closing(_connect(source)) as old, closing(_connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied to {target}: {error}") from None


def _connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=LOCK_TIMEOUT)


def _check_new(target: Path) -> None:
    try:
        os.fsencode(target)
    except UnicodeEncodeError:
        raise InputError("the new file: its name has a character that no name can have") from None
    if target.exists():
        raise InputError(f"{target}: exists already; choose another name")
    if not target.absolute().parent.is_dir():
        raise InputError(f"{target}: its folder does not exist; create it first")


def _without_active_work(file: Path) -> None:
    """Upgrade a copy of a backup, and end the work that no server does any more.

    The copy gets a name of its own: a new run may get the number of one that was started after the
    backup, and a worker that still computes the old one must not write into the new one.
    """
    database = Database(file_url(file))
    p = schema.replications.c
    with database.writing() as connection:
        active = schema.replications.update().where(p.status.in_(ACTIVE))
        connection.execute(active.values(status="interrupted", reason=RESTORED, wanted=""))
        connection.execute(schema.servers.delete())
        schema.rename_content(connection)
    database.close()


def _remove(file: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


# --------------------------------------------------------------------------------------- salvaging


def _copy_table(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    """Copy the readable rows of a table, with the columns that both files have."""
    known = [row[1] for row in new.execute(f'PRAGMA table_info("{table}")')]
    found = [row[1] for row in old.execute(f'PRAGMA table_info("{table}")')]
    names = ", ".join(f'"{name}"' for name in known if name in found)
    marks = ", ".join("?" for name in known if name in found)
    insert = f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})'
    for rows in _readable(old, f'SELECT {names} FROM "{table}"', _last_id(old, table)):
        new.executemany(insert, rows)


def _last_id(old: sqlite3.Connection, table: str) -> int:
    """The largest number of a row, even if the end of the table cannot be read."""
    largest = 0
    for query in (
        f'SELECT max(rowid) FROM "{table}"',
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
    ):
        try:
            row = old.execute(query).fetchone()
        except sqlite3.DatabaseError:
            continue
        largest = max(largest, (row and row[0]) or 0)
    return largest


def _readable(old: sqlite3.Connection, query: str, last: int) -> Iterator[list[tuple]]:
    """The rows of a query by their numbers. Ranges that cannot be read are halved."""
    ranges = [(first, min(first + CHUNK, last + 1)) for first in range(0, last + 1, CHUNK)][::-1]
    while ranges:
        first, end = ranges.pop()
        try:
            yield old.execute(f"{query} WHERE rowid >= ? AND rowid < ?", (first, end)).fetchall()
        except sqlite3.DatabaseError:
            if end - first > 1:
                middle = (first + end) // 2
                ranges += [(middle, end), (first, middle)]


def _make_consistent(new: sqlite3.Connection, problem: str) -> Salvage:
    """Drop what lost its parent, keep rows up to the first gap, and count what is left."""
    for statement in (
        "DELETE FROM runs WHERE experiment NOT IN (SELECT id FROM experiments)",
        "DELETE FROM replications WHERE run NOT IN (SELECT id FROM runs)",
        "DELETE FROM runs WHERE id NOT IN (SELECT run FROM replications)",
        """DELETE FROM rows WHERE NOT EXISTS (SELECT 1 FROM replications p
           WHERE p.run = rows.run AND p.replication = rows.replication)""",
        # Steps count from 0 and ranks from 1: from the first gap on, step >= rank.
        """DELETE FROM rows WHERE id IN (SELECT id FROM (SELECT id, step, row_number() OVER
           (PARTITION BY run, replication ORDER BY step) AS rank FROM rows) WHERE step >= rank)""",
        """DELETE FROM policies WHERE NOT EXISTS (SELECT 1 FROM rows r WHERE r.run = policies.run
           AND r.replication = policies.replication AND r.step = policies.step)""",
        "DELETE FROM experiments WHERE id NOT IN (SELECT experiment FROM runs)",
    ):
        new.execute(statement)
    count = "(SELECT count(*) FROM rows r WHERE r.run = p.run AND r.replication = p.replication)"
    lost = new.execute(
        f"""UPDATE replications AS p SET status = 'interrupted', reason = ?, wanted = '',
            rows = {count} WHERE rows <> {count}""",
        (SALVAGED,),
    ).rowcount
    new.execute(
        "UPDATE replications SET status = 'interrupted', reason = ?, wanted = '' "
        f"WHERE status IN ({', '.join('?' for _ in ACTIVE)})",
        (SALVAGED, *ACTIVE),
    )
    new.commit()
    experiments, runs, rows = (
        new.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("experiments", "runs", "rows")
    )
    return Salvage(experiments, runs, rows, lost, problem)
