"""How often pages look at what is under way: once a second, less often the fuller the room.

All looks happen in the one process that also answers every control. So each look is timed, and the
pace is such that the looks of all visitors together take no more than a fixed share of one core.
And they are taken one after the other: a control that is moved meanwhile shares the interpreter
with one look, not with as many as there are visitors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

FASTEST, SLOWEST = 1.0, 4.0
SHARE = 0.15
"""Of one core, for all looks; what Streamlit adds to each is not timed, and is about as much."""
TURN_TIMEOUT = 2.0
"""Seconds after which a look is taken although another one has not ended."""
RECENT = 10.0
"""Who has not looked for so many seconds is gone."""


class RefreshRate:
    """The looks of a whole server."""

    def __init__(self) -> None:
        self._looks: dict[object, tuple[float, float]] = {}
        """By who looks at what: when it last was, and the processor time that it took."""
        self._lock, self._turn = threading.Lock(), threading.Lock()

    @contextmanager
    def look(self, who: object) -> Iterator[None]:
        """Wait for one's turn, not for ever (a look may hang on the store), and time the look."""
        mine = self._turn.acquire(timeout=TURN_TIMEOUT)
        began = time.thread_time()
        try:
            yield
        finally:
            if mine:
                self._turn.release()
            with self._lock:
                self._looks[who] = time.monotonic(), time.thread_time() - began

    def seconds(self) -> float:
        """From one look of a visitor to the next."""
        gone = time.monotonic() - RECENT
        with self._lock:
            self._looks = {who: look for who, look in self._looks.items() if look[0] > gone}
            cost = sum(cost for _, cost in self._looks.values())
        return min(max(cost / SHARE, FASTEST), SLOWEST)


def near(one: float | None, other: float | None) -> bool:
    """Whether two paces are so alike that changing from one to the other is not worth a run."""
    if one is None or other is None:
        return one is other
    return 0.5 < one / other < 2
