"""Certificates: never below the true regret, on every kind of model, rounding included."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, rolling, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.certify import certify, upper_bound
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import (
    dense_optimum,
    dense_policy_values,
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


def exact_values(model, policy_S):
    """U^π of a stationary policy by rational elimination, as fractions."""
    S, gamma = model.n_states, Fraction(model.gamma)
    full = (*model.reward_XYA.shape, len(model.noise_W))
    target = model.next_slow.astype(int) * model.n_fast + model.next_fast
    rows = []
    for s, a in enumerate(policy_S):
        x, y = divmod(s, model.n_fast)
        row = [Fraction(int(s == to)) for to in range(S)]
        for w, p in enumerate(model.noise_W):
            to = int(np.broadcast_to(target, full)[x, y, a, w])
            row[to] -= gamma * Fraction(p)
        rows.append([*row, Fraction(model.reward_XYA[x, y, a])])
    for i in range(S):
        pivot = next(j for j in range(i, S) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(S):
            if j != i and rows[j][i]:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


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
    assert certify(model, policy_PXY, values_XY=V_XY, steps=1).sweeps == 3 / 2 + 1
    assert certify(model, policy_PXY, values_XY=V_XY).sweeps == 3 / 2 + 4
    assert certify(model, policy_PXY, values_XY=V_XY, upper_XY=V_XY + 99).sweeps == 3 / 2
    assert certify(model, V_XY, steps=2).sweeps == 1 + 2
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
    assert one_pass.sweeps < 20


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
