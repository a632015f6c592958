"""README and guide: their Python runs, their links exist, and their commands are commands."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fsdash.cli.main import main
from fsdash.dashboard.shell import AUTHORS, PAPER_URL

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"")


def blocks(page: Path, language: str) -> list[str]:
    return [code for name, code in BLOCK.findall(page.read_text("utf-8")) if name == language]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.processes
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name)
def test_the_python_of_a_page_runs(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(page, "python")), "utf-8")
    result = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_exists(page):
    targets = ["".join(found) for found in LINK.findall(page.read_text("utf-8"))]
    local = [target for target in targets if not target.startswith(("http", "mailto"))]
    missing = [target for target in local if not (page.parent / target).exists()]
    assert not missing


def commands() -> list[str]:
    """The commands that begin with `fsdash` in the pages, without prompts and comments."""
    lines: list[str] = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for code in blocks(page, "") + blocks(page, "bash"):
            lines += re.findall(r"^\$? ?(fsdash [a-z].*)$", code, re.MULTILINE)
        lines += re.findall(r"`(fsdash [a-z][^`…]*)`", BLOCK.sub("", text))
    found = {line.split("#")[0].strip() for line in lines}
    return sorted(command for command in found if "COMMAND" not in command)


@pytest.mark.parametrize("command", commands())
def test_every_command_in_the_pages_is_known(command, capsys):
    words = shlex.split(command.replace("\\|", "|").split(" or ")[0])
    with pytest.raises(SystemExit) as end:
        main([words[1], "--help"])
    options = capsys.readouterr().out
    assert end.value.code == 0
    for word in words[2:]:
        if word.startswith("--") or re.fullmatch(r"-[Tk]", word):
            assert word.strip("[]") in options


def test_everything_names_the_same_paper():
    text = (ROOT / "CITATION.cff").read_text("utf-8").partition("preferred-citation:")[2]
    citation = dict(
        re.findall(r'^  (\w+): "(.*)"$', text.partition("references:")[0], re.MULTILINE)
    )
    address = f"https://doi.org/{citation['doi']}"
    assert citation["url"] == PAPER_URL == address
    assert citation["title"] in AUTHORS and citation["journal"] in AUTHORS
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Paper"] == address
    for page in ("README.md", "docs/index.md"):
        words = " ".join((ROOT / page).read_text("utf-8").split())
        assert address in words and citation["title"] in words
