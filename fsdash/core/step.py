"""One step of a model: next states, and where paths end."""

from __future__ import annotations

import numpy as np

from fsdash.core.law import NextStateLaw
from fsdash.core.model import FastSlowMDP


def next_states(model: FastSlowMDP, x: int, y: int, a: int) -> NextStateLaw:
    """Return the true law of the next state after a feasible action."""
    return model.true.next_states(x, y, a)


def terminal_states(model: FastSlowMDP) -> np.ndarray:
    """Return which states end a path, shape (X, Y): whatever is done there, they stay and pay 0.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.FastSlowMDP(
    ...     reward_XYA=[[[1.0], [0.0]]],
    ...     noise_W=[0.5, 0.5],
    ...     next_slow=np.zeros((1, 1, 1, 1), int),
    ...     next_fast=np.array([[0, 1], [1, 1]])[None, :, None, :],
    ...     gamma=0.9,
    ... )
    >>> terminal_states(model).tolist()
    [[False, True]]
    """
    ends_XYA = ~model.feasible_XYA | (model.true.stays() & (model.reward_XYA == 0))
    return model.real_XY & ends_XYA.all(axis=2)
