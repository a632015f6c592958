"""The columns of a run are declared in one place, and everything else follows."""

from pathlib import Path

import pytest

from fsdash.runs import columns
from fsdash.runs.columns import COLUMNS, NAMES, Column
from fsdash.runs.frames import tidy
from fsdash.runs.store import schema
from tests.runs.work import base, expected

ROOT = Path(__file__).parents[2]


def test_names_are_unique_and_every_column_is_described():
    assert len(set(NAMES)) == len(COLUMNS)
    for column in COLUMNS:
        assert column.label
        assert column.help.endswith(".")
        assert column.format or column.role != "measure"


def test_an_unknown_role_is_refused():
    with pytest.raises(ValueError, match="column x: role"):
        Column("x", "float64", "DOUBLE", "X", "An x.", role="decoration")


def test_the_table_has_the_declared_columns():
    stored = {column.name: column for column in schema.rows.columns}
    for column in columns.ROW_COLUMNS:
        assert str(stored.pop(column.name).type) == column.sql_type
    assert set(stored) == {"id", "run", "replication"}


def test_frames_have_the_declared_types():
    frame = tidy(record.row for record in expected(base()))
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == columns.DTYPES
    assert dict(tidy([]).dtypes.astype(str)) == columns.DTYPES
