"""Facts about the domains that the guide and the proofs state."""

import numpy as np
import pytest

from fsdash.domains import make
from fsdash.theory.measured import measure


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
