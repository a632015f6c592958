"""Compiling the kernels once: the messages, and when it happens again."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fsdash import compilation
from fsdash.cli.main import main
from fsdash.compilation import ensure_compiled


@pytest.fixture
def steps_done(tmp_path, monkeypatch):
    """Two cheap steps instead of the real ones, and a cache of their own; the steps done so far."""
    done = []
    steps = [(name, lambda name=name: done.append(name)) for name in ("first", "second")]
    monkeypatch.setattr(compilation, "_steps", lambda: steps)
    monkeypatch.setattr(compilation, "_stamp", lambda: tmp_path / compilation.STAMP)
    monkeypatch.setattr(compilation, "_clear_cache", lambda: done.clear())
    return done


def test_the_first_call_compiles_and_reports_each_step(steps_done, capsys):
    ensure_compiled()
    assert steps_done == ["first", "second"]
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith(compilation.MESSAGE) for line in lines)
    assert [line.removeprefix(compilation.MESSAGE) for line in lines] == [
        ": 1 of 2, first …",
        ": 2 of 2, second …",
        ": done",
    ]


def test_the_second_call_does_nothing(steps_done, capsys):
    ensure_compiled()
    steps_done.clear()
    capsys.readouterr()
    ensure_compiled()
    assert steps_done == [] and capsys.readouterr().err == ""


def test_changed_sources_are_compiled_again(steps_done, monkeypatch):
    ensure_compiled()
    monkeypatch.setattr(compilation, "_sources", lambda: ["kernels.py 1 2"])
    assert not compilation.is_compiled()


def test_the_command_compiles_and_can_be_forced(steps_done, capsys):
    assert main(["compile"]) == 0
    assert steps_done == ["first", "second"]
    steps_done.clear()
    capsys.readouterr()
    assert main(["compile"]) == 0
    assert steps_done == [] and "already compiled" in capsys.readouterr().err
    assert main(["compile", "--force"]) == 0
    assert steps_done == ["first", "second"]


@pytest.mark.processes
def test_every_file_with_kernels_is_found_whatever_else_is_imported():
    """The fingerprint would otherwise depend on the command, and each would compile again."""
    code = "from fsdash.compilation import _sources; print(*_sources(), sep='\\n')"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    package = Path(compilation.__file__).parent
    with_kernels = [
        f for f in package.rglob("*.py") if re.search(r"^@.*\bjit\b", f.read_text(), re.M)
    ]
    assert len(with_kernels) > 10
    assert sorted(line.split()[0] for line in found) == sorted(f.name for f in with_kernels)


def test_bad_input_is_reported_before_anything_is_compiled(steps_done, capsys):
    assert main(["solve", "no-such-domain"]) == 2
    assert steps_done == []
