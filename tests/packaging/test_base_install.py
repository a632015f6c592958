"""The base installation: library and command line, without the packages of the extras.

The packages are installed here, so they are hidden: `import` and `find_spec` do not find a module
whose entry in `sys.modules` is None.
"""

import subprocess
import sys

import numpy as np
import pytest

from fsdash.algorithms import fvi
from fsdash.cli.main import main
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.regression import Deep
from fsdash.runs.runner import run_all
from fsdash.runs.spec import RunSpec
from tests.packaging.conftest import ROOT

HIDDEN = (
    "streamlit",
    "starlette",
    "plotly",
    "pyarrow",
    "sklearn",
    "altair",
    "uvicorn",
    "gymnasium",
    "PIL",
)
START = f"""
import sys

sys.modules.update(dict.fromkeys({HIDDEN!r}))

from fsdash import compilation
from fsdash.cli.main import main

compilation.ensure_compiled = lambda: None
"""
COMMANDS = (
    "domains",
    "algorithms",
    "bounds -T 2",
    "advise --sweeps 10",
    "constants inventory",
    "solve inventory --method fsvi -T 2",
    "run inventory --algorithm e-vi,e-fsvi,lin-fvi -T 2 --iterations 1 --replications 1",
)


def remedy(extra: str) -> str:
    return f'pip install "fsdash[{extra}]"'


def run_without_extras(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START + code], cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.processes
def test_all_names_and_the_commands_of_the_library_work_without_the_extras():
    done = run_without_extras(
        "from fsdash import *\n"
        f"for command in {COMMANDS!r}:\n"
        "    assert main(command.split()) == 0, command\n"
        f"assert not any(sys.modules[name] for name in {HIDDEN!r})\n"
    )
    assert done.returncode == 0, done.stderr
    for text in ("inventory", "deep-fvi", "vi_bound", "k =", "l_frozen", "max_regret", "Lin-FVI"):
        assert text in done.stdout


@pytest.mark.processes
@pytest.mark.parametrize("command", ["dashboard", "reproduce theory"])
def test_a_command_that_needs_the_dashboard_says_how_to_install_it(command):
    done = run_without_extras(f"sys.exit(main({command.split()!r}))")
    assert done.returncode == 2
    [message] = done.stderr.splitlines()
    assert message.startswith(f"fsdash {command.split()[0]}: ") and remedy("dashboard") in message


@pytest.mark.processes
@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("fsdash.figures.learning", "dashboard"),
        ("fsdash.dashboard.server", "dashboard"),
        ("fsdash.reproduce.archive", "dashboard"),
        ("fsdash.environments", "gymnasium"),
    ],
)
def test_a_module_that_needs_an_extra_says_how_to_install_it(module, extra):
    done = run_without_extras(
        "from importlib import import_module\n"
        "from fsdash.errors import InputError\n"
        "try:\n"
        f"    import_module({module!r})\n"
        "except InputError as error:\n"
        "    print(error)\n"
    )
    assert done.returncode == 0, done.stderr
    assert remedy(extra) in done.stdout


@pytest.fixture
def no_scikit_learn(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)


def test_a_neural_network_says_how_to_install_it(no_scikit_learn):
    with pytest.raises(InputError) as error:
        fvi(make("inventory").build(), np.random.default_rng(0), regress=Deep())
    assert remedy("deep") in str(error.value)


def test_a_run_with_a_neural_network_fails_before_its_first_policy(no_scikit_learn, capsys):
    spec = RunSpec("inventory", "deep-fvi", iterations=1, replications=1)
    frame, [ending] = run_all([spec])
    assert frame.empty and ending.outcome.status == "failed"
    assert remedy("deep") in ending.outcome.reason
    assert main(["run", *spec.to_command().split()[2:]]) == 2
    assert remedy("deep") in capsys.readouterr().err


def test_a_parquet_file_is_refused_before_the_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    command = "run inventory --algorithm e-vi --iterations 1 --replications 1 --out"
    assert main([*command.split(), str(tmp_path / "rows.parquet")]) == 2
    printed = capsys.readouterr()
    assert remedy("dashboard") in printed.err and not printed.out
