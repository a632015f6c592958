"""The Policy inspector opens runs of FSAVI and runs with a terminal value."""

import pytest
import streamlit as st

from fsdash.runs.columns import BY_NAME
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store
from tests.dashboard.kit import metrics, opened
from tests.runs.work import finished_experiment


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("fsavi", {"features": "polynomial"}),
        ("fsvi", {"terminal": "last"}),
        ("lin-fsfvi", {"terminal": "reward", "M_u": 2}),
    ],
)
def test_the_last_policy_is_shown_with_its_share(tmp_path, monkeypatch, name, parameters):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    spec = RunSpec("inventory", name, T=3, parameters=parameters, iterations=1, replications=1)
    store = Store(tmp_path / "runs.db")
    id = finished_experiment(store, spec, name="inspected").id
    store.close()
    rows = []
    execute(spec, 0, lambda record: rows.append(record.row))
    test = opened("7_Policy_inspector.py", experiment=id)
    assert not test.exception and not test.error
    share = metrics(test)[BY_NAME["fraction_of_optimal"].label]
    assert share == f"{100 * rows[-1]['fraction_of_optimal']:.1f}%"
    st.cache_resource.clear()
