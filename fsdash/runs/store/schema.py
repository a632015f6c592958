"""The tables of the store, and the upgrade of databases from earlier versions.

    meta          the version of the schema
    identity      a random name of this content, which tells it from that of another store
    servers       the servers that may have active work, each with a lease that it renews
    experiments   what a person started with one click: several runs
    runs          one RunSpec each
    replications  status and place in the queue; they are served in the order of `id`
    checkpoints   where an unfinished replication continues (`fsdash.runs.checkpoint`)
    rows          what the engine recorded: the columns of `fsdash.runs.columns` at level "row"
    policies      some of the policies that the rows are about, packed (`arrays`)
    models        users' own models, by the hash of their content (`models`)
    class_tasks   questions of a lecturer to a class (`class_tasks`)
    class_answers the answers, one per browser, without a name or an address

A new database gets the tables below at once. An older one is upgraded by `MIGRATIONS`, one version
after the other, in a single transaction under a lock: when two servers start at the same time, one
upgrades and the other finds it done. The tables below and the migrations must agree; a test
compares them. A newly declared table or recorded column needs no migration (`_add_new_columns`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
    inspect,
    text,
)
from sqlalchemy.schema import CreateColumn
from sqlalchemy.types import TypeEngine

from fsdash.runs.columns import ROW_COLUMNS
from fsdash.runs.columns import Column as RecordedColumn
from fsdash.runs.errors import StoreError

VERSION = 3

ADVISORY_LOCK = 0x66736461
"""Number of this project's lock in a PostgreSQL server."""

SQL_TYPES: dict[str, type[TypeEngine[Any]] | TypeEngine[Any]] = {
    "INTEGER": Integer,
    "BIGINT": BigInteger,
    "DOUBLE": Double,
    "VARCHAR(16)": String(16),
}
"""The types of recorded columns by their names in `fsdash.runs.columns`."""

metadata = MetaData()


def table(name: str, *items: Column[Any] | Index) -> Table:
    # With autoincrement, a deleted id is never used again: an old link must not open a new run.
    return Table(name, metadata, *items, sqlite_autoincrement=True)


def reference(column: str, parent: str) -> Column[Any]:
    """A reference to a row of another table; deleting that row deletes this one too."""
    return Column(column, ForeignKey(parent, ondelete="CASCADE"), nullable=False)


def recorded(column: RecordedColumn) -> Column[Any]:
    """The table's column for a recorded column."""
    return Column(column.name, SQL_TYPES[column.sql_type], nullable=column.nullable)


meta = table("meta", Column("version", Integer, nullable=False))

identity = table("identity", Column("name", String(32), primary_key=True))

servers = table(
    "servers",
    Column("id", String(32), primary_key=True),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("born", String(32), nullable=False),
    Column("heartbeat", Double, nullable=False),
)

