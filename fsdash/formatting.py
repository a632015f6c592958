"""Records as text: an aligned table, JSON or CSV.

A record is a dict; its values are numbers, strings or booleans. Infinity is written as `inf` in
tables and CSV, and as 1e999 in JSON, which has no word for it: every reader of JSON numbers
understands 1e999, and most (Python's, JavaScript's) read it as infinity.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

FORMATS = ("table", "json", "csv")


def as_json(value: object) -> str:
    # No string of ours contains the word, so replacing it touches numbers alone.
    return json.dumps(value, indent=2, ensure_ascii=False).replace("Infinity", "1e999")


def as_csv(records: Sequence[Mapping]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().rstrip("\n")


def as_table(records: Sequence[Mapping]) -> str:
    """Columns under their names, numbers to the right; one record alone stands upright."""
    if len(records) == 1:
        [record] = records
        width = max(map(len, record))
        return "\n".join(f"{key:<{width}}  {_cell(value)}" for key, value in record.items())
    rows = [list(records[0])] + [[_cell(value) for value in record.values()] for record in records]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    right = [not isinstance(value, str) for value in records[0].values()]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    )


def write(records: Sequence[Mapping], fmt: str, whole: object = None) -> str:
    """The records in a format; JSON shows `whole` instead where it is given."""
    if fmt == "json":
        return as_json(list(records) if whole is None else whole)
    return as_csv(records) if fmt == "csv" else as_table(records)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
