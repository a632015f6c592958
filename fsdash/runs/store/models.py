"""Saved models: a person's own models, stored under the hash of their content.

    saved = store.models.add("me", "company", model)
    RunSpec(saved.domain, "e-fsvi", T=6, iterations=5)      # in any process with this database

A model has a name, a note and an owner, and can be renamed, exported and deleted. Its content never
changes: another content is another model. `find_content` is how `fsdash.domains.saved` finds a
model by its name, in the databases that this process has open or in the user's own.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from fsdash.core.model import FastSlowMDP
from fsdash.domains.saved import PREFIX, SavedContent, domain_name, forget_class, variable_names
from fsdash.errors import InputError
from fsdash.models.archive import from_bytes, to_bytes
from fsdash.runs.errors import StoreError
from fsdash.runs.store import schema
from fsdash.runs.store.database import Database, default_exists, default_url
from fsdash.runs.store.queries import MAX_NOTE, MAX_OWNER, checked_name, checked_text

MAX_BYTES = 64 * 2**20
"""Largest content of one model, compressed."""
MAX_MODELS = 100
"""Most models of one owner."""
ABOUT = [column for column in schema.models.columns if column.name != "content"]

_databases: weakref.WeakSet[Database] = weakref.WeakSet()


@dataclass(frozen=True)
class SavedModelRecord:
    """What is stored about a model, except for its content."""

    hash: str
    owner: str
    name: str
    note: str
    created: float
    n_slow: int
    n_fast: int
    n_actions: int
    outcomes: int
    """Evaluations per exact backup."""
    n_pairs: int
    """Feasible pairs of a state and an action."""
    gamma: float
    sense: str
    variables: dict[str, list[str]]
    """Names of the slow, fast and action variables."""
    size: int
    """Bytes of its content."""

    @property
    def domain(self) -> str:
        """The model's name as a domain."""
        return PREFIX + self.hash

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return self.n_slow, self.n_fast, self.n_actions, self.outcomes


Records = list[SavedModelRecord]
Names = list[str]


