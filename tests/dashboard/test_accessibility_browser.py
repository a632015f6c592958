"""Every page has no serious or critical finding of axe, the accessibility checker, in Chromium.

No finding is left out, neither of our own code nor of Streamlit's widgets.
"""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from fsdash.dashboard.navigation import PAGES

# One group, so that all tests here share one worker's server and browser.
pytestmark = [pytest.mark.browser]
STORY = PAGES["story"]
ADDRESSES = [
    *(page.address() for page in PAGES.values()),
    PAGES["choose_t"].address(by="theory"),
    PAGES["exercises"].address(view="sheet"),
    PAGES["reward_error"].address(T=23, tour="lecturer.3"),
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
    """The serious and critical findings: rule, element and remedy."""
    return [
        f"{found['id']} at {element['html'][:200]}: {element['failureSummary']}"
        for found in Axe().run(page, options=RULES[theme]).response["violations"]
        if found["impact"] in ("serious", "critical")
        for element in found["nodes"]
    ]


@pytest.mark.long
@pytest.mark.parametrize("theme", RULES)
def test_no_page_has_a_serious_finding(visit: Callable[..., Page], theme: str):
    page = visit("/", theme=theme)
    start, serious = page.url, {}
    for address in ADDRESSES:
        page.goto(start + (address if address != "app" else ""))
        page.wait_for_function(COMPLETE)
        page.evaluate("() => document.fonts.ready.then(() => null)")
        if found := findings(page, theme):
            serious[address] = found
    assert not serious, "\n".join(f"{at}: {one}" for at, found in serious.items() for one in found)
