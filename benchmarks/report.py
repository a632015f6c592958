"""What was measured where, and tables of it as text, CSV and Markdown."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "numba", "scipy", "quantecon", "mdpsolver")

Row = dict[str, object]


def environment() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
        "CPUs": str(os.cpu_count()),
        "threads used": "1",
    }


def save(name: str, rows: Sequence[Row]) -> None:
    """Write the rows to results/<name>.csv, one column per key."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def markdown(rows: Sequence[Row]) -> str:
    """A Markdown table, its columns padded so that it can be read as plain text too."""
    cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [" | ".join(f"{c:<{n}}" for c, n in zip(line, widths, strict=True)) for line in cells]
    lines.insert(1, " | ".join("-" * n for n in widths))
    return "\n".join(f"| {line} |" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    """A few significant digits without exponent; "—" for what was not measured."""
    if value is None:
        return "—"
    decimals = max(0, digits - len(f"{abs(value):.0f}")) if abs(value) >= 1 else digits - 1
    return f"{value:,.{decimals}f}"
