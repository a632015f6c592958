"""Plans: certified gaps, budgets, and what a plan says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsdash.choice.plan as plan_module
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import run_until
from fsdash.choice.plan import COLUMNS, plan, plan_of, plan_steps
from fsdash.choice.simulation import simulate_paths
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import expect, follow, policy_reward
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import in_rows, random_model, random_rows

INVENTORY = make("inventory").build()
shapes = st.sampled_from(
    [("X..W", "XYA."), ("X..W", "XYAW"), ("XYAW", "XYA."), ("XYAW", "XYAW"), ("X..W", "..A.")]
)


def corridor(length: int, gamma: float) -> FastSlowMDP:
    """Walk to the end, where each period earns 1: the value at a distance d is γ^d/(1 − γ)."""
    y = np.arange(length)
    next_fast = np.stack([y, np.minimum(y + 1, length - 1)], axis=1)[None, :, :, None]
    reward_XYA = np.zeros((2, length, 2))
    reward_XYA[:, -1] = 1.0
    next_slow = np.array([[0, 1], [1, 0]])[:, None, None, :]
    return FastSlowMDP(reward_XYA, np.array([0.9, 0.1]), next_slow, next_fast, gamma)


@pytest.mark.parametrize("budget", [{"sweeps": 200}, {"seconds": 5}, {"evaluations": 1e6}])
def test_a_model_that_the_budget_can_solve_is_solved(budget):
    model = corridor(12, 0.9)
    found = plan(model, **budget)
    exact = model.mean(np.tile(0.9 ** np.arange(11, -1, -1) / 0.1, (2, 1)))
    assert found.value <= exact + 1e-9 and exact <= found.bound + 1e-9 and found.gap <= 1e-6
    assert found.why.startswith("Solved in")
    assert (found.policy_PXY[0, :, :-1] == 1).all()
    assert found.policy({"slow": 0, "fast": 0}) == 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_sweeps_give_the_rolling_policy_with_the_longest_horizon(n):
    found = plan(INVENTORY, sweeps=n / 3)
    assert (found.method, found.T) == ("rolling", n)
    expected = run_until(rolling(INVENTORY, n), iterations=n).policy_PXY
    assert np.array_equal(found.policy_PXY, expected)
    assert found.bound >= INVENTORY.mean(optimum(INVENTORY).U_XY)


def test_no_sweep_leaves_the_policy_with_the_best_immediate_reward():
    found = plan(INVENTORY, sweeps=0.01)
    assert (found.method, found.log["evaluations"].tolist()) == ("myopic", [0])
    assert np.array_equal(found.policy_PXY[0], INVENTORY.reward_XYA.argmax(axis=2))
    assert np.isnan(found.gap) and "before a certificate" in found.why


@given(st.integers(0, 10**6), shapes, st.sampled_from([0.0, 0.6, 0.95]), st.booleans())
@settings(max_examples=60)
def test_the_bounds_hold_for_every_policy_on_the_way(seed, shape, gamma, as_rows):
    model = random_model(seed, (3, 5, 3, 3), shape, gamma)
    model = in_rows(model) if as_rows else model
    best = optimum(model)
    for step in plan_steps(model, sweeps=1 + seed % 40, gap=1e-4):
        if not np.isnan(step.bound):
            assert step.bound >= model.mean(best.U_XY) - best.error
        if not np.isnan(step.value):
            true = policy_values(model, step.policy_PXY, tolerance=1e-9)
            assert step.value <= model.mean(true.U_XY) + true.error
            assert step.bound - step.value >= regret(model, step.policy_PXY).mean_regret - 1e-5


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=20)
def test_a_large_budget_solves_models_with_padding_and_infeasible_actions(seed, padded):
    model = random_rows(seed, padded=padded)
    found = plan(model, sweeps=10_000, gap=1e-6)
    assert found.gap <= 1e-6
    loss = regret(model, found.policy_PXY)
    assert loss.mean_regret <= found.bound - found.value + loss.error


@pytest.mark.parametrize("model", [INVENTORY, random_model(7, (3, 6, 3, 3)), random_rows(8)])
@pytest.mark.parametrize("sweeps", [0.4, 1, 2.5, 7, 30])
def test_the_budget_is_kept_and_the_plan_is_the_same_each_time(model, sweeps):
    found, again = plan(model, sweeps=sweeps), plan(model, sweeps=sweeps)
    limit = sweeps * model.n_pairs * model.true.outcomes
    assert found.log["evaluations"].max() <= limit and list(found.log) == list(COLUMNS)
    assert found.log["evaluations"].is_monotonic_increasing
    assert np.array_equal(found.policy_PXY, again.policy_PXY)
    columns = [name for name in COLUMNS if name != "seconds"]
    assert found.log[columns].equals(again.log[columns])


def test_seconds_end_in_time_and_the_bound_never_rises():
    model = make("pricing").build()
    plan(model, sweeps=1)  # the kernels are loaded
    for seconds in (1e-4, 0.02, 0.1):
        found = plan(model, seconds=seconds, gap=1e-12)
        assert found.log["seconds"].max() <= 1.1 * seconds + 0.05
        assert (found.log["bound"].dropna().diff().dropna() <= 0).all()


@pytest.mark.parametrize("seconds", [1e-9, 1e-3, 0.05])
def test_seconds_too_few_for_a_certificate_still_give_a_policy(monkeypatch, seconds):
    monkeypatch.setattr(plan_module, "SCAN", 1.0)  # as if the model had many probabilities
    found = plan(random_rows(8), seconds=seconds)
    assert found.method == "myopic" and np.isnan(found.gap) and "certificate" in found.why


def test_seconds_that_pay_for_few_sweeps_go_to_frozen_ones(monkeypatch):
    model = random_model(11, (4, 30, 5, 9), ("X..W", "XYA."))
    coupled = FastSlowMDP(
        model.reward_XYA,
        model.noise_W,
        model.next_slow,
        (model.next_fast + model.next_slow) % model.n_fast,
        model.gamma,
        frozen_next_fast=model.next_fast,
    )
    monkeypatch.setattr(plan_module, "FEW_SWEEPS", 1e9)
    methods = [step.method for step in plan_steps(coupled, seconds=2)]
    assert methods[:3] == ["myopic", "rolling", "rolling"] and "thawed" in methods


@pytest.mark.parametrize("as_rows", [False, True])
@pytest.mark.parametrize("shape", [("X..W", "XYAW"), ("XYAW", "XYA.")])
def test_the_probability_that_x_stays(shape, as_rows):
    model = random_model(3, (3, 4, 2, 5), shape)
    law = in_rows(model) if as_rows else model
    stay_XYA = np.broadcast_to(plan_module._staying(law), model.reward_XYA.shape)
    for x in range(model.n_slow):
        here_XY = np.zeros((model.n_slow, model.n_fast))
        here_XY[x] = 1.0
        np.testing.assert_allclose(
            stay_XYA[x], expect(model, model.true, here_XY)[x] + 0 * stay_XYA[x]
        )


def test_stopping_early_keeps_the_best_policy_so_far():
    steps = []
    for step in plan_steps(INVENTORY, sweeps=100):
        steps.append(step)
        if step.T == 4:
            break
    found = plan_of(INVENTORY, steps)
    assert (found.method, found.T, len(found.log)) == ("rolling", 4, 5)
    assert np.array_equal(found.policy_PXY, steps[-1].policy_PXY)


def test_costs_are_bounded_too():
    costs = FastSlowMDP(
        INVENTORY.reward_XYA - 500,
        INVENTORY.noise_W,
        INVENTORY.next_slow,
        INVENTORY.next_fast,
        0.9,
        sense="min",
    )
    found = plan(costs, sweeps=300, gap=1e-4)
    assert found.value <= costs.mean(optimum(costs).U_XY) <= found.bound < 0 and found.gap <= 1e-4


@pytest.mark.parametrize(
    "model, methods, reason",
    [
        (INVENTORY, {"e-thaw"}, "The slow state is exogenous"),
        (random_model(1, (3, 6, 3, 3), ("X..W", "XYAW")), {"e-vi", "rolling"}, "has noise while x"),
        (random_model(2, (3, 6, 3, 3)), {"e-vi", "rolling"}, "is endogenous"),
        (random_rows(4, padded=True), {"e-vi", "rolling"}, "is endogenous"),
    ],
    ids=["inventory", "noisy", "endogenous", "padded"],
)
def test_samples_give_a_policy_without_a_certificate(model, methods, reason):
    budget = 4 * 50 * model.n_pairs
    found = plan(model, sweeps=4, sampled=True, seed=3)
    assert found.method in methods and reason in found.why
    assert np.isnan([found.value, found.bound, found.gap]).all()
    assert 0 < found.log["evaluations"].iloc[-1] <= budget
    again = plan(model, evaluations=budget, sampled=True, seed=3)
    assert np.array_equal(again.policy_PXY, found.policy_PXY) and again.why == found.why


def test_samples_within_seconds():
    plan(INVENTORY, sweeps=0.25, sampled=True)  # the kernels are loaded
    found = plan(INVENTORY, seconds=0.3, sampled=True)
    assert found.log["seconds"].max() <= 1.1 * 0.3 + 0.05
    assert found.log["evaluations"].is_monotonic_increasing and len(found.log) > 1


@pytest.mark.parametrize(
    "options, words",
    [
        ({"sweeps": 1, "seconds": 1}, "give one of seconds, sweeps and evaluations"),
        ({"sweeps": 0}, "sweeps = 0: give a positive number"),
        ({"seconds": -1}, "seconds = -1"),
        ({"sweeps": float("inf")}, "sweeps = inf"),
        ({"sweeps": "1"}, "sweeps = 1: give a positive number"),
        ({"gap": 0}, "gap = 0: .* cannot be certified in double precision"),
        ({"gap": float("nan")}, "gap = nan"),
        ({"sampled": True, "seed": -1}, "seed = -1: give a whole number"),
        ({"evaluations": 3, "sampled": True}, "give a larger budget"),
    ],
)
def test_errors_name_the_bad_argument(options, words):
    with pytest.raises(InputError, match=words):
        plan(random_model(5), **options)


def test_paths_earn_what_the_stationary_law_says():
    """In the corridor's end each period earns 1; a path from state 0 arrives after 11 periods."""
    model = corridor(12, 0.9)
    found = plan(model, sweeps=100).simulate(periods=30, warm_up=11, paths=50)
    kpis = dict(found.kpis.itertuples(index=False))
    assert kpis["mean reward per period"] == 1 and kpis["standard error of the mean"] == 0
    assert found.share_XY[:, -1].sum() == pytest.approx(1) and len(found.states) == 2
    assert found.actions["share"].sum() == pytest.approx(1)


