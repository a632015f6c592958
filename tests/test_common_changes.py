"""The ten common changes of CONTRIBUTING.md, each made in a copy of the project and tried there.

A test edits or writes the files that the table names, and no others. It fails if the table states
another number of files.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.processes

# The copy has the compiled kernels of the original, but commands would compare their fingerprint.
START = """
from fsdash import compilation
from fsdash.cli.main import main

compilation.ensure_compiled = lambda: None


def command(text):
    assert main(text.split()) == 0


def open_page(script=None, **query):
    from streamlit.testing.v1 import AppTest

    test = AppTest.from_file("app.py", default_timeout=60)
    if script:
        test.switch_page(script)
    for name, value in query.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception, test.exception
    return test

"""


class Project:
    """A copy of the project. `changed` holds the paths of the files that were edited or written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changed: set[str] = set()
        for name in ("fsdash", "pages", ".streamlit"):
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy2(ROOT / "app.py", folder / "app.py")

    def write(self, path: str, content: str) -> None:
        """Write a new file."""
        assert not (self.folder / path).exists()
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(content, "utf-8")
        self.changed.add(path)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the one place in a file that reads `old`."""
        source = (self.folder / path).read_text("utf-8")
        assert source.count(old) == 1, f"{path} has {old!r} {source.count(old)} times"
        (self.folder / path).write_text(source.replace(old, new), "utf-8")
        self.changed.add(path)

    def run(self, code: str, **environment: str) -> str:
        """What the code prints when it runs in the copy, after `START`."""
        own = {"PYTHONPATH": str(self.folder), "FSDASH_DATA": str(self.folder / "data")}
        done = subprocess.run(
            [sys.executable, "-c", START + code],
            cwd=self.folder,
            env={**os.environ, **own, **environment},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path)


def documented_files(change: str) -> int:
    """The number of files that CONTRIBUTING.md states for a change."""
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    [number] = re.findall(rf"^\| {re.escape(change)} \| (\d+) \|", table, flags=re.MULTILINE)
    return int(number)


def test_an_algorithm(project):
    project.write(
        "fsdash/algorithms/lazy.py",
        "from fsdash.algorithms.e_vi import e_vi\n"
        "from fsdash.sampling import Sampling\n\n\n"
        "def lazy(model, rng, U0_XY, draws):\n"
        "    yield from e_vi(model, rng, U0_XY=U0_XY, sampling=Sampling(M=draws))\n",
    )
    project.edit(
        "fsdash/algorithms/registry.py",
        "TABULAR = (\n",
        "from fsdash.algorithms.lazy import lazy\n\n"
        "TABULAR = (\n"
        '    Algorithm("lazy", "Lazy VI", "Few samples.", lazy,\n'
        '              {"draws": Field(2, "Samples of Lazy VI.", 1, 9)}, "U0_XY", "lazy"),\n',
    )
    assert len(project.changed) == documented_files("an algorithm")
    printed = project.run(
        'command("algorithms")\n'
        'command("run inventory --algorithm lazy --iterations 1 --replications 1")\n'
        "from fsdash.figures.palette import algorithm_colour\n"
        "from fsdash.runs.estimate import worker_seconds\n"
        "from fsdash.runs.spec import RunSpec\n"
        'assert worker_seconds(RunSpec("inventory", "lazy", iterations=5)) > 0\n'
        'assert algorithm_colour("lazy")\n'
        'test = open_page("pages/5_Run_lab.py", preset="custom", algorithms="lazy")\n'
        'print(test.number_input(key="lab.lazy.draws").help)\n'
        'assert not test.button(key="start").disabled\n'
    )
    assert "draws=2" in printed and "Lazy VI" in printed and "Samples of Lazy VI." in printed


def test_a_domain(project):
    project.write("fsdash/domains/table.py", TABLE)
    project.edit(
        "fsdash/domains/registry.py",
        "(Inventory, Gridworld, Pricing)",
        "(Inventory, Gridworld, Pricing, Table)",
    )
    project.edit(
        "fsdash/domains/registry.py",
        "from fsdash.errors import InputError\n",
        "from fsdash.domains.table import Table\nfrom fsdash.errors import InputError\n",
    )
    assert len(project.changed) == documented_files("a domain")
    printed = project.run(
        'command("solve table --method mpi")\n'
        'lab = open_page("pages/5_Run_lab.py", preset="custom", domain="table")\n'
        'print(lab.number_input(key="lab.table.bonus").help)\n'
        'inspector = open_page("pages/7_Policy_inspector.py", domain="table")\n'
        "assert not inspector.error and not inspector.warning\n"
        "assert inspector.get('bidi_component')\n"
        'measured = open_page("pages/3_Choose_T.py", model="table")\n'
        "assert measured.metric and not measured.exception\n"
        'theory = open_page("pages/2_Bounds.py", tab="regret")\n'
        'theory.button(key="load-table").click().run()\n'
        "assert not theory.exception\n"
    )
    assert "max_regret" in printed and "Added to one reward." in printed


STORED_COLUMN = """
import sqlite3

