"""Helpers for tests in a browser: find widgets and wait for figures."""

import re

from playwright.sync_api import Locator, Page, expect

from fsdash.figures.palette import BACKGROUND, in_theme

RANGES = """node => [node._fullLayout.xaxis.range, node._fullLayout.yaxis.range]"""
WIDE, NARROW = (1440, 900), (390, 844)
SCREENS = [(WIDE, "light"), (NARROW, "dark")]
"""Each size and each theme once: layout and colours do not depend on each other."""


def slider(page: Page, label: str) -> Locator:
    return page.get_by_role("slider", name=label)


def metric(page: Page, label: str) -> Locator:
    card = page.get_by_test_id("stMetric").filter(has_text=label)
    return card.get_by_test_id("stMetricValue")


def figure(page: Page, key: str) -> Locator:
    """The node of a chart by its key."""
    return page.locator(f".st-key-{key} .fs-chart")


def wait_until_drawn(page: Page, *keys: str) -> None:
    """Wait until these charts are drawn; no exception may be on the page."""
    for key in keys:
        expect(figure(page, key).locator(".main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def drag(page: Page, chart: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag from one point of a chart to another, both in shares of its size."""
    box = chart.bounding_box()
    (x0, y0), (x1, y1) = (
        (box["x"] + s * box["width"], box["y"] + t * box["height"]) for s, t in (start, end)
    )
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
    page.mouse.move(x1, y1)
    page.mouse.up()


def assert_fits(page: Page, theme: str) -> None:
    """The page does not scroll sideways and has the background of its theme."""
    for element in ("html", "[data-testid=stMain]"):
        fits = page.locator(element).evaluate("e => e.scrollWidth <= e.clientWidth")
        assert fits, f"{element} scrolls sideways"
    colour = in_theme(BACKGROUND, theme == "dark")
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    expect(page.get_by_test_id("stApp")).to_have_css(
        "background-color", f"rgb({red}, {green}, {blue})"
    )


def in_url(name: str, value: str) -> re.Pattern:
    return re.compile(rf"[?&]{name}={re.escape(value)}(&|$)")
