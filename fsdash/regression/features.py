"""Raw features: the coordinates of a state, and for a Q-function its action one-hot beside them."""

from __future__ import annotations

import numpy as np

from fsdash.core.model import FastSlowMDP


def state_features(model: FastSlowMDP) -> np.ndarray:
    """(|S|, d): the coordinates of x and of y, for the states in flattened order x·|Y| + y."""
    x_S, y_S = np.divmod(np.arange(model.n_states), model.n_fast)
    return np.hstack([model.slow.values[x_S], model.fast.values[y_S]])


def pair_features(model: FastSlowMDP) -> np.ndarray:
    """(|S||A|, d + |A|): state features and one-hot action, for the pairs in order s·|A| + a."""
    states_SF, A = state_features(model), model.n_actions
    return np.hstack([np.repeat(states_SF, A, axis=0), np.tile(np.eye(A), (len(states_SF), 1))])
