"""A domain and an algorithm from outside the package, in the command line and on the pages.

Two files of a user, written to a temporary folder, are all that is needed: the toy domain describes
its parameters and brings a drawing and a policy figure, and the toy algorithm registers itself.
"""

import base64
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.inspector.url import URL as INSPECTOR_URL
from fsdash.dashboard.run_lab.plans import CUSTOM
from fsdash.dashboard.service import Service, _service
from fsdash.domains import DOMAINS, make, register
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.figures.palette import FAMILY_COLOURS, algorithm_colour
from fsdash.runs.estimate import worker_seconds
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import default_url
from fsdash.theory.measured_domains import measured_domains
from tests.dashboard.kit import address, figures, opened, traces
from tests.runs.work import over

ROOT = Path(__file__).parents[1]
HELP = "Number of toys that fit on the shelf."

DOMAIN_FILE = f'''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter


@dataclass(frozen=True)
class ToyShop(Domain):
    title: ClassVar[str] = "A toy shop"
    presets: ClassVar[dict] = {{"default": {{}}, "tiny": {{"shelf": 2}}}}
    figures: ClassVar[str | None] = __name__

    shelf: int = parameter(4, label="Shelf", unit="toys", help="{HELP}", low=1)
    p: float = parameter(3.0, help="Price of a toy.")
    label: str = parameter("oak", label="Label", help="What the toys are sold as.")
    gamma: float = discount(0.9)

    @property
    def shape(self):
        return 2, self.shelf + 1, 2, 2

    def build(self):
        season, stock, order = np.arange(2), np.arange(self.shelf + 1), np.arange(2)
        x, y, a = np.ix_(season, stock, order)
        sold = np.minimum(y, 1 + x)
        return FastSlowMDP(
            name=self.name,
            reward_XYA=self.p * sold - a,
            noise_W=[0.9, 0.1],
            next_slow=np.array([[0, 1], [1, 0]])[:, None, None, :],
            next_fast=np.minimum(y - sold + 2 * a, self.shelf)[..., None],
            gamma=self.gamma,
            slow=Axis(("season",), season),
            fast=Axis(("toys",), stock),
            actions=Axis(("order",), order),
        )


def drawing(domain):
    from fsdash.figures.svg import Pen

    return Pen().drawing(340, 40, [Pen().text(170, 20, f"a shelf of {{domain.shelf}}")])


def describe(domain):
    return "When to order toys?"


def policy_figures(inspected):
    import plotly.graph_objects as go

    from fsdash.figures.policies.generic import common_figures
    from fsdash.figures.policies.inspected import PolicyFigure

    def orders():
        return go.Figure(go.Bar(y=inspected.policy_PXY[0].sum(axis=1), name="toy orders"))

    own = PolicyFigure("toys", "Toy orders", "Orders in each season.", orders)
    return (own, *common_figures(inspected))
'''

ALGORITHM_FILE = """
from fsdash.algorithms import e_vi
from fsdash.algorithms.registry import register
from fsdash.fields import Field
from fsdash.sampling import Sampling


def toy_iteration(model, rng, U0_XY, draws):
    yield from e_vi(model, rng, U0_XY=U0_XY, sampling=Sampling(M=draws))


register(
    "toy-vi",
    toy_iteration,
    title="Toy VI",
    description="Value iteration with toy samples.",
    parameters={"draws": Field(3, "Samples of a toy.", 1, 100)},
    initial="U0_XY",
    family="toy",
)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with the user's two files."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "toy_domain.py").write_text(DOMAIN_FILE)
    (folder / "toy_algorithm.py").write_text(ALGORITHM_FILE)
    return folder


@pytest.fixture(scope="module")
def toys(files):
    """Both toys in this process; worker processes find them by the environment variables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(files))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(files), str(ROOT)]))
        patch.setenv("FSDASH_DOMAINS", "toy_domain:ToyShop")
        patch.setenv("FSDASH_ALGORITHMS", "toy_algorithm")
        register(importlib.import_module("toy_domain").ToyShop)
        importlib.import_module("toy_algorithm")
        yield
        del DOMAINS["toyshop"], ALGORITHMS["toy-vi"]
        for module in ("toy_domain", "toy_algorithm"):
            del sys.modules[module]


@pytest.fixture(scope="module")
def service(toys, tmp_path_factory) -> Service:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSDASH_DATA", str(tmp_path_factory.mktemp("toys")))
        patch.delenv("FSDASH_DATABASE_URL", raising=False)
        yield _service(default_url())
        st.cache_resource.clear()


def html(test) -> str:
    return " ".join(element.proto.body for element in test.get("html"))


# -------------------------------------------------------------------------------- the command line


