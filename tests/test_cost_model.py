"""A model where every reward is a cost, in every view: regret is shown instead of shares.

The domain is a user's file. Its optimal value is negative, so a share of it means nothing, and the
policy that minimises the immediate cost is not optimal.
"""

import importlib
import io
import json
import os
import re
import sys
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.snapshot import Snapshot
from fsdash.choice.solved import SolvedModel, solved_domain
from fsdash.cli.main import main
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.dashboard.curves.text import REGRET_SHOWN, REGRET_WORDS, Y_LABELS
from fsdash.dashboard.inspector import text as inspector_text
from fsdash.dashboard.inspector.url import URL as INSPECTOR_URL
from fsdash.dashboard.run_lab import files
from fsdash.dashboard.run_lab.plans import CUSTOM
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.service import Service, _service
from fsdash.dashboard.widgets.chart import table_json
from fsdash.domains import DOMAINS, register
from fsdash.figures.learning import learning_figure
from fsdash.runs.columns import BY_NAME, DEFAULT_MEASURE
from fsdash.runs.engine import Judge, execute
from fsdash.runs.runner import run_all
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import default_url
from fsdash.runs.summary import work_to_reach
from tests.dashboard.kit import address, figures, metrics, open_popover, opened, traces, words
from tests.runs.work import finished_experiment, over

pytestmark = pytest.mark.slow  # together they take several seconds

ROOT = Path(__file__).parents[1]
DOMAIN_FILE = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter


@dataclass(frozen=True)
class Upkeep(Domain):
    title: ClassVar[str] = "Keeping a pump in order"
    presets: ClassVar[dict] = {"default": {}}

    levels: int = parameter(6, help="Levels of wear.", low=2)
    repair: float = parameter(9.0, help="Cost of a repair.", low=0)
    bonus: float = parameter(0.0, help="Income in each period.")
    gamma: float = discount(0.9)

    @property
    def shape(self):
        return 2, self.levels, 2, 3

    def build(self):
        load, wear, repaired = np.arange(2), np.arange(self.levels), np.arange(2)
        x, y, a, w = np.ix_(load, wear, repaired, np.arange(3))
        grown = np.minimum(y + (w == 1) + x * (w == 2), self.levels - 1)
        cost = 2.0 * y[..., 0] + self.repair * a[..., 0] + 0 * x[..., 0]
        return FastSlowMDP(
            name=self.name,
            reward_XYA=self.bonus - cost,
            noise_W=[0.4, 0.4, 0.2],
            next_slow=np.array([[0, 0, 1], [1, 1, 0]])[:, None, None, :],
            next_fast=np.where(a == 1, 0, grown),
            frozen_next_fast=np.where(a == 1, 0, grown),
            gamma=self.gamma,
            slow=Axis(("load",), load),
            fast=Axis(("wear",), wear),
            actions=Axis(("repair",), repaired),
        )
"""
METHODS = ("e-fsvi", "e-vi", "slow-agnostic", "mpi")
SHARE, REGRET, RELATIVE = (
    BY_NAME[name].label for name in (DEFAULT_MEASURE, "mean_regret", "relative_regret")
)
MEANINGLESS = re.compile(r"\bnan\b|\bNone\b|of the optimum", re.IGNORECASE)


@pytest.fixture(scope="module")
def upkeep(tmp_path_factory):
    """The domain in this process; worker processes find it by the environment variables."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "upkeep_domain.py").write_text(DOMAIN_FILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
        patch.setenv("FSDASH_DOMAINS", "upkeep_domain:Upkeep")
        register(importlib.import_module("upkeep_domain").Upkeep)
        yield
        del DOMAINS["upkeep"], sys.modules["upkeep_domain"]


@pytest.fixture(scope="module")
def service(upkeep, tmp_path_factory) -> Service:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSDASH_DATA", str(tmp_path_factory.mktemp("costs")))
        patch.delenv("FSDASH_DATABASE_URL", raising=False)
        yield _service(default_url())
        st.cache_resource.clear()


def specs(bonus=0.0, methods=METHODS):
    return [
        RunSpec(
            "upkeep",
            name,
            T=3 if name == "e-fsvi" else None,
            domain_parameters={"bonus": bonus},
            iterations=6,
            replications=3,
        )
        for name in methods
    ]


