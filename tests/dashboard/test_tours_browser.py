"""Every tour in a real Chromium, from the home page to its last stop and back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from fsdash.dashboard import tour as bar
from fsdash.teaching.tours import TOURS, Position
from tests.dashboard.browser import NARROW, WIDE, assert_fits, in_url

pytestmark = [pytest.mark.browser]


def expect_stop(page: Page, position: Position) -> None:
    expect(page).to_have_url(in_url("tour", str(position)))
    tour = page.locator(".st-key-tour")
    expect(tour.get_by_text(bar.place(position))).to_be_visible()
    expect(tour.get_by_text(position.stop.title, exact=True)).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.parametrize(("name", "size"), list(zip(TOURS, (WIDE, NARROW, WIDE), strict=True)))
def test_a_tour_leads_from_the_first_to_the_last_stop(visit: Callable[..., Page], name, size):
    page, tour = visit(width=size[0], height=size[1]), TOURS[name]
    page.get_by_role("link", name=f"{tour.audience}, {tour.minutes} minutes").click()
    position = Position(name, 1)
    while True:
        expect_stop(page, position)
        after = position.moved(1)
        if after is None:
            break
        page.get_by_role("link", name=f"{bar.NEXT}: {after.stop.title}").click()
        position = after
    expect(page.get_by_text(bar.LAST)).to_be_visible()
    page.get_by_role("link", name=bar.BACK, exact=True).click()
    expect_stop(page, position.moved(-1))
    assert_fits(page, "light")
    page.get_by_role("button", name=bar.END).click()
    expect(page.locator(".st-key-tour")).to_have_count(0)
    expect(page).not_to_have_url(in_url("tour", str(position.moved(-1))))
