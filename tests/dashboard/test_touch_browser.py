"""Fingers, the keyboard and small screens in Chromium, on every page with figures."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.navigation import PAGES
from tests.dashboard.browser import NARROW, WIDE

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
TABLET = (820, 1180)
CLICKABLE = "node => Boolean(node.fsData?.clickable && node.fsReady)"
SCROLL = "document.querySelector('[data-testid=stMain]').scrollTop"
COUNT_EVENTS = """node => {
  const send = node.fsSend;
  node.sent = [];
  Object.defineProperty(node, 'fsSend', {
    get: () => (event) => { node.sent.push(event); node.realSend(event); },
    set: (value) => { node.realSend = value; },  // every drawing sets it
  });
  node.fsSend = send;
}"""
ILLEGIBLE = """node => {
  const problems = [];
  for (const kind of ['.xtick text', '.ytick text', '.legendtext']) {
    const texts = [...node.querySelectorAll(kind)];
    const small = texts.filter((text) => parseFloat(getComputedStyle(text).fontSize) < 12);
    if (small.length) problems.push(`${kind}: small`);
    const boxes = texts.map((text) => text.getBoundingClientRect());
    const overlap = (a, b) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
    if (boxes.some((a, i) => boxes.slice(i + 1).some((b) => overlap(a, b))))
      problems.push(`${kind}: overlap`);
  }
  const frame = node.getBoundingClientRect();
  for (const text of node.querySelectorAll('text')) {
    const { left, right, width } = text.getBoundingClientRect();
    if (width && (left < frame.left - 2 || right > frame.right + 2))
      problems.push(`${text.textContent}: clipped`);
  }
  const { h } = node._fullLayout._size;
  if (h < 120) problems.push(`the plot has ${h} pixels`);
  return problems;
}"""


def assert_legible(page: Page) -> None:
    """Every figure has a text alternative, and its ticks and legend can be read."""
    expect(page.locator(".fs-chart .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.fs-chart')].every((node) => node.fsReady)"
    )
    for chart in page.locator(".fs-chart").all():
        assert chart.get_attribute("aria-label"), "a figure needs a text alternative"
        assert chart.evaluate(ILLEGIBLE) == []


def clickable_figure(page: Page) -> Locator:
    """The first figure that reports clicks, when it is drawn."""
    page.wait_for_function(f"() => [...document.querySelectorAll('.fs-chart')].some({CLICKABLE})")
    place = page.evaluate(f"[...document.querySelectorAll('.fs-chart')].findIndex({CLICKABLE})")
    return page.locator(".fs-chart").nth(place)


def middle(chart: Locator, across: float = 0.62, up: float = 0.55) -> tuple[float, float]:
    """A point inside the plot, in pixels of the screen."""
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    return box["x"] + across * box["width"], box["y"] + up * box["height"]


@pytest.mark.parametrize("size", [NARROW, TABLET])
@pytest.mark.parametrize(
    "path", ["Bounds", "Bounds?tab=regret", "Bounds?tab=linear", "Policy_inspector"]
)
def test_a_tap_selects_once(visit: Callable[..., Page], path: str, size: tuple[int, int]):
    page = visit(f"/{path}", *size, touch=True)
    chart = clickable_figure(page)
    if size == NARROW:
        assert_legible(page)
    chart.evaluate(COUNT_EVENTS)
    before = page.url
    page.touchscreen.tap(*middle(chart))
    expect(page).not_to_have_url(before)
    assert len(chart.evaluate("node => node.sent")) == 1


def test_a_swipe_over_a_figure_scrolls_the_page_and_selects_nothing(visit: Callable[..., Page]):
    page = visit("/Bounds", *NARROW, touch=True)
    x, y = middle(clickable_figure(page), 0.8)
    before, url = page.evaluate(SCROLL), page.url
    finger = page.context.new_cdp_session(page)
    for kind, up in (("touchStart", 0), *(("touchMove", step) for step in range(20, 161, 20))):
        finger.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - up}]}
        )
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function(f"before => {SCROLL} > before + 50", arg=before)
    assert page.url == url


@pytest.mark.parametrize("size", [NARROW, TABLET])
@pytest.mark.parametrize("path", ["Bounds", "Run_lab", "Reproduction", "Story?case=season"])
def test_axes_and_legends_are_legible_on_a_narrow_screen(
    visit: Callable[..., Page], path: str, size: tuple[int, int]
):
    assert_legible(visit(f"/{path}", *size, touch=True))


def test_every_page_opens_at_its_top_and_back_returns(visit: Callable[..., Page]):
    page = visit("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    titles = []
    for name in ("reproduction", "run_lab"):
        title = page.get_by_role("heading", level=1).inner_text()
        titles.append(title)
        # A page is long enough to scroll only when all of it is there.
        page.wait_for_function(
            "() => { const main = document.querySelector('[data-testid=stMain]');"
            " main.scrollTo(0, main.scrollHeight); return main.scrollTop > 300; }"
        )
        sidebar = page.get_by_test_id("stSidebar")
        sidebar.get_by_role("link", name=PAGES[name].title).click()
        expect(page.get_by_role("heading", level=1)).not_to_have_text(title)
        page.wait_for_function(f"() => {SCROLL} === 0")
    for title in reversed(titles):
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_the_focus_of_the_keyboard_is_visible(visit: Callable[..., Page]):
    page = visit("/Bounds", *WIDE)
    outlined = re.compile("solid")
    link = page.get_by_test_id("stSidebar").get_by_role("link", name="Home")
    expect(link).to_be_visible()
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    thumb = page.locator("[data-testid=stSlider] [data-rac]:has(> div > input)").first
    expect(thumb).to_have_css("outline-style", outlined)
    link.focus()
    page.keyboard.press("Tab")
    expect(page.locator("a:focus-visible")).to_have_css("outline-style", outlined)
