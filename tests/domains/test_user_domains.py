"""A user's domain, named by the environment variable FSDASH_DOMAINS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsdash.domains import load
from fsdash.errors import InputError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def command(*arguments: str, domains: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join((str(ROOT), str(EXAMPLES)))
    environment = {**os.environ, "FSDASH_DOMAINS": domains, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-m", "fsdash", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.processes
def test_the_command_line_and_its_workers_load_a_user_domain():
    done = command(
        "run",
        "machine",
        "--preset",
        "fragile",
        "--algorithm",
        "e-vi,e-fsvi,mpi",
        "-T",
        "3",
        "--replications",
        "2",
        "--iterations",
        "3",
        "--workers",
        "2",
        domains="machine:Machine",
    )
    assert done.returncode == 0, done.stderr
    assert "E-FSVI, T=3" in done.stdout


@pytest.mark.processes
@pytest.mark.parametrize(
    "place",
    ["machine", "machine:Nothing", "nowhere:Machine", "os:path", ":Y", "fsdash.domains:Domain"],
)
def test_an_unusable_domain_is_refused_in_one_line(place):
    done = command("domains", domains=place)
    assert done.returncode == 2
    assert f"FSDASH_DOMAINS: {place}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_name_can_be_registered_only_once():
    with pytest.raises(InputError, match="inventory exists already"):
        load("fsdash.domains.inventory:Inventory")


@pytest.mark.processes
def test_a_user_module_can_be_imported_before_the_registry():
    code = "import machine; from fsdash.domains import DOMAINS; print(DOMAINS['machine'].title)"
    path = os.pathsep.join((str(ROOT), str(EXAMPLES)))
    environment = {**os.environ, "FSDASH_DOMAINS": "machine:Machine", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=240
    )
    assert "slowly changing climate" in done.stdout, done.stderr
