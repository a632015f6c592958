"""Every page passes axe, the accessibility checker, in Chromium: on a desktop and on a phone.

No finding from moderate on is left out, neither of our own code nor of Streamlit's widgets.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.widgets import exercise
from fsdash.runs.store.experiments import Store
from tests.dashboard.browser import NARROW, WIDE

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
STORY, TEACH = PAGES["story"], PAGES["teach"]
ADDRESSES = [
    *(page.address() if name != "home" else "" for name, page in PAGES.items()),
    PAGES["bounds"].address(tab="regret"),
    PAGES["bounds"].address(tab="linear"),
    PAGES["run_lab"].address(tab="stored"),
    PAGES["your_model"].address(example="company_inventory"),
    PAGES["inspector"].address(domain="inventory", method="fsvi", T=6, view="path"),
    TEACH.address(tab="class"),
    TEACH.address(view="sheet", solutions=1),
    PAGES["bounds"].address(T=23, tour="lecturer.3"),
    STORY.address(present=1, section=6),
    STORY.address(notes=1, section=6),
]
COMPLETE = """() => {
  const charts = [...document.querySelectorAll('.fs-chart')];
  const app = document.querySelector('[data-testid=stApp]');
  return document.querySelector('h1') && charts.every((node) => node.fsReady)
    && app?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid=stSkeleton]');
}"""
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""Options of axe: the theme changes nothing but the contrast."""


def findings(page: Page, theme: str) -> list[str]:
    """The findings except the minor ones: rule, element and remedy."""
    page.wait_for_function(COMPLETE)
    page.evaluate("() => document.fonts.ready.then(() => null)")
    return [
        f"{found['id']} at {element['html'][:200]}: {element['failureSummary']}"
        for found in Axe().run(page, options=RULES[theme]).response["violations"]
        if found["impact"] != "minor"
        for element in found["nodes"]
    ]


def unfold_exercises(page: Page) -> None:
    """Open the section with the exercises of the page, if it has one."""
    button = page.locator(".st-key-exercises").get_by_role("button")
    if button.count():
        button.click()
        page.get_by_text(exercise.HINT, exact=True).first.wait_for()


def class_addresses(data: Path) -> Iterator[str]:
    """The class page for a student and for a lecturer: a choice and a number."""
    tasks = Store(data / "runs.db").class_tasks
    for options in (("FSVI", "Rolling freeze"), ()):
        task, secret = tasks.add("choose_t", {"budget": "4"}, "Which one is best?", options)
        for n in range(3):
            tasks.answer(task.id, f"browser-{n}", n % 2)
        yield TEACH.address(tab="class", task=task.id)
        yield TEACH.address(tab="class", task=task.id, key=secret)


@pytest.mark.long
@pytest.mark.parametrize("theme", RULES)
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_no_page_has_a_finding(visit: Callable[..., Page], data: Path, size, theme: str):
    page = visit("/", *size, theme=theme)
    start, found = page.url, {}
    for address in [*ADDRESSES, *class_addresses(data)]:
        page.goto(start + address)
        page.wait_for_function(COMPLETE)
        unfold_exercises(page)
        if own := findings(page, theme):
            found[address] = own
    assert not found, "\n".join(f"{at}: {one}" for at, own in found.items() for one in own)


def test_home_has_no_finding_on_a_phone(visit: Callable[..., Page]):
    assert not findings(visit("/", *NARROW), "light")
