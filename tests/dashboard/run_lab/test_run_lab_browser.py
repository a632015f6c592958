"""The Run lab in Chromium: an experiment from the start to its end, in several tabs."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.plans import CUSTOM, SWEEP
from tests.dashboard.browser import NARROW, RANGES, SCREENS, drag, figure, wait_until_drawn

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
QUICK = f"/Run_lab?preset={CUSTOM}&algorithms=e-fsvi,e-vi&T=6&budget=2&replications=2"
LONG = f"/Run_lab?preset={CUSTOM}&algorithms=e-fsvi,e-vi&T=6&budget=1e9&replications=1"
POINTS = "node => (node._fullData ?? []).reduce((sum, trace) => sum + (trace.y?.length ?? 0), 0)"
HIDDEN = "node => (node._fullData ?? []).filter((trace) => trace.visible === 'legendonly').length"


def start(page: Page) -> None:
    page.get_by_role("button", name=text.START).click()
    expect(page).to_have_url(re.compile(r"experiment=\w+"))


def status(page: Page) -> Locator:
    return page.locator(".stMarkdownBadge").first


def stop(page: Page) -> None:
    """Stop the experiment; nothing that can be clicked may slide under the pointer."""
    button = page.locator(".st-key-lab-actions").get_by_role("button", name=text.STOP)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    box = button.bounding_box()
    button.click()
    expect(status(page)).to_contain_text(STATUS_BADGES["cancelled"].word)
    expect(button).to_have_count(0)
    at = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    assert page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('button, a') === null", at
    )


def wait_for_more_points(page: Page, than: int) -> None:
    page.wait_for_function(
        f"n => ({POINTS})(document.querySelector('.st-key-curves .fs-chart')) > n", arg=than
    )


def test_a_reload_and_another_tab_show_the_same_results(visit):
    page = visit(QUICK)
    start(page)
    wait_until_drawn(page, "curves")
    expect(page.get_by_text("What to notice")).to_be_visible()
    table = page.locator(".fs-table").inner_text()
    assert "E-FSVI, T=6" in table and "Base E-VI" in table and "%" in table
    page.reload()
    wait_until_drawn(page, "curves")
    expect(page.locator(".fs-table")).to_have_text(re.compile("E-FSVI, T=6"))
    assert page.locator(".fs-table").inner_text() == table
    other = visit(page.url.partition("127.0.0.1")[2].partition("/")[2].join(["/", ""]))
    wait_until_drawn(other, "curves")
    assert other.locator(".fs-table").inner_text() == table


def test_zoom_and_hidden_series_survive_refreshes_and_widgets_respond(visit):
    page = visit(LONG)
    start(page)
    wait_until_drawn(page, "curves")
    wait_for_more_points(page, 20)
    chart = figure(page, "curves")
    mark = chart.evaluate("node => (node.mark = 'the same node')")
    chart.locator(".legendtoggle").last.click()
    page.wait_for_function(
        f"() => ({HIDDEN})(document.querySelector('.st-key-curves .fs-chart')) > 0"
    )
    drag(page, chart, (0.3, 0.4), (0.6, 0.7))
    ranges, hidden = chart.evaluate(RANGES), chart.evaluate(HIDDEN)
    wait_for_more_points(page, chart.evaluate(POINTS))
    assert chart.evaluate("node => node.mark") == mark
    assert chart.evaluate(RANGES) == ranges
    assert chart.evaluate(HIDDEN) == hidden
    page.get_by_text("Gridworld", exact=True).click()
    expect(page.get_by_text("4,356 states")).to_be_visible()
    expect(page).to_have_url(re.compile("domain=gridworld"))
    stop(page)
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_pause_and_resume_appear_in_a_second_tab(visit: Callable[..., Page]):
    page = visit(LONG)
    start(page)
    wait_until_drawn(page, "curves")
    other = visit("/Run_lab?experiment=" + re.search(r"experiment=(\w+)", page.url)[1])
    expect(status(other)).to_contain_text(STATUS_BADGES["running"].word)
    page.get_by_role("button", name="Pause").click()
    expect(status(page)).to_contain_text(STATUS_BADGES["paused"].word)
    expect(status(other)).to_contain_text(STATUS_BADGES["paused"].word)
    page.get_by_role("button", name="Resume").click()
    expect(status(other)).to_contain_text(STATUS_BADGES["running"].word)
    stop(page)


def test_back_undoes_the_last_change(visit: Callable[..., Page]):
    page = visit(f"/Run_lab?preset={CUSTOM}")
    for _ in range(2):
        page.get_by_text("Gridworld", exact=True).click()
        expect(page).to_have_url(re.compile("domain=gridworld"))
        expect(page.get_by_text("4,356 states")).to_be_visible()
        page.go_back()
        expect(page.get_by_text("561 states").last).to_be_visible()
        expect(page.get_by_role("radio", name="Inventory")).to_be_checked()
        expect(page).not_to_have_url(re.compile("domain="))


def test_a_phone_shows_the_picture_below_start_the_results_first_and_a_repeat_before_them(visit):
    page = visit("/Run_lab", *NARROW)
    wait_until_drawn(page, "example")
    form, above = page.get_by_test_id("stSelectbox").first, lambda place: place.bounding_box()["y"]
    button = page.get_by_role("button", name=text.START)
    assert above(form) < above(button) < above(figure(page, "example")) < NARROW[1]
    assert above(figure(page, "example")) < above(page.get_by_text(text.DOMAIN_PARAMETERS))
    form.evaluate("node => (node.mark = 'the same node')")
    start(page)
    wait_until_drawn(page, "curves")
    assert form.evaluate("node => node.mark") == "the same node"
    assert above(figure(page, "curves")) < above(form)
    page.get_by_role("button", name="Run again").click()
    new_name = page.locator(".st-key-lab-repeat").get_by_text("Inventory: Quick look (2)")
    expect(new_name).to_be_visible()
    assert above(button) < above(figure(page, "curves"))


def test_a_sweep_over_T_on_two_domains(visit: Callable[..., Page]):
    page = visit(f"/Run_lab?preset={SWEEP}&domains=inventory,gridworld&values=2,3&budget=0.1")
    start(page)
    wait_until_drawn(page, "curves-inventory", "curves-gridworld")
    expect(page.locator(".fs-methods")).to_have_count(2)
    for table in page.locator(".fs-methods").all():
        expect(table.locator("tbody tr")).to_have_count(2)


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_nothing_scrolls_sideways(visit, size, theme):
    page = visit(QUICK, *size, theme)
    start(page)
    wait_until_drawn(page, "curves")
    expect(page.get_by_text("What to notice")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator("img.fs-picture:visible")).to_have_count(1)


def test_the_keyboard_can_start_a_run(visit: Callable[..., Page]):
    page = visit(QUICK)
    button = page.get_by_role("button", name=text.START)
    expect(button).to_be_visible()
    button.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"experiment=\w+"))
    wait_until_drawn(page, "curves")


def test_fsavi_runs_in_the_browser_and_shows_kappa(visit: Callable[..., Page]):
    page = visit(f"/Run_lab?preset={CUSTOM}&algorithms=fsavi&T=3&unit=iterations&budget=3")
    note = page.get_by_text("20 features for 561 states, κ = 1, κγ = 0.995")
    page.get_by_text("Parameters of the algorithms").click()
    cells = page.get_by_role("spinbutton", name="Fast cells")
    cells.fill("5")
    cells.press("Enter")
    expect(note).to_be_visible()
    start(page)
    wait_until_drawn(page, "curves")
    expect(page.locator(".fs-table")).to_have_text(re.compile("FSAVI, T=3"))
    # Below the form's button and below the table of results.
    expect(note).to_have_count(2)
