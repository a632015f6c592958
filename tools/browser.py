"""Find a Chromium for the browser tests, or install one.

It looks for the one named in FSDASH_BROWSER, then for one on the machine, then for one that
Playwright installed earlier. If there is none, it installs Debian's package where apt may be used,
and otherwise Playwright's. If that fails, it prints the remedy and exits with 0; the browser tests
then fail with the same remedy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = (
    "No Chromium was found for the browser tests. Install one (Debian: sudo apt-get install "
    "chromium; elsewhere: python -m playwright install --with-deps chromium) or name its path in "
    "FSDASH_BROWSER, then run make test again."
)


def _playwright_chromium() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _starts(path: str) -> bool:
    # Some distributions have a stub of this name that only asks for a snap package.
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def find_browser() -> str | None:
    """The path of a Chromium that starts, or None."""
    named = os.environ.get("FSDASH_BROWSER")
    if named:
        return named if _starts(named) else None
    for name in NAMES:
        path = shutil.which(name)
        if path and _starts(path):
            return path
    path = _playwright_chromium()
    return path if path and _starts(path) else None


def _runs(*command: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return subprocess.run(command, env=environment, check=False).returncode == 0
    except OSError:
        return False


def _apt_install() -> bool:
    """Install Debian's package. Ubuntu's package of the same name is a stub for a snap package."""
    release = Path("/etc/os-release")
    if not release.exists() or "ID=debian" not in release.read_text().splitlines():
        return False
    prefix = () if os.geteuid() == 0 else ("sudo", "-n")
    if prefix and not _runs(*prefix, "true"):
        return False
    print("Installing Debian's chromium for the browser tests")
    return _runs(*prefix, "apt-get", "update", "-qq") and _runs(
        *prefix, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"
    )


def main() -> None:
    """Print which browser the tests will use; install one if there is none."""
    path = find_browser()
    if path is None and "FSDASH_BROWSER" not in os.environ:
        if not _apt_install():
            _runs(sys.executable, "-m", "playwright", "install", "chromium")
        path = find_browser()
    print(f"Browser for the tests: {path}" if path else REMEDY)


if __name__ == "__main__":
    main()
