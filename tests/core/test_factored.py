"""A law in two factors beside the same law written out as rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fsdash
from fsdash.algorithms import fsvi, mpi, run_until, slow_agnostic
from fsdash.core.blocks import frozen_blocks
from fsdash.core.certificate import certificate, slow_kernel
from fsdash.core.factored import Factored
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H, H_frozen, bellman, expect, policy_sweeps, q_values_at
from fsdash.core.residual import residual
from fsdash.core.rows import to_rows
from fsdash.core.simulate import simulate, visits
from fsdash.core.step import terminal_states
from fsdash.sampling import NextStates, Sampler, Sampling, UpperSampler


def factored_model(seed, slow="regime", noise="x", Q=5, A=3):
    """Two regimes and three levels (exogenous), Q charges; the noise may depend on the chain."""
    rng = np.random.default_rng(seed)
    chain = pd.DataFrame({"level": np.tile([1, 2, 3], 2), "regime": np.repeat([0, 1], 3)})
    levels = rng.dirichlet(np.ones(3), 6)  # depend on the regime and the level
    levels[levels < 0.1] = 0
    levels /= levels.sum(axis=1, keepdims=True)
    regimes = np.array([[0.9, 0.1], [0.2, 0.8]])
    P = np.repeat(regimes, 3, axis=0).repeat(3, axis=1) * np.tile(levels, 2)
    shape = (6, Q, A) if noise == "x" else (Q, A)
    noises = {"none": None, "same": rng.dirichlet(np.ones(3)), "x": rng.dirichlet(np.ones(3), 6)}
    W = () if noise == "none" else (3,)
    fast_next = rng.integers(Q, size=(*shape, *W))
    fast_next[..., 1, 1, *([slice(None)] * len(W))] = -1  # infeasible
    return fsdash.from_markov_chain(
        sparse.csr_array(P),
        fast_next,
        rng.normal(size=(6, Q, A)),
        gamma=0.9,
        slow_values=chain,
        slow=slow,
        noise=noises[noise],
    )


def written_out(model):
    """The same model as rows."""
    return FastSlowMDP(
        reward_XYA=model.reward_XYA,
        rows=to_rows(model),
        gamma=model.gamma,
        initial_XY=model.initial_XY,
        slow=model.slow,
        fast=model.fast,
    )


CASES = [(s, n) for s in ("regime", ["regime", "level"]) for n in ("none", "same", "x")]


@pytest.fixture(params=CASES, ids=str)
def pair(request):
    slow, noise = request.param
    model = factored_model(3, slow, noise)
    assert isinstance(model.true, Factored)
    return model, written_out(model)


def test_operators_and_structure_are_those_of_the_rows(pair):
    model, rows = pair
    U_XY = np.random.default_rng(0).normal(size=model.real_XY.shape)
    assert np.allclose(
        expect(model, model.true, U_XY)[model.feasible_XYA],
        expect(rows, rows.true, U_XY)[model.feasible_XYA],
    )
    for law in ("true", "frozen"):
        values, policy_XY = bellman(model, getattr(model, law), U_XY)
        expected, expected_XY = bellman(rows, getattr(rows, law), U_XY)
        assert np.allclose(values, expected) and np.array_equal(policy_XY, expected_XY)
    changed, expected = U_XY.copy(), U_XY.copy()
    policy_sweeps(model, policy_XY, changed, 7, 0.0)
    policy_sweeps(rows, policy_XY, expected, 7, 0.0)
    assert np.allclose(changed, expected)
    assert np.allclose(q_values_at(model, U_XY, 1, 2), q_values_at(rows, U_XY, 1, 2))
    low_XY = 1e-17 * U_XY
    assert np.allclose(residual(model, U_XY, low_XY), residual(rows, U_XY, low_XY))
    for name in ("exogenous_slow", "noise_free_fast", "outcomes"):
        assert getattr(model.true, name) == getattr(rows.true, name), name
    assert np.allclose(slow_kernel(model), slow_kernel(rows))
    assert np.array_equal(terminal_states(model), terminal_states(rows))
    assert model.true.nbytes < rows.true.nbytes or model.n_states < 100


def test_solutions_values_and_visits_are_those_of_the_rows(pair):
    model, rows = pair
    best, expected = fsdash.optimum(model), fsdash.optimum(rows)
    assert best.within_tolerance
    assert np.abs(best.U_XY - expected.U_XY).max() <= best.error + expected.error
    last = run_until(fsvi(model, T=3), tolerance=1e-8)
    assert np.allclose(last.values_XY, run_until(fsvi(rows, T=3), tolerance=1e-8).values_XY)
    for tolerance in (1e-6, 1e-14):
        values = fsdash.policy_values(model, last.policy_PXY, tolerance=tolerance)
        written = fsdash.policy_values(rows, last.policy_PXY, tolerance=tolerance)
        assert np.abs(values.U_XY - written.U_XY).max() <= values.error + written.error
    assert np.allclose(
        visits(model, last.policy_PXY).share_XY, visits(rows, last.policy_PXY).share_XY, atol=1e-7
    )
    snapshot = run_until(mpi(model), tolerance=1e-9)
    assert np.allclose(H(model, snapshot.values_XY), H(rows, snapshot.values_XY))
    assert np.allclose(H_frozen(model, best.U_XY), H_frozen(rows, best.U_XY))


def test_paths_and_blocks_are_those_of_the_rows(pair):
    model, rows = pair
    policy = fsdash.optimum(model).policy_PXY
    paths = [simulate(m, policy, rng=np.random.default_rng(1), steps=300) for m in (model, rows)]
    assert np.array_equal(paths[0].x_N, paths[1].x_N)
    assert np.array_equal(paths[0].y_N, paths[1].y_N)
    blocks = [
        frozen_blocks(m, policy, rng=np.random.default_rng(2), blocks=60, T=4)
        for m in (model, rows)
    ]
    assert np.array_equal(blocks[0].plan.x_N, blocks[1].plan.x_N)
    assert np.array_equal(blocks[0].plan.y_N, blocks[1].plan.y_N)
    pair_N = np.flatnonzero(model.feasible_XYA)
    u_N = np.random.default_rng(3).random(len(pair_N))
    assert np.array_equal(NextStates(model).draw(pair_N, u_N), NextStates(rows).draw(pair_N, u_N))


@pytest.mark.parametrize("common", [False, True])
def test_samples_have_the_mean_of_the_expectation(pair, common):
    model, _ = pair
    U_XY = np.random.default_rng(0).normal(size=model.real_XY.shape)
    M, rng = 20_000, np.random.default_rng(4)
    feasible = model.feasible_XYA.reshape(model.n_states, -1)
    exact = (model.reward_XYA + model.gamma * expect(model, model.true, U_XY)).reshape(
        feasible.shape
    )
    sampling = Sampling(M_u=M, common_random_numbers=common)
    Q_SA, _ = Sampler(model, model.true, M, sampling).q_values(U_XY, rng)
    assert np.abs(Q_SA[feasible] - exact[feasible]).max() < 6 * np.ptp(U_XY) / np.sqrt(M)
    assert (Q_SA[~feasible] == -np.inf).all()
    policy_XY = bellman(model, model.true, U_XY)[1]
    value_S = Sampler(model, model.true, M).policy_values(policy_XY, U_XY, rng)
    at = exact[np.arange(len(exact)), policy_XY.reshape(-1)]
    assert np.abs(value_S - at).max() < 6 * np.ptp(U_XY) / np.sqrt(M)
    # Two steps with J₁ = 0: the expectation of U after the policy's step.
    after_XY = expect(model, model.true.follow(policy_XY), U_XY)[:, :, 0]
    two = model.reward_XYA + model.gamma**2 * expect(model, model.true, after_XY)
    upper = UpperSampler(model, 0 * U_XY, [policy_XY], sampling)
    Q_SA, _ = upper.q_values(U_XY, rng)
    assert np.abs(Q_SA[feasible] - two.reshape(feasible.shape)[feasible]).max() < 6 * np.ptp(
        U_XY
    ) / np.sqrt(M)
    run = slow_agnostic(model, rng, sampling=Sampling(M=100, common_random_numbers=common))
    assert np.isfinite(run_until(run, iterations=2).values_XY).all()


def test_only_some_exogenous_variables_are_slow():
    model, all_slow = factored_model(5), factored_model(5, slow=["level", "regime"])
    assert model.slow.names == ("regime",) and model.fast.names == ("level", "fast")
    assert (model.n_slow, model.n_fast) == (2, 15)
    assert np.allclose(slow_kernel(model), [[0.9, 0.1], [0.2, 0.8]])
    again = fsdash.models.resplit(all_slow, slow="regime")
    order = np.lexsort(again.fast.values.T[::-1])  # by level, then by the charge
    assert np.array_equal(again.fast.values[order], model.fast.values)
    U_XY, expected_XY = (fsdash.optimum(m).U_XY for m in (model, again))
    assert np.allclose(U_XY, expected_XY[:, order], atol=1e-5)
    assert certificate(model).PT_XX.shape == (2, 2)


def test_a_large_chain_is_solved_without_writing_out_its_law():
    hours, regimes, levels, charges, actions = 6, 2, 5, 11, 3
    rng = np.random.default_rng(0)
    chain = pd.DataFrame(
        list(np.ndindex(hours, regimes, levels)), columns=["hour", "regime", "level"]
    )
    forward = np.roll(np.eye(hours), 1, axis=1)
    P = np.kron(
        forward, np.kron([[0.95, 0.05], [0.1, 0.9]], rng.dirichlet(np.ones(levels), levels))
    )
    fast_next = np.clip(np.arange(charges)[:, None] + [-1, 0, 1], 0, charges - 1)
    reward = rng.normal(size=(len(P), charges, actions))
    model = fsdash.from_markov_chain(
        P, fast_next, reward, gamma=0.95, slow_values=chain, slow="regime"
    )
    assert model.n_slow == 2 and model.true.exogenous_slow
    expanded = model.n_pairs * model.true.outcomes
    assert model.true.entries < expanded / 10
    best = fsdash.optimum(model, tolerance=1e-4)
    assert best.within_tolerance
    assert np.abs(best.U_XY - fsdash.optimum(written_out(model)).U_XY).max() < 2e-4


@pytest.mark.parametrize(
    "options, message",
    [
        ({"slow": "season"}, "is not a column of slow_values; they are level, regime"),
        ({"noise": [0.5, 0.6]}, "whose sum is 1"),
        ({"noise": [0.5, 0.5]}, r"fast_next: shape \(2, 1\)"),
        ({"slow_values": pd.DataFrame({"level": [0, 0], "regime": [0, 0]})}, "give every"),
    ],
)
def test_errors_name_the_array_and_the_remedy(options, message):
    values = pd.DataFrame({"level": [0, 0], "regime": [0, 1]})
    arguments = {"gamma": 0.9, "slow_values": values, "slow": "regime"} | options
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.from_markov_chain(np.eye(2), [[0], [0]], [[0.0], [0.0]], **arguments)


def test_a_law_that_does_not_fit_is_refused_before_it_is_built():
    P, fast_next = sparse.eye_array(10**6, format="csr"), np.zeros((1000, 1000), int)
    with pytest.raises(fsdash.InputError, match=r"needs about .* are free"):
        fsdash.from_markov_chain(P, fast_next, 0.0, gamma=0.9)
