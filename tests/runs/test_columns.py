"""The columns of a run are declared in one place, and everything else follows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsdash.runs import columns
from fsdash.runs.columns import COLUMNS, MEASURES, NAMES, Column
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


def test_the_default_measure_comes_first():
    assert MEASURES[0].name == columns.DEFAULT_MEASURE
    assert {column.name for column in MEASURES} == {
        "fraction_of_optimal",
        "mean_return",
        "mean_regret",
        "relative_regret",
        "max_regret",
    }


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


NEW_COLUMN = '''
import contextlib, importlib.util, io, sqlite3, sys
import numpy as np

# Edit 1: the declaration.
spec = importlib.util.find_spec("fsdash.runs.columns")
source = spec.loader.get_source(spec.name).replace(
    "\\n)\\n\\nBY_NAME",
    """
    Column(
        "span", "float64", "DOUBLE", "Span of values", "Largest minus smallest value.",
        role="measure", nullable=True, format=".3f",
    ),
)

BY_NAME""",
)
assert '"span"' in source
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
exec(compile(source, spec.origin, "exec"), module.__dict__)

# Edit 2: the value.
from fsdash.runs import engine
measures = engine.Judge.measures
engine.Judge.measures = lambda judge, snapshot: measures(judge, snapshot) | {
    "span": float(np.ptp(judge.values(snapshot)))
}

from fsdash import compilation
from fsdash.cli.main import main
from fsdash.dashboard.curves.text import Y_LABELS
from fsdash.figures.learning import learning_figure
from fsdash.formatting import frame_records as records
from fsdash.runs.runner import run_all
from fsdash.runs.store.experiments import Store
from fsdash.runs.summary import summarise
from tests.runs.store.test_schema import VERSION_1
from tests.runs.work import base, finished_experiment

compilation.ensure_compiled = lambda: None  # as in the other tests
frame, _ = run_all([base()])
assert (frame["span"] > 0).all()
assert records(frame)[0]["span"] == frame["span"][0]
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    assert main(["run", *base().to_command().split()[2:]]) == 0
assert f"span {frame['span'].iloc[-1]:.6g}" in " ".join(printed.getvalue().split())
assert len(summarise(frame, y="span")) == len(frame)
assert learning_figure(frame, y="span").layout.yaxis.title.text == "span of values"
assert Y_LABELS["span"] == "Span of values"

path = sys.argv[1]
with sqlite3.connect(path) as connection:
    connection.executescript(VERSION_1)
store = Store(path)
assert store.rows([1])["span"].isna().all()
experiment = finished_experiment(store, base())
run = experiment.runs[0].id
assert store.rows([run])["span"].tolist() == frame["span"].tolist()
data = store.export(experiment.id)
again = store.experiment(store.import_(data, "me")).runs[0].id
assert store.rows([again])["span"].tolist() == frame["span"].tolist()
del data["runs"][0]["replications"][0]["rows"]["span"]
old = store.experiment(store.import_(data, "me")).runs[0].id
assert store.rows([old])["span"].isna().all()
assert Store(path).rows([run])["span"].tolist() == frame["span"].tolist()
'''


@pytest.mark.processes
def test_a_new_column_needs_its_declaration_and_its_value_only(tmp_path):
    script = tmp_path / "new_column.py"
    script.write_text(NEW_COLUMN)
    # The script imports from tests, which is not installed.
    ended = subprocess.run(
        [sys.executable, script, tmp_path / "runs.db"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
