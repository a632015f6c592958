"""The Policy inspector in a real Chromium."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.inspector import text
from fsdash.dashboard.inspector.state import (
    policy_at,
    recorded_history,
    state_table,
)
from fsdash.dashboard.widgets.chart import EXPORT
from fsdash.figures import policy_table
from fsdash.formatting import number
from fsdash.runs.records import Experiment
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store
from tests.dashboard.browser import (
    NARROW,
    SCREENS,
    assert_fits,
    figure,
    in_url,
    slider,
    wait_until_drawn,
)
from tests.dashboard.test_touch_browser import assert_legible
from tests.runs.work import finished_experiment, frozen

pytestmark = [pytest.mark.browser]

FIRST_STEP = "Backward induction: step 1 of 2"
CELL = """(node, [column, row]) => {
    const { xaxis, yaxis } = node._fullLayout, box = node.getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.d2p(column), box.top + yaxis._offset + yaxis.d2p(row)];
}"""


@pytest.fixture(scope="module")
def store(data: Path):
    """The server's own store."""
    store = Store(data / "runs.db")
    yield store
    store.close()


@pytest.fixture(scope="module")
def experiment(store: Store) -> Experiment:
    base = RunSpec("inventory", "e-vi", parameters={"M": 5}, iterations=3, replications=1)
    return finished_experiment(store, frozen(iterations=2), base, name="for the inspector")


def address(experiment: Experiment, **more: str) -> str:
    query = {"experiment": experiment.id, "run": experiment.runs[0].id, **more}
    return "/Policy_inspector?" + "&".join(f"{name}={value}" for name, value in query.items())


def click_cell(page: Page, chart: Locator, column: float, row: float) -> None:
    chart.scroll_into_view_if_needed()
    page.mouse.click(*chart.evaluate(CELL, [column, row]))


def test_a_click_shows_the_state_and_a_reload_shows_it_again(visit: Callable, store, experiment):
    page = visit(address(experiment))
    wait_until_drawn(page, "policy-orders", "q-values")
    expect(page.get_by_role("heading", name="Largest loss in this view")).to_be_visible()
    click_cell(page, figure(page, "policy-orders"), column=4, row=9)
    expect(page.get_by_role("heading", name="The selected state")).to_be_visible()
    history = recorded_history(store, experiment.runs[0], 0)
    inspected, _ = policy_at(history, history.steps[-1])
    value = state_table(inspected, 9, 4)["value"].iloc[0]
    cell = page.get_by_role("cell", name=number(value), exact=True)
    expect(cell.first).to_be_visible()
    expect(page).to_have_url(in_url("state", "9%2C4"))
    page.reload()
    wait_until_drawn(page, "policy-orders")
    expect(page.get_by_role("heading", name="The selected state")).to_be_visible()
    expect(cell.first).to_be_visible()


LATE_PARAMETERS = """() => {
  const push = history.pushState.bind(history);
  history.pushState = (state, title, url) => push(state, title, url + location.search);
}"""
"""The parameters of the page before arrive with the next page."""


def test_the_parameters_of_the_page_before_do_not_stay(visit: Callable, experiment):
    page = visit(address(experiment, step="0"))
    wait_until_drawn(page, "policy-orders")
    expect(page).to_have_url(in_url("view", "orders"))
    page.evaluate(LATE_PARAMETERS)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Bounds").click()
    wait_until_drawn(page, "ceiling")
    expect(page).to_have_url(re.compile("/Bounds$"))


def test_going_back_from_another_page_restores_the_view(visit: Callable, experiment):
    page = visit(address(experiment, step="0"))
    wait_until_drawn(page, "policy-orders")
    expect(page).to_have_url(in_url("view", "orders"))
    page.get_by_test_id("stSidebar").get_by_role("link", name="Bounds").click()
    wait_until_drawn(page, "ceiling")
    page.go_back()
    wait_until_drawn(page, "policy-orders")
    expect(page.get_by_text(FIRST_STEP).first).to_be_visible()
    expect(page).to_have_url(in_url("step", "0"))


def test_back_right_after_a_change_undoes_it(visit: Callable, experiment):
    page = visit(address(experiment))
    wait_until_drawn(page, "policy-orders")
    expect(page).to_have_url(in_url("view", "orders"))
    page.get_by_role("radio", name="Order-up-to levels").click()
    expect(page).to_have_url(in_url("view", "levels"))
    page.go_back()
    wait_until_drawn(page, "policy-orders")
    expect(page).to_have_url(in_url("view", "orders"))


