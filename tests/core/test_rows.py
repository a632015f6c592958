"""Sparse rows: the answers of index tables and dense matrices; padding, infeasible actions."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.algorithms import fsvi, mpi, run_until, vi
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.registry import ALGORITHMS
from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.core import tables as tables_module
from fsdash.core.certificate import certificate, slow_kernel
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import (
    H,
    bellman,
    check_policy,
    expect,
    follow,
    q_values,
    q_values_at,
)
from fsdash.core.rows import Rows, to_rows
from fsdash.core.simulate import simulate, visits
from fsdash.errors import InputError
from tests.models import (
    SHAPES,
    in_rows,
    random_model,
    random_rows,
    seeds,
    shapes,
    transition_matrix,
)


def dense(rows, shape):
    """The kernel (S, A, S) of sparse rows; zero rows where an action is infeasible."""
    X, Y, A = shape
    P = np.zeros((X * Y, A, X * Y))
    for s, a in np.ndindex(X * Y, A):
        row = rows.row_XYA.reshape(-1, A)[s, a]
        P[s, a, rows.targets(row)] = rows.probabilities(row)
    return P


@settings(max_examples=60, deadline=None)
@given(seeds, shapes)
def test_rows_of_index_tables_are_their_dense_kernel(seed, shape):
    model = random_model(seed, shape=shape)
    for dynamics in (model.true, model.frozen):
        rows = to_rows(model, dynamics)
        expected = transition_matrix(model, dynamics)
        np.testing.assert_allclose(dense(rows, model.reward_XYA.shape), expected, atol=1e-15)
    # The frozen law derived from the rows is that of f_Y, unless the model gives its own.
    derived = FastSlowMDP(reward_XYA=model.reward_XYA, rows=to_rows(model), gamma=0.9).frozen
    np.testing.assert_allclose(
        dense(derived, model.reward_XYA.shape), transition_matrix(model, model.frozen), atol=1e-15
    )


@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_both_forms_have_the_same_values_policies_and_certificates(shape):
    model = random_model(3, shape=shape)
    rows, rng = in_rows(model), np.random.default_rng(0)
    U_XY = rng.normal(size=(3, 4))
    for a, b in ((model.true, rows.true), (model.frozen, rows.frozen)):
        np.testing.assert_allclose(expect(rows, b, U_XY) - expect(model, a, U_XY), 0, atol=1e-14)
        for ours, theirs in zip(bellman(rows, b, U_XY), bellman(model, a, U_XY), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-14)
    np.testing.assert_allclose(
        q_values_at(rows, U_XY, 2, 1), q_values(model, model.true, U_XY)[2, 1], atol=1e-14
    )
    assert rows.true.exogenous_slow or not model.true.exogenous_slow
    for T in (1, 3):
        ours, theirs = (run_until(fsvi(m, T), iterations=6) for m in (rows, model))
        np.testing.assert_allclose(ours.values_XY, theirs.values_XY, atol=1e-12)
        assert np.array_equal(ours.policy_PXY, theirs.policy_PXY)
        if rows.true.exogenous_slow == model.true.exogenous_slow:
            assert ours.error == pytest.approx(theirs.error, rel=1e-9)
        policy = ours.policy_PXY
        a, b = (policy_values(m, policy, tolerance=1e-9) for m in (rows, model))
        assert np.abs(a.U_XY - b.U_XY).max() <= a.error + b.error
        a, b = (visits(m, policy).share_PXY for m in (rows, model))
        np.testing.assert_allclose(a, b, atol=1e-7)
    a, b = optimum(rows), optimum(model)
    assert np.abs(a.U_XY - b.U_XY).max() <= a.error + b.error


def test_equal_rows_are_stored_once():
    """All pairs (stock, order) with the same sum have the same next states."""
    stock, order, demand = np.indices((6, 6, 3)).reshape(3, -1)
    after = np.minimum(stock + order, 5)
    p = np.array([0.5, 0.3, 0.2])[demand]
    rows = Rows.from_entries((1, 6, 6), stock * 6 + order, np.maximum(after - demand, 0), p)
    assert rows.n_rows == 1 + 6  # the empty row, and one for each stock after ordering
    assert np.array_equal(rows.row_XYA[0], rows.row_XYA[0].T)
    followed = rows.follow(np.zeros((1, 6), int))
    assert followed.n_rows == 1 + 6 and followed.row_XYA.shape == (1, 6, 1)


def test_an_exogenous_slow_state_is_recognised_and_certified_for_each_slow_state():
    """With a chain P of its own, x' has the kernel P whatever y and a are."""
    rng = np.random.default_rng(1)
    P_XX = rng.dirichlet(np.ones(4), size=4)
    x, y, a, new = np.indices((4, 5, 2, 4)).reshape(4, -1)
    target = new * 5 + (y + a + new) % 5  # y' depends on x', so the fast state is noisy
    rows = Rows.from_entries((4, 5, 2), (x * 5 + y) * 2 + a, target, P_XX[x, new])
    model = FastSlowMDP(reward_XYA=rng.normal(size=(4, 5, 2)), rows=rows, gamma=0.95)
    assert model.true.exogenous_slow and not model.true.noise_free_fast
    np.testing.assert_allclose(slow_kernel(model), P_XX, atol=1e-15)
    U_XY = rng.normal(size=(4, 5))
    shift_X1, error = certificate(model).shift(H(model, U_XY) - U_XY)
    assert len(np.unique(shift_X1)) == 4
    assert np.abs(U_XY + shift_X1 - optimum(model, tolerance=1e-9).U_XY).max() <= error + 1e-9
    # One transition that depends on the action ends it.
    moved = P_XX[x, new] + np.where((x == 0) & (y == 0) & (a == 1), 0.01 * (new == 0), 0)
    sums = np.bincount((x * 5 + y) * 2 + a, moved)
    rows = Rows.from_entries(
        (4, 5, 2), (x * 5 + y) * 2 + a, target, moved / sums[(x * 5 + y) * 2 + a]
    )
    assert not rows.exogenous_slow and rows.exogenous_gap > 1e-3


