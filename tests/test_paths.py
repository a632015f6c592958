"""How many project files one action of a visitor passes through: few, so that one can follow it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.processes
@pytest.mark.parametrize(("action", "most"), [("start", 28), ("choose", 16)])
def test_an_action_passes_through_few_files(action, most):
    # On a busy machine the experiment may have to wait; the page then shows its place in the queue.
    files = next((n for n in map(files_of, [action] * 3) if n <= most), None)
    assert files is not None and files > 5


def files_of(action):
    output = subprocess.run(
        [sys.executable, "-m", "tools.trace_calls", action],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    ).stdout
    name, files = output.split()[:2]
    assert name == f"{action}:"
    return int(files)
