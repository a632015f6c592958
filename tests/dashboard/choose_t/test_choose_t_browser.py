"""The Choose T page in a real Chromium, with the mouse and by touch."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from fsdash.dashboard.widgets.waiting import STOP
from tests.dashboard.browser import SCREENS, assert_fits, figure, in_url, wait_until_drawn

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]

POINT = """(node, name) => {
  const index = node.data.findIndex(trace => trace.name === name);
  const {xaxis, yaxis} = node._fullLayout, box = node.getBoundingClientRect();
  const {x, y} = node.calcdata[index][2];
  return [box.left + xaxis._offset + xaxis.c2p(x), box.top + yaxis._offset + yaxis.c2p(y)];
}"""
"""Where the third point of a series is on the screen."""


def test_a_model_a_budget_and_a_point_lead_to_its_policy(visit: Callable[..., Page]):
    page = visit("/Choose_T?budget=4")
    wait_until_drawn(page, "frontier")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("Rolling freeze")
    budget = page.get_by_role("spinbutton", name="Budget in sweeps of Base VI")
    budget.fill("40")
    budget.press("Enter")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("MPI")
    expect(page).to_have_url(in_url("budget", "40"))
    chart = figure(page, "frontier")
    chart.scroll_into_view_if_needed()
    page.mouse.click(*chart.evaluate(POINT, "T = 2"))
    expect(page).to_have_url(in_url("method", "fsvi"))
    expect(page).to_have_url(in_url("T", "2"))
    expect(page.get_by_test_id("stException")).to_have_count(0)


def stop(page: Page) -> None:
    """Click the page's own Stop; the button in the header is Streamlit's."""
    page.get_by_test_id("stMain").get_by_role("button", name=STOP).click()


def test_a_measurement_and_a_choice_from_samples_can_be_stopped(visit: Callable[..., Page]):
    page = visit("/Choose_T?model=inventory.large")
    page.get_by_role("button", name="Measure this model").click()
    stop(page)
    expect(page.get_by_text("The measurement was stopped.")).to_be_visible()
    expect(page.get_by_text("Measuring")).to_have_count(0)
    expect(page.get_by_role("button", name="Measure this model")).to_be_visible()

    page = visit("/Choose_T?model=pricing")
    wait_until_drawn(page, "frontier")
    page.get_by_text("If you can only sample").click()
    budget = page.get_by_role("spinbutton", name="Budget in sweeps of Base E-VI")
    budget.fill("100")
    budget.press("Enter")
    page.get_by_role("button", name="Plan from samples").click()
    stop(page)
    expect(page.get_by_text("Working with samples …")).to_have_count(0)
    expect(page.get_by_role("button", name="Plan from samples")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_the_page_fits_the_screen(visit: Callable[..., Page], size, theme):
    page = visit("/Choose_T", *size, theme)
    wait_until_drawn(page, "frontier")
    assert_fits(page, theme)
