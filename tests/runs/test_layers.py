"""Imports within the package point one way: server → store → runs, and server → workers."""

import ast
from pathlib import Path

import pytest

import fsdash.runs

FOLDER = Path(fsdash.runs.__file__).parent
ABOVE = ("fsdash.reproduce", "fsdash.cli", "fsdash.dashboard", "fsdash.figures", "streamlit")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize(
    ("files", "forbidden"),
    [
        ("*.py", ("fsdash.runs.store", "fsdash.runs.server")),
        ("workers/*.py", ("fsdash.runs.store", "fsdash.runs.server")),
        ("store/*.py", ("fsdash.runs.server",)),
        ("**/*.py", ABOVE),
    ],
)
def test_imports_never_point_back_up(files, forbidden):
    for path in FOLDER.glob(files):
        assert [name for name in imports(path) if name.startswith(forbidden)] == [], path
