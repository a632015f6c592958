"""`make soak` in small: random commands, a link to every page, and damaged files."""

import subprocess
import sys

import pytest


@pytest.mark.processes
@pytest.mark.slow
def test_a_short_soak_finds_no_problem():
    counts = ("--commands", "30", "--links", "2", "--imports", "20", "--seed", "5")
    done = subprocess.run(
        [sys.executable, "-m", "tools.soak", *counts], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 problems" in done.stdout
    assert done.stdout.count("link to") >= 13
