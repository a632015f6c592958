"""The examples in the docstrings of the public modules run and print what they show."""

import doctest
from importlib import import_module

import pytest

import fsdash

EXTRA = (
    "fsdash",
    "fsdash.algorithms.entry",
    "fsdash.algorithms.registry",
    "fsdash.core.certificate",
    "fsdash.core.display",
    "fsdash.core.step",
    "fsdash.domains.base",
    "fsdash.environments",
    "fsdash.formatting",
    "fsdash.theory.landmarks",
    "fsdash.theory.presets",
    "fsdash.theory.sensitivity",
    "fsdash.theory.staircase",
    "fsdash.theory.table",
)
"""Modules with examples that define no public name themselves."""


def defining_modules() -> list[str]:
    """The modules that define the public names, in alphabetical order."""
    found = set(EXTRA)
    for name in fsdash.MODULES:
        if name != "DOMAINS":
            found.add(getattr(fsdash, name).__module__)
    return sorted(found)


@pytest.mark.parametrize("module", defining_modules())
def test_examples_of(module):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testmod(import_module(module), optionflags=options)
    assert found.attempted > 0, "the module has no example"
    assert found.failed == 0
