"""The mean of some replications and its 95% interval.

The interval of the mean of n values uses Student's t with n − 1 degrees of freedom; a single value
has none. `clipped` ends an interval at the limits of what is possible: no policy is better than the
optimal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt

import numpy as np
from scipy.special import stdtrit

from fsdash.errors import InputError


def t_quantile(freedom: int) -> float:
    """The 97.5% quantile of Student's t distribution with so many degrees of freedom.

    Examples
    --------
    >>> round(t_quantile(4), 4)
    2.7764
    """
    if freedom < 1:
        raise InputError(f"freedom = {freedom}: an interval needs at least two values")
    return float(stdtrit(freedom, 0.975))


def interval(values: Sequence[float]) -> tuple[float, float, float, int]:
    """The mean of some values and its 95% interval.

    Parameters
    ----------
    values : sequence of float
        NaN values are left out. An infinite value makes the mean infinite, without an interval.

    Returns
    -------
    mean, low, high : float
        The mean and the ends of its interval; the ends of a single value are NaN.
    n : int
        The number of values.

    Examples
    --------
    >>> mean, low, high, n = interval([1, 2, 3, 4, 5])
    >>> mean, round(low, 3), round(high, 3), n
    (3.0, 1.037, 4.963, 5)
    """
    mean, low, high, n = intervals(np.asarray(values, float)[:, None])
    return mean.item(), low.item(), high.item(), n.item()


def intervals(values_RG: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`interval` of every column of an array (R, G): mean, low, high and n, each of length G."""
    known_RG = ~np.isnan(values_RG)
    n_G = known_RG.sum(axis=0)
    factor = [nan, nan] + [t_quantile(n - 1) / sqrt(n) for n in range(2, len(values_RG) + 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_G = np.where(known_RG, values_RG, 0.0).sum(axis=0) / n_G
        deviation_RG = np.where(known_RG, values_RG - mean_G, 0.0)
        half_G = np.array(factor)[n_G] * np.sqrt((deviation_RG**2).sum(axis=0) / (n_G - 1))
    return mean_G, mean_G - half_G, mean_G + half_G, n_G


def clipped(
    mean: np.ndarray, low: np.ndarray, high: np.ndarray, limits: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of an interval, moved to the limits where they are outside.

    The mean itself may be outside by a rounding error; the interval always contains it. Ends that
    are NaN stay NaN.

    Examples
    --------
    >>> low, high = clipped(np.array([0.9]), np.array([0.7]), np.array([1.1]), (0.0, 1.0))
    >>> low.tolist(), high.tolist()
    ([0.7], [1.0])
    """
    least, most = limits
    return np.minimum(np.maximum(low, least), mean), np.maximum(np.minimum(high, most), mean)
