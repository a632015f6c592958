"""Regression strategies for the fitted algorithms (the procedure `Regress` of the paper).

A finite model has finitely many points to fit: the states, or the pairs (s, a) of a Q-function.
Their features are known in advance (`state_features`, `pair_features`), so a strategy gets the
features of all points, the sampled rows and their targets, and returns a value for every point:

    fit = strategy.fit(features_PF, rows_N, targets_N, rng, previous)      fit.values_P

`Linear` is least squares, `Deep` a small neural network, `Tabular` a table without generalisation.
To add a strategy, write a frozen dataclass with this method. It must not change its arguments and
must draw random numbers from `rng` only, so that the same generator gives the same fit in any
process.

A run can be continued from the values of its last fit if the strategy uses nothing else of it
(`needs_only_values`).
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
    "needs_only_values",
    "pair_features",
    "state_features",
]


def needs_only_values(regress: Regression) -> bool:
    """Whether a fit depends on the previous one only through its values.

    A network with a warm start needs its weights. Of an unknown strategy nothing is assumed.
    """
    if isinstance(regress, Deep):
        return not regress.warm_start
    return isinstance(regress, Linear | Tabular)