@pytest.fixture(scope="module")
def experiment(service):
    return finished_experiment(service.store, *specs(), name="costs")


def html(test) -> str:
    """All tables of the page, without their style sheet."""
    return " ".join(
        re.sub(r"<style>.*?</style>", "", element.proto.body, flags=re.DOTALL)
        for element in test.get("html")
    )


def shown(test) -> str:
    """Everything that the page says, without exercises and help."""
    captions = " ".join(caption.value for caption in test.caption)
    return " ".join([html(test), captions, *metrics(test), *metrics(test).values()])


def drawn(test, key) -> dict[str, np.ndarray]:
    """The y values of every line of a chart, all of them finite."""
    lines = {
        name: np.asarray(series["y"], float)
        for name, series in traces(figures(test)[key]).items()
        if not series.get("fill") and series.get("mode") != "markers"
    }
    assert lines
    assert all(len(y) and np.isfinite(y).all() for y in lines.values())
    return lines


# ---------------------------------------------------------------------------------------- the rows


def test_every_row_has_regret_and_no_share(upkeep):
    frame, _ = run_all(specs())
    here = solved_domain(specs()[0].build_domain())
    assert here.optimal_return < 0 < here.initial_regret
    assert frame["fraction_of_optimal"].isna().all()
    np.testing.assert_allclose(
        frame["mean_regret"], here.optimal_return - frame["mean_return"], atol=1e-4
    )
    np.testing.assert_allclose(frame["relative_regret"], frame["mean_regret"] / here.initial_regret)
    assert (frame["mean_regret"] <= frame["max_regret"] + 1e-9).all()
    # Value iteration from zero starts with the initial policy.
    first = frame[(frame["algorithm"] == "e-vi") & (frame["step"] == 0)]
    np.testing.assert_allclose(first["relative_regret"], 1, atol=1e-4)
    table = work_to_reach(frame)
    assert set(table["measure"]) == {"mean_regret"}
    assert table[["start", "final", "relative"]].notna().all().all()


@pytest.mark.parametrize("optimum", [1e-3, 0.25, 0.5, 1.0, 3.0])
def test_shares_of_small_positive_optima(upkeep, optimum):
    """Shifting all rewards makes the optimal mean value positive, however small."""
    base = solved_domain(specs()[0].build_domain())
    bonus = (optimum - base.optimal_return) * (1 - 0.9)
    [spec] = specs(bonus, ["mpi"])
    rows = []
    execute(spec, 0, lambda record: rows.append(record.row))
    assert solved_domain(spec.build_domain()).optimal_return == pytest.approx(optimum, abs=1e-5)
    for row in rows:
        assert row["fraction_of_optimal"] == pytest.approx(
            row["mean_return"] / optimum, rel=1e-2, abs=1e-3 / optimum
        )
    assert rows[-1]["fraction_of_optimal"] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("shift", [0.0, -1e-9])
def test_an_optimum_of_zero_has_no_share(upkeep, shift):
    base = solved_domain(specs()[0].build_domain())
    [spec] = specs((shift - base.optimal_return) * (1 - 0.9), ["mpi"])
    rows = []
    execute(spec, 0, lambda record: rows.append(record.row))
    assert all(isnan(row["fraction_of_optimal"]) for row in rows)


def test_a_model_whose_initial_policy_is_optimal_has_no_relative_regret(service):
    free = RunSpec(
        "upkeep", "e-vi", domain_parameters={"repair": 1000.0}, iterations=3, replications=2
    )
    found = finished_experiment(service.store, free, name="never repair")
    frame = service.store.rows([run.id for run in found.runs])
    assert frame["relative_regret"].isna().all() and (frame["mean_regret"] == 0).all()
    test = opened("5_Run_lab.py", experiment=found.id)
    assert set(np.concatenate(list(drawn(test, "curves").values()))) == {0.0}
    assert not MEANINGLESS.search(shown(test)) and "from start" not in html(test)


# -------------------------------------------------------------------------------- the command line


