"""Sampled sweeps: chosen states, stored paths, ties, common random numbers, bad arguments."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, follow, lower_kernel, q_values, upper_bellman
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.sampling import (
    Sampler,
    Sampling,
    StateSample,
    UpperSampler,
    backup,
    policy_rngs,
    ranges,
    sweep,
)
from tests.models import random_model, transition_matrix
from tests.sampling.cases import fits, upper_case, within


def test_a_list_of_states_is_sampled_in_its_order():
    """States may come in any order and more than once."""
    model, lower, J1_XY, V_XY, _ = upper_case(3)
    for sampler in (
        Sampler(model, model.true, 5),
        UpperSampler(model, J1_XY, lower, Sampling(M_u=5, sparse=True, ties="first")),
        UpperSampler(model, J1_XY, lower, Sampling(M_u=5, sparse=False, ties="first")),
    ):
        states, rng = [4, 0, 4, 3], np.random.default_rng(22)
        together, _ = sampler.q_values(V_XY, np.random.default_rng(22), states)
        one_by_one = [sampler.q_values(V_XY, rng, [s])[0][0] for s in states]
        assert np.array_equal(together, one_by_one)
        every, _ = sampler.q_values(V_XY, np.random.default_rng(23))
        again, _ = sampler.q_values(V_XY, np.random.default_rng(23), range(model.n_states))
        assert np.array_equal(every, again)


def test_stored_paths_have_the_mean_and_variance_of_fresh_ones():
    model, lower, J1_XY, V_XY, rng = upper_case(3)
    n, M = 4_000, 4
    upper = UpperSampler(model, J1_XY, lower, Sampling(M_u=M, sparse=False, ties="first"))
    Q = np.array([upper.store_paths(rng).q_values(V_XY, rng)[0] for _ in range(n)])
    fresh = np.array([upper.q_values(V_XY, rng)[0] for _ in range(n)])
    followed = [follow(model.true, pi) for pi in lower]
    future_XY = J1_XY + model.gamma**2 * lower_kernel(model, followed, V_XY)
    exact = q_values(model, model.true, future_XY).reshape(Q.shape[1:])
    assert (np.abs(Q.mean(axis=0) - exact) <= 6 * Q.std(axis=0) / np.sqrt(n) + 1e-12).all()
    # Relative standard error of a standard deviation: about 1/√(2n), here of two of them.
    noisy = fresh.std(axis=0) > 1e-9
    ratio = Q.std(axis=0)[noisy] / fresh.std(axis=0)[noisy]
    assert (np.abs(np.log(ratio)) <= 6 * 1.5 / np.sqrt(n)).all()
    # For any V, stored paths equal the draws of a sampler that starts from the same state.
    stored = upper.store_paths(np.random.default_rng(26))
    for values_XY in (V_XY, 3 - V_XY):
        Q_SA, greedy_S = upper.q_values(values_XY, np.random.default_rng(26))
        Q_stored, greedy_stored = stored.q_values(values_XY, rng)
        np.testing.assert_allclose(Q_stored, Q_SA, atol=1e-12)
        assert np.array_equal(greedy_stored, greedy_S)
    some, _ = stored.q_values(V_XY, rng, [5, 2])
    assert np.array_equal(some, stored.q_values(V_XY, rng)[0][[5, 2]])


def test_state_samples_have_the_right_size_and_distribution():
    model, rng = random_model(24), np.random.default_rng(25)
    assert StateSample(model).N == 1 and StateSample(make("pricing").build()).N == 1515
    state = rng.bit_generator.state
    assert StateSample(model, 12).draw(rng).tolist() == list(range(12))
    assert rng.bit_generator.state == state
    counts = np.zeros(12)
    for _ in range(2_000):
        states_N = StateSample(model, 5).draw(rng)
        assert len(set(states_N.tolist())) == 5
        counts[states_N] += 1
    # Each state is in 5/12 of the samples; the variance of a count is at most that of a binomial.
    assert (np.abs(counts - 2_000 * 5 / 12) <= 5 * np.sqrt(2_000 * 35 / 144)).all()
    drawn = StateSample(model, 50_000, model.initial_XY).draw(rng)
    expected = 50_000 * model.initial_XY.reshape(-1)
    assert stats.chisquare(np.bincount(drawn, minlength=12), expected).pvalue > 1e-3


@pytest.mark.parametrize("M", [1, 50])
@pytest.mark.parametrize("common", [False, True])
def test_one_outcome_is_exact_and_draws_nothing(M, common):
    model = random_model(10, shape=("XYA.", "XYA."))
    rng = np.random.default_rng(11)
    U_XY, J1_XY = rng.normal(size=(2, 3, 4))
    lower = rng.integers(2, size=(3, 3, 4))
    before = rng.bit_generator.state
    one = Sampler(model, model.true, M, Sampling(common_random_numbers=common, ties="first"))
    HU_S, nu_S = backup(one, U_XY, rng)
    HU_XY, nu_XY = bellman(model, model.true, U_XY)
    assert np.array_equal(HU_S, HU_XY.reshape(-1)) and np.array_equal(nu_S, nu_XY.reshape(-1))
    followed = [follow(model.true, policy_XY) for policy_XY in lower]
    FV_XY, mu_XY = upper_bellman(model, J1_XY, followed, U_XY)
    for sparse in (None, False):
        upper = UpperSampler(
            model,
            J1_XY,
            lower,
            Sampling(M_u=M, ties="first", common_random_numbers=common, sparse=sparse),
        )
        FV_S, mu_S = backup(upper, U_XY, rng)
        assert np.array_equal(FV_S, FV_XY.reshape(-1)) and np.array_equal(mu_S, mu_XY.reshape(-1))
    assert rng.bit_generator.state == before


def twins(seed=12):
    """A model with two identical actions."""
    model = random_model(seed, sizes=(3, 4, 1, 4))
    double = lambda table: np.repeat(table, 2, axis=2)  # noqa: E731
    return replace(
        model,
        reward_XYA=double(model.reward_XYA),
        feasible_XYA=double(model.feasible_XYA),
        next_slow=double(model.next_slow),
        next_fast=double(model.next_fast),
        frozen_next_fast=None,
        actions=None,
    )


@pytest.mark.parametrize("T", [1, 3])
def test_common_random_numbers_make_identical_actions_tie_exactly(T):
    model, rng = twins(), np.random.default_rng(13)
    U_XY, J1_XY = rng.normal(size=(2, 3, 4))
    lower = np.zeros((T - 1, 3, 4), int)
    for sampler, apart in (
        (Sampler(model, model.true, 9, Sampling(common_random_numbers=True, ties="first")), False),
        (Sampler(model, model.true, 9), True),
        (
            UpperSampler(
                model, J1_XY, lower, Sampling(M_u=9, common_random_numbers=True, ties="first")
            ),
            False,
        ),
        (UpperSampler(model, J1_XY, lower, Sampling(M_u=9, ties="first")), True),
    ):
        Q_SA = sampler.q_values(U_XY, rng)[0]
        assert (Q_SA[:, 0] != Q_SA[:, 1]).any() == apart


def test_common_random_numbers_do_not_change_the_distribution_of_each_action():
    model, rng = random_model(14), np.random.default_rng(15)
    U_XY, M, n = rng.normal(size=(3, 4)), 5, 3_000
    P, u = transition_matrix(model, model.true), U_XY.reshape(-1)
    variance = model.gamma**2 * (P @ u**2 - (P @ u) ** 2) / M
    exact = q_values(model, model.true, U_XY).reshape(12, 2)
    sampler = Sampler(model, model.true, M, Sampling(common_random_numbers=True, ties="first"))
    Q = np.array([sampler.q_values(U_XY, rng)[0] for _ in range(n)])
    within(Q.mean(axis=0), exact, variance / n)
    squares = (Q - exact) ** 2
    within(squares.mean(axis=0), variance, squares.var(axis=0) / n)


def test_equal_values_tie_exactly_for_any_counts():
    """1/3 has no finite binary form: a weighted sum of it would differ in the last digit."""
    model = random_model(16, sizes=(3, 4, 5, 4))
    rng, third_XY = np.random.default_rng(17), np.full((3, 4), 1 / 3)
    future = Sampler(model, model.true, 49).q_values(third_XY, rng)[0]
    assert np.array_equal(future, model.reward_XYA.reshape(12, 5) + model.gamma * (1 / 3))


def test_ties_go_to_the_first_action_or_to_each_with_equal_probability():
    model, zero_XY = twins(), np.zeros((3, 4))
    rng, n = np.random.default_rng(18), 2_000
    first = Sampler(model, model.true, 3)
    assert (backup(first, zero_XY, rng)[1] == 0).all()
    random = Sampler(model, model.true, 3, Sampling(ties="random"))
    share = np.mean([backup(random, zero_XY, rng)[1] for _ in range(n)], axis=0)
    within(share, 0.5, 0.25 / n)


def test_random_ties_are_uniform_among_the_best_actions():
    reward_XYA = np.array([[[0.0, 1.0, 1.0, 0.5, 1.0]]])
    index = np.zeros((1, 1, 1, 1), int)
    model = FastSlowMDP(reward_XYA, np.ones(1), index, index, gamma=0.5)
    sampler, rng = Sampler(model, model.true, 1, Sampling(ties="random")), np.random.default_rng(19)
    seen = Counter(int(backup(sampler, np.zeros((1, 1)), rng)[1][0]) for _ in range(6_000))
    assert fits(seen, {1: 1 / 3, 2: 1 / 3, 4: 1 / 3}) > 1e-3


def test_a_sweep_in_parts_has_the_same_result():
    model, U_XY = random_model(20), np.random.default_rng(0).normal(size=(3, 4))
    sampler = Sampler(model, model.true, 5, Sampling(ties="random"))
    whole = list(sweep(sampler, U_XY, np.random.default_rng(21), 1))
    parts = list(sweep(sampler, U_XY, np.random.default_rng(21), 5))
    assert np.array_equal(whole[-1][1], parts[-1][1])
    for updated, values_XY in parts:
        assert np.array_equal(values_XY.flat[:updated], parts[-1][1].flat[:updated])
        assert np.array_equal(values_XY.flat[updated:], U_XY.flat[updated:])
    assert [updated for updated, _ in parts] == [2, 4, 7, 9, 12]
    assert ranges(2, 4) == [(0, 0), (0, 1), (1, 1), (1, 2)]


def test_generators_for_policies_do_not_advance_the_run():
    rng = np.random.default_rng(22)
    before = rng.bit_generator.state
    inside, end = policy_rngs(rng)
    assert rng.bit_generator.state == before
    assert len({g.random() for g in (rng, inside, end)}) == 3


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, U: Sampler(m, m.true, 0), "M = 0"),
        (lambda m, U: Sampler(m, m.true, 2.5), "M = 2.5"),
        (lambda m, U: Sampler(m, m.true, float("nan")), "M = nan"),
        (lambda m, U: Sampler(m, m.true, 3, Sampling(ties="last")), "ties = 'last'"),
        (lambda m, U: UpperSampler(m, U, [], Sampling(M_u=0, ties="first")), "M_u = 0"),
        (lambda m, U: UpperSampler(m, U[:2], [], Sampling(M_u=1, ties="first")), "J1_XY: shape"),
        (
            lambda m, U: UpperSampler(
                m, U, [], Sampling(M_u=1, ties="first", common_random_numbers=True, sparse=True)
            ),
            "sparse = True",
        ),
        (lambda m, U: backup(Sampler(m, m.true, 1), U[:2], np.random.default_rng(0)), "U_XY"),
        (lambda m, U: backup(Sampler(m, m.true, 1), U, np.random.default_rng(0), [5, 99]), "99"),
    ],
)
def test_errors_name_the_bad_argument(call, words):
    with pytest.raises(InputError, match=words):
        call(random_model(23), np.zeros((3, 4)))
