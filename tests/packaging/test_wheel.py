"""The wheel and the sdist contain the dashboard, and an installed dashboard shows every page."""

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from fsdash.compilation import MESSAGE
from tests.dashboard.browser import assert_fits
from tests.dashboard.conftest import ROOT
from tests.packaging.conftest import run

# `make test` gives all tests of a file to one worker, which builds, installs and serves once.
pytestmark = [
    pytest.mark.packaging,
    pytest.mark.slow,
    pytest.mark.processes,
]
PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
ENTRY_SCRIPTS = {"app.py", ".streamlit/config.toml", *(f"pages/{name}" for name in PAGES)}


def test_the_wheel_contains_the_dashboard_and_all_data_files(distributions: Path):
    (wheel,) = distributions.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"fsdash/dashboard/app/{script}" for script in ENTRY_SCRIPTS} <= names
    patterns = ("*.py", "*.csv", "*.json", "*.js", "py.typed")
    package = {path for pattern in patterns for path in (ROOT / "fsdash").rglob(pattern)}
    assert {path.relative_to(ROOT).as_posix() for path in package} <= names
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"fsdash"}


def test_the_sdist_contains_the_entry_scripts_and_the_tests(distributions: Path):
    (archive,) = distributions.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert ENTRY_SCRIPTS | {"setup.py", "README.md", "tests/packaging/test_wheel.py"} <= names


def test_the_installed_package_does_not_come_from_the_checkout(environment, elsewhere):
    python = str(environment / "bin" / "python")
    code = "import fsdash.dashboard.server as s; print(s.__file__); print(s.app_folder())"
    for path in run(python, "-c", code, cwd=elsewhere).split():
        assert Path(path).is_relative_to(environment)


def test_the_installed_command_line_works(environment, elsewhere):
    output = run(str(environment / "bin" / "fsdash"), "advise", "--sweeps", "10", cwd=elsewhere)
    assert "k =" in output


@pytest.mark.browser
def test_the_first_start_reports_the_compilation(server: str, server_log: Path):
    log = server_log.read_text(encoding="utf-8")
    assert f"{MESSAGE}: 1 of " in log and f"{MESSAGE}: done" in log
    assert log.index(f"{MESSAGE}: done") < log.index(server)


@pytest.mark.browser
@pytest.mark.parametrize("script", ["app.py", *PAGES])
def test_every_page_opens_with_its_title_and_theme(visit: Callable[..., Page], script: str):
    path = "" if script == "app.py" else Path(script).stem.partition("_")[2]
    page = visit(f"/{path}", theme="dark")
    expect(page.get_by_test_id("stMain").locator("h1")).to_be_visible()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert_fits(page, "dark")


@pytest.mark.browser
def test_a_chart_is_drawn_with_the_plotly_of_the_page(visit: Callable[..., Page]):
    page = visit("/Bounds")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    addresses = "() => performance.getEntriesByType('resource').map((entry) => entry.name)"
    plotly = [name for name in page.evaluate(addresses) if "plotly" in name]
    assert len(plotly) == 1 and plotly[0].endswith(".min.js")


@pytest.mark.browser
def test_runs_are_stored_in_the_folder_given(visit: Callable[..., Page], elsewhere: Path):
    page = visit("/Run_lab?tab=stored")
    expect(page.get_by_test_id("stMain").locator("h1")).to_be_visible()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    assert (elsewhere / "runs" / "runs.db").exists()
