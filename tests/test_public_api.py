"""The public names of `import fsdash`: lazy, complete, and what they claim to be."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest

import fsdash

SUBMODULES = (
    *("theory", "models", "algorithms", "regression", "core"),
    *("choice", "runs", "plot", "simulators"),
)
NAMES = [name for name in fsdash.__all__ if name not in ("__version__", *SUBMODULES)]
MORE = {
    "fsdash.theory": "Constants Sizes measure reward_error fsvi_bound vi_bound fsavi_bound "
    "repaired_bound rolling_bound advise",
    "fsdash.models": "check_transitions guess_columns DataFaults suggest_slow resplit "
    "discount_factor to_quantecon content_hash",
    "fsdash.algorithms": "fsavi LinearArchitecture e_qi slow_agnostic fvi fsfvi frolling fqi",
    "fsdash.regression": "Linear Deep",
    "fsdash.core": "disagreement simulate_pair frozen_blocks visits Coordinate",
    "fsdash.choice": "rank_splits",
    "fsdash.runs": "work_to_reach",
    "fsdash.plot": "learning_curves frontier policy",
    "fsdash.simulators": "check_simulator certify_simulator plan_simulator",
}
"""The documented names of the submodules."""
PUBLIC = {f"fsdash.{name}": getattr(fsdash, name) for name in NAMES} | {
    f"{module}.{name}": getattr(import_module(module), name)
    for module, names in MORE.items()
    for name in names.split()
}
DOCUMENTED = {name: value for name, value in PUBLIC.items() if not isinstance(value, Mapping)}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}


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
    few = {"fsdash.domains", "fsdash.domains.lookup"}
    assert {name for name in loaded if name.startswith("fsdash.")} == few


@pytest.mark.processes
def test_using_every_name_needs_neither_streamlit_nor_plotly_nor_scikit_learn():
    loaded = modules_after("from fsdash import *")
    assert "fsdash.runs.runner" in loaded
    assert not loaded & {"streamlit", "sklearn", "plotly"}


def test_every_listed_name_can_be_loaded_and_is_no_module():
    """A submodule of `fsdash` becomes an attribute when it is imported."""
    assert set(SUBMODULES) < set(fsdash.__all__) <= set(dir(fsdash))
    import_module("fsdash.algorithms.fsvi")
    for name, value in DOCUMENTED.items():
        assert not inspect.ismodule(value) and value.__name__ == name.rpartition(".")[2]
    for name in SUBMODULES:
        assert inspect.ismodule(getattr(fsdash, name))


def test_type_checkers_read_the_names():
    folder = Path(fsdash.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "__init__.pyi").exists()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No fsdash attribute no_such_name"):
        fsdash.no_such_name  # noqa: B018


def exported_code() -> Iterator[str]:
    """The parts of the Python code that pages export: texts with an import of fsdash."""
    for path in (Path(fsdash.__file__).parent / "dashboard").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.search(r"^(from|import) fsdash", text, re.MULTILINE):
                yield text


@pytest.mark.parametrize("code", list(exported_code()))
def test_exported_code_uses_public_names_only(code):
    """A public name is listed by `fsdash` or by one of its packages other than the dashboard."""
    for module, names in re.findall(r"^from (fsdash\S*) import (.+)$", code, re.MULTILINE):
        assert module.count(".") <= 1 and module not in ("fsdash.dashboard", "fsdash.cli")
        assert set(names.split(", ")) <= set(import_module(module).__all__)
    assert set(re.findall(r"\bfsdash\.(\w+)\(", code)) <= set(fsdash.__all__)
    assert not re.search(r"^import fsdash\.", code, re.MULTILINE)


MORE_ARGUMENTS = {"fsdash.from_functions": 4, "fsdash.from_markov_chain": 3}
"""A model's parts in the order of its definition: states, actions, transition, reward."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_after_the_second_are_keyword_only(name):
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    assert sum(p.kind in positional for p in parameters) <= MORE_ARGUMENTS.get(name, 2)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_name_is_documented_with_an_example(name):
    text = inspect.getdoc(DOCUMENTED[name])
    sections = ["Examples\n--------"]
    if name in FUNCTIONS:
        sections += ["Parameters\n----------", "Returns\n-------"]
        if inspect.isgeneratorfunction(DOCUMENTED[name]):
            sections[-1] = "Yields\n------"
    for section in sections:
        assert section in text, f"{name}: the docstring has no section {section.split()[0]}"
