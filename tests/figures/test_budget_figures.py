"""The figures of Choose T show the library's numbers."""

from dataclasses import replace
from functools import partial
from math import log10

import numpy as np
import pytest

from fsdash.figures.budget import budget_figure
from fsdash.figures.budget_detail import (
    HTML_SYMBOLS,
    TERM_COLOURS,
    decomposition_figure,
    sensitivity_figure,
    truth_figure,
)
from fsdash.figures.marks import HANDLE
from fsdash.figures.palette import FAMILY_COLOURS, competitor_colour, competitor_label, fsvi_colour
from fsdash.formatting import number
from fsdash.theory import (
    advise,
    fsvi_bound,
    fsvi_cost,
    preset,
    regimes,
    sensitivity_table,
    trivial_bound,
    vi_bound,
    vi_cost,
)
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory.repaired import repaired_bound
from fsdash.theory.sensitivity import VARIABLE, best_T_rows, values_around, vary
from fsdash.theory.staircase import budget_range, rolling_curve, staircases, staircases_table

THREE = preset("three-regimes")
UNIT = THREE.sizes.sweep
# Default, vacuous, overflowing, no reward, no floor, almost no discounting.
CASES = {
    "three-regimes": THREE.constants,
    "long-horizon": preset("long-horizon").constants,
    "overflow": replace(THREE.constants, l_f=1e100, l_r=1e100),
    "no reward": replace(THREE.constants, r_max=0),
    "nothing": replace(THREE.constants, r_max=0, l_r=0, l_u=0),
    "no floor": replace(THREE.constants, alpha=0, l_u=0),
    "myopic": replace(THREE.constants, gamma=0),
    "patient": replace(THREE.constants, gamma=1 - 1e-9),
}


def drawn(constants, sweeps, T=THREE.T, competing=None, bound=fsvi_bound):
    advice = advise(constants, THREE.sizes, budget=sweeps * UNIT, T=competing or T, bound=bound)
    figure = budget_figure(
        constants, THREE.sizes, T, advice.budget, advice.regimes, advice.candidates, bound
    )
    return figure, advice


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


@pytest.mark.parametrize("bound", [fsvi_bound, partial(repaired_bound, l_frozen=1.3)])
def test_each_step_of_a_curve_has_the_bound_and_cost_of_the_library(bound):
    figure, _ = drawn(THREE.constants, 4, bound=bound)
    for T in (1, *THREE.T):
        steps = trace(figure, competitor_label(T))
        k, _ = np.array(steps.customdata, dtype=float).T
        k = k.astype(int)
        cost = vi_cost(THREE.sizes, k) if T == 1 else fsvi_cost(THREE.sizes, T, k=k)
        np.testing.assert_array_equal(steps.x[:-1], cost[:-1])
        np.testing.assert_array_equal(steps.y, bound(THREE.constants, T, k=k).total)
        assert steps.line.shape == "hv" and steps.x[-1] >= cost[-1]
    steps = trace(figure, "Base VI")
    k = np.array(steps.customdata)[:, 0].astype(int)
    np.testing.assert_allclose(steps.y, vi_bound(THREE.constants, k))


def test_the_markers_are_the_bounds_for_the_budget_on_their_curves():
    figure, advice = drawn(THREE.constants, 4)
    for choice in advice.candidates:
        mark = trace(figure, f"{competitor_label(choice.T)} for this budget")
        assert (mark.x[0], mark.y[0]) == (4 * UNIT, choice.regret)
        steps = trace(figure, competitor_label(choice.T))
        before = np.searchsorted(steps.x, 4 * UNIT, side="right") - 1
        assert steps.y[before] == choice.regret
    sizes = [
        trace(figure, f"{competitor_label(c.T)} for this budget").marker.size
        for c in advice.candidates
    ]
    assert sizes[0] > max(sizes[1:])


def test_a_bound_off_the_scale_is_marked_with_an_arrow_at_the_edge():
    figure, advice = drawn(THREE.constants, 1e9)
    mark = trace(figure, "Base VI for this budget")
    assert advice.choice.regret == 0
    assert mark.y[0] == pytest.approx(10 ** figure.layout.yaxis.range[0])
    assert mark.marker.symbol == "triangle-down" and mark.customdata[0][2] == 0


@pytest.mark.parametrize("competing", [THREE.T, range(2, 101)])
def test_the_strip_shows_the_regimes_on_the_axis_of_the_chart(competing):
    figure, advice = drawn(THREE.constants, 4, competing=competing)
    strip = trace(figure, "regimes")
    assert list(strip.x[:-1]) == [regime.start for regime in advice.regimes]
    assert strip.x[-1] == pytest.approx(10 ** figure.layout.xaxis.range[1])
    assert [cell[1] for cell in strip.customdata[0]] == [
        competitor_label(r.T) for r in advice.regimes
    ]
    # Both colours of a cell are those of the winner.
    colours = [colour for _, colour in strip.colorscale]
    expected = [competitor_colour(r.T) for r in advice.regimes for _ in (0, 1)]
    assert [c.lower() for c in colours] == [c.lower() for c in expected]
    # A click on a cell selects a budget for which that competitor wins.
    for cell, regime in zip(strip.customdata[0], advice.regimes, strict=True):
        assert cell[0] in regime


