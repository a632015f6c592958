"""Verdicts on small examples: every possible outcome of a claim."""

from math import inf, nan

import numpy as np
import pytest

from fsdash.reproduce.claims import numerical_claims, theory_claims
from fsdash.reproduce.claims.parts import less_work
from fsdash.reproduce.judging import (
    CLEAR,
    NO,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNCLEAR,
    Claim,
    ClaimPart,
    ExperimentCurves,
    claims_table,
    findings_table,
    judge,
    verdict,
)


def measured(values, sign=">", limit=0.5):
    return ClaimPart("a number", sign, limit, lambda evidence: values)


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
def test_a_part_is_clear_if_its_whole_interval_passes(values, state):
    assert measured(values).judged({}).state == state
    mirrored = measured([1 - v for v in values], "<")
    assert mirrored.judged({}).state == state


def test_a_level_that_is_never_reached_fails():
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
def test_the_verdict_follows_from_the_parts(states, expected):
    assert verdict(states) == expected


X = np.array([0.0, 1.0, 2.0, 4.0])
EXAMPLE = ExperimentCurves(
    {
        "fast": [(X, np.array([0.1, 0.8, 0.6, 0.9])), (X, np.array([0.1, 0.7, 0.8, 0.7]))],
        "slow": [(X, np.array([0.0, 0.1, 0.2, 0.8])), (X, np.array([0.0, 0.1, 0.2, 0.3]))],
    },
    budget=4.0,
)


def test_measures_of_an_example():
    assert EXAMPLE.best("fast").tolist() == [0.9, 0.8]
    assert EXAMPLE.last("fast").tolist() == [0.9, 0.7]
    assert EXAMPLE.at("fast", 1.5).tolist() == [0.8, 0.7]
    assert EXAMPLE.work("fast", 0.75).tolist() == [1, 2]
    assert EXAMPLE.work("slow", 0.75).tolist() == [4, inf]
    # Only "slow" fails, in replication 1: its work is at least the budget.
    assert EXAMPLE.work_ratio("fast", "slow", 0.75).tolist() == [0.25, 0.5]
    assert EXAMPLE.work_ratio("slow", "fast", 0.75).tolist() == [4, inf]
    assert EXAMPLE.mean_work("fast", 0.72) == 1 and EXAMPLE.mean_work("fast", 0.9) == inf
    # Over [3, 4] the share is that at x = 2, except at the last point.
    assert EXAMPLE.late("fast") == pytest.approx([0.6 + 0.3 / 200, 0.8 - 0.1 / 200])
    assert EXAMPLE.instability("fast")[0] > 0
    assert EXAMPLE.average("slow")[1] == pytest.approx(0.125, abs=0.005)


def test_a_run_that_ended_early_keeps_its_last_share():
    short = ExperimentCurves({"m": [(X[:2], np.array([0.1, 0.6]))]}, budget=4.0)
    assert short.late("m").tolist() == pytest.approx([0.6])


def test_less_work_compares_the_ratio_with_its_limit():
    assert less_work("d", "fast", "slow", 0.75, 1.5).judged({"d": EXAMPLE}).state == UNCLEAR
    assert less_work("d", "fast", "slow", 0.75, 0.3).judged({"d": EXAMPLE}).state == NO


def test_a_claim_without_its_experiment_is_left_out():
    claim = Claim("c", ("elsewhere",), "a", "b", "r", (measured([1.0]),))
    assert judge([claim], {"here": EXAMPLE}) == []


def test_tables_contain_all_measured_values():
    claim = Claim("c", (), "is so", "here", "by rule", (measured([0.9, 0.8]), measured([0.1])))
    verdicts = judge([claim], {})
    [row] = claims_table(verdicts).to_dict("records")
    assert row["verdict"] == PARTLY and row["rule"] == "by rule" and row["replications"] == 2
    assert "0.85" in row["measured"] and row["measured"].endswith("no")
    assert findings_table(verdicts)["state"].tolist() == [UNCLEAR, NO]


def test_a_part_needs_a_valid_sign():
    with pytest.raises(ValueError, match="sign"):
        measured([1], "=")


def test_every_claim_has_a_name_a_rule_and_a_place():
    claims = [*theory_claims(), *numerical_claims()]
    assert len({claim.name for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.rule.endswith(".") and claim.claim.endswith(".")
        assert claim.where and claim.parts


def test_the_verdicts_on_the_theory():
    found = {v.claim.name: v.verdict for v in judge(theory_claims(), {})}
    assert found.pop("theory-end-of-horizon") == PARTLY  # with γ·L_f > 1 it grows eventually
    assert set(found.values()) == {REPRODUCED}
