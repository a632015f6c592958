"""FSAVI: the architecture, its κ, the algorithm, and the corrected theorem."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from fsdash.algorithms import (
    Aggregation,
    LinearArchitecture,
    aggregation,
    fsavi,
    fsvi,
    polynomial,
    run_until,
)
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.model import Axis
from fsdash.core.operators import H_frozen
from fsdash.errors import InputError
from fsdash.theory import fsavi_bound
from fsdash.theory.measured import measure
from tests.algorithms.driving import take
from tests.models import random_model
from tests.operators import F


def interpolation(model, slow_anchors, fast_anchors):
    """Bilinear interpolation between a grid of anchors: convex combinations, so κ = 1."""

    def hats(n, anchors):
        return np.array([np.interp(np.arange(n), anchors, row) for row in np.eye(len(anchors))]).T

    slow, fast = hats(model.n_slow, slow_anchors), hats(model.n_fast, fast_anchors)
    Phi_XYM = np.einsum("xi,yj->xyij", slow, fast).reshape(model.n_slow, model.n_fast, -1)
    anchors = [(x, y) for x in slow_anchors for y in fast_anchors]
    return LinearArchitecture(Phi_XYM, anchors)


def test_fsavi_with_tabular_features_is_fsvi():
    model = random_model(1)
    architecture = LinearArchitecture.tabular(model)
    assert architecture.kappa == 1
    pairs = zip(fsavi(model, 3, architecture=architecture), fsvi(model, 3), strict=False)
    for ours, exact in islice(pairs, 8):
        np.testing.assert_allclose(ours.values_XY, exact.values_XY, atol=1e-12)
        assert np.array_equal(ours.policy_PXY, exact.policy_PXY)
        assert (ours.phase, ours.iteration) == (exact.phase, exact.iteration)
        assert (ours.backups, ours.evaluations) == (exact.backups, exact.evaluations)


def test_updates_hold_at_the_anchors_and_interpolate_elsewhere():
    model = random_model(2, sizes=(3, 7, 2, 2))
    architecture = interpolation(model, [0, 2], [0, 3, 6])
    assert architecture.kappa == 1
    one, two, start, first = take(fsavi(model, 3, architecture=architecture), 4)
    x, y = architecture.anchors_M2.T
    np.testing.assert_allclose(two.values_XY[x, y], H_frozen(model, one.values_XY)[x, y])
    halfway = (two.values_XY[:, 0] + 2 * two.values_XY[:, 3]) / 3
    np.testing.assert_allclose(two.values_XY[:, 2], halfway)
    FV_XY = F(model, two.values_XY, start.policy_PXY[1:], start.values_XY)
    np.testing.assert_allclose(first.values_XY[x, y], FV_XY[x, y])
    # 21 states, 6 anchors, 2 actions, 2 outcomes, T = 3: greedy policies at all states in the lower
    # level, 42 backups each; 6·2 = 12 at the anchors and 2·21 = 42 for the kernel in the upper one.
    assert [s.backups for s in (one, two, start, first)] == [42, 84, 84, 138]
    assert [s.evaluations for s in (one, two, start, first)] == [84, 168, 168, 276]


def grid_model(gamma=0.9):
    """2 × 3 slow states, 12 fast states, in an order that is not the order of the coordinates."""
    slow = Axis(("a", "b"), [(a, b) for b in (5, 1, 3) for a in (0.0, 0.5)])
    return replace(
        random_model(6, sizes=(6, 12, 2, 2), gamma=gamma),
        slow=slow,
        fast=Axis(("y",), np.arange(12) ** 2),
    )


def test_aggregation_cuts_every_coordinate_into_cells_of_neighbouring_values():
    model = grid_model()
    cells = aggregation(model, slow_cells=2, fast_cells=4)
    # a: {0}, {0.5}; b: {1, 3}, {5}; y: three values in each cell. The anchor is in the middle.
    assert len(cells.anchors_M2) == 2 * 2 * 4 and cells.kappa == 1
    low_b = model.slow.values[:, 1] < 5
    for x, y in np.ndindex(6, 12):
        same = cells.cell_XY == cells.cell_XY[x, y]
        slow_same = (model.slow.values[:, 0] == model.slow.values[x, 0]) & (low_b == low_b[x])
        fast_same = np.arange(12) // 3 == y // 3
        assert np.array_equal(same, slow_same[:, None] & fast_same)
    assert set(cells.anchors_M2[:, 1]) == {1, 4, 7, 10}
    values_XY = np.arange(72.0).reshape(6, 12)
    spread = cells.through_anchors(values_XY)
    for (x, y), cell in np.ndenumerate(cells.cell_XY):
        assert spread[x, y] == values_XY[tuple(cells.anchors_M2[cell])]
    # The same as a linear architecture with one indicator for each cell.
    dense = LinearArchitecture(np.eye(16)[cells.cell_XY], cells.anchors_M2)
    np.testing.assert_allclose(dense.through_anchors(values_XY), spread, atol=1e-12)
    assert dense.kappa == 1


def test_one_cell_for_each_value_is_the_identity():
    model = grid_model()
    cells = aggregation(model, slow_cells=99, fast_cells=12)
    assert len(cells.anchors_M2) == model.n_states
    values_XY = np.random.default_rng(0).normal(size=(6, 12))
    assert np.array_equal(cells.through_anchors(values_XY), values_XY)


@pytest.mark.parametrize("degree, features", [(0, 1), (1, 8), (2, 18), (11, 72)])
def test_polynomials_reproduce_every_polynomial_of_their_degree(degree, features):
    model, rng = grid_model(), np.random.default_rng(1)
    architecture = polynomial(model, degree)
    assert len(architecture.anchors_M2) == features
    a, b = model.slow.values.T
    z = model.fast.values[:, 0] / 121
    values_XY = sum(
        rng.normal() * np.outer(a**i * b**j, z**k)
        for i in range(min(degree, 1) + 1)
        for j in range(min(degree, 2) + 1)
        for k in range(degree + 1)
    )
    np.testing.assert_allclose(architecture.through_anchors(values_XY), values_XY, atol=1e-6)
    assert architecture.kappa == pytest.approx(1, abs=1e-9) or degree == 2


def test_kappa_of_polynomials():
    """Degree 1 interpolates between corners. On many points, degree 2 has the Lebesgue constant
    5/4 of three evenly spaced nodes for each coordinate."""
    model = random_model(7, sizes=(1, 401, 2, 2), gamma=0.7)
    assert polynomial(model, 1).kappa == 1
    assert polynomial(model, 2).kappa == pytest.approx(1.25, abs=1e-4)
    square = random_model(7, sizes=(101, 101, 1, 1))
    assert polynomial(square, 2).kappa == pytest.approx(1.25**2, abs=1e-3)
    run_until(fsavi(model, 3, features="polynomial", degree=2), iterations=2)
    with pytest.raises(InputError, match=r"κγ = 1.25·0.85 = 1.062 ≥ 1"):
        next(fsavi(replace(model, gamma=0.85), 3, features="polynomial", degree=2))


def test_anchors_of_polynomials_are_chosen_so_that_no_weight_exceeds_one():
    # Values 0, 1, 2, 100: evenly spaced places would give θ = 9800/98 or more at the last value.
    model = replace(random_model(8, sizes=(1, 4, 2, 2)), fast=Axis(("y",), [0, 1, 2, 100]))
    architecture = polynomial(model, 2)
    assert np.abs(architecture.theta_XYM).max() <= 1 + 1e-9
    assert architecture.anchors_M2[[0, -1], 1].tolist() == [0, 3]


def test_features_by_name_are_the_named_architectures():
    model = grid_model()
    for named, built in (
        ({"slow_cells": 2, "fast_cells": 3}, aggregation(model, 2, 3)),
        ({"features": "polynomial", "degree": 1}, polynomial(model, 1)),
    ):
        pairs = zip(fsavi(model, 3, **named), fsavi(model, 3, architecture=built), strict=False)
        for a, b in islice(pairs, 6):
            assert np.array_equal(a.values_XY, b.values_XY)
            assert a.evaluations == b.evaluations


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("features", ["aggregation", "polynomial"])
def test_the_certificate_bounds_the_distance_to_the_fixed_point(seed, features):
    model = random_model(seed, sizes=(3, 7, 2, 2))
    run = take(fsavi(model, 3, features=features, slow_cells=2, fast_cells=3), 202)
    for snapshot in run[2:12]:
        assert np.abs(snapshot.values_XY - run[-1].values_XY).max() <= snapshot.error + 1e-9


@pytest.mark.parametrize(
    "options, words",
    [
        ({"features": "splines"}, "features = 'splines': choose from aggregation, polynomial"),
        ({"slow_cells": 0}, "slow_cells = 0"),
        ({"fast_cells": 2.5}, "fast_cells = 2.5"),
        ({"features": "polynomial", "degree": -1}, "degree = -1"),
    ],
)
def test_errors_name_the_bad_feature_parameter(options, words):
    with pytest.raises(InputError, match=words):
        next(fsavi(grid_model(), 2, **options))


def test_polynomials_need_a_grid_and_memory(monkeypatch):
    scattered = replace(grid_model(), slow=Axis(("a", "b"), [(i, i) for i in range(6)]))
    with pytest.raises(InputError, match=r"slow states are not a full grid.*aggregation"):
        polynomial(scattered, 1)
    monkeypatch.setattr("fsdash.algorithms.architecture.MAX_ENTRIES", 500)
    with pytest.raises(InputError, match="8 features for 72 states do not fit"):
        polynomial(grid_model(), 1)


def test_phi_dagger_is_a_left_inverse():
    rng = np.random.default_rng(3)
    Phi_XYM = rng.normal(size=(3, 4, 5))
    anchors = [(0, 0), (0, 3), (1, 1), (2, 0), (2, 2)]
    architecture = LinearArchitecture(Phi_XYM, anchors)
    weights = rng.normal(size=5)
    np.testing.assert_allclose(architecture.through_anchors(Phi_XYM @ weights), Phi_XYM @ weights)


def test_kappa_of_a_line_through_two_anchors():
    # φ(y) = (1, y), anchors at y = 1 and y = 2 of 0..3: φ(3) = −φ(1) + 2 φ(2), so κ = 3.
    Phi_XYM = np.stack([np.ones(4), np.arange(4)], axis=-1)[None]
    assert LinearArchitecture(Phi_XYM, [(0, 1), (0, 2)]).kappa == pytest.approx(3)
    assert LinearArchitecture(Phi_XYM, [(0, 0), (0, 3)]).kappa == 1


def test_features_that_amplify_too_much_are_refused():
    model = random_model(4, sizes=(1, 4, 2, 2), gamma=0.9)
    Phi_XYM = np.stack([np.ones(4), np.arange(4)], axis=-1)[None]
    with pytest.raises(InputError, match=r"κγ = 3·0.9 = 2.7 ≥ 1.*anchors at the corners"):
        next(fsavi(model, 3, architecture=LinearArchitecture(Phi_XYM, [(0, 1), (0, 2)])))
    next(fsavi(model, 3, architecture=LinearArchitecture(Phi_XYM, [(0, 0), (0, 3)])))


@pytest.mark.parametrize(
    "Phi, anchors, words",
    [
        (np.ones((2, 3)), [(0, 0)], "one .x, y. row for each"),
        (np.ones((2, 3, 2)), [(0, 0)], "one .x, y. row for each"),
        (np.ones((2, 3, 2)), [(0, 0), (1, 1)], "linearly dependent"),
        (np.ones((2, 3, 1)), [(0, 3)], "outside the states"),
        (np.full((2, 3, 1), np.nan), [(0, 0)], "finite"),
    ],
)
def test_errors_name_what_is_wrong_with_an_architecture(Phi, anchors, words):
    with pytest.raises(InputError, match=words):
        LinearArchitecture(Phi, anchors)


def test_an_anchor_must_be_in_its_cell():
    with pytest.raises(InputError, match="one state of each cell"):
        Aggregation(np.array([[0, 0, 1]]), np.array([[0, 2], [0, 0]]))


def test_an_architecture_of_another_model_is_refused():
    architecture = LinearArchitecture.tabular(random_model(5))
    with pytest.raises(InputError, match="the model has"):
        next(fsavi(random_model(5, sizes=(2, 2, 2, 2)), 2, architecture=architecture))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("T", [1, 2, 4])
def test_the_proven_bound_holds(seed, T):
    """The true regret is below the bound with the errors of the architecture measured."""
    model = random_model(seed, sizes=(2, 5, 2, 2), gamma=0.7)
    architecture = interpolation(model, [0, 1], [0, 2, 4])
    lower = take(fsvi(model, T), T - 1)
    fits = [architecture.through_anchors(s.values_XY) - s.values_XY for s in lower]
    # Projecting through the anchors is one way to fit, so its error bounds the best one.
    eps_low = max((np.abs(fit).max() for fit in fits), default=0.0)
    last = run_until(fsavi(model, T, architecture=architecture), iterations=8)
    J1_XY = take(fsavi(model, T, architecture=architecture), T - 1)
    J1_XY = J1_XY[-1].values_XY if J1_XY else np.zeros_like(last.values_XY)
    V_XY = np.zeros_like(J1_XY)
    for _ in range(200):
        V_XY = F(model, J1_XY, last.policy_PXY[1:], V_XY)
    eps_up = np.abs(architecture.through_anchors(V_XY) - V_XY).max()
    measured = measure(model)
    bound = fsavi_bound(
        measured.constants(model.gamma),
        T,
        k=8,
        kappa=architecture.kappa,
        eps_low=float(eps_low),
        eps_up=float(eps_up),
        l_frozen=measured.l_frozen,
    )
    assert regret(model, last.policy_PXY, best=optimum(model)).max_regret <= bound.total