from fsdash.dashboard.curves.text import Y_LABELS
from fsdash.figures.learning import learning_figure
from fsdash.runs.runner import run_all
from fsdash.runs.store.experiments import Store
from fsdash.runs.summary import summarise
from tests.runs.store.test_schema import VERSION_1
from tests.runs.work import base, finished_experiment

command("run inventory --algorithm vi --iterations 1 --replications 1")
assert Y_LABELS["span"] == "Span"
frame, _ = run_all([base()])
assert (frame["span"] > 0).all() and len(summarise(frame, y="span")) == len(frame)
assert learning_figure(frame, y="span").layout.yaxis.title.text == "span"

# A database of an earlier version, and an export without the column.
with sqlite3.connect("old.db") as connection:
    connection.executescript(VERSION_1)
store = Store("old.db")
assert store.rows([1])["span"].isna().all()
experiment = finished_experiment(store, base())
assert store.rows([experiment.runs[0].id])["span"].tolist() == frame["span"].tolist()
data = store.export(experiment.id)
again = store.experiment(store.import_(data, "me")).runs[0].id
assert store.rows([again])["span"].tolist() == frame["span"].tolist()
del data["runs"][0]["replications"][0]["rows"]["span"]
old = store.experiment(store.import_(data, "me")).runs[0].id
assert store.rows([old])["span"].isna().all()
"""


def test_a_recorded_column(project):
    project.edit(
        "fsdash/runs/columns.py",
        "\n)\n\nBY_NAME",
        '\n    Column("span", "float64", "DOUBLE", "Span", "Largest minus smallest value.",\n'
        '           role="measure", nullable=True, format=".3f"),\n)\n\nBY_NAME',
    )
    project.edit(
        "fsdash/runs/engine.py",
        '            "mean_return":',
        '            "span": float(np.ptp(self.values(snapshot))),\n            "mean_return":',
    )
    assert len(project.changed) == documented_files("a recorded column")
    printed = project.run(
        STORED_COLUMN, PYTHONPATH=os.pathsep.join([str(project.folder), str(ROOT)])
    )
    assert re.search(r"\bspan\b", printed)


def test_a_page(project):
    project.write(
        "fsdash/dashboard/hello/view.py",
        "import streamlit as st\n"
        "from fsdash.dashboard.shell import open_page\n"
        "from fsdash.dashboard.widgets.url_state import UrlState\n\n"
        'URL = UrlState("hello", {})\n\n\n'
        "def show():\n"
        '    open_page("Hello", URL)\n'
        '    st.title("A new page")\n'
        "    URL.write()\n",
    )
    project.write("pages/8_Hello.py", "from fsdash.dashboard.hello import view\n\nview.show()\n")
    project.edit(
        "fsdash/dashboard/navigation.py",
        "PAGES = {\n",
        'PAGES = {\n    "hello": PageLink("pages/8_Hello.py", "Hello", ""),\n',
    )
    assert len(project.changed) == documented_files("a page")
    printed = project.run(
        "from fsdash.dashboard.navigation import available_pages\n"
        'print(*(title.value for title in open_page("pages/8_Hello.py").title))\n'
        "print(*(page.script for page in available_pages()))\n"
    )
    assert "A new page" in printed and "pages/8_Hello.py" in printed


def test_a_bound(project):
    project.write(
        "fsdash/theory/doubled.py",
        "from fsdash.theory.bounds import vi_bound\n\n\n"
        "def doubled_regret(constants, k):\n"
        "    return 2 * vi_bound(constants, k)\n",
    )
    path = "fsdash/theory/table.py"
    project.edit(
        path,
        '        "trivial_bound":',
        '        "doubled": doubled_regret(constants, k_row),\n        "trivial_bound":',
    )
    project.edit(
        path,
        "import numpy as np\n",
        "import numpy as np\nfrom fsdash.theory.doubled import doubled_regret\n",
    )
    assert len(project.changed) == documented_files("a bound")
    header, row = project.run('command("bounds -T 2 --format csv")').splitlines()[:2]
    values = dict(zip(header.split(","), row.split(","), strict=True))
    assert float(values["doubled"]) == pytest.approx(2 * float(values["vi_bound"]))


def test_a_colour(project):
    project.edit(
        "fsdash/figures/palette.py",
        'VERMILLION = paired("#C65300"',
        'VERMILLION = paired("#AA0011"',
    )
    assert len(project.changed) == documented_files("a colour")
    printed = project.run(
        "import numpy as np\n"
        "from fsdash.figures.reward_error import reward_error_figure\n"
        "from fsdash.theory import preset\n"
        'constants = preset("reward-error-small").constants\n'
        "print(reward_error_figure(constants, np.arange(1, 9), 3).to_json())\n"
    )
    assert "#AA0011" in printed and "#C65300" not in printed


def test_a_parameter_of_e_fsvi(project):
    path = "fsdash/algorithms/e_fsvi.py"
    project.edit(path, "    T: int,\n", "    T: int,\n    patience: int = 7,\n")
    project.edit(
        path,
        "    check_T(model, T)\n",
        '    check_T(model, T)\n    print("patience is", patience)\n',
    )
    project.edit(
        "fsdash/algorithms/registry.py",
        '    "M_u": M_U,\n    "snapshots_per_sweep": PER_SWEEP,\n',
        '    "M_u": M_U,\n    "patience": Field(7, "A new one."),\n'
        '    "snapshots_per_sweep": PER_SWEEP,\n',
    )
    assert len(project.changed) == documented_files("a parameter of E-FSVI")
    printed = project.run(
        'command("run inventory --algorithm e-fsvi -T 2 --iterations 1 --replications 1 "\n'
        '        "--with M_u=1 --with patience=3")\n'
        'test = open_page("pages/5_Run_lab.py", preset="custom", algorithms="e-fsvi")\n'
        'print(test.number_input(key="lab.e-fsvi.patience").help)\n'
    )
    assert "patience is 3" in printed and "A new one." in printed


def test_a_text_on_a_page(project):
    project.edit("fsdash/dashboard/home/view.py", '"Must a', '"Entirely new words. Must a')
    assert len(project.changed) == documented_files("a text on a page")
    assert "Entirely new words." in project.run("print(open_page().title[0].value)")


def test_a_database_backend(project):
    """SQLite under another name, which SQLAlchemy learns from database.py alone."""
    project.edit(
        "fsdash/runs/store/database.py",
        "\nLOCK_TIMEOUT = ",
        "\nfrom sqlalchemy.dialects import registry\n\n"
        'registry.register("mydb", "sqlalchemy.dialects.sqlite.pysqlite", "dialect")\n'
        "LOCK_TIMEOUT = ",
    )
    assert len(project.changed) == documented_files("a database backend")
    printed = project.run(
        "from fsdash.runs.spec import RunSpec\n"
        "from fsdash.runs.store.experiments import Store\n"
        "store = Store()\n"
        'id = store.add_experiment("me", "first", [RunSpec("inventory", "vi", iterations=1)])\n'
        "print(store.url, store.experiment(id).name)\n",
        FSDASH_DATABASE_URL=f"mydb:///{project.folder / 'other.db'}",
    )
    assert printed.startswith("mydb:///") and printed.split()[-1] == "first"


def test_a_model_source(project):
    """A domain in a file of the user, outside the package."""
    project.write("source.py", TABLE)
    assert len(project.changed) == documented_files("a model source")
    printed = project.run('command("solve table --method mpi")', FSDASH_DOMAINS="source:Table")
    assert "max_regret" in printed


TABLE = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter


@dataclass(frozen=True)
class Table(Domain):
    """Two slow and two fast states; the action moves the fast state."""

    title: ClassVar[str] = "A model from a table"
    presets: ClassVar[dict] = {"default": {}}

    bonus: float = parameter(1.0, help="Added to one reward.")
    gamma: float = discount(0.9)

    @property
    def shape(self):
        return 2, 2, 2, 1

    def build(self):
        reward_XY = np.array([[0.0, 1.0], [2.0, 0.5]])
        reward_XY[0, 0] += self.bonus
        return FastSlowMDP(
            name=self.name,
            reward_XYA=reward_XY[:, :, None] - np.array([0.0, 0.1]),
            noise_W=[1.0],
            next_slow=np.array([1, 0]).reshape(2, 1, 1, 1),
            next_fast=np.array([[0, 1], [1, 0]]).reshape(1, 2, 2, 1),
            gamma=self.gamma,
        )
'''
