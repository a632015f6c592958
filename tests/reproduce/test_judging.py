"""Verdicts on small examples: every possible outcome of a claim."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from fsdash.reproduce.claims import BEYOND, numerical_claims, theory_claims
from fsdash.reproduce.claims.parts import YARDSTICK_METHOD, less_work, reaches_yardstick, title
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.judging import (
    CLEAR,
    NO,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNCLEAR,
    Claim,
    ClaimPart,
    FirstRule,
    claims_table,
    findings_table,
    holm,
    judge,
    p_value,
    verdict,
)
from fsdash.reproduce.settings import SHARES


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
    one = measured([0.9]).judged({})
    assert verdict([replace(one, state=state) for state in states]) == expected


FIVE = [0.55, 0.6, 0.58, 0.66, 0.63]
"""Their mean is above 0.5 with p = 0.006: clear for one test on each domain, not for many."""
NOISE = [0.1, 0.9, 0.5, 0.4, 0.8]


def one_claim(name, values, quotation="q", first_rule=None, needs=()):
    return Claim(name, needs, "a", quotation, "w", "r", (measured(values),), first_rule=first_rule)


def test_a_part_that_is_clear_alone_is_unclear_among_many_tests():
    evidence = {"d": EXAMPLE, "other domain": EXAMPLE}

    def first(*others):
        return judge([one_claim("c", FIVE, needs=("d",)), *others], evidence)[0]

    alone = first()
    p = ttest_1samp(FIVE, 0.5).pvalue
    assert alone.verdict == REPRODUCED
    assert alone.findings[0].p == pytest.approx(3 * p)  # three domains
    among = first(*(one_claim(f"other {i}", NOISE, needs=("d",)) for i in range(9)))
    assert among.findings[0].state == UNCLEAR
    assert among.findings[0].p == pytest.approx(30 * p)
    assert among.verdict == PARTLY and among.first_verdict == REPRODUCED
    # Neither this project's findings nor the claims about another domain change the verdict.
    own = (one_claim(f"own {i}", NOISE, quotation="", needs=("d",)) for i in range(9))
    assert first(*own).findings == alone.findings
    elsewhere = (one_claim(f"c {i}", NOISE, needs=("other domain",)) for i in range(9))
    assert first(*elsewhere).findings == alone.findings


def test_holm_multiplies_the_smallest_p_value_by_the_number_of_tests_and_never_falls():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.04, 0.01, 0.03], families=3) == pytest.approx([0.18, 0.09, 0.18])
    assert holm([0.5, nan, 0.9]) == pytest.approx([1.0, nan, 1.0], nan_ok=True)
    assert holm([nan]) == pytest.approx([nan], nan_ok=True)


def test_the_p_value_is_that_of_the_t_test():
    values = np.array([0.3, 0.7, 0.45, 0.9])
    assert p_value(values, 0.4) == pytest.approx(ttest_1samp(values, 0.4).pvalue)
    assert p_value(np.array([0.7, 0.7]), 0.4) == 0.0
    assert np.isnan(p_value(np.array([0.7]), 0.4)) and np.isnan(p_value(np.array([1, inf]), 0.4))


def test_parts_are_counted():
    parts = (measured([0.9]), measured([0.1]), measured([0.8]))
    shown = ClaimPart("shown", ">", 0.5, lambda e: [0.9], decides=False)
    [found] = judge([Claim("c", (), "a", "q", "w", "r", (*parts, shown))], {})
    assert (found.clear_parts, found.parts) == (2, 3)


def test_the_verdict_by_the_first_rule_is_kept():
    stricter = FirstRule("Less is required now.", (measured([0.3]),))
    [found] = judge([one_claim("c", [0.8], first_rule=stricter)], {})
    assert (found.verdict, found.first_verdict) == (REPRODUCED, NOT_REPRODUCED)
    [same] = judge([one_claim("c", [0.8])], {})
    assert same.first_verdict == same.verdict
    [no_rule] = judge([one_claim("c", [0.8], first_rule=FirstRule("Written later.", ()))], {})
    assert no_rule.first_verdict == ""


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
    claim = Claim("c", ("elsewhere",), "a", "q", "b", "r", (measured([1.0]),))
    assert judge([claim], {"here": EXAMPLE}) == []


def test_tables_contain_all_measured_values():
    parts = (measured([0.9, 0.8]), measured([0.1]))
    rule = FirstRule("later")
    claim = Claim("c", (), "is so", "it is …", "here", "by rule", parts, first_rule=rule)
    verdicts = judge([claim], {})
    [row] = claims_table(verdicts).to_dict("records")
    assert row["quotation"] == "it is …" and row["changed"] == "later"
    assert row["verdict"] == PARTLY and row["rule"] == "by rule" and row["replications"] == 2
    assert "0.85" in row["measured"] and row["measured"].endswith("no")
    assert findings_table(verdicts)["state"].tolist() == [UNCLEAR, NO]


def test_a_part_for_comparison_does_not_decide():
    parts = (measured([0.9]), ClaimPart("shown", ">", 0.5, lambda e: [0.1], decides=False))
    found = Claim("c", (), "a", "q", "w", "r", parts).judged({})
    assert found.verdict == REPRODUCED
    assert [f.state for f in found.findings] == [CLEAR, NO]
    assert found.findings[1].text.endswith("no (for comparison)")


def test_the_best_share_of_every_replication_decides_on_the_gridworld_with_T_3():
    """An interval over the five best shares reaches beyond 75%, although no replication does."""
    [claim] = [c for c in numerical_claims() if c.name == "gridworld-T3"]
    x = np.array([0.0, 30.0, 60.0])
    best = [0.60, 0.74, 0.748, 0.745, 0.70]
    runs = {"E-FSVI, T=3": [(x, np.array([0.1, 0.3, b])) for b in best]}
    found = claim.judged({"gridworld": ExperimentCurves(runs, 60.0)})
    assert found.findings[0].mean == 0.748 and found.findings[0].state == CLEAR
    assert found.verdict == REPRODUCED and found.first_verdict == PARTLY
    runs["E-FSVI, T=3"][1][1][2] = 0.76
    assert claim.judged({"gridworld": ExperimentCurves(runs, 60.0)}).findings[0].state == NO


def test_base_methods_are_compared_with_the_yardstick_and_shown_next_to_the_optimum():
    x = np.array([0.0, 50.0])
    constant = lambda share: [(x, np.array([share, share]))] * 2  # noqa: E731
    runs = {YARDSTICK_METHOD: constant(0.8)}
    runs |= {title(name): constant(0.795) for name in ("e-vi", "e-qi")}
    found = [p.judged({"d": ExperimentCurves(runs, 50.0)}) for p in reaches_yardstick("d")]
    assert [f.state for f in found if f.decides] == [CLEAR] * 4
    assert [f.mean for f in found if f.decides] == pytest.approx([0.795 / 0.8] * 4)
    assert [f.state for f in found if not f.decides] == [NO] * 5
    assert found[-1].mean == pytest.approx(0.8) and "yardstick" in found[-1].part


def test_a_claim_can_be_judged_after_several_shares_of_the_budget():
    part = ClaimPart("ahead", ">", 0, lambda e: e["d"].best("fast") - e["d"].best("slow"))
    late = ClaimPart("late", ">", 0.75, lambda e: e["d"].best("fast"))
    claim = Claim("c", ("d",), "a", "q", "w", "r", (part, late), shares=(0.25, 1.0))
    curves = ExperimentCurves(EXAMPLE.runs, 4.0, {"fast": 4.0, "slow": 4.0})
    found = claim.judged({"d": curves})
    assert [f.sweeps for f in found.findings] == [1, 1, 4, 4]
    assert found.findings[1].mean == pytest.approx(0.75)  # 0.8 and 0.7 after one sweep
    assert found.findings[0].text.startswith("1 sweeps, ahead: ")
    assert found.verdict == PARTLY
    alone = claim.judged({"d": curves}, share=1.0)
    assert len(alone.findings) == 2 and np.isnan(alone.findings[0].sweeps)


def test_curves_are_cut_at_a_share_of_the_length_of_each_method():
    curves = ExperimentCurves(EXAMPLE.runs, 4.0, {"fast": 4.0})
    half = curves.up_to(0.5)
    assert half.budget == 2 and half.last("fast").tolist() == [0.6, 0.8]
    assert half.last("slow").tolist() == EXAMPLE.last("slow").tolist()  # no length: not cut
    assert curves.up_to(0.01).last("fast").tolist() == [0.1, 0.1]  # the first policy remains


def test_the_last_tenth_is_the_mean_over_the_whole_sweeps_in_it():
    x = np.arange(0, 50.5, 0.5)
    y = np.where(x % 1 == 0, 0.6, 0.9)  # a peak inside every sweep
    y[-1] = 0.9
    whole = {"m": [(x % 1 == 0) & (x > 0)]}
    curves = ExperimentCurves({"m": [(x, y)]}, 50.0, {"m": 50.0}, whole)
    assert curves.last_tenth("m") == pytest.approx([(5 * 0.6 + 0.9) / 6])  # sweeps 45 to 50
    assert curves.up_to(0.04).last_tenth("m") == pytest.approx([0.6])  # two sweeps, not three
    flat = ExperimentCurves({"m": [(x, np.full(len(x), 0.3))]}, 50.0)
    assert flat.last_tenth("m") == pytest.approx([0.3])


def test_a_part_needs_a_valid_sign():
    with pytest.raises(ValueError, match="sign"):
        measured([1], "=")


def test_no_claim_is_made_that_the_paper_does_not_make():
    """Two earlier claims about the pricing were not in the paper."""
    names = {claim.name for claim in numerical_claims()}
    assert not names & {"pricing-early", "pricing-stays-ahead"}


def test_the_claims_about_pricing_are_judged_as_a_function_of_the_budget():
    for claim in numerical_claims():
        about_pricing = claim.name.startswith("pricing") and claim.where != BEYOND
        assert claim.shares == (SHARES if about_pricing else (1.0,))
        if about_pricing:
            assert "after 0.5, 1 and 2 sweeps" in claim.rule and claim.first_rule.shares == (1.0,)


def test_the_remark_on_instability_says_how_the_training_was_chosen():
    [claim] = [c for c in numerical_claims() if c.name == "pricing-unstable"]
    assert "after the curves of Deep-FVI had been seen" in claim.remark
    assert "not independent of that choice" in claim.remark


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
