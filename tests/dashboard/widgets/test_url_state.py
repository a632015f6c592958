"""How a page reads its URL: links, steps back, values it cannot use, and echoes of old URLs."""

from dataclasses import replace
from unittest.mock import Mock

import pytest
from streamlit.testing.v1 import AppTest

from fsdash.dashboard.widgets import url_state
from fsdash.dashboard.widgets.url_state import (
    MAX_LINK,
    MAX_REPORTED,
    TOO_LONG,
    UrlParameter,
    list_of,
    number_in,
    one_of,
    usable_values,
    whole_number,
)
from tests.dashboard.kit import address, opened

RANGE, CHOICE = "give a number from 0.5 to 0.999", "give one of 0, 1, 50"
PARAMETERS = {
    "gamma": UrlParameter(0.9, number_in(0.5, 0.999)),
    "k": UrlParameter(1.0, one_of((0.0, 1.0, 50.0))),
    "view": UrlParameter("a", one_of(("a", "b"))),
    "T": UrlParameter([], list_of(whole_number(2, 9), 2)),
    "free": UrlParameter("", str),
}


@pytest.mark.parametrize(
    ("found", "values", "problems"),
    [
        ({"gamma": "0.9", "k": "50"}, {"gamma": 0.9, "k": 50.0}, []),
        ({"gamma": "foo"}, {}, [f"`gamma=foo`: {RANGE}"]),
        ({"gamma": "1e999"}, {}, [f"`gamma=1e999`: {RANGE}"]),
        ({"gamma": "1"}, {}, [f"`gamma=1`: {RANGE}"]),
        ({"k": "2"}, {}, [f"`k=2`: {CHOICE}"]),
        ({"x": "1"}, {}, ["`x=1`: this page has no such parameter"]),
        ({"k": "0"}, {"k": 0.0}, []),
        ({"k": "1.000"}, {"k": 1.0}, []),
        ({"k": "`\n<b>"}, {}, [f"`k=<b>`: {CHOICE}"]),
        ({"gamma": "9" * 99}, {}, [f"`gamma={'9' * 39}…`: {RANGE}"]),
        ({"view": "A"}, {}, ["`view=A`: give one of a, b"]),
        ({"gamma": "0.8,0.9"}, {}, [f"`gamma=0.8,0.9`: {RANGE}"]),
        ({"T": "4.0,4,3"}, {"T": [4, 3]}, []),
        ({"T": "4,2.5"}, {"T": [4]}, ["`T=2.5`: give a whole number from 2 to 9"]),
        ({"T": "2,3,4"}, {"T": [2, 3]}, ["`T=4`: give at most 2 values"]),
        ({"free": "x"}, {"free": "x"}, []),
    ],
)
def test_usable_values_are_read_and_the_others_reported(found, values, problems):
    assert usable_values(found, PARAMETERS) == (values, problems)


def test_nothing_is_read_from_a_link_that_is_too_long():
    read = Mock()
    parameters = PARAMETERS | {"slow": UrlParameter("", read)}
    links = {"slow": "x" * MAX_LINK}, {f"slow{i}": "1" for i in range(MAX_LINK)}
    for found in links:
        assert usable_values(found | {"k": "50"}, parameters) == ({}, [TOO_LONG])
    read.assert_not_called()


def test_a_link_with_many_unusable_values_gets_a_short_report():
    page = opened(**{f"x{i}": "1" for i in range(MAX_REPORTED + 5)})
    [warning] = page.warning
    assert warning.value.count("\n- ") == MAX_REPORTED + 1
    assert warning.value.endswith("… and 5 more")


def page() -> None:
    import streamlit as st

    from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState

    small = UrlState("small", {"level": UrlParameter("low", str), "started": UrlParameter("", str)})
    small.read()
    st.text_input("Level", "low", key=small.key("level"))
    st.button("Start", key="start", on_click=small.put, args=("started", "yes"))
    if "interrupted" in st.session_state:
        st.stop()
    small.write()


def rerun_with(test: AppTest, **query: str) -> AppTest:
    """The browser requests a run with this URL."""
    test.query_params.clear()
    test.query_params.update(query)
    assert not test.run().exception
    return test


@pytest.fixture
def started() -> AppTest:
    """A link with a default value was opened, and Start pressed before the URL was rewritten."""
    test = rerun_with(AppTest.from_function(page), level="low")
    assert address(test) == {}
    test.button(key="start").click()
    assert address(rerun_with(test, level="low")) == {"started": "yes"}
    return test


def test_a_click_before_the_first_run_has_finished_is_not_lost():
    test = AppTest.from_function(page)
    test.session_state["interrupted"] = True
    rerun_with(test, level="low")
    del test.session_state["interrupted"]
    test.button(key="start").click()
    assert address(rerun_with(test, level="low")) == {"started": "yes"}


@pytest.mark.parametrize("is_step", [False, True])
def test_the_first_run_after_another_page_leaves_the_url_to_the_browser(
    started, monkeypatch, is_step
):
    """What the server writes then would go into the history entry of the page before."""
    sent = Mock(wraps=url_state.st.query_params.from_dict)
    monkeypatch.setattr(type(url_state.st.query_params), "from_dict", lambda self, new: sent(new))
    monkeypatch.setattr(url_state, "is_history_step", lambda: is_step)
    before = started.session_state[url_state._HISTORY]
    started.session_state[url_state._HISTORY] = replace(before, page="another")
    rerun_with(started, level="high", tour="researcher.5")
    assert sent.call_args_list == []
    switch = {"left": before.current, "opened": {"level": "high", "tour": "researcher.5"}}
    assert started.session_state[url_state._SWITCH] == switch


def test_the_echo_of_an_earlier_url_changes_nothing(started):
    for late in ({}, {"level": "low"}, {}):
        assert address(rerun_with(started, **late)) == {"started": "yes"}


def test_another_url_is_read(started):
    assert address(rerun_with(started, level="high")) == {"level": "high"}
    assert started.text_input(key="small.level").value == "high"


def test_a_step_back_is_read_at_once(started, monkeypatch):
    monkeypatch.setattr(url_state, "is_history_step", lambda: True)
    assert address(rerun_with(started)) == {}


def test_an_old_url_is_read_again_after_a_while(started, monkeypatch):
    now = url_state.time.monotonic() + url_state.ECHO_SECONDS
    monkeypatch.setattr(url_state.time, "monotonic", lambda: now)
    assert address(rerun_with(started)) == {}
