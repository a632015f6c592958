"""What all visitors of one server share: the store, the manager, and cached rows and figures.

store = open_store()        # pages that only read or rename experiments
service = open_service()    # pages that also run them: starts the worker processes once
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import pandas as pd
import streamlit as st
from cachetools import LRUCache

from fsdash.dashboard.refresh import RefreshRate
from fsdash.dashboard.visitors import is_operator, is_single_user, visitor_id
from fsdash.domains import DOMAINS, domain_label
from fsdash.errors import InputError
from fsdash.formatting import as_sentence
from fsdash.runs.errors import CorruptStore, StoreError
from fsdash.runs.records import Experiment
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.database import default_url
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.models import SavedModelRecord

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

SET_ASIDE = "Rename the damaged file and start a new store"
NEW_STORE = "A new store was created. The damaged file was renamed to `{}`."
ASK_OPERATOR = "Only the person who runs this server can replace the damaged file."

T = TypeVar("T")
_RECOVERY_MESSAGE = "fsdash-recovery-message"


class VersionedCache:
    """Results by key, each for one version of the data; the ones used longest ago are dropped."""

    def __init__(self, most: int) -> None:
        self._entries: LRUCache[object, tuple[object, object]] = LRUCache(most)
        self._lock = threading.Lock()

    def __contains__(self, entry: tuple[object, object]) -> bool:
        """Whether the result of (key, version) is here."""
        key, version = entry
        with self._lock:
            return key in self._entries and self._entries[key][0] == version

    def get(self, key: object, version: object, make: Callable[[], T]) -> T:
        """The result of `make()`, computed once per version of `key`."""
        with self._lock:
            entry = self._entries.get(key)
        if entry is None or entry[0] != version:
            entry = version, make()
            with self._lock:
                self._entries[key] = entry
        return cast(T, entry[1])


@dataclass
class ExperimentRows:
    """The rows of one experiment so far; `version` changes whenever there are more."""

    frame: pd.DataFrame
    counts: dict[tuple[int, int], int] = field(default_factory=dict)
    """By (run, replication): how many rows were read."""

    @property
    def version(self) -> int:
        return len(self.frame)

    def with_more(self, new: pd.DataFrame) -> ExperimentRows:
        """These rows and new ones, in order."""
        frame = pd.concat([self.frame, new]) if self.version else new
        frame = frame.sort_values(["run", "replication", "step"], ignore_index=True)
        counts = dict(self.counts)
        for key in zip(new["run"].tolist(), new["replication"].tolist(), strict=True):
            counts[key] = counts.get(key, 0) + 1
        return ExperimentRows(frame, counts)


class Service:
    """The store, the manager, and what pages cache for all visitors."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.manager = Manager(store)
        self.refresh_rate = RefreshRate()
        self.results = VersionedCache(MAX_CACHED)
        self.scores = VersionedCache(MAX_SCORES)
        """By run: what the table of runs shows."""
        self._rows: LRUCache[str, ExperimentRows] = LRUCache(
            MAX_CACHED_ROWS, getsizeof=lambda rows: min(rows.version, MAX_CACHED_ROWS)
        )
        self._no_rows = store.rows([])
        self._lock = threading.Lock()

    def rows(self, experiment: Experiment) -> ExperimentRows:
        """All rows that the experiment's record counts; only new ones are read from the store."""
        counts = {(run.id, r.index): r.rows for run in experiment.runs for r in run.replications}
        with self._lock:
            rows = self._rows.get(experiment.id) or ExperimentRows(self._no_rows)
            if any(count > rows.counts.get(key, 0) for key, count in counts.items()):
                new = self.store.rows([run.id for run in experiment.runs], rows.counts)
                rows = self._rows[experiment.id] = rows.with_more(new)
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


# --------------------------------------------------------------------------- one of each per server


@st.cache_resource(show_spinner=False, on_release=Store.close)
def _store(url: str) -> Store:
    return Store(url, PAGE_LOCK_TIMEOUT)


@st.cache_resource(show_spinner="Starting the workers …", on_release=Service.close)
def _service(url: str) -> Service:
    service = Service(_store(url))
    # All imports are done and stay in memory. Scanning them for garbage again and again would
    # delay every visitor by a tenth of a second each time. What many visitors look at is scanned
    # less often than by default, for the same reason.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 5, 5)
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
        _draw_try_again()
        st.stop()
    if problem := service.manager.problem:
        st.warning(
            f"{as_sentence(problem)} Runs continue automatically as soon as this is resolved."
        )
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
        _draw_try_again()


def _draw_try_again() -> None:
    st.button("Try again", key="try-again", type="primary")


def _recover() -> None:
    """Rename the damaged file. Stores that are open notice it and open the new one."""
    if not is_operator():
        return
    try:
        store, renamed = Store.recover(default_url())
    except (InputError, StoreError, OSError) as error:
        st.session_state[_RECOVERY_MESSAGE] = f"The damaged file could not be renamed: {error}"
        return
    store.close()
    st.session_state[_RECOVERY_MESSAGE] = NEW_STORE.format(renamed)


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
