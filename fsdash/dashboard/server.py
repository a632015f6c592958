"""The dashboard's web server.

`fsdash dashboard` and `make run` call `serve`. It runs Streamlit's ASGI application (`st.App`) and
adds four things to it: response headers and cookies, an optional password (`access`), Plotly's
JavaScript with a long cache time, and a clean stop of the worker processes. The settings come from
`.streamlit/config.toml`, the file that `streamlit run app.py` reads as well. Neither this module
nor Streamlit, as started here, contacts another host.
"""

import asyncio
import errno
import gzip
import os
import socket
import sys
import threading
import tomllib
import webbrowser
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import plotly
import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util

from fsdash.compilation import ensure_compiled
from fsdash.dashboard.access import Access, check_secrets, is_https
from fsdash.dashboard.visitors import COOKIE, new_visitor_id, visitor_cookie
from fsdash.errors import InputError

EVERY_ADDRESS = ("0.0.0.0", "::")
# An address reserved for documentation. It selects a route; no packet is sent to it.
UNUSED_ADDRESS = ("192.0.2.1", 9)
PLOTLY_FILE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
PLOTLY_NAME = f"plotly-{plotly.__version__}.min.js"
# The address is relative, like those of Streamlit's own scripts. If the script cannot be loaded the
# element goes, and the first chart loads Plotly itself (see widgets/chart.js).
PLOTLY_TAG = (
    f'<script async id="fsdash-plotly" src="./{PLOTLY_NAME}" onerror="this.remove()"></script>'
)
CONTENT_POLICY = "; ".join(
    [
        "default-src 'self'",
        # Streamlit's page has inline scripts, and evaluates the scripts of components.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' blob: data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    ]
)
"""Nothing is loaded from another host, whatever a name, a note or a file contains."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": CONTENT_POLICY,
}
SWITCH_INTERVAL = 0.002
"""Seconds after which a Python thread lets another one run. The thread that talks to all browsers
waits so long for each page that is being computed, many times in one answer, so this is less than
Python's default of 0.005 s."""


def serve(host: str, port: int, open_browser: bool) -> None:
    """Check the address, print it, and serve the dashboard until the process is stopped."""
    problem = port_problem(host, port)
    if problem:
        raise InputError(problem)
    check_secrets()
    ensure_compiled()
    addresses = reachable_addresses() if host in EVERY_ADDRESS else [host]
    print(announcement(host, port, addresses), flush=True)
    # A visitor who uses a host name that Streamlit does not know makes it ask another host for this
    # machine's public address. The dashboard never needs it.
    net_util.get_external_ip = lambda: None
    sys.setswitchinterval(SWITCH_INTERVAL)
    script = app_folder() / "app.py"
    # Streamlit takes the folder of the launching script for the application's folder.
    sys.argv = [str(script)]
    application = st.App(
        script,
        middleware=[Middleware(PageHeaders), Middleware(Access), Middleware(PlotlyFile)],
        lifespan=_lifespan(_local_url(host, port) if open_browser else None),
    )
    options = {
        "server.address": host,
        "server.port": port,
        "browser.serverAddress": addresses[0] if addresses else "127.0.0.1",
        "logger.hideWelcomeMessage": True,
    }
    try:
        application.run(config=settings() | options)
    except KeyboardInterrupt:
        print("fsdash: stopped", flush=True)


def app_folder() -> Path:
    """The folder with app.py, pages/ and .streamlit/.

    An installed package has a copy in `fsdash/dashboard/app` (made by setup.py). In a checkout it
    is the top folder.
    """
    installed = Path(__file__).parent / "app"
    return installed if (installed / "app.py").exists() else Path(__file__).parents[2]


def settings() -> dict[str, object]:
    """The options in .streamlit/config.toml under their dotted names, such as `theme.base`.

    Streamlit finds that file by itself only when it is started in its folder.
    """
    text = (app_folder() / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    return _dotted(tomllib.loads(text))


def _dotted(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    options: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            options |= _dotted(value, f"{prefix}{name}.")
        else:
            options[prefix + name] = value
    return options


# ------------------------------------------------------------------------------ address and browser


def reachable_addresses() -> list[str]:
    """This machine's address on its network, or an empty list.

    Connecting a UDP socket only selects a route: no packet leaves the machine.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(UNUSED_ADDRESS)
        except OSError:
            return []
        address = probe.getsockname()[0]
    return [] if address.startswith(("127.", "0.")) else [address]


def port_problem(host: str, port: int) -> str | None:
    """Why the server cannot listen on this address, with the remedy; None if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        # Like the server itself: a port that was used a moment ago is free.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OverflowError:
            return f"{port} is not a port number: choose one from 1024 to 65535"
        except TypeError as error:  # no host can have this name
            return f"{host} is not an address of this machine ({error})"
        except PermissionError:
            return (
                f"port {port} needs administrator rights: choose a port above 1023, "
                "for example --port 8502"
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = port + 1
                return (
                    f"port {port} is in use, perhaps by another fsdash dashboard. Stop that one, "
                    f"or choose another port: --port {other} (make run PORT={other})"
                )
            return f"{host} is not an address of this machine ({error.strerror})"
    return None


def announcement(host: str, port: int, addresses: list[str]) -> str:
    """The lines printed before the server starts: where to open the dashboard."""
    lines = [f"fsdash: {_local_url(host, port)}    (Ctrl+C stops it)"]
    if host in EVERY_ADDRESS:
        lines += [f"From other machines: http://{address}:{port}" for address in addresses]
        if not addresses:
            lines.append("No network address was found: other machines cannot reach this one.")
    return "\n".join(lines)


def _local_url(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in EVERY_ADDRESS else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def can_open_browser() -> bool:
    """Whether a person is at a terminal on a machine with a screen."""
    if not sys.stdout.isatty():
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


# ------------------------------------------------------------------------------ ASGI parts


def _lifespan(url: str | None):
    """Open the browser at `url` when the server starts; stop the workers when it stops."""

    @asynccontextmanager
    async def run(_application: st.App) -> AsyncIterator[None]:
        if url is not None:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        await asyncio.to_thread(_compressed_plotly)
        yield
        # Imported here because it loads the library: the server starts without waiting for that.
        from fsdash.dashboard.service import close_service

        await asyncio.to_thread(close_service)

    return run


class PageHeaders:
    """Adds `HEADERS` to every response, and a visitor's cookie and Plotly's tag to every page.

    The tag makes the browser fetch Plotly together with Streamlit's own scripts instead of when the
    first chart appears, about a second later.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message | None = None  # an HTML page's first message, held until its body is known
        body = b""

        async def send_with_headers(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if _is_html_page(message["status"], headers):
                    if cookie := _visitor_cookie(scope):
                        headers.append("Set-Cookie", cookie)
                    start = message
                    return
            elif start is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                headers = MutableHeaders(raw=start["headers"])
                if headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                page = body.replace(b"</head>", PLOTLY_TAG.encode() + b"</head>", 1)
                headers["Content-Length"] = str(len(page))
                # The last two describe Streamlit's file, not the page with Plotly's version in it.
                for name in ("Content-Encoding", "ETag", "Last-Modified"):
                    del headers[name]
                await send(start)
                await send({"type": "http.response.body", "body": page})
                return
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _visitor_cookie(scope: Scope) -> str:
    """The cookie for a visitor who has none, which scripts in the page cannot read."""
    connection = HTTPConnection(scope)
    if COOKIE in connection.cookies:
        return ""
    secure = "; Secure" if is_https(connection) else ""
    return f"{visitor_cookie(new_visitor_id())}; HttpOnly{secure}"


def _is_html_page(status: int, headers: Headers) -> bool:
    return status == 200 and headers.get("Content-Type", "").startswith("text/html")


class PlotlyFile:
    """Answers requests for Plotly's JavaScript, compressed once, with a cache time of a year.

    A middleware rather than a route, because Streamlit's base path is not known when routes are
    declared.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].endswith(f"/{PLOTLY_NAME}"):
            await self.app(scope, receive, send)
            return
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable",
            "Vary": "Accept-Encoding",
        }
        if "gzip" in Headers(scope=scope).get("Accept-Encoding", ""):
            content = await asyncio.to_thread(_compressed_plotly)
            headers["Content-Encoding"] = "gzip"
        else:
            content = await asyncio.to_thread(PLOTLY_FILE.read_bytes)
        response = Response(content, headers=headers, media_type="text/javascript")
        await response(scope, receive, send)


@cache
def _compressed_plotly() -> bytes:
    return gzip.compress(PLOTLY_FILE.read_bytes(), compresslevel=9)
