"""A page is a script in pages/, a package with view.py, and one entry in navigation.py."""

import ast
from pathlib import Path

import pytest

from fsdash import dashboard
from fsdash.dashboard.navigation import PAGES
from tests.dashboard.kit import ROOT

SCRIPTS = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
PACKAGES = Path(dashboard.__file__).parent


def test_every_script_has_one_entry():
    entries = [ROOT / page.script for page in PAGES.values()]
    assert sorted(entries) == sorted(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_only_shows_the_view_of_its_package(script):
    source = script.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 10
    (page,) = {
        node.module.removeprefix("fsdash.dashboard.").split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
    }
    assert (PACKAGES / page / "view.py").exists()


PAGE_FOLDERS = sorted(folder.parent for folder in PACKAGES.glob("*/view.py"))


@pytest.mark.parametrize("folder", PAGE_FOLDERS, ids=lambda folder: folder.name)
def test_no_page_imports_another_page(folder):
    shared = {"curves", "widgets"}
    others = {other.name for other in PAGE_FOLDERS} - {folder.name} - shared
    for file in folder.glob("*.py"):
        source = file.read_text(encoding="utf-8")
        for other in others:
            assert f"fsdash.dashboard.{other}" not in source, f"{file.name} imports {other}"
