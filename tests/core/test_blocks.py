"""The block microscope: plans by hand, against a slow reference, and in expectation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, run_until
from fsdash.core.blocks import frozen_blocks
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.core.simulate import simulate
from fsdash.domains import make
from fsdash.errors import InputError
from tests.core.test_compare import random_policy
from tests.models import in_rows, random_model, random_rows, seeds, shapes, sizes, transition_matrix


def clock() -> FastSlowMDP:
    """No noise: x counts the periods, y adds the action to itself; the reward is 100x + 10y + a."""
    X, Y, A = 9, 9, 2
    x, y, a = np.ix_(range(X), range(Y), range(A))
    return FastSlowMDP(
        reward_XYA=100 * x + 10 * y + a + 0.0,
        noise_W=[1.0],
        next_slow=np.minimum(x + 1, X - 1)[..., None],
        next_fast=np.minimum(y + a + 0 * x, Y - 1)[..., None],
        gamma=0.5,
    )


def test_blocks_match_a_calculation_by_hand():
    """T = 3: μ takes action 1, the lower policies take action 1 only for even x."""
    model = clock()
    even_XY = np.repeat((np.arange(9) % 2 == 0)[:, None], 9, axis=1).astype(int)
    policy_PXY = np.stack([np.ones((9, 9), int), even_XY, even_XY])
    found = frozen_blocks(model, policy_PXY, rng=np.random.default_rng(0), blocks=2, start=(0, 0))
    # Happened: x = 0, 1, 2 | 3, 4, 5 with actions 1, 0, 1 | 1, 1, 0.
    assert found.path.x_N.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.path.y_N.tolist() == [0, 1, 1, 2, 3, 4]
    assert found.path.reward_N.tolist() == [1, 110, 211, 321, 431, 540]
    # Planned: x stays at 1 in the first block (action 0), and at 4 in the second (action 1).
    assert found.plan.x_N.tolist() == [0, 1, 1, 3, 4, 4]
    assert found.plan.y_N.tolist() == [0, 1, 1, 2, 3, 4]
    assert found.plan.action_N.tolist() == [1, 0, 0, 1, 1, 1]
    assert found.plan.reward_N.tolist() == [1, 110, 110, 321, 431, 441]
    assert found.gap_N.tolist() == [0, 0, -101, 0, 0, -99]
    assert found.gap_K.tolist() == [-101 / 4, -99 / 4]
    assert found.expected_gap_K.tolist() == [-101 / 4, -99 / 4]  # there is no noise
    assert len(found) == 2 and found.periods(1) == slice(3, 6)


@pytest.mark.parametrize("form", [lambda model: model, in_rows])
@given(seed=seeds, shape=shapes, sizes=sizes, T=st.integers(1, 4))
def test_the_path_is_that_of_a_simulation_and_plans_restart_in_every_block(
    form, seed, shape, sizes, T
):
    model = form(random_model(seed, sizes, shape))
    policy_PXY = random_policy(model, seed, P=T)
    found = frozen_blocks(model, policy_PXY, rng=np.random.default_rng(seed), blocks=5)
    alone = simulate(model, policy_PXY, rng=np.random.default_rng(seed), steps=5 * T)
    assert (alone.x_N == found.path.x_N).all() and (alone.y_N == found.path.y_N).all()
    k_N = np.arange(5 * T) % T
    for name in ("x_N", "y_N", "action_N"):
        path_N, plan_N = getattr(found.path, name), getattr(found.plan, name)
        assert (path_N[k_N < 2] == plan_N[k_N < 2]).all()
    for t in np.flatnonzero(k_N >= 2):  # x stays, and a step of the plan is possible when frozen
        assert found.plan.x_N[t] == found.plan.x_N[t - 1]
    assert (found.plan.action_N == policy_PXY[k_N, found.plan.x_N, found.plan.y_N]).all()


@given(seeds, shapes, sizes, st.integers(2, 4))
def test_the_plan_uses_the_outcomes_of_the_path(seed, shape, sizes, T):
    """A reference in plain Python for index tables."""
    model = random_model(seed, sizes, shape, frozen="XYAW")
    policy_PXY = random_policy(model, seed, P=T)
    found = frozen_blocks(
        model, policy_PXY, rng=np.random.default_rng(seed), blocks=3, start=(0, 0)
    )
    w_N = np.random.default_rng(seed).choice(len(model.noise_W), size=3 * T, p=model.noise_W)
    table = np.broadcast_to(model.frozen_next_fast, (*model.reward_XYA.shape, len(model.noise_W)))
    for t in range(3 * T):
        if t % T < 2:
            x, y = found.path.x_N[t], found.path.y_N[t]
        else:
            y = table[x, y, policy_PXY[(t - 1) % T, x, y], w_N[t - 1]]
        assert (found.plan.x_N[t], found.plan.y_N[t]) == (x, y)


@given(seeds, shapes, sizes, st.integers(1, 4))
def test_the_expected_gap_is_that_of_dense_algebra(seed, shape, sizes, T):
    model = random_model(seed, sizes, shape, frozen="XYAW")
    policy_PXY = random_policy(model, seed, P=T)
    found = frozen_blocks(model, policy_PXY, rng=np.random.default_rng(seed), blocks=4)
    n, rows = model.n_states, np.arange(model.n_states)
    kernels = [transition_matrix(model, d) for d in (model.frozen, model.true)]
    J = [np.zeros(n), np.zeros(n)]
    for t in range(T - 1, 0, -1):
        actions = policy_PXY[t].ravel()
        r = model.reward_XYA.reshape(n, -1)[rows, actions]
        J = [r + model.gamma * P[rows, actions] @ v for P, v in zip(kernels, J, strict=True)]
    gap_XY = model.gamma * (J[0] - J[1]).reshape(model.n_slow, model.n_fast)
    second = slice(1, None, T) if T > 1 else slice(0, None)
    expected = gap_XY[found.path.x_N[second], found.path.y_N[second]]
    np.testing.assert_allclose(found.expected_gap_K, expected, atol=1e-12)


def test_a_slow_state_that_stays_leaves_no_gap():
    model = random_model(2, (3, 4, 2, 3), ("X...", "XYAW"))
    still = FastSlowMDP(
        reward_XYA=model.reward_XYA,
        noise_W=model.noise_W,
        next_slow=np.arange(3).reshape(3, 1, 1, 1),
        next_fast=model.next_fast,
        gamma=0.9,
    )
    for form in (still, in_rows(still)):
        policy_PXY = random_policy(form, 1, P=3)
        found = frozen_blocks(form, policy_PXY, rng=np.random.default_rng(0), blocks=30)
        assert (found.plan.y_N == found.path.y_N).all()
        assert not found.gap_N.any() and np.abs(found.expected_gap_K).max() < 1e-12


def test_rows_keep_the_luck_of_the_fast_state():
    """y' does not depend on x or x': with the same noise the plan's y is that of the path."""
    rng, (X, Y) = np.random.default_rng(0), (3, 5)
    slow_XX, fast_YY = rng.dirichlet(np.ones(X), X), rng.dirichlet(np.ones(Y), Y)
    P = np.einsum("ij,kl->ikjl", slow_XX, fast_YY).reshape(X * Y, X * Y)
    pair_N, target_N = np.nonzero(P)
    rows = Rows.from_entries((X, Y, 1), pair_N, target_N, P[pair_N, target_N])
    model = FastSlowMDP(reward_XYA=rng.random((X, Y, 1)), rows=rows, gamma=0.9)
    still = np.zeros((4, X, Y), int)
    found = frozen_blocks(model, still, rng=np.random.default_rng(1), blocks=200)
    assert (found.plan.y_N == found.path.y_N).all()
    assert (found.plan.x_N != found.path.x_N).any()


