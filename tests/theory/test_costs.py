"""Worked examples of costs, and k_max by the inequality that defines it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.errors import InputError
from fsdash.theory import Sizes, fsvi_cost, k_max, k_max_vi, lower_level_cost, vi_cost

thorough = settings(max_examples=500, deadline=None, derandomize=True, database=None)

SIZES = Sizes(n_slow=3, n_fast=5, n_actions=2)

counts = st.one_of(st.integers(1, 200), st.integers(1, 10**12))
sizes_drawn = st.builds(Sizes, n_slow=counts, n_fast=counts, n_actions=counts)
horizons = st.one_of(st.integers(1, 100), st.integers(1, 10**6))
iterations = st.one_of(st.integers(0, 100), st.integers(0, 2**48))


def test_worked_examples_of_costs():
    sweep = 15 * 15 * 2
    assert vi_cost(SIZES, 7) == 7 * sweep
    assert lower_level_cost(SIZES, 4) == 3 * 25 * 2 * 4 + 225 * 4
    assert fsvi_cost(SIZES, 4, k=7) == 3 * 25 * 2 * 4 + 225 * 4 + 7 * sweep
    assert type(fsvi_cost(SIZES, 4, k=7)) is type(vi_cost(SIZES, 7)) is float
    assert type(k_max(SIZES, 4, budget=1e4)) is type(k_max_vi(SIZES, 1e4)) is int


def test_costs_of_arrays_broadcast():
    T, k = np.array([1, 2, 9])[:, None], np.arange(4)
    grid = fsvi_cost(SIZES, T, k=k)
    assert grid.shape == (3, 4)
    assert grid[2, 3] == fsvi_cost(SIZES, 9, k=3)
    assert vi_cost(SIZES, k).tolist() == [450 * i for i in range(4)]
    assert k_max(SIZES, [1, 2, 9], budget=5000.0).tolist() == [
        k_max(SIZES, T, budget=5000.0) for T in (1, 2, 9)
    ]


@pytest.mark.slow
@thorough
@given(sizes_drawn, horizons, iterations, st.floats(0, 1))
def test_k_max_is_the_largest_affordable_k(sizes, T, k, part):
    for cost, most in (
        (lambda k: fsvi_cost(sizes, T, k=k), lambda budget: k_max(sizes, T, budget=budget)),
        (lambda k: vi_cost(sizes, k), lambda budget: k_max_vi(sizes, budget)),
    ):
        at, after = cost(k), cost(k + 1)
        assert at < after
        assert most(at) == k
        assert most(np.nextafter(after, 0)) == k
        assert most(np.nextafter(at, 0)) == (k - 1 if at else 0)
        budget = at + part * (after - at)
        found = most(budget)
        assert cost(found) <= budget < cost(found + 1)


@pytest.mark.slow
@thorough
@given(sizes_drawn, horizons, st.floats(0, 1, exclude_max=True))
def test_k_max_is_minus_1_if_the_lower_level_is_unaffordable(sizes, T, part):
    budget = part * lower_level_cost(sizes, T)
    assert k_max(sizes, T, budget=budget) == -1


@pytest.mark.parametrize("budget", [-1, np.nan, np.inf, "much", None, True])
def test_bad_budgets_are_refused(budget):
    for call in (lambda: k_max(SIZES, 2, budget=budget), lambda: k_max_vi(SIZES, budget)):
        with pytest.raises(InputError, match=r"^budget = .*give"):
            call()


def test_budgets_with_too_many_sweeps_are_refused():
    with pytest.raises(InputError, match=r"budget = 1e\+30 is more than 2\*\*49 sweeps.*at most"):
        k_max(SIZES, 2, budget=1e30)


def test_bad_counts_are_refused():
    with pytest.raises(InputError, match=r"^k = -1"):
        vi_cost(SIZES, -1)
    with pytest.raises(InputError, match=r"^T = 0"):
        lower_level_cost(SIZES, 0)
