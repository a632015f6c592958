"""Class, exercises and tours with the keyboard alone, in a real Chromium."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from fsdash.dashboard import tour as bar
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.widgets import exercise as widget
from fsdash.teaching.exercises import by_id
from fsdash.teaching.exercises.base import RIGHT
from fsdash.teaching.tours import Position
from tests.dashboard.browser import in_url

pytestmark = [pytest.mark.browser, pytest.mark.long]
MAX_TABS = 80
FOCUSED = """() => {
  const node = document.activeElement, label = node.closest('label');
  if (node.dataset.testid === 'stMain') return '';
  return [node.getAttribute('aria-label'), node.innerText, label?.innerText].join(' ');
}"""
IDLE = (
    "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
)


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with this name has the focus, when the page is at rest."""
    page.wait_for_function(IDLE)
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        if name in page.evaluate(FOCUSED):
            return
    pytest.fail(f"{name!r} cannot be reached with the Tab key")


def test_a_lecturer_creates_a_task_and_a_student_answers_it(visit: Callable[..., Page]):
    lecturer = visit(f"/{PAGES['teach'].address(tab='class')}")
    expect(lecturer.get_by_role("button", name="Create the task")).to_be_visible()
    for label, content in (
        ("Link to the page", "Story?section=3"),
        ("Question", "When does the shop order?"),
    ):
        tab_to(lecturer, label)
        if label == "Link to the page":
            lecturer.keyboard.press("Tab")  # from the help to the field
        lecturer.keyboard.type(content)
    tab_to(lecturer, "Answers to choose from")
    lecturer.keyboard.press("Tab")
    for option in ("Always", "Never"):
        lecturer.keyboard.type(option)
        lecturer.keyboard.press("Enter")
    tab_to(lecturer, "Create the task")
    lecturer.keyboard.press("Enter")
    expect(lecturer.get_by_text("0 answers", exact=True)).to_be_visible()
    link = lecturer.get_by_test_id("stCode").locator("code").inner_text().strip()
    student = lecturer.context.new_page()
    student.goto(link)
    expect(student.get_by_role("button", name="Send")).to_be_enabled()
    tab_to(student, "Always")
    student.keyboard.press("ArrowDown")
    expect(student.get_by_role("radio", name="Never")).to_be_checked()
    tab_to(student, "Send")
    student.keyboard.press("Enter")
    expect(student.get_by_text("has arrived")).to_contain_text("Never")
    expect(lecturer.get_by_text("1 answer", exact=True)).to_be_visible()


def test_an_exercise_is_solved_and_a_tour_goes_on(visit: Callable[..., Page]):
    page, exercise = visit(f"/{PAGES['teach'].address()}"), by_id("upper-discount")
    expect(page.get_by_text(exercise.title)).to_be_visible()
    tab_to(page, exercise.title)
    page.keyboard.press("Enter")
    expect(page.get_by_text(exercise.question)).to_be_visible()
    field = page.get_by_role("spinbutton", name=widget.YOUR_ANSWER)
    expect(field).to_be_visible()  # Streamlit loads the script of a first number field later
    tab_to(page, widget.YOUR_ANSWER)
    page.keyboard.type("0.941")
    expect(field).to_have_value("0.941")
    tab_to(page, widget.CHECK)
    page.keyboard.press("Enter")
    expect(page.get_by_text(RIGHT, exact=True)).to_be_visible()
    tab_to(page, widget.SOLUTION)
    page.keyboard.press("Space")
    expect(page.get_by_text(exercise.solution_text())).to_be_visible()
    first = Position("researcher", 1)
    page.goto(page.url.partition("Teach")[0] + PAGES["bounds"].address(tour=str(first)))
    expect(page.get_by_text(bar.place(first))).to_be_visible()
    tab_to(page, f"{bar.NEXT}: ")
    page.keyboard.press("Enter")
    expect(page).to_have_url(in_url("tour", str(first.moved(1))))