@pytest.mark.processes
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("domains", ["toyshop", "tiny", "shelf=2"]),
        ("algorithms", ["toy-vi", "Toy VI", "draws=3"]),
        ("solve toyshop --method fsvi -T 2", ["max_regret"]),
        ("constants toyshop --set shelf=3", ["r_max", "l_f"]),
        (
            "run toyshop --algorithm toy-vi,e-fsvi -T 2 --iterations 2 --replications 2",
            ["Toy VI", "E-FSVI, T=2"],
        ),
    ],
)
def test_the_command_line_knows_both_by_the_environment_variables(files, command, expected):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(files), str(ROOT)]),
        "FSDASH_DOMAINS": "toy_domain:ToyShop",
        "FSDASH_ALGORITHMS": "toy_algorithm",
    }
    done = subprocess.run(
        [sys.executable, "-m", "fsdash", *command.split()],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    for text in expected:
        assert text in done.stdout


# --------------------------------------------------------------------------------------- the pages


def open_lab(**query):
    return opened("5_Run_lab.py", preset=CUSTOM, domain="toyshop", **query)


def test_the_form_shows_the_texts_and_the_drawing_of_the_domain(service):
    test = open_lab(algorithms="toy-vi")
    shelf = test.number_input(key="lab.toyshop.shelf")
    assert shelf.label == "Shelf (toys)" and HELP in shelf.help and shelf.value == 4
    price = test.number_input(key="lab.toyshop.p")
    assert "Price of a toy." in price.help and "sold" not in price.help  # the inventory has a p too
    label = test.text_input(key="lab.toyshop.label")
    assert label.label == "Label" and label.value == "oak"
    domain = make("toyshop")
    assert base64.b64encode(domain_svg(domain).encode()).decode() in html(test)
    assert "a shelf of 4" in domain_svg(domain)
    assert describe_domain(domain) in [caption.value for caption in test.caption]
    shelf.set_value(0).run()
    assert "shelf = 0" in test.error[0].value


def test_the_form_offers_the_algorithm_with_its_parameters_and_an_estimate(service):
    test = open_lab(algorithms="toy-vi")
    draws = test.number_input(key="lab.toy-vi.draws")
    assert draws.value == 3 and "Samples of a toy." in draws.help
    assert not test.button(key="start").disabled
    assert any("if the machine is idle" in caption.value for caption in test.caption)
    assert worker_seconds(RunSpec("toyshop", "toy-vi", iterations=5)) > 0


@pytest.mark.processes
def test_an_experiment_with_both_runs_on_worker_processes_and_is_drawn(service):
    test = open_lab(
        algorithms="toy-vi,e-vi",
        unit="iterations",
        budget="3",
        replications="1",
        **{"toyshop.p": "5", "toyshop.label": "old oak"},
    )
    test.button(key="start").click().run()
    assert not test.exception
    experiment = over(service.store, address(test)["experiment"])
    assert experiment.status == "finished"
    assert {run.spec.algorithm for run in experiment.runs} == {"toy-vi", "e-vi"}
    domains = [run.spec.build_domain() for run in experiment.runs]
    assert all(domain.p == 5 and domain.label == "old oak" for domain in domains)

    drawn = traces(figures(opened("5_Run_lab.py", experiment=experiment.id))["curves"])
    colours = {name: series.get("line", {}).get("color") for name, series in drawn.items()}
    own = algorithm_colour("toy")
    assert own in colours.values() and FAMILY_COLOURS["VI"] in colours.values()

    run = next(run for run in experiment.runs if run.spec.algorithm == "toy-vi")
    page = opened("7_Policy_inspector.py", experiment=experiment.id, run=str(run.id))
    assert traces(figures(page)["policy-toys"]).keys() == {"toy orders"}


def test_the_inspector_solves_the_domain_and_shows_its_own_figure(service):
    page = opened("7_Policy_inspector.py", domain="toyshop", T="2")
    assert not page.error
    assert traces(figures(page)["policy-toys"]).keys() == {"toy orders"}
    assert "Orders in each season." in " ".join(caption.value for caption in page.caption)
    for name in ("actions", "values", "difference", "visits"):
        page.pills(key=INSPECTOR_URL.key("view")).set_value(name).run()
        assert not page.exception and not page.error
        assert f"policy-{name}" in figures(page)


def test_choose_T_measures_the_domain_and_loads_its_constants(toys):
    page = opened("2_Bounds.py", tab="regret")
    page.button(key="load-toyshop").click().run()
    assert not page.exception
    measured = measured_domains()["toyshop"]
    assert address(page)["nx"] == "2"
    assert float(address(page)["Lr"]) == pytest.approx(measured.constants.l_r, rel=1e-6)
    assert measured.regret[2][0] >= 0


def test_both_survive_a_round_trip_as_json(toys):
    spec = RunSpec("toyshop", "toy-vi", domain_parameters={"shelf": 3}, iterations=2)
    assert RunSpec.from_json(spec.to_json()) == spec
    assert json.loads(spec.to_json())["domain_parameters"]["shelf"] == 3
