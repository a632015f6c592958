"""A store with one finished experiment for the tests of the inspector."""

import pytest
import streamlit as st

from fsdash.runs.records import Experiment
from fsdash.runs.store.experiments import Store
from tests.runs.work import base, finished_experiment, frozen


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    """A store with one finished experiment: E-FSVI (two replications) and Base E-VI."""
    folder = tmp_path_factory.mktemp("data")
    store = Store(folder / "runs.db")
    finished_experiment(store, frozen(replications=2), base(), name="a small one")
    yield store
    store.close()


@pytest.fixture(scope="module", autouse=True)
def own_stores() -> None:
    """Only the stores of these tests; closed at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FSDASH_DATABASE_URL", raising=False)
        yield
    st.cache_resource.clear()


@pytest.fixture
def experiment(store, monkeypatch) -> Experiment:
    monkeypatch.setenv("FSDASH_DATA", str(store.file.parent))
    [found] = store.experiments()
    return found


@pytest.fixture
def empty_store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
