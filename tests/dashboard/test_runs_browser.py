"""The Runs page in a real Chromium: compare, download, import, delete."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.dashboard.browser import NARROW, WIDE, figure, wait_until_drawn

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
QUICK = "/Run_lab?preset=by-hand&algorithms=e-vi&unit=iterations&budget=2&replications=1&seed="


def run(visit: Callable[..., Page], seed: int) -> str:
    """Run something small in the lab, and give its id."""
    page = visit(f"{QUICK}{seed}")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("What to notice")).to_be_visible()
    return re.search(r"experiment=(\w+)", page.url)[1]


def entry(page: Page, id: str) -> Locator:
    return page.locator(f".st-key-entry-{id}")


def tick(page: Page, id: str) -> None:
    entry(page, id).get_by_test_id("stCheckbox").locator("label").click()


def names(page: Page) -> list[str]:
    return figure(page, "compared").evaluate("node => node.data.map((trace) => trace.name)")


def test_compare_two_and_share_the_comparison(visit: Callable[..., Page]):
    first, second = run(visit, 1), run(visit, 2)
    page = visit("/Runs")
    tick(page, first)
    tick(page, second)
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    wait_until_drawn(page, "compared")
    page.wait_for_function(
        "() => document.querySelector('.st-key-compared .fs-chart').data.length === 4"
    )
    assert {"A · Base E-VI", "B · Base E-VI"} <= set(names(page))
    differences = page.get_by_label("Settings that differ")
    expect(differences.locator("th")).to_have_text(["Run", "seed"])
    shared = visit(f"/Runs?selected={first},{second}")
    wait_until_drawn(shared, "compared")
    expect(shared.get_by_label("Settings that differ").locator("tbody tr")).to_have_count(2)


def test_download_delete_and_import(visit: Callable[..., Page], tmp_path: Path):
    id = run(visit, 3)
    page = visit(f"/Runs?selected={id}")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Everything, JSON").click()
    file = tmp_path / "kept.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["runs"][0]["spec"]["seed"] == 3
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("Deleted.")).to_be_visible()
    expect(entry(page, id)).to_have_count(0)

    page.get_by_role("button", name="Import").click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("Imported 1 experiment.")).to_be_visible()
    wait_until_drawn(page, "compared")


def test_a_name_is_changed_and_found_again(visit: Callable[..., Page]):
    id = run(visit, 4)
    page = visit(f"/Runs?selected={id}")
    page.get_by_role("button", name="Name and note").click()
    page.get_by_role("textbox", name="Name").fill("the wanted one")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="the wanted one")).to_be_visible()
    find = page.get_by_role("textbox", name="Find")
    find.fill("wanted")
    find.press("Enter")
    expect(page.locator("[class*=st-key-entry-]")).to_have_count(1)
    expect(page).to_have_url(re.compile("text=wanted"))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_sideways_scroll_in_either_theme(visit, size, theme):
    id = run(visit, 5)
    page = visit(f"/Runs?selected={id}", *size, theme)
    wait_until_drawn(page, "compared")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
