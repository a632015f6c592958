"""Methods at fixed budgets: how they are read, what was archived, and what README and guide say."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.snapshot import Snapshot
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import to_rows
from fsdash.domains import make
from fsdash.figures.budgets import LINES, best_in_hindsight, budgets_figure
from fsdash.reproduce import budgets as budgets_module
from fsdash.reproduce.archive import archived_budgets
from fsdash.reproduce.budgets import (
    BASE,
    BUDGETS,
    CERTAINTY,
    CERTIFIED_T,
    COMMON,
    FROZEN,
    GREEDY,
    METHODS,
    RECOMMENDED,
    ROLLING,
    SEEDS,
    THAWED,
    BudgetEvidence,
    at_budgets,
    budget_rows,
    certainty_equivalent,
    certificate_rows,
    estimated,
    evidence,
    method_scores,
    renewed,
    share_score,
)
from fsdash.reproduce.claims.at_budgets import budget_claims
from fsdash.reproduce.judging import NOT_REPRODUCED, PARTLY, REPRODUCED, judge
from fsdash.theory import fsvi_bound
from fsdash.theory.measured_domains import measured_domains
from tools.reproduction_tables import GUIDE, README, tables, with_tables

ROOT = Path(__file__).parents[2]


def snapshot(iteration: int, evaluations: int, kind: str = "stationary") -> Snapshot:
    policy = np.full((1, 1, 1), iteration)
    values = np.zeros((1, 1))
    return Snapshot("base", iteration, 0, policy, values, 0.0, evaluations, kind)


def rows_of(shares: dict[tuple[str, int | None], list[float]]) -> pd.DataFrame:
    """Rows of one domain with these shares at every budget, one per seed."""
    found = [
        ("toy", method, T, seed, sweeps, share)
        for (method, T), each in shares.items()
        for seed, share in enumerate(each)
        for sweeps in BUDGETS
    ]
    columns = ["domain", "method", "T", "seed", "sweeps", "share"]
    return pd.DataFrame(found, columns=columns).astype({"T": "Int64"})


CERTIFICATES = pd.DataFrame({"domain": "toy", "T": [2, 3], "certificate": [4, 9], "max_regret": 2})


def test_a_budget_reads_the_last_policy_that_it_pays_for():
    snapshots = (snapshot(i, evaluations) for i, evaluations in enumerate([0, 100, 101, 900, 9999]))
    found = at_budgets(snapshots, 100, lambda policy: float(policy.max()))
    expected = [0, 0, 1, 2, 2, 2, 3]  # 25, 50, 100, 200, 400, 800 and 1,600 evaluations
    assert found["stationary"].tolist() == expected


def test_a_run_that_ends_early_keeps_its_last_policy():
    found = at_budgets(iter([snapshot(7, 10)]), 100, lambda policy: float(policy.max()))
    assert found["stationary"].tolist() == [7.0] * len(BUDGETS)


def test_the_extraction_of_a_policy_can_count():
    snapshots = (snapshot(i, 100 * i, kind) for i in range(20) for kind in ("stationary", "cyclic"))
    score, extraction = lambda policy: float(policy.max()), {"stationary": 100}
    found = at_budgets(snapshots, 100, score, extraction)
    assert found["cyclic"].tolist() == [0, 0, 1, 2, 4, 8, 16]
    assert np.isnan(found["stationary"][:2]).all()
    assert found["stationary"][2:].tolist() == [0, 1, 3, 7, 15]


def test_a_kind_that_comes_later_has_no_score_before():
    snapshots = iter([snapshot(1, 0, "cyclic"), snapshot(2, 150, "periodic")])
    found = at_budgets(snapshots, 100, lambda policy: float(policy.max()))
    assert np.isnan(found["periodic"][:3]).all() and found["periodic"][3] == 2


def test_hindsight_takes_the_T_with_the_best_mean():
    rows = rows_of({(FROZEN, 2): [0.9, 0.1], (FROZEN, 3): [0.6, 0.6], (BASE, None): [0.7, 0.7]})
    found = BudgetEvidence(rows, CERTIFICATES)
    assert found.in_hindsight(FROZEN, 1).tolist() == [0.6, 0.6]
    assert found.best_of((FROZEN, BASE), 1).tolist() == [0.7, 0.7]
    assert found.ratios.tolist() == [2.0, 4.5]
    table = best_in_hindsight(rows[rows["method"] == FROZEN])
    assert table["which"].tolist() == [", T = 3"] * len(BUDGETS)
    assert table["mean"].tolist() == pytest.approx([0.6] * len(BUDGETS))


@pytest.mark.parametrize(
    ("recommended", "verdict"), [(0.9, REPRODUCED), (0.7995, REPRODUCED), (0.7, NOT_REPRODUCED)]
)
def test_a_recommendation_is_judged_against_the_best_of_the_others(recommended, verdict):
    """E-Thaw is not one of them: the recommendation often is E-Thaw."""
    shares = {(RECOMMENDED, None): [recommended], (BASE, None): [0.6], (ROLLING, None): [0.1]}
    shares |= {(THAWED, None): [0.95], (FROZEN, 2): [0.3], (GREEDY, 2): [0.4]}
    shares |= {(COMMON, None): [0.5], (CERTAINTY, None): [0.8]}
    known = {"inventory at budgets": BudgetEvidence(rows_of(shares), CERTIFICATES)}
    judged = {v.claim.name: v for v in judge(budget_claims(), known)}
    assert judged["inventory-recommendation"].verdict == verdict
    assert judged["inventory-certificates"].verdict == PARTLY  # the median is 3.25, not below 3


@pytest.mark.parametrize(
    "domain",
    [
        "inventory",
        "gridworld",
        "pricing",
    ],
)
def test_the_archive_has_all_methods_with_twenty_seeds_of_their_own(domain):
    budgets, _ = archived_budgets()
    rows = budgets[budgets["domain"] == domain]
    assert len(SEEDS) >= 20 and sorted(rows["seed"].unique()) == list(SEEDS)
    assert set(rows["method"]) == set(LINES) == set(METHODS)


def test_archived_shares_and_certificates_are_possible():
    budgets, certificates = archived_budgets()
    assert (budgets["share"].dropna() <= 1 + 1e-4).all()
    assert certificates.groupby("domain")["T"].apply(list).tolist() == [list(CERTIFIED_T)] * 3
    assert (certificates["certificate"] >= certificates["max_regret"]).all()
    assert len(evidence(budgets, certificates)) == 3


@pytest.mark.slow
def test_one_replication_and_the_certificates_are_computed_again():
    budgets, certificates = archived_budgets()
    archived = budgets[(budgets["domain"] == "inventory") & (budgets["seed"] == SEEDS[0])]
    key = ["method", "T", "sweeps"]
    again = budget_rows("inventory", SEEDS[0]).set_index(key)["share"].sort_index()
    np.testing.assert_allclose(again, archived.set_index(key)["share"].sort_index(), atol=1e-4)
    certified = certificate_rows("inventory")
    expected = certificates[certificates["domain"] == "inventory"]
    np.testing.assert_allclose(certified["certificate"], expected["certificate"], rtol=1e-4)


def test_the_recommendation_never_shares_its_random_numbers_with_the_methods(monkeypatch):
    """With the same seed, a recommendation of E-Thaw was E-Thaw's own run under another name."""
    seeds = []

    def recommended(model, *, sweeps, sampled, seed):
        seeds.append(seed)
        return SimpleNamespace(policy_PXY=np.zeros((1, 1, 1), int))

    monkeypatch.setattr(budgets_module, "plan", recommended)
    model = SimpleNamespace(n_pairs=1)
    list(method_scores(model, 7, lambda policy: 0.0, methods=(RECOMMENDED,)))
    assert len(seeds) == len(BUDGETS) and 7 not in seeds
    assert not set(seeds) & {seed + other for seed in SEEDS for other in (0, 1)}


