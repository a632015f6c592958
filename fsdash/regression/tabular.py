"""A table: every point has its own value, without generalisation to other points.

If all states are sampled, the fitted algorithms become the tabular ones: FVI is E-VI, FSFVI is
E-FSVI and FQI is E-QI, number for number. With fewer states they are asynchronous versions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.regression.base import Fit


@dataclass(frozen=True)
class Tabular:
    """Regression by a table: the mean target of each sampled point."""

    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """Set each sampled row to its mean target; the other rows keep the previous value."""
        points, where_N, count = np.unique(rows_N, return_inverse=True, return_counts=True)
        values_P = previous.values_P.copy()
        values_P[points] = np.bincount(where_N, weights=targets_N) / count
        return Fit(values_P)
