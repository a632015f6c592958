"""Lattice sweeps against exact solutions of tabular models, and frozen against thawed."""

import numpy as np
import pytest

import fsdash
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import q_values
from fsdash.simulators.lattice import Lattice
from fsdash.simulators.policy import Features, corners
from fsdash.simulators.pricing import ContinuousPricing
from fsdash.simulators.race import discounted_returns
from fsdash.simulators.simulator import Dependence, Driver, Points, check_simulator
from fsdash.simulators.tabular import TabularSimulator
from tests.models import random_model


def dyadic_model(seed, shape, gamma=0.9):
    """A random model whose noise is averaged exactly by 128 equal draws."""
    model = random_model(seed, (3, 5, 3, 3), shape, gamma)
    return FastSlowMDP(
        reward_XYA=model.reward_XYA,
        noise_W=[0.25, 0.5, 0.25],
        next_slow=model.next_slow,
        next_fast=model.next_fast,
        gamma=gamma,
        initial_XY=model.initial_XY,
    )


def lattice_of(sim, **options):
    return Lattice(Driver(sim), check_simulator(sim), np.random.default_rng(0), **options)


def solved(lattice, tolerance=1e-10):
    V_NL = np.zeros((len(lattice.x_N), lattice.layout.L))
    for _, V_NL in lattice.solve(V_NL, tolerance):  # noqa: B007, B020
        pass
    return V_NL


def all_actions(policy, model):
    x, y = np.indices((model.n_slow, model.n_fast)).reshape(2, -1, 1).astype(float)
    return policy.act(x, y).reshape(model.n_slow, model.n_fast)


SEPARATE, SHARED = ("X..W", "XYA."), ("X..W", "XYAW")


@pytest.mark.parametrize("shape", [SEPARATE, SHARED], ids=["separate", "shared noise"])
@pytest.mark.parametrize("seed", range(3))
def test_thawed_sweeps_solve_a_tabular_model(seed, shape):
    model = dyadic_model(seed, shape)
    lattice = lattice_of(TabularSimulator(model))
    V_NL = solved(lattice)
    best = fsdash.optimum(model, tolerance=1e-9)
    assert np.abs(lattice.levelled(V_NL) - best.U_XY).max() < 1e-6
    policy = all_actions(lattice.policy(V_NL, True, "thawed"), model)
    assert fsdash.regret(model, policy[None]).max_regret < 1e-6


@pytest.mark.parametrize("shape", [SEPARATE, SHARED], ids=["separate", "shared noise"])
def test_the_frozen_chain_gives_rolling_freeze_for_every_n(shape):
    model = dyadic_model(5, shape)
    lattice = lattice_of(TabularSimulator(model))
    J_XY = np.zeros((model.n_slow, model.n_fast))
    for (_, V_NL), _ in zip(lattice.chain(), range(6), strict=False):
        Q_XYA = q_values(model, model.frozen, J_XY)
        policy = all_actions(lattice.policy(V_NL, False, "rolling"), model)
        assert np.array_equal(policy, Q_XYA.argmax(axis=2))
        J_XY = Q_XYA.max(axis=2)


def test_a_hidden_dependence_is_noticed_and_the_result_is_the_same():
    model = dyadic_model(2, SHARED)
    sim = TabularSimulator(model)
    right = check_simulator(sim)
    wrong = Dependence(np.zeros_like(right.reads), right.noisy, False, False, 1.0)
    lattice = Lattice(Driver(sim), wrong, np.random.default_rng(0))
    assert lattice.dependence.reads.all()
    assert np.abs(lattice.levelled(solved(lattice)) - fsdash.optimum(model).U_XY).max() < 1e-2


def test_rolling_freeze_with_64_periods_is_within_a_thousandth_of_thawed_on_pricing():
    sim = ContinuousPricing()
    lattice = lattice_of(sim, coarse=4)
    V_NL = next(V_NL for n, V_NL in lattice.chain() if n == 64)
    frozen = lattice.policy(V_NL, False, "rolling")
    for _, V_NL in lattice.solve(V_NL):  # noqa: B007, B020
        pass
    thawed = lattice.policy(V_NL, True, "thawed")
    acts, rng = [frozen.act, thawed.act], np.random.default_rng(1)
    returns = discounted_returns(lattice.driver, acts, rng, 100, 600)
    assert abs(returns[0].mean() / returns[1].mean() - 1) < 1e-3


def test_infeasible_actions_are_never_taken():
    model = random_model(3, (3, 5, 3, 3), SEPARATE)
    feasible = np.ones((3, 5, 3), bool)
    feasible[:, 2, model.reward_XYA.sum(axis=(0, 1)).argmax()] = feasible[:, 4, 0] = False
    barred = FastSlowMDP(
        reward_XYA=np.where(feasible, model.reward_XYA, -np.inf),
        noise_W=model.noise_W,
        next_slow=model.next_slow,
        next_fast=model.next_fast,
        gamma=0.9,
    )
    lattice = lattice_of(TabularSimulator(barred))
    policy = all_actions(lattice.policy(solved(lattice), True, "thawed"), barred)
    assert np.take_along_axis(feasible, policy[:, :, None], 2).all()


def test_corners_interpolate_a_bilinear_function_exactly():
    points = [Points(np.linspace(0, 2, 5), False), Points(np.arange(3.0), True),
              Points(np.linspace(-1, 1, 4), False)]  # fmt: skip
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.uniform(0, 2, 50), rng.integers(0, 3, 50), rng.uniform(-1, 1, 50)])
    grid = np.stack(np.meshgrid(*(p.values for p in points), indexing="ij"), -1).reshape(-1, 3)

    def bilinear(v):
        return (1 + v[:, 0]) * (2 - v[:, 2]) + 5 * v[:, 1] ** 2

    index, weight = corners(points, y)
    assert np.allclose((bilinear(grid)[index] * weight).sum(axis=1), bilinear(y))
    assert np.allclose(weight.sum(axis=1), 1)


def test_features_are_indicators_or_polynomials_that_fit_exactly():
    few = Features.of({"a": Points(np.arange(3.0), True), "b": Points(np.arange(2.0), True)})
    x = np.array([[2.0, 1.0], [0.0, 1.0]])
    assert few(x).tolist() == [[0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0]]
    wide = {"a": Points(np.array([2.0, 5.0]), False), "b": Points(np.array([0.0, 1.0]), True)}
    features = Features.of(wide)
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(2, 5, 30), rng.integers(0, 2, 30)])
    cubic = x[:, 0] ** 3 - 4 * x[:, 0] ** 2 * x[:, 1]
    phi = features(x)
    assert np.allclose(phi @ np.linalg.lstsq(phi, cubic)[0], cubic)
    assert features.powers_FD[:, 1].max() == 1  # a coordinate with two values
