"""The pages served by `streamlit run app.py`, without the server of `fsdash dashboard`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import assert_fits
from tests.dashboard.conftest import ROOT, free_port, wait_until_healthy

# One group, so that all browser tests share one worker's browser.
pytestmark = [pytest.mark.browser]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the pages; `visit` opens it instead of the shared server."""
    folder, port = tmp_path_factory.mktemp("streamlit"), free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "FSDASH_DATA": str(folder)}
    log = folder / "log.txt"
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(url, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def test_the_home_page_opens_in_its_theme(visit: Callable[..., Page]):
    page = visit("/", theme="dark")
    expect(page.locator(".fs-film .fs-sentence")).to_be_visible()
    assert_fits(page, "dark")


def test_a_page_loads_plotly_by_itself(visit: Callable[..., Page]):
    page = visit("/Bounds")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
