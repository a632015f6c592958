"""The race: it pays for everything, roll-outs measure policies, and halving keeps the best."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.algorithms import rolling, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.race import (
    Budget,
    Candidate,
    batches,
    growing_samples,
    halving,
    race,
    roll_out,
    rolling_candidates,
    true_candidates,
)
from fsdash.errors import InputError
from fsdash.sampling import NextStates, Structure, structure_from_samples
from tests.algorithms.test_thaw import circle, uniform_system
from tests.models import dense_policy_values, in_rows, random_model, random_rows, seeds, shapes


def seed(n):
    return np.random.default_rng(n)


@given(seeds, shapes, st.integers(1, 400))
@settings(max_examples=30)
def test_the_budget_is_never_exceeded(n, shape, sweeps):
    model, shares = random_model(n, shape=shape, gamma=0.8), []
    evaluations = sweeps * model.n_pairs
    outcome = race(model, evaluations, seed(n), shares.append)
    candidates, spent = outcome.candidates, outcome.spent
    assert 0 < spent <= evaluations and shares == sorted(shares)
    assert shares[-1] == pytest.approx(spent / evaluations)
    steps = 8  # 1.5/(1 − 0.8), rounded up
    paths = sum(sum(c.paths) for c in candidates)
    if all(c.method != "e-thaw" for c in candidates):
        assert (spent - outcome.structure.evaluations - steps * paths) % model.n_pairs == 0


def test_thawed_sweeps_are_left_out_if_the_frozen_map_is_wrong_in_most_periods():
    """With 1 sweep they end below uniform actions on this model; the rest of the race does not."""
    model = circle(0.9, 0.99)
    outcome = race(model, 50 * model.n_pairs, seed(0))
    assert "in most periods" in outcome.no_thawed and outcome.candidates[0].method == "e-vi"
    uniform = model.mean(np.linalg.solve(*uniform_system(model)).reshape(2, 20))
    found = regret(model, outcome.candidates[0].policy_PXY)
    assert found.mean_value - uniform > 0.8 * (found.optimal_mean_value - uniform)


@pytest.mark.parametrize("first, growth", [(1, 1.05), (4, 1.5)])
@pytest.mark.parametrize("affordable", [1, 3, 4, 9, 10, 57, 1000])
def test_samples_grow_and_spend_everything(affordable, first, growth):
    samples = list(growing_samples(affordable, first, growth))
    assert sum(samples) == affordable and samples[-1] >= affordable / 4
    assert all(b >= (growth - 0.1) * a for a, b in pairwise(samples))


EXOGENOUS, ENDOGENOUS = Structure(0, 0, 125, 0), Structure(60, 0, 125, 0)


def test_candidates_are_on_a_geometric_grid():
    model = random_model(1, frozen="XYA.")
    budget = Budget(200 * model.n_pairs)
    rolled, start_XY, _ = rolling_candidates(model, EXOGENOUS, budget, 4, seed(0))
    assert [c.T for c in rolled] == [4, 8, 16, 30]  # 15% of 200 sweeps
    assert budget.spent == 30 * model.n_pairs and start_XY.shape == (3, 4)
    tried = true_candidates(model, EXOGENOUS, budget, 0.9, seed(0), start_XY)
    assert [c.method for c in tried] == ["e-vi"] * 2 and tried[1].k == tried[0].k + 1
    assert budget.spent == 180 * model.n_pairs  # a tenth is left for roll-outs


def test_frozen_sweeps_may_have_more_than_their_share():
    model = random_model(1, frozen="XYA.")
    for always, longest in ((4, 4), (25, 10), (1, 1)):
        rolled, *_ = rolling_candidates(
            model, ENDOGENOUS, Budget(12 * model.n_pairs), always, seed(0)
        )
        assert [longest] == [rolled[-1].T]  # at most 85% of 12 sweeps


def test_true_sweeps_start_from_the_last_frozen_values_if_centring_removes_their_noise():
    model = random_model(1, frozen="XYA.")
    noisy, endogenous = Structure(0, 60, 125, 0), Structure(60, 60, 125, 0)
    # If y has noise, the last of 10 sweeps has 3 of 12 samples. Here one sample is exact.
    for structure, n in ((noisy, 10), (endogenous, 4), (EXOGENOUS, 4)):
        budget = Budget(15 * model.n_pairs)
        _, start_XY, _ = rolling_candidates(model, structure, budget, 12, seed(0))
        assert budget.spent == 12 * model.n_pairs
        assert start_XY == pytest.approx(run_until(rolling(model, n), iterations=n).values_XY)


def test_less_than_a_sweep_is_one_true_sweep():
    model = random_model(1, shape=("X..W", "XYA."))
    start_XY, wrong = np.zeros((3, 4)), Structure(0, 0, 125, 125)
    for structure, sweeps in ((EXOGENOUS, 1), (wrong, 4)):
        budget = Budget(49 * model.n_pairs)
        tried = true_candidates(model, structure, budget, 1.0, seed(0), start_XY)
        assert tried[-1].k == sweeps and budget.spent == 49 * model.n_pairs


@pytest.mark.parametrize("sweeps", [10, 25, 40, 49, 55, 100])
def test_all_work_of_a_race_with_thawed_sweeps_is_counted(sweeps, monkeypatch):
    model, work = circle(0.1, 0.99), []
    X, Y = model.real_XY.shape

    def count(path, cost):
        module, name = import_module(path.rpartition(".")[0]), path.rpartition(".")[2]
        original = getattr(module, name)

        def counted(*arguments):
            work.append(cost(*arguments))
            return original(*arguments)

        monkeypatch.setattr(module, name, counted)

    count("fsdash.algorithms.e_thaw.draw_slow", lambda sampler, fast_XYA, n, rng: X * n)
    count("fsdash.algorithms.e_thaw.thawed_sweep", lambda *_: X * X * Y + model.n_pairs)
    count("fsdash.algorithms.e_thaw.policy_sweeps", lambda *a: a[3] * X * Y)
    count("fsdash.algorithms.e_thaw.sampled_defect", lambda *_: 2 * 10 * model.n_pairs)
    # The first frozen sweep, of values that are 0, is also the draw of the frozen map.
    count("fsdash.choice.race.thawed_sweep", lambda *_: model.n_pairs)
    count("fsdash.choice.race._sweep", lambda sampler, *_: sampler.M * model.n_pairs)
    count("fsdash.choice.race.roll_out", lambda model, sampler, policy_XY, start_N, u_TN: u_TN.size)
    outcome = race(model, sweeps * model.n_pairs, seed(0))
    assert any(c.method == "e-thaw" for c in outcome.candidates)
    assert outcome.spent == sum(work) + outcome.structure.evaluations


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(
    "shape, frozen, exogenous, noise_free",
    [
        (("X..W", "XYAW"), "XYA.", True, True),
        (("XYAW", "XYAW"), "XYA.", False, True),
        (("X..W", "XYAW"), None, True, False),
    ],
)
def test_the_structure_is_tested_by_draws(rows, shape, frozen, exogenous, noise_free):
    plain = random_model(1, (3, 6, 3, 3), shape, frozen=frozen)
    outcome = structure_from_samples(in_rows(plain) if rows else plain, seed(0))
    assert (outcome.exogenous_slow, outcome.noise_free_fast) == (exogenous, noise_free)
    assert outcome.evaluations == 500
    assert (outcome.slow_changes == 0) == exogenous and (outcome.frozen_changes == 0) == noise_free


def test_noise_of_y_alone_does_not_make_the_frozen_map_wrong():
    model = random_model(1, (3, 20, 3, 8), ("X...", "XYAW"))
    outcome = structure_from_samples(model, seed(0))
    assert outcome.misses > outcome.tested / 2 and not outcome.mostly_misses


def test_nothing_is_known_without_draws():
    outcome = structure_from_samples(random_model(1, shape=("X..W", "XYA.")), seed(0), 0)
    assert not outcome.exogenous_slow and not outcome.noise_free_fast


def test_a_thawed_policy_loses_to_a_better_one():
    """The race confirms it by roll-outs: a policy that is not good does not win."""
    model = random_model(3, sizes=(3, 6, 4, 3), gamma=0.9)
    thawed = Candidate("e-thaw", None, 1, seed(1).integers(4, size=(1, 3, 6)))
    best = Candidate("rolling", 4, None, optimum(model).policy_PXY)
    assert halving(model, [best, thawed], thawed, Budget(10**4), seed(0))[0] is best
    twin = Candidate("rolling", 4, None, best.policy_PXY)
    thawed = Candidate("e-thaw", None, 1, best.policy_PXY)
    assert halving(model, [twin, thawed], thawed, Budget(10**4), seed(0))[0] is thawed
    assert thawed.paths == twin.paths


@pytest.mark.parametrize("rows", [False, True])
def test_roll_outs_measure_the_value_of_a_policy(rows):
    plain = random_model(2, gamma=0.7)
    model = in_rows(plain) if rows else plain
    policy_XY, paths, steps = seed(1).integers(2, size=(3, 4)), 20_000, 40
    start_N = seed(2).integers(12, size=paths)
    u_TN = seed(3).random((steps, paths))
    found = roll_out(model, NextStates(model), policy_XY, start_N, u_TN).mean()
    exact = dense_policy_values(plain, policy_XY[None]).reshape(-1)[start_N].mean()
    # A return is within r_max/(1 − γ) of 0; what 40 steps leave out is below γ⁴⁰ of that.
    largest = np.abs(model.reward_XYA).max() / 0.3
    assert abs(found - exact) <= largest * (6 / np.sqrt(paths) + 0.7**steps)
    assert found == roll_out(model, NextStates(model), policy_XY, start_N, u_TN).mean()


def test_halving_finds_the_best_candidate():
    model = random_model(3, sizes=(3, 6, 4, 3), gamma=0.9)
    best_XY = optimum(model).policy_PXY
    others = [Candidate("rolling", n, None, seed(n).integers(4, size=(1, 3, 6))) for n in range(6)]
    budget, best = Budget(10**6), Candidate("e-vi", None, 1, best_XY)
    order = halving(model, [others[0], best, *others[1:]], others[0], budget, seed(0))
    assert order[0].method == "e-vi" and len(order) == 7
    assert budget.spent <= 10**6
    rounds = [len(c.paths) for c in order]
    assert rounds == sorted(rounds, reverse=True) and rounds[0] == 3
    # Equal policies have equal returns: starts and noise are common.
    twins = [Candidate("rolling", n, None, best_XY) for n in (1, 2)]
    one, two = halving(model, twins, twins[0], Budget(10**4), seed(1))
    assert one is twins[0] and np.array_equal(one.returns, two.returns)


def test_many_roll_outs_are_made_in_batches(monkeypatch):
    assert list(batches(10, 4)) == [10]
    monkeypatch.setattr("fsdash.choice.race.MAX_NOISE", 300)
    assert list(batches(250, 3)) == [100, 100, 50] and list(batches(2, 10**6)) == [1, 1]
    model = random_model(3, sizes=(3, 6, 4, 3), gamma=0.9)
    best, other = optimum(model).policy_PXY, seed(1).integers(4, size=(1, 3, 6))
    budget, shares = Budget(10**5), []
    budget.progress = shares.append
    racing = [Candidate("rolling", 1, None, other), Candidate("e-vi", None, 1, best)]
    first, second = halving(model, racing, racing[0], budget, seed(0))
    assert first.method == "e-vi" and first.paths == second.paths == [3125]  # 16 steps each
    assert budget.spent == 2 * 3125 * 16 and shares == sorted(shares) and len(shares) > 300
    expected = model.mean(dense_policy_values(model, best))
    assert first.mean_return(1) == pytest.approx(expected * (1 - 0.9**16), rel=0.2)


def test_if_nothing_is_left_for_roll_outs_the_favourite_wins():
    """Endogenous and below one sweep of Base E-VI: the longest horizon of rolling freeze."""
    model = random_model(4, gamma=0.99)
    first, *others = race(model, 30 * model.n_pairs, seed(0)).candidates
    assert first.method == "rolling" and not first.paths
    assert all(c.T < first.T for c in others if c.method == "rolling")


@pytest.mark.parametrize("padded", [False, True])
def test_it_is_close_to_optimal_with_a_large_budget(padded):
    model = random_rows(5, (4, 8, 5), gamma=0.95, padded=padded)
    best = optimum(model)
    candidates = race(model, 20_000 * model.n_pairs, seed(0)).candidates
    initial = regret(model, model.reward_XYA.argmax(axis=2), best=best).mean_regret
    assert initial > 0.01
    assert regret(model, candidates[0].policy_PXY, best=best).mean_regret < 0.02 * initial


def test_a_budget_below_one_sweep_is_refused():
    with pytest.raises(InputError, match="one sweep with one sample takes 24; give a larger"):
        race(random_model(6), 23, seed(0))
