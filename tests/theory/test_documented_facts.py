"""Facts that README, the guide, the pages and the proofs state."""

import numpy as np
import pytest

from fsdash.algorithms import rolling
from fsdash.choice.solved import solved_domain
from fsdash.domains import make
from fsdash.theory import fsvi_bound, trivial_bound
from fsdash.theory.measured import measure
from fsdash.theory.measured_domains import measured_domains


def test_freezing_demand_also_changes_the_next_stock_of_the_inventory():
    """By at most one demand step, so that the two successors are at most √2 α d_Y apart."""
    model = make("inventory").build()
    shape = (*model.reward_XYA.shape, len(model.noise_W))
    slow, fast, frozen = (
        np.broadcast_to(table, shape)
        for table in (model.next_slow, model.next_fast, model.frozen.next_fast)
    )
    x = np.broadcast_to(np.arange(shape[0])[:, None, None, None], shape)
    dx = model.slow.values[slow, 0] - model.slow.values[x, 0]
    dy = model.fast.values[fast, 0] - model.fast.values[frozen, 0]
    found = measure(model)
    assert np.abs(dy).max() > 0
    assert np.hypot(dx, dy).max() == pytest.approx(np.sqrt(2) * found.alpha * found.d_y)


@pytest.mark.parametrize("name", ["gridworld", "pricing"])
def test_freezing_leaves_the_fast_dynamics_of_the_other_domains_as_they_are(name):
    model = make(name).build()
    shape = (*model.reward_XYA.shape, len(model.noise_W))
    true, frozen = (
        np.broadcast_to(table, shape) for table in (model.next_fast, model.frozen.next_fast)
    )
    assert np.array_equal(true, frozen)


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_bound_is_vacuous_on_the_domains_for_every_T(name):
    constants = measured_domains()[name].constants
    floors = fsvi_bound(constants, np.arange(2, 101), k=0).floor
    assert (np.ravel(floors) > trivial_bound(constants)).all()


def test_rolling_freeze_has_a_lower_floor_that_is_not_monotone_in_n():
    solved = solved_domain(make("inventory"))
    loss = {
        step.iteration: solved.regret(step.policy_PXY).mean_regret
        for step in rolling(solved.model, 400)
        if step.iteration in (48, 100, 400)
    }
    lowest = min(solved.fsvi_regret(T).mean_regret for T in range(2, 25))
    assert 0 < max(loss.values()) < lowest / 2
    assert loss[48] < loss[100] > loss[400]
