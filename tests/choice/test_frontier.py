"""The frontier: its rows are those of the algorithms, their regret is true, certificates hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsdash
from fsdash.algorithms import fsvi, mpi, rolling, run_until, vi
from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.frontier import COLUMNS, frontier
from fsdash.choice.solved import SolvedModel
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.theory import repaired_bound, rolling_bound, vi_bound
from fsdash.theory.measured import measure
from tests.models import (
    dense_optimum,
    dense_policy_values,
    in_rows,
    random_model,
    random_rows,
    seeds,
    shapes,
)

INVENTORY = make("inventory").build()


def algorithm(model, row):
    """The snapshot of the algorithm that a row is about."""
    if row.method == "rolling":
        return run_until(rolling(model, row.T), iterations=row.T)
    run = {"fsvi": lambda: fsvi(model, row.T), "mpi": lambda: mpi(model), "vi": lambda: vi(model)}
    return run_until(run[row.method](), iterations=row.k)


@pytest.mark.parametrize(
    "model",
    [
        INVENTORY,
        random_model(1, sizes=(3, 6, 3, 3), shape=("X..W", "XYAW")),
        random_model(2, sizes=(3, 6, 3, 3)),
        in_rows(random_model(3, sizes=(3, 5, 3, 3), shape=("X..W", "XYA."))),
        random_rows(4, padded=True),
    ],
    ids=["inventory", "exogenous", "endogenous", "rows", "padded"],
)
def test_rows_are_those_of_the_algorithms(model):
    solved = SolvedModel(model)
    best, measured = solved.best, frontier(solved, T=[1, 2, 5], tolerance=1e-6)
    found = measured.points
    assert tuple(found.columns) == COLUMNS
    assert set(found["method"]) == {"fsvi", "rolling", "mpi", "vi"}
    scale = np.abs(best.U_XY).max()
    for row in found.itertuples():
        snapshot = algorithm(model, row)
        assert np.array_equal(measured.policies[row.Index], snapshot.policy_PXY)
        assert (row.backups, row.evaluations) == (snapshot.backups, snapshot.evaluations)
        true = regret(model, snapshot.policy_PXY, best=best)
        assert row.mean_regret == pytest.approx(true.mean_regret, abs=3e-6 * scale)
        assert row.max_regret == pytest.approx(true.max_regret, abs=3e-6 * scale)
        assert row.certificate >= true.max_regret - true.error
        assert row.sweeps == row.evaluations / (model.n_pairs * model.true.outcomes)
    last = found.groupby("method").last()
    assert last.loc[["mpi", "vi"], "max_regret"].max() <= 1e-4 * scale


def test_the_bound_is_the_proven_one_of_each_method():
    found = frontier(INVENTORY, T=[2, 6]).points
    constants = measure(INVENTORY).constants(INVENTORY.gamma)
    for row in found.itertuples():
        if row.method == "fsvi":
            assert row.bound == pytest.approx(repaired_bound(constants, row.T, k=row.k).total)
        elif row.method == "rolling":
            assert row.bound == pytest.approx(rolling_bound(constants, row.T).total)
        elif row.method == "vi":
            assert row.bound == pytest.approx(vi_bound(constants, row.k))
        else:
            assert np.isnan(row.bound)
    again = frontier(INVENTORY, T=[2, 6], constants=constants).points
    pd.testing.assert_frame_equal(found, again)


def test_certificates_on_the_inventory_are_close_to_the_truth():
    measured = frontier(INVENTORY, T=[3, 12], methods=["fsvi", "rolling"])
    found = measured.points
    assert (found["certificate"] >= found["max_regret"]).all()
    assert (found["certificate"] / found["max_regret"]).median() < 1.2
    assert 0 < measured.upper_bound_sweeps < 25


def test_progress_grows_to_one():
    shares = []
    frontier(random_model(6), T=[2, 3], progress=shares.append)
    assert shares == sorted(shares)
    assert sorted(set(shares)) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


def test_a_model_without_rewards_has_no_regret():
    model = FastSlowMDP(
        reward_XYA=np.zeros((2, 2, 2)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
    )
    found = fsdash.frontier(model, T=[2]).points
    assert (found[["mean_regret", "max_regret", "certificate"]] == 0).all().all()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"T": [0]}, "T = 0"),
        ({"T": []}, "at least one method, and one T"),
        ({"methods": []}, "at least one method"),
        ({"methods": ["sarsa"]}, "'sarsa' is not known; choose from fsvi, rolling, mpi, vi"),
        ({"T": 6}, r"give sequences, such as \['fsvi'\] and \[6\]"),
        ({"methods": "fsvi"}, "give sequences"),
        ({"tolerance": 0}, "tolerance = 0"),
        ({"tolerance": np.inf}, "tolerance = inf"),
    ],
)
def test_errors_name_the_bad_argument(options, words):
    with pytest.raises(InputError, match=words):
        frontier(random_model(5), **options)


@given(seeds, shapes, st.sampled_from([0.5, 0.9, 0.99]))
@settings(max_examples=20)
def test_certificates_bound_the_exact_regret(seed, shape, gamma):
    """Not the regret in the same row: that of dense linear algebra, without U* of the frontier."""
    model = random_model(seed, (3, 3, 2, 2), shape, gamma)
    solved, exact_XY = SolvedModel(model), dense_optimum(model)
    found = frontier(solved, [1, 3], bounds=False).points
    for row in found.itertuples():
        value_XY = dense_policy_values(model, algorithm(model, row).policy_PXY)
        rounding = 1e-12 / (1 - gamma)
        assert row.certificate - solved.best.error >= (exact_XY - value_XY).max() - rounding


@given(seeds, shapes, st.sampled_from([0.0, 0.5, 0.9, 0.999]), st.sampled_from([1e-200, 1, 1e50]))
@settings(max_examples=30)
def test_no_certificate_is_below_the_largest_regret(seed, shape, gamma, size):
    """As printed: also where both are as small as the error of U*."""
    m = random_model(seed, (3, 3, 1 + seed % 2, 2), shape, gamma)
    model = FastSlowMDP(size * m.reward_XYA, m.noise_W, m.next_slow, m.next_fast, gamma)
    found = frontier(model, [1, 3], bounds=False).points
    assert (found["certificate"] >= found["max_regret"]).all()


def test_the_precision_is_the_numerical_error_of_two_regrets():
    measured = frontier(INVENTORY, [6, 7], methods=("rolling",), tolerance=1e-3, bounds=False)
    assert measured.points["method"].tolist() == ["rolling"] * 2
    assert 0 < measured.precision <= 2e-7 * np.abs(optimum(INVENTORY).U_XY).max()
    policies = (run_until(rolling(INVENTORY, n), iterations=n).policy_PXY for n in (6, 7))
    exact = [INVENTORY.mean(policy_values(INVENTORY, policy).U_XY) for policy in policies]
    regrets = measured.points["mean_regret"].tolist()
    assert abs(regrets[0] - regrets[1] - (exact[1] - exact[0])) <= measured.precision


@pytest.mark.parametrize("size", [1e-9, 1e-30])
def test_regrets_do_not_depend_on_the_unit_of_the_rewards(size):
    m = INVENTORY
    tables = (m.noise_W, m.next_slow, m.next_fast, m.gamma)
    small = FastSlowMDP(size * m.reward_XYA, *tables, frozen_next_fast=m.frozen_next_fast)
    usual, found = (
        frontier(model, [2, 6], methods=["fsvi", "rolling"], bounds=False).points
        for model in (m, small)
    )
    both = usual.merge(found, on=["method", "T", "k"], suffixes=("", "_small"))
    assert len(both) >= 6
    for name in ("mean_regret", "max_regret"):
        np.testing.assert_allclose(both[f"{name}_small"] / size, both[name], rtol=0.02, atol=2)
    np.testing.assert_allclose(both["relative_regret_small"], both["relative_regret"], atol=1e-3)
    assert (found["certificate"] >= found["max_regret"]).all()


def test_a_time_limit_leaves_points_of_every_method_and_T():
    stopped = frontier(INVENTORY, [2, 6], bounds=False, seconds=1e-9)
    found = stopped.points
    assert not stopped.complete
    assert set(found["method"]) == {"fsvi", "rolling", "mpi", "vi"}
    whole = frontier(INVENTORY, [2, 6], bounds=False)
    assert whole.complete and len(found) < len(whole.points)
    key = ["method", "T", "k"]
    both = found.merge(whole.points, on=key, suffixes=("", "_whole"))
    assert len(both) == len(found)
    np.testing.assert_allclose(both["mean_regret"], both["mean_regret_whole"], rtol=1e-4)
