"""Recommendations: the best point of the frontier, and a choice from samples within the budget."""

from dataclasses import replace

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.frontier import frontier
from fsdash.choice.recommend import recommend
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import in_rows, random_model, random_rows

INVENTORY = make("inventory").build()


@pytest.mark.parametrize("sweeps", [0.7, 3, 8, 40])
def test_the_exact_choice_is_the_best_affordable_point(sweeps):
    measured = frontier(INVENTORY, bounds=False)
    points = measured.points
    affordable = points[points["sweeps"] <= sweeps]
    choice = recommend(INVENTORY, sweeps=sweeps)
    limit = affordable["mean_regret"].min() + measured.precision
    equal = affordable[affordable["mean_regret"] <= limit]
    assert choice.mean_regret <= limit and choice.evaluations == equal["evaluations"].min()
    loss = regret(INVENTORY, choice.policy_PXY)
    assert loss.mean_regret == pytest.approx(choice.mean_regret, abs=1e-3 * 2177)
    assert loss.max_regret <= choice.certificate
    assert f"of {sweeps} sweeps" in choice.why and "runner-up" in choice.why


def test_a_constant_in_all_rewards_does_not_leave_budget_unused():
    shifted = replace(INVENTORY, reward_XYA=INVENTORY.reward_XYA + 1e6)
    choice = recommend(shifted, sweeps=30)
    assert (choice.method, choice.k) == ("mpi", recommend(INVENTORY, sweeps=30).k)
    assert choice.mean_regret < 1e-4


def test_a_budget_below_every_sweep_leaves_the_free_policy():
    choice = recommend(INVENTORY, sweeps=0.001)
    assert (choice.method, choice.T, choice.k, choice.evaluations) == ("vi", None, 0, 0)
    assert np.array_equal(choice.policy_PXY[0], INVENTORY.reward_XYA.argmax(axis=2))
    assert "no point within 0.001 sweeps is better" in choice.why
    assert choice.why.endswith("FSVI with T = 3 and k = 0 is, and takes 0.667 sweeps.")
    assert recommend(INVENTORY, sweeps=0.66).evaluations == 0
    assert "FSVI with T = 3 and k = 0 has the smallest" in recommend(INVENTORY, sweeps=0.67).why
    enough = recommend(INVENTORY, sweeps=8, max_regret=1e6)
    assert (enough.method, enough.k, enough.evaluations) == ("vi", 0, 0)
    assert enough.why.startswith("Base VI with k = 0 is the cheapest point")


def test_a_difference_within_the_numerical_error_is_none():
    choice = recommend(INVENTORY, sweeps=1e9)
    assert choice.method in ("mpi", "vi") and "is practically as good" in choice.why


def test_unused_budget_is_spent_on_the_smallest_regret():
    """A policy that is cheaper but loses 0.003 is not chosen if the optimum is affordable."""
    points = frontier(INVENTORY, bounds=False).points
    close = points[points["mean_regret"].between(0.001, 0.01)]
    optimal = points[points["mean_regret"] < 1e-4]
    assert close["sweeps"].min() < optimal["sweeps"].min() < 30
    assert recommend(INVENTORY, sweeps=30).mean_regret < 1e-4


def test_max_regret_asks_for_the_cheapest_point_that_is_good_enough():
    points = frontier(INVENTORY, bounds=False).points
    good = points[points["max_regret"] <= 150]
    choice = recommend(INVENTORY, sweeps=100, max_regret=150)
    assert choice.evaluations == good["evaluations"].min() and "cheapest" in choice.why
    impossible = recommend(INVENTORY, sweeps=2, max_regret=1)
    assert "No affordable point has a largest regret of at most 1." in impossible.why


@pytest.mark.parametrize(
    "model, method, reason",
    [
        (INVENTORY, {"e-thaw"}, "The slow state is exogenous"),
        (random_model(1, (3, 6, 3, 3), ("X..W", "XYAW")), {"e-vi", "rolling"}, "has noise while x"),
        (random_model(2, (3, 6, 3, 3)), {"e-vi", "rolling"}, "is endogenous"),
        (in_rows(random_model(3, (3, 6, 3, 3), ("X..W", "XYA."))), {"e-thaw"}, "exogenous"),
        (random_rows(4, padded=True), {"e-vi", "rolling"}, "is endogenous"),
    ],
    ids=["inventory", "noisy", "endogenous", "rows", "padded"],
)
def test_the_sampled_choice_follows_the_rule_within_its_budget(model, method, reason):
    budget = 4 * 50 * model.n_pairs
    choice = recommend(model, sweeps=4, sampled=True, seed=3)
    assert choice.method in method and reason in choice.why
    assert 0 < choice.evaluations <= budget
    loss = regret(model, choice.policy_PXY, best=optimum(model))
    assert choice.mean_regret == pytest.approx(loss.mean_regret)
    assert loss.max_regret - loss.error <= choice.certificate
    again = recommend(model, evaluations=budget, sampled=True, seed=3)
    assert np.array_equal(again.policy_PXY, choice.policy_PXY)
    assert (again.why, again.evaluations) == (choice.why, choice.evaluations)


def test_a_budget_below_the_first_thawed_policy_goes_to_the_race():
    model = random_model(3, (3, 6, 3, 3), ("X..W", "XYA."))
    choice = recommend(model, evaluations=600, sampled=True)
    assert choice.method in ("rolling", "e-vi") and choice.evaluations <= 600
    assert "the budget ends before the first policy" in choice.why


def test_a_regret_that_samples_do_not_reach_is_mentioned():
    choice = recommend(INVENTORY, sweeps=0.25, sampled=True, max_regret=1e-3)
    assert "certificate is above the regret of 0.001 asked for" in choice.why


def test_seconds_are_converted():
    assert recommend(INVENTORY, seconds=0.05).evaluations > 0
    assert recommend(INVENTORY, seconds=0.05, sampled=True).method == "e-thaw"


def test_progress_can_end_the_computation():
    class Stopped(Exception):
        pass

    def stop(share):
        if share > 0.3:
            raise Stopped

    for model, options in (
        (INVENTORY, {}),
        (INVENTORY, {"sampled": True}),
        (random_model(2, (3, 6, 3, 3)), {"sampled": True}),
    ):
        with pytest.raises(Stopped):
            recommend(model, sweeps=2, progress=stop, **options)


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, "exactly one of sweeps, evaluations and seconds"),
        ({"sweeps": 1, "seconds": 1}, "exactly one"),
        ({"sweeps": 0}, "sweeps = 0: give a positive number"),
        ({"sweeps": float("inf")}, "sweeps = inf"),
        ({"sweeps": "1"}, "sweeps = 1: give a positive number"),
        ({"sweeps": 1, "max_regret": -1}, "max_regret = -1"),
        ({"sweeps": 1, "sampled": True, "seed": -1}, "seed = -1: give a whole number"),
        ({"sweeps": 1, "T": 6}, "give sequences"),
        ({"evaluations": 3, "sampled": True}, "give a larger budget"),
    ],
)
def test_errors_name_the_bad_argument(options, words):
    with pytest.raises(InputError, match=words):
        recommend(random_model(5), **options)
