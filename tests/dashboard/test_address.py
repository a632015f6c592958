"""What a page takes from its address: links and steps back, no echo of its own past."""

import pytest
from streamlit.testing.v1 import AppTest

from fsdash.dashboard.widgets import address as module
from tests.dashboard.kit import address


def page() -> None:
    import streamlit as st

    from fsdash.dashboard.widgets.address import Address, Part

    small = Address("small", {"level": Part("low", str), "started": Part("", str)})
    small.read()
    st.text_input("Level", "low", key=small.key("level"))
    st.button("Start", key="start", on_click=small.put, args=("started", "yes"))
    if "interrupted" in st.session_state:
        st.stop()
    small.write()


def came(test: AppTest, **query: str) -> AppTest:
    """The browser asks for a run with this address."""
    test.query_params.clear()
    test.query_params.update(query)
    assert not test.run().exception
    return test


@pytest.fixture
def started() -> AppTest:
    """A link that names a default was opened, and Start pressed before its address was tidied."""
    test = came(AppTest.from_function(page), level="low")
    assert address(test) == {}
    test.button(key="start").click()
    assert address(came(test, level="low")) == {"started": "yes"}
    return test


def test_a_click_before_the_first_run_is_through_counts():
    test = AppTest.from_function(page)
    test.session_state["interrupted"] = True
    came(test, level="low")
    del test.session_state["interrupted"]
    test.button(key="start").click()
    assert address(came(test, level="low")) == {"started": "yes"}


def test_an_echo_of_any_address_before_changes_nothing(started):
    for late in ({}, {"level": "low"}, {}):
        assert address(came(started, **late)) == {"started": "yes"}


def test_another_address_counts(started):
    assert address(came(started, level="high")) == {"level": "high"}
    assert started.text_input(key="small.level").value == "high"


def test_a_step_back_counts_at_once(started, monkeypatch):
    monkeypatch.setattr(module, "stepped", lambda: True)
    assert address(came(started)) == {}


def test_what_comes_long_after_is_no_echo(started, monkeypatch):
    now = module.time.monotonic() + module.ECHO
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    assert address(came(started)) == {}
