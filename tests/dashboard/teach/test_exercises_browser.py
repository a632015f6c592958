"""Exercises in a real Chromium: solved ones stay in the browser, and the sheet prints."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from fsdash.dashboard.widgets import exercise as widget
from fsdash.teaching.exercises import EXERCISES, by_id
from fsdash.teaching.exercises.base import RIGHT, TOO_SMALL
from tests.dashboard.browser import NARROW, assert_fits

pytestmark = [pytest.mark.browser]
SOLVED_NONE, SOLVED_ONE = (f"{n} of {len(EXERCISES)} exercises solved" for n in (0, 1))


def test_an_exercise_is_solved_on_its_page_and_the_browser_remembers_it(visit: Callable[..., Page]):
    page, exercise = (
        visit("/Bounds?gamma=0.953&alpha=0.01&Lf=0.99&LU=1&rmax=1&range=150"),
        by_id("errors-cross"),
    )
    page.locator(".st-key-exercises").get_by_role("button").click()
    own = page.get_by_test_id("stVerticalBlock").filter(has_text=exercise.title).last
    answer = own.get_by_role("spinbutton")
    for given, message in (("5", TOO_SMALL), ("99", RIGHT)):
        answer.fill(given)
        answer.press("Enter")
        own.get_by_role("button", name=widget.CHECK, exact=True).click()
        expect(own.get_by_text(message)).to_be_visible()
    expect(own).to_contain_text(f"· {widget.SOLVED}")
    page.goto(re.sub(r"/Bounds.*", "/Teach", page.url))
    expect(page.get_by_text(SOLVED_ONE)).to_be_visible()
    link = page.get_by_test_id("stCode").locator("code").inner_text().strip()
    page.get_by_role("button", name="Delete my progress").click()
    expect(page.get_by_text(SOLVED_NONE)).to_be_visible()
    page.reload()
    expect(page.get_by_text(SOLVED_NONE)).to_be_visible()
    # The link takes the results to another browser, here to the same one after it forgot them.
    page.goto(link)
    page.get_by_role("button", name="Add them to my progress").click()
    expect(page.get_by_text(SOLVED_ONE)).to_be_visible()
    page.reload()
    expect(page.get_by_text(SOLVED_ONE)).to_be_visible()


def test_the_sheet_fits_a_narrow_screen_and_prints_without_the_frame(visit: Callable[..., Page]):
    page = visit("/Teach?view=sheet&solutions=1", *NARROW, theme="dark")
    last = page.get_by_text(EXERCISES[-1].title)
    expect(last).to_be_visible()
    assert_fits(page, "dark")
    page.emulate_media(media="print")
    for hidden in (page.get_by_role("button", name="Print"), page.get_by_test_id("stHeader")):
        expect(hidden).to_be_hidden()
    expect(last).to_have_css("color", "rgb(0, 0, 0)")
    assert len(page.pdf()) > 20_000
