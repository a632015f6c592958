"""The optional password of a server: who gets in, and what a session is worth."""

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse

from fsdash.cli.main import main
from fsdash.dashboard import access
from fsdash.dashboard.access import (
    LOGIN_PATH,
    METRICS_PATH,
    OPERATOR,
    VISITOR,
    WAIT,
    WRONG,
    Access,
    role_of_token,
    session_token,
)
from fsdash.dashboard.visitors import is_operator, is_single_user
from fsdash.runs.limits import MAX_FAILURES


@pytest.fixture
def passwords(monkeypatch):
    monkeypatch.setenv("FSDASH_PASSWORD", "öpen sesame")
    monkeypatch.setenv("FSDASH_OPERATOR", "the operator's token")


class Server:
    """The application behind `Access`, as a browser sees it."""

    def __init__(self):
        self.app = Access(PlainTextResponse("a page"))

    def ask(self, path, kind="http", method="GET", body=b"", **headers):
        """The status, the headers and the body of a response; the messages of a websocket."""
        path, _, query = path.partition("?")
        raw = [(name.replace("_", "-").encode(), v.encode()) for name, v in headers.items()]
        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": raw,
            "client": ("192.0.2.1", 1),
            "scheme": "http",
        }
        sent = []

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self.app(scope, receive, send)).result()
        if kind == "websocket":
            return sent
        text = b"".join(message.get("body", b"") for message in sent).decode()
        return sent[0]["status"], Headers(raw=sent[0]["headers"]), text

    def log_in(self, password, next="/"):
        path = f"{LOGIN_PATH}?{urlencode({'next': next})}"
        return self.ask(path, method="POST", body=urlencode({"password": password}).encode())


@pytest.fixture
def server():
    return Server()


def test_without_a_password_everybody_gets_in(server):
    assert server.ask("/Run_lab")[2] == "a page"
    assert server.ask(LOGIN_PATH)[2] == "a page"  # Streamlit answers it as any other path


def test_a_page_asks_for_the_password_and_returns_to_where_the_visitor_was(server, passwords):
    status, headers, text = server.ask("/Run_lab?T=6&x=<b>", accept="text/html")
    assert status == 401 and 'type="password"' in text and "<b>" not in text
    assert headers["cache-control"] == "no-store"
    assert server.ask("/static/x.js")[0] == 401
    assert server.ask("/_stcore/health")[2] == "a page"
    assert server.ask("/_stcore/stream", "websocket") == [{"type": "websocket.close", "code": 1008}]
    status, headers, _ = server.log_in("öpen sesame", "/Run_lab?T=6")
    assert (status, headers["location"]) == (303, "/Run_lab?T=6")
    cookie = SimpleCookie(headers["set-cookie"])[access.COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "lax"
    session = f"{access.COOKIE}={cookie.value}"
    assert server.ask("/Run_lab", cookie=session)[2] == "a page"
    assert Server().ask("/Run_lab", cookie=session)[2] == "a page"  # after a restart
    assert role_of_token(cookie.value) == VISITOR


@pytest.mark.parametrize("target", ["//elsewhere.example/", "https://elsewhere.example", "/\\x"])
def test_the_login_leads_to_this_server_only(server, passwords, target):
    assert server.log_in("öpen sesame", target)[1]["location"] == "/"


def test_wrong_passwords_are_limited(server, passwords):
    for wrong in ["", "open sesame", "\ud800".encode(errors="replace"), "x" * 10_000]:
        status, _, text = server.log_in(wrong)
        assert status == 401 and WRONG in text
    for _ in range(MAX_FAILURES):
        server.log_in("wrong")
    status, _, text = server.log_in("öpen sesame")
    assert status == 429 and WAIT in text


def test_wrong_tokens_are_limited_too(server, passwords):
    for _ in range(MAX_FAILURES):
        assert server.ask(METRICS_PATH, authorization="Bearer wrong")[0] == 404
    assert server.ask(METRICS_PATH, authorization="Bearer the operator's token")[0] == 404
    assert server.log_in("öpen sesame")[0] == 429


def test_requests_that_arrive_together_do_not_get_more_attempts(passwords):
    """All requests are there before the body of the first one is."""
    app, all_here, statuses = Access(PlainTextResponse("a page")), asyncio.Event(), []

    async def log_in(n):
        async def receive():
            if n == 3 * MAX_FAILURES:
                all_here.set()
            await all_here.wait()
            return {"type": "http.request", "body": b"password=wrong", "more_body": False}

        async def send(message):
            statuses.append(message.get("status"))

        scope = {"type": "http", "method": "POST", "path": LOGIN_PATH, "query_string": b""}
        await app(scope | {"headers": [], "client": ("192.0.2.1", 1)}, receive, send)

    async def log_in_together():
        await asyncio.gather(*(log_in(n) for n in range(3 * MAX_FAILURES + 1)))

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, log_in_together()).result()
    assert statuses.count(401) == MAX_FAILURES


