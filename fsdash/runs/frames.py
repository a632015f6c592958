"""Rows as a tidy frame, and the frame as a file.

One row for each evaluated policy; the columns are those of `fsdash.runs.columns`. T is empty for
algorithms that do not freeze the slow state. Rows are sorted, so the same run always gives the same
file, whichever worker computed which replication first. In frames of several runs, `run` is the
hash of a row's specification and `method` the name of its curve.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.errors import InputError, require
from fsdash.formatting import frame_records
from fsdash.runs.columns import DTYPES, NAMES
from fsdash.runs.engine import Row
from fsdash.runs.records import spec_labels
from fsdash.runs.spec import RunSpec

SUFFIXES = (".csv", ".parquet", ".json")
SORT_KEYS = ["domain", "algorithm", "T", "run", "replication", "step"]


def tidy(rows: Iterable[Row]) -> pd.DataFrame:
    """The rows as a sorted frame with the declared columns and types."""
    return _sorted(pd.DataFrame(list(rows), columns=list(NAMES)).astype(DTYPES))


def runs_frame(specs: Sequence[RunSpec], rows: Iterable[tuple[RunSpec, Row]]) -> pd.DataFrame:
    """The rows of several runs as a sorted frame: `tidy`, with `run` and `method`.

    Labels of the curves tell the runs of `specs` apart.
    """
    labels = spec_labels(specs)
    named = [{"run": spec.hash, "method": labels[spec.hash], **row} for spec, row in rows]
    types = {"run": "str", "method": "str", **DTYPES}
    frame = pd.DataFrame(named, columns=list(types)).astype(types)
    return _sorted(frame, [spec.hash for spec in specs])


def _sorted(frame: pd.DataFrame, runs: Sequence[str] = ()) -> pd.DataFrame:
    """Algorithms in the order of the registry, and runs in the given one."""
    order = {name: i for i, name in enumerate([*ALGORITHMS, *runs])}
    return frame.sort_values(
        [name for name in SORT_KEYS if name in frame],
        key=lambda column: column.map(order) if column.name in ("algorithm", "run") else column,
        ignore_index=True,
    )


def check_path(path: str | Path) -> Path:
    """The path of an output file, or an error if it cannot be written."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"out = {path}: use a name that ends in {', '.join(SUFFIXES)}")
    if path.suffix == ".parquet":
        require("pyarrow", extra="dashboard")
    try:
        if path.is_dir():
            raise InputError(f"out = {path}: is a folder; give the name of a file")
        if not path.absolute().parent.is_dir():
            raise InputError(
                f"out = {path}: the folder {path.parent} does not exist; create it first"
            )
        new = not path.exists()
        path.open("ab").close()
        if new:
            path.unlink()
    except OSError as error:
        raise InputError(f"out = {path}: cannot be written ({error.strerror})") from None
    return path


def save(path: str | Path, frame: pd.DataFrame, specs: Sequence[RunSpec]) -> None:
    """Write the rows to a file.

    A JSON file contains the specifications too; a Parquet file has them as metadata. A file that
    exists is replaced when the new one is complete.
    """
    path = check_path(path)
    part = path.with_name(f"{path.name}.part")
    described = [spec.to_dict() for spec in specs]
    try:
        if path.suffix == ".csv":
            frame.to_csv(part, index=False)
        elif path.suffix == ".parquet":
            frame = frame.copy(deep=False)
            frame.attrs = {"specs": described}  # pandas writes them as metadata
            frame.to_parquet(part, index=False)
        else:
            content = {"specs": described, "rows": frame_records(frame)}
            part.write_text(json.dumps(content, indent=1), "utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
