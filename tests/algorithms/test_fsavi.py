"""FSAVI: the architecture, its κ, the algorithm, and the corrected theorem."""

from itertools import islice

import numpy as np
import pytest

from fsdash.algorithms import LinearArchitecture, fsavi, fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.operators import F, H_frozen
from fsdash.errors import InputError
from fsdash.theory import fsavi_regret
from fsdash.theory.measured import measure
from tests.models import random_model


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


def test_updates_hold_at_the_anchors_and_interpolate_elsewhere():
    model = random_model(2, sizes=(3, 7, 2, 2))
    architecture = interpolation(model, [0, 2], [0, 3, 6])
    assert architecture.kappa == 1
    one, two, start, first = islice(fsavi(model, 3, architecture=architecture), 4)
    x, y = architecture.anchors_M2.T
    np.testing.assert_allclose(two.values_XY[x, y], H_frozen(model, one.values_XY)[x, y])
    halfway = (two.values_XY[:, 0] + 2 * two.values_XY[:, 3]) / 3
    np.testing.assert_allclose(two.values_XY[:, 2], halfway)
    FV_XY = F(model, two.values_XY, start.policy_PXY[1:], start.values_XY)
    np.testing.assert_allclose(first.values_XY[x, y], FV_XY[x, y])
    # The work of the algorithm: updates at M anchors, greedy policies and kernels at all states.
    M, S, A = len(x), model.n_states, model.n_actions
    assert (one.backups, two.backups) == (M * A + S * A, 2 * (M * A + S * A))
    assert first.backups - start.backups == M * A + 2 * S


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
    lower = list(islice(fsvi(model, T), T - 1))
    fits = [architecture.through_anchors(s.values_XY) - s.values_XY for s in lower]
    # Projecting through the anchors is one way to fit, so its error bounds the best one.
    eps_low = max((np.abs(fit).max() for fit in fits), default=0.0)
    last = run_until(fsavi(model, T, architecture=architecture), iterations=8)
    J1_XY = [s for s in islice(fsavi(model, T, architecture=architecture), T - 1)]
    J1_XY = J1_XY[-1].values_XY if J1_XY else np.zeros_like(last.values_XY)
    V_XY = np.zeros_like(J1_XY)
    for _ in range(200):
        V_XY = F(model, J1_XY, last.policy_PXY[1:], V_XY)
    eps_up = np.abs(architecture.through_anchors(V_XY) - V_XY).max()
    measured = measure(model)
    bound = fsavi_regret(
        measured.constants(model.gamma),
        T,
        k=8,
        kappa=architecture.kappa,
        eps_low=float(eps_low),
        eps_up=float(eps_up),
        l_frozen=measured.l_frozen,
    )
    assert regret(model, last.policy_PXY, best=optimum(model)).max_regret <= bound.total