def test_three_regimes_in_sweeps():
    figure, _ = drawn(THREE.constants, 4)
    starts = np.array(trace(figure, "regimes").x[:-1]) / UNIT
    np.testing.assert_allclose(starts, [1, 1.06, 1.12, 1.27, 1.48, 5.27, 53])
    names = [cell[1] for cell in trace(figure, "regimes").customdata[0]]
    assert names == ["Base VI", "T = 2", "T = 4", "T = 9", "T = 16", "T = 9", "Base VI"]


def test_the_winner_is_drawn_even_if_its_T_is_not_selected():
    figure, advice = drawn(THREE.constants, 20, competing=range(2, 101))
    assert advice.choice.T == 8
    assert trace(figure, "T = 8").line.width > trace(figure, "T = 9").line.width


def test_the_budget_is_a_line_that_can_be_dragged():
    figure, _ = drawn(THREE.constants, 4)
    (line,) = [shape for shape in figure.layout.shapes if shape.name == HANDLE]
    assert line.x0 == line.x1 == 4 * UNIT


def test_the_area_above_the_trivial_bound_is_grey_and_labelled_vacuous():
    figure, _ = drawn(THREE.constants, 4)
    (area,) = [shape for shape in figure.layout.shapes if shape.name == "vacuous"]
    assert (
        area.y0 == trivial_bound(THREE.constants) and log10(area.y1) > figure.layout.yaxis.range[1]
    )
    assert any("vacuous bounds" in a.text for a in figure.layout.annotations)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sweeps", [1, 4, 1e9])
def test_the_axes_leave_room_for_the_curves_of_every_case(case, sweeps):
    figure, _ = drawn(CASES[case], sweeps)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        low, high = axis.range
        assert np.isfinite([low, high]).all() and low < high
    low, high = figure.layout.yaxis.range
    assert high - low < 20
    assert figure.layout.xaxis2.range == figure.layout.xaxis.range
    for steps in figure.data[:-2]:
        assert not np.isnan(np.array(steps.y, float)).any()


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_a_vacuous_domain_shows_where_base_vi_becomes_informative(name):
    domain = measured_domains()[name]
    found = regimes(domain.constants, domain.sizes, T=(2, 6, 12))
    figure = budget_figure(domain.constants, domain.sizes, (2, 6, 12), 4 * UNIT, found)
    low, high = figure.layout.yaxis.range
    trivial = trivial_bound(domain.constants)
    assert low < log10(trivial) < log10(min(trace(figure, "T = 2").y)) < high
    assert min(trace(figure, "Base VI").y) < trivial


def test_a_budget_too_small_for_any_iteration_still_has_a_figure():
    found = regimes(THREE.constants, THREE.sizes, T=THREE.T)
    for given in (0.0, 0.5 * UNIT):
        figure = budget_figure(THREE.constants, THREE.sizes, THREE.T, given, found)
        assert not [t for t in figure.data if "for this budget" in t.name]
        assert len([s for s in figure.layout.shapes if s.name == HANDLE]) == (given > 0)


def test_the_table_holds_the_steps_of_the_curves():
    found = regimes(THREE.constants, THREE.sizes, T=THREE.T)
    _, high = budget_range(THREE.constants, THREE.sizes, budget=4 * UNIT, regimes=found)
    table = staircases_table(THREE.constants, THREE.sizes, T=THREE.T, max_budget=high)
    curves = staircases(THREE.constants, THREE.sizes, T=THREE.T, max_budget=high)
    rolling = rolling_curve(THREE.constants, THREE.sizes, max_budget=high)
    assert {len(column) for column in table.values()} == {
        sum(curve.k.size for curve in curves) + rolling.n.size
    }
    assert max(table["cost"]) <= high
    np.testing.assert_allclose(np.array(table["cost"]) / UNIT, table["sweeps"])


@pytest.mark.parametrize("bound", [fsvi_bound, partial(repaired_bound, l_frozen=1.3)])
def test_the_bars_are_the_terms_of_the_bound(bound):
    advice = advise(THREE.constants, THREE.sizes, budget=4 * UNIT, T=THREE.T, bound=bound)
    figure = decomposition_figure(THREE.constants, advice.candidates, bound)
    assert trace(figure, "reward term").x == ("VI", "2", "4", "9", "16", "25")
    for i, T in enumerate((1, *THREE.T)):
        (k,) = {bar.customdata[i] for bar in figure.data}
        expected = bound(THREE.constants, T, k=k)
        for name in TERM_COLOURS:
            assert trace(figure, f"{name} term").y[i] == getattr(expected, f"{name}_term")
        (choice,) = [c for c in advice.candidates if c.T == T]
        assert sum(bar.y[i] for bar in figure.data) == pytest.approx(choice.regret)
    best = [a for a in figure.layout.annotations if "best" in a.text]
    assert [a.x for a in best] == [4]  # T = 16 is the fifth bar


