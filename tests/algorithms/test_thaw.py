"""Thawed defect correction: its fixed point, its counts, and the models it refuses."""

import numpy as np
import pytest
from hypothesis import given

from fsdash.algorithms import e_thaw, run_until
from fsdash.algorithms.e_thaw import describe_thaw, frozen_map, sampled_defect, thawed_sweep
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.certificate import slow_kernel
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H, expect
from fsdash.core.rows import Rows, to_rows
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.sampling import NextStates, Sampling
from tests.algorithms.driving import seed, take
from tests.models import in_rows, random_model, random_rows, seeds, transition_matrix


def exogenous(n, gamma=0.9, rows=False):
    """x is exogenous, y has noise, but none while x is frozen."""
    model = random_model(n, (3, 5, 4, 3), ("X..W", "XYAW"), gamma=gamma, frozen="XYA.")
    return in_rows(model) if rows else model


def exact_defect(model, U_XY):
    """D(s, a) = E[U(x', y')] − E[U(x', ỹ)]."""
    return expect(model, model.true, U_XY) - expect(model, model.frozen, slow_kernel(model) @ U_XY)


@given(seeds)
def test_with_the_exact_defect_a_sweep_is_a_sweep_of_H(n):
    for model in (exogenous(n), exogenous(n, rows=True)):
        U_XY = seed(n).normal(size=(3, 5))
        D_XYA, E_XY = exact_defect(model, U_XY), slow_kernel(model) @ U_XY
        fast_XYA = frozen_map(model, seed(0))
        next_XY, pi_XY = thawed_sweep(model, fast_XYA, E_XY, D_XYA, "first", seed(0))
        np.testing.assert_allclose(next_XY, H(model, U_XY), atol=1e-12)
        shifted_XY = U_XY + np.array([[5.0], [-3.0], [1.0]])
        E_XY = slow_kernel(model) @ shifted_XY
        D_XYA = exact_defect(model, shifted_XY)
        again_XY = thawed_sweep(model, fast_XYA, E_XY, D_XYA, "first", seed(0))[1]
        assert np.array_equal(again_XY, pi_XY)


@pytest.mark.parametrize("rows", [False, True])
def test_the_sampled_defect_is_unbiased(rows):
    model, M = exogenous(1, rows=rows), 2_000
    U_XY = seed(1).uniform(size=(3, 5))
    fast_XYA = frozen_map(model, seed(0))
    d_XYA, seen_XX = sampled_defect(NextStates(model), U_XY, fast_XYA, M, seed(2))
    # A sample lies in [−1, 1], so a mean of M is within 6/√M of its expectation.
    assert np.abs(d_XYA - exact_defect(model, U_XY)).max() <= 6 / np.sqrt(M)
    assert (seen_XX.sum(axis=1) == 5 * M).all()
    assert np.abs(seen_XX / (5 * M) - slow_kernel(model)).max() <= 6 / np.sqrt(5 * M)


@pytest.mark.parametrize("rows", [False, True])
def test_next_states_have_the_law_of_the_model(rows):
    model, N = random_model(3, (2, 3, 2, 4)), 20_000
    K = transition_matrix(model, model.true).reshape(12, 6)
    draws = NextStates(in_rows(model) if rows else model)
    for pair in range(12):
        target_N = draws.draw(np.full(N, pair), seed(pair).random(N))
        share = np.bincount(target_N, minlength=6) / N
        assert np.abs(share - K[pair]).max() <= 3 / np.sqrt(N)
    u_N = seed(0).random(9)
    assert np.array_equal(draws.draw(np.arange(9), u_N), draws.draw(np.arange(9), u_N))


@pytest.mark.parametrize("rows", [False, True])
def test_there_is_no_floor(rows):
    model = exogenous(7, gamma=0.95, rows=rows)
    best = optimum(model)
    losses = [
        regret(model, s.policy_PXY, best=best).mean_regret
        for s in (
            run_until(e_thaw(model, seed(5), sampling=Sampling(M=50)), iterations=k)
            for k in (1, 500)
        )
    ]
    assert losses[1] < 0.02 * losses[0] and losses[1] < 1e-3 * np.abs(best.U_XY).max()