def test_computed_rows_replace_those_of_the_same_domain_and_method():
    here, there = (
        rows_of({(BASE, None): [0.1], (THAWED, None): [0.2]}),
        rows_of({(BASE, None): [0]}),
    )
    before = pd.concat([here, there.assign(domain="other")]), CERTIFICATES
    again = CERTIFICATES.assign(certificate=7)
    rows, certificates = renewed(before, (rows_of({(THAWED, None): [0.9]}), again))
    found = rows.groupby(["domain", "method"])["share"].first().to_dict()
    assert found == {("toy", BASE): 0.1, ("toy", THAWED): 0.9, ("other", BASE): 0.0}
    assert certificates["certificate"].tolist() == [7, 7] and len(rows) == len(before[0])
    assert renewed(None, before) is before


def test_certainty_equivalence_solves_the_model_of_its_draws():
    model = make("inventory", y_max=12, d_max=4, order_max=10).build()
    rough, fine = (estimated(model, M, np.random.default_rng(1)) for M in (4, 100_000))
    for found, most in ((rough, 4), (fine, 100_000)):
        counts = found.rows.probability_N * most
        np.testing.assert_allclose(counts, counts.round(), atol=1e-6 * most)
        assert (found.rows.row_XYA > 0).all()
    exact = to_rows(model)
    for x, y, a in ((0, 0, 0), (2, 5, 1), (4, 12, 2)):
        row, true = fine.rows.row_XYA[x, y, a], exact.row_XYA[x, y, a]
        assert set(fine.rows.targets(row)) <= set(exact.targets(true))
        np.testing.assert_allclose(
            fine.rows.probabilities(row), exact.probabilities(true), atol=0.01
        )
    share = share_score(model)
    policies = (certainty_equivalent(model, M, np.random.default_rng(1)) for M in (4, 100_000))
    few, many = map(share, policies)
    assert few < many and many == pytest.approx(1, abs=1e-3)


