"""Centring by slow state: the same greedy actions in expectation, with less noise."""

import numpy as np
import pytest

from fsdash.algorithms import e_fsvi, e_qi, e_vi, rolling, run_until
from fsdash.algorithms.optimum import optimum
from fsdash.core.evaluation import policy_values
from fsdash.core.operators import q_values
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.sampling import Sampler, Sampling, UpperSampler, centred, greedy
from tests.models import in_rows, random_model

EXOGENOUS = random_model(1, (3, 4, 2, 3), ("X..W", "XYAW"))


def seed(n):
    return np.random.default_rng(n)


@pytest.mark.parametrize("model", [EXOGENOUS, in_rows(EXOGENOUS)], ids=["tables", "rows"])
def test_centring_changes_q_by_a_function_of_the_state_only(model):
    U_XY = seed(0).normal(size=(3, 4))
    change = q_values(model, model.true, U_XY) - q_values(model, model.true, centred(U_XY))
    np.testing.assert_allclose(change, np.broadcast_to(change[:, :1, :1], change.shape))
    sampler = Sampler(model, model.true, 200_000, Sampling(centre=True, ties="first"))
    Q_SA, _ = sampler.q_values(U_XY, seed(1))
    exact_SA = q_values(model, model.true, centred(U_XY)).reshape(12, 2)
    assert np.abs(Q_SA - exact_SA).max() < 0.02


def test_centring_removes_the_noise_of_differences_between_slow_states():
    """U depends on the slow state alone: centred samples have no noise at all."""
    U_XY = np.array([[0.0], [10.0], [-5.0]]) * np.ones(4)
    Q_SA, _ = Sampler(EXOGENOUS, EXOGENOUS.true, 1, Sampling(centre=True, ties="first")).q_values(
        U_XY, seed(0)
    )
    np.testing.assert_allclose(Q_SA, EXOGENOUS.reward_XYA.reshape(12, 2))
    upper = UpperSampler(
        EXOGENOUS, U_XY, np.zeros((2, 3, 4), int), Sampling(M_u=1, centre=True, ties="first")
    )
    np.testing.assert_allclose(upper.q_values(U_XY, seed(0))[0], Q_SA)


def test_it_repairs_the_policy_that_is_greedy_for_a_long_frozen_horizon():
    model = make("inventory").build()
    J_XY = run_until(rolling(model, 60), iterations=60).values_XY
    best = model.mean(optimum(model).U_XY)

    def share(**options):
        policy_XY = greedy(
            Sampler(model, model.true, 50, Sampling(ties="random", **options)), J_XY, seed(3)
        )
        return model.mean(policy_values(model, policy_XY, tolerance=1e-3 * best).U_XY) / best

    assert share() < 0.9
    assert share(centre=True) > 0.98
    assert share(centre=True, common_random_numbers=True) > 0.98


@pytest.mark.parametrize("algorithm", [e_vi, e_qi, e_fsvi])
def test_algorithms_take_it_and_refuse_an_endogenous_slow_state(algorithm):
    T = {"T": 3} if algorithm is e_fsvi else {}
    last = run_until(
        algorithm(EXOGENOUS, seed(0), **T, sampling=Sampling(centre=True)), iterations=3
    )
    assert np.isfinite(last.values_XY).all()
    with pytest.raises(InputError, match="centre = True: the slow state is endogenous"):
        next(algorithm(random_model(2), seed(0), **T, sampling=Sampling(centre=True)))
