"""One store and one manager for the whole server, and who is visiting it.

The manager starts with the first visit of a page that needs it and has its workers ready from then
on. What is read again and again while runs go on, their rows, is kept here once for all visitors.

A visitor is known by a cookie of our own, a random word that stands for nothing else; without
cookies by the session. On a server for this computer alone there is only one person, who may change
everything; on a shared one everybody sees all experiments and changes their own.
"""

from __future__ import annotations

import gc
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pandas as pd
import streamlit as st

from fsdash.dashboard.curves.refresh_rate import RefreshRate
from fsdash.runs.errors import CorruptStore, StoreError
from fsdash.runs.records import Experiment
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.database import default_url
from fsdash.runs.store.experiments import Store

COOKIE = "fsdash_visitor"
WORD = re.compile(r"[0-9a-f]{20}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PAGE_LOCK_TIMEOUT = 4.0
"""Seconds that a page waits for a store that another program holds; workers wait longer."""
AT_ONCE = 0.5
"""Seconds that a start waits for its first rows."""
REMEMBERED = 64
"""Experiments whose rows, and figures that, are kept in memory: more than a class looks at."""
T = TypeVar("T")
_SAID = "fsdash-store-said"

_SET_COOKIE = """<script>
if (!document.cookie.split("; ").some((part) => part.startsWith("NAME=")))
  document.cookie = "NAME=WORD; path=/; max-age=31536000; SameSite=Lax";
</script>""".replace("NAME", COOKIE)


@dataclass
class Rows:
    """The rows of one experiment so far; `version` changes whenever there are more."""

    frame: pd.DataFrame
    seen: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def version(self) -> int:
        return len(self.frame)


class Service:
    """What the pages share."""

    def __init__(self, url: str) -> None:
        self.store = Store(url, PAGE_LOCK_TIMEOUT)
        self.manager = Manager(self.store)
        self._rows: OrderedDict[str, Rows] = OrderedDict()
        self._made: OrderedDict[object, tuple[object, object]] = OrderedDict()
        self.pace = RefreshRate()
        self._lock = threading.Lock()

    def rows(self, experiment: Experiment) -> Rows:
        """All rows that an experiment had when it was looked up; only those are read that are new.

        The record says how many there are, so where there are none the store is not asked.
        """
        counts = {(run.id, r.index): r.rows for run in experiment.runs for r in run.replications}
        with self._lock:
            known = self._rows.pop(experiment.id, None) or Rows(self.store.rows([]))
            if any(count > known.seen.get(key, 0) for key, count in counts.items()):
                new = self.store.rows([run.id for run in experiment.runs], known.seen)
                frame = pd.concat([known.frame, new]) if known.version else new
                frame = frame.sort_values(["run", "replication", "step"], ignore_index=True)
                counts = frame.groupby(["run", "replication"]).size()
                known = Rows(frame, {key: int(n) for key, n in counts.items()})
            self._rows[experiment.id] = known
            while len(self._rows) > REMEMBERED:
                self._rows.popitem(last=False)
        return known

    def just_started(self, id: str) -> Experiment:
        """The experiment, with its first rows if they come at once.

        Warm workers need a tenth of a second for them, less than another look would take. If all
        are busy, nobody waits here.
        """
        began = time.monotonic()
        while True:
            experiment, waited = self.store.experiment(id), time.monotonic() - began
            if any(run.rows for run in experiment.runs) or not experiment.active:
                return experiment
            if waited > (AT_ONCE if experiment.status == "running" else AT_ONCE / 4):
                return experiment
            time.sleep(0.02)

    def remembered(self, key: object, version: object, make: Callable[[], T]) -> T:
        """What `make` gives, made once for a version of what the key names; older ones go."""
        with self._lock:
            if key in self._made and self._made[key][0] == version:
                self._made.move_to_end(key)
                return self._made[key][1]
        made = make()
        with self._lock:
            self._made[key] = version, made
            while len(self._made) > REMEMBERED:
                self._made.popitem(last=False)
        return made

    def close(self) -> None:
        self.manager.close()
        self.store.close()


@st.cache_resource(show_spinner="Starting the workers …", on_release=Service.close)
def _service(url: str) -> Service:
    service = Service(url)
    # Everything is imported by now, and stays. To look through it for garbage again and again would
    # hold up all visitors by a tenth of a second each time.
    gc.collect()
    gc.freeze()
    return service


def open_service() -> Service:
    """The server's own store and manager; if they cannot be had, say why and end the page."""
    try:
        service = _service(default_url())
    except StoreError as error:
        show_store_trouble(error)
        st.stop()
    show_recovery()
    if service.manager.trouble:
        st.warning(f"{sentence(service.manager.trouble)} Runs go on as soon as it can be used.")
    return service


def show_recovery() -> None:
    """Where a damaged file went, on the page that is drawn next."""
    if said := st.session_state.pop(_SAID, None):
        st.success(said)


def show_store_trouble(error: StoreError) -> None:
    """What is wrong with the store, and a way on."""
    if said := st.session_state.pop(_SAID, None):
        st.warning(said)
    st.error(sentence(error), icon=":material/database_off:")
    if isinstance(error, CorruptStore):
        st.button(
            "Set the damaged file aside and start a new one",
            key="recover",
            type="primary",
            on_click=_recover,
        )
    else:
        st.button("Try again", key="try-again", type="primary")


def _recover() -> None:
    try:
        store, aside = Store.recover(default_url())
    except (StoreError, OSError) as error:
        st.session_state[_SAID] = f"The damaged file could not be renamed: {error}"
        return
    store.close()
    st.session_state[_SAID] = f"A new store was begun. The damaged file is kept as `{aside}`."


def sentence(text: object) -> str:
    """A message of ours as a sentence; a name at its beginning stays as it is."""
    text = str(text).strip().rstrip(".")
    named = re.match(r"\S+( =|:)", text)
    return f"{text if named else text[:1].upper() + text[1:]}."


# ----------------------------------------------------------------------------------------- visitor


def visitor() -> str:
    """A word for this visitor, the same in all tabs and after a reload."""
    found = dict(st.context.cookies).get(COOKIE, "")
    if WORD.fullmatch(found):
        return found
    word = st.session_state.setdefault("fsdash-visitor", secrets.token_hex(10))
    # Streamlit reads cookies when a connection opens: from the next one on it is found above.
    st.sidebar.html(_SET_COOKIE.replace("WORD", word), unsafe_allow_javascript=True)
    return word


def may_change(experiment: Experiment, me: str) -> bool:
    """Whether this visitor may stop, rename or delete it."""
    return experiment.owner == me or alone()


def alone() -> bool:
    """Whether the server is for this computer, hence for one person."""
    address = st.get_option("server.address")
    return address in LOOPBACK and "X-Forwarded-For" not in st.context.headers
