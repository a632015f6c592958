"""Helpers that compare samples with distributions, and a model for upper-level samples."""

from collections import Counter

import numpy as np
from scipy import stats

from tests.models import random_model


def fits(observed: Counter, probability: dict) -> float:
    """The p-value of a chi-square test; cells with fewer than 5 expected draws are pooled."""
    n = sum(observed.values())
    assert set(observed) <= set(probability), "an impossible outcome was drawn"
    cells = sorted(probability, key=probability.get, reverse=True)
    large = [c for c in cells if n * probability[c] >= 5]
    O = [observed[c] for c in large]  # noqa: E741
    E = [n * probability[c] for c in large]
    if n - sum(E) > 1e-6 * n:
        O.append(n - sum(O))
        E.append(n - sum(E))
    return stats.chisquare(O, np.array(E) * n / sum(E)).pvalue if len(E) > 1 else 1.0


def within(sample, mean, variance, errors=6):
    """Assert that a sample mean is within a number of standard errors of its expectation."""
    assert np.all(np.abs(sample - mean) <= errors * np.sqrt(variance) + 1e-9)


def upper_case(T, shape=("XYAW", "XYAW")):
    model = random_model(7, sizes=(2, 3, 2, 3), shape=shape)
    rng = np.random.default_rng(8)
    lower = rng.integers(2, size=(T - 1, 2, 3))
    return model, lower, rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng
