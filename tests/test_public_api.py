"""The public names of `import fsdash`: lazy, complete, and what they claim to be."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import fsdash

NAMES = [name for name in fsdash.__all__ if name != "__version__"]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(fsdash, name))]


def modules_after(code: str) -> set[str]:
    """The modules that a new interpreter has loaded after running the code."""
    show = "import sys; print(*sys.modules, sep='\\n')"
    command = [sys.executable, "-c", f"{code}; {show}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.processes
def test_importing_fsdash_loads_no_heavy_library():
    loaded = modules_after("import fsdash")
    assert not loaded & {"streamlit", "sklearn", "numba", "numpy", "pandas", "plotly"}
    few = {"fsdash.version", "fsdash.domains", "fsdash.domains.lookup"}
    assert {name for name in loaded if name.startswith("fsdash.")} == few


@pytest.mark.processes
def test_using_every_name_needs_neither_streamlit_nor_scikit_learn():
    loaded = modules_after("from fsdash import *")
    assert "fsdash.runs.runner" in loaded
    assert not loaded & {"streamlit", "sklearn"}


def test_every_name_is_listed_and_can_be_loaded():
    assert set(NAMES) == set(fsdash.MODULES)
    assert set(fsdash.__all__) <= set(dir(fsdash))
    for name in NAMES:
        assert getattr(fsdash, name) is getattr(import_module(fsdash.MODULES[name]), name)


def test_no_name_is_hidden_by_a_submodule():
    """A submodule of `fsdash` becomes an attribute when it is imported."""
    assert not set(NAMES) & {module.name for module in pkgutil.iter_modules(fsdash.__path__)}
    for module in set(fsdash.MODULES.values()):
        import_module(module)
    import_module("fsdash.algorithms.fsvi")
    for name in NAMES:
        assert not inspect.ismodule(getattr(fsdash, name)), name
        assert name == "DOMAINS" or getattr(fsdash, name).__name__ == name


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(fsdash.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen == fsdash.MODULES
    assert (Path(fsdash.__file__).parent / "py.typed").exists()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        fsdash.no_such_name  # noqa: B018


MORE_ARGUMENTS = {"from_functions": 4, "from_markov_chain": 3}
"""A model's parts in the order of its definition: states, actions, transition, reward."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_after_the_second_are_keyword_only(name):
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(getattr(fsdash, name)).parameters.values()
    assert sum(p.kind in positional for p in parameters) <= MORE_ARGUMENTS.get(name, 2)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "DOMAINS"])
def test_every_name_is_documented_with_an_example(name):
    text = inspect.getdoc(getattr(fsdash, name))
    sections = ["Examples\n--------"]
    if name in FUNCTIONS:
        sections += ["Parameters\n----------", "Returns\n-------"]
        if inspect.isgeneratorfunction(getattr(fsdash, name)):
            sections[-1] = "Yields\n------"
    for section in sections:
        assert section in text, f"{name}: the docstring has no section {section.split()[0]}"
