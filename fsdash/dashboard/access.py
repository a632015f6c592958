"""Who may use the server: an optional shared password, and an operator.

    FSDASH_PASSWORD   everybody has to give it once before they see any page
    FSDASH_OPERATOR   the operator gives it instead, on the same form (`/_fsdash/login`); the
                      operator may change every experiment and replace a damaged store

Whoever gives one of them gets a signed cookie, which scripts in the page cannot read. It survives a
reload and a restart of the server, and becomes invalid with the password. Wrong passwords are
limited for each address. The server's metrics are for the operator only, with or without a
password; a monitoring program sends the operator's token as `Authorization: Bearer …`.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import os
import time
from functools import lru_cache
from urllib.parse import parse_qs, urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from fsdash.errors import InputError
from fsdash.runs.limits import Failures

COOKIE = "fsdash_session"
LOGIN_PATH = "/_fsdash/login"
METRICS_PATH = "/_stcore/metrics"
OPEN_PATHS = ("/_stcore/health",)
"""Paths that need no password: whether the server is up."""
VISITOR, OPERATOR = "visitor", "operator"
VARIABLES = {VISITOR: "FSDASH_PASSWORD", OPERATOR: "FSDASH_OPERATOR"}
"""Environment variables with the passwords, by the role that they give."""
SESSION_SECONDS = 30 * 24 * 3600
MAX_FORM = 4_096
"""Bytes of a login form."""

WRONG, WAIT = "This password is not correct.", "Too many attempts. Wait a minute."
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>fsdash</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {font: 17px system-ui, sans-serif; max-width: 22rem; margin: 18vh auto; padding: 0 1rem;
  color-scheme: light dark;} input, button {font: inherit; width: 100%; box-sizing: border-box;
  padding: .5rem .7rem; margin: .4rem 0;} p {min-height: 1.5em;}</style></head>
<body><h1>❄️ fsdash</h1><form method="post" action="ACTION">
<label for="password">Password of this server</label>
<input id="password" name="password" type="password" autocomplete="current-password" autofocus>
<button>Continue</button><p role="alert">MESSAGE</p></form></body></html>"""


# ----------------------------------------------------------------------------------------- tokens


def secrets_by_role() -> dict[str, str]:
    """The passwords that are set, by the role that they give."""
    return {role: secret for role, name in VARIABLES.items() if (secret := os.environ.get(name))}


def check_secrets() -> None:
    """Refuse one password for both roles: everybody would be taken for a visitor."""
    passwords = secrets_by_role()
    if len(passwords) > len(set(passwords.values())):
        raise InputError(
            "FSDASH_PASSWORD and FSDASH_OPERATOR are the same; choose another one for the operator"
        )


def role_of_password(password: str) -> str:
    """The role that a password gives; empty if it is wrong."""
    typed = password.encode(errors="replace")
    for role, secret in secrets_by_role().items():
        if hmac.compare_digest(typed, secret.encode(errors="replace")):
            return role
    return ""


def session_token(role: str, expires: int) -> str:
    """The content of the cookie: role, end and signature."""
    return f"{role}.{expires}.{_signature(role, expires)}"


def role_of_token(token: str) -> str:
    """The role of a session; empty if the token is missing, forged, expired or withdrawn."""
    role, _, rest = token.partition(".")
    end, _, signature = rest.partition(".")
    if role not in secrets_by_role() or not (end.isascii() and end.isdigit() and len(end) < 12):
        return ""
    expected = _signature(role, int(end))
    signed = signature.encode(errors="replace")
    good = hmac.compare_digest(signed, expected.encode()) and int(end) > time.time()
    return role if good else ""


def _signature(role: str, expires: int) -> str:
    key = _key(secrets_by_role()[role])
    return hmac.new(key, f"{role}.{expires}".encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=8)
def _key(secret: str) -> bytes:
    """A key from a password, slow to compute so that it cannot be guessed from a cookie."""
    return hashlib.scrypt(secret.encode(errors="replace"), salt=b"fsdash", n=2**14, r=8, p=1)


# ------------------------------------------------------------------------------------- ASGI part


class Access:
    """Lets in visitors with a session, and shows all others the password form."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self._failures = app, Failures()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path, role = scope["path"], self._role(HTTPConnection(scope))
        is_http = scope["type"] == "http"
        if is_http and path.endswith(LOGIN_PATH) and secrets_by_role():
            response = await self._login(Request(scope, receive))
        elif is_http and path.endswith(METRICS_PATH) and role != OPERATOR:
            response = PlainTextResponse("Not found", 404)
        elif role or VISITOR not in secrets_by_role() or path.endswith(OPEN_PATHS):
            await self.app(scope, receive, send)
            return
        elif not is_http:
            await send({"type": "websocket.close", "code": 1008})
            return
        elif scope["method"] == "GET" and "text/html" in HTTPConnection(scope).headers.get(
            "accept", ""
        ):
            response = _form(_address_after_login(scope))
        else:
            response = PlainTextResponse("A password is needed", 401)
        await response(scope, receive, send)

    def _role(self, connection: HTTPConnection) -> str:
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return role_of_token(connection.cookies.get(COOKIE, ""))
        address = _address(connection)
        if self._failures.are_too_many(address):
            return ""
        if role_of_password(token) == OPERATOR:
            return OPERATOR
        self._failures.add(address)
        return ""

    async def _login(self, request: Request) -> Response:
        target = safe_target(request.query_params.get("next", "/"))
        if request.method != "POST":
            return _form(target)
        body, address = b"", _address(request)
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_FORM:
                return _form(target, WRONG)
        password = parse_qs(body.decode(errors="replace")).get("password", [""])[0]
        # Checked when the body has arrived: several requests may wait for theirs.
        if self._failures.are_too_many(address):
            return _form(target, WAIT, 429)
        role = role_of_password(password)
        if not role:
            self._failures.add(address)
            return _form(target, WRONG)
        response = RedirectResponse(target, 303)
        response.set_cookie(
            COOKIE,
            session_token(role, int(time.time()) + SESSION_SECONDS),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="lax",
            secure=is_https(request),
        )
        return response


def is_https(connection: HTTPConnection) -> bool:
    """Whether the visitor's connection is encrypted, even behind proxies.

    Of several, the outermost one comes first.
    """
    forwarded = connection.headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return "https" in (connection.scope.get("scheme"), forwarded)


def _address(connection: HTTPConnection) -> str:
    """The network address whose wrong passwords are counted."""
    return connection.client.host if connection.client else ""


def safe_target(target: str) -> str:
    r"""A path of this server to go to after the login.

    >>> safe_target("/Run_lab?T=6"), safe_target("//elsewhere.example"), safe_target("/\\x")
    ('/Run_lab?T=6', '/', '/')
    """
    good = target.startswith("/") and target[1:2] not in ("/", "\\") and target.isprintable()
    return target if good else "/"


def _address_after_login(scope: Scope) -> str:
    query = scope.get("query_string", b"").decode(errors="replace")
    return safe_target(scope["path"] + (f"?{query}" if query else ""))


def _form(target: str, message: str = "", status: int = 401) -> Response:
    action = html.escape(f"{LOGIN_PATH}?{urlencode({'next': target})}")
    page = PAGE.replace("ACTION", action).replace("MESSAGE", html.escape(message))
    return HTMLResponse(page, status, {"Cache-Control": "no-store"})
