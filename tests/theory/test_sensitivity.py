"""The best T for many budgets at once equals the advice for each of them."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.errors import InputError
from fsdash.theory import advise, fsvi_bound, preset, regimes, trivial_bound
from fsdash.theory.repaired import repaired_bound
from fsdash.theory.sensitivity import VARIABLE, best_T, best_T_rows, values_around, vary
from tests.theory.test_budget import problems

THREE = preset("three-regimes")
UNIT = THREE.sizes.sweep


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(problems, st.lists(st.floats(1, 300), min_size=1, max_size=6), st.booleans())
def test_each_cell_equals_the_advice_for_its_budget(problem, sweeps, repaired):
    constants, sizes, T = problem
    bound = partial(repaired_bound, l_frozen=1.1) if repaired else fsvi_bound
    budgets = np.array(sweeps) * sizes.sweep
    best = best_T(constants, sizes, budgets=budgets, T=T, bound=bound)
    for i, budget in enumerate(budgets):
        advice = advise(constants, sizes, budget=budget, T=T, bound=bound)
        assert best.regret[i] == advice.choice.regret
        tied = {c.T: c.k for c in advice.candidates if c.regret == advice.choice.regret}
        assert tied[best.T[i]] == best.k[i]
        # `advise` keeps the winner of smaller budgets where the bounds have underflowed.
        underflow = advice.choice.regret < sys.float_info.min
        if (1 in tied or len(tied) == 1) and not underflow:
            assert best.T[i] == advice.choice.T
        assert best.vacuous[i] == (advice.choice.regret >= trivial_bound(constants))


def test_the_winner_within_a_regime_is_that_of_the_regime():
    for T in (THREE.T, range(2, 101)):
        found = regimes(THREE.constants, THREE.sizes, T=T)
        inside = [(r.start + min(r.end, 2 * r.start)) / 2 for r in found]
        best = best_T(THREE.constants, THREE.sizes, budgets=inside, T=T)
        assert best.T.tolist() == [r.T for r in found]


def test_a_budget_below_one_sweep_has_no_choice():
    best = best_T(THREE.constants, THREE.sizes, budgets=[0, 0.99 * UNIT, UNIT], T=THREE.T)
    assert best.T.tolist() == [0, 0, 1]
    assert best.k.tolist() == [0, 0, 1]
    assert np.isinf(best.regret[:2]).all() and best.vacuous.all()


@pytest.mark.parametrize("name", VARIABLE)
def test_rows_vary_one_constant_and_no_other(name):
    now = getattr(THREE.constants, name)
    values = values_around(name, now, n=7)
    assert (np.diff(values) > 0).all()
    assert values[0] < now < values[-1]
    rows = vary(THREE.constants, name, values=values)
    assert [replace(row, **{name: now}) for row in rows] == [THREE.constants] * 7
    assert [getattr(row, name) for row in rows] == values.tolist()
    budgets = np.geomspace(1, 100, 5) * UNIT
    grid = best_T_rows(rows, THREE.sizes, budgets=budgets, T=THREE.T)
    assert grid.T.shape == grid.vacuous.shape == (7, 5)
    for row, T in zip(rows, grid.T, strict=True):
        np.testing.assert_array_equal(T, best_T(row, THREE.sizes, budgets=budgets, T=THREE.T).T)


@pytest.mark.parametrize("value", [0.0, 1e-12, 0.5, 1 - 1e-13])
def test_values_around_every_value_are_usable(value):
    for name in VARIABLE:
        vary(THREE.constants, name, values=values_around(name, value))


@pytest.mark.parametrize("budgets", [[UNIT, np.nan], [-1.0, UNIT], [UNIT, np.inf]])
def test_unusable_budgets_are_refused(budgets):
    with pytest.raises(InputError, match=r"^budget = "):
        best_T(THREE.constants, THREE.sizes, budgets=budgets, T=THREE.T)


def test_unknown_constants_are_named():
    with pytest.raises(InputError, match="n_slow is not a constant to vary; choose one of gamma"):
        vary(THREE.constants, "n_slow", values=[1])
