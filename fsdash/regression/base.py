"""What a regression strategy takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Protocol

import numpy as np
from threadpoolctl import ThreadpoolController


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted function: its value at every point, and what the next fit may go on from."""

    values_P: np.ndarray
    learned: object = None


class Regression(Protocol):
    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """The targets regressed onto the features of the sampled rows.

        `previous` is the fit of the iteration before; the first one holds the initial values and
        has nothing learned.
        """
        ...


def numerics(function: Callable) -> Callable:
    """With a single BLAS thread: sums in the same order everywhere, and workers that leave each
    other's cores alone; the problems are too small to gain from more. Overflow passes silently
    here: the values show it, and the algorithms look at those."""

    @wraps(function)
    def limited(*args, **kwargs):
        with _threads().limit(limits=1, user_api="blas"), np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return limited


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()
