"""`make test-services` where PostgreSQL cannot be installed: it says so and succeeds."""

import subprocess

import pytest

from tools import postgres


@pytest.mark.parametrize(
    ("user", "apt", "installed", "reason"),
    [
        (1000, "/usr/bin/apt-get", "works", "only root can install it"),
        (0, None, "works", "no apt-get"),
        (0, "/usr/bin/apt-get", "fails", "could not be installed"),
        (0, "/usr/bin/apt-get", "hangs", "took more than"),
    ],
)
def test_the_tests_on_postgresql_are_skipped_with_a_reason(
    monkeypatch, capsys, user, apt, installed, reason
):
    def run(command, **options):
        if installed == "hangs":
            raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(postgres, "find_programs", lambda: None)
    monkeypatch.setattr(postgres.os, "geteuid", lambda: user)
    monkeypatch.setattr(postgres.shutil, "which", lambda name: apt)
    monkeypatch.setattr(postgres.subprocess, "run", run)
    assert postgres.main() is None  # the exit code is 0
    shown = capsys.readouterr().err
    assert "SKIPPED" in shown and reason in shown
