"""CSV and Parquet files: complete tables that `save` wrote, and tables from elsewhere.

A complete table is a model as a table of transitions plus a head that says the rest: the head of
`fsdash.models.content`, with the names of the columns, the values of the axes and the initial
distribution. It lets the rows be read back into exactly the same model. CSV holds it as a comment
in the first line, Parquet as metadata, so other programs see an ordinary table (pandas:
`read_csv(path, comment="#")`).
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

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError, require
from fsdash.models.content import AXES, FORMAT, Content, content_of, model_of, read_axis, uniform
from fsdash.models.size import MAX_COLUMNS, MAX_FILE_BYTES, MAX_TRANSITIONS
from fsdash.models.table import (
    StateIndex,
    Table,
    action_column,
    action_names,
    number_or_text,
    plain,
    split_variables,
)

NEXT = "next_"
ROLES = ("action", "p", "reward")
REMEDY = "remove it and give the options of from_transitions"
DAMAGED = f"the head of the table is damaged; {REMEDY}"
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
    head, frame = _complete_table(model)
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
    head = _Head(_parse_json(first[len(MARK) :]))
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

    head, frame = _complete_table(model)
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
    return frame if metadata is None else _Head(_parse_json(metadata)).model(frame)


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


def _parse_json(data: bytes) -> Any:
    """JSON of unknown origin."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(DAMAGED) from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


# --------------------------------------------------------------------------------- complete tables


def _complete_table(model: FastSlowMDP) -> tuple[dict[str, Any], pd.DataFrame]:
    """The head of a complete table and its rows."""
    content, table = content_of(model, for_file=True), Table.of(model)
    if "frozen_pair" in content.arrays:
        raise InputError(
            f"{model.name}: has its own law while the slow state is frozen, which a table cannot "
            "hold; save it as .npz or .json"
        )
    law, sign = table.law, (-1.0 if model.sense == "min" else 1.0)
    if law.n_transitions > MAX_TRANSITIONS:
        raise InputError(
            f"{model.name}: as a table it has {law.n_transitions:,} rows; the limit is "
            f"{MAX_TRANSITIONS:,}. Save it as .npz, where pairs share their rows"
        )
    pair_N, take_N = law.transitions_in(law.row_P)
    reward = "cost" if model.sense == "min" else "reward"
    columns = _column_names(table.names, action_column(model.actions), reward)
    actions = _own_actions(model.actions)
    frame = pd.DataFrame(
        {
            **table.columns(table.code_SV[law.state_P[pair_N]]),
            columns["action"]: actions[law.action_P[pair_N]],
            **table.columns(table.code_SV[law.next_N[take_N]], prefix=NEXT),
            columns["p"]: law.probability_N[take_N],
            columns["reward"]: sign * law.reward_P[pair_N] + 0.0,
        }
    )
    initial = content.arrays["initial"]
    given = not np.array_equal(initial, uniform(table.n_states))
    return content.head | {
        "columns": columns,
        "values": {axis: getattr(model, axis).values.tolist() for axis in AXES},
        "initial": initial.tolist() if given else None,
    }, frame


def _column_names(variables: tuple[str, ...], action: str, reward: str) -> dict[str, str]:
    """Names for the columns of action, probability and reward that no other column has."""
    taken = {*variables, *(NEXT + name for name in variables)}
    found = {}
    for role, name in zip(ROLES, (action, "p", reward), strict=True):
        while name in taken:
            name += "_"
        taken.add(name)
        found[role] = name
    return found


def _own_actions(axis: Axis) -> np.ndarray:
    """The own names of the actions as a column: numbers if all are."""
    names = action_names(axis)
    numeric = not any(isinstance(name, str) for name in names)
    return np.array(names, dtype=None if numeric else object)


