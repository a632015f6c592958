"""Records print in at most ten lines, and as tables in a notebook. Progress adds up."""

import pytest

from fsdash.runs.records import (
    MAX_SHOWN,
    Experiment,
    Progress,
    Replication,
    Run,
    first_status,
    progress_of,
)
from tests.runs.work import base, expected, frozen


@pytest.mark.parametrize("runs", [1, MAX_SHOWN, 50])
def test_an_experiment_prints_in_at_most_ten_lines(store, runs):
    id = store.add_experiment("me", "many runs", [base()] * (runs - 1) + [frozen()])
    experiment = store.experiment(id)
    for record in (experiment, experiment.runs[-1]):
        lines = repr(record).splitlines()
        assert len(lines) <= 10
        assert record._repr_html_().startswith("<table>")
    assert "'many runs' of 'me', paused" in repr(experiment)
    assert "e-fsvi, T=3 on inventory" in repr(experiment.runs[-1])


def test_a_record_of_the_engine_prints_in_at_most_ten_lines():
    text = repr(expected(base())[0])
    assert len(text.splitlines()) <= 10
    assert "policy_PXY   shape (1, 11, 51)" in text


def test_the_first_status_stands_for_all():
    assert first_status(["finished", "queued", "running"]) == "running"
    assert first_status(["finished", "failed"]) == "failed"
    assert first_status([]) == "finished"


def test_the_progress_of_a_run_is_the_mean_share_of_its_replications():
    def replication(index, status, seconds):
        return Replication(index, status, "", 0, seconds, None, None, None, None, stopping=False)

    spec = base(iterations=8, replications=3)
    parts = (
        replication(0, "finished", 16.0),
        replication(1, "running", 4.0),
        replication(2, "queued", 0.0),
    )
    run = Run(7, "e", 0, spec.to_json(), spec.hash, spec.domain, spec.algorithm, None, parts)
    experiment = Experiment("e", "me", "one", "", False, 0.0, (run,))
    rows = {(7, 1): {"phase": "base", "iteration": 2}}
    # 1 + 2/8 + 0 of 3 are done in 20 s, so 1.75 remain: 20/1.25·1.75 s on the one worker.
    assert progress_of(experiment, rows) == [Progress(7, "running", 1.25 / 3, 28.0, 1, 3)]
