"""A small neural network: two hidden layers of 4 ReLU units, Adam on the squared error.

The paper specifies the layers, the loss, the optimiser and raw features, but not the learning rate,
the epochs, the batches or a warm start. These were chosen on the pricing domain by the fit of 1,515
optimal values, by time, and after inspecting the curves of Deep-FVI:

- 20 epochs of 25 batches at a learning rate of 0.01 explain 0.76 to 0.89 of the variance (a linear
  fit: 0.79). Adam's usual 0.001 needs ten times as many steps: 0.35 after 160, 0.90 after 4,800.
- Each iteration starts from new random weights, because `Regress` is a function of the data in the
  paper. Occasionally all units of such a network die and it fits a constant; Deep-FVI and Deep-FQI
  are unstable, as the paper reports. `warm_start` continues from the previous weights and is more
  stable.
- Targets are standardised, because weights that move by 0.01 per step cannot reach values near 10⁵.
  Features stay raw, as in the paper. Both are options.

The network is scikit-learn's `MLPRegressor`, which takes the least code and avoids a compiled
framework of hundreds of megabytes. A step takes about 0.4 ms, nearly all of it overhead: 0.2 s per
fit of V and 0.7 s per fit of Q on pricing. A custom compiled loop would save most of that, but
would have to be maintained.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from fsdash.errors import InputError, require
from fsdash.regression.base import Fit, single_threaded

BATCHES = 25


@dataclass(frozen=True)
class Deep:
    """Regression by a small neural network; needs scikit-learn.

    Parameters
    ----------
    hidden : tuple of int, default (4, 4)
        Units of each hidden layer.
    learning_rate : float, default 0.01
        Step size of Adam.
    epochs : int, default 20
        Passes through the sampled rows in one fit.
    batch_size : int, optional
        Rows per step; by default 1/25 of the rows, so that fits of V and Q take equally many steps.
    warm_start : bool
        Whether to continue from the previous weights, with a new Adam state, instead of new random
        weights.
    scale_targets, scale_features : bool
        Whether to standardise the targets (default) and the features (not by default).

    Examples
    --------
    >>> import fsdash
    >>> fsdash.regression.Deep(epochs=5).hidden
    (4, 4)
    """

    hidden: tuple[int, ...] = (4, 4)
    learning_rate: float = 1e-2
    epochs: int = 20
    batch_size: int | None = None
    warm_start: bool = False
    scale_targets: bool = True
    scale_features: bool = False

    def __post_init__(self) -> None:
        require("sklearn", extra="deep")
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

    @single_threaded
    def fit(
        self,
        features_PF: np.ndarray,
        rows_N: np.ndarray,
        targets_N: np.ndarray,
        rng: np.random.Generator,
        previous: Fit,
    ) -> Fit:
        """Fit a network; draws one number, the seed of the weights and of the batches."""
        # Imported here because it takes longer to load than the rest of the package.
        from sklearn.exceptions import ConvergenceWarning

        seed = int(rng.integers(2**32))
        sample_NF = features_PF[rows_N]
        shift_F, width_F = _scale(sample_NF, self.scale_features)
        shift, width = _scale(targets_N, self.scale_targets)
        network = self._network(seed, len(rows_N), previous)
        try:
            with warnings.catch_warnings():
                # Stopping after the given number of epochs is intended.
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
            # Always make all epochs, even if the loss stalls for a while.
            n_iter_no_change=np.inf,
            warm_start=self.warm_start,
            random_state=seed,
        )


def _scale(values_N: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the shift and the width to standardise with: 0 and 1 if `scale` is false.

    The width is 1 for a feature that does not vary.
    """
    mean, deviation = values_N.mean(axis=0), values_N.std(axis=0)
    if not scale:
        return np.zeros_like(mean), np.ones_like(deviation)
    return mean, np.where(deviation > 0, deviation, 1.0)
