"""Distances between distributions, compared with linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.theory.transport import Images, distance_above, distance_bounds
from tests.models import seeds
from tests.theory.test_measured import wasserstein

pytestmark = pytest.mark.slow  # together they take several seconds


def images_of(P, points):
    """Two distributions on the points, as rows."""
    start_R = np.concatenate([[0], np.cumsum(np.count_nonzero(P, axis=1))])
    row_N, target_N = np.nonzero(P)
    number_XYA = np.arange(2, dtype=np.uint32).reshape(1, 2, 1)
    return Images(number_XYA, points, start_R, target_N.astype(np.uint32), P[row_N, target_N])


@settings(max_examples=40)
@given(seeds, st.sampled_from([(4, 1), (5, 2), (12, 3), (40, 2)]), st.booleans())
def test_the_bounds_contain_the_smallest_transport_cost(seed, size, on_a_grid):
    """On a grid many costs are equal; with few atoms the transport problem is always solved."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, size).astype(float) if on_a_grid else rng.normal(size=size)
    P = rng.dirichlet(np.full(size[0], 0.3), size=2)
    P = np.where(P > 0.01, P, 0)
    P /= P.sum(axis=1, keepdims=True)
    images = images_of(P, points)
    [exact] = wasserstein([[list(zip(p[p > 0], points[p > 0], strict=True)) for p in P]])
    below, above, _ = distance_bounds(images, 0, 1)
    assert below <= exact + 1e-7 and exact <= above + 1e-7
    assert above <= distance_above(images, 0, 1) + 1e-12
    assert below == above == pytest.approx(exact, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_transport_along_one_coordinate_is_exact_however_long_the_rows_are(shift):
    """The states of each row differ in the first coordinate; the second one is constant in each."""
    n, rng = 500, np.random.default_rng(0)
    x = np.sort(rng.normal(size=n))
    points = np.stack([np.concatenate([x, x]), np.repeat([0.0, shift], n)], axis=1)
    P = np.zeros((2, 2 * n))
    P[0, :n], P[1, n:] = rng.dirichlet(np.ones(n), size=2)
    below, above, work = distance_bounds(images_of(P, points), 0, 1)
    levels = np.union1d(np.cumsum(P[0, :n])[:-1], np.cumsum(P[1, n:])[:-1])
    edges = np.concatenate([[0], levels, [1]])
    middle = (edges[1:] + edges[:-1]) / 2
    quantiles = [x[np.searchsorted(np.cumsum(p), middle)] for p in (P[0, :n], P[1, n:])]
    expected = np.dot(np.diff(edges), np.hypot(quantiles[0] - quantiles[1], shift))
    assert below == above == pytest.approx(expected, rel=1e-9)
    assert work == 2 * n


def test_a_translation_is_exact_in_any_dimension():
    points = np.random.default_rng(1).normal(size=(300, 3))
    both = np.concatenate([points, points + np.array([0.3, -0.4, 1.2])])
    P = np.zeros((2, 600))
    P[0, :300] = P[1, 300:] = 1 / 300
    below, above, _ = distance_bounds(images_of(P, both), 0, 1)
    assert below == above == pytest.approx(1.3)
