"""The home page without a browser: its pictures, its links, and input that is not usable."""

import re

import numpy as np
import pytest

from fsdash.dashboard.navigation import TOURS
from fsdash.theory import PRESETS, fsavi_regret
from tests.dashboard.kit import ROOT, opened, words

STOPS = [
    pytest.param(stop, id=f"{who}: {stop.title}")
    for who, stops in TOURS.items()
    for stop in stops
    if (ROOT / stop.page).exists()
]


def picture(page) -> str:
    """What the picture says to who cannot see it."""
    return re.search(r'alt="([^"]*)"', html(page))[1]


def html(page) -> str:
    return " ".join(element.proto.body for element in page.get("html"))


def test_the_page_opens_with_the_policy_for_T_4():
    page = opened()
    assert page.title[0].value == "When does freezing slow states pay?"
    assert "T = 4:" in picture(page) and "Period 0" in picture(page)


def test_T_moves_the_picture():
    page = opened()
    page.slider(key="home.periods").set_value(7).run()
    assert "block of 7 periods" in picture(page)


def test_steps_go_forth_and_back_and_begin_again():
    page = opened(periods="3")
    page.button(key="next").click().run()
    assert "Period 1" in picture(page)
    page.button(key="back").click().run()
    page.button(key="back").click().run()
    assert "Period 5" in picture(page)


@pytest.mark.parametrize(
    ("view", "said"), [("The lower level", "Start at the end"), ("The upper level", "Block 1")]
)
def test_a_link_restores_picture_and_T(view, said):
    page = opened(view=view, periods="5")
    assert said in picture(page)
    assert f'<div class="fs-step-caption"><span>{said}' in html(page)
    page.button(key="next").click().run()
    assert said not in picture(page)
    assert not page.warning


def test_another_picture_begins_at_its_beginning():
    page = opened()
    page.button(key="next").click().run()
    page.radio(key="home.view").set_value("The lower level").run()
    assert "Start at the end" in picture(page)


@pytest.mark.parametrize("T", ["1", "12"])
@pytest.mark.parametrize("view", ["The policy", "The lower level", "The upper level"])
def test_every_picture_works_for_the_shortest_and_the_longest_T(T, view):
    opened(view=view, periods=T)


def test_with_T_1_no_lower_level_is_told_of():
    said = picture(opened(view="The upper level", periods="1"))
    assert "there is no lower level" in said and "J₁" not in said


@pytest.mark.parametrize("junk", ["", "x", "-5", "4.5", "1e999", "9" * 400])
def test_junk_in_the_link_is_ignored_and_named(junk):
    page = opened(periods=junk, view=junk)
    assert "T = 4:" in picture(page)
    (notice,) = page.warning
    assert "`periods=" in notice.value and "`view=" in notice.value


@pytest.mark.parametrize("stop", STOPS)
def test_a_tour_opens_pages_in_a_state_that_they_know(stop):
    page = opened(stop.page.removeprefix("pages/"), **stop.state)
    assert not page.warning


def test_what_the_lecturers_tour_says_is_on_the_page():
    peaks, grows = TOURS["The lecturer"][:2]
    assert f"peaks at {peaks.why[-6:]}" in words(opened("1_Reward_error.py", **peaks.state))
    assert "no ceiling" in words(opened("1_Reward_error.py", **grows.state))


def test_what_the_researchers_tour_says_of_the_correction_is_true():
    constants, T = PRESETS["three-regimes"].constants, range(1, 41)
    fit = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
    stop = TOURS["The researcher"][1]
    assert stop.why == "at a small T the two differ most" and stop.state == {"T": "2"}
    corrected = fsavi_regret(constants, T, 20, **fit).total
    stated = fsavi_regret(constants, T, 20, **fit, corrected=False).total
    assert np.argsort(-abs(np.log(corrected / stated)))[:3].tolist() == [0, 1, 2]
