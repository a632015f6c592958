"""The home page without a browser: its pictures, its links and unusable input."""

import re
from html import escape

import pytest

from fsdash.dashboard.home import text
from fsdash.figures.levels import describe_lower_level, describe_upper_level
from tests.dashboard.kit import opened


def picture(page) -> str:
    """The picture's text for screen readers."""
    return re.search(r'alt="([^"]*)"', html(page))[1]


def html(page) -> str:
    return " ".join(element.proto.body for element in page.get("html"))


def test_the_page_opens_with_the_policy_for_T_4():
    page = opened()
    assert page.title[0].value == "When does freezing slow states pay off?"
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
