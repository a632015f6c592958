"""The home page without a browser: its pictures, its links and unusable input."""

import re
from html import escape

import pytest

from fsdash.dashboard.home import text
from fsdash.dashboard.linear_architecture import text as linear_text
from fsdash.dashboard.navigation import PAGES, TOURS, is_available
from fsdash.dashboard.reward_error import text as reward_error_text
from fsdash.figures.levels import describe_lower_level, describe_upper_level
from fsdash.theory import PRESETS, fsavi_regret
from tests.dashboard.kit import opened, words

STOPS = [
    pytest.param(stop, id=f"{audience}: {stop.title}")
    for audience, stops in TOURS.items()
    for stop in stops
    if is_available(stop.page)
]


def picture(page) -> str:
    """The picture's text for screen readers."""
    return re.search(r'alt="([^"]*)"', html(page))[1]


def html(page) -> str:
    return " ".join(element.proto.body for element in page.get("html"))


def test_the_page_opens_with_the_policy_for_T_4():
    page = opened()
    assert page.title[0].value == text.TITLE
    assert "T = 4:" in picture(page) and "Period 0" in picture(page)


def test_T_moves_the_picture():
    page = opened()
    page.slider(key="home.periods").set_value(7).run()
    assert "block of 7 periods" in picture(page)


def test_steps_go_forward_and_back_and_start_again():
    page = opened(periods="3")
    page.button(key="next").click().run()
    assert "Period 1" in picture(page)
    page.button(key="back").click().run()
    page.button(key="back").click().run()
    assert "Period 5" in picture(page)


@pytest.mark.parametrize(
    ("view", "said"), [("lower", describe_lower_level(5, 0)), ("upper", describe_upper_level(5, 0))]
)
def test_a_link_restores_picture_and_T(view, said):
    page = opened(view=view, periods="5")
    assert said in picture(page)
    assert f'<div class="fs-step-caption"><span>{escape(said)}' in html(page)
    page.button(key="next").click().run()
    assert said not in picture(page)
    assert not page.warning


def test_another_picture_starts_at_its_first_step():
    page = opened()
    page.button(key="next").click().run()
    page.radio(key="home.view").set_value("lower").run()
    assert describe_lower_level(4, 0) in picture(page)


@pytest.mark.parametrize("T", ["1", "12"])
@pytest.mark.parametrize("view", text.PICTURES)
def test_every_picture_works_for_the_shortest_and_the_longest_T(T, view):
    opened(view=view, periods=T)


def test_with_T_1_the_upper_level_mentions_no_lower_values():
    described = picture(opened(view="upper", periods="1"))
    assert described == describe_upper_level(1, 0) and "J₁" not in described


@pytest.mark.parametrize("junk", ["", "x", "-5", "4.5", "1e999", "9" * 400])
def test_unusable_values_in_the_link_are_reported(junk):
    page = opened(periods=junk, view=junk)
    assert "T = 4:" in picture(page)
    (notice,) = page.warning
    assert "`periods=" in notice.value and "`view=" in notice.value


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOPS)
def test_every_stop_of_a_tour_has_a_usable_link(stop):
    page = opened(stop.page.script.removeprefix("pages/"), **stop.state)
    assert not page.warning


def test_the_lecturers_tour_describes_what_the_page_shows():
    peaks, grows = TOURS["For lecturers"][:2]
    shown = words(opened("1_Reward_error.py", **peaks.state))
    assert peaks.description.endswith("T = 23")
    assert reward_error_text.PEAK.format(top_T=23, top="15.2") in shown
    product, critical = "1.001", 1 / 0.953
    no_limit = reward_error_text.NO_CEILING.format(product=product, critical=critical)
    assert no_limit in words(opened("1_Reward_error.py", **grows.state))


def test_the_practitioners_tour_describes_what_the_page_shows():
    small, large = TOURS["For practitioners"][:2]
    for stop, method in ((small, "Rolling freeze"), (large, "MPI")):
        page = opened("2_Choose_T.py", **stop.state)
        assert page.header[0].value.startswith(method)


def test_the_researchers_tour_shows_a_proven_bound_above_the_refuted_one():
    stop = TOURS["For researchers"][1]
    assert stop.page == PAGES["linear_architecture"] and "refutes" in stop.description
    page = opened("3_Linear_architecture.py", **stop.state)
    constants, T = PRESETS["three-regimes"].constants, int(stop.state["T"])
    fit = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
    proven = fsavi_regret(constants, T, k=20, **fit).total
    stated = fsavi_regret(constants, T, k=20, **fit, bound="stated").total
    assert proven > stated
    assert linear_text.describe_stated(T, stated, proven) in words(page)
