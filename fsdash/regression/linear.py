"""Linear regression: least squares with an intercept.

Solved on centred features by NumPy's `lstsq`, as scikit-learn's `LinearRegression` does, which a
test compares. Features that say nothing new (a constant one, or the last of a one-hot action) leave
many solutions with the same predictions at the sampled rows; the one of least norm is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.regression.base import Fit, numerics


@dataclass(frozen=True)
class Linear:
    @numerics
    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """Draws nothing, and does not look at the previous fit."""
        sample_NF = features_PF[rows_N]
        centre_F, mean = sample_NF.mean(axis=0), targets_N.mean()
        slope_F = np.linalg.lstsq(sample_NF - centre_F, targets_N - mean, rcond=None)[0]
        intercept = mean - centre_F @ slope_F
        return Fit(features_PF @ slope_F + intercept, (slope_F, intercept))
