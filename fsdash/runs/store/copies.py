"""Backup and restore of the store's SQLite file.

- `backup` copies the store while servers use it (SQLite's backup API): one consistent state.
- `restore` replaces the content of the store by that of a backup, in one transaction. Servers may
  be running; they notice it by the new name of the content, end what they compute, and continue
  with the restored experiments. The content before is backed up first, or set aside if it is
  damaged.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
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


def backup(url: str | None, target: Path) -> int:
    """Copy the store into a new file; return its size in bytes."""
    source = sqlite_file(url, "only a SQLite file can be backed up here")
    if not source.exists():
        raise InputError(f"{source}: there is no store to back up")
    _check_new(target)
    if problem := damage(source):
        raise InputError(f"{source} is damaged ({problem}); restore a backup: fsdash restore FILE")
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
        raise InputError(f"{source} is damaged ({problem}); restore a backup: fsdash restore FILE")
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
    p, reason = schema.replications.c, "it was not finished when the backup was made"
    with database.writing() as connection:
        active = schema.replications.update().where(p.status.in_(ACTIVE))
        connection.execute(
            active.values(status="interrupted", reason=f"{reason}; it can be resumed", wanted="")
        )
        connection.execute(schema.servers.delete())
        schema.rename_content(connection)
    database.close()


def _remove(file: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
