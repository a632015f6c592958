"""Tasks for a class: answers are counted once per browser, bounded, and anonymous."""

import threading
from contextlib import contextmanager
from math import inf, nan

import pytest
from sqlalchemy import text

from fsdash.errors import InputError
from fsdash.runs.store import class_tasks

QUERY = {"budget": "4"}


def token(n: int) -> str:
    return f"browser-{n:04d}"


@pytest.fixture
def tasks(store):
    return store.class_tasks


def choice(tasks, **changes):
    given = {"page": "choose_t", "query": QUERY, "question": "Which?", "options": ("A", "B")}
    return tasks.add(**given | changes)


def test_a_task_is_stored_as_it_was_given(tasks):
    task, _ = choice(tasks, question=" Which method? ")
    assert tasks.get(task.id) == task
    assert (task.page, task.query, task.question) == ("choose_t", QUERY, "Which method?")
    assert task.options == ("A", "B") and task.is_open


def test_answers_are_counted_once_per_browser_and_the_last_one_counts(tasks):
    task, secret = choice(tasks)
    for n, value in ((1, 0), (2, 1), (1, 1)):
        tasks.answer(task.id, token(n), value)
    assert tasks.values(task.id, secret) == [1, 1] and tasks.count(task.id) == 2
    assert tasks.answer_of(task.id, token(1)) == 1
    assert tasks.answer_of(task.id, token(3)) is None


def test_a_browser_has_an_answer_for_each_task(tasks):
    first, second = choice(tasks)[0], choice(tasks)[0]
    tasks.answer(first.id, token(1), 0)
    assert tasks.answer_of(second.id, token(1)) is None


def test_numbers_are_answers_too(tasks):
    task, secret = choice(tasks, options=())
    for n, value in enumerate((2.5, -1, 7)):
        tasks.answer(task.id, token(n), value)
    assert tasks.values(task.id, secret) == [-1, 2.5, 7]


@pytest.mark.parametrize("value", [2, -1, 0.5, nan, inf, None, "0", True])
def test_an_answer_that_is_not_an_option_is_refused(tasks, value):
    task, secret = choice(tasks)
    with pytest.raises(InputError, match="answer"):
        tasks.answer(task.id, token(1), value)
    assert tasks.values(task.id, secret) == []


def test_a_number_that_is_too_large_is_refused(tasks):
    task, _ = choice(tasks, options=())
    with pytest.raises(InputError, match="between"):
        tasks.answer(task.id, token(1), 1e13)


@pytest.mark.parametrize("browser", ["", "short", "x" * 201, None])
def test_a_browser_without_a_token_is_refused(tasks, browser):
    task, _ = choice(tasks)
    with pytest.raises(InputError, match="reload"):
        tasks.answer(task.id, browser, 0)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"question": "  "}, "the question is empty"),
        ({"question": "x" * 501}, "has 501 characters; shorten it to 500"),
        ({"question": "a\0b"}, "cannot be stored"),
        ({"options": ("A",)}, "2 to 8"),
        ({"options": tuple("ABCDEFGHI")}, "2 to 8"),
        ({"options": ("A", "A")}, "different"),
        ({"options": ("A", " ")}, "different"),
        ({"options": ("A", "x" * 121)}, "answer 2 has 121 .* 120"),
        ({"query": {"T": "9" * 4001}}, "the link has .* 4,000"),
        ({"days": 0}, "days"),
        ({"days": 31}, "days"),
    ],
)
def test_unusable_tasks_are_refused_with_the_remedy(tasks, changes, problem):
    with pytest.raises(InputError, match=problem):
        choice(tasks, **changes)


def test_only_the_lecturer_sees_and_changes_the_results(tasks):
    task, secret = choice(tasks)
    _, other = choice(tasks)
    assert tasks.is_lecturer(task.id, secret)
    for wrong in ("", other, secret + "x", "x" * 10_000, "ü"):
        assert not tasks.is_lecturer(task.id, wrong)
        for change in (
            lambda key: tasks.values(task.id, key),
            lambda key: tasks.set_open(task.id, key, False),
            lambda key: tasks.clear(task.id, key),
            lambda key: tasks.delete(task.id, key),
        ):
            with pytest.raises(InputError, match="lecturer"):
                change(wrong)


def test_a_closed_task_takes_no_answers_until_it_is_opened_again(tasks):
    task, secret = choice(tasks)
    tasks.set_open(task.id, secret, False)
    with pytest.raises(InputError, match="closed"):
        tasks.answer(task.id, token(1), 0)
    tasks.set_open(task.id, secret, True)
    tasks.answer(task.id, token(1), 0)
    tasks.clear(task.id, secret)
    assert tasks.count(task.id) == 0


