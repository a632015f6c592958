"""Pauses between attempts: to start a worker, to reach a cluster, to use the store."""

from __future__ import annotations

from collections.abc import Iterator

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between two attempts; the pause doubles."""


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
