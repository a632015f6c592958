"""Measured constants, compared with their definitions over all pairs and with worked examples."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.domains import make
from fsdash.theory import measured
from fsdash.theory.measured import measure
from tests.models import random_model, seeds, shapes, sizes


def by_definition(model, U_XY):
    """The constants from their definitions, over all pairs."""
    X, Y, A = model.reward_XYA.shape
    full = (X, Y, A, len(model.noise_W))
    slow = model.slow.values[np.broadcast_to(model.next_slow, full)]
    fast = model.fast.values[np.broadcast_to(model.next_fast, full)]
    points = np.array(
        [
            np.concatenate([model.slow.values[x], model.fast.values[y], model.actions.values[a]])
            for x, y, a in np.ndindex(X, Y, A)
        ]
    )
    d = np.linalg.norm(points[:, None] - points, axis=2)
    states = np.array(
        [np.concatenate([model.slow.values[x], model.fast.values[y]]) for x, y in np.ndindex(X, Y)]
    )
    ds = np.linalg.norm(states[:, None] - states, axis=2)

    def ratio(values, distances):
        change = np.linalg.norm(values[:, None] - values, axis=2)
        off = distances > 0
        return (change[off] / distances[off]).max(initial=0)

    successors = np.concatenate([slow, fast], axis=-1)
    l_f = max(ratio(successors[:, :, :, w].reshape(X * Y * A, -1), d) for w in range(full[3]))
    stays = np.broadcast_to(model.slow.values[:, None, None, None], slow.shape)
    frozen = np.concatenate([stays, fast], axis=-1)
    l_frozen = max(ratio(frozen[:, :, :, w].reshape(X * Y * A, -1), d) for w in range(full[3]))
    d_y = np.linalg.norm(fast - model.fast.values[None, :, None, None], axis=-1).max()
    slow_step = np.linalg.norm(slow - model.slow.values[:, None, None, None], axis=-1).max()
    return {
        "d_y": d_y,
        "slow_step": slow_step,
        "l_r": ratio(model.reward_XYA.reshape(-1, 1), d),
        "l_f": l_f,
        "l_frozen": l_frozen,
        "l_u": ratio(U_XY.reshape(-1, 1), ds),
    }


def with_random_coordinates(model, seed):
    """The model with random coordinates in one to three dimensions."""
    rng = np.random.default_rng(seed)

    def axis(n):
        dimensions = int(rng.integers(1, 4))
        names = tuple(f"c{i}" for i in range(dimensions))
        return Axis(names, rng.normal(size=(n, dimensions)))

    X, Y, A = model.reward_XYA.shape
    return replace(model, slow=axis(X), fast=axis(Y), actions=axis(A))


@given(seeds, sizes, shapes)
def test_all_constants_equal_their_definitions(seed, sizes, shape):
    model = with_random_coordinates(random_model(seed, sizes, shape), seed)
    U_XY = np.random.default_rng(seed).normal(size=(model.n_slow, model.n_fast))
    found, expected = measure(model, U_XY), by_definition(model, U_XY)
    assert found.d_y == pytest.approx(expected["d_y"])
    if expected["d_y"] > 0:
        assert found.alpha * found.d_y == pytest.approx(expected["slow_step"])
    for name in ("l_r", "l_f", "l_u", "l_frozen"):
        assert getattr(found, name) == pytest.approx(expected[name], rel=1e-12), name
    if model.n_slow > 1:
        assert 1 - 1e-12 <= found.l_frozen <= np.hypot(1, found.l_f) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_frozen_dynamics_of_the_domains_are_as_sensitive_as_the_true_ones(name):
    model = make(name).build()
    found = measure(model, np.zeros((model.n_slow, model.n_fast)))
    assert found.l_frozen == found.l_f > 1


@given(seeds, shapes)
def test_the_block_size_does_not_change_the_result(seed, shape):
    model = with_random_coordinates(random_model(seed, (2, 5, 3, 2), shape), seed)
    U_XY = np.random.default_rng(seed).normal(size=(2, 5))
    whole = measure(model, U_XY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "BLOCK", 7)
        assert measure(model, U_XY) == whole


def test_a_worked_example_on_inventory():
    found = measure(make("inventory").build())
    assert (found.d_y, found.alpha) == (50, pytest.approx(1 / 50))
    # The smallest reward is ordering 50 with an empty stock, which costs K + 50c and holding 50;
    # the largest is selling E[min(10, d')] = 9.9 from a stock of 10 at d = 10.
    assert found.reward_shift == pytest.approx(120 + 50 + 50)
    assert found.r_max == pytest.approx(10 * 9.9 - 0.1 + 220)
    # The fixed cost: at least K/5 between ordering nothing and ordering 5.
    assert found.l_r >= (120 + 5) / 5


@pytest.mark.slow
def test_a_worked_example_on_pricing():
    found = measure(make("pricing").build())
    assert found.d_y == pytest.approx(6)  # α = 0.4, reference 0, price 10
    assert found.alpha == pytest.approx(np.sqrt(0.1**2 + 1 + 1) / 6)
    # α moves by 0.1 with reference 0 and price 10: y' moves by 1 and x' by 0.1.
    assert found.l_f == pytest.approx(np.sqrt(1 + 0.01) / 0.1)


@pytest.mark.slow
def test_a_worked_example_on_gridworld():
    found = measure(make("gridworld").build())
    # Delivering task 8 resets the task by 8, the object by 1 and moves one cell.
    assert found.d_y == pytest.approx(np.sqrt(64 + 1 + 1))
    assert found.alpha == pytest.approx(1 / np.sqrt(66))
    assert (found.reward_shift, found.r_max) == (0, 80)


def test_outcomes_of_probability_0_are_ignored():
    model = FastSlowMDP(
        reward_XYA=np.zeros((3, 3, 1)),
        noise_W=[1.0, 0.0],
        next_slow=np.array([[0, 2], [1, 0], [2, 0]])[:, None, None, :],
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.5,
    )
    found = measure(model)
    assert (found.alpha, found.l_f, found.l_r, found.l_u) == (0, 1, 0, 0)


def test_two_states_with_equal_coordinates_have_an_infinite_constant():
    model = random_model(1, sizes=(2, 2, 2, 1))
    same = replace(model, fast=Axis(("y",), [1.0, 1.0]))
    assert measure(same, np.array([[0.0, 1.0], [0.0, 1.0]])).l_u == np.inf
