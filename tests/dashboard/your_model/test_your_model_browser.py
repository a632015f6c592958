"""From a file to a policy file in a real Chromium, with a mouse and by touch."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from fsdash.algorithms.optimum import optimum
from fsdash.dashboard.your_model import text
from fsdash.domains.saved import domain_name
from fsdash.formatting import number
from fsdash.models.files import load
from fsdash.models.policy import load_policy
from tests.dashboard.browser import (
    NARROW,
    SCREENS,
    assert_fits,
    in_url,
    metric,
    wait_until_drawn,
)
from tests.saved_models import shop_frame

pytestmark = [pytest.mark.browser]
PATH = "/Your_model"
GAMMA = 0.95


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with an error: one probability is rounded."""
    frame = shop_frame(cost=True)
    frame["p"] = frame["p"].replace({0.1: 0.0999})
    path = tmp_path / "corner shop.csv"
    frame.to_csv(path, index=False)
    return path


def button(page: Page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def drop(page: Page, path: Path) -> None:
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_test_id("stFileChipName")).to_have_text(path.name)


def give_gamma(page: Page) -> None:
    field = page.get_by_role("spinbutton", name="Discount factor γ")
    field.fill(str(GAMMA))
    field.press("Enter")


def test_a_file_becomes_a_policy_file_with_the_mouse(visit: Callable[..., Page], table, tmp_path):
    page = visit(PATH)
    drop(page, table)
    expect(page.get_by_text("errors.")).to_be_visible()
    expect(button(page, "Save and solve")).to_have_count(0)
    page.get_by_text(text.RESCALE, exact=True).click()
    expect(page.get_by_text(text.NO_GAMMA)).to_be_visible()
    expect(button(page, "Save and solve")).to_have_count(0)
    give_gamma(page)
    button(page, "Save and solve").click()
    model = load(table, gamma=GAMMA, normalize=True)
    expect(page).to_have_url(in_url("model", domain_name(model)))
    cost = -model.mean(optimum(model).U_XY)
    expect(metric(page, text.MEAN["min"])).to_have_text(number(cost))
    with page.expect_download() as download:
        button(page, "Policy, CSV").click()
    assert download.value.suggested_filename == "corner-shop-policy.csv"
    download.value.save_as(tmp_path / "policy.csv")
    policy, best = load_policy(tmp_path / "policy.csv"), model.policy(optimum(model))
    for season in ("calm", "busy"):
        for stock in range(4):
            assert policy((season, stock)) == best((season, stock))

    page.reload()
    expect(metric(page, text.MEAN["min"])).to_have_text(number(cost))
    page.get_by_role("tab", name=text.TABS["regret"]).click()
    wait_until_drawn(page, "regret-over-T")
    address = page.url
    page.get_by_role("link", name="Inspect the policy").click()
    wait_until_drawn(page, "policy-actions")
    page.goto(address)
    page.get_by_role("link", name="Run in the lab").click()
    expect(page.get_by_test_id("stButtonGroup").get_by_text("corner shop")).to_be_visible()
    expect(page).to_have_url(in_url("domain", domain_name(model)))


def test_an_example_becomes_a_policy_file_by_touch(visit: Callable[..., Page]):
    page = visit(PATH, *NARROW, touch=True)
    button(page, text.example_label("maintenance")).tap()
    expect(page).to_have_url(in_url("example", "maintenance"))
    button(page, "Save and solve").tap()
    with page.expect_download() as download:
        button(page, "Policy, JSON").tap()
    assert load_policy(download.value.path().rename(download.value.path().with_suffix(".json")))


def test_gamma_comes_from_a_yearly_rate(visit: Callable[..., Page], tmp_path):
    page = visit(PATH)
    path = tmp_path / "shop.csv"
    shop_frame().to_csv(path, index=False)
    drop(page, path)
    button(page, "From a yearly rate").click()
    rate = page.get_by_role("spinbutton", name="Yearly interest rate, %")
    use = button(page, text.use_gamma(1.08 ** (-1 / 365)))
    for _ in range(5):  # a busy server may draw the popover once more and empty the field
        rate.fill("8")
        rate.press("Enter")
        with suppress(TimeoutError):
            use.wait_for(timeout=10_000)
            break
    use.click()
    expect(rate).to_have_count(0)  # the helper closes
    expect(page.get_by_role("spinbutton", name="Discount factor γ")).to_have_value("0.999789")
    expect(button(page, "Save and solve")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_step_fits_on_every_screen(visit: Callable[..., Page], table, size, theme):
    page = visit(PATH, *size, theme)
    expect(page.get_by_text(text.UPLOAD)).to_be_visible()
    assert_fits(page, theme)
    drop(page, table)
    expect(page.get_by_text(text.RESCALE, exact=True)).to_be_visible()
    assert_fits(page, theme)
    page.get_by_text(text.RESCALE, exact=True).click()
    give_gamma(page)
    expect(button(page, "Save and solve")).to_be_visible()
    assert_fits(page, theme)