@pytest.mark.parametrize(
    ("forwarded", "secure"), [("https", True), ("https, http", True), ("http,https", False)]
)
def test_the_cookie_is_for_encrypted_connections_if_the_visitors_is(forwarded, secure):
    connection = HTTPConnection(
        {"type": "http", "scheme": "http", "headers": [(b"x-forwarded-proto", forwarded.encode())]}
    )
    assert access.is_https(connection) is secure


def test_metrics_are_for_the_operator(server, passwords, monkeypatch):
    visitor, operator = (session_token(r, int(time.time()) + 60) for r in (VISITOR, OPERATOR))
    assert server.ask(METRICS_PATH)[0] == 404
    assert server.ask(METRICS_PATH, cookie=f"{access.COOKIE}={visitor}")[0] == 404
    assert server.ask(METRICS_PATH, cookie=f"{access.COOKIE}={operator}")[0] == 200
    assert server.ask(METRICS_PATH, authorization="Bearer the operator's token")[0] == 200
    assert server.ask(METRICS_PATH, authorization="Bearer öpen sesame".encode().decode("latin1"))
    monkeypatch.delenv("FSDASH_PASSWORD")
    assert server.ask(METRICS_PATH)[0] == 404
    assert server.ask("/")[2] == "a page"
    monkeypatch.delenv("FSDASH_OPERATOR")
    assert server.ask(METRICS_PATH)[0] == 404


def test_one_password_for_both_roles_is_refused(passwords, monkeypatch, capsys):
    monkeypatch.setenv("FSDASH_OPERATOR", "öpen sesame")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert main(["dashboard", "--port", str(port), "--no-browser"]) == 2
    assert "are the same" in capsys.readouterr().err


def test_a_server_with_a_password_has_no_single_user(monkeypatch):
    """It may be behind a proxy that does not say for whom it asks."""
    monkeypatch.setattr("streamlit.get_option", lambda name: "127.0.0.1")
    context = SimpleNamespace(headers={}, cookies={})
    monkeypatch.setattr("streamlit.context", context)
    assert is_single_user() and is_operator()
    context.headers["X-Forwarded-For"] = "192.0.2.1"
    assert not is_single_user()
    context.headers.clear()
    for name in ("FSDASH_PASSWORD", "FSDASH_OPERATOR"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "secret")
            assert not is_single_user() and not is_operator()
    monkeypatch.setenv("FSDASH_OPERATOR", "secret")
    context.cookies[access.COOKIE] = session_token(OPERATOR, int(time.time()) + 60)
    assert is_operator()


def test_sessions_cannot_be_forged_and_end(passwords, monkeypatch):
    end = int(time.time()) + 60
    good = session_token(VISITOR, end)
    assert role_of_token(good) == VISITOR
    signature = good.rpartition(".")[2]
    for bad in (
        "",
        "visitor",
        f"operator.{end}.{signature}",
        f"visitor.{end + 1}.{signature}",
        f"visitor.{end}.",
        f"visitor.{end}.\udcff",
        f"visitor.{'9' * 5000}.{signature}",
        f"visitor.²{end}.{signature}",
        session_token(VISITOR, int(time.time()) - 1),
    ):
        assert role_of_token(bad) == ""
    monkeypatch.setenv("FSDASH_PASSWORD", "another one")
    assert role_of_token(good) == ""
    monkeypatch.delenv("FSDASH_PASSWORD")
    assert role_of_token(good) == ""
