"""The imports between the parts of fsdash, and the names of classes, read from the source files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fsdash"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
MAX_SCRIPT_LINES = 10
SHARED_BY_PAGES = ("widgets", "curves")
"""Folders of the dashboard that are not pages."""


def name_of(path: Path) -> str:
    """The dotted name of a module, `fsdash.core.model`; a package has the name of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(node: ast.AST, for_types: bool) -> Iterator[ast.AST]:
    """All parts of a syntax tree; without `for_types`, not what is below `if TYPE_CHECKING`."""
    yield node
    skipped = isinstance(node, ast.If) and not for_types and "TYPE_CHECKING" in ast.dump(node.test)
    for child in node.orelse if skipped else ast.iter_child_nodes(node):
        yield from nodes(child, for_types)


def imports(path: Path, for_types: bool = True) -> Iterator[str]:
    """The dotted names that a module imports anywhere, also inside functions.

    `from a import b` counts as `a` and `a.b`, since b may be a module.
    """
    for node in nodes(ast.parse(path.read_text(encoding="utf-8")), for_types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by the full name"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def forbidden(modules: list[Path], is_forbidden) -> list[str]:
    """The imports of these modules that are forbidden, as `module imports name`."""
    return [
        f"{name_of(path)} imports {name}"
        for path in modules
        for name in imports(path)
        if is_forbidden(name)
    ]


def modules_in(package: str) -> list[Path]:
    found = [path for path in MODULES if within(name_of(path), package)]
    assert found, f"there is no package {package}"
    return found


def pages() -> list[str]:
    dashboard = PACKAGE / "dashboard"
    return [
        folder.name
        for folder in sorted(dashboard.iterdir())
        if (folder / "view.py").exists() and folder.name not in SHARED_BY_PAGES
    ]


def package_of(name: str) -> str:
    """The part of fsdash that a name belongs to, `fsdash.core`; or `fsdash` for its own names."""
    part = ".".join(name.split(".")[:2])
    folder = ROOT.joinpath(*part.split("."))
    return part if folder.is_dir() or folder.with_suffix(".py").exists() else "fsdash"


def test_the_packages_form_a_directed_acyclic_graph():
    """All imports count, also those inside functions, except those for type checkers."""
    packages: dict[str, set[str]] = {}
    for path in MODULES:
        importer = package_of(name_of(path))
        for name in imports(path, for_types=False):
            # `from fsdash import version` names the package `fsdash.version` only.
            if name == "fsdash" or not within(name, "fsdash"):
                continue
            if (imported := package_of(name)) != importer:
                packages.setdefault(importer, set()).add(imported)
    TopologicalSorter(packages).prepare()  # raises an error that names a cycle


def test_only_the_dashboard_imports_streamlit():
    library = [path for path in MODULES if not within(name_of(path), "fsdash.dashboard")]
    assert not forbidden(library, lambda name: within(name, "streamlit"))


def test_core_imports_only_core_and_errors():
    allowed = ("fsdash.core", "fsdash.errors")
    assert not forbidden(
        modules_in("fsdash.core"),
        lambda name: within(name, "fsdash") and name != "fsdash" and not within(name, *allowed),
    )


def test_figures_do_not_import_the_dashboard():
    assert not forbidden(
        modules_in("fsdash.figures"), lambda name: within(name, "fsdash.dashboard")
    )


def test_the_library_does_not_import_the_dashboard():
    # The command line starts the dashboard.
    above = ("fsdash.dashboard", "fsdash.cli", "fsdash.__main__")
    library = [path for path in MODULES if not within(name_of(path), *above)]
    assert not forbidden(library, lambda name: within(name, "fsdash.dashboard"))


def test_choice_does_not_import_runs():
    assert not forbidden(modules_in("fsdash.choice"), lambda name: within(name, "fsdash.runs"))


def test_the_store_does_not_import_the_server():
    assert not forbidden(
        modules_in("fsdash.runs.store"), lambda name: within(name, "fsdash.runs.server")
    )


@pytest.mark.parametrize("page", pages())
def test_no_page_imports_another_page(page):
    others = [f"fsdash.dashboard.{other}" for other in pages() if other != page]
    assert not forbidden(modules_in(f"fsdash.dashboard.{page}"), lambda name: within(name, *others))


def test_what_pages_share_does_not_import_pages():
    every_page = [f"fsdash.dashboard.{page}" for page in pages()]
    shared = [
        path for path in modules_in("fsdash.dashboard") if not within(name_of(path), *every_page)
    ]
    assert not forbidden(shared, lambda name: within(name, *every_page))


@pytest.mark.parametrize("page", pages())
def test_the_state_and_the_wording_of_a_page_do_not_import_streamlit(page):
    folder = PACKAGE / "dashboard" / page
    pure = [folder / name for name in ("state.py", "text.py") if (folder / name).exists()]
    assert not forbidden(pure, lambda name: within(name, "streamlit"))


def test_no_two_classes_have_the_same_name():
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_page_scripts_are_short(script):
    assert len(script.read_text(encoding="utf-8").splitlines()) <= MAX_SCRIPT_LINES
