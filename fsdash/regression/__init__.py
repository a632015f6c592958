"""The procedure `Regress` of the fitted methods, a strategy passed to them.

A finite model has finitely many points to fit at: the states, or the pairs (s, a) of a Q-function.
Their features are known beforehand (`state_features`, `pair_features`), so a strategy gets all of
them at once, with the rows that were sampled and their targets, and gives back a value for every
point:

    fit = strategy.fit(features_PF, rows_N, targets_N, rng, previous)      fit.values_P

`Linear` is least squares, `Deep` a small network, `Tabular` a table without any generalisation. To
add one, write a frozen dataclass with that method. It must not change what it is given, and must
draw from `rng` alone: the same generator gives the same fit in any process.
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
