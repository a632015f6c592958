"""The stored runs in Chromium: compare, export, import, delete."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.run_lab import text
from fsdash.runs.store.experiments import Store
from tests.dashboard.browser import NARROW, SCREENS, figure, in_url, wait_until_drawn
from tests.runs.work import base, finished_experiment

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]


@pytest.fixture
def run(server: str, data: Path) -> Iterator[Callable[[int], str]]:
    """Store a small finished experiment with this seed, and return its id."""
    store = Store(data / "runs.db")
    name = "Inventory: Base E-VI"
    yield lambda seed: finished_experiment(store, base(2, seed=seed), name=name).id
    store.close()


def row(page: Page, ref: str) -> Locator:
    """A row of the table by the id of its experiment or run."""
    return page.locator(f".fs-data-table tr[data-row^='{ref}']")


def names(page: Page) -> list[str]:
    chart = figure(page, "compared-inventory")
    return chart.evaluate("node => node.data.map((trace) => trace.name)")


def test_two_runs_are_compared_and_the_comparison_is_shared(visit: Callable[..., Page], run):
    first, second = run(1), run(2)
    page = visit("/Run_lab?tab=stored")
    row(page, first).get_by_role("checkbox").check()
    expect(page).to_have_url(re.compile(f"selected={first}"))
    row(page, second).locator("td").nth(2).click()  # anywhere in the row
    expect(row(page, second).get_by_role("checkbox")).to_be_checked()
    expect(page.get_by_role("heading", name="Comparison")).to_be_visible()
    wait_until_drawn(page, "compared-inventory")
    page.wait_for_function(
        "() => document.querySelector('.st-key-compared-inventory .fs-chart').data.length === 6"
    )
    assert {"A · Base E-VI", "B · Base E-VI"} <= set(names(page))
    page.get_by_text(text.VIEWS["settings"], exact=True).click()
    expect(page.get_by_label(text.DIFFERENT_SETTINGS).locator("th")).to_have_text(["Run", "seed"])
    shared = visit(f"/Run_lab?tab=stored&selected={first},{second}&view=settings")
    expect(shared.get_by_label(text.DIFFERENT_SETTINGS).locator("tbody tr")).to_have_count(2)
    link = shared.get_by_role("link", name="Compare their policies")
    expect(link).to_have_attribute("href", re.compile("compare=run&other="))


def test_a_click_on_a_heading_sorts_and_a_link_opens_the_lab(visit: Callable[..., Page], run):
    id = run(6)
    page = visit("/Run_lab?tab=stored")
    heading = page.locator(".fs-data-table th", has_text=text.COLUMNS["final"])
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(page).to_have_url(re.compile("sort=-final"))
    finals = page.locator(".fs-data-table tbody td[data-head=Final] > span:first-child")
    shown = [float(one.rstrip("%")) for one in finals.all_inner_texts() if one]
    assert shown == sorted(shown, reverse=True)
    expect(heading.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    row(page, id).get_by_role("link", name="Lab").click()
    expect(page).to_have_url(re.compile(f"Run_lab.*experiment={id}"))
    page.go_back()
    expect(row(page, id)).to_be_visible()
    expect(heading).to_have_attribute("aria-sort", "ascending")


def test_a_finger_selects_a_run_and_opens_its_policy(visit: Callable[..., Page], run):
    id = run(7)
    page = visit("/Run_lab?tab=stored", *NARROW, touch=True)
    row(page, id).locator("td").nth(1).tap()
    wait_until_drawn(page, "compared-inventory")
    row(page, id).get_by_role("link", name="Policy").tap()
    expect(page).to_have_url(re.compile(f"Policy_inspector.*experiment={id}"))


def test_export_delete_and_import(visit: Callable[..., Page], run, tmp_path: Path):
    id = run(3)
    page = visit(f"/Run_lab?tab=stored&selected={id}")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=text.EXPORT_EVERYTHING).click()
    assert download.value.suggested_filename == "inventory-base-e-vi-full.json"
    file = tmp_path / "exported.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["runs"][0]["spec"]["seed"] == 3
    page.keyboard.press("Escape")

    page.get_by_role("button", name=text.DELETE).click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("Deleted.", exact=True)).to_be_visible()
    expect(row(page, id)).to_have_count(0)

    page.get_by_role("button", name="Import").click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text(text.imported(1))).to_be_visible()
    wait_until_drawn(page, "compared-inventory")


def test_an_experiment_is_found_by_its_new_name(visit: Callable[..., Page], run):
    id = run(4)
    page = visit(f"/Run_lab?tab=stored&selected={id}")
    page.get_by_role("button", name="Name and note").click()
    page.get_by_role("textbox", name="Name").fill("the wanted one")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="the wanted one")).to_be_visible()
    find = page.get_by_role("textbox", name="Find")
    find.fill("wanted")
    find.press("Enter")
    expect(page.locator(".fs-data-table tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("text=wanted"))


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_nothing_scrolls_sideways(visit, run, size, theme):
    id = run(5)
    page = visit(f"/Run_lab?tab=stored&selected={id}", *size, theme)
    wait_until_drawn(page, "compared-inventory")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_filters_of_a_link_stay_when_their_popover_is_opened_and_closed(visit: Callable[..., Page]):
    page = visit("/Run_lab?tab=stored&method=vi&owner=mine")
    words, algorithm = page.get_by_label("Find"), page.get_by_label("Algorithm")
    for word in ("first", "second"):
        words.fill(word)
        words.press("Enter")
        expect(page).to_have_url(in_url("text", word))
        expect(page).to_have_url(in_url("method", "vi"))
        expect(page).to_have_url(in_url("owner", "mine"))
        page.get_by_role("button", name="More filters").click()
        expect(algorithm).to_have_value(ALGORITHMS["vi"].title)
        page.keyboard.press("Escape")
        expect(algorithm).to_have_count(0)