@pytest.mark.parametrize("kind", ["table", "json", "csv"])
def test_the_command_line(upkeep, capsys, kind):
    command = "run upkeep --algorithm e-fsvi,e-vi -T 3 --iterations 4 --replications 2 --format"
    assert main([*command.split(), kind]) == 0
    out = capsys.readouterr().out
    assert "nan" not in out.lower()
    if kind == "table":
        heading = out.splitlines()[0]
        for name in ("start_regret", "best_regret", "final_regret", "relative_regret"):
            assert name in heading
        assert "fraction" not in heading
        assert [line.split()[2] for line in out.splitlines()[1:]][:4] == [
            "periodic",
            "cyclic",
            "rolling",
            "stationary",
        ]
    elif kind == "json":
        rows = json.loads(out)["rows"]
        assert rows[0]["fraction_of_optimal"] is None and rows[0]["mean_regret"] >= 0
    else:
        assert pd.read_csv(io.StringIO(out))["mean_regret"].notna().all()


def test_files_of_the_command_line(upkeep, tmp_path, capsys):
    for suffix in ("csv", "parquet", "json"):
        file = tmp_path / f"rows.{suffix}"
        line = f"run upkeep --algorithm vi --iterations 3 --out {file}"
        assert main(line.split()) == 0
        assert file.stat().st_size
    assert "NaN" not in (tmp_path / "rows.json").read_text()


# ------------------------------------------------------------------------------------------ the lab


@pytest.mark.processes
def test_an_experiment_runs_in_the_lab_and_shows_regret(service):
    test = opened(
        "5_Run_lab.py",
        preset=CUSTOM,
        domain="upkeep",
        algorithms="e-fsvi,e-vi",
        T="3",
        unit="iterations",
        budget="4",
        replications="2",
    )
    test.button(key="start").click().run()
    assert not test.exception
    found = over(service.store, address(test)["experiment"])
    assert found.status == "finished"
    drawn(opened("5_Run_lab.py", experiment=found.id), "curves")


def test_the_lab_shows_regret_in_curves_table_and_sentences(service, experiment):
    test = opened("5_Run_lab.py", experiment=experiment.id)
    assert REGRET_SHOWN in [caption.value for caption in test.caption]
    lines = drawn(test, "curves")
    frame = service.store.rows([run.id for run in experiment.runs])
    sampled = frame[(frame["algorithm"] == "e-vi") & (frame["evaluations"] > 0)]
    np.testing.assert_allclose(
        lines["Base E-VI"], sampled.groupby("evaluations")["mean_regret"].mean()
    )
    layout = figures(test)["curves"]["layout"]
    assert layout["yaxis"]["title"]["text"] == BY_NAME["mean_regret"].axis_title
    assert [shape["y0"] for shape in layout["shapes"]] == [0]
    for heading in (REGRET_WORDS.start, REGRET_WORDS.final):
        assert heading in html(test)
    notice = next(m.value for m in test.markdown if "a mean regret of" in m.value)
    assert "of the optimum" not in notice
    assert not MEANINGLESS.search(shown(test))


def test_the_measures_of_the_lab(service, experiment):
    test = open_popover(opened("5_Run_lab.py", experiment=experiment.id), "Options")
    radio = test.radio(key=lab_url().key("y"))
    assert radio.options[0] == REGRET and SHARE not in radio.options
    assert len(set(radio.options)) == len(radio.options) == len(Y_LABELS) - 1
    for option in ("relative_regret", "mean_return", "max_regret"):
        radio = test.radio(key=lab_url().key("y"))
        radio.set_value(option).run()
        assert not test.exception
        drawn(test, "curves")
        title = figures(test)["curves"]["layout"]["yaxis"]["title"]["text"]
        assert title == BY_NAME[option].axis_title
    linked = opened("5_Run_lab.py", experiment=experiment.id, y="mean_regret")
    assert "y" not in address(linked)  # it is the default here
    drawn(linked, "curves")


def test_single_runs_and_greedy_policies_are_drawn(service, experiment):
    test = opened("5_Run_lab.py", experiment=experiment.id, singles="1", J="1")
    assert any("greedy for J" in name for name in traces(figures(test)["curves"]))


# ------------------------------------------------------------------------------------ stored runs


def test_the_runs_page_shows_regret(service, experiment):
    test = opened("5_Run_lab.py", tab="stored", selected=experiment.id)
    drawn(test, "compared-upkeep")
    assert REGRET_SHOWN in [caption.value for caption in test.caption]
    assert REGRET_WORDS.final in html(test) and not MEANINGLESS.search(html(test))


