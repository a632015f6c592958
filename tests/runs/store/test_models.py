"""Saved models: names, notes, owners, limits, and the experiments that use them."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.models import content_hash
from fsdash.models.archive import from_bytes
from fsdash.runs.server.manager import Manager
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import models
from fsdash.runs.store.experiments import Store
from tests.runs.work import assert_same_rows, over
from tests.saved_models import shop_model


def test_a_saved_model_comes_back_with_its_sizes_and_its_content(store):
    model = shop_model(cost=True)
    saved = store.models.add("me", " Corner shop ", model, "from the till")
    assert saved == store.models.get(saved.hash) == store.models.get(saved.domain)
    assert (saved.name, saved.note, saved.owner) == ("Corner shop", "from the till", "me")
    assert saved.shape == (2, 4, 4, model.true.outcomes)
    assert saved.n_pairs == model.n_pairs == 20
    assert (saved.gamma, saved.sense) == (0.9, "min")
    assert saved.variables == {"slow": ["season"], "fast": ["stock"], "actions": ["action"]}
    content = store.models.content(saved.hash)
    assert len(content) == saved.size
    assert content_hash(from_bytes(content)) == content_hash(model)


def test_the_same_content_is_saved_once_and_stays_with_its_owner(store):
    first = store.models.add("me", "mine", shop_model())
    assert store.models.add("you", "yours", shop_model()) == first
    other = store.models.add("you", "another", shop_model(0.8))
    assert [saved.name for saved in store.models.list()] == ["another", "mine"]
    assert store.models.list("you") == [other]


def test_name_and_note_can_be_changed(store):
    saved = store.models.add("me", "shop", shop_model(0.71))
    store.models.rename(saved.hash, "new name")
    store.models.note(saved.domain, "a note")
    changed = store.models.get(saved.hash)
    assert (changed.name, changed.note) == ("new name", "a note")
    assert domain_label(saved.domain) == "new name"
    for bad, problem in (("", "is empty"), ("x" * 201, "at most 200"), (3, "give text")):
        with pytest.raises(InputError, match=problem):
            store.models.rename(saved.hash, bad)
    assert store.models.get(saved.hash).name == "new name"


@pytest.mark.parametrize("action", ["get", "content", "rename", "note"])
def test_a_missing_model_is_an_error(store, action):
    arguments = ("name",) if action in ("rename", "note") else ()
    with pytest.raises(InputError, match="may have been deleted"):
        getattr(store.models, action)("0123456789abcdef", *arguments)


def test_a_model_is_deleted_only_if_no_experiment_uses_it(store):
    saved = store.models.add("me", "shop", shop_model())
    spec = RunSpec(saved.domain, "vi", iterations=1)
    ids = [store.add_experiment("me", "first", [spec, spec]) for _ in range(2)]
    assert sorted(store.models.experiments(saved.hash)) == sorted(ids)
    with pytest.raises(InputError, match="2 experiments among the stored runs use this model"):
        store.models.delete(saved.hash)
    for id in ids:
        store.delete(id)
    store.models.delete(saved.hash)
    assert store.models.list() == []
    store.models.delete(saved.hash)  # deleting it again changes nothing


def test_size_and_number_are_limited(store, monkeypatch):
    monkeypatch.setattr(models, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="can be saved: use a coarser grid"):
        store.models.add("me", "shop", shop_model())
    monkeypatch.undo()
    monkeypatch.setattr(models, "MAX_MODELS", 2)
    for gamma in (0.5, 0.6):
        store.models.add("me", f"{gamma}", shop_model(gamma))
    with pytest.raises(InputError, match="you have 2 saved models"):
        store.models.add("me", "third", shop_model(0.7))
    store.models.add("me", "again", shop_model(0.5))  # it is saved already
    store.models.add("you", "third", shop_model(0.7))


def test_several_threads_save_the_same_model_once(store):
    model = shop_model()
    with ThreadPoolExecutor(6) as threads:
        add = partial(store.models.add, name="shop", model=model)
        found = list(threads.map(add, [f"visitor {i}" for i in range(24)]))
    assert len({record.owner for record in found}) == 1
    assert len(store.models.list()) == 1


def test_a_database_from_before_gets_the_table(tmp_path):
    path = tmp_path / "runs.db"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE models")
    store = Store(path)
    assert store.models.add("me", "shop", shop_model()).name == "shop"
    store.close()


@pytest.mark.processes
def test_worker_processes_find_a_saved_model_in_the_database(store):
    saved = store.models.add("me", "shop", shop_model(0.91))
    specs = [
        RunSpec(saved.domain, "fsvi", T=3, iterations=3),
        RunSpec(saved.domain, "e-vi", domain_parameters={"gamma": 0.5}, iterations=2),
    ]
    with Manager(store, workers=2) as manager:
        experiment = over(store, manager.submit("me", "own model", specs))
    assert experiment.status == "finished"
    for run in experiment.runs:
        assert run.domain == saved.domain
        assert_same_rows(store.rows([run.id]), run.spec)