def test_a_deleted_or_expired_task_is_gone_with_its_answers(tasks, monkeypatch):
    task, secret = choice(tasks)
    tasks.answer(task.id, token(1), 0)
    tasks.delete(task.id, secret)
    late, _ = choice(tasks, days=1)
    tasks.answer(late.id, token(1), 0)
    now = class_tasks.time.time()
    monkeypatch.setattr(class_tasks.time, "time", lambda: now + 86_401)
    for id in (task.id, late.id, "nothing"):
        with pytest.raises(InputError, match="expired or been deleted"):
            tasks.get(id)
    choice(tasks)  # deletes what has expired
    with tasks._database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM class_answers")) == 0
        assert connection.scalar(text("SELECT count(*) FROM class_tasks")) == 1


def test_the_tasks_of_one_visitor_are_bounded(tasks, monkeypatch):
    monkeypatch.setattr(class_tasks, "MAX_TASKS_OF_OWNER", 2)
    mine, secret = choice(tasks, owner="me")
    choice(tasks, owner="me")
    with pytest.raises(InputError, match="you have 2 tasks"):
        choice(tasks, owner="me")
    choice(tasks, owner="you")
    for _ in range(3):
        choice(tasks)
    tasks.delete(mine.id, secret)
    choice(tasks, owner="me")
    with tasks._database.reading() as connection:
        owners = set(connection.scalars(text("SELECT owner FROM class_tasks")))
    assert len(owners) == 3 and not owners & {"me", "you"}  # only hashes are stored


def test_the_bound_holds_for_tasks_that_are_added_together(tasks, monkeypatch):
    """The second visitor comes when the first task is stored, but its address is not yet known."""
    monkeypatch.setattr(class_tasks, "MAX_TASKS_OF_ADDRESS", 1)
    writing, refused = tasks._database.writing, []

    def add_second():
        with pytest.raises(InputError, match="your network has"):
            choice(tasks, owner="b", address="192.0.2.1")
        refused.append(True)

    second = threading.Thread(target=add_second)

    @contextmanager
    def writing_while_another_comes():
        monkeypatch.setattr(tasks._database, "writing", writing)
        with writing() as connection:
            yield connection
        second.start()
        second.join(0.2)  # it waits for the first one

    monkeypatch.setattr(tasks._database, "writing", writing_while_another_comes)
    choice(tasks, owner="a", address="192.0.2.1")
    second.join()
    assert refused


def test_the_tasks_from_one_network_address_are_bounded(tasks, monkeypatch):
    """A visitor without a cookie is a new visitor each time."""
    monkeypatch.setattr(class_tasks, "MAX_TASKS_OF_ADDRESS", 2)
    first, secret = choice(tasks, owner="a", address="192.0.2.1")
    choice(tasks, owner="b", address="192.0.2.1")
    with pytest.raises(InputError, match="your network has 2 tasks"):
        choice(tasks, owner="c", address="192.0.2.1")
    for _ in range(3):
        choice(tasks, owner="d", address="")  # on this computer
    choice(tasks, owner="c", address="192.0.2.2")
    tasks.delete(first.id, secret)
    choice(tasks, owner="e", address="192.0.2.1")
    with tasks._database.reading() as connection:
        stored = connection.execute(text("SELECT * FROM class_tasks")).all()
    assert "192.0.2" not in str(stored)


def test_tasks_and_answers_are_bounded(tasks, monkeypatch):
    monkeypatch.setattr(class_tasks, "MAX_TASKS", 2)
    monkeypatch.setattr(class_tasks, "MAX_ANSWERS", 3)
    task, secret = choice(tasks)
    for n in range(3):
        tasks.answer(task.id, token(n), 0)
    with pytest.raises(InputError, match="3 answers"):
        tasks.answer(task.id, token(3), 0)
    tasks.answer(task.id, token(0), 1)  # a change of an answer is not a new one
    assert tasks.values(task.id, secret) == [0, 0, 1]
    choice(tasks)
    with pytest.raises(InputError, match="2 tasks"):
        choice(tasks)


def test_neither_secret_nor_token_is_in_the_database(tasks):
    task, secret = choice(tasks)
    tasks.answer(task.id, token(1), 0)
    with tasks._database.reading() as connection:
        stored = [
            str(value)
            for name in ("class_tasks", "class_answers")
            for row in connection.execute(text(f"SELECT * FROM {name}"))
            for value in row
        ]
    assert not [value for value in stored if secret in value or token(1) in value]


def test_many_browsers_answer_at_the_same_time(tasks):
    task, secret = choice(tasks)
    errors, start = [], threading.Barrier(8)

    def answer(first):
        start.wait()
        try:
            for n in range(first, first + 10):
                tasks.answer(task.id, token(n % 40), n % 2)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=answer, args=(10 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert tasks.values(task.id, secret) == [0] * 20 + [1] * 20
