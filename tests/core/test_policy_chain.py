"""The chain of a policy: its core, by hand and by brute force, and the values outside it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fsdash.core.anderson import DEPTH, accelerate, new_history
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.policy_chain import Chain
from tests.models import dense_policy_values, random_model, seeds, shapes


def chain_of(next_fast, policy_PXY=None, gamma=0.9) -> Chain:
    """One slow state, no noise, one action: each fast state has one successor."""
    n = len(next_fast)
    model = FastSlowMDP(
        reward_XYA=np.arange(n, dtype=float)[None, :, None],
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.array(next_fast)[None, :, None, None],
        gamma=gamma,
    )
    return model.true.chain(model.reward_XYA, np.zeros((1, 1, n), int), model.gamma)


def test_the_core_of_a_line_that_enters_a_cycle_is_the_cycle():
    # 4 → 3 → 0 → 1 → 2 → 0, and 5 stays where it is.
    core_C, outside = chain_of([1, 2, 0, 0, 3, 5]).core()
    assert core_C.tolist() == [0, 1, 2, 5]
    assert outside.tolist() == [4, 3]


def test_values_outside_the_core_match_a_closed_form():
    chain = chain_of([0, 0, 1], gamma=0.5)
    core_C, outside = chain.core()
    inner = chain.restricted_to(core_C)
    assert inner.reward_PXY.tolist() == [[[0.0]]]
    # U(0) = 0, U(1) = 1 + U(0)/2, U(2) = 2 + U(1)/2.
    np.testing.assert_allclose(
        chain.extended_from_core(inner.values_by_phase(np.zeros((1, 1))), core_C, outside),
        [[[0, 1, 2.5]]],
    )


@given(seeds, shapes, st.integers(1, 3), st.integers(1, 12))
def test_the_core_has_the_states_that_paths_of_any_length_enter(seed, shape, phases, n_fast):
    model = random_model(seed, (2, n_fast, 2, 2), shape)
    policy_PXY = np.random.default_rng(seed).integers(2, size=(phases, 2, n_fast))
    chain = model.true.chain(model.reward_XYA, policy_PXY, model.gamma)
    core_C, outside = chain.core()
    full_P = np.broadcast_to(chain.next_fast_P, (phases, 2, n_fast, 1, chain.next_fast_P.shape[4]))
    entered = set(range(n_fast))
    for _ in range(n_fast):
        entered = set(full_P[:, :, sorted(entered)].ravel().tolist())
    assert set(core_C.tolist()) == entered
    assert sorted([*core_C.tolist(), *outside.tolist()]) == list(range(n_fast))


@given(
    seeds,
    st.sampled_from([("X..W", "XYA."), ("XYAW", "XYAW"), ("X..W", "XYAW")]),
    st.integers(1, 3),
)
def test_values_outside_the_core_are_exact_too(seed, shape, phases):
    # Every transition leads to a smaller fast state, or from the two smallest to one of them, so
    # most fast states are outside the core.
    drawn = random_model(seed, (2, 9, 3, 2), shape, gamma=0.95)
    lower_Y = np.maximum(np.arange(9), 2)[None, :, None, None]
    model = FastSlowMDP(
        drawn.reward_XYA, drawn.noise_W, drawn.next_slow, drawn.next_fast % lower_Y, gamma=0.95
    )
    policy_PXY = np.random.default_rng(seed).integers(3, size=(phases, 2, 9))
    core_C, outside = model.true.chain(model.reward_XYA, policy_PXY, model.gamma).core()
    assert set(core_C.tolist()) <= {0, 1} and len(outside) >= 7
    values = policy_values(model, policy_PXY, tolerance=1e-9)
    exact_XY = dense_policy_values(model, policy_PXY)
    assert values.error <= 1e-9
    assert np.abs(values.U_XY - exact_XY).max() <= values.error + 1e-11


@given(seeds, st.integers(1, DEPTH))
def test_acceleration_ends_an_affine_iteration_within_as_many_steps_as_dimensions(seed, n):
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
    b = rng.normal(size=n)
    exact = np.linalg.solve(np.eye(n) - 0.99 * turn, b)
    history, U = new_history(n), np.zeros(n)
    for k in range(n + 2):
        image = 0.99 * turn @ U + b
        residual, U = image - U, image
        accelerate(k, history, residual, U)
    np.testing.assert_allclose(U, exact, atol=1e-5 * np.abs(exact).max())


def test_acceleration_leaves_a_converged_iterate_unchanged():
    history, U = new_history(3), np.array([1.0, 2.0, 3.0])
    for k in range(2 * DEPTH):
        accelerate(k, history, np.zeros(3), U)
        assert U.tolist() == [1, 2, 3]
