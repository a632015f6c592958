"""Existence, start time and memory of other processes on this computer."""

from __future__ import annotations

import psutil

CLOCK_TOLERANCE = 2.0
"""Seconds by which two readings of one process's start may differ when the clock is corrected."""
MB = 2**20


def start_time(pid: int) -> float | None:
    """Seconds from the start of the computer to that of a process; None if it has ended."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        # Both times move with the system clock; their difference does not.
        return process.create_time() - psutil.boot_time()
    except psutil.NoSuchProcess:
        return None


def is_running(pid: int, started: float | None = None) -> bool:
    """Whether a process is running; with `started`, whether it is the one that started then.

    The system may give the number of an ended process to a new one.
    """
    try:
        found = start_time(pid)
    except psutil.AccessDenied:  # it exists, and belongs to another user
        return True
    if found is None or started is None:
        return found is not None
    return abs(found - started) <= CLOCK_TOLERANCE


def memory_megabytes(pid: int) -> float:
    """Resident memory of a process; 0 if it has ended."""
    try:
        return psutil.Process(pid).memory_info().rss / MB
    except psutil.NoSuchProcess:
        return 0.0