def test_every_sample_is_counted():
    """15 states, 60 pairs, 3 slow states; each slow state has seen all three after 400 draws."""
    model = exogenous(2)
    assert (slow_kernel(model) > 0.02).sum() == (slow_kernel(model) > 0).sum()
    nonzero = 5 * np.count_nonzero(slow_kernel(model))
    run = take(e_thaw(model, seed(0), sampling=Sampling(M=2), draws=400), 8)
    first = 3 * 400 + 4 * 60 + 500 + nonzero + 60
    assert run[0].evaluations == first and run[0].backups == 5 * 60
    # Two sweeps of the policy, then a tenth of the work for draws of x', rounded down for each x.
    cycle = nonzero + 60 + 2 * 15
    cycle += 3 * int(0.1 * cycle / 3)
    steps = np.diff([s.evaluations for s in run]).tolist()
    assert set(steps) <= {cycle, cycle + 2 * 2 * 60} and len(set(steps)) == 2
    assert [s.iteration for s in run] == list(range(1, 9))


def test_a_frozen_map_that_is_exact_needs_no_correction():
    model = random_model(4, (3, 5, 4, 3), ("X..W", "XYA."))
    steps = np.diff([s.evaluations for s in take(e_thaw(model, seed(0)), 20)])
    assert steps.max() < 2 * 10 * 60


def test_actions_may_change_the_reward_alone():
    model = random_model(0, (3, 4, 2, 3), ("X..W", "XY.."))
    last = run_until(e_thaw(model, np.random.default_rng(0)), iterations=12)
    assert regret(model, last.policy_PXY).max_regret < 1e-6


def test_the_same_seed_gives_the_same_run_and_snapshots_do_not_change():
    model = exogenous(3)
    first = e_thaw(model, seed(4))
    copies = [(s, s.values_XY.copy(), s.policy_PXY.copy()) for s in take(first, 9)]
    take(first, 9)
    again = take(e_thaw(model, seed(4)), 9)
    for (s, values_XY, policy_PXY), other in zip(copies, again, strict=True):
        assert np.array_equal(s.values_XY, values_XY) and np.array_equal(s.policy_PXY, policy_PXY)
        assert np.array_equal(other.values_XY, values_XY)
        assert other.evaluations == s.evaluations


@pytest.mark.slow
def test_its_share_of_the_optimum_on_the_domains():
    """After half of a sweep of Base E-VI."""
    for name in ("inventory", "gridworld", "pricing"):
        model = make(name).build()
        last, budget = None, 0.5 * 50 * model.n_pairs
        for snapshot in e_thaw(model, seed(11)):
            if snapshot.evaluations > budget:
                break
            last = snapshot
        found = regret(model, last.policy_PXY)
        assert found.mean_value > 0.99 * found.optimal_mean_value


def circle(moves, gamma):
    """Places on a circle. Tomorrow's x drifts y by a quarter of the circle to one of both sides."""
    rng, y, shift_A, drift_X = seed(2), np.arange(20), np.arange(-2, 3), np.array([5, -5])
    distance_XY = np.abs(y - rng.uniform(0, 20, size=(2, 1)))
    height_XY = np.exp(-((np.minimum(distance_XY, 20 - distance_XY) / 3) ** 2))
    next_slow = np.array([[0, 1], [1, 0]])[:, None, None, :]
    place_XYA1 = (y[:, None] + shift_A)[None, ..., None]
    return FastSlowMDP(
        reward_XYA=height_XY[:, :, None] - 0.025 * np.abs(shift_A),
        noise_W=[1 - moves, moves],
        next_slow=next_slow,
        next_fast=(place_XYA1 + drift_X[next_slow]) % 20,
        frozen_next_fast=(place_XYA1 + drift_X[:, None, None, None]) % 20,
        gamma=gamma,
    )