@settings(max_examples=40, deadline=None)
@given(seeds, st.booleans())
def test_infeasible_actions_and_padding_never_count(seed, padded):
    """Against dense policy iteration on the real states and feasible actions alone."""
    model = random_rows(seed, padded=padded)
    real_S, n = model.real_XY.reshape(-1), model.n_states
    P = dense(model.rows, model.reward_XYA.shape)
    r_SA = np.where(model.feasible_XYA, model.reward_XYA, -np.inf).reshape(n, -1)
    policy_S, U_S = r_SA.argmax(axis=1), np.zeros(n)
    inside = np.ix_(real_S, real_S)
    while True:
        chosen, r_S = P[np.arange(n), policy_S], r_SA[np.arange(n), policy_S]
        step = np.eye(n)[inside] - model.gamma * chosen[inside]
        U_S[real_S] = np.linalg.solve(step, r_S[real_S])
        Q_SA = r_SA + model.gamma * P @ U_S
        if (Q_SA.max(axis=1) <= U_S + 1e-10)[real_S].all():
            break
        policy_S = Q_SA.argmax(axis=1)
    best = optimum(model)
    assert np.abs(best.U_XY.reshape(-1) - U_S)[real_S].max() <= best.error + 1e-8
    assert model.mean(best.U_XY) == pytest.approx(U_S[real_S].mean(), abs=1e-5)
    for snapshots in (vi(model), mpi(model), fsvi(model, 3)):
        found = run_until(snapshots, iterations=4).policy_PXY
        taken = np.take_along_axis(model.feasible_XYA, np.moveaxis(found, 0, 2), axis=2)
        assert taken[model.real_XY].all()
        loss = regret(model, found, best=best)
        values = policy_values(model, found).U_XY
        largest = (best.U_XY - values)[model.real_XY].max()
        assert loss.max_regret == pytest.approx(max(largest, 0), abs=1e-5)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_takes_feasible_actions_on_a_padded_model(name):
    model, method = random_rows(5, padded=True, common_action=True), ALGORITHMS[name]
    parameters = {key: p.default for key, p in method.all_parameters.items()}
    parameters |= {key: 2 for key in ("slow_cells", "fast_cells") if key in parameters}
    parameters |= {"N": 4} if "N" in parameters else {}
    T = 3 if method.freezes else None
    snapshots = method.start(model, np.random.default_rng(0), T, parameters)
    if name == "e-thaw":  # refuses an endogenous slow state
        return
    for snapshot in islice(snapshots, 8):
        taken_XYP = np.take_along_axis(
            model.feasible_XYA, np.moveaxis(snapshot.policy_PXY, 0, 2), axis=2
        )
        assert taken_XYP[model.real_XY].all()
    assert np.isfinite(regret(model, snapshot.policy_PXY).max_regret)


