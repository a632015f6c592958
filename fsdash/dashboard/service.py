"""What all visitors of one server share: the store, the manager, and cached rows and figures.

    store = open_store()        # pages that only read or rename experiments
    service = open_service()    # pages that also run them: starts the worker processes once

A visitor is identified by a random word in a cookie, or by the session where cookies are blocked.
The server sets the cookie; under `streamlit run`, which has no such server, the page does.
On a server that listens on this computer only, and has no password, the single user may change
every experiment. On a shared server everybody sees all experiments and changes only their own.
"""

from __future__ import annotations

import gc
import os
import re
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

import streamlit as st

from fsdash.dashboard import access
from fsdash.domains import DOMAINS, domain_label
from fsdash.errors import InputError
from fsdash.runs.errors import CorruptStore, StoreError
from fsdash.runs.records import Experiment
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.database import default_url
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.models import SavedModelRecord
from fsdash.runs.store.queries import ExperimentRows

COOKIE = "fsdash_visitor"
VISITOR_ID = re.compile(r"[0-9a-f]{20}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PAGE_LOCK_TIMEOUT = 4.0
"""Seconds that a page waits for a locked store; workers wait longer."""
FIRST_ROWS_TIMEOUT = 0.5
"""Seconds that the click on Start waits for the first rows."""
MAX_CACHED = 160
"""Experiments whose figures stay in memory: more than a class has open at the same time."""
MAX_CACHED_ROWS = 80_000
"""Rows of experiments that stay in memory: as many as 160 quick looks have, 20 MB."""
MAX_SCORES = 5_000
"""Runs whose scores stay in memory, some kilobytes each."""
FASTEST_REFRESH, SLOWEST_REFRESH = 1.0, 30.0
"""Seconds between two refreshes of one visitor's page."""
REFRESH_SHARE = 0.1
"""Share of one core for all refreshes. Streamlit adds about as much again, which is not timed."""
TURN_TIMEOUT = 60.0
"""Seconds after which a refresh starts although the previous one has not ended."""
SHORT_SLEEP, LATE, LONGEST_PAUSE = 0.005, 0.01, 2.0
"""Seconds of a sleep that shows how busy the server is, of its delay if so, and of all such sleeps
of a refresh if no other one waits."""
INACTIVE_AFTER = 2 * SLOWEST_REFRESH
"""Seconds without a refresh before a viewer counts as inactive."""

COLLECT_AFTER = (50_000, 5, 5)
"""Thresholds of Python's garbage collection (`gc.set_threshold`)."""

STARTING = "Starting the workers …"
TRY_AGAIN = "Try again"
SET_ASIDE = "Rename the damaged file and start a new store"
NEW_STORE = "A new store was created. The damaged file was renamed to `{}`."
NOT_RENAMED = "The damaged file could not be renamed: {}"
ASK_OPERATOR = "Only the person who runs this server can replace the damaged file."
RUNS_CONTINUE = "Runs continue automatically as soon as this is resolved."

T = TypeVar("T")
_RECOVERY_MESSAGE = "fsdash-recovery-message"
_SET_COOKIE = """<script>
if (!document.cookie.split("; ").some((part) => part.startsWith("NAME=")))
  document.cookie = "NAME=WORD; path=/; max-age=31536000; SameSite=Lax";
</script>""".replace("NAME", COOKIE)


class RefreshRate:
    """How often pages refresh what is running: once a second, less often with many viewers.

    All refreshes happen in the process that also answers every widget. Each one is timed, and the
    interval grows so that together they take at most `REFRESH_SHARE` of one core. They also take
    turns: a widget competes with one refresh for the interpreter, not with one per viewer. Whoever
    has not seen any numbers yet comes first; the others let widgets go first for a while.
    """

    def __init__(self) -> None:
        self._latest: dict[object, tuple[float, float]] = {}
        """By viewer: when the last refresh ended and the processor time it took."""
        self._lock, self._busy = threading.Lock(), False
        self._waiting: tuple[deque[threading.Event], deque[threading.Event]] = deque(), deque()
        """Those without numbers, and the others. Each is woken alone when it has its turn."""

    @contextmanager
    def refresh(self, viewer: object, first: bool = False) -> Iterator[None]:
        """Wait for a turn, at most `TURN_TIMEOUT` (the store may hang), and time the refresh."""
        has_turn = self._take_turn(first)
        if not first:
            let_widgets_go_first(LONGEST_PAUSE / (1 + len(self._waiting[1])))
        began = time.thread_time()
        try:
            yield
        finally:
            cost = time.thread_time() - began
            with self._lock:
                self._latest[viewer] = time.monotonic(), cost
                if has_turn:
                    self._pass_turn()

    def _take_turn(self, first: bool) -> bool:
        with self._lock:
            if not self._busy:
                self._busy = True
                return True
            mine, queue = threading.Event(), self._waiting[0 if first else 1]
            queue.append(mine)
        if mine.wait(TURN_TIMEOUT):
            return True
        with self._lock:
            if mine.is_set():
                return True
            queue.remove(mine)
            return False

    def _pass_turn(self) -> None:
        queue = next(filter(None, self._waiting), None)
        self._busy = queue is not None
        if queue:
            queue.popleft().set()

    def interval(self) -> float:
        """Seconds between two refreshes of one visitor's page."""
        oldest = time.monotonic() - INACTIVE_AFTER
        with self._lock:
            self._latest = {v: entry for v, entry in self._latest.items() if entry[0] > oldest}
            cost = sum(cost for _, cost in self._latest.values())
        return min(max(cost / REFRESH_SHARE, FASTEST_REFRESH), SLOWEST_REFRESH)


def let_widgets_go_first(seconds: float) -> None:
    """Wait while many threads compete for the interpreter, at most this many seconds.

    If they do, a short sleep ends late.
    """
    end = time.monotonic() + seconds
    late = True
    while late and (began := time.monotonic()) < end:
        time.sleep(SHORT_SLEEP)
        late = time.monotonic() - began > SHORT_SLEEP + LATE


class VersionedCache:
    """Results by key, each for one version of the data; the ones used longest ago are dropped."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._entries: OrderedDict[object, tuple[object, object]] = OrderedDict()

    def __contains__(self, entry: tuple[object, object]) -> bool:
        """Whether the result of (key, version) is here."""
        key, version = entry
        with self._lock:
            return key in self._entries and self._entries[key][0] == version

    def get(self, key: object, version: object, make: Callable[[], T]) -> T:
        """The result of `make()`, computed once per version of `key`."""
        with self._lock:
            if key in self._entries and self._entries[key][0] == version:
                self._entries.move_to_end(key)
                return cast(T, self._entries[key][1])
        made = make()
        with self._lock:
            self._entries[key] = version, made
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        return made


class Service:
    """The store, the manager, and what pages cache for all visitors."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.manager = Manager(store)
        self.refresh_rate = RefreshRate()
        self._rows: OrderedDict[str, ExperimentRows] = OrderedDict()
        self._no_rows = store.rows([])
        self.results = VersionedCache(MAX_CACHED)
        self.scores = VersionedCache(MAX_SCORES)
        """By run: what the table of runs shows."""
        self._lock = threading.Lock()

    def rows(self, experiment: Experiment) -> ExperimentRows:
        """All rows that the experiment's record counts; only new ones are read from the store."""
        counts = {(run.id, r.index): r.rows for run in experiment.runs for r in run.replications}
        with self._lock:
            rows = self._rows.pop(experiment.id, None) or ExperimentRows(self._no_rows)
            if any(count > rows.counts.get(key, 0) for key, count in counts.items()):
                new = self.store.rows([run.id for run in experiment.runs], rows.counts)
                rows = rows.with_more(new)
            self._rows[experiment.id] = rows
            kept = sum(other.version for other in self._rows.values())
            while kept > MAX_CACHED_ROWS and len(self._rows) > 1:
                kept -= self._rows.popitem(last=False)[1].version
        return rows

    def wait_for_first_rows(self, id: str) -> Experiment:
        """A new experiment, with its first rows if they arrive within `FIRST_ROWS_TIMEOUT`.

        Warm workers need a tenth of a second, less than the next refresh would. While all workers
        are busy the wait is a quarter as long.
        """
        began = time.monotonic()
        while True:
            experiment, waited = self.store.experiment(id), time.monotonic() - began
            if any(run.rows for run in experiment.runs) or not experiment.active:
                return experiment
            running = experiment.status == "running"
            if waited > (FIRST_ROWS_TIMEOUT if running else FIRST_ROWS_TIMEOUT / 4):
                return experiment
            time.sleep(0.02)

    def close(self) -> None:
        self.manager.close()


# ----------------------------------------------------------------------------- one of each a server


@st.cache_resource(show_spinner=False, on_release=Store.close)
def _store(url: str) -> Store:
    return Store(url, PAGE_LOCK_TIMEOUT)


@st.cache_resource(show_spinner=STARTING, on_release=Service.close)
def _service(url: str) -> Service:
    service = Service(_store(url))
    # All imports are done and stay in memory. Scanning them for garbage again and again would
    # delay every visitor by a tenth of a second each time. What many visitors look at is scanned
    # less often than by default, for the same reason.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    return service


def open_store() -> Store:
    """The server's one store, without starting workers.

    If it cannot be opened, explain why and end the page.
    """
    try:
        store = _store(default_url())
    except StoreError as error:
        show_store_error(error)
        st.stop()
    if message := st.session_state.pop(_RECOVERY_MESSAGE, None):
        st.success(message)
    return store


def store_if_available() -> Store | None:
    """The server's store; None if it cannot be opened, for pages that can do without it."""
    try:
        return _store(default_url())
    except StoreError:
        return None


def close_service() -> None:
    """Stop the workers and close the store, when the server stops."""
    _service.clear()
    _store.clear()


def open_service() -> Service:
    """The server's store and manager; if they cannot start, explain why and end the page."""
    open_store()
    try:
        service = _service(default_url())
    except StoreError as error:
        show_store_error(error)
        st.stop()
    except InputError as error:  # the workers cannot be used: a cluster is down
        st.error(as_sentence(error))
        st.button(TRY_AGAIN, key="try-again", type="primary")
        st.stop()
    if problem := service.manager.problem:
        st.warning(f"{as_sentence(problem)} {RUNS_CONTINUE}")
    return service


def show_store_error(error: StoreError) -> None:
    """What is wrong with the store, and a button that helps."""
    if message := st.session_state.pop(_RECOVERY_MESSAGE, None):
        st.warning(message)
    st.error(as_sentence(error), icon=":material/database_off:")
    if isinstance(error, CorruptStore) and not is_operator():
        st.markdown(ASK_OPERATOR)
    elif isinstance(error, CorruptStore):
        st.button(SET_ASIDE, key="recover", type="primary", on_click=_recover)
    else:
        st.button(TRY_AGAIN, key="try-again", type="primary")


def _recover() -> None:
    """Rename the damaged file. Stores that are open notice it and open the new one."""
    if not is_operator():
        return
    try:
        store, renamed = Store.recover(default_url())
    except (InputError, StoreError, OSError) as error:
        st.session_state[_RECOVERY_MESSAGE] = NOT_RENAMED.format(error)
        return
    store.close()
    st.session_state[_RECOVERY_MESSAGE] = NEW_STORE.format(renamed)


def as_sentence(message: object) -> str:
    """A message with a capital and a full stop; a leading `name =` or `name:` stays as it is."""
    text = str(message).strip().rstrip(".")
    starts_with_name = re.match(r"\S+( =|:)", text)
    return f"{text if starts_with_name else text[:1].upper() + text[1:]}."


# ---------------------------------------------------------------------------------------- domains


def saved_models(store: Store) -> list[SavedModelRecord]:
    """The models that this visitor may use: their own, and all of them for a single user."""
    owner = None if is_single_user() else visitor_id()
    return _saved_models(store, id(store), store.models.version, owner)


@st.cache_data(ttl=120, max_entries=1000, show_spinner=False)
def _saved_models(
    _store: Store, id: int, version: int, owner: str | None
) -> list[SavedModelRecord]:
    """Other servers' changes appear within two minutes, this server's at once."""
    return _store.models.list(owner)


def domain_labels(store: Store | None, chosen: str | None = None) -> dict[str, str]:
    """The domains that a page offers, with their labels: registered ones, then saved models.

    The chosen one is among them, even if it is another visitor's model.
    """
    labels = {name: domain_label(name) for name in DOMAINS}
    taken = {label.lower() for label in labels.values()}
    for saved in [] if store is None else saved_models(store):
        same = saved.name.lower() in taken
        labels[saved.domain] = f"{saved.name} (saved)" if same else saved.name
    if chosen is not None and chosen not in labels:
        labels[chosen] = domain_label(chosen)
    return labels


# ----------------------------------------------------------------------------------------- visitor


def visitor_id() -> str:
    """A random word for this visitor, the same in all tabs and after a reload."""
    found = dict(st.context.cookies).get(COOKIE, "")
    if VISITOR_ID.fullmatch(found):
        return found
    word = st.session_state.setdefault("fsdash-visitor", secrets.token_hex(10))
    # Streamlit reads cookies when a connection opens: the next one will find it above.
    st.sidebar.html(_SET_COOKIE.replace("WORD", word), unsafe_allow_javascript=True)
    return word


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