def after_sweeps(model, run, sweeps):
    """The last policy within so many sweeps of Base E-VI with 50 samples."""
    last = None
    for snapshot in run:
        if snapshot.evaluations > sweeps * 50 * model.n_pairs:
            return last
        last = snapshot.policy_PXY


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_it_does_not_stall_if_the_slow_state_moves_often(gamma):
    """Steps 1/k leave more than a tenth of the regret of uniform actions after 64 sweeps."""
    model = circle(0.9, gamma)
    best = optimum(model)
    uniform = model.mean(np.linalg.solve(*uniform_system(model)).reshape(2, 20))
    policy = after_sweeps(model, e_thaw(model, seed(0)), 64)
    optimal = model.mean(best.U_XY)
    score = (regret(model, policy, best=best).mean_value - uniform) / (optimal - uniform)
    assert score > 0.95


def uniform_system(model):
    """I − γP and r of the policy that draws its actions uniformly."""
    P = transition_matrix(model, model.true).mean(axis=1)
    return np.eye(model.n_states) - model.gamma * P, model.reward_XYA.mean(axis=2).reshape(-1)


def test_a_rare_move_is_corrected_once_it_has_been_seen():
    """Outside pays 1 and inside 0.9. A storm breaks with probability 0.001 and ruins who is out."""
    y, ruin = np.arange(40), 39
    next_fast = np.tile(y[None, :, None, None], (2, 1, 2, 3))
    next_fast[0, :, 1, 0] = ruin
    reward_XYA = np.tile([0.9, 1.0], (2, 40, 1))
    reward_XYA[:, ruin] = -10
    model = FastSlowMDP(
        reward_XYA=reward_XYA,
        noise_W=[0.001, 0.499, 0.5],
        next_slow=np.array([[1, 0, 0], [0, 0, 1]])[:, None, None, :],
        next_fast=next_fast,
        frozen_next_fast=y[None, :, None, None],
        gamma=0.99,
    )
    assert not optimum(model).policy_PXY[0, 0, :ruin].any()  # inside while it is calm
    policy = after_sweeps(model, e_thaw(model, seed(1)), 256)
    assert (policy[0, 0, :ruin] == 0).mean() > 0.6


def test_a_nearly_exogenous_model_is_accepted():
    """The action moves x with probability 1e-6, in row form."""
    base, rare = exogenous(3), 1e-6
    P = (1 - rare) * transition_matrix(base, base.true).reshape(60, 15)
    P[np.arange(60), 5 * (np.arange(60) % 3)] += rare
    pair_N, target_N = np.nonzero(P)
    model = FastSlowMDP(
        reward_XYA=base.reward_XYA,
        rows=Rows.from_entries((3, 5, 4), pair_N, target_N, P[pair_N, target_N]),
        frozen_rows=to_rows(base, base.frozen),
        gamma=base.gamma,
    )
    assert not model.true.exogenous_slow
    last = run_until(e_thaw(model, seed(5), sampling=Sampling(M=50)), iterations=500)
    loss = regret(model, last.policy_PXY, best=optimum(model))
    assert loss.mean_regret < 1e-3 * np.abs(loss.optimal_mean_value)


def test_models_that_do_not_suit_get_the_alternative():
    endogenous = random_model(5, shape=("XYAW", "XYA."), frozen="XYA.")
    noisy = random_model(5, shape=("X..W", "XYAW"))
    for call in (lambda m: next(e_thaw(m, seed(0))), describe_thaw):
        with pytest.raises(InputError, match=r"slow state is endogenous .*; use e-rolling"):
            call(endogenous)
        with pytest.raises(InputError, match=r"noise while x is frozen .*; use e-rolling with M_l"):
            call(noisy)
    with pytest.raises(InputError, match="endogenous"):
        next(e_thaw(random_rows(5, padded=True), seed(0)))
    with pytest.raises(InputError, match="draws = 0"):
        next(e_thaw(exogenous(1), seed(0), draws=0))
    assert "exogenous slow state" in describe_thaw(exogenous(1))