def test_a_comparison_with_a_model_that_has_shares_shows_regret(service, experiment):
    gain = finished_experiment(
        service.store, *specs(bonus=20.0, methods=["e-vi", "mpi"]), name="gains"
    )
    alone = opened("5_Run_lab.py", tab="stored", selected=gain.id)
    assert REGRET_SHOWN not in [caption.value for caption in alone.caption]
    assert max(map(np.max, drawn(alone, "compared-upkeep").values())) <= 1.0001
    both = opened("5_Run_lab.py", tab="stored", selected=f"{experiment.id},{gain.id}")
    lines = drawn(both, "compared-upkeep")
    assert len(lines) == len(METHODS) + 2 and REGRET_WORDS.final in html(both)


def test_exports_have_no_nan_and_can_be_imported(service, experiment):
    store = service.store
    rows = files.rows_frame(store, [experiment])
    assert pd.read_csv(io.BytesIO(files.as_csv(rows)))["mean_regret"].notna().all()
    parquet = pd.read_parquet(io.BytesIO(files.as_parquet(rows)))
    assert parquet["relative_regret"].tolist() == rows["relative_regret"].tolist()
    assert "NaN" not in table_json(rows)
    full = files.full_json(store, [experiment])
    assert b"NaN" not in full
    [data] = files.read_export(full)
    again = store.experiment(store.import_(data, "me"))
    copied = store.rows([run.id for run in again.runs])
    assert copied["mean_regret"].tolist() == rows["mean_regret"].tolist()
    drawn(opened("5_Run_lab.py", experiment=again.id), "curves")


# ------------------------------------------------------------------------------------ the inspector


def test_the_inspector_shows_regret_of_a_saved_run(service, experiment):
    run = experiment.runs[0]
    page = opened("7_Policy_inspector.py", experiment=experiment.id, run=str(run.id))
    frame = service.store.rows([run.id])
    last = frame[frame["replication"] == 0].iloc[-1]
    assert metrics(page)[REGRET] == inspector_text.number(last["mean_regret"])
    assert metrics(page)[RELATIVE] == f"{last['relative_regret']:.1%}"
    assert SHARE not in metrics(page)
    sentence = inspector_text.describe_step(last, run.T)
    assert "mean regret" in sentence and sentence in words(page)
    assert not MEANINGLESS.search(" ".join([sentence, shown(page)]))


@pytest.mark.parametrize("compare", ["", "optimum", "phase", "step", "fsvi"])
def test_the_inspector_solves_and_compares(service, compare):
    page = opened("7_Policy_inspector.py", domain="upkeep", T="3", compare=compare)
    assert not page.error
    assert metrics(page) and (compare or REGRET in metrics(page))
    assert all(traces(figure) for figure in figures(page).values())
    for view in ("actions", "values", "difference", "visits"):
        page.pills(key=INSPECTOR_URL.key("view")).set_value(view).run()
        assert not page.exception and not page.error
        assert not re.search(r"\bnan\b", shown(page))


# ------------------------------------------------------------------------------------------ figures


def test_the_figure_follows_the_rule(upkeep):
    frame, _ = run_all(specs(methods=["e-vi", "mpi"]))
    figure = learning_figure(frame)
    assert figure.layout.yaxis.title.text == BY_NAME["mean_regret"].axis_title
    for y in ("mean_regret", "relative_regret", "mean_return", "max_regret"):
        lines = [t for t in learning_figure(frame, y=y).data if t.fill is None]
        assert lines and all(np.isfinite(line.y).all() for line in lines)
    low = min(y for band in figure.data if band.fill for y in band.y if y is not None)
    assert low >= 0  # regret is never negative, and neither is its interval


def test_a_model_without_any_reward_has_no_share_and_no_nan():
    """All policies are optimal and worth nothing."""
    model = FastSlowMDP(
        name="nothing",
        reward_XYA=np.zeros((1, 2, 2)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.arange(2).reshape(1, 2, 1, 1),
        gamma=0.9,
        slow=Axis(("x",), [0]),
        fast=Axis(("y",), [0, 1]),
        actions=Axis(("a",), [0, 1]),
    )
    best = optimum(model)
    row = Judge(SolvedModel(model)).measures(
        Snapshot("base", 0, 0, best.policy_PXY, best.U_XY, 0.0, 0, "stationary")
    )
    assert isnan(row["fraction_of_optimal"]) and isnan(row["relative_regret"])
    assert row["mean_regret"] == row["max_regret"] == 0
