"""Linear regression: least squares with an intercept.

It is solved on centred features by NumPy's `lstsq`, as in scikit-learn's `LinearRegression`; a test
compares the two. Redundant features (a constant, or the last entry of a one-hot action) leave many
solutions with the same predictions at the sampled rows; the one of least norm is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.regression.base import Fit, single_threaded


@dataclass(frozen=True)
class Linear:
    """Linear regression by least squares with an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from fsdash.regression import Fit, Linear
    >>> rng, previous = np.random.default_rng(0), Fit(np.zeros(3))
    >>> features_PF, rows_N, targets_N = np.array([[0.0], [1.0], [2.0]]), np.arange(2), [1, 3]
    >>> fit = Linear().fit(features_PF, rows_N, np.array(targets_N), rng, previous)
    >>> fit.values_P.round(6).tolist()
    [1.0, 3.0, 5.0]
    """

    @single_threaded
    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """Fit by least squares; draws no random numbers and ignores the previous fit."""
        sample_NF = features_PF[rows_N]
        centre_F, mean = sample_NF.mean(axis=0), targets_N.mean()
        slope_F = np.linalg.lstsq(sample_NF - centre_F, targets_N - mean, rcond=None)[0]
        intercept = mean - centre_F @ slope_F
        return Fit(features_PF @ slope_F + intercept, (slope_F, intercept))
