"""Any `FastSlowMDP` as a simulator, so that statistical results can be compared with exact ones."""

from __future__ import annotations

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.sampling.next_states import NextStates
from fsdash.simulators.simulator import Simulator


class TabularSimulator(Simulator):
    """A tabular model as a simulator: x and y are indices, one uniform number draws (x', y').

    `play` takes the frozen law where x' is x although the true law moves x. If y' under the frozen
    law differs from y' under the true law where x stays, a frozen period that draws such an outcome
    has y' of the true law.

    Parameters
    ----------
    model : FastSlowMDP
        The model. Whether an action is feasible may not depend on x.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.simulators.tabular import TabularSimulator
    >>> model = fsdash.make("pricing", n_reference=21).build()
    >>> fsdash.simulators.check_simulator(TabularSimulator(model)).separate
    True
    """

    noise = 1

    def __init__(self, model: FastSlowMDP) -> None:
        feasible_YA = model.feasible_XYA.any(axis=0)
        if not (model.feasible_XYA == feasible_YA).all():
            raise InputError("model: whether an action is feasible depends on x; use the model")
        self.model, self.feasible_YA, self.gamma = model, feasible_YA, model.gamma
        self.actions = list(range(model.n_actions))
        self.slow, self.fast = {"x": range(model.n_slow)}, {"y": range(model.n_fast)}
        self.exogenous = bool(model.true.exogenous_slow)
        self._true, self._frozen = NextStates(model), NextStates(model, model.frozen)
        self._reward_S = np.where(model.feasible_XYA, model.reward_XYA, 0.0).reshape(-1)

    @property
    def name(self) -> str:
        return self.model.name

    def feasible(self, y):
        return self.feasible_YA[y[:, 0].astype(int)]

    def initial(self, rng, n):
        s = rng.choice(self.model.n_states, n, p=self.model.initial_XY.reshape(-1))
        return (s // self.model.n_fast)[:, None], (s % self.model.n_fast)[:, None]

    def _pairs(self, x, y, a):
        """The pairs (x, y, a) as numbers; an infeasible action is replaced by a feasible one."""
        y = y[:, 0].astype(int)
        a = np.where(self.feasible_YA[y, a], a, self.feasible_YA[y].argmax(axis=1))
        return (x[:, 0].astype(int) * self.model.n_fast + y) * self.model.n_actions + a

    def move(self, x, u, y, a):
        return (self._true.draw(self._pairs(x, y, a), u[:, 0]) // self.model.n_fast)[:, None]

    def play(self, x, x_next, y, a, u):
        pairs = self._pairs(x, y, a)
        true, frozen = (law.draw(pairs, u[:, 0]) for law in (self._true, self._frozen))
        freezes = (x_next[:, 0] == x[:, 0]) & (true // self.model.n_fast != x[:, 0])
        y_next = np.where(freezes, frozen, true) % self.model.n_fast
        return y_next[:, None], self._reward_S[pairs]
