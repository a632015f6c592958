"""The table of methods as HTML, and its wording."""

import pytest

from fsdash.dashboard.curves import text
from fsdash.dashboard.curves.state import MethodRow
from fsdash.dashboard.curves.view import method_table_html
from fsdash.runs.records import Replication, Run


def replication(index: int, status: str) -> Replication:
    return Replication(index, status, "", 0, 0.0, None, None, None, None, stopping=False)


def run_with(*statuses: str) -> Run:
    replications = tuple(replication(i, status) for i, status in enumerate(statuses))
    return Run(1, "e", 0, "{}", "", "inventory", "e-vi", None, replications)


def test_the_table_shows_the_dash_of_each_line_and_the_unit_of_work():
    row = MethodRow(
        "A · E-FSVI",
        "#123456",
        "dashdot",
        "finished",
        1.0,
        "done",
        "3 %",
        ("1", "2", "–"),
        "91 %",
        "93 %",
    )
    table = method_table_html([row], "sweeps")
    assert "#123456 0px 8px,transparent 8px 11px,#123456 11px 14px" in table
    title = text.work_help(0.9, "sweeps")
    assert f'<th scope="col" title="{title}">sweeps {text.work_heading(0.9)}</th>' in table
    assert f'<td data-head="{text.work_heading(0.9)}">2</td>' in table
    assert f'<td data-head="{text.SHARE_WORDS.start}">3 %</td>' in table
    assert "91 %" not in table and "93 %" in table  # all methods end at the same work


def test_the_table_compares_at_equal_work_where_methods_end_with_different_work():
    row = MethodRow(
        "VI", "#123456", "solid", "finished", 1.0, "done", "3 %", ("1", "2", "–"), "91 %", "93 %"
    )
    table = method_table_html([row], "sweeps", budget=6.0)
    heading = text.SHARE_WORDS.at_budget.format(work="6 sweeps")
    assert f'<td data-head="{heading}">91 %</td>' in table


def test_the_table_of_a_cost_model_is_about_regret():
    row = MethodRow(
        "VI", "#123456", "solid", "finished", 1.0, "done", "90", ("1", "2", "–"), "14", "12"
    )
    table = method_table_html([row], "sweeps", share=False)
    for words in (
        text.REGRET_WORDS.start,
        text.REGRET_WORDS.final,
        f"sweeps {text.work_heading(0.9, False)}",
    ):
        assert words in table
    assert "of the optimum" not in table


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("finished",) * 5, "done"),
        (("cancelled",) * 5, "stopped"),
        (("finished", *("cancelled",) * 4), "1 of 5 finished"),
        (("finished", "failed"), "1 of 2 finished"),
        (("queued", "queued"), "waiting"),
    ],
)
def test_progress_counts_what_is_finished(statuses, expected):
    assert text.progress_text(run_with(*statuses), None) == expected


def test_failures_name_the_run_and_its_replications():
    title = text.failure_title("failed", [("Base E-VI", [0, 1, 2]), ("E-FSVI", [4])])
    assert title == "Failed: Base E-VI (replications 0–2), E-FSVI (replication 4)"
