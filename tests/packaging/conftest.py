"""The project built, installed into a new virtual environment, and served from there."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard.conftest import ROOT, free_port, visit, wait_until_healthy

NOT_SOURCE = (
    ".venv*",
    ".git",
    ".*_cache",
    ".hypothesis",
    ".data",
    "__pycache__",
    "*.egg-info",
    "build",
    "dist",
    "site",
)
__all__ = ["visit"]  # a fixture that opens pages of the `server` below


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and with the wheel that was built from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    # In a copy: a build leaves files behind, and two builds in one folder disturb each other.
    source = tmp_path_factory.mktemp("source") / "fsdash"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(source))
    return folder


@pytest.fixture(scope="session")
def environment(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment in which fsdash comes from the wheel.

    Other packages come from the environment that runs the tests, to save their download. A path
    file adds its folder without running the path files in it, so the link to the checkout that an
    editable installation has there stays without effect.
    """
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    (wheel,) = distributions.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"))
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder to start commands in."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="session")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file with everything that the installed dashboard prints."""
    return tmp_path_factory.mktemp("server") / "log.txt"


@pytest.fixture(scope="session")
def server(environment: Path, elsewhere: Path, server_log: Path) -> Iterator[str]:
    """The address of the installed dashboard, started in another folder."""
    port = free_port()
    command = [str(environment / "bin" / "fsdash"), "dashboard", "--port", str(port)]
    command += ["--data", str(elsewhere / "runs"), "--no-browser"]
    with server_log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=elsewhere, env=clean_environment(), stdout=output, stderr=output
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(url, process, server_log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def clean_environment() -> dict[str, str]:
    """The environment variables without those that lead to the checkout or to its data."""
    left_out = ("PYTHONPATH", "FSDASH_DATA", "FSDASH_DATABASE_URL", "NUMBA_CACHE_DIR")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def run(*command: str, cwd: Path | None = None) -> str:
    """What a command prints; if it fails, the test fails with its messages."""
    done = subprocess.run(
        command, cwd=cwd, env=clean_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    return done.stdout
