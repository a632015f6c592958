"""Certificates: never below the true regret, on every kind of model, rounding included."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, mpi, rolling, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.certify import certify, upper_bound
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import (
    dense_optimum,
    dense_policy_values,
    exact_values,
    in_rows,
    random_model,
    random_rows,
    seeds,
    shapes,
)

ROUNDING = 1e-11
"""Of the dense solutions that the bounds are compared with."""


def random_policy(model, P, rng):
    """Random feasible actions for P phases."""
    chances = rng.random((P, *model.feasible_XYA.shape)) * model.feasible_XYA
    return chances.argmax(axis=3).astype(np.int32)


@given(seeds, shapes, st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_bounds_hold_from_any_values(seed, shape, P, steps, rows):
    rng, plain = np.random.default_rng(seed), random_model(seed, shape=shape, gamma=0.8)
    model = in_rows(plain) if rows else plain
    best_XY = dense_optimum(plain)
    policy_PXY, V_XY = random_policy(plain, P, rng), 10 * rng.normal(size=(3, 4))
    value_XY = dense_policy_values(plain, policy_PXY)
    for options in ({"values_XY": V_XY, "steps": steps}, {"tighten": 1}):
        found = certify(model, policy_PXY, **options)
        lower_XY, upper_XY = found
        assert (lower_XY <= value_XY + ROUNDING).all()
        assert (upper_XY >= best_XY - ROUNDING).all()
        assert found.max_regret >= (best_XY - value_XY).max() - ROUNDING
        assert found.mean_regret >= model.mean(best_XY - value_XY) - ROUNDING
    greedy_XY = bellman(plain, plain.true, V_XY)[1]
    loss_XY = best_XY - dense_policy_values(plain, greedy_XY[None])
    assert certify(model, V_XY, steps=steps).max_regret >= loss_XY.max() - ROUNDING


@given(seeds, st.booleans(), st.integers(1, 3))
def test_bounds_hold_with_infeasible_actions_and_padding(seed, padded, P):
    rng, model = np.random.default_rng(seed), random_rows(seed, padded=padded)
    policy_PXY, V_XY = random_policy(model, P, rng), rng.normal(size=model.real_XY.shape)
    true = regret(model, policy_PXY)
    for found in (certify(model, policy_PXY), certify(model, policy_PXY, values_XY=V_XY, steps=P)):
        assert found.max_regret >= true.max_regret - true.error
        assert found.mean_regret >= true.mean_regret - true.error


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_in_exact_arithmetic(seed):
    """Starting from the solution itself, only the rounding term keeps the bounds apart."""
    rng = np.random.default_rng(seed)
    model = FastSlowMDP(
        reward_XYA=rng.normal(size=(2, 2, 2)) * 10.0 ** rng.integers(-8, 9, size=(2, 2, 2)),
        noise_W=[0.375, 0.625],
        next_slow=rng.integers(2, size=(2, 1, 1, 2)),
        next_fast=rng.integers(2, size=(2, 2, 2, 2)),
        gamma=1 - 2.0**-10,
    )
    policies = list(product((0, 1), repeat=4))
    values = [exact_values(model, policy_S) for policy_S in policies]
    best = [max(column) for column in zip(*values, strict=True)]
    policy_XY = np.array(policies[values.index(best)]).reshape(2, 2)
    start_XY = np.array([float(value) for value in best]).reshape(2, 2)
    for steps in (1, 7, 300):
        found = certify(model, policy_XY, values_XY=start_XY, steps=steps)
        for lower, exact, upper in zip(found.lower_XY.flat, best, found.upper_XY.flat, strict=True):
            assert Fraction(lower) <= exact <= Fraction(upper)
        assert found.max_regret <= 1e-8 * model.largest_reward / (1 - model.gamma)


def test_only_differences_within_an_exogenous_slow_state_matter():
    rng, model = np.random.default_rng(0), random_model(3, shape=("X..W", "XYAW"))
    V_XY, c_X1 = rng.normal(size=(3, 4)), rng.normal(size=(3, 1))
    policy_PXY = random_policy(model, 2, rng)
    one = certify(model, policy_PXY, values_XY=V_XY, steps=2)
    two = certify(model, policy_PXY, values_XY=V_XY + 100 * c_X1, steps=2)
    np.testing.assert_allclose(one.lower_XY, two.lower_XY, atol=1e-9)
    np.testing.assert_allclose(one.upper_XY, two.upper_XY, atol=1e-9)


def test_the_cost_counts_every_sweep():
    """12 states with 2 actions: a sweep has 24 backups, a sweep of a policy 12."""
    model = random_model(4)
    policy_PXY, V_XY = np.zeros((3, 3, 4), np.int32), np.zeros((3, 4))
    # At least so many steps of the policy in whole cycles, and two upper bounds.
    assert certify(model, policy_PXY, values_XY=V_XY, steps=1).sweeps == 3 / 2 + 2 * 1
    assert certify(model, policy_PXY, values_XY=V_XY).sweeps == 6 / 2 + 2 * 4
    assert certify(model, policy_PXY, values_XY=V_XY, upper_XY=V_XY + 99).sweeps == 6 / 2
    # The greedy policy takes a sweep.
    assert certify(model, V_XY, steps=2).sweeps == 1 + 1 / 2 + 2 * 2
    upper_XY, sweeps = upper_bound(model, V_XY, steps=2, tighten=1)
    assert sweeps > 2 + 1 and (upper_XY >= optimum(model).U_XY).all()
    assert certify(model, policy_PXY, upper_XY=upper_XY).sweeps > 10


@pytest.mark.parametrize("name, most", [("inventory", 3), ("gridworld", 10), ("pricing", 3)])
def test_certificates_are_informative_on_the_domains(name, most):
    """One pass of FSVI, and the upper bound of a rolling policy, which is shared."""
    model = make(name).build()
    best = optimum(model)
    rolled = run_until(rolling(model, 24), iterations=24).policy_PXY
    shared_XY = certify(model, rolled, tighten=2).upper_XY
    for T in (4, 14):
        last = run_until(fsvi(model, T), iterations=30)
        true = regret(model, last.policy_PXY, best=best).max_regret
        shared = certify(model, last.policy_PXY, upper_XY=shared_XY)
        assert true <= shared.max_regret <= 1.3 * true
        assert shared.sweeps < 20
    one_pass = certify(model, last.policy_PXY, values_XY=last.values_XY)
    assert true <= one_pass.max_regret <= most * true
    assert one_pass.sweeps < run_until(mpi(model), tolerance=1e-6).backups / model.n_pairs


@pytest.mark.parametrize(
    "name, n, steps, most",
    [
        ("inventory", 48, 64, 12),
        ("gridworld", 24, 64, 11),
        ("pricing", 48, 64, 5),
        ("gridworld", 12, 16, 1.5),
    ],
)
def test_a_rolling_policy_is_certified_from_its_own_values(name, n, steps, most):
    """J ignores that x moves, U^π has the mistakes of π: the smaller bound of both starts holds."""
    model = make(name).build()
    last = run_until(rolling(model, n), iterations=n)
    found = certify(model, last.policy_PXY, values_XY=last.values_XY, steps=steps)
    true = regret(model, last.policy_PXY)
    assert true.max_regret - true.error <= found.max_regret <= most * true.max_regret
    for start_XY in (last.values_XY, found.lower_XY):
        assert (found.upper_XY <= upper_bound(model, start_XY, steps=steps)[0]).all()


@given(seeds, shapes, st.sampled_from([0.5, 0.9, 0.999]), st.booleans())
def test_certificates_of_rolling_policies_are_not_below_the_exact_regret(seed, shape, gamma, rows):
    """Without any tolerance: the certificate includes its rounding. Values in exact fractions."""
    plain = random_model(seed, (2, 2, 2, 2), shape, gamma)
    plain = FastSlowMDP(plain.reward_XYA, [0.375, 0.625], plain.next_slow, plain.next_fast, gamma)
    values = [exact_values(plain, policy_S) for policy_S in product((0, 1), repeat=4)]
    best = [max(column) for column in zip(*values, strict=True)]
    model = in_rows(plain) if rows else plain
    for snapshot in rolling(model, 4):
        value = exact_values(plain, snapshot.policy_PXY.reshape(-1))
        losses = [u - v for u, v in zip(best, value, strict=True)]
        start = {"values_XY": snapshot.values_XY, "steps": snapshot.iteration}
        for options in (start, {}, {"tighten": 1}):
            found = certify(model, snapshot.policy_PXY, **options)
            assert Fraction(found.max_regret) >= max(losses)
            for lower, upper, u, v in zip(
                found.lower_XY.flat, found.upper_XY.flat, best, value, strict=True
            ):
                assert Fraction(lower) <= v and u <= Fraction(upper)


def test_errors_name_the_bad_argument():
    model = random_model(5)
    policy_XY, V_XY = np.zeros((3, 4), int), np.zeros((3, 4))
    for call, words in (
        (lambda: certify(model, V_XY, values_XY=V_XY), "values_XY: leave it out"),
        (lambda: certify(model, policy_XY, steps=0), "steps = 0"),
        (lambda: certify(model, policy_XY, tighten=-1), "tighten = -1"),
        (lambda: certify(model, policy_XY + 9), "is not an action"),
        (lambda: certify(model, policy_XY, values_XY=V_XY[:2]), "values_XY: shape"),
        (lambda: certify(model, policy_XY, upper_XY=V_XY[:2]), "upper_XY: shape"),
        (lambda: certify(model, V_XY + np.nan), "values: some values are not finite"),
        (lambda: certify(model, policy_XY, values_XY=V_XY + np.inf), "values_XY: some values"),
        (lambda: certify(model, policy_XY, upper_XY=V_XY + np.nan), "upper_XY: some values"),
    ):
        with pytest.raises(InputError, match=words):
            call()
