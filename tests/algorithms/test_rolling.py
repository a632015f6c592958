"""Rolling freeze: the recursion, and its agreement with the lower levels that record it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from fsdash.algorithms import (
    e_fsvi,
    e_rolling,
    frolling,
    fsavi,
    fsfvi,
    fsvi,
    rolling,
    run_until,
)
from fsdash.algorithms.architecture import LinearArchitecture
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.regression import Linear
from fsdash.regression.tabular import Tabular
from fsdash.sampling import Sampling
from tests.algorithms.driving import seed
from tests.models import random_model, seeds, shapes, sizes

T = 5


def recorded(snapshots):
    """The rolling policies of a run, up to the end of its lower level."""
    found = []
    for snapshot in snapshots:
        if snapshot.phase == "upper":
            break
        found += [snapshot] if snapshot.policy_kind == "rolling" else []
    return found


def assert_same(ours, theirs):
    assert len(ours) == len(theirs) == T - 1
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a.policy_PXY, b.policy_PXY)
        assert np.array_equal(a.values_XY, b.values_XY)
        assert (a.iteration, a.backups, a.evaluations) == (b.iteration, b.backups, b.evaluations)


@given(seeds, sizes, shapes)
def test_rolling_is_the_newest_policy_of_the_frozen_recursion(seed, sizes, shape):
    model = random_model(seed, sizes, shape, frozen="XYAW")
    J_XY = np.zeros((model.n_slow, model.n_fast))
    found = list(rolling(model, T))
    assert [s.iteration for s in found] == [1, 2, 3, 4, 5]
    for snapshot in found:
        J_XY, pi_XY = bellman(model, model.frozen, J_XY)
        assert np.array_equal(snapshot.policy_PXY, pi_XY[None])
        assert np.array_equal(snapshot.values_XY, J_XY)
        assert snapshot.backups == snapshot.iteration * model.n_states * model.n_actions


def test_exact_lower_levels_record_it():
    model = random_model(1)
    alone = list(rolling(model, T - 1))
    assert_same(recorded(fsvi(model, T)), alone)
    assert_same(recorded(fsavi(model, T, architecture=LinearArchitecture.tabular(model))), alone)


@pytest.mark.parametrize("common", [False, True])
def test_sampled_lower_levels_record_it_with_the_same_random_numbers(common):
    model = random_model(2, frozen="XYAW")
    sampling = Sampling(M_l=3, common_random_numbers=common)
    alone = list(e_rolling(model, seed(4), T=T - 1, sampling=sampling))
    assert_same(recorded(e_fsvi(model, seed(4), T=T, sampling=sampling)), alone)
    table = {"regress": Tabular(), "sampling": replace(sampling, N=model.n_states)}
    assert_same(list(frolling(model, seed(4), T=T - 1, **table)), alone)
    fitted = {"regress": Linear(), "sampling": replace(sampling, N=6)}
    alone = list(frolling(model, seed(5), T=T - 1, **fitted))
    assert_same(recorded(fsfvi(model, seed(5), T=T, lower_policy="frozen", **fitted)), alone)


def test_it_is_optimal_in_the_limit_if_the_slow_state_never_moves():
    moving = random_model(3, sizes=(3, 6, 3, 2), shape=("X...", "XYAW"), gamma=0.9)
    model = FastSlowMDP(
        moving.reward_XYA,
        moving.noise_W,
        np.arange(3)[:, None, None, None],
        moving.next_fast,
        gamma=0.9,
    )
    best, r_max = optimum(model), np.abs(model.reward_XYA).max()
    for snapshot in rolling(model, 80):
        loss = regret(model, snapshot.policy_PXY, best=best).max_regret
        # The policy is greedy for J_{n−1}, which is within γ^{n−1} r_max/(1 − γ) of U*.
        assert loss <= 2 * 0.9**snapshot.iteration * r_max / 0.1**2 + 1e-5
    assert loss <= 1e-2 * r_max


def test_its_shares_of_the_optimum_on_the_domains():
    """The table in the guide."""
    for name, shares in {
        "inventory": [0.958, 0.970, 0.990],
        "gridworld": [0.476, 0.947, 1.000],
        "pricing": [0.962, 0.988, 0.998],
    }.items():
        model = make(name).build()
        best = model.mean(optimum(model).U_XY)
        chosen = [s for s in rolling(model, 24) if s.iteration in (6, 12, 24)]
        values = [policy_values(model, s.policy_PXY, tolerance=1e-4 * best) for s in chosen]
        found = [model.mean(v.U_XY) / best for v in values]
        assert found == pytest.approx(shares, abs=0.0006)


def test_errors_name_the_bad_argument():
    model = random_model(4)
    for call, words in (
        (lambda: next(rolling(model, 0)), "T = 0"),
        (lambda: next(e_rolling(model, seed(0), T=2.5)), "T = 2.5"),
        (lambda: next(e_rolling(model, 7, T=2)), "rng = 7"),
        (
            lambda: next(frolling(model, seed(0), T=2, regress=Linear(), sampling=Sampling(M_l=0))),
            "M_l = 0",
        ),
        (lambda: next(rolling(model, 2, J0_XY=np.zeros(3))), "J0_XY: shape"),
        (lambda: run_until(rolling(model, 3), iterations=4), "iterations = 4: .* ends earlier"),
    ):
        with pytest.raises(InputError, match=words):
            call()
