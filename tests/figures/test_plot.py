"""`fsdash.plot` draws the figures of the dashboard from results of the library."""

import numpy as np
import pytest

import fsdash
from fsdash.errors import InputError
from fsdash.figures import InspectedPolicy, policy_figures


def test_a_policy_is_drawn_as_in_the_inspector():
    domain = fsdash.make("inventory", y_max=10, d_max=5)
    best = fsdash.optimum(domain.build())
    for model, own in ((domain, domain), (domain.build(), None)):
        first = policy_figures(InspectedPolicy(domain.build(), best.policy_PXY, own))[0]
        assert fsdash.plot.policy(model, best) == first.figure()
    with pytest.raises(InputError, match=r"^figure = 'no': choose from .*actions"):
        fsdash.plot.policy(domain.build(), np.zeros((1, *best.U_XY.shape), int), figure="no")


def test_the_frontier_shows_every_measured_T_and_the_budget_only_if_it_is_given():
    points = fsdash.frontier(fsdash.make("inventory", y_max=10, d_max=5).build(), [2, 3, 4])
    names = [trace.name for trace in fsdash.plot.frontier(points).data]
    assert {"T = 2", "T = 3", "T = 4"} <= set(names) and "best for this budget" not in names
    chosen = fsdash.plot.frontier(points, [3], budget=1e6)
    names = [trace.name for trace in chosen.data]
    assert "T = 3" in names and "T = 2" not in names and "best for this budget" in names
