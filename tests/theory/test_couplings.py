"""The theory with Wasserstein constants: what docs/proofs.md claims, and where it ends."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.theory import fsvi_bound, repaired_bound, reward_error, value_lipschitz_bound
from fsdash.theory.measured import measure
from tests.models import in_rows, random_model, seeds
from tests.theory.test_inequalities import SLACK, reward_gap


def slow_chain(seed, gamma, step=1e-2):
    """Rows with state-dependent noise, a reward smooth in x, and small moves of the slow state."""
    rng = np.random.default_rng(seed)
    model = in_rows(random_model(seed, (3, 3, 2, 3), ("X..W", ".YAW"), gamma))
    x = np.arange(3)
    smooth_XYA = model.reward_XYA[:1] + 0.1 * step * x[:, None, None]
    slow, fast = Axis(("x",), x * step), Axis(("y",), rng.uniform(0, 1, 3))
    return replace(model, reward_XYA=smooth_XYA, slow=slow, fast=fast)


@given(seeds, st.integers(1, 6), st.integers(0, 8), st.sampled_from([0.3, 0.8]))
def test_all_bounds_hold_with_wasserstein_constants(seed, T, k, gamma):
    model = slow_chain(seed, gamma)
    best = optimum(model, tolerance=1e-9)
    found = measure(model, best.U_XY)
    c = found.constants(gamma)
    assert found.coupling == "wasserstein"
    assert c.l_u <= value_lipschitz_bound(gamma, c.l_r, l_f=c.l_f) + SLACK
    assert reward_gap(model, best.U_XY, T) <= reward_error(c, T).total + SLACK
    policy_PXY = run_until(fsvi(model, T), iterations=k).policy_PXY
    true = regret(model, policy_PXY, best=best).max_regret
    assert true <= repaired_bound(c, T, k=k, l_frozen=found.l_frozen).total + SLACK
    if found.l_frozen <= c.l_f:
        assert true <= fsvi_bound(c, T, k=k).total + SLACK


def test_the_default_of_the_frozen_constant_is_for_the_common_noise_only():
    """From x = 1, y jumps by 100 with probability 0.01; x' is 0 in any case."""
    pair_N, target_N, probability_N = (
        [0, 1, 2, 2, 3, 3],
        [0, 0, 0, 1, 0, 1],
        [1, 1, *[0.99, 0.01] * 2],
    )
    model = FastSlowMDP(
        reward_XYA=np.zeros((2, 2, 1)),
        rows=Rows.from_entries((2, 2, 1), pair_N, target_N, probability_N),
        gamma=0.9,
        fast=Axis(("y",), [0, 100]),
    )
    found = measure(model)
    assert found.l_f == pytest.approx(1)
    assert found.l_frozen == pytest.approx(0.99 + 0.01 * np.hypot(1, 100))
    assert np.hypot(1, found.l_f) < found.l_frozen <= 1 + found.l_f


def test_with_infeasible_actions_the_lipschitz_recursion_fails():
    """An action far away from the other one is feasible in one of two neighbouring states."""
    model = FastSlowMDP(
        reward_XYA=[[[0, -np.inf], [0, 1]]],
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.arange(2)[None, :, None, None],
        gamma=0.5,
        actions=Axis(("a",), [0, 100]),
    )
    found = measure(model)
    assert (found.l_r, found.l_f, found.l_u) == pytest.approx((0.01, 1, 2))
    assert found.l_u > value_lipschitz_bound(0.5, found.l_r, l_f=found.l_f)