experiments = table(
    "experiments",
    Column("id", String(16), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("name", String(200), nullable=False),
    Column("note", Text, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("created", Double, nullable=False),
    Index("experiments_created", "created"),
)

runs = table(
    "runs",
    Column("id", Integer, primary_key=True),
    reference("experiment", "experiments.id"),
    Column("position", Integer, nullable=False),
    Column("spec", Text, nullable=False),
    Column("hash", String(16), nullable=False),
    Column("domain", String(100), nullable=False),
    Column("algorithm", String(100), nullable=False),
    Column("T", Integer),
    Index("runs_experiment", "experiment", "position", unique=True),
    Index("runs_hash", "hash"),
)

replications = table(
    "replications",
    Column("id", Integer, primary_key=True),
    reference("run", "runs.id"),
    Column("replication", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("wanted", String(16), nullable=False),
    Column("wanted_reason", Text, nullable=False),
    Column("server", String(32), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("pid", Integer),
    Column("heartbeat", Double),
    Column("started", Double),
    Column("finished", Double),
    Column("retries", Integer, nullable=False, server_default="0"),
    Column("give_way", Boolean, nullable=False, server_default=false()),
    Index("replications_run", "run", "replication", unique=True),
    Index("replications_queue", "status", "server"),
)

checkpoints = table(
    "checkpoints",
    Column("id", Integer, primary_key=True),
    reference("run", "runs.id"),
    Column("replication", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("checkpoints_run", "run", "replication", unique=True),
)

rows = table(
    "rows",
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    reference("run", "runs.id"),
    Column("replication", Integer, nullable=False),
    *(recorded(column) for column in ROW_COLUMNS),
    Index("rows_step", "run", "replication", "step", unique=True),
)

policies = table(
    "policies",
    Column("id", Integer, primary_key=True),
    reference("run", "runs.id"),
    Column("replication", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("policy", LargeBinary, nullable=False),
    Column("values", LargeBinary, nullable=False),
    Column("size", Integer, nullable=False),
    Index("policies_step", "run", "replication", "step", unique=True),
)

models = table(
    "models",
    Column("hash", String(16), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("name", String(200), nullable=False),
    Column("note", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("n_slow", Integer, nullable=False),
    Column("n_fast", Integer, nullable=False),
    Column("n_actions", Integer, nullable=False),
    Column("outcomes", Integer, nullable=False),
    Column("n_pairs", Integer, nullable=False),
    Column("gamma", Double, nullable=False),
    Column("sense", String(3), nullable=False),
    Column("variables", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("models_owner", "owner", "created"),
)


class_tasks = table(
    "class_tasks",
    Column("id", String(16), primary_key=True),
    Column("secret", String(64), nullable=False),
    Column("owner", String(64), nullable=False, server_default=""),
    Column("page", String(40), nullable=False),
    Column("query", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("expires", Double, nullable=False),
    Index("class_tasks_expires", "expires"),
)

class_answers = table(
    "class_answers",
    Column("id", Integer, primary_key=True),
    reference("task", "class_tasks.id"),
    Column("browser", String(64), nullable=False),
    Column("value", Double, nullable=False),
    Index("class_answers_browser", "task", "browser", unique=True),
)


def _add_retries(connection: Connection) -> None:
    """Version 2: how often a replication was continued automatically since its last new row."""
    _add_column(connection, replications.c.retries)


def _add_give_way_and_owner(connection: Connection) -> None:
    """Version 3: whether a replication should give way to others; a hash of a task's owner."""
    _add_column(connection, replications.c.give_way)
    if inspect(connection).has_table(class_tasks.name):
        _add_column(connection, class_tasks.c.owner)


MIGRATIONS: dict[int, Callable[[Connection], None]] = {2: _add_retries, 3: _add_give_way_and_owner}
"""By version: the function that upgrades a database of the version before."""


def upgrade(connection: Connection) -> None:
    """Create the tables, or upgrade them to this version, inside a writing transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK})
    if not inspect(connection).has_table(meta.name):
        metadata.create_all(connection)
        connection.execute(meta.insert().values(version=VERSION))
        _name_content(connection)
        return
    version = connection.scalar(meta.select())
    if version is None or version > VERSION:
        raise StoreError(
            f"the store has schema version {version}, but this program knows versions up to "
            f"{VERSION}: update fsdash, or choose another store with FSDASH_DATA"
        )
    for number in range(version + 1, VERSION + 1):
        MIGRATIONS[number](connection)
        connection.execute(meta.update().values(version=number))
    metadata.create_all(connection)  # tables that were declared after this database was created
    _add_new_columns(connection)
    _name_content(connection)


def _name_content(connection: Connection) -> None:
    if not connection.scalar(identity.select()):
        rename_content(connection)


def rename_content(connection: Connection) -> None:
    """Give the content a new name: whoever has the store open opens it again."""
    connection.execute(identity.delete())
    connection.execute(identity.insert().values(name=secrets.token_hex(16)))


def _add_new_columns(connection: Connection) -> None:
    """Add the recorded columns that were declared after this database was created.

    They are nullable, so rows from before stay valid, and a program from before can still write.
    """
    existing = {column["name"] for column in inspect(connection).get_columns(rows.name)}
    for column in rows.columns:
        if column.name not in existing:
            _add_column(connection, column)


def _add_column(connection: Connection, column: Column[Any]) -> None:
    """Add a column of the tables above to a database that does not have it."""
    table_name = connection.dialect.identifier_preparer.format_table(column.table)
    definition = CreateColumn(column).compile(dialect=connection.dialect)
    connection.execute(text(f"ALTER TABLE {table_name} ADD COLUMN {definition}"))
