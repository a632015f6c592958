"""Records print in at most ten lines, and as tables in a notebook."""

import pytest

from fsdash.runs.records import MAX_SHOWN, first_status
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
