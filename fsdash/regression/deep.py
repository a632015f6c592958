"""A small neural network: two hidden layers of 4 ReLU units, Adam on the squared error.

The paper gives the layers, the loss, the optimiser and raw features; learning rate, epochs, batches
and warm start it does not. Ours were chosen on the pricing domain by how well 1,515 optimal values
are fitted, by time, and after a first look at Deep-FVI's curves:

- 20 epochs of 25 batches at a learning rate of 0.01 explain 0.76 to 0.89 of the variance (a line:
  0.79). Adam's usual 0.001 needs ten times as many steps: 0.35 after 160, 0.90 after 4,800.
- New random weights in each iteration, since `Regress` is a function of the data in the paper. Now
  and then all units of such a network die and it fits a constant: Deep-FVI and Deep-FQI are
  unstable, as the paper reports. `warm_start` goes on from the previous weights and is steadier.
- Targets are standardised, as values near 10⁵ are out of reach of weights that move by 0.01 a step;
  features stay raw, as in the paper. Both are switches.

The network is scikit-learn's `MLPRegressor`: the least code, no compiled framework of hundreds of
megabytes. A step takes about 0.4 ms, nearly all of it overhead: 0.2 s a fit of V and 0.7 s a fit of
Q on pricing. A compiled loop of our own would save most of that, at the price of a network to keep.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from fsdash.errors import InputError, require
from fsdash.regression.base import Fit, numerics

BATCHES = 25


@dataclass(frozen=True)
class Deep:
    hidden: tuple[int, ...] = (4, 4)
    learning_rate: float = 1e-2
    epochs: int = 20
    batch_size: int | None = None
    """Rows a step; None for 1/25 of them, so that fits of V and of Q take as many steps."""
    warm_start: bool = False
    """Go on from the previous weights, with a fresh Adam, instead of new random ones."""
    scale_targets: bool = True
    scale_features: bool = False

    def __post_init__(self) -> None:
        hidden = tuple(self.hidden)
        if not hidden or any(not (units >= 1 and int(units) == units) for units in hidden):
            raise InputError(
                f"hidden = {self.hidden}: give the units of each layer, such as (4, 4)"
            )
        object.__setattr__(self, "hidden", tuple(int(units) for units in hidden))
        if not 0 < self.learning_rate < np.inf:
            raise InputError(f"learning_rate = {self.learning_rate}: use a positive number")
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if value is not None and not (1 <= value < np.inf and int(value) == value):
                raise InputError(f"{name} = {value}: use a whole number, at least 1")

    @numerics
    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """Draws one number, the seed of the weights and of the order of the batches."""
        # Here, because it takes longer to load than all the rest of the package.
        require("sklearn", extra="deep")
        from sklearn.exceptions import ConvergenceWarning

        seed = int(rng.integers(2**32))
        sample_NF = features_PF[rows_N]
        shift_F, width_F = _scale(sample_NF, self.scale_features)
        shift, width = _scale(targets_N, self.scale_targets)
        network = self._network(seed, len(rows_N), previous)
        try:
            with warnings.catch_warnings():
                # So many epochs are asked for: to stop there is no failure.
                warnings.simplefilter("ignore", ConvergenceWarning)
                network.fit((sample_NF - shift_F) / width_F, (targets_N - shift) / width)
        except ValueError as error:
            if "non-finite" not in str(error):
                raise
            return Fit(np.full(len(features_PF), np.nan))
        values_P = network.predict((features_PF - shift_F) / width_F) * width + shift
        return Fit(values_P, network)

    def _network(self, seed: int, N: int, previous: Fit):
        from sklearn.neural_network import MLPRegressor

        if self.warm_start and previous.learned is not None:
            return deepcopy(previous.learned).set_params(random_state=seed)
        return MLPRegressor(
            hidden_layer_sizes=self.hidden,
            activation="relu",
            solver="adam",
            alpha=0.0,
            batch_size=min(self.batch_size or -(-N // BATCHES), N),
            learning_rate_init=self.learning_rate,
            max_iter=self.epochs,
            # All epochs: a loss that stalls for a while is no reason to stop.
            n_iter_no_change=np.inf,
            warm_start=self.warm_start,
            random_state=seed,
        )


def _scale(values_N: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """What to subtract and to divide by: mean and standard deviation, 1 where nothing varies."""
    mean, deviation = values_N.mean(axis=0), values_N.std(axis=0)
    if not scale:
        return np.zeros_like(mean), np.ones_like(deviation)
    return mean, np.where(deviation > 0, deviation, 1.0)
