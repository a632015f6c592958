"""A real server on a free port and a real Chromium for the browser tests."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

ROOT = Path(__file__).parents[2]
# Seconds. A server whose kernels are not compiled yet compiles them first.
START_TIMEOUT = 600
# Milliseconds. A busy machine draws slowly. A long limit costs a fast machine nothing.
BROWSER_TIMEOUT = 60_000
expect.set_options(timeout=BROWSER_TIMEOUT)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(url: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return
        except OSError:
            # The server's exit is noticed at once, and a refused connection costs nothing.
            try:
                server.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
    pytest.fail(f"The server did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the server stores its runs; tests may add some."""
    return tmp_path_factory.mktemp("data")


@contextmanager
def running_server(folder: Path, **variables: str) -> Iterator[str]:
    """A dashboard with these environment variables: its URL. Its log is in the folder."""
    port, log = free_port(), folder / "log.txt"
    command = [sys.executable, "-m", "fsdash", "dashboard", "--port", str(port)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path}
    environment.pop("FSDASH_DATABASE_URL", None)
    environment |= variables
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(url, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="session")
def server(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a running dashboard."""
    with running_server(tmp_path_factory.mktemp("server"), FSDASH_DATA=str(data)) as url:
        yield url


@pytest.fixture
def visit(chromium: Browser, server: str) -> Iterator[Callable[..., Page]]:
    """Open a page; at the end its console must be clean and all its requests local."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []
    own = urlsplit(server).netloc

    def check_request(request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != own:
            complaints.append(f"request to another host: {request.url}")

    def check_message(message) -> None:
        # Streamlit first looks for its server below the URL of the page. It continues when it finds
        # nothing there, but the browser logs an error.
        probing = "404" in message.text and "/_stcore/" in message.location["url"]
        if message.type == "error" and not probing:
            complaints.append(f"{message.text} {message.location['url']}")

    def open_page(
        path: str = "/",
        width: int = 1440,
        height: int = 900,
        theme: str = "light",
        touch: bool = False,
    ):
        size = {"width": width, "height": height}
        context = chromium.new_context(viewport=size, color_scheme=theme, has_touch=touch)
        context.set_default_timeout(BROWSER_TIMEOUT)
        contexts.append(context)
        page = context.new_page()
        page.on("request", check_request)
        page.on("console", check_message)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(server + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