class _Head:
    """The head of a complete table of unknown origin, checked."""

    def __init__(self, head: Any) -> None:
        try:
            self.columns = {role: str(head["columns"][role]) for role in ROLES}
            self.axes = {
                axis: read_axis(axis, head.get(axis), np.array(head["values"][axis], dtype=float))
                for axis in AXES
            }
            given = head.get("initial")
            self.initial = None if given is None else np.array(given, dtype=float)
            self.sense = str(head["sense"])
            str(head["content_hash"])
        except InputError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise InputError(DAMAGED) from None
        self.head = {k: v for k, v in head.items() if k not in ("columns", "values", "initial")}
        split = split_variables(self.axes["slow"], self.axes["fast"])
        self.slow, self.code_XV, self.fast, self.code_YV = split

    @property
    def texts(self) -> list[str]:
        """The columns to read as text: words, even where they look like numbers, and the numbers
        that must be exact to the last bit."""
        names = [v.name for v in (*self.slow, *self.fast) if v.is_category]
        if _own_actions(self.axes["actions"]).dtype == object:
            names.append(self.columns["action"])
        return [*names, *(NEXT + n for n in names), self.columns["p"], self.columns["reward"]]

    def model(self, frame: pd.DataFrame) -> FastSlowMDP:
        """The model with the transitions of this frame."""
        state_N, next_N = self._states(frame, ""), self._states(frame, NEXT)
        action_N = self._actions(frame)
        p_N, reward_N = (_floats(frame, self.columns[role]) for role in ("p", "reward"))
        A = len(self.axes["actions"])
        key_N = state_N * A + action_N
        order = np.lexsort((next_N, key_N))
        key_P, first_P, pair_N = np.unique(key_N[order], return_index=True, return_inverse=True)
        reward_P = reward_N[order][first_P]
        if (reward_N[order] != reward_P[pair_N]).any():
            raise InputError("the rewards of a state and action differ: the file was edited")
        n_states = len(np.unique(state_N))
        arrays = {
            "pair_state": key_P // A,
            "pair_action": key_P % A,
            "pair_reward": -reward_P if self.sense == "min" else reward_P,
            "transition_pair": pair_N,
            "transition_next": next_N[order],
            "transition_probability": p_N[order],
            "initial": uniform(n_states) if self.initial is None else self.initial,
            **{f"{axis}_values": self.axes[axis].values for axis in AXES},
        }
        return model_of(Content(self.head, arrays))

    def _states(self, frame: pd.DataFrame, prefix: str) -> np.ndarray:
        """The state x·|Y| + y of each row."""
        parts = []
        for variables, code_SV in ((self.slow, self.code_XV), (self.fast, self.code_YV)):
            own = pd.DataFrame(
                {v.name: _column(frame, prefix + v.name) for v in variables}, index=frame.index
            )
            number_N = StateIndex(variables, code_SV).numbers(own)
            names = ", ".join(prefix + v.name for v in variables)
            _check_rows(number_N >= 0, f"its {names}")
            parts.append(number_N)
        return parts[0] * len(self.axes["fast"]) + parts[1]

    def _actions(self, frame: pd.DataFrame) -> np.ndarray:
        names = {str(name): a for a, name in enumerate(action_names(self.axes["actions"]))}
        positions, values = pd.factorize(_column(frame, self.columns["action"]))
        own = [str(plain(v)) if isinstance(v, int | float) else str(v) for v in values.tolist()]
        action_N = np.array([*(names.get(name, -1) for name in own), -1])[positions]
        _check_rows(action_N >= 0, "its action")
        return action_N


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    if name not in frame or frame.columns.tolist().count(name) != 1:
        raise InputError(f"column {name!r}: is not in the table once; the file was edited")
    return frame[name]


def _floats(frame: pd.DataFrame, name: str) -> np.ndarray:
    column = _column(frame, name).to_numpy(dtype=object)
    try:
        numbers = column.astype(float)  # Python's own conversion, which is exact
    except (TypeError, ValueError):
        raise InputError(f"column {name!r}: has cells that are not numbers") from None
    _check_rows(np.isfinite(numbers), f"its {name}")
    return numbers


def _check_rows(good_N: np.ndarray, what: str) -> None:
    if not len(good_N) or not good_N.all():
        row = int(good_N.argmin()) + 1 if len(good_N) else 1
        raise InputError(f"row {row}: {what} is missing or not in the model; the file was edited")
