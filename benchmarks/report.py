"""What was measured where, and tables of it as text, CSV and Markdown."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "numba", "scipy", "quantecon", "mdpsolver")

Row = dict[str, object]
Part = Callable[[], tuple[list[Row], list[Row]]]
"""Measures something and returns its rows and its targets (`target`)."""


def environment() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES if find_spec(package)},
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


def stored(name: str) -> list[Row]:
    """The rows of results/<name>.csv; none if it does not exist."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def target(what: str, value: float, text: str, limit: float) -> Row:
    """A measured value and whether it meets its target, a text that starts with ≤, <, ≥ or >."""
    met = value >= limit - 5e-5 if text.startswith(("≥", ">")) else value <= limit + 5e-5
    return {"what": what, "measured": f"{value:.4g}", "target": text, "met": "yes" if met else "no"}


def measure_parts(benchmark: str, parts: Mapping[str, Part], names: Sequence[str]) -> None:
    """Measure the named parts of a benchmark, or all; the results of the others are kept."""
    for name in names or parts:
        rows, targets = parts[name]()
        save(f"{benchmark}_{name}", rows)
        date = environment()["date"]
        kept = [row for row in stored(benchmark) if row["part"] != name]
        save(benchmark, kept + [{"part": name, **row, "date": date} for row in targets])
        print(markdown(rows), markdown(targets), sep="\n\n", end="\n\n", flush=True)
    measured = ", ".join(f"{key} {value}" for key, value in environment().items())
    sections = [f"{measured}.", markdown(stored(benchmark))]
    for name in parts:
        if rows := stored(f"{benchmark}_{name}"):
            sections += [f"## {name}", markdown(rows)]
    text = "\n\n".join(sections) + "\n"
    (RESULTS / f"{benchmark}.md").write_text(text, encoding="utf-8")
