"""A user's domain, named by the environment variable FSDASH_DOMAINS or an entry point."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest

from fsdash.domains import DOMAINS, Domain, Gridworld, Inventory, load, make, parameter, register
from fsdash.domains.base import discount
from fsdash.domains.registry import Domains, load_installed
from fsdash.errors import InputError
from fsdash.runs.spec import RunSpec

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


def test_a_name_belongs_to_one_class():
    load("fsdash.domains.inventory:Inventory")  # the same class again changes nothing
    other = type("Inventory", (Inventory,), {})
    with pytest.raises(InputError, match="inventory exists already"):
        register(other)
    assert DOMAINS["inventory"] is Inventory


SHOP = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fsdash.domains import DOMAINS, Inventory, make, register

known = sorted(DOMAINS)  # read while this module is loaded


@register
@dataclass(frozen=True)
class Shop(Inventory):
    title: ClassVar[str] = "A shop"
"""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("module", "place", "code"),
    [
        ("machine", "machine:Machine", "import machine"),
        ("shop", "shop:Shop", "import shop"),
        ("shop", "shop:Shop", "import fsdash"),
    ],
)
def test_a_user_module_can_be_imported_before_and_by_the_registry(tmp_path, module, place, code):
    (tmp_path / "shop.py").write_text(SHOP)
    code += f"; from fsdash.domains import DOMAINS; print(DOMAINS['{module}'].title)"
    path = os.pathsep.join((str(ROOT), str(EXAMPLES), str(tmp_path)))
    environment = {**os.environ, "FSDASH_DOMAINS": place, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=240
    )
    title = {"machine": "A machine that wears in a slowly changing climate", "shop": "A shop"}
    assert done.stdout.strip() == title[module], done.stderr


def test_an_unusable_domain_is_reported_each_time_the_domains_are_read(monkeypatch):
    monkeypatch.setenv("FSDASH_DOMAINS", "nowhere:Nothing")
    domains = Domains(Inventory)
    for _ in range(2):
        with pytest.raises(InputError, match="nowhere:Nothing cannot be loaded"):
            list(domains)
    monkeypatch.setenv("FSDASH_DOMAINS", "")
    assert list(domains) == ["inventory"]


@pytest.mark.processes
def test_help_lists_the_user_domains():
    done = command("solve", "--help", domains="machine:Machine")
    assert done.returncode == 0, done.stderr
    assert "Domains: inventory, gridworld, pricing, machine." in done.stdout


@pytest.mark.processes
def test_help_is_shown_although_a_domain_cannot_be_loaded():
    done = command("solve", "--help", domains="nowhere:Machine")
    assert done.returncode == 0, done.stderr
    assert "nowhere:Machine cannot be loaded" in done.stdout


# ------------------------------------------------------------------------------------ entry points


def installed(monkeypatch, *values: str) -> None:
    entries = [EntryPoint("name", value, "fsdash.domains") for value in values]
    monkeypatch.setattr("fsdash.domains.registry.entry_points", lambda group: entries)


def test_the_domains_of_installed_packages_are_registered(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    installed(monkeypatch, "machine:Machine")
    load_installed()
    try:
        assert make("machine", "fragile").shape == (5, 5, 3, 3)
    finally:
        del DOMAINS["machine"], sys.modules["machine"]


@pytest.mark.parametrize("value", ["nowhere:Machine", "os:path", "fsdash.domains:Domain"])
def test_an_unusable_domain_of_a_package_is_a_warning(monkeypatch, value):
    installed(monkeypatch, value, "fsdash.domains:Gridworld")
    with pytest.warns(UserWarning, match=f"the domain {value} of an installed package cannot be"):
        load_installed()
    assert DOMAINS["gridworld"] is Gridworld


# ---------------------------------------------------------------------------------- text parameters


@dataclass(frozen=True)
class Archive(Inventory):
    """A domain that reads a file."""

    title: ClassVar[str] = "An archive"
    path: str = parameter("demand.csv", help="The file with the demands.")


def test_a_domain_can_take_a_path(tmp_path):
    own = Archive.parameters()["path"]
    assert own.kind == "str"
    assert own.default == "demand.csv"
    assert Archive(path=tmp_path / "a.csv").path == str(tmp_path / "a.csv")
    assert Archive(path="true").path == "true"
    for bad in (3, None, "two\nlines", "x" * 1001, b"bytes"):
        with pytest.raises(InputError, match=r"path = .*give text of at most 1,000"):
            Archive(path=bad)


def test_a_text_parameter_survives_in_a_specification():
    register(Archive)
    try:
        given = {"path": "my demands, 2024.csv"}
        spec = RunSpec("archive", "vi", domain_parameters=given, iterations=2)
        assert RunSpec.from_json(spec.to_json()) == spec
        assert spec.build_domain().path == given["path"]
        assert "--set 'path=my demands, 2024.csv'" in spec.to_command()
        assert "'path': 'my demands, 2024.csv'" in spec.to_python()
    finally:
        del DOMAINS["archive"]


def test_a_field_of_another_type_is_refused_with_its_name():
    @dataclass(frozen=True)
    class Odd(Domain):
        title: ClassVar[str] = "Odd"
        presets: ClassVar[dict] = {"default": {}}
        where: Path = Path()
        gamma: float = discount()
        shape = build = None

    with pytest.raises(InputError, match=r"Odd\.where is a field of type Path; use one of int"):
        register(Odd)
