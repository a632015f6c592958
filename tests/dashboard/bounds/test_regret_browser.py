"""The tab Regret and budget of the Bounds page in a real Chromium."""

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.bounds import state as bounds
from fsdash.dashboard.bounds import text
from tests.dashboard.bounds.kit import example_view
from tests.dashboard.browser import NARROW, SCREENS, assert_fits

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
PATH = "/Bounds?tab=regret"
BUDGET = "Budget in sweeps of Base VI"
VACUOUS = "The bound is vacuous here:"
THREE = example_view("three-regimes")
SWEEP = THREE.sizes.sweep


def chart(page: Page, key: str = "regret-cost") -> Locator:
    return page.locator(f".st-key-{key} .js-plotly-plot")


def wait_until_drawn(page: Page) -> None:
    # The first visit loads Plotly, megabytes that a busy machine takes long to parse.
    expect(chart(page).locator(".main-svg").first).to_be_visible(timeout=120_000)
    expect(page.locator(".st-key-symbols")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def headline(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        re.compile(re.escape(text).replace(r"\ ", r"\s"))
    )


def place(page: Page, sweeps: float, strip: bool = False) -> tuple[float, float]:
    """Where a budget lies on the screen: in the middle of the chart, or on the strip."""
    chart(page).scroll_into_view_if_needed()
    return tuple(
        chart(page).evaluate(
            """(node, [x, axis]) => {
              const box = node.getBoundingClientRect();
              const {xaxis, [axis]: y} = node._fullLayout;
              return [box.left + xaxis._offset + xaxis.d2p(x), box.top + y._offset + y._length / 2];
            }""",
            [sweeps * SWEEP, "yaxis2" if strip else "yaxis"],
        )
    )


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("spinbutton", name=label)


def test_field_click_drag_and_link_set_one_budget(visit: Callable[..., Page]):
    page = visit(PATH)
    wait_until_drawn(page)
    headline(page, "Smallest bound: FSVI with T = 16, k = 3")
    chart(page).evaluate("node => { node.marked = true; }")

    field(page, BUDGET).fill("10")
    field(page, BUDGET).press("Enter")
    headline(page, "Smallest bound: FSVI with T = 9, k = 9")

    page.mouse.click(*place(page, 70))
    headline(page, "Smallest bound: Base VI: k = ")
    expect(field(page, BUDGET)).to_have_value(re.compile(r"^(69|70|71)\b"))

    page.mouse.click(*place(page, 3, strip=True))
    headline(page, "Smallest bound: FSVI with T = 16")
    expect(field(page, BUDGET)).to_have_value("2.8")

    start, end = place(page, 2.8), place(page, 30)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()
    headline(page, "Smallest bound: FSVI with T = 9")
    expect(field(page, BUDGET)).to_have_value(re.compile(r"^(29|30|31)\b"))
    assert chart(page).evaluate("node => node.marked"), "the figure was made anew"

    expect(page).to_have_url(re.compile(r"[?&]budget="))
    dragged, link = field(page, BUDGET).input_value(), urlsplit(page.url)
    other = visit(f"{link.path}?{link.query}")
    wait_until_drawn(other)
    headline(other, "Smallest bound: FSVI with T = 9")
    expect(field(other, BUDGET)).to_have_value(dragged)


def test_an_example_and_the_tabs_are_in_the_link(visit: Callable[..., Page]):
    page = visit(PATH)
    wait_until_drawn(page)
    page.get_by_role("button", name=text.example_label("inventory")).click()
    expect(page.get_by_text(VACUOUS)).to_be_visible()
    page.get_by_role("radio", name="Sensitivity to the constants").click()
    expect(chart(page, "best-T").locator(".main-svg").first).to_be_visible()
    page.get_by_role("radio", name="Can I trust it?").click()
    expect(chart(page, "truth").locator(".main-svg").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"detail=trust"))
    page.reload()
    wait_until_drawn(page)
    expect(page.get_by_text(VACUOUS)).to_be_visible()
    expect(chart(page, "truth").locator(".main-svg").first).to_be_visible()


def test_a_click_in_the_heat_map_sets_budget_and_constant(visit: Callable[..., Page]):
    page = visit(f"{PATH}&detail=sensitivity")
    wait_until_drawn(page)
    cells = chart(page, "best-T")
    expect(cells.locator(".main-svg").first).to_be_visible()
    cells.scroll_into_view_if_needed()
    box = cells.locator(".nsewdrag").first.bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.1 * box["height"])
    headline(page, "Smallest bound: Base VI")
    expect(page).to_have_url(re.compile(r"[?&]Lf=1\.\d"))
    assert float(field(page, "Sensitivity of the dynamics").input_value()) > 1.6


def test_the_data_and_the_figure_can_be_downloaded(visit: Callable[..., Page]):
    page = visit(PATH)
    wait_until_drawn(page)
    page.locator(".st-key-export-regret-cost").get_by_role("button").click()
    files = {}
    for label in ("Data, CSV", "Data, JSON", "Figure, HTML"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        files[label] = Path(download.value.path()).read_text(encoding="utf-8")
    frame = bounds.curves_frame(THREE)
    pd.testing.assert_frame_equal(pd.read_csv(StringIO(files["Data, CSV"])), frame)
    assert json.loads(files["Data, JSON"]) == frame.to_dict("records")
    assert "T = 16 for this budget" in files["Figure, HTML"]


def test_marks_of_the_old_budget_fade_while_it_is_dragged(visit: Callable[..., Page]):
    opacities = """node => [
      ...node.data.filter((trace) => trace.meta === "handle").map((trace) => trace.opacity ?? 1),
      ...node.layout.annotations.filter((a) => a.name === "handle").map((a) => a.opacity ?? 1),
    ]"""
    page = visit(PATH)
    wait_until_drawn(page)
    assert set(chart(page).evaluate(opacities)) == {1}
    page.mouse.move(*place(page, 4))
    page.mouse.down()
    page.mouse.move(*place(page, 30), steps=4)
    assert max(chart(page).evaluate(opacities)) < 0.5
    page.mouse.up()
    headline(page, "Smallest bound: FSVI with T = 9")
    expect(chart(page).locator(".annotation-text", has_text="budget 3")).to_be_visible()
    assert set(chart(page).evaluate(opacities)) == {1}


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_no_discounting_is_explained_in_view(visit: Callable[..., Page], width, height):
    page = visit(f"{PATH}&gamma=1", width=width, height=height)
    expect(page.locator(".st-key-symbols")).to_be_visible()  # the whole page is there
    expect(page.get_by_text("γ = 1 means no discounting")).to_be_in_viewport(ratio=1)
    field(page, "Discount γ").fill("0.9")
    field(page, "Discount γ").press("Enter")
    headline(page, "Smallest bound: FSVI with T = 16, k = 3")


def test_the_most_extreme_bars_are_drawn(visit: Callable[..., Page]):
    page = visit(f"{PATH}&bound=repaired&Lfrozen=1e6")  # and the console stays clean
    wait_until_drawn(page)
    expect(chart(page, "terms").locator(".bars .point path").last).to_be_attached()


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_screen_and_theme_fits(visit: Callable[..., Page], size, theme):
    page = visit(PATH, *size, theme)
    wait_until_drawn(page)
    assert_fits(page, theme)
    if size == NARROW:  # the figure comes before its controls
        below = field(page, BUDGET).bounding_box()["y"]
        assert chart(page).bounding_box()["y"] < below