@pytest.mark.parametrize("case", CASES)
def test_bars_of_every_case_have_a_finite_axis(case):
    advice = advise(CASES[case], THREE.sizes, budget=4 * UNIT, T=THREE.T)
    low, high = decomposition_figure(CASES[case], advice.candidates).layout.yaxis.range
    assert low == 0 < high < np.inf


@pytest.mark.parametrize("name", VARIABLE)
def test_the_heat_map_shows_the_best_T(name):
    now = getattr(THREE.constants, name)
    values, budgets = values_around(name, now, n=9), np.geomspace(1, 200, 8) * UNIT
    best = best_T_rows(
        vary(THREE.constants, name, values=values), THREE.sizes, budgets=budgets, T=THREE.T
    )
    figure = sensitivity_figure(name, values, THREE.sizes, budgets, best, (4 * UNIT, now))
    cells = trace(figure, "best T")
    np.testing.assert_allclose(2 ** np.array(cells.z, float), best.T)
    np.testing.assert_allclose(cells.x, budgets / UNIT)
    np.testing.assert_array_equal(cells.y, values)
    np.testing.assert_array_equal(np.isfinite(trace(figure, "vacuous").z), best.vacuous)
    assert (trace(figure, "here").x[0], trace(figure, "here").y[0]) == (4, now)
    assert figure.layout.yaxis.title.text == HTML_SYMBOLS[name]
    table = sensitivity_table(name, values, budgets, best)
    assert table["T"] == best.T.ravel().tolist() and len(table[name]) == 72


def test_the_heat_map_uses_the_colours_of_the_competitors():
    values, budgets = values_around("l_f", 1.2, n=5), np.geomspace(1, 200, 5) * UNIT
    best = best_T_rows(
        vary(THREE.constants, "l_f", values=values), THREE.sizes, budgets=budgets, T=(2, 16)
    )
    figure = sensitivity_figure("l_f", values, THREE.sizes, budgets, best, (4 * UNIT, 1.2))
    scale = trace(figure, "best T").colorscale
    assert scale[0][1] == FAMILY_COLOURS["VI"] and scale[-1][1] == fsvi_colour(16)


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_figure_compares_the_bound_with_the_true_regret(name):
    domain = measured_domains()[name]
    figure = truth_figure(domain.constants, domain.regret)
    T = sorted(domain.regret)
    bound, true = trace(figure, "the bound, k → ∞"), trace(figure, "the true regret")
    np.testing.assert_array_equal(bound.y, fsvi_bound(domain.constants, T, k=0).floor)
    assert list(true.y) == [domain.regret[t][0] for t in T]
    trivial = trivial_bound(domain.constants)
    assert max(true.y) < trivial < min(bound.y)


@pytest.mark.parametrize("case", ["three-regimes", "long-horizon", "no floor", "patient"])
@pytest.mark.parametrize("sweeps", [1, 4, 1e9])
def test_the_grey_area_has_room_for_its_label(case, sweeps):
    low, high = drawn(CASES[case], sweeps)[0].layout.yaxis.range
    assert high - log10(trivial_bound(CASES[case])) > 0.15 * (high - low)


def test_the_winner_and_the_trivial_bound_stay_visible_next_to_huge_floors():
    huge = replace(THREE.constants, alpha=1e6, d_y=1e6, l_u=1e6, l_r=1e6)
    figure, advice = drawn(huge, 4)
    low, high = figure.layout.yaxis.range
    assert low < log10(trivial_bound(huge)) < high
    assert advice.choice.algorithm == "VI" and low < log10(advice.choice.regret) < high


def test_huge_bars_are_cut_and_labelled_with_their_true_value():
    bound = partial(repaired_bound, l_frozen=1e6)
    advice = advise(THREE.constants, THREE.sizes, budget=4 * UNIT, T=THREE.T, bound=bound)
    figure = decomposition_figure(THREE.constants, advice.candidates, bound)
    top = figure.layout.yaxis.range[1]
    bar = trace(figure, "reward term")
    assert max(bar.y) <= 100 * top
    assert bar.text[-1] == number(bound(THREE.constants, 25, k=0).reward_term)


def test_the_label_of_the_grey_area_is_on_the_side_with_fewer_curves():
    figure, _ = drawn(THREE.constants, 4)
    [label] = [note for note in figure.layout.annotations if note.name == "vacuous"]
    assert label.xanchor == "right"
    pricing = measured_domains()["pricing"]
    figure, _ = drawn(pricing.constants, 4)  # Base VI crosses the line at the right
    [label] = [note for note in figure.layout.annotations if note.name == "vacuous"]
    assert label.xanchor == "left"