def test_without_a_common_action_no_policy_ignores_the_slow_state():
    model = random_rows(5, padded=True)
    with pytest.raises(InputError, match="no action is feasible in every slow state"):
        next(slow_agnostic(model, np.random.default_rng(0)))


def test_paths_follow_the_rows():
    model = random_rows(2, padded=True)
    policy = optimum(model).policy_PXY
    path = simulate(model, policy, rng=np.random.default_rng(0), steps=20_000)
    assert model.real_XY[path.x_N, path.y_N].all()
    rows = follow(model.true, policy[0])
    state_N = path.x_N * model.n_fast + path.y_N
    s = np.bincount(state_N).argmax()
    after = np.bincount(state_N[1:][state_N[:-1] == s], minlength=model.n_states)
    row = rows.row_XYA.reshape(-1)[s]
    expected = np.zeros(model.n_states)
    expected[rows.targets(row)] = rows.probabilities(row)
    n = after.sum()
    assert (np.abs(after - n * expected) <= 5 * np.sqrt(n * expected * (1 - expected)) + 1e-9).all()


def test_a_frozen_step_never_leaves_the_states_of_the_model():
    """y' that does not exist with the frozen x gives its probability to those that do."""
    # States (0, 0), (0, 1), (1, 0), (1, 2); from (0, 0) to (1, 2) or (0, 1); from (0, 1) to (1, 2).
    pair, target, p = [0, 0, 1, 3, 5], [5, 1, 5, 3, 5], [0.5, 0.5, 1, 1, 1]
    reward_XYA = np.zeros((2, 3, 1))
    model = FastSlowMDP(
        reward_XYA=reward_XYA, rows=Rows.from_entries((2, 3, 1), pair, target, p), gamma=0.5
    )
    assert model.real_XY.tolist() == [[True, True, False], [True, False, True]]
    frozen = dense(model.frozen, (2, 3, 1))[:, 0]
    assert frozen[0].tolist() == [0, 1, 0, 0, 0, 0]  # only y' = 1 exists with x = 0
    assert frozen[1].tolist() == [0, 1, 0, 0, 0, 0]  # y' = 2 does not exist: y stays
    assert frozen[3].tolist() == [0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    "entries, words",
    [
        (([0, 1], [0, 5], [1, 1]), ["target_N", "0 to 1"]),
        (([0, 7], [0, 1], [1, 1]), ["pair_N", "0 to 1"]),
        (([0, 1], [0, 1], [1, 0.9]), ["(0, 1, 0)", "0.9", "divide"]),
        (([0, 1], [0, 1], [1, -1]), ["probability_N", "at least 0"]),
        (([0, 1], [0, 1], [1, np.nan]), ["probability_N", "finite"]),
    ],
)
def test_errors_of_rows_name_the_place_and_the_remedy(entries, words):
    with pytest.raises(InputError) as caught:
        Rows.from_entries((1, 2, 1), *entries)
    assert all(word in str(caught.value) for word in words)


