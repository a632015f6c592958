"""How often the pages of one server refresh what is running."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

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
