"""Advice and regimes, compared with a search over every step of every staircase."""

import math
from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.errors import InputError
from fsdash.theory import (
    BoundedRun,
    Constants,
    Sizes,
    advise,
    fsvi_bound,
    fsvi_cost,
    k_max,
    k_max_vi,
    lower_level_cost,
    preset,
    regimes,
    trivial_bound,
    vi_bound,
    vi_cost,
)

THREE = preset("three-regimes")


def in_sweeps(found, sizes):
    """(algorithm, T, start, end) in sweeps of Base VI, to 9 digits."""
    unit = sizes.sweep
    return [(r.algorithm, r.T, round(r.start / unit, 9), round(r.end / unit, 9)) for r in found]


def winner(found, budget):
    (regime,) = [regime for regime in found if budget in regime]
    return regime.algorithm, regime.T


def brute_force(constants, sizes, T, sweeps):
    """The winner at every budget where a staircase steps, and the budget up to which it holds."""
    k = np.arange(1, sweeps + 1)
    staircases = {("VI", 1): (vi_cost(sizes, k), vi_bound(constants, k))}
    for horizon in sorted(set(T) - {1}):
        affordable = k[fsvi_cost(sizes, horizon, k=k) <= sweeps * sizes.sweep]
        staircases["FSVI", horizon] = (
            fsvi_cost(sizes, horizon, k=affordable),
            fsvi_bound(constants, horizon, k=affordable).total,
        )
    budgets = sorted({float(cost) for costs, _ in staircases.values() for cost in costs})
    lists = {
        name: (costs.tolist(), regret.tolist()) for name, (costs, regret) in staircases.items()
    }
    leader, winners = ("VI", 1), []
    for budget in budgets:
        bounds = {}
        for name, (costs, regret) in lists.items():
            steps = bisect_right(costs, budget)
            if steps:
                bounds[name] = regret[steps - 1]
        best = min(bounds.values())
        tied = [name for name in bounds if bounds[name] == best]
        leader = next(name for name in (("VI", 1), leader, min(tied)) if name in tied)
        if best < 1e-300:  # beyond this budget the bounds underflow, and ties are not real
            return winners, budget
        winners.append((budget, leader))
    return winners, sweeps * sizes.sweep


