"""The kept results: a part computed again, and every verdict from the kept rows."""

import numpy as np
import pandas as pd
import pytest

from fsdash.errors import InputError
from fsdash.reproduce.archive import (
    FOLDER,
    about,
    kept_claims,
    kept_domains,
    kept_findings,
    kept_rows,
    kept_work,
)
from fsdash.reproduce.experiments import DOMAINS, compact, experiment
from fsdash.reproduce.judging import claims_table, findings_table
from fsdash.reproduce.report import verdicts
from fsdash.runs.columns import NAMES
from fsdash.runs.engine import execute
from fsdash.runs.frames import tidy

LARGEST = 2_000_000
LOOKS = 30


@pytest.mark.parametrize(("algorithm", "T"), [("e-vi", None), ("e-fsvi", 12), ("fsvi", 6)])
def test_a_part_computed_again_is_what_was_kept(algorithm, T):
    [run] = [
        run
        for run in experiment("inventory").runs
        if (run.spec.algorithm, run.spec.T) == (algorithm, T)
    ]
    rows = []
    execute(run.spec, 0, lambda r: rows.append(r.row), cancelled=lambda: len(rows) >= LOOKS)
    again = compact(tidy(rows)).drop(columns="seconds")
    kept = kept_rows("inventory")
    here = (kept["algorithm"] == algorithm) & (kept["T"].isna() if T is None else kept["T"] == T)
    kept = kept[here & (kept["replication"] == 0)].head(LOOKS).reset_index(drop=True)
    # One in the last digit kept: the values are certified to 1e-5, not to the last bit.
    pd.testing.assert_frame_equal(
        again[["phase", "iteration", "evaluations", "policy_kind"]],
        kept[["phase", "iteration", "evaluations", "policy_kind"]],
        check_dtype=False,
    )
    np.testing.assert_allclose(
        again["fraction_of_optimal"], kept["fraction_of_optimal"], atol=1.01e-4
    )
    np.testing.assert_allclose(again["mean_return"], kept["mean_return"], rtol=2e-4)


def test_the_verdicts_follow_from_the_kept_rows():
    results = {name: (experiment(name), kept_rows(name)) for name in kept_domains()}
    judged = verdicts(results, with_theory=True)
    kept = kept_claims()
    assert claims_table(judged)[["name", "verdict", "measured", "rule"]].to_dict("list") == (
        kept[["name", "verdict", "measured", "rule"]].to_dict("list")
    )
    assert findings_table(judged)["state"].tolist() == kept_findings()["state"].tolist()


def test_the_kept_runs_are_the_runs_of_today():
    for domain in kept_domains():
        kept = {run["hash"] for run in about()[domain]["runs"]}
        assert kept == {run.spec.hash for run in experiment(domain).runs}
        assert not about()[domain]["quick"]


@pytest.mark.parametrize("domain", kept_domains())
def test_kept_rows_are_tidy(domain):
    frame = kept_rows(domain)
    assert list(frame.columns) == [*NAMES, "variant", "method"]
    assert (frame["fraction_of_optimal"] <= 1.0001).all()
    sampled = frame[frame["algorithm"] == "e-fsvi"]
    assert sampled.empty or set(sampled["replication"]) == set(range(5))
    assert set(kept_work(domain)["method"]) >= {"Base E-VI"} or domain == "pricing"


def test_the_kept_files_are_small_and_few():
    assert kept_domains() == DOMAINS
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < LARGEST


def test_a_name_that_is_not_kept():
    with pytest.raises(InputError, match="experiment = 'chess'"):
        kept_rows("chess")
