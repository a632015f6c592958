"""Trying again: to start a worker, to reach a cluster, to use the store.

Another program may hold a lock of the store, PostgreSQL may restart, the disk may be full. A worker
waits for the store instead of losing what it has computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from fsdash.runs.errors import CorruptStore, StoreError

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between two attempts; the pause doubles."""
RETRY_SECONDS = 60.0
"""How long a worker waits for the store."""

T = TypeVar("T")


def pauses() -> Iterator[float]:
    """The seconds to wait after the first failure, the second one, and so on without end.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(pauses(), 7))
    [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    """
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)


def patiently(call: Callable[[bool], T]) -> T:
    """The result of `call(again)`, which is repeated while the store cannot be used.

    `again` is True from the second attempt on: the first may have succeeded although its answer
    was lost. A damaged store is not tried again.
    """
    deadline, again = time.monotonic() + RETRY_SECONDS, False
    for pause in pauses():
        try:
            return call(again)
        except StoreError as error:
            if isinstance(error, CorruptStore) or time.monotonic() + pause > deadline:
                raise
        time.sleep(pause)
        again = True
    raise AssertionError("the pauses have no end")
