"""Settings for all tests."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from fsdash import compilation
from tools.browser import REMEDY, find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--metrics-recording-only",
]

# The same examples on every machine, and no time limit for a single example.
settings.register_profile("fsdash", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("fsdash")


RUN_AGAIN = ("browser", "processes", "services")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A failed test of a browser or of processes is run once more; the summary lists it as RERUN.

    A busy machine can stop a process for seconds, and the test then times out. A test that is
    listed twice has a fault, or shows one.
    """
    for item in items:
        if any(item.get_closest_marker(name) for name in RUN_AGAIN):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session", autouse=True)
def no_compilation_in_advance() -> Iterator[None]:
    """Commands run in a test compile only the kernels that they call, without a message.

    `make test` compiles all of them before it starts.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilation, "ensure_compiled", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_data_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs and saved models of whoever runs the tests are neither read nor changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSDASH_DATA", str(tmp_path_factory.mktemp("user")))
        yield


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """Undo what Streamlit's AppTest leaves behind: a page's script as the module `__main__`.

    Worker processes of a later test would run that script when they start.
    """
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """A browser, or a failure that says how to get one: browser tests are never skipped.

    There is one for all tests of a process, because Playwright can run only once in it.
    """
    from playwright.sync_api import sync_playwright

    path = find_browser()
    if path is None:
        pytest.fail(REMEDY)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*QUIET, *sandbox])
        yield browser
        browser.close()