class ModelTable:
    """The saved models of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.version = 0
        """How often this process has changed the table."""
        look_in(database)

    def add(self, owner: str, name: str, model: FastSlowMDP, note: str = "") -> SavedModelRecord:
        """Save a model. A model that is saved already stays as it is, with its name and owner."""
        content = to_bytes(model)
        if len(content) > MAX_BYTES:
            raise InputError(
                f"the model has {len(content) / 2**20:,.0f} MB, compressed; at most "
                f"{MAX_BYTES / 2**20:,.0f} MB can be saved: use a coarser grid"
            )
        values = {
            "hash": domain_name(model).removeprefix(PREFIX),
            "owner": checked_text("owner", owner, MAX_OWNER),
            "name": checked_name(name),
            "note": checked_text("note", note, MAX_NOTE),
            "created": time.time(),
            "n_slow": model.n_slow,
            "n_fast": model.n_fast,
            "n_actions": model.n_actions,
            "outcomes": model.true.outcomes,
            "n_pairs": model.n_pairs,
            "gamma": model.gamma,
            "sense": model.sense,
            "variables": json.dumps(variable_names(model)),
            "size": len(content),
            "content": content,
        }
        m = schema.models
        with self._database.writing() as connection:
            if connection.scalar(select(m.c.hash).where(m.c.hash == values["hash"])) is None:
                count = select(func.count()).where(m.c.owner == values["owner"])
                if (connection.scalar(count) or 0) >= MAX_MODELS:
                    raise InputError(
                        f"you have {MAX_MODELS} saved models, the most one person can have; delete "
                        "one first"
                    )
                # On PostgreSQL somebody else may save the same model at this moment.
                with suppress(IntegrityError), connection.begin_nested():
                    connection.execute(m.insert().values(values))
        self._changed(domain_name(model))
        return self.get(str(values["hash"]))

    def get(self, hash: str) -> SavedModelRecord:
        """One model, by the hash or by its name as a domain."""
        records = self._select(schema.models.c.hash == hash.removeprefix(PREFIX))
        if not records:
            raise _missing(hash)
        return records[0]

    def list(self, owner: str | None = None) -> Records:
        """All models, or those of one owner, newest first."""
        return self._select(*([] if owner is None else [schema.models.c.owner == owner]))

    def _select(self, *conditions: Any) -> Records:
        query = select(*ABOUT).where(*conditions).order_by(schema.models.c.created.desc())
        with self._database.reading() as connection:
            rows = connection.execute(query).mappings().all()
        return [
            SavedModelRecord(**{**row, "variables": json.loads(row["variables"])}) for row in rows
        ]

    def content(self, hash: str) -> bytes:
        """The model as the bytes of an `.npz` file."""
        m = schema.models
        query = select(m.c.content).where(m.c.hash == hash.removeprefix(PREFIX))
        with self._database.reading() as connection:
            content = connection.scalar(query)
        if content is None:
            raise _missing(hash)
        return bytes(content)

    def rename(self, hash: str, name: str) -> None:
        self._change(hash, name=checked_name(name))

    def note(self, hash: str, note: str) -> None:
        """Replace the note of a model."""
        self._change(hash, note=checked_text("note", note, MAX_NOTE))

    def _change(self, hash: str, **values: object) -> None:
        m = schema.models
        with self._database.writing() as connection:
            changed = m.update().where(m.c.hash == hash.removeprefix(PREFIX)).values(**values)
            if not connection.execute(changed).rowcount:
                raise _missing(hash)
        self._changed(hash)

    def _changed(self, hash: str) -> None:
        self.version += 1
        forget_class(PREFIX + hash.removeprefix(PREFIX))

    def experiments(self, hash: str) -> Names:
        """The ids of the experiments that use a model."""
        with self._database.reading() as connection:
            return _experiments(connection, hash)

    def delete(self, hash: str) -> None:
        """Delete a model that no stored experiment uses: its runs could not be opened any more."""
        m = schema.models
        model = select(m.c.hash).where(m.c.hash == hash.removeprefix(PREFIX))
        with self._database.writing() as connection:
            # On PostgreSQL the lock makes others wait who start a run on it at this moment.
            connection.execute(model.with_for_update())
            if used := _experiments(connection, hash):
                count = f"{len(used)} experiment{'s' if len(used) > 1 else ''}"
                raise InputError(f"{count} among the stored runs use this model; delete them first")
            connection.execute(m.delete().where(m.c.hash == hash.removeprefix(PREFIX)))
        self._changed(hash)


def users_models() -> list[SavedModelRecord]:
    """The models in the user's own database, newest first; none if it does not exist."""
    return ModelTable(_opened(default_url())).list() if default_exists() else []


def look_in(database: Database) -> None:
    """Let `find_content` look into a database as long as it is open."""
    _databases.add(database)


def find_content(domain: str) -> SavedContent | None:
    """A model by its name as a domain, from an open database or the user's own; None if not found.

    A database that cannot be read now is passed over, unless the model is in no other.
    """
    trouble: StoreError | None = None
    places: list[Callable[[str], SavedContent | None]] = [
        *(partial(_in_database, database) for database in _databases),
        _in_users_own,
    ]
    for find in places:
        try:
            content = find(domain)
        except StoreError as error:
            trouble = error
            continue
        if content is not None:
            return content
    if trouble is not None:
        raise trouble
    return None


def _in_users_own(domain: str) -> SavedContent | None:
    """In the user's own database, if it exists and was not opened before."""
    url = default_url()
    if any(database.url == url for database in _databases) or not default_exists():
        return None
    return _in_database(_opened(url), domain)


def _in_database(database: Database, domain: str) -> SavedContent | None:
    try:
        saved = ModelTable(database).get(domain)
    except InputError:
        return None
    return SavedContent(
        domain,
        saved.name,
        saved.shape,
        saved.gamma,
        saved.sense,
        saved.variables,
        partial(_read, database, domain),
    )


def _read(database: Database, domain: str) -> FastSlowMDP:
    return from_bytes(ModelTable(database).content(domain))


@cache
def _opened(url: str) -> Database:
    return Database(url)


def _experiments(connection: Connection, hash: str) -> list[str]:
    r = schema.runs
    domain = PREFIX + hash.removeprefix(PREFIX)
    query = select(r.c.experiment).where(r.c.domain == domain).distinct()
    return list(connection.scalars(query))


def _missing(hash: str) -> InputError:
    return InputError(f"model {hash!r} is not saved here; it may have been deleted")
