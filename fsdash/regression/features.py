"""Raw features: the coordinates of a state, followed by the one-hot action for a Q-function."""

from __future__ import annotations

import numpy as np

from fsdash.core.model import FastSlowMDP


def state_features(model: FastSlowMDP) -> np.ndarray:
    """Return the coordinates of x and y, shape (|S|, d), in flattened order x·|Y| + y."""
    x_S, y_S = np.divmod(np.arange(model.n_states), model.n_fast)
    return np.hstack([model.slow.values[x_S], model.fast.values[y_S]])


def pair_features(model: FastSlowMDP) -> np.ndarray:
    """Return state features and one-hot actions, shape (|S||A|, d + |A|), in order s·|A| + a."""
    states_SF, A = state_features(model), model.n_actions
    return np.hstack([np.repeat(states_SF, A, axis=0), np.tile(np.eye(A), (len(states_SF), 1))])
