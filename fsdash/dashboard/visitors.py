"""Who a visitor is, and what they may change.

A visitor is identified by a random word in a cookie, or by the session where cookies are blocked.
The server sets the cookie; under `streamlit run`, which has no such server, the page does.
On a server that listens on this computer only, and has no password, the single user may change
every experiment. On a shared server everybody sees all experiments and changes only their own.
"""

from __future__ import annotations

import os
import re
import secrets
from typing import TYPE_CHECKING

import streamlit as st

from fsdash.dashboard import access

if TYPE_CHECKING:  # the server starts without waiting for the library
    from fsdash.runs.records import Experiment
    from fsdash.runs.store.models import SavedModelRecord

COOKIE, COOKIE_SECONDS = "fsdash_visitor", 365 * 24 * 3600
VISITOR_ID = re.compile(r"[0-9a-f]{20}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def new_visitor_id() -> str:
    """A random word that matches `VISITOR_ID`."""
    return secrets.token_hex(10)


def visitor_cookie(visitor: str) -> str:
    """The cookie of a visitor, as the header Set-Cookie and a script write it."""
    return f"{COOKIE}={visitor}; Path=/; Max-Age={COOKIE_SECONDS}; SameSite=Lax"


def visitor_id() -> str:
    """A random word for this visitor, the same in all tabs and after a reload."""
    visitor = dict(st.context.cookies).get(COOKIE, "")
    if VISITOR_ID.fullmatch(visitor):
        return visitor
    visitor = st.session_state.setdefault("fsdash-visitor", new_visitor_id())
    # Streamlit reads cookies when a connection opens: the next one will find it above.
    st.sidebar.html(
        f'<script>if (!document.cookie.split("; ").some((part) => part.startsWith("{COOKIE}=")))'
        f' document.cookie = "{visitor_cookie(visitor)}";</script>',
        unsafe_allow_javascript=True,
    )
    return visitor


def network_address() -> str:
    """The visitor's address on the network; empty on this computer.

    A proxy on this computer forwards it. Of several, only the last one was added by that proxy;
    visitors can invent the others.
    """
    forwarded = st.context.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return st.context.ip_address or forwarded[:100]


def may_change(owned: Experiment | SavedModelRecord, visitor: str) -> bool:
    """Whether this visitor may stop, rename or delete the experiment or the saved model."""
    return owned.owner == visitor or is_operator()


def is_operator() -> bool:
    """Whether this visitor may do what affects everybody, such as replacing a damaged store."""
    token = dict(st.context.cookies).get(access.COOKIE, "")
    return is_single_user() or access.role_of_token(token) == access.OPERATOR


def is_single_user() -> bool:
    """Whether the server is for one person: on this computer only, without a password."""
    # A proxy may forward others' requests without saying so; a password shows that others exist.
    if any(map(os.environ.get, access.VARIABLES.values())):
        return False
    address = st.get_option("server.address")
    return address in LOOPBACK and "X-Forwarded-For" not in st.context.headers