def test_a_probability_above_one_by_rounding_can_be_estimated():
    next_slow = np.zeros((2, 1, 2, 20), int)
    next_slow[1, :, 1] = np.arange(20) % 2  # elsewhere 20 probabilities of 1/20 are added up
    fast = np.zeros((1, 1, 1, 1), int)
    model = FastSlowMDP(np.zeros((2, 1, 2)), np.full(20, 1 / 20), next_slow, fast, 0.9)
    assert to_rows(model).probability_N.max() > 1
    assert to_rows(estimated(model, 3, np.random.default_rng(0))).probability_N.max() == 1


def test_certainty_equivalence_keeps_infeasible_actions_infeasible_and_needs_no_noise():
    rewards = np.array([[[1.0, -np.inf], [0.0, 2.0]]])
    moves = np.array([0, 1])[None, None, :, None]
    model = FastSlowMDP(rewards, [1.0], np.zeros((1, 1, 1, 1), int), moves, 0.9)
    found = estimated(model, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(found.feasible_XYA, model.feasible_XYA)
    np.testing.assert_allclose(optimum(found).U_XY, optimum(model).U_XY, atol=1e-6)


@pytest.mark.parametrize("page", ["guarantees.md", "reproduction.md"])
def test_the_guide_says_how_far_the_papers_bound_is_from_the_truth(page):
    ratios = [
        fsvi_bound(measured_domains()[row.domain].constants, row.T, k=30).total / row.max_regret
        for row in archived_budgets()[1].itertuples()
    ]
    assert (f"{min(ratios):.0e}", f"{max(ratios):.0e}") == ("6e+04", "1e+25")
    text = (ROOT / "docs" / "guide" / page).read_text("utf-8")
    words = " ".join(text.replace("The", "the").split())
    assert "the paper's bound is 6·10⁴ to 10²⁵ times the true regret" in words


def test_a_figure_has_a_line_and_a_band_for_each_method():
    budgets, _ = archived_budgets()
    figure = budgets_figure(budgets[budgets["domain"] == "gridworld"])
    assert [trace.name for trace in figure.data if trace.name] == [
        line[0] for line in LINES.values()
    ]
    assert len(figure.data) == 3 * len(LINES)


@pytest.mark.parametrize("path", [README, GUIDE], ids=lambda path: path.name)
def test_readme_and_guide_show_the_archived_results(path):
    """`python -m tools.reproduction_tables` writes them."""
    text = path.read_text("utf-8")
    assert with_tables(text, tables()[path]) == text


def test_a_cell_has_the_mean_the_smallest_and_the_largest_share():
    found = best_in_hindsight(rows_of({(FROZEN, 2): [0.9, 0.1], (FROZEN, 3): [0.7, 0.5]}))
    assert found[["mean", "least", "most"]].iloc[0].tolist() == pytest.approx([0.6, 0.5, 0.7])
