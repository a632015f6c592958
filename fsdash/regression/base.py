"""The interface of a regression strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted function: its value at every point, and the learned model, if any.

    A later fit with a warm start continues from `learned`.
    """

    values_P: np.ndarray
    learned: Any = None


class Regression(Protocol):
    """A regression strategy, such as `Linear`, `Deep` or `Tabular`."""

    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """Fit the targets to the features of the sampled rows.

        Parameters
        ----------
        features_PF : np.ndarray
            Features of all points, shape (P, F).
        rows_N : np.ndarray
            Indices of the sampled points, shape (N,).
        targets_N : np.ndarray
            Their targets, shape (N,).
        rng : np.random.Generator
            Source of random numbers.
        previous : Fit
            The fit of the previous iteration; before the first iteration, the initial values.

        Returns
        -------
        Fit
            The fitted value of every point.
        """
        ...


def single_threaded(function: Callable[..., Fit]) -> Callable[..., Fit]:
    """Run a fit with one BLAS thread and without floating-point warnings.

    With one thread, sums have the same order on every machine, and parallel workers do not compete
    for cores; the problems are too small to gain from more threads. Overflow needs no warning,
    because the algorithms check the fitted values.
    """

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Fit:
        with _threads().limit(limits=1, user_api="blas"), np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return limited


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()
