"""The home page in a real Chromium."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.figures.palette import BACKGROUND
from fsdash.theory import reward_error
from fsdash.theory.presets import PRESETS
from fsdash.ui.reading import number

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
CALM = PRESETS["reward-error-small"].constants


def metric(page: Page, label: str) -> Locator:
    card = page.get_by_test_id("stMetric").filter(has_text=label)
    return card.get_by_test_id("stMetricValue")


def slider(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stSlider").filter(has_text=label).get_by_role("slider")


def wait_until_drawn(page: Page) -> None:
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stCode")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def picture(page: Page) -> Locator:
    return page.locator("img.fs-picture:visible")


def test_a_slider_moves_the_numbers_and_the_link_restores_them(visit: Callable[..., Page]):
    page = visit()
    wait_until_drawn(page)
    expect(metric(page, "Reward error")).to_have_text(number(reward_error(CALM, 12).total))
    slider(page, "Periods frozen").press("ArrowRight")
    moved = number(reward_error(CALM, 13).total)
    expect(metric(page, "Reward error")).to_have_text(moved)
    expect(picture(page)).to_have_attribute("alt", re.compile("T = 13:"))
    expect(page).to_have_url(re.compile(r"[?&]T=13\b"))
    page.reload()
    wait_until_drawn(page)
    expect(metric(page, "Reward error")).to_have_text(moved)


def test_an_example_fills_the_sliders_and_the_link(visit: Callable[..., Page]):
    page = visit()
    wait_until_drawn(page)
    page.get_by_role("button", name="A useful bound").click()
    expect(page.get_by_test_id("stMetric").filter(has_text="informative")).to_be_visible()
    expect(page).to_have_url(re.compile(r"gamma=0\.9\b"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_every_screen_and_theme_fits(visit: Callable[..., Page], theme, width, height):
    page = visit(width=width, height=height, theme=theme)
    wait_until_drawn(page)
    expect(picture(page)).to_have_count(1)
    assert picture(page).evaluate("image => image.complete && image.naturalWidth > 0")
    for element in ("html", "[data-testid=stMain]"):
        fits = page.locator(element).evaluate("e => e.scrollWidth <= e.clientWidth")
        assert fits, f"{element} scrolls sideways"
    red, green, blue = (int(BACKGROUND.on(theme == "dark")[i : i + 2], 16) for i in (1, 3, 5))
    expect(page.get_by_test_id("stApp")).to_have_css(
        "background-color", f"rgb({red}, {green}, {blue})"
    )
