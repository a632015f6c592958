"""The database behind the store: where it is, its transactions, and its errors as clear messages.

By default it is a SQLite file, `runs.db` in the folder `FSDASH_DATA` or else in the user's own data
folder; `FSDASH_DATABASE_URL` names any other database that SQLAlchemy supports. The file is in WAL
mode: readers never wait for a writer, and writers wait for each other. Any number of servers and
workers on one computer may share it. A network file system is not safe for SQLite; for several
computers use PostgreSQL.

If the file is deleted or replaced while it is in use, the next transaction closes all connections
and opens the new file; `generation` counts this. So only one file is in use at a time. The content
has a name of its own (`schema.identity`), which is compared once a second: so the same happens if
another store is restored into the file, or into a PostgreSQL database, in place. A file that is
copied over this one (`cp`) cannot be adopted: the log of the old content stays valid for SQLite,
and removing it under the connections of other processes would not be safe. `copies.restore` can.

A recorded row survives a loss of power: a transaction ends when the disk has it
(`synchronous = FULL`, about 0.3 ms instead of 0.03 ms on a solid-state disk, five times a second
for each worker).

A transaction that writes takes SQLite's write lock at its start. If it took the lock at its first
write, two transactions that had both read could not wait for each other, and one would fail.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    create_engine,
    event,
    inspect,
    literal,
    literal_column,
    make_url,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from fsdash.errors import InputError
from fsdash.runs.errors import CorruptStore, StoreError
from fsdash.runs.store.schema import identity, upgrade

log = logging.getLogger(__name__)

REOPENING = (-1, -1)
"""In place of a file's device and inode while it is opened."""
CONTENT_INTERVAL = 1.0
"""Seconds between two checks whether the content belongs to the same store."""
LOCK_TIMEOUT = 15.0
"""Seconds to wait for another writer."""
POSTGRES_ARGUMENTS = {
    # A process that stops in the middle of a transaction does not hold its locks for ever.
    "options": "-c lock_timeout=15s -c idle_in_transaction_session_timeout=60s",
    # Nobody waits for ever for a database computer that was switched off.
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Parameters of a connection to PostgreSQL, where the URL does not give them."""

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
    if folder := os.environ.get("FSDASH_DATA"):
        return Path(folder).expanduser()
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
    url = os.environ.get("FSDASH_DATABASE_URL")
    return url or file_url(data_folder() / "runs.db")


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
            arguments: dict[str, Any] = {"timeout": lock_timeout} if sqlite else {}
            if parsed.drivername == "postgresql+psycopg":
                options = parsed.query
                arguments = {n: v for n, v in POSTGRES_ARGUMENTS.items() if n not in options}
            self._engine = create_engine(parsed, connect_args=arguments)
        except (ArgumentError, NoSuchModuleError, ImportError, TypeError) as error:
            raise InputError(
                f"FSDASH_DATABASE_URL: cannot be used ({error}); write, for example, "
                "sqlite:////folder/runs.db or postgresql+psycopg://user:password@host/name"
            ) from None
        if self.file is not None:
            event.listen(self._engine, "connect", _prepare)
            event.listen(self._engine, "begin", _begin)
        self._writer = self._engine.execution_options(writes=True)
        self._reader = self._engine
        if parsed.get_backend_name() == "postgresql":
            # By default each statement of a transaction sees a state of its own.
            self._reader = self._engine.execution_options(isolation_level="REPEATABLE READ")
        self._lock_timeout, self._reopening = lock_timeout, threading.Lock()
        self.generation = 0
        """How often the file was replaced by another one."""
        with self._explained_errors():
            self._open()

    def _open(self) -> None:
        if self.file is not None:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"the folder {self.file.parent} cannot be created ({error.strerror}): choose "
                    "another one with FSDASH_DATA"
                ) from None
            self._use_wal(time.monotonic() + self._lock_timeout)
        with self._writer.begin() as connection:
            upgrade(connection)
            self._content, self._content_checked = content_name(connection), time.monotonic()
        self._identity: tuple[int, int] | None = self._identity_now()

    def _identity_now(self) -> tuple[int, int] | None:
        """Device and inode of the file; None if there is none."""
        try:
            status = os.stat(self.file) if self.file is not None else None
        except OSError:
            return None
        return None if status is None else (status.st_dev, status.st_ino)

    def _reopen_if_replaced(self) -> None:
        if not self._is_replaced():
            return
        with self._reopening:
            if not self._is_replaced():
                return
            log.warning("the store %s was deleted or replaced; it is opened again", self._name)
            self._identity = REOPENING  # the new file may have the same number as the old one
            self._engine.dispose()
            self.generation += 1
            self._open()

    def _is_replaced(self) -> bool:
        if self._identity != self._identity_now():
            return True
        if time.monotonic() - self._content_checked < CONTENT_INTERVAL:
            return False
        with self._engine.begin() as connection:
            if content_name(connection) != self._content:
                return True
        self._content_checked = time.monotonic()
        return False

    @property
    def _name(self) -> str:
        return str(self.file or make_url(self.url).render_as_string())

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
        with self._explained_errors():
            self._reopen_if_replaced()
            with self._reader.begin() as connection:
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that changes everything or nothing."""
        with self._explained_errors():
            self._reopen_if_replaced()
            with self._writer.begin() as connection:
                yield connection

    @contextmanager
    def _explained_errors(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> StoreError:
        message = str(getattr(error, "orig", None) or error)
        store = f"the store ({self._name})"
        lowered = message.lower()
        if any(sign in lowered for sign in CORRUPT):
            self._engine.dispose()  # other connections may be wrong about the file, too
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
    """Rename a damaged SQLite file to `<name>.corrupt-<date>` and return the new path.

    A file that SQLite finds in order is not renamed: that is an `InputError`.
    """
    file = sqlite_file(url, "only a SQLite file can be set aside")
    if not damage(file):
        raise InputError(f"{file}: SQLite finds this file in order, so it was not renamed")
    date = time.strftime("%Y%m%d-%H%M%S")
    aside = file.with_name(f"{file.name}.corrupt-{date}")
    # The file itself comes last: a server creates a new one, with a new log, as soon as it is gone.
    for part in reversed(_files(file)):
        if part.exists():
            part.rename(aside.with_name(aside.name + part.name.removeprefix(file.name)))
    return aside


def sqlite_file(url: str | None, otherwise: str) -> Path:
    """The file of a SQLite database; for any other database an error that begins as given."""
    parsed = make_url(url or default_url())
    if parsed.drivername != "sqlite" or not parsed.database:
        raise InputError(f"{otherwise}; use the tools of the other database")
    return Path(parsed.database)


def damage(file: Path) -> str:
    """What SQLite finds wrong with a file; empty if it is in order or does not exist."""
    if not file.exists():
        return ""
    try:
        with closing(sqlite3.connect(file, timeout=LOCK_TIMEOUT)) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            return "" if verdict == "ok" else str(verdict)
    except sqlite3.OperationalError as error:
        raise StoreError(f"{file} cannot be checked: {error}") from None
    except sqlite3.DatabaseError as error:
        return str(error)


def _files(file: Path) -> tuple[Path, Path, Path]:
    """The files of a SQLite database in WAL mode."""
    return file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")


def _sqlite_connection(connection: Connection) -> sqlite3.Connection:
    raw: Any = connection.connection.dbapi_connection
    return raw


def _prepare(raw: sqlite3.Connection, _record: object) -> None:
    raw.isolation_level = None  # `_begin` starts the transactions
    raw.execute("PRAGMA foreign_keys = ON")
    raw.execute("PRAGMA synchronous = FULL")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def content_name(connection: Connection) -> str:
    """The name of the content; empty if the tables are missing."""
    if not inspect(connection).has_table(identity.name):
        return ""
    return connection.scalar(identity.select()) or ""


def database_clock(connection: Connection) -> ColumnElement[float]:
    """SQL expression: seconds since 1970 by the database's clock, which all servers share."""
    if connection.dialect.name == "sqlite":
        return literal_column("((julianday('now') - 2440587.5) * 86400.0)", Double)
    if connection.dialect.name == "postgresql":
        return literal_column("extract(epoch from clock_timestamp())::float8", Double)
    return literal(time.time(), Double)


def storable(field: str, text: str) -> str:
    """The text, if every database can store it; not a null character or an unpaired surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{field}: contains a character that cannot be stored; remove it")
    return text
