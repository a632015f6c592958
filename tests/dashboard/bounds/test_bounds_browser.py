"""The tabs Reward error and Linear architecture of the Bounds page in a real Chromium."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from fsdash.dashboard.widgets.chart import EXPORT
from fsdash.formatting import number
from fsdash.theory import fsavi_bound, reward_error
from fsdash.theory.presets import PRESETS
from tests.dashboard.browser import (
    NARROW,
    RANGES,
    SCREENS,
    assert_fits,
    drag,
    figure,
    in_url,
    metric,
    slider,
    wait_until_drawn,
)

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
CALM = PRESETS["reward-error-small"].constants
PAPER = "gamma=0.953&alpha=0.01&Lf=0.99&LU=1&rmax=1&range=150&T=12"
REWARD, LINEAR = f"/Bounds?{PAPER}", "/Bounds?tab=linear"
CHARTS = {REWARD: ("error", "ceiling"), LINEAR: ("bound", "terms")}
HANDLE = """node => {
  const axis = node._fullLayout.xaxis;
  const line = node.layout.shapes.find((shape) => shape.name === "handle");
  return (axis._offset + axis.d2p(line.x0)) / node.clientWidth;
}"""


def test_a_slider_moves_the_numbers_and_the_link_restores_them(visit: Callable[..., Page]):
    page = visit(REWARD)
    wait_until_drawn(page, *CHARTS[REWARD])
    expect(metric(page, "Reward error")).to_have_text(number(reward_error(CALM, 12).total))
    slider(page, "Periods frozen T").press("ArrowRight")
    moved = number(reward_error(CALM, 13).total)
    expect(metric(page, "Reward error")).to_have_text(moved)
    expect(page).to_have_url(in_url("T", "13"))
    other = visit(page.url[page.url.index("/Bounds") :], theme="dark")
    wait_until_drawn(other, *CHARTS[REWARD])
    expect(metric(other, "Reward error")).to_have_text(moved)


def test_one_move_of_a_slider_is_one_rerun_and_one_step_of_the_history(visit: Callable[..., Page]):
    page = visit(REWARD)
    wait_until_drawn(page, *CHARTS[REWARD])
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    wait_until_drawn(page, *CHARTS[REWARD])
    page.wait_for_load_state("networkidle")
    before, steps = len(sent), page.evaluate("history.length")
    slider(page, "Periods frozen T").press("ArrowRight")
    expect(page).to_have_url(in_url("T", "13"))
    expect(metric(page, "Reward error")).to_have_text(number(reward_error(CALM, 13).total))
    page.wait_for_load_state("networkidle")
    assert len(sent) == before + 1
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    expect(metric(page, "Reward error")).to_have_text(number(reward_error(CALM, 12).total))
    expect(slider(page, "Periods frozen T")).to_have_value("12")
    page.go_forward()
    expect(metric(page, "Reward error")).to_have_text(number(reward_error(CALM, 13).total))
    page.get_by_test_id("stSidebar").get_by_role("link", name="Choose T").click()
    expect(page).to_have_url(re.compile(r"/Choose_T$"))


def test_a_chart_keeps_its_node_and_zoom_and_can_be_reset(visit: Callable[..., Page]):
    page = visit(REWARD)
    wait_until_drawn(page, "error")
    chart = figure(page, "error")
    whole = chart.evaluate(RANGES)
    chart.evaluate("node => { node.same = true; }")
    drag(page, chart, (0.4, 0.4), (0.7, 0.7))
    page.wait_for_function(
        "whole => JSON.stringify((" + RANGES + ")(document.querySelector('.st-key-error .fs-chart')"
        ")) !== JSON.stringify(whole)",
        arg=whole,
    )
    zoomed = chart.evaluate(RANGES)
    field = page.get_by_role("spinbutton", name="Slowness α")
    field.fill("0.02")
    field.press("Enter")
    expect(page).to_have_url(in_url("alpha", "0.02"))
    expect(metric(page, "Freeze error")).to_have_text(number(2 * reward_error(CALM, 12).freeze))
    assert chart.evaluate("node => node.same") is True
    assert chart.evaluate(RANGES) == zoomed
    chart.hover()
    chart.get_by_role("button", name="Show the whole figure").click()
    page.wait_for_function(
        "(" + RANGES + ")(document.querySelector('.st-key-error .fs-chart'))[0][0] === 0"
    )


def test_T_can_be_clicked_and_dragged_in_the_figure(visit: Callable[..., Page]):
    page = visit(REWARD)
    wait_until_drawn(page, "error")
    chart, T = figure(page, "error"), slider(page, "Periods frozen T")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.3})
    expect(T).not_to_have_value("12")
    clicked = int(T.input_value())
    page.wait_for_function(
        "T => document.querySelector('.st-key-error .fs-chart').layout.shapes"
        ".find((shape) => shape.name === 'handle').x0 === T",
        arg=clicked,
    )
    at = chart.evaluate(HANDLE)
    drag(page, chart, (at, 0.5), (at + 0.2, 0.5))
    expect(T).not_to_have_value(str(clicked))
    assert int(T.input_value()) > clicked


def test_an_example_is_one_step_in_the_browsers_history(visit: Callable[..., Page]):
    page = visit("/Bounds?T=30&gamma=0.8&Lr=2.0&LU=3.0")
    wait_until_drawn(page, "error")
    before = page.evaluate("history.length")
    page.locator(".st-key-load-reward-error-large").get_by_role("button").click()
    total = reward_error(PRESETS["reward-error-large"].constants, 30).total
    expect(metric(page, "Reward error")).to_have_text(number(total))
    expect(page).to_have_url(in_url("Lf", "1.05"))
    expect(page).not_to_have_url(re.compile("Lr="))
    assert page.evaluate("history.length") <= before + 1


def test_figure_and_data_can_be_exported(visit: Callable[..., Page], tmp_path: Path):
    page = visit(REWARD)
    wait_until_drawn(page, "error")
    chart = figure(page, "error")
    chart.hover()
    sizes = {}
    for kind in ("PNG", "SVG"):
        with page.expect_download() as download:
            chart.get_by_role("button", name=f"Download {kind}").click()
        sizes[download.value.suggested_filename] = download.value.path().stat().st_size
    export = page.locator(".st-key-export-reward-error")
    export.get_by_role("button", name=EXPORT).click()
    for label in ("Data, CSV", "Data, JSON", "Figure, HTML"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
        sizes[download.value.suggested_filename] = download.value.path().stat().st_size
    assert set(sizes) == {
        "fsdash-error.png",
        "fsdash-error.svg",
        "reward-error.csv",
        "reward-error.json",
        "reward-error.html",
    }
    assert min(sizes.values()) > 1000
    (row,) = [r for r in json.loads((tmp_path / "reward-error.json").read_text()) if r["T"] == 12]
    assert row["reward_error"] == reward_error(CALM, 12).total


def test_features_move_the_bound(visit: Callable[..., Page]):
    page = visit(LINEAR)
    wait_until_drawn(page, *CHARTS[LINEAR])
    slider(page, "Amplification κ").press("ArrowRight")
    constants = PRESETS["three-regimes"].constants
    bound = fsavi_bound(constants, 6, k=20, kappa=1.025, eps_low=0.05, eps_up=0.2)
    expect(metric(page, "Proven bound")).to_have_text(number(bound.total))
    page.reload()
    wait_until_drawn(page, *CHARTS[LINEAR])
    expect(metric(page, "Proven bound")).to_have_text(number(bound.total))


@pytest.mark.parametrize("key", CHARTS[LINEAR])
def test_the_toolbar_leaves_the_legend_free(visit: Callable[..., Page], key):
    page = visit(LINEAR)
    wait_until_drawn(page, *CHARTS[LINEAR])
    figure(page, key).hover()
    bar = figure(page, key).locator(".modebar").bounding_box()
    legend = figure(page, key).locator(".legend").first.bounding_box()
    assert bar["y"] > legend["y"] + legend["height"]


def test_plotly_is_loaded_once_for_all_charts_and_tabs(visit: Callable[..., Page]):
    page = visit(REWARD)
    wait_until_drawn(page, *CHARTS[REWARD])
    page.get_by_role("tab", name="Linear architecture").click()
    wait_until_drawn(page, *CHARTS[LINEAR])
    loaded = page.evaluate(
        "performance.getEntriesByType('resource').filter((e) => /plotly/.test(e.name)).length"
    )
    assert loaded == 1


@pytest.mark.long
@pytest.mark.parametrize("path", [REWARD, LINEAR])
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_screen_and_theme_fits(visit: Callable[..., Page], path, theme, size):
    page = visit(path, width=size[0], height=size[1], theme=theme)
    wait_until_drawn(page, *CHARTS[path])
    expect(figure(page, CHARTS[path][0])).to_have_attribute("aria-label", re.compile("T from 1 to"))
    assert_fits(page, theme)
    if size == NARROW:  # the figure comes before its controls, and both are as wide as the page
        chart, below = figure(page, CHARTS[path][0]), slider(page, "Periods frozen T")
        assert chart.bounding_box()["y"] < below.bounding_box()["y"]
        title = page.get_by_role("heading", level=1).bounding_box()
        assert chart.bounding_box()["width"] == pytest.approx(title["width"], abs=2)
