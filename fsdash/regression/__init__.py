"""Regression strategies for the fitted algorithms (the procedure `Regress` of the paper).

A finite model has finitely many points to fit: the states, or the pairs (s, a) of a Q-function.
Their features are known in advance (`state_features`, `pair_features`), so a strategy gets the
features of all points, the sampled rows and their targets, and returns a value for every point:

    fit = strategy.fit(features_PF, rows_N, targets_N, rng, previous)      fit.values_P

`Linear` is least squares, `Deep` a small neural network, `Tabular` a table without generalisation.
To add a strategy, write a frozen dataclass with this method. It must not change its arguments and
must draw random numbers from `rng` only, so that the same generator gives the same fit in any
process.
"""

from fsdash.regression.base import Fit, Regression
from fsdash.regression.deep import Deep
from fsdash.regression.features import pair_features, state_features
from fsdash.regression.linear import Linear
from fsdash.regression.tabular import Tabular

__all__ = [
    "Deep",
    "Fit",
    "Linear",
    "Regression",
    "Tabular",
    "pair_features",
    "state_features",
]
