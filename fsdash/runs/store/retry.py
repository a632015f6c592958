"""Calling the store again while it is temporarily unavailable.

Another program may hold a lock, PostgreSQL may restart, the disk may be full. A worker waits for
the store instead of losing what it has computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from fsdash.runs.backoff import pauses
from fsdash.runs.errors import CorruptStore, StoreError

RETRY_SECONDS = 60.0
"""How long a worker waits for the store."""

T = TypeVar("T")


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
