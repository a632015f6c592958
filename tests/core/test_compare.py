"""Two policies: advantages, ties and rankings by hand and by dense algebra; paths on one noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum
from fsdash.core.compare import (
    FIRST_BETTER,
    PADDING,
    SAME,
    SECOND_BETTER,
    TIE,
    disagreement,
    simulate_pair,
)
from fsdash.core.evaluation import Values, policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import simulate, visits
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import (
    dense_policy_values,
    in_rows,
    random_model,
    random_rows,
    seeds,
    shapes,
    sizes,
    transition_matrix,
)


def random_policy(model, seed, P=1):
    """Feasible actions only."""
    rng = np.random.default_rng(seed)
    chance_XYA = rng.random((P, *model.reward_XYA.shape))
    return np.where(np.isneginf(model.reward_XYA), -1, chance_XYA).argmax(axis=-1)


def choices() -> FastSlowMDP:
    """One slow state, four fast ones; the action pays its reward, and the state stays."""
    return FastSlowMDP(
        reward_XYA=[[[1, 5, 1], [2, 0, 2], [3, 3, 3], [0, 0, 4]]],
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.arange(4).reshape(1, 4, 1, 1),
        gamma=0.5,
    )


def test_kinds_advantages_and_order_match_a_calculation_by_hand():
    A, B = np.array([[0, 0, 0, 1]]), np.array([[1, 1, 2, 1]])
    values = Values(np.zeros((1, 4)), 0.0)
    found = disagreement(choices(), (A, B), values=values, weight_XY=[[1, 6, 1, 0]])
    assert found.kind_XY.tolist() == [[SECOND_BETTER, FIRST_BETTER, TIE, SAME]]
    assert found.advantage_XY.tolist() == [[4, -2, 0, 0]]
    assert found.weighted_XY.tolist() == [[4 / 8, -12 / 8, 0, 0]]
    assert found.largest().tolist() == [[0, 1], [0, 0]]
    assert found.share(TIE) == found.share(SAME) == 1 / 4
    assert found.time_share(FIRST_BETTER, SECOND_BETTER) == 7 / 8


def test_states_without_weight_come_last_in_order_of_their_advantage():
    A, B = np.array([[0, 0, 0, 0]]), np.array([[1, 1, 1, 2]])
    values = Values(np.zeros((1, 4)), 0.0)
    found = disagreement(choices(), (A, B), values=values, weight_XY=[[0, 1, 0, 0]])
    assert found.largest().tolist() == [[0, 1], [0, 0], [0, 3]]


def test_a_tie_is_an_advantage_within_the_certified_error():
    A, B = np.array([[0, 0, 0, 0]]), np.array([[1, 1, 1, 2]])
    kinds = [
        disagreement(choices(), (A, B), values=Values(np.zeros((1, 4)), error)).kind_XY[0].tolist()
        for error in (1.9, 2.0, 3.9, 4.0)
    ]
    # The actions' values differ by 4, 2, 0 and 4; with γ = 1/2 two errors e differ by at most e.
    assert kinds == [
        [SECOND_BETTER, FIRST_BETTER, TIE, SECOND_BETTER],
        [SECOND_BETTER, TIE, TIE, SECOND_BETTER],
        [SECOND_BETTER, TIE, TIE, SECOND_BETTER],
        [TIE, TIE, TIE, TIE],
    ]


@given(seeds, shapes, sizes)
def test_the_advantage_is_that_of_dense_algebra(seed, shape, sizes):
    model = random_model(seed, sizes, shape)
    A, B = (random_policy(model, seed + i)[0] for i in range(2))
    U_XY = dense_policy_values(model, A[None])
    n, P = model.n_states, transition_matrix(model, model.true)
    Q_SA = model.reward_XYA.reshape(n, -1) + model.gamma * P @ U_XY.ravel()
    expected = Q_SA[np.arange(n), B.ravel()] - Q_SA[np.arange(n), A.ravel()]
    found = disagreement(model, (A, B), values=policy_values(model, A))
    np.testing.assert_allclose(found.advantage_XY.ravel(), expected, atol=found.error + 1e-12)
    assert ((found.kind_XY == SAME) == (A == B)).all()


@given(seeds, sizes)
def test_the_gain_is_the_sum_of_advantages_under_the_visits_of_the_other(seed, sizes):
    """The performance difference lemma: U^B − U^A = E_B[Σ γᵗ advantage under U^A]."""
    model = random_model(seed, sizes)
    A, B = (random_policy(model, seed + i)[0] for i in range(2))
    values_A, values_B = policy_values(model, A), policy_values(model, B)
    advantage_XY = disagreement(model, (A, B), values=values_A).advantage_XY
    gain = np.vdot(visits(model, B).share_XY, advantage_XY) / (1 - model.gamma)
    assert gain == pytest.approx(model.mean(values_B.U_XY - values_A.U_XY), abs=5e-5)


@given(seeds, st.booleans())
def test_no_action_is_better_than_the_optimal_one_and_padding_does_not_count(seed, padded):
    model = random_rows(seed, padded=padded)
    best = optimum(model)
    found = disagreement(model, (best.policy_PXY[0], random_policy(model, seed)[0]), values=best)
    assert not (found.kind_XY == SECOND_BETTER).any()
    assert ((found.kind_XY == PADDING) == ~model.real_XY).all()
    assert found.share(SAME, TIE, FIRST_BETTER) == pytest.approx(1)
    assert found.weight_XY[~model.real_XY].sum() == 0


def test_errors_of_a_comparison_name_the_bad_input():
    policy, values = np.zeros((1, 4), int), Values(np.zeros((1, 4)), 0.0)
    with pytest.raises(InputError, match="policies: 1 given"):
        disagreement(choices(), [policy], values=values)
    with pytest.raises(InputError, match="weight_XY"):
        disagreement(choices(), (policy, policy), values=values, weight_XY=np.zeros((1, 4)))
    with pytest.raises(InputError, match="policies: 3 given"):
        simulate_pair(choices(), [policy] * 3, rng=np.random.default_rng(0), steps=2)


# ------------------------------------------------------------------------------------ same noise


@pytest.mark.parametrize("form", [lambda model: model, in_rows])
@given(seed=seeds, shape=shapes, sizes=sizes)
def test_both_paths_are_those_of_a_simulation_with_the_same_seed(form, seed, shape, sizes):
    model = form(random_model(seed, sizes, shape))
    A, B = random_policy(model, seed, P=2), random_policy(model, seed + 1)
    pair = simulate_pair(model, (A, B), rng=np.random.default_rng(seed), steps=20)
    for policy, path in ((A, pair.first), (B, pair.second)):
        alone = simulate(model, policy, rng=np.random.default_rng(seed), steps=20)
        assert (alone.x_N == path.x_N).all() and (alone.y_N == path.y_N).all()
        assert (alone.reward_N == path.reward_N).all()
    difference_N = pair.second.reward_N - pair.first.reward_N
    totals = [sum(model.gamma**k * difference_N[k] for k in range(t + 1)) for t in range(20)]
    np.testing.assert_allclose(pair.gain_N, totals, atol=1e-12)


def test_index_tables_share_the_outcome():
    """With two policies of one model of pure luck, the states stay the same."""
    model = random_model(5, (3, 4, 2, 3), ("X..W", "...W"))
    A, B = random_policy(model, 1), random_policy(model, 2)
    pair = simulate_pair(model, (A, B), rng=np.random.default_rng(0), steps=50)
    assert (pair.first.x_N == pair.second.x_N).all() and (pair.first.y_N == pair.second.y_N).all()
    assert (pair.first.action_N != pair.second.action_N).any()


def test_rows_share_the_uniform_number():
    """Each next state is the quantile of its own row at the same number."""
    model = random_rows(3, (2, 5, 3))
    A, B = random_policy(model, 1), random_policy(model, 2)
    pair = simulate_pair(model, (A, B), rng=np.random.default_rng(4), steps=40, start=(0, 0))
    u_N = np.random.default_rng(4).random(40)
    for path in (pair.first, pair.second):
        for t in range(39):
            row = model.rows.row_XYA[path.x_N[t], path.y_N[t], path.action_N[t]]
            place = np.searchsorted(np.cumsum(model.rows.probabilities(row)), u_N[t], side="right")
            expected = model.rows.targets(row)[min(place, len(model.rows.targets(row)) - 1)]
            assert path.x_N[t + 1] * model.n_fast + path.y_N[t + 1] == expected


def test_the_mean_gain_over_paths_is_the_exact_gain():
    model = make("inventory").build()
    A = run_until(fsvi(model, T=3), iterations=20).policy_PXY
    B, start = optimum(model).policy_PXY, (5, 20)
    exact = (policy_values(model, B).U_XY - policy_values(model, A).U_XY)[start]
    rng = np.random.default_rng(1)
    gains = [
        simulate_pair(model, (A, B), rng=rng, steps=400, start=start).gain_N[-1] for _ in range(300)
    ]
    assert np.mean(gains) == pytest.approx(exact, abs=4 * np.std(gains) / len(gains) ** 0.5)
    # Independent paths have a far larger spread: that is what the common noise is for.
    alone = [
        simulate(model, B, rng=rng, steps=400, start=start).total
        - simulate(model, A, rng=rng, steps=400, start=start).total
        for _ in range(100)
    ]
    assert np.std(gains) < np.std(alone)
