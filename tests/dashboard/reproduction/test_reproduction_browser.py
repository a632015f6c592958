"""The Reproduction page in a real Chromium."""

from collections.abc import Callable

import pandas as pd
import pytest
from playwright.sync_api import expect

from fsdash.dashboard.reproduction import state as reproduction
from fsdash.reproduce.archive import archived_claims
from tests.dashboard.browser import SCREENS, assert_fits, in_url, wait_until_drawn

pytestmark = [pytest.mark.browser]


def test_a_claim_opens_with_its_rule_and_the_filter_is_in_the_url(visit: Callable):
    page = visit("/Reproduction")
    wait_until_drawn(page, "inventory", "reward-error-small")
    page.locator(".st-key-reproduction-part").get_by_text("Inventory control", exact=True).click()
    expect(page).to_have_url(in_url("part", "Inventory+control"))
    expect(page.locator(".st-key-reward-error-small")).to_have_count(0)
    claim = archived_claims().set_index("name").loc["inventory-agnostic"]
    page.get_by_text(claim["claim"]).click()
    expect(page.get_by_text(claim["rule"])).to_be_visible()


def test_a_claims_link_opens_it_alone_and_leads_back(visit: Callable):
    page = visit("/Reproduction?part=Gridworld")
    wait_until_drawn(page, "gridworld")
    claim = archived_claims().set_index("name").loc["gridworld-T3"]
    page.get_by_text(claim["claim"]).click()
    page.locator(".st-key-claim-gridworld-T3").get_by_text("Link to this claim").click()
    expect(page).to_have_url(in_url("claim", "gridworld-T3"))
    expect(page.get_by_text(claim["rule"])).to_be_visible()
    expect(page.locator("[class*=st-key-claim-]")).to_have_count(1)
    page.get_by_role("button", name="Show all claims").click()
    expect(page.locator(".st-key-claim-gridworld-T6")).to_be_visible()


def test_run_this_again_opens_the_lab_with_the_papers_plan(visit: Callable):
    page = visit("/Reproduction?part=Inventory+control")
    wait_until_drawn(page, "inventory")
    page.get_by_text("Run this again in the lab").click()
    expect(page).to_have_url(in_url("preset", "paper-inventory"))


def test_the_claims_can_be_downloaded(visit: Callable, tmp_path):
    page = visit("/Reproduction?part=Theory")
    wait_until_drawn(page, "reward-error-small")
    with page.expect_download() as download:
        page.get_by_role("button", name="Claims, CSV").click()
    path = tmp_path / "claims.csv"
    download.value.save_as(path)
    assert pd.read_csv(path)["name"].tolist() == reproduction.claims()["name"].tolist()


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_screen_and_theme_fits(visit: Callable, size, theme):
    page = visit("/Reproduction", *size, theme)
    wait_until_drawn(page, "inventory", "beyond-exact")
    assert_fits(page, theme)