def test_errors_of_models_in_row_form():
    rows = Rows.from_entries((1, 3, 1), [0, 1], [1, 2], [1, 1])
    with pytest.raises(InputError, match=r"\(0, 2\).*no feasible action.*terminal"):
        FastSlowMDP(reward_XYA=np.zeros((1, 3, 1)), rows=rows, gamma=0.9)
    with pytest.raises(InputError, match="or rows instead"):
        FastSlowMDP(reward_XYA=np.zeros((1, 3, 1)), gamma=0.9)
    with pytest.raises(InputError, match=r"rows.*\(1, 3, 1\)"):
        FastSlowMDP(reward_XYA=np.zeros((1, 3, 2)), rows=rows, gamma=0.9)
    model = random_rows(5, padded=True)
    policy_XY = np.argmin(np.isfinite(model.reward_XYA), axis=2)
    with pytest.raises(InputError, match=r"infeasible.*feasible_XYA"):
        policy_values(model, policy_XY)
    with pytest.raises(InputError, match="all states share"):
        model.true.successors(0)
    x, y = np.argwhere(~model.real_XY)[0]
    initial_XY = np.zeros(model.real_XY.shape)
    initial_XY[x, y] = 1
    with pytest.raises(InputError, match="is not a state"):
        replace(model, initial_XY=initial_XY)


def test_a_replaced_field_keeps_padding_and_feasible_actions():
    model = random_rows(5, padded=True)
    again = replace(model, gamma=0.5)
    assert np.array_equal(again.real_XY, model.real_XY)
    assert np.array_equal(again.feasible_XYA, model.feasible_XYA)
    assert again.n_pairs == model.n_pairs < model.reward_XYA.size
    assert np.array_equal(again.rows.row_XYA, model.rows.row_XYA)


def test_a_policy_is_mirrored_phase_by_phase():
    """With as many phases as slow and fast states, the axes (P, X, Y) have one shape."""
    model = random_rows(4, sizes=(3, 3, 3), padded=True)
    assert not model.real_XY.all()
    last = run_until(fsvi(model, T=3), tolerance=1e-3)
    checked = check_policy(model, last.policy_PXY)
    assert np.array_equal(checked[:, model.real_XY], last.policy_PXY[:, model.real_XY])


def assert_same_rows(rows, other):
    for name in ("row_XYA", "start_R", "target_N", "probability_N"):
        assert np.array_equal(getattr(rows, name), getattr(other, name)), name


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_made_in_parts_are_the_same_to_the_last_bit(shape, monkeypatch):
    model = random_model(3, shape=shape)
    at_once = to_rows(model)
    monkeypatch.setattr(tables_module, "ENTRIES_AT_A_TIME", 7)
    assert_same_rows(to_rows(model), at_once)


def test_index_tables_with_too_many_different_rows_are_refused():
    model = random_model(3)
    with pytest.raises(InputError, match="more than 20 transitions"):
        to_rows(model, most=20)
    assert to_rows(model, most=72).n_rows > 1


def test_shared_rows_are_the_rows_of_single_pairs():
    rows = to_rows(random_model(2, shape=("X..W", ".YA.")))
    order = np.random.default_rng(0).permutation(rows.n_rows - 1)  # any numbering of the rows
    row_N = np.repeat(order, np.diff(rows.start_R)[1:])
    shared_XYA = order[rows.row_XYA.astype(int) - 1]
    again = Rows.from_entries(
        rows.row_XYA.shape, row_N, rows.target_N, rows.probability_N, shared_XYA
    )
    assert_same_rows(again, rows)
    with pytest.raises(InputError, match=r"\(x, y, a\) = \(0, 0, 0\) sum to 0.5"):
        Rows.from_entries((1, 2, 1), [1, 0], [0, 1], [0.5, 1], np.array([[[1], [0]]]))
