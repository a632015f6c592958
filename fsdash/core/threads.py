"""Large loops on several threads.

A loop over independent rows or states is cut into blocks, and the blocks are shared out among a few
threads. The compiled kernels release Python's lock. Each entry is computed by one thread alone, so
the results do not depend on the number of threads. Below `MIN_WORK` operations, everything stays in
the calling thread.

The number of threads is Numba's: the environment variable NUMBA_NUM_THREADS, or one per processor.
A run of an experiment has one thread (`one_thread`), because whole runs are parallel there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import numba

MIN_WORK = 2_000_000
"""Loops with at least this many operations take milliseconds, much longer than using threads."""
BLOCKS_PER_THREAD = 4
"""More blocks than threads, so that a thread that gets less of its processor computes fewer."""

Result = TypeVar("Result")
_caller = threading.local()
"""`_caller.alone` is true in a thread that is inside `one_thread`."""


def split(task: Callable[[int, int], Result], size: int, work: int) -> list[Result]:
    """Call task(start, stop) for blocks that together cover range(size).

    Parameters
    ----------
    task : callable
        Computes the entries start to stop − 1, and no others.
    size : int
        Number of entries.
    work : int
        About how many operations all of them take.

    Returns
    -------
    list
        What the calls returned, in the order of the blocks.

    Examples
    --------
    >>> split(lambda start, stop: stop - start, 10, work=10)
    [10]
    """
    n = thread_count(work)
    blocks = min(n * BLOCKS_PER_THREAD, size) if n > 1 else 1
    if blocks <= 1:
        return [task(0, size)]
    edges = [size * i // blocks for i in range(blocks + 1)]
    return list(_pool(n, os.getpid()).map(task, edges[:-1], edges[1:]))


def thread_count(work: int) -> int:
    """Return the number of threads for a loop with `work` operations."""
    if work < MIN_WORK or getattr(_caller, "alone", False):
        return 1
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the loops of the calling thread in that thread.

    Examples
    --------
    >>> with one_thread():
    ...     thread_count(work=10**9)
    1
    """
    before = getattr(_caller, "alone", False)
    _caller.alone = True
    try:
        yield
    finally:
        _caller.alone = before


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads of this process: a forked process does not inherit its parent's."""
    return ThreadPoolExecutor(threads, thread_name_prefix="fsdash")
