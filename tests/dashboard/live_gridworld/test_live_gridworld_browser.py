"""The Live gridworld in a real Chromium: a race that is changed with a mouse, and with a finger."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from fsdash.dashboard.live_gridworld import text
from tests.dashboard.browser import (
    NARROW,
    WIDE,
    assert_fits,
    figure,
    in_url,
    slider,
    wait_until_drawn,
)

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
MAPS = ("live-fsvi", "live-rolling", "live-vi")
BOTTOM = "node => node.getBoundingClientRect().bottom"
CENTRE = """(node, [column, row]) => {
  const { left, top } = node.getBoundingClientRect();
  const { xaxis, yaxis } = node._fullLayout;
  return [left + xaxis._offset + xaxis.d2p(column), top + yaxis._offset + yaxis.d2p(row)];
}"""
WATCH = """node => {
  node.counts = { removed: 0, drawn: 0 };
  node.on("plotly_afterplot", () => { node.counts.drawn += 1; });
  new MutationObserver(() => { if (!node.isConnected) node.counts.removed += 1; })
    .observe(document.body, { subtree: true, childList: true });
}"""


def centre(page: Page, key: str, cell: tuple[int, int]) -> list[float]:
    """The middle of a cell of a map, in pixels of the screen."""
    return figure(page, key).evaluate(CENTRE, list(cell))


def button(page: Page, name: str):
    return page.get_by_role("button", name=re.compile(f"{name}$"))


def test_a_race_is_watched_and_changed_with_a_mouse(visit: Callable[..., Page]):
    page = visit("/Live_gridworld?speed=2", *WIDE)
    wait_until_drawn(page, *MAPS, "shares")
    assert figure(page, "shares").evaluate(BOTTOM) <= WIDE[1], "the first screen shows everything"
    chart = figure(page, "live-vi")
    chart.evaluate(WATCH)
    button(page, "Play").click()
    expect(page.locator(".st-key-reading")).to_contain_text("After 6 sweeps")
    page.mouse.click(*centre(page, "live-rolling", (5, 5)))
    expect(page).to_have_url(in_url("map", "wall.5.5"))
    expect(page.locator(".st-key-reading")).to_contain_text("(wall)")
    button(page, "Pause").click()
    expect(button(page, "Play")).to_be_visible()
    page.get_by_text(text.TOOLS["move"]).click()
    page.mouse.click(*centre(page, "live-vi", (6, 6)))
    expect(page.get_by_text(text.pick_hint(7))).to_be_visible()
    page.mouse.click(*centre(page, "live-vi", (9, 9)))
    expect(page).to_have_url(re.compile("move.7.9.9"))
    button(page, "Flip the rings").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("flip"))
    page.go_back()
    expect(page).not_to_have_url(re.compile("flip"))
    button(page, "Step").click()
    expect(page.locator(".st-key-reading")).to_contain_text("(rings flipped)")
    counts = chart.evaluate("node => node.counts")
    assert counts["removed"] == 0 and counts["drawn"] >= 3, "the map is redrawn in place"
    assert_fits(page, "light")


def test_a_race_is_changed_with_a_finger_on_a_phone(visit: Callable[..., Page]):
    page = visit("/Live_gridworld", *NARROW, theme="dark", touch=True)
    wait_until_drawn(page, *MAPS)
    chart = figure(page, "live-fsvi")
    assert chart.evaluate(BOTTOM) <= NARROW[1], "the first screen shows a whole map"
    cell = chart.evaluate(
        "({ _fullLayout: { xaxis, yaxis, _size } }) =>"
        " [xaxis._length, yaxis._length, _size.w, _size.h]"
    )
    assert cell[0] == pytest.approx(cell[1]) == pytest.approx(cell[2]), "squares fill the width"
    page.touchscreen.tap(*centre(page, "live-fsvi", (5, 5)))
    expect(page).to_have_url(in_url("map", "wall.5.5"))
    button(page, "Step").tap()
    expect(page.locator(".st-key-reading")).to_contain_text("After 0.5 sweeps")
    page.touchscreen.tap(*centre(page, "live-fsvi", (5, 5)))
    expect(page).not_to_have_url(in_url("map", "wall.5.5"))
    assert_fits(page, "dark")


def test_the_settings_show_the_race_in_view_and_leave_it_alone(visit: Callable[..., Page]):
    page = visit("/Live_gridworld?speed=5.0&T=6", *WIDE)
    reading, T = page.locator(".st-key-reading"), slider(page, "Periods frozen T")
    wait_until_drawn(page, *MAPS)
    button(page, "Step").click()
    expect(reading).to_contain_text("After 5 sweeps")
    button(page, "Settings").click()
    expect(T).to_have_value("6")
    page.keyboard.press("Escape")
    expect(T).to_have_count(0)
    button(page, "Step").click()
    expect(reading).to_contain_text("After 10 sweeps")
    expect(reading).to_contain_text("FSVI, T = 6")
    expect(page).to_have_url(in_url("T", "6"))
    expect(page).to_have_url(in_url("speed", "5"))


def test_back_undoes_a_setting_also_after_its_popover_was_closed(visit: Callable[..., Page]):
    page = visit("/Live_gridworld?T=6", *WIDE)
    reading, T = page.locator(".st-key-reading"), slider(page, "Periods frozen T")
    wait_until_drawn(page, *MAPS)
    button(page, "Settings").click()
    T.focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(in_url("T", "7"))
    expect(reading).to_contain_text("FSVI, T = 7")
    page.keyboard.press("Escape")
    expect(T).to_have_count(0)
    page.go_back()
    expect(reading).to_contain_text("FSVI, T = 6")
    button(page, "Step").click()
    expect(reading).to_contain_text("After 0.5 sweeps")
    expect(reading).to_contain_text("FSVI, T = 6")
    expect(page).to_have_url(in_url("T", "6"))
