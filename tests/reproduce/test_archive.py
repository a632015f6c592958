"""The archived results: some rows recomputed, and every verdict recomputed from the rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsdash.errors import InputError
from fsdash.reproduce import __main__ as archive_command
from fsdash.reproduce.archive import (
    FOLDER,
    about,
    archived_budgets,
    archived_claims,
    archived_domains,
    archived_findings,
    archived_rows,
    archived_samples,
    archived_sensitivity,
    archived_work,
)
from fsdash.reproduce.budgets import METHODS, RECOMMENDED, THAWED
from fsdash.reproduce.claims import BEYOND
from fsdash.reproduce.claims.parts import YARDSTICK_METHOD
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import DOMAINS, compact, experiment
from fsdash.reproduce.judging import (
    GOOD,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    claims_table,
    findings_table,
)
from fsdash.reproduce.report import sensitivity, verdicts
from fsdash.reproduce.samples import samples_table
from fsdash.reproduce.settings import Setting
from fsdash.runs.columns import NAMES
from fsdash.runs.engine import execute
from fsdash.runs.frames import tidy

pytestmark = pytest.mark.slow  # together they take several seconds

ROOT = Path(__file__).parents[2]
PUBLISHED = {
    "README.md": "of {} claims, {} reproduce, {} partly, {} not",
    "docs/guide/reproduction.md": "Of {} claims, {} reproduce, {} in part; not reproduced: {}.",
}
"""By file: its words about the number of claims, and of those with each verdict."""
MAX_BYTES = 2_600_000
POLICIES = 30


@pytest.mark.parametrize(("algorithm", "T"), [("e-vi", None), ("e-fsvi", 12), ("fsvi", 6)])
def test_recomputed_rows_equal_the_archived_rows(algorithm, T):
    run = next(
        run
        for run in experiment("inventory").runs
        if (run.spec.algorithm, run.spec.T) == (algorithm, T)
    )
    rows = []

    def record(found):
        # The archive is older than the rolling policies of the lower level.
        if found.row["policy_kind"] != "rolling":
            rows.append(found.row)

    execute(run.spec, 0, record, cancelled=lambda: len(rows) >= POLICIES)
    again = compact(tidy(rows)).drop(columns="seconds")
    archived = archived_rows("inventory")
    same_T = archived["T"].isna() if T is None else archived["T"] == T
    same_run = (archived["algorithm"] == algorithm) & same_T & (archived["replication"] == 0)
    same_run &= (archived["variant"] == run.variant) & (archived["ties"] == run.ties)
    archived = archived[same_run].head(POLICIES).reset_index(drop=True)
    # The last archived digit can differ by one: values are certified to 1e-5, not to the last bit.
    pd.testing.assert_frame_equal(
        again[["phase", "iteration", "evaluations", "policy_kind"]],
        archived[["phase", "iteration", "evaluations", "policy_kind"]],
        check_dtype=False,
    )
    np.testing.assert_allclose(
        again["fraction_of_optimal"], archived["fraction_of_optimal"], atol=1.01e-4
    )
    np.testing.assert_allclose(again["mean_return"], archived["mean_return"], rtol=2e-4)


def test_the_verdicts_follow_from_the_archived_rows():
    results = {name: (experiment(name), archived_rows(name)) for name in archived_domains()}
    judged = verdicts(results, with_theory=True, budgets=archived_budgets())
    archived = archived_claims()
    assert claims_table(judged).to_dict("list") == archived.to_dict("list")
    assert findings_table(judged)["state"].tolist() == archived_findings()["state"].tolist()


def test_the_verdicts_of_every_setting_follow_from_the_archived_rows():
    results = {name: (experiment(name), archived_rows(name)) for name in archived_domains()}
    assert sensitivity(results).to_dict("list") == archived_sensitivity().to_dict("list")
    found = samples_table(results)
    np.testing.assert_allclose(found["final"], archived_samples()["final"], rtol=1e-3)


def test_the_published_counts_agree_with_the_archived_verdicts():
    """README, guide, page and table name the same numbers; the page is tested with its view."""
    claims = archived_claims()
    papers = claims[claims["where"] != BEYOND]
    counts = [
        len(papers),
        *((papers["verdict"] == v).sum() for v in (REPRODUCED, PARTLY, NOT_REPRODUCED)),
    ]
    for file, words in PUBLISHED.items():
        text = " ".join((ROOT / file).read_text("utf-8").split())
        assert words.format(*counts) in text, file


def test_the_archived_runs_are_the_present_experiments():
    for domain in archived_domains():
        archived = {run["hash"] for run in about()[domain]["runs"]}
        assert archived == {run.spec.hash for run in experiment(domain).runs}
        assert not about()[domain]["quick"]


@pytest.mark.parametrize("domain", archived_domains())
def test_archived_rows_are_tidy(domain):
    frame = archived_rows(domain)
    assert list(frame.columns) == [*NAMES, "variant", "ties", "method"]
    assert (frame["fraction_of_optimal"] <= 1.0001).all()
    sampled = frame[frame["algorithm"] == "e-fsvi"]
    assert sampled.empty or set(sampled["replication"]) == set(range(5))
    assert set(archived_work(domain)["method"]) >= {"Base E-VI"} or domain == "pricing"


def test_the_archive_is_complete_and_small():
    assert archived_domains() == DOMAINS
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MAX_BYTES


def test_a_domain_without_archive_is_refused():
    with pytest.raises(InputError, match="experiment = 'chess'"):
        archived_rows("chess")


def guide():
    return " ".join((ROOT / "docs/guide/reproduction.md").read_text("utf-8").split())


def test_the_guide_shows_the_archived_results_on_samples():
    kinds = {False: "separate samples", True: "common random numbers"}
    for (domain, common), rows in archived_samples().groupby(["domain", "common_random_numbers"]):
        cells = " | ".join(f"{share:.3f}".lstrip("0") for share in rows["final"])
        assert f"| {domain}, {kinds[bool(common)]} | {cells} |" in guide()


def test_the_guide_names_the_measured_work_to_75_percent():
    plan, rows = experiment("gridworld"), archived_rows("gridworld")

    def work(method, **setting):
        curves = ExperimentCurves.of(plan, rows, Setting(**setting)).up_to(1.0)
        return f"{curves.work(method, GOOD).mean():.1f}"

    words = guide()
    two, one = (work("E-FSVI, T=6", count=count) for count in (2, 1))
    assert f"after {two} sweeps if a sample counts as two evaluations, and after {one}" in words
    random, first = (work("Base E-VI", ties=ties) for ties in ("random", "first"))
    assert f"{random} sweeps with ties at random, and after {first} with ties" in words
    first_index = ExperimentCurves.of(plan, rows, Setting(ties="first")).up_to(1.0)
    assert work("E-FSVI, T=6", ties="first") == "inf"
    assert f"it ends at {first_index.last_tenth('E-FSVI, T=6').mean():.0%}" in words


def test_the_guide_names_the_measured_end_of_the_yardstick():
    ends = {
        domain: ExperimentCurves.of(experiment(domain), archived_rows(domain))
        .last_tenth(YARDSTICK_METHOD)
        .mean()
        for domain in ("inventory", "gridworld")
    }
    sentence = "that run ends at {inventory:.0%} on the inventory and at {gridworld:.0%} on the"
    assert sentence.format(**ends) in guide()


@pytest.mark.parametrize(
    ("names", "domains", "methods"),
    [
        (["recommendation:inventory"], ("inventory",), (RECOMMENDED, THAWED)),
        (["beyond"], DOMAINS, METHODS),
    ],
)
def test_a_part_of_the_archive_can_be_renewed(names, domains, methods, tmp_path, monkeypatch):
    asked = []

    def compute_beyond(quick, seed, report, domains, methods):
        asked.append((domains, methods))
        rows, certificates = archived_budgets()
        chosen = rows["domain"].isin(domains) & rows["method"].isin(methods)
        renewed = rows[chosen].assign(share=0.5)
        return renewed, certificates[certificates["domain"].isin(domains)]

    monkeypatch.setattr(archive_command, "compute_beyond", compute_beyond)
    monkeypatch.setattr(archive_command, "FOLDER", tmp_path)
    monkeypatch.setattr(archive_command, "write_timings", lambda timings: None)
    archive_command.main(names)
    assert asked == [(domains, methods)]
    rows = pd.read_csv(tmp_path / "budgets.csv")
    new = rows["domain"].isin(domains) & rows["method"].isin(methods)
    assert (rows[new]["share"] == 0.5).all() and len(rows) == len(archived_budgets()[0])
    assert new.all() or (rows[~new]["share"] != 0.5).any()
    assert (tmp_path / "seeds.csv").read_text() == (FOLDER / "seeds.csv").read_text()


def test_an_unknown_part_of_the_archive_is_refused():
    with pytest.raises(SystemExit, match="chess: choose from"):
        archive_command.main(["chess"])
