"""One step of a model, in either form of its dynamics: next states, and where paths end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows


@dataclass(frozen=True, eq=False)
class NextStateLaw:
    """The law of the next state of one state-action pair: K states with their probabilities."""

    x_K: np.ndarray
    y_K: np.ndarray
    probability_K: np.ndarray

    def draw(self, rng: np.random.Generator) -> tuple[int, int]:
        """Draw a next state by the inverse of the distribution function."""
        k = int(np.searchsorted(np.cumsum(self.probability_K), rng.random(), side="right"))
        k = min(
            k, int(np.flatnonzero(self.probability_K)[-1])
        )  # the sum may be below 1 by rounding
        return int(self.x_K[k]), int(self.y_K[k])


def next_states(model: FastSlowMDP, x: int, y: int, a: int) -> NextStateLaw:
    """Return the true law of the next state after a feasible action."""
    d = model.true
    if isinstance(d, Rows):
        row = d.row_XYA[x, y, a]
        x_K, y_K = np.divmod(d.targets(row).astype(np.int64), model.n_fast)
        return NextStateLaw(x_K, y_K, d.probabilities(row))
    index, W = (x, y, a), len(d.noise_W)
    x_W, y_W = (
        np.resize(table[tuple(map(min, index, (n - 1 for n in table.shape)))], W)
        for table in (d.next_slow, d.next_fast)
    )
    return NextStateLaw(x_W, y_W, d.noise_W)


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
    d, feasible_XYA = model.true, model.feasible_XYA
    if isinstance(d, Rows):
        alone_R = np.diff(d.start_R) == 1
        target_R = np.append(d.target_N, 0)[d.start_R[:-1]]  # row 0 may be the only one
        state_XY1 = np.arange(model.n_states).reshape(*model.real_XY.shape, 1)
        stays_XYA = alone_R[d.row_XYA] & (target_R[d.row_XYA] == state_XY1)
    else:
        x, y = np.ogrid[: model.n_slow, : model.n_fast]
        stays_XYA = np.ones(feasible_XYA.shape, bool)
        for w in np.flatnonzero(d.noise_W):
            slow = d.next_slow[..., min(w, d.next_slow.shape[3] - 1)]
            fast = d.next_fast[..., min(w, d.next_fast.shape[3] - 1)]
            stays_XYA &= (slow == x[:, :, None]) & (fast == y[:, :, None])
    ends_XYA = ~feasible_XYA | (stays_XYA & (model.reward_XYA == 0))
    return model.real_XY & ends_XYA.all(axis=2)
