"""The examples in all docstrings run and print what they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import fsdash

ROOT = Path(fsdash.__file__).parents[1]


def modules_with_examples() -> set[str]:
    """The modules whose source has an example."""
    files = [path for path in (ROOT / "fsdash").rglob("*.py") if ">>> " in path.read_text("utf-8")]
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in files]
    return {".".join(names).removesuffix(".__init__") for names in parts}


@pytest.mark.parametrize("module", sorted(modules_with_examples()))
def test_examples_of(module):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testmod(import_module(module), optionflags=options)
    assert found.attempted > 0, "the module has no example"
    assert found.failed == 0
