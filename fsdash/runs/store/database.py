"""One database behind the store: where it is, its transactions, and its troubles in words.

By default it is a SQLite file, `runs.db` in the folder `FSDASH_DATA` or else in the user's own data
folder; `FSDASH_DATABASE_URL` names any other database that SQLAlchemy knows. The file is in WAL
mode, so that readers never wait for a writer, and writers wait for each other: any number of
servers and workers may share it on one computer (not over a network file system; for several
computers use PostgreSQL).

Transactions that write take SQLite's lock at their start. Taken later, at the first write, it could
fail at once instead of waiting when two readers become writers together.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from fsdash.errors import InputError
from fsdash.runs.errors import CorruptStore, StoreError
from fsdash.runs.store.schema import upgrade

LOCK_TIMEOUT = 15.0
"""Seconds to wait for another writer."""

TROUBLES = {
    "is locked": "it is locked by another program. Close what holds it, or try again in a moment",
    "disk is full": "the disk is full. Free some space, then resume what was interrupted",
    "disk i/o error": "the disk refuses to write. Free some space or check the disk, then resume",
    "readonly database": "it may not be written to. Give this user the right to write the file "
    "and its folder, or name another folder with FSDASH_DATA",
    "unable to open": "it cannot be opened. Check that its folder exists and may be written to, "
    "or name another folder with FSDASH_DATA",
}
CORRUPT = ("not a database", "malformed")


def data_folder() -> Path:
    """Where the user's data belong on this system, or what `FSDASH_DATA` says."""
    if given := os.environ.get("FSDASH_DATA"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "fsdash"


def default_url() -> str:
    given = os.environ.get("FSDASH_DATABASE_URL")
    return given or file_url(data_folder() / "runs.db")


def file_url(path: str | Path) -> str:
    return f"sqlite:///{Path(path).absolute()}"


class Database:
    """Reading and writing transactions; every trouble comes out as a `StoreError`."""

    def __init__(self, url: str, lock_timeout: float = LOCK_TIMEOUT) -> None:
        self.url = url
        try:
            parsed = make_url(url)
            sqlite = parsed.drivername == "sqlite"
            self.file = Path(parsed.database.removeprefix("file:")) if sqlite else None
            options = {} if self.file is None else {"connect_args": {"timeout": lock_timeout}}
            self._engine = create_engine(parsed, **options)
        except (ArgumentError, NoSuchModuleError, ImportError, TypeError) as error:
            raise InputError(
                f"FSDASH_DATABASE_URL: cannot be used ({error}); write, for instance, "
                "sqlite:////folder/runs.db or postgresql+psycopg://user:password@host/name"
            ) from None
        if self.file is not None:
            event.listen(self._engine, "connect", _prepare)
            event.listen(self._engine, "begin", _begin)
        self._writer = self._engine.execution_options(writes=True)
        with self._in_words():
            self._open(lock_timeout)

    def _open(self, lock_timeout: float) -> None:
        if self.file is not None:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"the folder {self.file.parent} cannot be made ({error.strerror}): name "
                    "another one with FSDASH_DATA"
                ) from None
            self._use_wal(time.monotonic() + lock_timeout)
        with self._writer.begin() as connection:
            upgrade(connection)

    def _use_wal(self, deadline: float) -> None:
        """Turn WAL on. SQLite does not wait for others here, so this does."""
        while True:
            try:
                with self._engine.connect() as connection:
                    raw = connection.connection.dbapi_connection
                    raw.execute("PRAGMA auto_vacuum = INCREMENTAL")  # counts for a new file only
                    raw.execute("PRAGMA journal_mode = WAL")
                return
            except Exception as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        with self._in_words(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is done as a whole or not at all."""
        with self._in_words(), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise self._told(error) from error
        except Exception as error:
            if type(error).__module__ != "sqlite3":
                raise
            raise self._told(error) from error

    def _told(self, error: Exception) -> StoreError:
        message = str(getattr(error, "orig", None) or error)
        where = f"the store ({self.file or make_url(self.url).render_as_string()})"
        lowered = message.lower()
        if any(sign in lowered for sign in CORRUPT):
            return CorruptStore(
                f"{where} is damaged or is no database: {message}. Set it aside to start a new "
                "one; the file is kept beside it under another name"
            )
        for sign, words in TROUBLES.items():
            if sign in lowered:
                return StoreError(f"{where}: {words}. What was recorded is kept")
        return StoreError(f"{where} cannot be used: {message}. What was recorded is kept")

    def size(self) -> int | None:
        """Bytes of the SQLite file; None for other databases."""
        if self.file is None:
            return None
        return sum(f.stat().st_size for f in _files(self.file) if f.exists())

    def shrink(self) -> None:
        """Give the space of what was deleted back to the disk."""
        if self.file is not None:
            with self._in_words(), self._engine.connect() as connection:
                # As a script: a single statement would free a single page.
                script = "PRAGMA incremental_vacuum"
                connection.connection.dbapi_connection.executescript(script)

    def close(self) -> None:
        self._engine.dispose()


def set_aside(url: str | None = None) -> Path:
    """Rename a SQLite file to `<name>.corrupt-<date>` and return that name; nothing is deleted."""
    path = make_url(url or default_url())
    if path.drivername != "sqlite":
        raise InputError(
            "only a SQLite file can be set aside; mend the database with its own tools"
        )
    date = time.strftime("%Y%m%d-%H%M%S")
    file = Path(path.database)
    aside = file.with_name(f"{file.name}.corrupt-{date}")
    for part in _files(file):
        if part.exists():
            part.rename(aside.with_name(aside.name + part.name.removeprefix(file.name)))
    return aside


def _files(file: Path) -> tuple[Path, Path, Path]:
    return file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")


def _prepare(raw, _record) -> None:
    raw.isolation_level = None  # this module begins transactions itself
    raw.execute("PRAGMA foreign_keys = ON")
    raw.execute("PRAGMA synchronous = NORMAL")  # safe in WAL mode against crashes of programs


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
