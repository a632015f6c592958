"""A table: every point has a value of its own, and nothing is learned about the others.

With all states sampled, the fitted methods are then the tabular ones: FVI is E-VI, FSFVI is E-FSVI
and FQI is E-QI, number for number. With fewer, they are asynchronous versions of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.regression.base import Fit


@dataclass(frozen=True)
class Tabular:
    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """The mean target of each sampled row; the others keep the previous value."""
        points, where_N, count = np.unique(rows_N, return_inverse=True, return_counts=True)
        values_P = previous.values_P.copy()
        values_P[points] = np.bincount(where_N, weights=targets_N) / count
        return Fit(values_P)
