"""The dashboard's server: its messages about addresses, its settings and its responses."""

import asyncio
import gzip
import re
import socket
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

import plotly
import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse
from streamlit import net_util

from fsdash.cli.main import main
from fsdash.dashboard.server import (
    HEADERS,
    PLOTLY_FILE,
    PLOTLY_NAME,
    PLOTLY_TAG,
    PageHeaders,
    PlotlyFile,
    announcement,
    app_folder,
    can_open_browser,
    port_problem,
    reachable_addresses,
    settings,
)
from fsdash.dashboard.visitors import VISITOR_ID


@pytest.fixture
def port_in_use():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_the_message_about_a_port_in_use_suggests_the_next_port(port_in_use):
    message = port_problem("127.0.0.1", port_in_use)
    assert f"--port {port_in_use + 1}" in message and f"PORT={port_in_use + 1}" in message


def test_the_command_exits_with_2_when_the_port_is_in_use(port_in_use, capsys):
    assert main(["dashboard", "--port", str(port_in_use)]) == 2
    assert f"port {port_in_use} is in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "port"), [("192.0.2.7", 8501), ("127.0.0.1", 99999), ("ä" * 100, 8501)]
)
def test_the_message_names_an_unusable_host_or_port(host, port):
    assert str(port if port > 65535 else host) in port_problem(host, port)


def test_a_free_port_has_no_problem():
    assert port_problem("127.0.0.1", 0) is None


def test_a_data_folder_that_cannot_be_created_is_an_input_error(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["dashboard", "--data", str(tmp_path / "file" / "runs")]) == 2
    assert "--data" in capsys.readouterr().err


def test_the_announcement_for_the_network_shows_addresses_that_can_be_opened():
    text = announcement("0.0.0.0", 9000, ["10.1.2.3"])
    assert "http://127.0.0.1:9000" in text and "http://10.1.2.3:9000" in text
    assert "0.0.0.0" not in text


def test_an_ipv6_address_is_in_brackets():
    assert "http://[::1]:9000" in announcement("::1", 9000, ["::1"])


def test_reachable_addresses_are_never_the_loopback():
    assert not any(address.startswith("127.") for address in reachable_addresses())


def test_streamlit_still_has_the_function_that_the_server_replaces():
    assert callable(net_util.get_external_ip)


def test_no_browser_is_opened_without_a_terminal_or_a_display(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert not can_open_browser()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not can_open_browser()
    monkeypatch.setenv("DISPLAY", ":0")
    assert can_open_browser()


def test_every_setting_of_the_configuration_file_is_passed_to_streamlit():
    file = tomllib.loads((app_folder() / ".streamlit" / "config.toml").read_text())
    options = settings()
    assert options["server.maxUploadSize"] == file["server"]["maxUploadSize"]
    assert options["theme.dark.primaryColor"] == file["theme"]["dark"]["primaryColor"]
    for name in options:
        st.get_option(name)  # raises if Streamlit does not know it


@pytest.mark.processes
def test_the_dashboard_does_not_need_to_be_imported_for_the_command_line():
    code = "import sys, fsdash.cli.main; sys.exit('streamlit' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ------------------------------------------------------------------------------ ASGI parts

PAGE = b"<html><head><title>Streamlit</title></head><body></body></html>"


async def streamlit_page(scope, receive, send):
    """A page as Streamlit sends it: compressed, except the home page."""
    if scope["path"] == "/text":
        await PlainTextResponse("</head>")(scope, receive, send)
    elif scope["path"] == "/":
        await HTMLResponse(PAGE)(scope, receive, send)
    else:
        headers = {"Content-Encoding": "gzip", "ETag": "1"}
        await HTMLResponse(gzip.compress(PAGE), headers=headers)(scope, receive, send)


def get(path: str, encoding: str = "identity", cookie: str = "") -> tuple[Headers, bytes]:
    """The headers and the body of a response."""
    messages = []

    async def send(message):
        messages.append(message)

    headers = [(b"accept-encoding", encoding.encode()), (b"cookie", cookie.encode())]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
    # In a thread of its own: the browser tests of this process keep an event loop running.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(
            asyncio.run, PageHeaders(PlotlyFile(streamlit_page))(scope, None, send)
        ).result()
    body = b"".join(message.get("body", b"") for message in messages)
    return Headers(raw=messages[0]["headers"]), body


@pytest.mark.parametrize("path", ["/", "/Choose_T", "/text", f"/{PLOTLY_NAME}"])
def test_every_response_has_the_security_headers(path):
    found, _ = get(path)
    assert {name: found[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("path", ["/", "/Choose_T"])
def test_a_page_loads_plotly_in_its_head(path):
    headers, body = get(path)
    assert body == PAGE.replace(b"</head>", PLOTLY_TAG.encode() + b"</head>")
    assert int(headers["Content-Length"]) == len(body)
    assert "ETag" not in headers and "Content-Encoding" not in headers


def test_a_visitor_gets_a_cookie_that_scripts_cannot_read():
    cookie = get("/")[0]["set-cookie"]
    word = re.match(r"fsdash_visitor=([0-9a-f]{20}); ", cookie)[1]
    assert VISITOR_ID.fullmatch(word)
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/;" in cookie
    assert "set-cookie" not in get("/text")[0]
    assert "set-cookie" not in get("/", cookie=f"fsdash_visitor={word}")[0]


def test_other_text_is_not_changed():
    assert get("/text")[1] == b"</head>"


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_plotly_is_sent_under_its_version_with_a_year_of_cache_time(encoding):
    headers, body = get(f"/base/{PLOTLY_NAME}", encoding)
    assert plotly.__version__ in PLOTLY_NAME
    assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert headers.get("Content-Encoding", "identity") == encoding
    content = gzip.decompress(body) if encoding == "gzip" else body
    assert content == PLOTLY_FILE.read_bytes()