scales = st.one_of(st.just(0.0), st.floats(1e-3, 10))
small_sizes = st.builds(
    Sizes, n_slow=st.integers(1, 30), n_fast=st.integers(1, 30), n_actions=st.integers(1, 30)
)
problems = st.tuples(
    st.builds(
        Constants,
        gamma=st.one_of(st.just(0.0), st.floats(0.05, 0.97)),
        alpha=st.one_of(st.just(0.0), st.floats(0, 0.2)),
        d_y=st.one_of(st.just(0.0), st.floats(0.1, 2)),
        l_r=scales,
        l_f=st.floats(0, 1.3),
        l_u=st.one_of(st.just(0.0), st.floats(1e-6, 1)),
        r_max=st.one_of(st.just(0.0), st.floats(0.1, 1000)),
    ),
    small_sizes,
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(problems)
def test_regimes_equal_a_search_over_all_steps(problem):
    constants, sizes, T = problem
    found = regimes(constants, sizes, T=T)
    starts = [regime.start for regime in found]

    def leads(budget):
        regime = found[bisect_right(starts, budget) - 1]
        return regime.algorithm, regime.T

    winners, end = brute_force(constants, sizes, T, sweeps=150)
    assert all(leads(budget) == leader for budget, leader in winners)
    assert all(leads(np.nextafter(b, 0)) == leader for (_, leader), (b, _) in pairwise(winners))
    # Every regime starts where a staircase steps.
    assert {start for start in starts if start < end} <= {budget for budget, _ in winners}


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(problems)
def test_regimes_cover_all_budgets_once(problem):
    constants, sizes, T = problem
    found = regimes(constants, sizes, T=T)
    assert found[0].start == sizes.sweep
    assert (found[0].algorithm, found[0].T) == ("VI", 1)
    assert found[-1].end == math.inf
    for left, right in pairwise(found):
        assert left.start < left.end == right.start
        assert (left.algorithm, left.T) != (right.algorithm, right.T)


def test_a_run_that_costs_exactly_the_budget_is_within_it():
    sizes, cost = THREE.sizes, fsvi_cost(THREE.sizes, 16, k=3)
    for budget, k in ((cost, 3), (np.nextafter(cost, 0), 2)):
        advice = advise(THREE.constants, sizes, budget=float(budget), T=[16])
        [run] = [run for run in advice.candidates if run.T == 16]
        assert run.k == k


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(problems, st.floats(1, 300))
def test_advice_is_the_best_of_its_candidates(problem, sweeps):
    constants, sizes, T = problem
    budget = sweeps * sizes.sweep
    advice = advise(constants, sizes, budget=budget, T=T)
    assert advice.choice == advice.candidates[0]
    assert winner(advice.regimes, budget) == (advice.choice.algorithm, advice.choice.T)
    assert advice.trivial_bound == trivial_bound(constants)
    names = [(c.algorithm, c.T) for c in advice.candidates]
    affordable = [("FSVI", t) for t in set(T) - {1} if k_max(sizes, t, budget=budget) >= 1]
    assert sorted(names) == sorted([("VI", 1), *affordable])
    for c in advice.candidates:
        assert advice.choice.regret <= c.regret
        if c.algorithm == "VI":
            k = k_max_vi(sizes, budget)
            expected = (k, vi_bound(constants, k), vi_cost(sizes, k))
        else:
            k = k_max(sizes, c.T, budget=budget)
            expected = (k, fsvi_bound(constants, c.T, k=k).total, fsvi_cost(sizes, c.T, k=k))
        assert (c.k, c.regret, c.cost) == pytest.approx(expected, rel=1e-14)
        assert c.k >= 1 and c.cost <= budget
    assert [c.regret for c in advice.candidates] == sorted(c.regret for c in advice.candidates)


def test_the_regimes_of_the_paper_s_figure():
    """From two sweeps on as in the figure; below, longer lower levels become affordable."""
    assert in_sweeps(regimes(THREE.constants, THREE.sizes, T=THREE.T), THREE.sizes) == [
        ("VI", 1, 1, 1.06),
        ("FSVI", 2, 1.06, 1.12),
        ("FSVI", 4, 1.12, 1.27),
        ("FSVI", 9, 1.27, 1.48),
        ("FSVI", 16, 1.48, 5.27),
        ("FSVI", 9, 5.27, 53),
        ("VI", 1, 53, math.inf),
    ]


def test_the_regimes_of_the_long_horizon_preset():
    chosen = preset("long-horizon")
    found = in_sweeps(regimes(chosen.constants, chosen.sizes, T=chosen.T), chosen.sizes)
    assert found[-3:] == [
        ("FSVI", 16, 1.48, 29.27),
        ("FSVI", 9, 29.27, 335),
        ("VI", 1, 335, math.inf),
    ]
    floors = fsvi_bound(chosen.constants, chosen.T, k=1).floor
    assert floors.min() == pytest.approx(685.0855908)
    assert floors.min() > trivial_bound(chosen.constants) == pytest.approx(100)


def test_the_best_horizon_falls_as_the_budget_grows():
    found = regimes(THREE.constants, THREE.sizes, T=range(1, 101))
    late = [r.T for r in found if r.start >= 2 * THREE.sizes.sweep and r.algorithm == "FSVI"]
    assert late[-1] == 8
    assert (found[-1].algorithm, found[-1].start) == ("VI", 53 * THREE.sizes.sweep)


def test_horizon_1_and_the_order_of_horizons_change_nothing():
    for T in (THREE.T, (*THREE.T, 1), THREE.T[::-1], np.array(THREE.T * 2)):
        assert regimes(THREE.constants, THREE.sizes, T=T) == regimes(
            THREE.constants, THREE.sizes, T=THREE.T
        )
    (only,) = regimes(THREE.constants, THREE.sizes, T=1)
    assert (only.algorithm, only.start, only.end) == ("VI", THREE.sizes.sweep, math.inf)


@pytest.mark.parametrize("changes", [{"r_max": 0}, {"gamma": 0}, {"l_f": 1e100, "l_r": 1e100}])
def test_base_vi_wins_on_every_budget(changes):
    constants = replace(THREE.constants, **changes)
    found = regimes(constants, THREE.sizes, T=THREE.T[2:])
    assert [(r.algorithm, r.end) for r in found] == [("VI", math.inf)]
    assert advise(constants, THREE.sizes, budget=1e12, T=THREE.T).choice.algorithm == "VI"


def test_fsvi_without_a_floor_keeps_winning():
    exact = replace(THREE.constants, alpha=0, l_u=0)
    assert regimes(exact, THREE.sizes, T=THREE.T)[-1].T == 25
    # T = 2 has no freeze error, so without L_U it alone has no floor.
    drifting = replace(THREE.constants, l_u=0)
    assert regimes(drifting, THREE.sizes, T=THREE.T)[-1].T == 2
    advice = advise(drifting, THREE.sizes, budget=1e5 * THREE.sizes.sweep, T=THREE.T)
    assert (advice.choice.algorithm, advice.choice.T, advice.choice.regret) == ("FSVI", 2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.9999, 1 - 1e-6, 1 - 1e-12])
def test_discount_factors_close_to_1(gamma):
    """There are millions of steps; the last change of the winner is checked by its definition."""
    constants = replace(THREE.constants, gamma=gamma)
    *_, before, last = regimes(constants, THREE.sizes, T=range(2, 26))
    assert (before.algorithm, last.algorithm) == ("FSVI", "VI")
    k = k_max_vi(THREE.sizes, last.start)
    floor = fsvi_bound(constants, np.arange(2, 26), k=k).total.min()
    assert vi_bound(constants, k) <= floor < vi_bound(constants, k - 1)


def test_a_worked_example_of_advice():
    unit = THREE.sizes.sweep
    advice = advise(THREE.constants, THREE.sizes, budget=10 * unit, T=THREE.T)
    regret = fsvi_bound(THREE.constants, 9, k=9).total
    lower = lower_level_cost(THREE.sizes, 9)
    assert advice.choice == BoundedRun("FSVI", 9, 9, regret, lower + 9 * unit)
    assert len(advice.candidates) == 6
    assert advise(THREE.constants, THREE.sizes, budget=10 * unit, T=9).choice == advice.choice


def test_bad_input_is_refused():
    with pytest.raises(
        InputError,
        match=r"budget = 1000 is too small for any run.*one sweep of Base VI.*5000000000",
    ):
        advise(THREE.constants, THREE.sizes, budget=1000, T=THREE.T)
    with pytest.raises(InputError, match=r"^T is empty"):
        advise(THREE.constants, THREE.sizes, budget=1e12, T=[])
    with pytest.raises(InputError, match=r"^T = 0"):
        regimes(THREE.constants, THREE.sizes, T=[2, 0])
    with pytest.raises(InputError, match=r"^budget = inf"):
        advise(THREE.constants, THREE.sizes, budget=math.inf, T=THREE.T)
