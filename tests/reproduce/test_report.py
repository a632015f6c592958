"""A complete reproduction that is small enough for a test."""

import json
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from fsdash.cli.main import parser
from fsdash.cli.reproduce import run_reproduce
from fsdash.errors import InputError
from fsdash.reproduce import experiments
from fsdash.reproduce.experiments import experiment, mpi_variant
from fsdash.reproduce.figure_files import Renderer
from fsdash.runs.engine import Outcome
from fsdash.runs.runner import Ending

pytestmark = pytest.mark.slow  # together they take several seconds


def reproduce(*words):
    return run_reproduce(parser().parse_args(["reproduce", *words]))


@pytest.fixture
def no_browser(monkeypatch):
    monkeypatch.setattr(Renderer, "__enter__", lambda self: self)


def test_the_theory_report_has_all_files(tmp_path, no_browser, capsys):
    out = tmp_path / "new" / "folder"
    text = reproduce("theory", "--quick", "--out", str(out))
    assert "theory-three-regimes" in text
    names = {path.name for path in out.iterdir()}
    assert names >= {
        "claims.csv",
        "claims.md",
        "findings.csv",
        "about.json",
        "reward-error.csv",
        "regimes.csv",
        "regret-cost.csv",
        "reward-error-small.html",
        "reward-error-large.html",
        "regret-cost.html",
    }
    claims = pd.read_csv(out / "claims.csv")
    assert set(claims["verdict"]) <= {"reproduced", "partly", "not reproduced"}
    assert "Quick run" in (out / "claims.md").read_text("utf-8")
    assert "Quick run" in capsys.readouterr().err


def test_an_experiment_report_has_rows_work_claims_and_figures(tmp_path, no_browser, monkeypatch):
    monkeypatch.setattr(experiments, "QUICK_SHARE", 0.1)
    monkeypatch.setattr(experiments, "QUICK_REPLICATIONS", 2)
    monkeypatch.setattr(experiments, "AGNOSTIC_SWEEPS", 2)
    monkeypatch.setattr(experiments, "EXACT_ITERATIONS", 3)
    records = json.loads(
        reproduce("inventory", "--quick", "--out", str(tmp_path), "--format", "json")
    )
    assert {r["name"] for r in records} >= {"inventory-less-work", "inventory-mpi"}
    assert not any(r["name"].startswith(("gridworld", "theory")) for r in records)
    rows = pd.read_csv(tmp_path / "inventory.csv")
    assert set(rows["algorithm"]) == {
        "e-vi",
        "e-qi",
        "slow-agnostic",
        "e-fsvi",
        "vi",
        "fsvi",
        "mpi",
    }
    names = {spec.name for spec in experiment("inventory").figures}
    assert {path.stem for path in tmp_path.glob("*.html")} == names | {"samples"}
    assert len(pd.read_csv(tmp_path / "samples.csv")) == 6
    settings = pd.read_csv(tmp_path / "sensitivity.csv").groupby("name").size()
    assert set(settings) == {12}
    assert "> Among the E-FSVI variants" in (tmp_path / "claims.md").read_text("utf-8")
    assert "(quick run)" in (tmp_path / "inventory.html").read_text("utf-8")
    assert json.loads((tmp_path / "about.json").read_text("utf-8"))["inventory"]["quick"]


def test_without_a_browser_the_renderer_reports_it(monkeypatch, tmp_path):
    monkeypatch.setenv("FSDASH_BROWSER", str(tmp_path / "no-such-browser"))

    def message() -> str:
        with Renderer() as renderer:
            return renderer.missing

    # In a thread of its own: Playwright runs once per thread, also for the browser tests.
    with ThreadPoolExecutor(1) as thread:
        missing = thread.submit(message).result()
    assert "no PNG and SVG" in missing and "\n" not in missing


def test_the_experiments_have_the_paper_s_parameters():
    plan = experiment("gridworld")
    for run in plan.runs:
        parameters = dict(run.spec.parameters)
        if run.spec.method.sampled and not run.variant:
            assert run.spec.replications == 5 and parameters["snapshots_per_sweep"] == 2
            assert parameters.get("M", 50) == parameters.get("M_u", 50) == 50
            assert parameters.get("M_l", 1) == 1
    assert plan.sweep == 4_356 * 32 * 50
    assert {run.spec.T for run in plan.runs if run.spec.algorithm == "e-fsvi"} == {3, 6, 12}
    exact = [run.variant for run in plan.runs if run.variant and not run.spec.method.sampled]
    assert exact == [mpi_variant(T) for T in (3, 6, 12)]


def test_an_interrupted_experiment_writes_nothing(tmp_path, no_browser, monkeypatch):
    def interrupted(plan, *_arguments):
        ending = Ending(plan.runs[0].spec, 0, Outcome("cancelled", "interrupted", 0, 0.0, 0.0))
        return pd.DataFrame(), [ending]

    monkeypatch.setattr(experiments, "run_experiment", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce("inventory", "--quick", "--out", str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_bad_arguments_are_refused(tmp_path):
    with pytest.raises(InputError, match="experiment = 'chess'"):
        experiment("chess")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        reproduce("theory", "--out", str(tmp_path / "file"))
