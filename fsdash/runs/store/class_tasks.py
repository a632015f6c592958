"""Questions of a lecturer to a class, and the answers.

    task, secret = store.class_tasks.add("choose_t", {"budget": "4"}, "Which method?", ("A", "B"))
    store.class_tasks.answer(task.id, browser_token, 0)     # an option's place, or a number
    store.class_tasks.values(task.id, secret)               # all answers, for the lecturer

Nothing personal is stored: no name, no network address, no time of an answer. A browser has a
random token for each task; the database holds a hash of it, so that a second answer replaces the
first. Of the lecturer's secret it holds a hash as well, and of the visitor who created a task,
because one visitor may have `MAX_TASKS_OF_OWNER` tasks only. Expired tasks are deleted with their
answers.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from sqlalchemy import Connection, func, select

from fsdash.errors import InputError
from fsdash.runs.limits import Quota
from fsdash.runs.store import schema
from fsdash.runs.store.database import Database, storable
from fsdash.runs.store.queries import new_id

MAX_TASKS = 1_000
"""Tasks of one server that have not expired."""
MAX_TASKS_OF_OWNER = 50
MAX_TASKS_OF_ADDRESS = 200
"""Of all visitors with one network address: a visitor can have many cookies, but few addresses."""
MAX_ANSWERS = 1_000
"""Answers to one task."""
MAX_QUESTION, MAX_OPTION, MAX_QUERY = 500, 120, 4_000
"""Characters."""
MIN_OPTIONS, MAX_OPTIONS = 2, 8
MAX_DAYS = 30
LARGEST_NUMBER = 1e12
MAX_TOKEN = 200
"""Characters of a browser's token, and of a lecturer's secret."""

CLOSED = "this task is closed: answers are no longer accepted"


@dataclass(frozen=True)
class ClassTask:
    """A task: a page in a given state, a question, and its options (none if it asks a number)."""

    id: str
    page: str
    query: dict[str, str]
    question: str
    options: tuple[str, ...]
    is_open: bool
    expires: float
    """Seconds since 1970."""


class ClassTasks:
    """The tasks and answers in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._quota = Quota("tasks", "delete one of yours, or try again when some have expired")
        self._adding = threading.Lock()

    def add(
        self,
        page: str,
        query: Mapping[str, str],
        question: str,
        options: Sequence[str] = (),
        days: float = 1.0,
        owner: str = "",
        address: str = "",
    ) -> tuple[ClassTask, str]:
        """Add a task; returns it with the lecturer's secret, which is not stored.

        `owner` is the visitor's id and `address` their network address; without one, its limit does
        not apply.
        """
        values = _checked_task(page, query, question, options, days)
        id, secret = new_id(), secrets.token_urlsafe(24)
        t = schema.class_tasks
        hashed = _hash(f"owner.{owner}") if owner else ""
        new = {"id": id, "secret": _hash(secret), "owner": hashed, "is_open": True}
        # The lock makes the limits hold although several visitors add a task.
        with self._adding, self._database.writing() as connection:
            connection.execute(t.delete().where(t.c.expires < time.time()))
            self._check_limits(connection, hashed, address)
            connection.execute(t.insert().values(new | values))
        return self.get(id), secret

    def _check_limits(self, connection: Connection, owner: str, address: str) -> None:
        """Raise an error if another task of an owner (a hash) or an address is one too many."""
        counts = Counter(connection.scalars(select(schema.class_tasks.c.owner)))
        most = MAX_TASKS_OF_OWNER, MAX_TASKS_OF_ADDRESS, MAX_TASKS
        self._quota.check(owner, address, counts, most)

    def get(self, id: str) -> ClassTask:
        """A task that has not expired."""
        with self._database.reading() as connection:
            return _task(_row(connection, id))

    def is_lecturer(self, id: str, secret: str) -> bool:
        """Whether this is the secret of the task."""
        with self._database.reading() as connection:
            return _matches(_row(connection, id), secret)

    def answer(self, id: str, browser: str, value: float) -> None:
        """Store the answer of a browser: a number, or the place of an option, from 0 on.

        A second answer of the same browser replaces the first.
        """
        if not isinstance(browser, str) or not 8 <= len(browser) <= MAX_TOKEN:
            raise InputError("the browser has no token; reload the page and answer again")
        a = schema.class_answers
        with self._database.writing() as connection:
            # The lock on the task lets simultaneous answers wait for each other.
            task = _task(_row(connection, id, lock=True))
            if not task.is_open:
                raise InputError(CLOSED)
            key = {"task": id, "browser": _hash(f"{id}.{browser}")}
            answered = (a.c.task == key["task"]) & (a.c.browser == key["browser"])
            number = _checked_answer(task, value)
            if connection.execute(a.update().where(answered).values(value=number)).rowcount:
                return
            if _count(connection, id) >= MAX_ANSWERS:
                raise InputError(f"this task has {MAX_ANSWERS:,} answers, the most it can have")
            connection.execute(a.insert().values(value=number, **key))

    def answer_of(self, id: str, browser: str) -> float | None:
        """The answer that a browser gave; None if it gave none."""
        a = schema.class_answers
        answered = (a.c.task == id) & (a.c.browser == _hash(f"{id}.{browser}"))
        with self._database.reading() as connection:
            return connection.scalar(select(a.c.value).where(answered))

    def count(self, id: str) -> int:
        """How many browsers have answered."""
        with self._database.reading() as connection:
            return _count(connection, id)

    def values(self, id: str, secret: str) -> list[float]:
        """All answers in increasing order, which does not tell who answered when."""
        a = schema.class_answers
        with self._database.reading() as connection:
            self._authorise(connection, id, secret)
            return list(
                connection.scalars(select(a.c.value).where(a.c.task == id).order_by(a.c.value))
            )

    def set_open(self, id: str, secret: str, is_open: bool) -> None:
        """Accept answers, or no longer."""
        t = schema.class_tasks
        with self._database.writing() as connection:
            self._authorise(connection, id, secret)
            connection.execute(t.update().where(t.c.id == id).values(is_open=is_open))

    def clear(self, id: str, secret: str) -> None:
        """Delete the answers and keep the task."""
        a = schema.class_answers
        with self._database.writing() as connection:
            self._authorise(connection, id, secret)
            connection.execute(a.delete().where(a.c.task == id))

    def delete(self, id: str, secret: str) -> None:
        """Delete the task and its answers."""
        t = schema.class_tasks
        with self._database.writing() as connection:
            self._authorise(connection, id, secret)
            connection.execute(t.delete().where(t.c.id == id))

    def _authorise(self, connection: Connection, id: str, secret: str) -> None:
        if not _matches(_row(connection, id), secret):
            raise InputError("this link is not the lecturer's; use the one with the secret key")


