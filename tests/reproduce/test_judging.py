"""Verdicts on curves made by hand: each way in which a claim can come out."""

from math import inf, nan

import numpy as np
import pytest

from fsdash.reproduce import theory
from fsdash.reproduce.claims import less_work, numerical_claims
from fsdash.reproduce.judging import (
    CLEAR,
    NO,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNCLEAR,
    Claim,
    Curves,
    Part,
    claims_table,
    findings_table,
    judge,
    verdict,
)


def measured(values, sign=">", limit=0.5):
    return Part("made by hand", sign, limit, lambda evidence: values)


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ([0.8, 0.81, 0.82], CLEAR),
        ([0.1, 0.9, 0.8], UNCLEAR),
        ([0.1, 0.2, 0.3], NO),
        ([0.8], CLEAR),
        ([0.5, 0.5], NO),
        ([nan, nan], NO),
    ],
)
def test_a_part_looks_at_the_whole_interval(values, state):
    assert measured(values).judged({}).state == state
    mirrored = measured([1 - v for v in values], "<")
    assert mirrored.judged({}).state == state


def test_what_is_never_reached_is_not_less():
    found = measured([0.2, inf], "<").judged({})
    assert found.state == NO and "never" in found.text


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([CLEAR, CLEAR], REPRODUCED),
        ([CLEAR, NO], PARTLY),
        ([UNCLEAR], PARTLY),
        ([CLEAR, UNCLEAR], PARTLY),
        ([NO, NO], NOT_REPRODUCED),
    ],
)
def test_verdicts(states, expected):
    assert verdict(states) == expected


X = np.array([0.0, 1.0, 2.0, 4.0])
HAND = Curves(
    {
        "fast": [(X, np.array([0.1, 0.8, 0.6, 0.9])), (X, np.array([0.1, 0.7, 0.8, 0.7]))],
        "slow": [(X, np.array([0.0, 0.1, 0.2, 0.8])), (X, np.array([0.0, 0.1, 0.2, 0.3]))],
    },
    budget=4.0,
)


def test_measures_worked_by_hand():
    assert HAND.best("fast").tolist() == [0.9, 0.8]
    assert HAND.last("fast").tolist() == [0.9, 0.7]
    assert HAND.at("fast", 1.5).tolist() == [0.8, 0.7]
    assert HAND.work("fast", 0.75).tolist() == [1, 2]
    assert HAND.work("slow", 0.75).tolist() == [4, inf]
    # Only "slow" fails, in replication 1: its work is at least the budget.
    assert HAND.work_ratio("fast", "slow", 0.75).tolist() == [0.25, 0.5]
    assert HAND.work_ratio("slow", "fast", 0.75).tolist() == [4, inf]
    assert HAND.mean_work("fast", 0.72) == 1 and HAND.mean_work("fast", 0.9) == inf
    # Over [3, 4] the worth is that of x = 2, but for the last point.
    assert HAND.late("fast") == pytest.approx([0.6 + 0.3 / 200, 0.8 - 0.1 / 200])
    assert HAND.unrest("fast")[0] > 0
    assert HAND.average("slow")[1] == pytest.approx(0.125, abs=0.005)


def test_a_run_that_ended_early_keeps_its_last_worth():
    short = Curves({"m": [(X[:2], np.array([0.1, 0.6]))]}, budget=4.0)
    assert short.late("m").tolist() == pytest.approx([0.6])


def test_less_work_is_judged_by_the_ratio():
    assert less_work("d", "fast", "slow", 0.75, 1.5).judged({"d": HAND}).state == UNCLEAR
    assert less_work("d", "fast", "slow", 0.75, 0.3).judged({"d": HAND}).state == NO


def test_a_claim_is_left_out_where_its_experiment_is_missing():
    claim = Claim("c", ("elsewhere",), "a", "b", "r", (measured([1.0]),))
    assert judge([claim], {"here": HAND}) == []


def test_tables_say_all_that_was_measured():
    claim = Claim("c", (), "is so", "here", "by rule", (measured([0.9, 0.8]), measured([0.1])))
    verdicts = judge([claim], {})
    [row] = claims_table(verdicts).to_dict("records")
    assert row["verdict"] == PARTLY and row["rule"] == "by rule" and row["replications"] == 2
    assert "0.85" in row["measured"] and row["measured"].endswith("no")
    assert findings_table(verdicts)["state"].tolist() == [UNCLEAR, NO]


def test_a_sign_is_needed():
    with pytest.raises(ValueError, match="sign"):
        measured([1], "=")


def test_claims_have_names_rules_and_places():
    claims = [*theory.claims(), *numerical_claims()]
    assert len({claim.name for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.rule.endswith(".") and claim.claim.endswith(".")
        assert claim.where and claim.parts


def test_the_claims_of_the_theory_that_must_hold():
    found = {v.claim.name: v.verdict for v in judge(theory.claims(), {})}
    assert found.pop("theory-end-of-horizon") == PARTLY  # γ·L_f > 1: it grows in the end
    assert set(found.values()) == {REPRODUCED}