def test_the_mean_gap_over_many_blocks_is_the_expected_one():
    for model in (random_rows(7), make("inventory").build()):
        policy_PXY = run_until(fsvi(model, T=4), iterations=10).policy_PXY
        found = frozen_blocks(model, policy_PXY, rng=np.random.default_rng(3), blocks=20_000)
        luck_K = found.gap_K - found.expected_gap_K
        assert abs(luck_K.mean()) < 4 * luck_K.std() / len(found) ** 0.5


def test_a_stationary_policy_is_cut_into_blocks_of_any_length():
    model = random_model(4)
    policy_XY = random_policy(model, 1)[0]
    found = frozen_blocks(model, policy_XY, rng=np.random.default_rng(0), blocks=3, T=5)
    assert len(found.path) == 15 and len(found) == 3
    assert "3 blocks of 5 periods" in repr(found)


@pytest.mark.parametrize(
    "change, word", [({"T": 3}, "T = 3"), ({"T": 0}, "T = 0"), ({"blocks": 0}, "blocks = 0")]
)
def test_errors_name_the_bad_input(change, word):
    model = random_model(1)
    arguments = {"rng": np.random.default_rng(0), "blocks": 2} | change
    with pytest.raises(InputError, match=word):
        frozen_blocks(model, random_policy(model, 1, P=2), **arguments)
    with pytest.raises(InputError, match="block = 2"):
        frozen_blocks(
            model, random_policy(model, 1), rng=np.random.default_rng(0), blocks=2
        ).periods(2)
