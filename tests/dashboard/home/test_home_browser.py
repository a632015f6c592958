"""The home page in a real Chromium."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.home import text
from fsdash.dashboard.shell import SYMBOLS_TITLE
from tests.dashboard.browser import NARROW, SCREENS, WIDE, assert_fits, in_url, slider

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]


def picture(page: Page) -> Locator:
    return page.locator("img.fs-picture:visible")


def test_T_and_steps_move_the_picture_and_the_link_restores_it(visit: Callable[..., Page]):
    page = visit()
    expect(picture(page)).to_have_attribute("alt", re.compile("T = 4:.*Period 0:"))
    slider(page, "Periods frozen T").press("ArrowRight")
    expect(picture(page)).to_have_attribute("alt", re.compile("T = 5:"))
    page.get_by_role("button", name="Next step").press("Enter")
    expect(picture(page)).to_have_attribute("alt", re.compile("Period 1:"))
    page.get_by_text(text.PICTURES["lower"], exact=True).click()
    expect(picture(page)).to_have_attribute(
        "alt", re.compile("Backward induction starts at period 5")
    )
    expect(page).to_have_url(in_url("periods", "5"))
    expect(page).to_have_url(in_url("view", "lower"))
    page.reload()
    expect(picture(page)).to_have_attribute(
        "alt", re.compile("Backward induction starts at period 5")
    )


def test_the_picture_plays(visit: Callable[..., Page]):
    page = visit()
    page.get_by_text("Play", exact=True).click()
    expect(picture(page)).to_have_attribute("alt", re.compile("Period 3:"))
    page.get_by_text("Play", exact=True).click()


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_screen_and_theme_fits(visit: Callable[..., Page], theme, size):
    page = visit(width=size[0], height=size[1], theme=theme)
    expect(picture(page)).to_have_count(1)
    expect(page.get_by_test_id("stCode")).to_be_visible()
    assert picture(page).evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    assert_fits(page, theme)


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("view", ["policy", "lower"])
def test_nothing_moves_while_stepping(visit: Callable[..., Page], view, size):
    page = visit(f"/?view={view}", width=size[0], height=size[1])
    expect(page.get_by_text(SYMBOLS_TITLE)).to_be_visible()
    expect(picture(page)).to_have_count(1)
    assert picture(page).evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    # Until Streamlit's own font has arrived, the caption is set in another one and may be a line
    # longer.
    page.evaluate("() => document.fonts.ready.then(() => null)")
    caption, heights = page.locator(".fs-step-caption"), set()
    for _ in range(5):
        before = picture(page).get_attribute("alt")
        heights.add(caption.bounding_box()["height"])
        page.get_by_role("button", name="Next step").press("Enter")
        expect(picture(page)).not_to_have_attribute("alt", before)
    assert len(heights) == 1


def test_the_picture_is_on_the_first_screen(visit: Callable[..., Page]):
    for width, height in (WIDE, NARROW):
        box = picture(visit(width=width, height=height)).bounding_box()
        assert box["y"] + box["height"] < 1.1 * height


def test_the_footer_is_on_a_narrow_page_too(visit: Callable[..., Page]):
    content = "e => getComputedStyle(e, '::after').content"
    for width, there in ((390, True), (1440, False)):
        page = visit(width=width)
        body = page.get_by_test_id("stMainBlockContainer")
        expect(body).to_have_css("max-width", "1240px")  # our style is there
        assert ("doi:10.1287/mnsc.2023.00012" in body.evaluate(content)) == there
