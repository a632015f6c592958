"""A computation that a visitor waits for and can stop.

Streamlit handles no click on a widget of a fragment while that fragment runs. So a long computation
runs in its own thread, and a small fragment checks it twice a second: it draws the progress
and the button *Stop*, and runs the page again at the end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from typing import Any, Generic, TypeVar

import streamlit as st

Result = TypeVar("Result")
Compute = Callable[[Callable[[float], None]], Result]
"""Computes a result, and calls the function that it is given with the share that is done."""

FIRST_WAIT = 2.5
"""Seconds that the page itself waits; most computations end within them."""
INTERVAL = 0.5
ABANDONED_AFTER = 180.0
"""Seconds without a check of the progress after which a visitor counts as gone, for example because
a tab was closed. Browsers let a hidden tab check about once a minute."""
MOST_ENDED = 16
STOP = "Stop"
VISITOR = "waiting-visitor"


class Stopped(Exception):
    """Nobody waits for the computation any more."""


class Work(Generic[Result]):
    """A computation in a thread. It ends at its next step if nobody waits for it any more."""

    def __init__(self, compute: Compute[Result]) -> None:
        self.began = self.seen = time.monotonic()
        self.share, self.stopped = 0.0, False
        self.visitors: set[object] = set()
        self.future: Future[Result] = Future()
        self._compute = compute
        threading.Thread(target=self._run, name="computation", daemon=True).start()

    @property
    def failed(self) -> bool:
        """Whether it was stopped or has raised an error."""
        return self.stopped or (self.future.done() and self.future.exception() is not None)

    def _run(self) -> None:
        try:
            self.future.set_result(self._compute(self._advance))
        except BaseException as error:  # raised again in the page
            self.future.set_exception(error)

    def _advance(self, share: float) -> None:
        self.share = min(share, 1.0)
        if self.stopped or time.monotonic() - self.seen > ABANDONED_AFTER:
            raise Stopped


class WorkList:
    """Computations under way and some that have ended. Visitors who ask for the same share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: dict[Hashable, Work[Any]] = {}

    def join(self, key: Hashable, compute: Compute[Result], visitor: object) -> Work[Result]:
        """Wait for a computation; it begins now unless it is known and went well."""
        with self._lock:
            work = self._work.get(key)
            if work is None or work.failed:
                ended = [old for old, work in self._work.items() if work.future.done()]
                for old in ended[: max(0, len(ended) - MOST_ENDED)]:
                    del self._work[old]
                work = self._work[key] = Work(compute)
            work.visitors.add(visitor)
            work.seen = time.monotonic()
        return work

    def leave(self, work: Work[Any], visitor: object) -> None:
        """Wait no longer; the computation is stopped if nobody else waits."""
        with self._lock:
            work.visitors.discard(visitor)
            work.stopped = not work.visitors


def wait_for(
    key: Hashable, compute: Compute[Result], label: str, on_stop: Callable[[], object]
) -> Result | None:
    """The result of a computation, or None while it is under way: then its progress is drawn.

    The page calls this again with the same key when it runs again. `on_stop` sees to it that it
    does not do so after the visitor has stopped the computation.
    """
    works, visitor = _works(), st.session_state.setdefault(VISITOR, object())
    work, place = works.join(key, compute, visitor), st.empty()
    while not work.future.done() and time.monotonic() < work.began + FIRST_WAIT:
        place.progress(work.share, label)
        wait([work.future], timeout=INTERVAL / 2)
    if not work.future.done():
        with place.container():
            _watch(work, label, lambda: (works.leave(work, visitor), on_stop()))
        return None
    place.empty()
    return work.future.result()


@st.cache_resource(show_spinner=False)
def _works() -> WorkList:
    return WorkList()


@st.fragment(run_every=INTERVAL)
def _watch(work: Work[Any], label: str, stop: Callable[[], object]) -> None:
    """The progress of a computation; a full run of the page follows its end."""
    work.seen = time.monotonic()
    if work.future.done():
        st.rerun()
    st.progress(work.share, label)
    if st.button(STOP, icon=":material/stop:", key=f"stop {label}", on_click=stop):
        st.rerun()