def _row(connection: Connection, id: str, lock: bool = False) -> Mapping[str, Any]:
    t = schema.class_tasks
    query = select(t).where((t.c.id == id) & (t.c.expires >= time.time()))
    row = connection.execute(query.with_for_update() if lock else query).mappings().first()
    if row is None:
        raise InputError("this task does not exist; it may have expired or been deleted")
    return row  # type: ignore[return-value]


def _task(row: Mapping[str, Any]) -> ClassTask:
    return ClassTask(
        id=row["id"],
        page=row["page"],
        query=json.loads(row["query"]),
        question=row["question"],
        options=tuple(json.loads(row["options"])),
        is_open=row["is_open"],
        expires=row["expires"],
    )


def _count(connection: Connection, id: str) -> int:
    query = select(func.count()).where(schema.class_answers.c.task == id)
    return connection.scalar(query) or 0


def _matches(row: Mapping[str, Any], secret: str) -> bool:
    return len(secret) <= MAX_TOKEN and hmac.compare_digest(row["secret"], _hash(secret))


def _hash(secret: str) -> str:
    """SHA-256. The secrets are random and long, so that none can be found by trying."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _checked_task(
    page: str, query: Mapping[str, str], question: str, options: Sequence[str], days: float
) -> dict[str, Any]:
    if not 0 < days <= MAX_DAYS:
        raise InputError(f"give a number of days above 0 and up to {MAX_DAYS}")
    return {
        "page": _text("the page", page, 40),
        "query": checked_query(query),
        "question": checked_question(question),
        "options": json.dumps(checked_options(options), ensure_ascii=False),
        "expires": time.time() + days * 86_400,
    }


def checked_query(query: Mapping[str, str]) -> str:
    """The state of a page as JSON, if a task can store it."""
    return _text("the link", json.dumps(dict(query), ensure_ascii=False), MAX_QUERY)


def checked_question(question: str) -> str:
    """The question, if a task can ask it."""
    if not (asked := _text("the question", question, MAX_QUESTION)):
        raise InputError("the question is empty; type one")
    return asked


def checked_options(options: Sequence[str]) -> list[str]:
    """The answers to choose from, if a task can offer them; none if it asks for a number."""
    texts = [_text(f"answer {n}", text, MAX_OPTION) for n, text in enumerate(options, 1)]
    if texts and not MIN_OPTIONS <= len(texts) <= MAX_OPTIONS:
        raise InputError(f"give {MIN_OPTIONS} to {MAX_OPTIONS} answers to choose from, or none")
    if "" in texts or len(set(texts)) < len(texts):
        raise InputError("an answer is empty or is there twice; each must be different")
    return texts


def _text(what: str, value: str, most: int) -> str:
    """The text without spaces at its ends; an error says how long it is and may be."""
    text = storable(what, value.strip())
    if len(text) > most:
        raise InputError(f"{what} has {len(text):,} characters; shorten it to {most:,}")
    return text


def _checked_answer(task: ClassTask, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InputError("choose an answer, or type a number")
    if task.options and value not in range(len(task.options)):
        raise InputError(f"choose one of the {len(task.options)} answers")
    if abs(value) > LARGEST_NUMBER:
        raise InputError(f"give a number between ±{LARGEST_NUMBER:.0e}")
    return float(value)
