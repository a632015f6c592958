"""The archived results: some rows recomputed, and every verdict recomputed from the rows."""

import numpy as np
import pandas as pd
import pytest

from fsdash.errors import InputError
from fsdash.reproduce.archive import (
    FOLDER,
    about,
    archived_claims,
    archived_domains,
    archived_findings,
    archived_rows,
    archived_work,
)
from fsdash.reproduce.experiments import DOMAINS, compact, experiment
from fsdash.reproduce.judging import claims_table, findings_table
from fsdash.reproduce.report import verdicts
from fsdash.runs.columns import NAMES
from fsdash.runs.engine import execute
from fsdash.runs.frames import tidy

MAX_BYTES = 2_000_000
POLICIES = 30


@pytest.mark.parametrize(("algorithm", "T"), [("e-vi", None), ("e-fsvi", 12), ("fsvi", 6)])
def test_recomputed_rows_equal_the_archived_rows(algorithm, T):
    [run] = [
        run
        for run in experiment("inventory").runs
        if (run.spec.algorithm, run.spec.T) == (algorithm, T)
    ]
    rows = []
    execute(run.spec, 0, lambda r: rows.append(r.row), cancelled=lambda: len(rows) >= POLICIES)
    again = compact(tidy(rows)).drop(columns="seconds")
    archived = archived_rows("inventory")
    same_T = archived["T"].isna() if T is None else archived["T"] == T
    same_run = (archived["algorithm"] == algorithm) & same_T & (archived["replication"] == 0)
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
    judged = verdicts(results, with_theory=True)
    archived = archived_claims()
    assert claims_table(judged).to_dict("list") == archived.to_dict("list")
    assert findings_table(judged)["state"].tolist() == archived_findings()["state"].tolist()


def test_the_archived_runs_are_the_present_experiments():
    for domain in archived_domains():
        archived = {run["hash"] for run in about()[domain]["runs"]}
        assert archived == {run.spec.hash for run in experiment(domain).runs}
        assert not about()[domain]["quick"]


@pytest.mark.parametrize("domain", archived_domains())
def test_archived_rows_are_tidy(domain):
    frame = archived_rows(domain)
    assert list(frame.columns) == [*NAMES, "variant", "method"]
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
