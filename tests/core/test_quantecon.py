"""QuantEcon computes the same optimal values."""

import numpy as np
import pytest
from quantecon.markov import DiscreteDP
from scipy import sparse

from fsdash.algorithms.optimum import optimum
from fsdash.domains import make
from tests.models import random_model


def discrete_dp(model):
    """A QuantEcon DiscreteDP in state-action pairs, from the tables."""
    X, Y, A = model.reward_XYA.shape
    full = (X, Y, A, len(model.noise_W))
    successors = np.broadcast_to(model.next_slow, full).astype(np.int64) * Y + model.next_fast
    pairs = X * Y * A
    rows = np.repeat(np.arange(pairs), full[3])
    Q = sparse.csr_matrix(
        (np.tile(model.noise_W, pairs), (rows, successors.ravel())), shape=(pairs, X * Y)
    )
    states, actions = np.divmod(np.arange(pairs), A)
    return DiscreteDP(model.reward_XYA.ravel(), Q, model.gamma, states, actions)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inventory", "gridworld"])
def test_optimal_values_of_the_domains(name):
    model = make(name, gamma=0.95).build()
    theirs = discrete_dp(model).solve(method="policy_iteration")
    assert np.abs(optimum(model).U_XY.ravel() - theirs.v).max() <= 1e-6


def test_optimal_values_of_pricing():
    model = make("pricing", n_reference=21, gamma=0.9).build()
    theirs = discrete_dp(model).solve(method="modified_policy_iteration", epsilon=1e-7)
    assert np.abs(optimum(model).U_XY.ravel() - theirs.v).max() <= 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_optimal_values_of_random_models(seed):
    model = random_model(seed, sizes=(3, 5, 4, 3))
    theirs = discrete_dp(model).solve(method="policy_iteration")
    assert np.abs(optimum(model).U_XY.ravel() - theirs.v).max() <= 1e-6
