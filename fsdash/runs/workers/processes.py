"""Existence, start time, state, processor time and memory of other processes on this computer."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

CLOCK_TOLERANCE = 2.0
"""Seconds by which two readings of one process's start may differ when the clock is corrected."""


@cache
def computer() -> str:
    """Identifies the computer since its last start, and the container: who shares its processes.

    Two containers can have one host name, and process numbers that mean different processes.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux: no containers
        boot, namespace = f"{psutil.boot_time():.0f}", ""
    return f"{socket.gethostname()} {boot} {namespace}".strip()


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
        start = start_time(pid)
    except psutil.AccessDenied:  # it exists, and belongs to another user
        return True
    if start is None or started is None:
        return start is not None
    return abs(start - started) <= CLOCK_TOLERANCE


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal and waits for another one."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    return False


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used; 0 if it has ended."""
    with suppress(psutil.NoSuchProcess):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def memory_megabytes(pid: int) -> float:
    """Resident memory of a process; 0 if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return float(psutil.Process(pid).memory_info().rss / 2**20)
    return 0.0
