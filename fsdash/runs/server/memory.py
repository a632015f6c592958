"""The memory that another process holds, without a package for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

MB = 2**20


def megabytes(pid: int) -> float:
    """Resident memory of a process; 0 if it is gone or the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / MB
    except (OSError, IndexError):
        return _by_ps(pid)


def _by_ps(pid: int) -> float:
    try:
        told = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, timeout=2
        ).stdout
        return int(told) * 1024 / MB
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0.0
