"""Rows as a tidy frame, and the frame as a file.

One row for each policy that was looked at; the columns are `engine.COLUMNS`. T is empty for
algorithms that freeze nothing. Rows are sorted, so that the same run gives the same file, whoever
made which part of it when.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from fsdash.algorithms.registry import METHODS
from fsdash.errors import InputError
from fsdash.runs.engine import COLUMNS, Row
from fsdash.runs.spec import RunSpec

SUFFIXES = (".csv", ".parquet", ".json")
KINDS = {"T": "Int64", "fraction_of_optimal": "float64", "mean_return": "float64"}


def tidy(rows: Iterable[Row]) -> pd.DataFrame:
    """The rows as a sorted frame with the fixed columns."""
    frame = pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(KINDS)
    order = {name: i for i, name in enumerate(METHODS)}
    keys = ["domain", "algorithm", "T", "replication", "step"]
    return frame.sort_values(
        keys, key=lambda column: column.map(order) if column.name == "algorithm" else column
    ).reset_index(drop=True)


def check_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"out = {path}: give a name that ends in {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise InputError(f"out = {path}: is a folder; give the name of a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"out = {path}: the folder {path.parent} does not exist; make it first")
    new = not path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise InputError(f"out = {path}: cannot be written ({error.strerror})") from None
    if new:
        path.unlink()
    return path


def save(path: str | Path, frame: pd.DataFrame, specs: Sequence[RunSpec]) -> None:
    """Write the rows; a JSON file has the specifications too, a Parquet file as metadata."""
    path = check_path(path)
    described = [spec.to_dict() for spec in specs]
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.attrs["specs"] = described
        frame.to_parquet(path, index=False)
    else:
        path.write_text(json.dumps({"specs": described, "rows": records(frame)}, indent=1), "utf-8")


def records(frame: pd.DataFrame) -> list[Row]:
    """The rows as plain data, None where there is no value."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")
