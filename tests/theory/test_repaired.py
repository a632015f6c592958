"""The repaired regret bound: its formula, the stated theorem, and the counterexample."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.errors import InputError
from fsdash.theory import fsvi_bound, preset, regimes, reward_error, transition_distance, vi_bound
from fsdash.theory.measured import measure
from fsdash.theory.repaired import repaired_bound
from tests.theory.test_budget import problems
from tests.theory.test_counterexample import reversing_model

THREE = preset("three-regimes")


def test_the_terms_equal_their_formulas():
    c, T, k = THREE.constants, 9, 3
    q = c.gamma**T
    phi = reward_error(replace(c, l_f=1.5), T).freeze
    found = repaired_bound(c, T, k=k, l_frozen=1.5)
    assert found.reward_term == pytest.approx(
        (reward_error(c, T).total + c.gamma * phi) / (1 - q), rel=1e-12
    )
    assert found.transition_term == pytest.approx(
        q * c.l_u * transition_distance(c, T) / (1 - q), rel=1e-12
    )
    assert found.iteration_term == fsvi_bound(c, T, k=k).iteration_term


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(problems)
def test_under_the_condition_it_is_below_the_stated_theorem(problem):
    constants, _, T = problem
    stated = fsvi_bound(constants, T, k=3)
    # One slow state and no L̃ given: L̃ = L_f.
    repaired = repaired_bound(constants, T, k=3, n_slow=1)
    assert (repaired.total <= stated.total * (1 + 1e-12)).all()
    at_one = repaired_bound(constants, 1, k=3, l_frozen=7.0).total
    assert at_one == pytest.approx(vi_bound(constants, 3), rel=1e-12)


def test_the_bound_grows_with_l_frozen():
    totals = [
        repaired_bound(THREE.constants, 9, k=3, l_frozen=l_frozen).total
        for l_frozen in (1.0, 1.2, 2.0, 3.0)
    ]
    assert totals == sorted(totals) and totals[0] < totals[-1]
    default = repaired_bound(THREE.constants, 9, k=3).total
    assert default == repaired_bound(THREE.constants, 9, k=3, l_frozen=np.hypot(1, 1.2)).total


@pytest.mark.parametrize("gamma", [0.0, 0.9, 1 - 1e-12])
@pytest.mark.parametrize(("l_frozen", "n_slow"), [(0.0, 1), (1.0, 2), (1e100, 2)])
def test_extreme_values_give_no_nan(gamma, l_frozen, n_slow):
    constants, T = replace(THREE.constants, gamma=gamma), np.array([1, 2, 10**6])
    total = repaired_bound(constants, T, k=1, l_frozen=l_frozen, n_slow=n_slow).total
    assert not np.isnan(total).any()


def test_it_holds_on_the_counterexample():
    model = reversing_model(0.9)
    best = optimum(model, tolerance=1e-8)
    measured = measure(model, best.U_XY)
    constants = measured.constants(0.9)
    policy_PXY = run_until(fsvi(model, 300), tolerance=1e-8).policy_PXY
    true = regret(model, policy_PXY, best=best).max_regret
    # In the frozen map x stays and y depends on the action only: its Lipschitz constant is 1.
    assert measured.l_frozen == 1
    assert fsvi_bound(constants, 300, k=10**6).total < true
    by_measure = repaired_bound(constants, 300, k=10**6).total
    unknown = replace(constants, l_frozen=None, eta=None, d_y_frozen=None)
    by_default = repaired_bound(unknown, 300, k=10**6).total
    assert true <= by_measure <= by_default
    # With L_f in the place of L̃ the formula is below the true regret.
    by_l_f = repaired_bound(constants, 300, k=10**6, l_frozen=constants.l_f, n_slow=1).total
    assert by_l_f == pytest.approx(4.45, abs=0.01)


def test_regimes_can_use_it():
    found = regimes(THREE.constants, THREE.sizes, T=THREE.T, bound=repaired_bound)
    # With a smaller floor FSVI wins for longer than the 53 sweeps of the stated theorem.
    assert found[-1].algorithm == "VI" and found[-1].start > 53 * THREE.sizes.sweep
    floors = [
        bound(THREE.constants, THREE.T, k=0).floor.min() for bound in (repaired_bound, fsvi_bound)
    ]
    assert floors[0] < floors[1]


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"^l_frozen = -1.0 is negative"):
        repaired_bound(THREE.constants, 2, k=1, l_frozen=-1)
    with pytest.raises(InputError, match=r"^T = 0"):
        repaired_bound(THREE.constants, 0, k=1)
