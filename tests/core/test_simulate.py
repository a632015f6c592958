"""Paths follow the tables; visit frequencies are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, run_until
from fsdash.core import simulate as simulation
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import follow, policy_reward
from fsdash.core.simulate import simulate, visits
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from tests.models import random_model, seeds, shapes, sizes, transition_matrix


def random_policy(model, P, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(model.n_actions, size=(P, model.n_slow, model.n_fast))


def ring():
    """No noise: x increases by one, y by the action; the reward encodes state and action."""
    X, Y, A = 2, 3, 2
    x, y, a = np.ix_(range(X), range(Y), range(A))
    return FastSlowMDP(
        reward_XYA=100 * x + 10 * y + a + 0.0,
        noise_W=[1.0],
        next_slow=((x + 1) % X)[..., None],
        next_fast=((y + a) % Y + 0 * x)[..., None],
        gamma=0.5,
    )


def test_a_path_matches_a_calculation_by_hand():
    policy_PXY = np.array([np.ones((2, 3), int), np.zeros((2, 3), int)])
    path = simulate(ring(), policy_PXY, rng=np.random.default_rng(0), steps=5, start=(1, 2))
    assert path.x_N.tolist() == [1, 0, 1, 0, 1]
    assert path.y_N.tolist() == [2, 0, 0, 1, 1]
    assert path.action_N.tolist() == [1, 0, 1, 0, 1]
    assert path.phase_N.tolist() == [0, 1, 0, 1, 0]
    assert path.reward_N.tolist() == [121, 0, 101, 10, 111]
    assert path.total == 121 + 101 / 4 + 10 / 8 + 111 / 16
    assert path.period == 2 and len(path) == 5


@given(seeds, shapes, sizes, st.integers(1, 3))
def test_every_step_of_a_path_is_possible_in_the_model(seed, shape, sizes, P):
    model = random_model(seed, sizes, shape)
    policy_PXY = random_policy(model, P, seed)
    path = simulate(model, policy_PXY, rng=np.random.default_rng(seed), steps=12)
    kernel = transition_matrix(model, model.true)
    s_N = path.x_N * model.n_fast + path.y_N
    assert model.initial_XY[path.x_N[0], path.y_N[0]] > 0
    assert (path.action_N == policy_PXY[path.phase_N, path.x_N, path.y_N]).all()
    assert (kernel[s_N[:-1], path.action_N[:-1], s_N[1:]] > 0).all()


def test_the_same_seed_gives_the_same_path():
    model = random_model(1)
    policy_PXY = random_policy(model, 2)
    one, same, other = (
        simulate(model, policy_PXY, rng=np.random.default_rng(seed), steps=50) for seed in (7, 7, 8)
    )
    assert (one.x_N == same.x_N).all() and (one.y_N == same.y_N).all()
    assert (one.x_N != other.x_N).any() or (one.y_N != other.y_N).any()


def test_frequencies_on_a_long_path_approach_the_stationary_distribution():
    model = random_model(3, sizes=(3, 4, 2, 3))
    policy_XY = random_policy(model, 1)[0]
    path = simulate(model, policy_XY, rng=np.random.default_rng(0), steps=200_000)
    counts_XY = np.zeros((3, 4))
    np.add.at(counts_XY, (path.x_N, path.y_N), 1 / len(path))
    followed, exact_XY = follow(model.true, policy_XY), model.initial_XY
    for _ in range(500):
        exact_XY = followed.push_forward(exact_XY)
    np.testing.assert_allclose(counts_XY, exact_XY, atol=0.01)


@given(seeds, shapes, sizes)
def test_pushing_a_distribution_is_the_transposed_kernel(seed, shape, sizes):
    model = random_model(seed, sizes, shape)
    policy_XY = random_policy(model, 1, seed)[0]
    kernel = transition_matrix(model, model.true)[np.arange(model.n_states), policy_XY.ravel()]
    pushed_XY = follow(model.true, policy_XY).push_forward(model.initial_XY)
    np.testing.assert_allclose(pushed_XY.ravel(), model.initial_XY.ravel() @ kernel, atol=1e-14)


@given(seeds, shapes, sizes, st.integers(1, 4), st.sampled_from([0.0, 0.5, 0.95]))
def test_visits_are_the_dense_solution(seed, shape, sizes, P, gamma):
    model = random_model(seed, sizes, shape, gamma)
    policy_PXY = random_policy(model, P, seed)
    found = visits(model, policy_PXY)
    n, kernel = model.n_states, transition_matrix(model, model.true)
    steps_P = [kernel[np.arange(n), policy.ravel()] for policy in policy_PXY]
    around = np.linalg.multi_dot([np.eye(n), *steps_P, np.eye(n)])
    m = np.linalg.solve((np.eye(n) - gamma**P * around).T, (1 - gamma) * model.initial_XY.ravel())
    for share_XY, step in zip(found.share_PXY, steps_P, strict=True):
        np.testing.assert_allclose(share_XY.ravel(), m, atol=2.1e-8)
        m = gamma * m @ step
    assert found.error <= 1e-8
    assert found.share_XY.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", DOMAINS)
def test_visits_times_rewards_are_the_mean_value(name):
    model = make(name).build()
    policy_PXY = run_until(fsvi(model, T=6), iterations=3).policy_PXY
    found = visits(model, policy_PXY)
    rewards = [policy_reward(model, policy_XY) for policy_XY in policy_PXY]
    mean = np.vdot(found.share_PXY, rewards) / (1 - model.gamma)
    values = policy_values(model, policy_PXY)
    slack = 2 * found.error * np.abs(model.reward_XYA).max() / (1 - model.gamma)
    assert abs(mean - model.mean(values.U_XY)) <= values.error + slack + 1e-9 * abs(mean)


def test_visits_report_their_error_if_the_sweeps_do_not_suffice(monkeypatch):
    monkeypatch.setattr(simulation, "MAX_SWEEPS", 30)
    flip = FastSlowMDP(
        reward_XYA=np.zeros((1, 2, 1)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.array([1, 0]).reshape(1, 2, 1, 1),
        gamma=0.99,
        initial_XY=[[1.0, 0.0]],
    )
    found = visits(flip, np.zeros((1, 2), int))
    exact = (1 - 0.99) / (1 - 0.99**2)
    assert 1e-8 < abs(found.share_XY[0, 0] - exact) <= found.error == pytest.approx(0.99**30)


@pytest.mark.parametrize(
    "change, word",
    [
        ({"rng": 3}, "rng"),
        ({"steps": 0}, "steps"),
        ({"steps": 10**9}, "steps"),
        ({"start": (2, 0)}, "x = 2"),
        ({"start": (0, -1)}, "y = -1"),
        ({"policy": np.full((2, 3), 9)}, "policy"),
    ],
)
def test_errors_name_the_bad_input(change, word):
    good = {"policy": np.zeros((2, 3), int), "rng": np.random.default_rng(0), "steps": 3}
    with pytest.raises(InputError, match=word):
        simulate(ring(), **(good | change))
    with pytest.raises(InputError, match="tolerance"):
        visits(ring(), good["policy"], tolerance=0)
