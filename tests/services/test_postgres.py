"""What only PostgreSQL can do: restarts and crashes under a server, and simultaneous writers.

The tests of store and servers in `tests/runs` run on PostgreSQL too.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, text

from fsdash.errors import InputError
from fsdash.runs.errors import StoreError
from fsdash.runs.server.manager import Manager
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store
from tests.databases import new_url, postgres_or_skip
from tests.models import random_model
from tests.runs.work import (
    assert_same_rows,
    base,
    frozen,
    over,
    until,
)

pytestmark = [pytest.mark.processes, pytest.mark.services]


@pytest.fixture(scope="module")
def postgres():
    with postgres_or_skip() as postgres:
        yield postgres


@pytest.fixture
def store(request, tmp_path):
    store = Store(new_url("postgres", request, tmp_path))
    yield store
    store.close()


def rows(store, id):
    return store.experiment(id).runs[0].rows


def test_a_class_answers_at_the_same_time(store):
    tasks = store.class_tasks
    task, secret = tasks.add("choose_t", {"budget": "4"}, "Which?", ("A", "B"))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: tasks.answer(task.id, f"browser-{n % 20}", n % 2), range(60)))
    assert tasks.values(task.id, secret) == [0] * 10 + [1] * 10
    tasks.delete(task.id, secret)
    assert tasks.count(task.id) == 0


def test_nobody_can_pin_or_resume_an_experiment_that_is_being_deleted(store):
    id = store.add_experiment("me", "old", [base()])
    run_ids, waits = store.run_ids(id), []
    impatient = Store(f"{store.url}?options=-c%20lock_timeout%3D100ms")

    def change_it(_connection, _cursor, statement, *_):
        if statement.startswith("DELETE FROM experiments"):
            for change in (
                lambda: impatient.pin(id),
                lambda: WorkQueue(impatient.database).enqueue(run_ids),
            ):
                with pytest.raises(StoreError, match="lock timeout"):
                    change()
                waits.append(change)

    event.listen(store.database._engine, "before_cursor_execute", change_it)
    store.delete(id)
    assert len(waits) == 2 and store.experiments() == []
    impatient.close()


def test_nobody_can_delete_a_model_on_which_runs_are_being_started(store):
    saved = store.models.add("me", "small", random_model(0))
    impatient, waits = Store(f"{store.url}?options=-c%20lock_timeout%3D100ms"), []

    def delete_it(_connection, _cursor, statement, *_):
        if statement.startswith("INSERT INTO runs"):
            with pytest.raises(StoreError, match="lock timeout"):
                impatient.models.delete(saved.hash)
            waits.append(True)

    event.listen(store.database._engine, "before_cursor_execute", delete_it)
    store.add_experiment("me", "runs", [RunSpec(saved.domain, "vi", iterations=1)])
    assert waits == [True]
    with pytest.raises(InputError, match="use this model"):
        impatient.models.delete(saved.hash)
    impatient.close()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_runs_continue_by_themselves_after_a_restart(store, postgres, mode):
    specs = base(iterations=500), frozen(iterations=150)
    with Manager(store, workers=2) as manager:
        id = manager.submit("me", "two", specs)
        until(lambda: all(run.rows > 5 for run in store.experiment(id).runs))
        pids = {r.pid for run in store.experiment(id).runs for r in run.replications}
        postgres.stop(mode)
        with pytest.raises(StoreError):
            store.experiment(id)
        until(lambda: manager.problem, "a report of the outage")
        postgres.start()
        returned = time.monotonic()
        before = rows(store, id)
        until(lambda: rows(store, id) > before, "new rows")
        assert time.monotonic() - returned < 10
        experiment = over(store, id)
        until(lambda: not manager.problem)
    assert experiment.status == "finished"
    assert {r.pid for run in experiment.runs for r in run.replications} == pids
    for run, spec in zip(experiment.runs, specs, strict=True):
        assert_same_rows(store.rows([run.id]), spec)


def test_a_database_whose_content_was_replaced_is_noticed(store, monkeypatch):
    """As by `pg_restore --clean`: all tables are dropped and created again."""
    store.add_experiment("me", "old", [base()])
    with store.database.writing() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    monkeypatch.setattr("fsdash.runs.store.database.CONTENT_INTERVAL", 0)
    assert store.experiments() == [] and store.database.generation == 1
    store.add_experiment("me", "new", [base()])
    assert [e.name for e in store.experiments()] == ["new"]
