"""A versus B and the block microscope: the figures and tables hold the numbers of the library."""

from functools import cache

import numpy as np
import pytest

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum
from fsdash.core.blocks import frozen_blocks
from fsdash.core.compare import FIRST_BETTER, SAME, SECOND_BETTER, TIE, simulate_pair
from fsdash.core.operators import q_values_at
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.palette import FIRST_POLICY, SECOND_POLICY
from fsdash.figures.policies import (
    InspectedPolicy,
    Versus,
    comparison_figures,
    policy_figures,
)
from fsdash.figures.policies.labels import action_labels
from fsdash.figures.policies.q_values import LookAhead, q_pair_figure, q_table
from fsdash.figures.policies.tables import KINDS
from tests.figures.kit import trace
from tests.models import random_rows

pytestmark = pytest.mark.slow  # together they take several seconds


@cache
def inspected(name: str, T: int) -> InspectedPolicy:
    domain = make(name)
    model = domain.build()
    policy_PXY = run_until(fsvi(model, T), iterations=3).policy_PXY
    return InspectedPolicy(model, policy_PXY, domain, best(name))


@cache
def best(name: str):
    return optimum(make(name).build(), tolerance=1e-3)


@cache
def versus(name: str) -> Versus:
    """FSVI with T = 3 against the optimal policy."""
    first, found = inspected(name, 3), best(name)
    return Versus(first, InspectedPolicy(first.model, found.policy_PXY, first.domain, found))


def figure_named(figures, name):
    (found,) = [figure for figure in figures if figure.name == name]
    return found


@pytest.mark.parametrize("name", DOMAINS)
def test_every_comparison_of_every_domain_is_drawn_and_tabulated(name):
    shown = comparison_figures(versus(name))
    assert [one.name for one in shown] == ["disagreement", "gain", "pair"]
    for one in (*shown, figure_named(policy_figures(inspected(name, 3)), "blocks")):
        assert one.figure().data and len(one.table())
        assert one.title and one.caption.endswith(".")
        for selector in one.selectors:
            for option in {selector.options[0], selector.options[-1]}:
                one.figure(**{selector.name: option})


def test_the_difference_map_shows_which_action_is_better():
    v = versus("inventory")
    found = v.disagreement(0)
    heat = figure_named(comparison_figures(v), "disagreement").figure().data[0]
    np.testing.assert_array_equal(heat.z, found.kind_XY)
    assert set(np.unique(found.kind_XY)) <= {SAME, TIE, SECOND_BETTER}  # B is optimal
    x, y = found.largest()[0]
    labels, said = action_labels(v.model), heat.text[x][y]
    first_XY, second_XY = v.actions()
    assert f"A: {labels[first_XY[x, y]]}<br>B: {labels[second_XY[x, y]]}<br>" in said
    assert f"{KINDS[SECOND_BETTER]} by {found.advantage_XY[x, y]:.4g}" in said
    assert f"{found.weight_XY[x, y]:.2%} of the time" in said


def test_the_weighted_map_is_the_advantage_times_the_visits_of_the_first_policy():
    v = versus("inventory")
    show = figure_named(comparison_figures(v), "disagreement")
    share_XY = v.first.visits.share_PXY[1]
    found = v.disagreement(1, "first")
    weighted = show.figure(show="weighted", judge="first", phase=1).data[0].z
    expected = np.where(found.kind_XY > TIE, found.advantage_XY * share_XY / share_XY.sum(), 0)
    np.testing.assert_allclose(weighted, expected)
    for x, y in ((10, 0), (3, 7)):
        Q_A = q_values_at(v.model, v.first.values_PXY[2], x, y)
        first, second = (policy[x, y] for policy in v.actions(1))
        assert found.advantage_XY[x, y] == pytest.approx(Q_A[second] - Q_A[first], abs=1e-9)


def test_the_judge_decides_what_is_a_tie():
    """No action beats the optimal one under U*; under the values of A, some of its own do."""
    v = versus("gridworld")
    kinds = [v.disagreement(0, judge).kind_XY for judge in ("optimal", "first")]
    assert (kinds[0] != kinds[1]).any()
    assert not (kinds[0] == FIRST_BETTER).any() and (kinds[1] == FIRST_BETTER).any()


