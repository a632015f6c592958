"""Tables of transitions in files: CSV, Parquet and JSON in, CSV out.

A JSON document has the transitions as a list of records or as columns, and may have any argument of
`from_transitions`:

    {"gamma": 0.97, "slow": ["regime"], "sense": "min", "transitions": [{"regime": "low", …}, …]}
"""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError, require
from fsdash.models.columns import OPTIONS
from fsdash.models.law import changed_frozen_law
from fsdash.models.size import MAX_COLUMNS, MAX_FILE_BYTES, MAX_TRANSITIONS
from fsdash.models.table import Table, action_column, action_names, number_or_text

DELIMITERS = (",", ";", "\t", "|")
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d+)?|,\d+)([eE][+-]?\d+)?")
"""A number that may have a comma before its decimals."""
COMMA_DECIMALS = re.compile(r"[+-]?0*,\d+.*|.*,(\d{1,2}|\d{4,})([eE].*)?")
"""A comma that separates decimals, not thousands: it has not just three digits after it, or nothing
but 0 before it."""
PARQUET_LIMIT = 50_000_000
"""Limit on text and lists in the metadata of a Parquet file."""


# --------------------------------------------------------------------------------------------- CSV


def write_csv(model: FastSlowMDP, path: Path) -> None:
    """Write a model as a table of transitions, which `load` reads with γ and the slow variables."""
    if changed_frozen_law(model) is not None:
        raise InputError(
            f"{model.name}: has its own law while the slow state is frozen, which a table cannot "
            "hold; save it as .npz"
        )
    table = Table.of(model)
    law, sign = table.law, (-1.0 if model.sense == "min" else 1.0)
    if law.n_transitions > MAX_TRANSITIONS:
        raise InputError(
            f"{model.name}: as a table it has {law.n_transitions:,} rows; the limit is "
            f"{MAX_TRANSITIONS:,}. Save it as .npz, where pairs share their rows"
        )
    pair_N, take_N = law.transitions_in(law.row_P)
    state_N, initial_S = law.state_P[pair_N], model.initial_XY[model.real_XY]
    columns = [
        *table.columns(table.code_SV[state_N]).items(),
        (action_column(model.actions), np.array(action_names(model.actions))[law.action_P[pair_N]]),
        *table.columns(table.code_SV[law.next_N[take_N]], prefix="next_").items(),
        ("p", law.probability_N[take_N]),
        ("cost" if model.sense == "min" else "reward", sign * law.reward_P[pair_N] + 0.0),
    ]
    if not (initial_S == initial_S[0]).all():
        columns.append(("initial", initial_S[state_N]))
    frame = pd.DataFrame(dict(columns))
    if len(frame.columns) < len(columns):
        raise InputError(
            f"{model.name}: a state variable has the name of another column "
            f"({', '.join(map(str, frame))}); rename it or save the model as .npz"
        )
    frame.to_csv(path, index=False, lineterminator="\n")


def read_csv(file: BinaryIO) -> pd.DataFrame:
    """A CSV file of any program: spaces around names and words do not matter, and decimals may
    have a comma if columns are separated otherwise."""
    start = file.tell()
    frame = read_frame(file, skipinitialspace=True)
    if _has_decimal_commas(frame):
        del frame  # two of them would need twice the memory
        file.seek(start)
        frame = read_frame(file, skipinitialspace=True, decimal=",")
        _check_points(frame)
    frame = frame.rename(columns=str.strip)
    for name in frame.select_dtypes(exclude="number"):
        if any(word != word.strip() for word in _words(frame[name])):
            frame[name] = frame[name].str.strip()
    return frame


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    """Whether some column has numbers with a comma before their decimals, and nothing else."""
    for name in frame.select_dtypes(exclude="number"):
        words = [word.strip() for word in _words(frame[name])]
        if all(COMMA_NUMBER.fullmatch(word) for word in words) and any(
            COMMA_DECIMALS.fullmatch(word) for word in words
        ):
            return True
    return False


def _check_points(frame: pd.DataFrame) -> None:
    """Refuse points in numbers of a file with decimal commas: 1.500 may be 1500 or 1.5."""
    for name in frame.select_dtypes(exclude="number"):
        for word in _words(frame[name]):
            if "." in word and isinstance(number_or_text(word), float):
                raise InputError(
                    f"column {str(name).strip()!r}: has {word!r}, and other numbers have a decimal "
                    "comma; write decimals in one way and leave out separators of thousands"
                )


