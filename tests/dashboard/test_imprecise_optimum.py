"""Pages and runs of a model whose optimum misses its tolerance."""

from dataclasses import replace

import pytest
import streamlit as st

from fsdash.choice import solved
from fsdash.errors import InputError
from fsdash.runs import engine
from fsdash.runs.spec import RunSpec
from tests.dashboard.kit import opened

SHOWN = "±12,345"


@pytest.fixture(autouse=True)
def imprecise(monkeypatch):
    """Every optimum misses its tolerance."""
    solve = solved.optimum
    monkeypatch.setattr(
        solved, "optimum", lambda model: replace(solve(model), error=12_345.0, tolerance=1e-6)
    )
    solved.solved_domain.cache_clear()
    st.cache_resource.clear()
    yield
    solved.solved_domain.cache_clear()
    st.cache_resource.clear()


def test_a_run_ends_with_an_error():
    with pytest.raises(InputError, match=r"within ±12,345 only.*smaller"):
        engine.execute(RunSpec("inventory", "vi", iterations=3), 0, lambda record: None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page, query",
    [
        ("3_Choose_T.py", {"model": "inventory.coarse-demand"}),
        ("7_Policy_inspector.py", {"domain": "inventory", "method": "rolling", "T": "6"}),
    ],
)
def test_a_page_shows_the_notice(page, query):
    test = opened(page, **query)
    notices = [element.value for kind in (test.warning, test.info) for element in kind]
    assert any(SHOWN in notice for notice in notices), notices