def test_the_mean_of_paths_agrees_with_the_exact_occupancy():
    best = optimum(INVENTORY)
    found = simulate_paths(INVENTORY, best, periods=400, warm_up=1_500, paths=400, seed=1)
    again = simulate_paths(INVENTORY, best, periods=400, warm_up=1_500, paths=400, seed=1)
    assert np.array_equal(found.reward_NT, again.reward_NT)
    law_XY = INVENTORY.initial_XY
    followed = follow(INVENTORY.true, best.policy_PXY[0])
    for _ in range(1_500):
        law_XY = followed.push_forward(law_XY)
    expected = float((law_XY * policy_reward(INVENTORY, best.policy_PXY[0])).sum())
    kpis = dict(found.kpis.itertuples(index=False))
    error = kpis["standard error of the mean"]
    assert abs(kpis["mean reward per period"] - expected) < 5 * error
    costs = replace(INVENTORY, sense="min")
    assert simulate_paths(costs, best, periods=3).kpis["kpi"][0] == "mean cost per period"


@pytest.mark.parametrize("name", ["periods", "paths"])
def test_simulations_refuse_bad_sizes(name):
    with pytest.raises(InputError, match=f"{name} = 0"):
        simulate_paths(INVENTORY, optimum(INVENTORY), **{name: 0})
    with pytest.raises(InputError, match="use fewer"):
        simulate_paths(INVENTORY, optimum(INVENTORY), **{name: 10**8})
