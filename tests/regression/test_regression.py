"""The regression strategies against closed forms and scikit-learn; inputs are not changed."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.errors import InputError
from fsdash.regression import Deep, Fit, Linear, Tabular, pair_features, state_features

STRATEGIES = {
    "linear": Linear(),
    "tabular": Tabular(),
    "deep": Deep(epochs=3),
    "warm": Deep(epochs=3, warm_start=True, scale_features=True),
}


def seed(n):
    return np.random.default_rng(n)


def blank(P):
    return Fit(np.zeros(P))


def points(P=200, F=3, N=60):
    """Features of P points, N sampled rows, and a random target for each of them."""
    rng = seed(0)
    features_PF = rng.uniform(-1, 1, (P, F))
    rows_N = rng.choice(P, N, replace=False)
    return features_PF, rows_N, rng.normal(size=N)


def two_by_two():
    """2 slow and 2 fast states with coordinates, 2 actions."""
    return FastSlowMDP(
        np.zeros((2, 2, 2)),
        np.ones(1),
        np.zeros((1, 1, 1, 1), int),
        np.zeros((1, 1, 1, 1), int),
        gamma=0.5,
        slow=Axis(("p", "q"), np.array([[1, 2], [3, 4]])),
        fast=Axis(("z",), [7, 9]),
    )


def test_features_match_a_calculation_by_hand():
    model = two_by_two()
    states = [[1, 2, 7], [1, 2, 9], [3, 4, 7], [3, 4, 9]]
    assert state_features(model).tolist() == states
    pairs = [[*s, *a] for s in states for a in ([1, 0], [0, 1])]
    assert pair_features(model).tolist() == pairs


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_fit_has_a_value_for_every_point_and_does_not_change_its_input(name):
    features_PF, rows_N, targets_N = points()
    previous = Fit(np.arange(200.0))
    given = (features_PF, rows_N, targets_N, previous.values_P)
    before = [a.copy() for a in given]
    fit = STRATEGIES[name].fit(features_PF, rows_N, targets_N, seed(1), previous)
    again = STRATEGIES[name].fit(features_PF, rows_N, targets_N, seed(2), fit)
    assert fit.values_P.shape == again.values_P.shape == (200,)
    assert np.isfinite(fit.values_P).all()
    for a, b in zip(given, before, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_generator_gives_the_same_fits(name):
    def twice():
        features_PF, rows_N, targets_N = points()
        rng, strategy = seed(3), STRATEGIES[name]
        first = strategy.fit(features_PF, rows_N, targets_N, rng, blank(200))
        before = first.values_P.copy()
        second = strategy.fit(features_PF, rows_N, targets_N + 1, rng, first)
        # Continuing from a fit does not change it.
        assert np.array_equal(first.values_P, before)
        return first.values_P, second.values_P

    np.testing.assert_array_equal(twice(), twice())


def test_linear_equals_the_closed_form_and_scikit_learn():
    features_PF, rows_N, targets_N = points()
    fit = Linear().fit(features_PF, rows_N, targets_N, seed(0), blank(200))
    X = np.column_stack([features_PF[rows_N], np.ones(60)])
    theta = np.linalg.solve(X.T @ X, X.T @ targets_N)
    np.testing.assert_allclose(fit.values_P, features_PF @ theta[:3] + theta[3], atol=1e-12)
    theirs = LinearRegression().fit(features_PF[rows_N], targets_N).predict(features_PF)
    np.testing.assert_allclose(fit.values_P, theirs, atol=1e-12)


def test_linear_recovers_a_line_from_redundant_features():
    """A constant feature, a multiple of another one, and a one-hot: rank 3 of 6."""
    z = np.linspace(0, 1, 40)
    hot = np.eye(2)[np.arange(40) % 2]
    features_PF = np.column_stack([z, 2 * z, np.full(40, 5.0), hot, hot[:, 0]])
    line_P = 1e5 + 3 * z + 7 * hot[:, 1]
    rows_N = np.arange(0, 40, 3)
    fit = Linear().fit(features_PF, rows_N, line_P[rows_N], seed(0), blank(40))
    np.testing.assert_allclose(fit.values_P, line_P, rtol=1e-12)
    # One row determines no slope: its target is the value of every point.
    fit = Linear().fit(features_PF, np.array([4]), np.array([2.5]), seed(0), blank(40))
    assert (fit.values_P == 2.5).all()


def test_tabular_takes_means_and_keeps_values_that_were_not_sampled():
    previous = Fit(np.array([1.0, 2.0, 3.0, 4.0]))
    rows_N, targets_N = np.array([2, 0, 2]), np.array([10.0, 20.0, 40.0])
    fit = Tabular().fit(np.zeros((4, 1)), rows_N, targets_N, seed(0), previous)
    assert fit.values_P.tolist() == [20, 2, 25, 4]


def kinked(P=600):
    """A function of two ReLUs, on the scale of a value function."""
    features_PF = seed(4).uniform(-1, 1, (P, 2))
    x, y = features_PF.T
    return features_PF, 1e5 + 800 * np.maximum(x, 0) - 500 * np.maximum(y - x, 0)


def unexplained(values_P, truth_P):
    """The share of the variance that a fit does not explain; the mean explains none."""
    return np.mean((values_P - truth_P) ** 2) / np.var(truth_P)


def test_deep_fits_a_kinked_function_better_than_a_line():
    features_PF, truth_P = kinked()
    rows_N = np.arange(300)
    deep, line = (
        strategy.fit(features_PF, rows_N, truth_P[rows_N], seed(5), blank(600)).values_P
        for strategy in (Deep(epochs=60), Linear())
    )
    held_out = slice(300, None)
    left = unexplained(deep[held_out], truth_P[held_out])
    assert left < 0.1
    assert left < unexplained(line[held_out], truth_P[held_out]) / 2


def test_the_network_cannot_fit_large_targets_without_scaling():
    """Targets are scaled by default because Adam moves a weight by its learning rate per step."""
    features_PF, truth_P = kinked()
    raw = Deep(scale_targets=False).fit(features_PF, np.arange(600), truth_P, seed(5), blank(600))
    assert unexplained(raw.values_P, truth_P) > 100


def test_a_warm_start_continues_from_the_previous_weights():
    features_PF, truth_P = kinked()
    left = {}
    for warm in (False, True):
        strategy = Deep(epochs=1, learning_rate=2e-3, warm_start=warm)
        rng, fit = seed(6), blank(600)
        for _ in range(30):
            fit = strategy.fit(features_PF, np.arange(600), truth_P, rng, fit)
        left[warm] = unexplained(fit.values_P, truth_P)
    assert left[True] < 0.1 < left[False]


def test_a_warm_start_makes_every_epoch():
    features_PF, rows_N, targets_N = points()
    strategy, rng, fit = Deep(epochs=4, warm_start=True), seed(7), blank(200)
    for _ in range(5):
        fit = strategy.fit(features_PF, rows_N, targets_N, rng, fit)
        assert fit.learned.n_iter_ == 4


def test_scaling_makes_the_fit_independent_of_units():
    features_PF, truth_P = kinked(100)
    strategy, rows_N = Deep(epochs=5, scale_features=True), np.arange(100)
    plain = strategy.fit(features_PF, rows_N, truth_P, seed(8), blank(100)).values_P
    other = strategy.fit(8 * features_PF + 16, rows_N, 4 * truth_P, seed(8), blank(100)).values_P
    np.testing.assert_allclose(other, 4 * plain, rtol=1e-6)


def test_a_diverging_network_returns_values_that_are_not_finite():
    features_PF, truth_P = kinked(100)
    unstable = Deep(learning_rate=1e200, epochs=30)
    fit = unstable.fit(features_PF, np.arange(100), truth_P, seed(9), blank(100))
    assert not np.isfinite(fit.values_P).all()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"epochs": 0}, "epochs = 0"),
        ({"epochs": 1.5}, "epochs = 1.5"),
        ({"learning_rate": 0}, "learning_rate = 0"),
        ({"learning_rate": float("nan")}, "learning_rate = nan"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"hidden": ()}, "hidden = "),
        ({"hidden": (4, 0)}, "hidden = "),
    ],
)
def test_errors_name_the_bad_parameter(options, words):
    with pytest.raises(InputError, match=words):
        Deep(**options)
