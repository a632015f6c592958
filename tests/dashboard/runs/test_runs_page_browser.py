"""The Runs page in Chromium: compare, export, import, delete."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.run_lab.state import CUSTOM
from fsdash.dashboard.run_lab.text import START
from fsdash.dashboard.runs import text
from tests.dashboard.browser import SCREENS, figure, wait_until_drawn

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
QUICK = f"/Run_lab?preset={CUSTOM}&algorithms=e-vi&unit=iterations&budget=2&replications=1&seed="


def run(visit: Callable[..., Page], seed: int) -> str:
    """Run a small experiment in the lab and return its id."""
    page = visit(f"{QUICK}{seed}")
    page.get_by_role("button", name=START).click()
    expect(page.get_by_text("What to notice")).to_be_visible()
    return re.search(r"experiment=(\w+)", page.url)[1]


def entry(page: Page, id: str) -> Locator:
    return page.locator(f".st-key-entry-{id}")


def select(page: Page, id: str) -> None:
    entry(page, id).get_by_test_id("stCheckbox").locator("label").click()


def names(page: Page) -> list[str]:
    return figure(page, "compared").evaluate("node => node.data.map((trace) => trace.name)")


def test_two_experiments_are_compared_and_the_comparison_is_shared(visit: Callable[..., Page]):
    first, second = run(visit, 1), run(visit, 2)
    page = visit("/Runs")
    select(page, first)
    select(page, second)
    expect(page.get_by_role("heading", name=text.COMPARISON)).to_be_visible()
    wait_until_drawn(page, "compared")
    page.wait_for_function(
        "() => document.querySelector('.st-key-compared .fs-chart').data.length === 4"
    )
    assert {"A · Base E-VI", "B · Base E-VI"} <= set(names(page))
    differences = page.get_by_label(text.DIFFERENT_SETTINGS)
    expect(differences.locator("th")).to_have_text([text.RUN, "seed"])
    shared = visit(f"/Runs?selected={first},{second}")
    wait_until_drawn(shared, "compared")
    expect(shared.get_by_label(text.DIFFERENT_SETTINGS).locator("tbody tr")).to_have_count(2)


def test_export_delete_and_import(visit: Callable[..., Page], tmp_path: Path):
    id = run(visit, 3)
    page = visit(f"/Runs?selected={id}")
    page.get_by_role("button", name=text.EXPORT).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=text.EXPORT_EVERYTHING).click()
    file = tmp_path / "exported.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["runs"][0]["spec"]["seed"] == 3
    page.keyboard.press("Escape")

    page.get_by_role("button", name=text.DELETE).click()
    page.get_by_role("button", name=text.DELETE_NOW).click()
    expect(page.get_by_text(text.DELETED)).to_be_visible()
    expect(entry(page, id)).to_have_count(0)

    page.get_by_role("button", name=text.IMPORT).click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text(text.imported(1))).to_be_visible()
    wait_until_drawn(page, "compared")


def test_an_experiment_is_found_by_its_new_name(visit: Callable[..., Page]):
    id = run(visit, 4)
    page = visit(f"/Runs?selected={id}")
    page.get_by_role("button", name=text.EDIT).click()
    page.get_by_role("textbox", name=text.NAME).fill("the wanted one")
    page.get_by_role("button", name=text.SAVE).click()
    expect(page.get_by_role("heading", name="the wanted one")).to_be_visible()
    find = page.get_by_role("textbox", name=text.FIND)
    find.fill("wanted")
    find.press("Enter")
    expect(page.locator("[class*=st-key-entry-]")).to_have_count(1)
    expect(page).to_have_url(re.compile("text=wanted"))


@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_nothing_scrolls_sideways(visit, size, theme):
    id = run(visit, 5)
    page = visit(f"/Runs?selected={id}", *size, theme)
    wait_until_drawn(page, "compared")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
