"""The story in a real Chromium: the path of a reader, and the keys of a lecturer."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.story import numbers, text
from fsdash.dashboard.story.section_texts import SECTIONS
from fsdash.dashboard.widgets.glossary import SYMBOLS
from tests.dashboard.browser import NARROW, assert_fits, figure, in_url, slider, wait_until_drawn

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
PROJECTOR = (1024, 768)
STORY = PAGES["story"]
CHARTS = [f"story-{section.name}" for section in SECTIONS]
OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  return [main.scrollWidth - main.clientWidth, main.scrollHeight - main.clientHeight];
}"""


def title(page: Page, place: int) -> Locator:
    """The heading of a section, alone on a screen."""
    return page.get_by_role("heading", level=1, name=f"{place}. {SECTIONS[place - 1].title}")


def test_a_reader_comes_from_home_moves_a_figure_and_opens_an_answer(visit: Callable[..., Page]):
    page = visit("/")
    page.get_by_role("button", name="Read the story").click()
    expect(page.get_by_role("heading", name=text.TITLE)).to_be_visible()
    wait_until_drawn(page, *CHARTS)
    # By keyboard alone: a step of a slider changes the sentence, the figure and the address.
    before = figure(page, "story-lower").get_attribute("aria-label")
    slider(page, "Weeks to go n").press("ArrowRight")
    expect(page.get_by_text("With 5 weeks to go (")).to_be_visible()
    expect(figure(page, "story-lower")).not_to_have_attribute("aria-label", before or "")
    expect(page).to_have_url(in_url("togo", "5"))
    page.locator(".st-key-answer-lower").get_by_role("button").press("Enter")
    answer = text.fill(SECTIONS[2].answer, numbers.lower(5)).split(". ")[0]
    expect(page.get_by_text(answer)).to_be_visible()
    page.keyboard.press("Escape")
    # A symbol explains itself when it has the focus.
    symbol = page.locator(".fs-symbols abbr").first
    symbol.focus()
    tip = symbol.get_by_role("tooltip", include_hidden=True)
    expect(tip).to_have_css("clip-path", "none")
    expect(tip).to_have_text(SYMBOLS[SECTIONS[0].symbols[0]].meaning)
    page.reload()
    expect(page.get_by_text("With 5 weeks to go (")).to_be_visible()


def test_the_story_fits_on_a_phone_in_the_dark(visit: Callable[..., Page]):
    page = visit(f"/{STORY.address()}", *NARROW, theme="dark")
    wait_until_drawn(page, *CHARTS)
    assert_fits(page, "dark")
    # The first figure begins on the first screen; a figure has its controls below it.
    places = [figure(page, key).bounding_box() for key in CHARTS]
    assert places[0] and places[0]["y"] < NARROW[1] * 2 / 3
    moved = slider(page, "Random path").first.bounding_box()
    assert moved and 0 < moved["y"] - places[0]["y"] - places[0]["height"] < 200


def test_the_keys_of_a_lecturer_on_a_projector(visit: Callable[..., Page]):
    page = visit(f"/{STORY.address(present=1)}", *PROJECTOR)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    keys = ["ArrowRight", " ", "PageDown", "ArrowDown"]
    for place, section in enumerate(SECTIONS, 1):
        if place > 1:
            page.keyboard.press(keys[place % len(keys)])
            expect(page).to_have_url(in_url("section", str(place)))
        expect(title(page, place)).to_be_visible()
        wait_until_drawn(page, f"story-{section.name}")
        page.wait_for_function(f"() => ({OVERFLOW})().every((pixels) => pixels <= 0)")
        bar = page.locator(".fs-presenter").bounding_box()
        box = figure(page, f"story-{section.name}").bounding_box()
        assert bar and box and box["y"] + box["height"] <= bar["y"]
    page.keyboard.press("Home")
    expect(title(page, 1)).to_be_visible()
    expect(page).not_to_have_url(re.compile("section="))
    page.keyboard.press("End")
    expect(page).to_have_url(in_url("section", str(len(SECTIONS))))
    expect(title(page, len(SECTIONS))).to_be_visible()
    wait_until_drawn(page, f"story-{SECTIONS[-1].name}")
    page.keyboard.press("ArrowRight")  # there is nothing after the last section
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(in_url("section", str(len(SECTIONS) - 1)))
    expect(title(page, len(SECTIONS) - 1)).to_be_visible()
    wait_until_drawn(page, f"story-{SECTIONS[-2].name}")
    page.go_back()
    expect(title(page, len(SECTIONS))).to_be_visible()


def test_the_notes_follow_the_slides_and_a_control_keeps_its_keys(visit: Callable[..., Page]):
    slides = visit(f"/{STORY.address(present=1, section=3)}", *PROJECTOR)
    expect(title(slides, 3)).to_be_visible()
    notes = slides.context.new_page()
    notes.goto(re.sub(r"\?.*", f"?{STORY.address(notes=1, section=3).split('?')[1]}", slides.url))
    expect(title(notes, 3)).to_be_visible()
    expect(notes.get_by_role("timer")).to_have_text(re.compile(r"^\d+:\d\d / 13:00$"))
    slides.bring_to_front()
    slides.get_by_role("button", name=text.BAR["next"]).click()
    for page in (slides, notes):
        expect(title(page, 4)).to_be_visible()
    # Arrow keys on a slider that has the focus move the slider.
    slider(slides, "Upper iterations k").press("ArrowRight")
    expect(slides).to_have_url(in_url("k", "5"))
    expect(title(slides, 4)).to_be_visible()
    # The keys of a clicker change the section even there, and a control that was moved with the
    # mouse gives all keys back.
    slides.keyboard.press("PageDown")
    for page in (slides, notes):
        expect(title(page, 5)).to_be_visible()
    expect(slides).to_have_url(in_url("k", "5"))
    slider(slides, "Random path").locator("xpath=ancestor::*[@data-testid='stSlider']").click()
    expect(slides).to_have_url(re.compile(r"[?&]path=[2-8]"))
    slides.keyboard.press("ArrowRight")
    for page in (slides, notes):
        expect(title(page, 6)).to_be_visible()
    slides.keyboard.press("ArrowLeft")
    expect(title(slides, 5)).to_be_visible()
    slides.keyboard.press("Escape")
    expect(slides.get_by_role("heading", name=text.TITLE)).to_be_attached()
    expect(slides.get_by_role("heading", name=SECTIONS[4].title)).to_be_in_viewport()
    expect(slides).to_have_url(in_url("k", "5"))
