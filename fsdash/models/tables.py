"""CSV and Parquet files: complete tables that `save` wrote, and tables from elsewhere.

A complete table holds its head in CSV as a comment in the first line, in Parquet as metadata. Other
programs see an ordinary table (pandas: `read_csv(path, comment="#")`).
"""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError, require
from fsdash.models.complete_table import DAMAGED, REMEDY, Head, complete_table
from fsdash.models.content import FORMAT
from fsdash.models.size import MAX_COLUMNS, MAX_FILE_BYTES, MAX_TRANSITIONS
from fsdash.models.table import number_or_text

MARK = f"# {FORMAT} ".encode()
"""What the first line of a complete CSV file begins with."""
MAX_LINE_BYTES = 50_000_000
METADATA = FORMAT.encode()
DELIMITERS = (",", ";", "\t", "|")
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d+)?|,\d+)([eE][+-]?\d+)?")
"""A number that may have a comma before its decimals."""
COMMA_DECIMALS = re.compile(r"[+-]?0*,\d+.*|.*,(\d{1,2}|\d{4,})([eE].*)?")
"""A comma that separates decimals, not thousands: it has not just three digits after it, or nothing
but 0 before it."""
PARQUET_LIMIT = 50_000_000
"""Limit on text and lists in the metadata of a Parquet file."""


def write_csv(model: FastSlowMDP, file: BinaryIO) -> None:
    """Write a model as a complete CSV table."""
    head, frame = complete_table(model)
    _check_words(frame)
    first = MARK + json.dumps(head).encode() + b"\n"
    if len(first) > MAX_LINE_BYTES:
        raise InputError("the model has too many states for a CSV file; save it as .npz")
    file.write(first)
    frame.to_csv(file, index=False, lineterminator="\n")


def _check_words(frame: pd.DataFrame) -> None:
    """CSV readers lose empty words and words with some control characters."""
    words = {str(name) for name in frame}
    for name in frame.select_dtypes(exclude="number"):
        words.update(str(word) for word in frame[name].unique())
    for word in words:
        if not word or any(ord(character) < 32 and character != "\t" for character in word):
            raise InputError(
                f"{word!r}: a CSV file cannot hold this name; change it or save as .npz or .json"
            )


def read_csv(file: BinaryIO) -> FastSlowMDP | pd.DataFrame:
    """The model of a complete table, otherwise the frame."""
    first = file.readline(MAX_LINE_BYTES)
    if not first.startswith(MARK):
        if MARK.strip() in first[:100]:
            raise InputError(f"another program changed the first line; {REMEDY}")
        file.seek(0)
        return read_foreign(file)
    head = Head(parse_json(first[len(MARK) :]))
    return head.model(read_frame(file, texts=head.texts))


def read_foreign(file: BinaryIO) -> pd.DataFrame:
    """A CSV file that another program wrote: spaces around names and words do not matter, and
    decimals may have a comma if columns are separated otherwise."""
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


def read_frame(file: BinaryIO, texts: list[str] | None = None, **how: Any) -> pd.DataFrame:
    """A CSV file as a frame, with limits on its rows and columns.

    Only an empty cell is missing: "NA" or "None" may be a name. Columns in `texts` stay text. `how`
    are further arguments of `pandas.read_csv`.
    """
    start = file.tell()
    header = file.readline(1_000_000)
    file.seek(start)
    try:
        line = header.decode("utf-8-sig")
        delimiter = max(DELIMITERS, key=line.count)
        names = next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
        if len(names) > MAX_COLUMNS:
            raise InputError(f"{len(names):,} columns; the limit is {MAX_COLUMNS}")
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
                dtype=dict.fromkeys(texts or [], "str"),
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


def write_parquet(model: FastSlowMDP, path: Path) -> None:
    """Write a model as a complete Parquet table."""
    require("pyarrow", "dashboard")
    import pyarrow as pa
    import pyarrow.parquet as pq

    head, frame = complete_table(model)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({METADATA: json.dumps(head).encode()})
    pq.write_table(table, path, write_page_checksum=True)


def read_parquet(file: BinaryIO) -> FastSlowMDP | pd.DataFrame:
    """The model of a complete table, otherwise the frame."""
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
        _check_parquet(source)
        metadata = (source.schema_arrow.metadata or {}).get(METADATA)
        frame = source.read(use_threads=False).to_pandas(ignore_metadata=True, use_threads=False)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise InputError(f"the Parquet file cannot be read: {_one_line(error)}") from None
    return frame if metadata is None else Head(parse_json(metadata)).model(frame)


def _check_parquet(source: Any) -> None:
    """Check the sizes that the file announces, before its columns are read."""
    about = source.metadata
    size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    if about.num_columns > MAX_COLUMNS:
        raise InputError(f"{about.num_columns:,} columns; the limit is {MAX_COLUMNS}")
    if about.num_rows > MAX_TRANSITIONS:
        raise InputError(f"{about.num_rows:,} rows; the limit is {MAX_TRANSITIONS:,}")
    if not 0 <= size <= MAX_FILE_BYTES:
        raise InputError(f"the file unpacks to more than {MAX_FILE_BYTES:,} bytes")
    if any(field.type.num_fields for field in source.schema_arrow):
        raise InputError("the file has nested columns; give numbers and words only")


def parse_json(data: bytes) -> Any:
    """JSON of unknown origin."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(DAMAGED) from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