def _words(column: pd.Series) -> list[str]:
    """The different words of a column; none if it holds true and false."""
    return [word for word in column.dropna().unique().tolist() if isinstance(word, str)]


def read_frame(file: BinaryIO, **how: Any) -> pd.DataFrame:
    """A CSV file as a frame, with limits on its rows and columns.

    Only an empty cell is missing: "NA" or "None" may be a name. `how` are further arguments of
    `pandas.read_csv`.
    """
    start = file.tell()
    header = file.readline(1_000_000)
    file.seek(start)
    try:
        line = header.decode("utf-8-sig")
        delimiter = max(DELIMITERS, key=line.count)
        names = next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
        _check_columns(len(names))
        if how:
            names = [name.strip() for name in names]
        for name in filter(None, names):  # pandas would rename the second one
            if names.count(name) > 1:
                raise InputError(f"two columns are called {name!r}; rename one of them")
        with warnings.catch_warnings():
            # A row that is longer than the header is an error, not a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                file,
                sep=delimiter,
                encoding="utf-8-sig",
                keep_default_na=False,
                na_values=[""],
                low_memory=False,
                index_col=False,
                nrows=MAX_TRANSITIONS + 1,
                **how,
            )
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(
            "the CSV file is not UTF-8 text; save it again with this encoding (in spreadsheets: "
            "CSV UTF-8)"
        ) from None
    except (ValueError, OverflowError, csv.Error, pd.errors.ParserWarning) as error:
        raise InputError(f"the CSV file cannot be read: {_one_line(error)}") from None


def _check_columns(count: int) -> None:
    if count > MAX_COLUMNS:
        raise InputError(f"{count:,} columns; the limit is {MAX_COLUMNS}")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


# --------------------------------------------------------------------------------- Parquet and JSON


def read_parquet(file: BinaryIO) -> pd.DataFrame:
    """A Parquet file as a frame; the sizes that it announces are checked before it is read."""
    require("pyarrow", "dashboard")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # From memory and without threads: threads outlive an error, and then crash.
        source = pq.ParquetFile(
            pa.BufferReader(file.read()),
            pre_buffer=False,
            thrift_string_size_limit=PARQUET_LIMIT,
            thrift_container_size_limit=PARQUET_LIMIT,
            page_checksum_verification=True,
        )
        about = source.metadata
        _check_columns(about.num_columns)
        if about.num_rows > MAX_TRANSITIONS:
            raise InputError(f"{about.num_rows:,} rows; the limit is {MAX_TRANSITIONS:,}")
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if not 0 <= size <= MAX_FILE_BYTES:
            raise InputError(f"the file unpacks to more than {MAX_FILE_BYTES:,} bytes")
        if any(field.type.num_fields for field in source.schema_arrow):
            raise InputError("the file has nested columns; give numbers and words only")
        return source.read(use_threads=False).to_pandas(ignore_metadata=True, use_threads=False)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise InputError(f"the Parquet file cannot be read: {_one_line(error)}") from None


def read_json(file: BinaryIO) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The frame of a JSON document and the options that it gives."""
    try:
        document = json.load(file)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the file is not JSON: {_one_line(error)}") from None
    if isinstance(document, list):
        document = {"transitions": document}
    if not isinstance(document, dict) or "transitions" not in document:
        raise InputError('the file has no "transitions"; give a list of records or columns')
    options = {name: document[name] for name in OPTIONS if name in document}
    unknown = sorted(set(document) - set(OPTIONS) - {"transitions"})
    if unknown:
        raise InputError(f"{unknown[0]!r}: is not an option; they are {', '.join(OPTIONS)}")
    rows = document["transitions"]
    records = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    columns = isinstance(rows, dict) and all(isinstance(c, list) for c in rows.values())
    parts = [row.values() for row in rows] if records else rows.values() if columns else [[[]]]
    if any(isinstance(cell, list | dict) for part in parts for cell in part):
        raise InputError(
            "transitions: give a list of records or columns of equal length, with numbers and words"
        )
    _check_columns(len({name for row in rows for name in row} if records else rows))
    try:
        return pd.DataFrame(rows), options
    except (ValueError, OverflowError) as error:
        raise InputError(f"transitions: {_one_line(error)}") from None
