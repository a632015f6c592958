"""A class of 30 browsers answers one task while the lecturer watches."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.browser import SCREENS, assert_fits, figure, wait_until_drawn
from tests.dashboard.conftest import BROWSER_TIMEOUT

pytestmark = [pytest.mark.browser]
CLASS, AT_ONCE = 30, 6
"""Browsers, and how many of them have the page open at the same time."""
OPTIONS = ("FSVI", "Rolling freeze", "MPI")
BAR_VALUES = "node => [...node.data[0].x]"


def create_task(lecturer: Page) -> str:
    """Fill in the form; return the link for the class."""
    for label, content in (
        ("Link to the page", "Choose_T?budget=4"),
        ("Question", "Which method is best?"),
        ("Answers to choose from, one per line", "\n".join(OPTIONS)),
    ):
        lecturer.get_by_role("textbox", name=label, exact=True).fill(content)
    lecturer.get_by_role("button", name="Create the task").click()
    expect(lecturer.get_by_role("heading", name="Which method is best?")).to_be_visible()
    return lecturer.get_by_test_id("stCode").locator("code").inner_text().strip()


def student_page(chromium: Browser, link: str) -> Page:
    """The task in a browser of its own, without what it does not need: charts and fonts."""
    context = chromium.new_context(viewport={"width": 390, "height": 700}, reduced_motion="reduce")
    context.set_default_timeout(BROWSER_TIMEOUT)
    for unused in ("**/plotly*", "**/*.woff2"):
        context.route(unused, lambda route: route.abort())
    page = context.new_page()
    page.goto(link, wait_until="commit")
    return page


def answer(student: Page, option: str) -> None:
    student.get_by_text(option, exact=True).click()
    send = student.get_by_role("button", name="Send", exact=True)
    expect(send).to_be_enabled()
    send.click()
    expect(student.get_by_text("has arrived")).to_contain_text(option)


@pytest.mark.long
def test_30_browsers_answer_and_the_lecturer_sees_the_bars_grow(
    visit: Callable[..., Page], chromium: Browser
):
    lecturer = visit("/Teach?tab=class")
    link = create_task(lecturer)
    expect(lecturer.get_by_text("0 answers", exact=True)).to_be_visible()
    for first in range(0, CLASS, AT_ONCE):
        students = [student_page(chromium, link) for _ in range(AT_ONCE)]
        for n, student in enumerate(students, first):
            answer(student, OPTIONS[n % 3 if n % 2 else 1])
        for student in students[: -1 if first + AT_ONCE == CLASS else None]:
            student.context.close()
    given = [n % 3 if n % 2 else 1 for n in range(CLASS)]
    expect(lecturer.get_by_text(f"{CLASS} answers", exact=True)).to_be_visible()
    wait_until_drawn(lecturer, "class-answers")
    bars = [given.count(option) for option in range(3)]
    lecturer.wait_for_function(
        "bars => document.querySelector('.st-key-class-answers .fs-chart')?.data?.[0].x"
        ".join() === bars",
        arg=",".join(map(str, bars)),
    )
    assert figure(lecturer, "class-answers").evaluate(BAR_VALUES) == bars
    # A browser that answers again replaces its answer, also after a reload.
    again = students[-1]
    again.reload()
    expect(again.get_by_text("has arrived")).to_contain_text(OPTIONS[given[-1]])
    again.get_by_text(OPTIONS[0], exact=True).click()
    again.get_by_role("button", name="Change my answer").click()
    expect(again.get_by_text("has arrived")).to_contain_text(OPTIONS[0])
    expect(lecturer.get_by_text(f"{CLASS} answers", exact=True)).to_be_visible()
    again.context.close()


@pytest.mark.long
@pytest.mark.parametrize(("size", "theme"), SCREENS)
def test_every_screen_and_theme_fits(visit: Callable[..., Page], theme, size):
    page = visit("/Teach?tab=class", width=size[0], height=size[1], theme=theme)
    create_task(page)
    expect(page.get_by_text("0 answers", exact=True)).to_be_visible()
    wait_until_drawn(page, "class-answers")
    assert_fits(page, theme)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open Choose T in a new tab").click()
    expect(opened.value.get_by_role("heading", name="Rolling freeze")).to_be_visible()