def test_the_gain_is_the_difference_of_the_exact_values():
    v = versus("inventory")
    gain = figure_named(comparison_figures(v), "gain").figure(phase=2).data[0]
    expected = v.second.values_PXY[0] - v.first.values_PXY[2]
    np.testing.assert_allclose(gain.z, expected, atol=1e-4)
    assert gain.zmin == -gain.zmax


def test_policies_of_different_periods_are_compared_at_the_same_time():
    first, second = inspected("inventory", 6), inspected("inventory", 3)
    assert [Versus(first, second).phases(p) for p in (0, 2, 4)] == [(0, 0), (2, 2), (4, 1)]
    fixed = Versus(first, first, second_phase=5)
    assert fixed.phases(2) == (2, 5)
    assert [one.name for one in comparison_figures(fixed)] == ["disagreement", "gain"]


def test_the_paired_paths_are_drawn_in_the_colours_of_the_policies():
    v = versus("inventory")
    show = figure_named(comparison_figures(v), "pair")
    figure, table = show.figure(seed=4, steps=60), show.table(seed=4, steps=60)
    pair = simulate_pair(
        v.model,
        (v.first.policy_PXY, v.second.policy_PXY),
        rng=np.random.default_rng(4),
        steps=60,
    )
    stock = v.model.fast.values[:, 0]
    for name, path, colour in (("A", pair.first, FIRST_POLICY), ("B", pair.second, SECOND_POLICY)):
        line = next(t for t in figure.data if t.name == name)
        np.testing.assert_array_equal(line.y, stock[path.y_N])
        assert line.line.color == colour
        np.testing.assert_array_equal(table[f"{name}: stock"], stock[path.y_N])
        np.testing.assert_array_equal(table[f"{name}: reward"], path.reward_N)
    np.testing.assert_allclose(trace(figure, "gain of B so far").y, pair.gain_N)
    exact = (v.second.values_PXY[0] - v.first.values_PXY[0])[pair.first.x_N[0], pair.first.y_N[0]]
    assert trace(figure, f"mean in the long run: {exact:.4g}").y[0] == pytest.approx(exact)


def test_the_table_of_a_comparison_begins_with_the_largest_disagreement():
    v = versus("inventory")
    table = figure_named(comparison_figures(v), "disagreement").table()
    assert len(table) == v.model.n_states
    x, y = v.disagreement().largest()[0]
    assert (table["demand"][0], table["stock"][0]) == (x, y)
    assert table["comparison"][0] == KINDS[SECOND_BETTER]
    assert table["share of A's time"].sum() == pytest.approx(1)


def test_labels_are_written_into_large_cells_only():
    grid = figure_named(comparison_figures(versus("gridworld")), "disagreement").figure(
        **{"task": 0, "carried": 0, "inner ring pays": 0}
    )
    v, words = versus("gridworld"), trace(grid, "actions").text
    labels = [label.replace(" ", "") for label in action_labels(v.model)]
    fast = np.ravel_multi_index((4, 10, 0, 0), (11, 11, 9, 2))
    first, second = (labels[policy[0, fast]] for policy in v.actions())
    assert first != second
    cell = words[10 * 11 + 4]
    assert cell.index(first) < cell.index(second)
    assert FIRST_POLICY in cell and SECOND_POLICY in cell
    busy = figure_named(comparison_figures(v), "disagreement").figure(task=3)
    assert all(len(set(text) & set("12345678")) == 0 for text in _visible(busy))
    small = figure_named(comparison_figures(versus("inventory")), "disagreement").figure()
    assert "actions" not in [one.name for one in small.data]


def _visible(figure) -> list[str]:
    """The letters of the labels, without their colours."""
    texts = trace(figure, "actions").text
    return ["".join(part.split(">")[-1] for part in text.split("<")) for text in texts]