def test_playing_moves_the_slider_to_the_end(visit: Callable, experiment):
    page = visit(address(experiment, step="0"))
    wait_until_drawn(page, "policy-orders")
    expect(page.get_by_text(FIRST_STEP).first).to_be_visible()
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_text("Upper level, iteration 2").first).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_tap_on_the_difference_map_selects_a_state_of_both_policies(visit: Callable, experiment):
    page = visit(address(experiment, compare="optimum"), *NARROW, touch=True)
    wait_until_drawn(page, "policy-disagreement", "q-values")
    chart = figure(page, "policy-disagreement")
    box = chart.bounding_box()
    assert box["y"] + 300 < NARROW[1], "the figure is not on the first screen"
    page.touchscreen.tap(*chart.evaluate(CELL, [10, 3]))
    expect(page.get_by_role("heading", name="The selected state")).to_be_visible()
    expect(page).to_have_url(in_url("state", "3%2C10"))
    page.get_by_role("button", name="Next largest disagreement").tap()
    expect(page).not_to_have_url(in_url("state", "3%2C10"))


def test_two_policies_side_by_side(visit: Callable, experiment):
    page = visit(address(experiment, compare="optimum", view="orders"))
    wait_until_drawn(page, "left-orders", "right-orders", "q-values")
    click_cell(page, figure(page, "right-orders"), column=10, row=3)
    expect(page.get_by_role("heading", name="The selected state")).to_be_visible()


def test_a_bar_of_the_microscope_selects_its_block(visit: Callable, experiment):
    page = visit(address(experiment, view="blocks"))
    wait_until_drawn(page, "policy-blocks")
    chart = figure(page, "policy-blocks")
    bar = chart.locator(".barlayer .point").nth(3)
    height = chart.evaluate("node => node.data[0].y[3]")
    assert height != 0, "choose a block with a gap"
    box = bar.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text(text.block_gap(4))).to_be_visible()
    expect(page).to_have_url(re.compile("at=block%3A4"))


@pytest.mark.parametrize("view", ["orders", "disagreement", "pair"])
def test_the_first_view_needs_no_scrolling(visit: Callable, experiment, view):
    """At 1440 × 900 the figure, its playback and the controls are all on the screen."""
    compare = {} if view == "orders" else {"compare": "optimum"}
    page = visit(address(experiment, view=view, **compare))
    wait_until_drawn(page, f"policy-{view}", "q-values")
    for key in (f"st-key-policy-{view}", "st-key-playback", "st-key-numbers", "st-key-rail"):
        box = page.locator(f".{key}").first.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 900, key


def test_a_change_of_step_keeps_the_zoom(visit: Callable, experiment):
    page = visit(address(experiment))
    wait_until_drawn(page, "policy-orders")
    chart = figure(page, "policy-orders")
    chart.evaluate("node => Plotly.relayout(node, {'xaxis.range': [5, 15]})")
    slider(page, "Step of the run").press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]step=\d"))
    wait_until_drawn(page, "policy-orders")
    assert chart.evaluate("node => node._fullLayout.xaxis.range") == [5, 15]


def test_the_policy_can_be_downloaded(visit: Callable, store, experiment, tmp_path):
    page = visit(address(experiment))
    wait_until_drawn(page, "policy-orders")
    page.get_by_text(EXPORT, exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=text.table_labels("Policy")[0]).click()
    path = tmp_path / "policy.csv"
    download.value.save_as(path)
    history = recorded_history(store, experiment.runs[0], 0)
    table = policy_table(policy_at(history, history.steps[-1])[0])
    pd.testing.assert_frame_equal(pd.read_csv(path), table, check_dtype=False)


def test_the_gridworld_animation_plays(visit: Callable):
    page = visit("/Policy_inspector?domain=gridworld&T=2&view=agent&at=steps:30")
    wait_until_drawn(page, "policy-agent")
    chart = figure(page, "policy-agent")
    status = chart.locator(".textpoint text", has_text="collected")
    expect(status).to_contain_text("t = 0")
    chart.locator(".updatemenu-button").first.click()
    expect(status).to_contain_text("t = 29")


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_screen_and_theme_fits(visit: Callable, experiment, size, theme):
    page = visit(address(experiment), *size, theme)
    wait_until_drawn(page, "policy-orders", "q-values")
    assert_fits(page, theme)


@pytest.mark.parametrize("view", ["disagreement", "pair", "blocks"])
def test_every_new_view_is_legible_on_a_phone(visit: Callable, experiment, view):
    compare = {} if view == "blocks" else {"compare": "optimum"}
    page = visit(address(experiment, view=view, **compare), *NARROW, touch=True)
    wait_until_drawn(page, f"policy-{view}")
    assert_legible(page)
