"""The database behind the store: where it is, its transactions, and its errors as clear messages.

By default it is a SQLite file, `runs.db` in the folder `FSDASH_DATA` or else in the user's own data
folder; `FSDASH_DATABASE_URL` names any other database that SQLAlchemy supports. The file is in WAL
mode: readers never wait for a writer, and writers wait for each other. Any number of servers and
workers on one computer may share it. A network file system is not safe for SQLite; for several
computers use PostgreSQL.

A transaction that writes takes SQLite's write lock at its start. If it took the lock at its first
write, two transactions that had both read could not wait for each other, and one would fail.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from fsdash.errors import InputError
from fsdash.runs.errors import CorruptStore, StoreError
from fsdash.runs.store.schema import upgrade

LOCK_TIMEOUT = 15.0
"""Seconds to wait for another writer."""

EXPLANATIONS = {
    "is locked": "another program has locked it. Close that program, or try again in a moment",
    "disk is full": "the disk is full. Free some space, then resume what was interrupted",
    "disk i/o error": "the disk cannot be written. Free some space or check the disk, then resume",
    "readonly database": "this user has no right to write it. Grant the right to write the file "
    "and its folder, or choose another folder with FSDASH_DATA",
    "unable to open": "it cannot be opened. Check that its folder exists and may be written to, "
    "or choose another folder with FSDASH_DATA",
}
"""By a part of the database's message: what is wrong, and what to do."""
CORRUPT = ("not a database", "malformed")


def data_folder() -> Path:
    """The folder `FSDASH_DATA`, or else the system's folder for the user's data."""
    if given := os.environ.get("FSDASH_DATA"):
        return Path(given).expanduser()
    base: str | Path
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "fsdash"


def default_url() -> str:
    """The URL of the user's database."""
    given = os.environ.get("FSDASH_DATABASE_URL")
    return given or file_url(data_folder() / "runs.db")


def default_exists() -> bool:
    """Whether the user's database exists; one that is named by its URL counts as existing."""
    return "FSDASH_DATABASE_URL" in os.environ or (data_folder() / "runs.db").exists()


def file_url(path: str | Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{Path(path).absolute()}"


class Database:
    """Reading and writing transactions. Every database error is raised as a `StoreError`."""

    def __init__(self, url: str, lock_timeout: float = LOCK_TIMEOUT) -> None:
        self.url = url
        try:
            parsed = make_url(url)
            sqlite = parsed.drivername == "sqlite"
            self.file = Path((parsed.database or "").removeprefix("file:")) if sqlite else None
            options = {"connect_args": {"timeout": lock_timeout}} if sqlite else {}
            self._engine = create_engine(parsed, **options)
        except (ArgumentError, NoSuchModuleError, ImportError, TypeError) as error:
            raise InputError(
                f"FSDASH_DATABASE_URL: cannot be used ({error}); write, for example, "
                "sqlite:////folder/runs.db or postgresql+psycopg://user:password@host/name"
            ) from None
        if self.file is not None:
            event.listen(self._engine, "connect", _prepare)
            event.listen(self._engine, "begin", _begin)
        self._writer = self._engine.execution_options(writes=True)
        with self._explained_errors():
            self._open(lock_timeout)

    def _open(self, lock_timeout: float) -> None:
        if self.file is not None:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"the folder {self.file.parent} cannot be created ({error.strerror}): choose "
                    "another one with FSDASH_DATA"
                ) from None
            self._use_wal(time.monotonic() + lock_timeout)
        with self._writer.begin() as connection:
            upgrade(connection)

    def _use_wal(self, deadline: float) -> None:
        """Turn on WAL mode. SQLite does not wait for a lock here, so this function does."""
        while True:
            try:
                with self._engine.connect() as connection:
                    sqlite = _sqlite_connection(connection)
                    sqlite.execute("PRAGMA auto_vacuum = INCREMENTAL")  # affects new files only
                    sqlite.execute("PRAGMA journal_mode = WAL")
                return
            except Exception as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        with self._explained_errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that changes everything or nothing."""
        with self._explained_errors(), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def _explained_errors(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> StoreError:
        message = str(getattr(error, "orig", None) or error)
        store = f"the store ({self.file or make_url(self.url).render_as_string()})"
        lowered = message.lower()
        if any(sign in lowered for sign in CORRUPT):
            return CorruptStore(
                f"{store} is damaged or is not a database: {message}. Set it aside to start with "
                "a new one; the damaged file is renamed, not deleted"
            )
        for sign, explanation in EXPLANATIONS.items():
            if sign in lowered:
                return StoreError(f"{store}: {explanation}. The stored rows are safe")
        return StoreError(f"{store} cannot be used: {message}. The stored rows are safe")

    def size(self) -> int | None:
        """Bytes of the SQLite file; None for other databases."""
        if self.file is None:
            return None
        return sum(f.stat().st_size for f in _files(self.file) if f.exists())

    def shrink(self) -> None:
        """Return the space of deleted experiments to the disk."""
        if self.file is not None:
            with self._explained_errors(), self._engine.connect() as connection:
                # execute() would free a single page.
                _sqlite_connection(connection).executescript("PRAGMA incremental_vacuum")

    def close(self) -> None:
        self._engine.dispose()


def set_aside(url: str | None = None) -> Path:
    """Rename a SQLite file to `<name>.corrupt-<date>` and return the new path."""
    parsed = make_url(url or default_url())
    if parsed.drivername != "sqlite" or not parsed.database:
        raise InputError(
            "only a SQLite file can be set aside; repair other databases with their own tools"
        )
    date = time.strftime("%Y%m%d-%H%M%S")
    file = Path(parsed.database)
    aside = file.with_name(f"{file.name}.corrupt-{date}")
    for part in _files(file):
        if part.exists():
            part.rename(aside.with_name(aside.name + part.name.removeprefix(file.name)))
    return aside


def _files(file: Path) -> tuple[Path, Path, Path]:
    """The files of a SQLite database in WAL mode."""
    return file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")


def _sqlite_connection(connection: Connection) -> sqlite3.Connection:
    raw: Any = connection.connection.dbapi_connection
    return raw


def _prepare(raw: sqlite3.Connection, _record: object) -> None:
    raw.isolation_level = None  # `_begin` starts the transactions
    raw.execute("PRAGMA foreign_keys = ON")
    raw.execute("PRAGMA synchronous = NORMAL")  # in WAL mode safe when a program crashes


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def storable(field: str, text: str) -> str:
    """The text, if it can be encoded; an unpaired surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{field}: contains a character that cannot be encoded; remove it"
        ) from None
    return text