def test_the_microscope_shows_the_plan_next_to_what_happened():
    s = inspected("inventory", 3)
    show = figure_named(policy_figures(s), "blocks")
    figure = show.figure(block=4, seed=2)
    blocks = frozen_blocks(s.model, s.policy_PXY, rng=np.random.default_rng(2), blocks=20)
    bars = trace(figure, "gap of a block")
    np.testing.assert_allclose(bars.y, blocks.gap_K)
    assert list(bars.customdata[6]) == [blocks.path.x_N[18], blocks.path.y_N[18], "block", 7]
    here = blocks.periods(3)
    lines = [
        [t for t in figure.data if t.name == name] for name in ("happened", "planned (x stays)")
    ]
    for path, (slow, fast, reward) in zip((blocks.path, blocks.plan), lines, strict=True):
        np.testing.assert_array_equal(slow.y, s.model.slow.values[path.x_N[here], 0])
        np.testing.assert_array_equal(fast.y, s.model.fast.values[path.y_N[here], 0])
        np.testing.assert_array_equal(reward.y, path.reward_N[here])
        np.testing.assert_array_equal(slow.x, [9, 10, 11])
    table = show.table(block=4, seed=2)
    np.testing.assert_array_equal(table["period"], [9, 10, 11])
    np.testing.assert_allclose(table["gap"], blocks.gap_N[here])
    np.testing.assert_array_equal(table["phase"], s.phases)
    np.testing.assert_array_equal(
        table["planned: stock"], s.model.fast.values[blocks.plan.y_N[here], 0]
    )


def test_a_stationary_policy_chooses_its_block_length():
    v = versus("inventory")
    show = figure_named(policy_figures(v.second), "blocks")
    assert len(show.table(T=12)) == 12
    with pytest.raises(InputError, match="T = 5"):
        show.figure(T=5)


def test_the_q_values_of_both_policies_have_names():
    v = versus("inventory")
    looks = {
        who: LookAhead(int(policy.policy_PXY[0, 4, 6]), policy.values_from(1).U_XY)
        for who, policy in (("A", v.first), ("B", v.second))
    }
    table = q_table(v.model, looks, 4, 6)
    assert list(table["action"]) == action_labels(v.model)
    for who, policy in (("A", v.first), ("B", v.second)):
        after = policy.values_PXY[1 % len(policy.phases)]
        np.testing.assert_allclose(table[f"Q of {who}"], q_values_at(v.model, after, 4, 6))
        assert who in table["taken by"][looks[who].action]
    figure = q_pair_figure(v.model, (looks["A"], looks["B"]), 4, 6)
    bars = [one for one in figure.data if one.type == "bar"]
    for one, who in zip(bars, "AB", strict=True):
        np.testing.assert_allclose(np.array(one.base, float) + one.y, table[f"Q of {who}"])


def test_costs_infeasible_actions_and_padding_are_respected():
    model = random_rows(11, (3, 4, 3), padded=True)
    costs = type(model)(
        reward_XYA=model.reward_XYA, rows=model.rows, gamma=0.9, sense="min", name="costs"
    )
    found = optimum(costs)
    rng = np.random.default_rng(0)
    chance = np.where(np.isneginf(costs.reward_XYA), -1, rng.random(costs.reward_XYA.shape))
    first = InspectedPolicy(costs, chance.argmax(axis=2))
    v = Versus(first, InspectedPolicy(costs, found.policy_PXY, None, found))
    shown = comparison_figures(v)
    for one in (*shown, *policy_figures(first)):
        assert one.figure().data
    gain = figure_named(shown, "gain").figure().data[0]
    assert np.isnan(gain.z[~costs.real_XY]).all() and np.nanmin(gain.z) >= 0
    assert gain.colorbar.title.text == "cost saved by B"
    table = figure_named(shown, "pair").table(steps=30)
    assert (table["A: cost"] == -v.pair(1, 30).first.reward_N).all()
    assert len(figure_named(shown, "disagreement").table()) == costs.n_real
    x, y = np.argwhere(costs.real_XY)[0]
    looks = {"A": LookAhead(int(first.policy_PXY[0, x, y]), first.values_from(1).U_XY)}
    assert len(q_table(costs, looks, x, y)) == costs.feasible_XYA[x, y].sum()
