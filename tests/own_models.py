"""Random finite models in the forms in which users have them, for the tests of `fsdash.models`."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from quantecon.markov import DiscreteDP

from fsdash.models.markov_chain import from_markov_chain


@dataclass(frozen=True)
class Arrays:
    """A model as dense arrays, with two state variables: the season (word) and the level."""

    P: np.ndarray
    R: np.ndarray
    states: pd.DataFrame
    gamma: float

    @property
    def feasible(self):
        return np.isfinite(self.R)

    def quantecon(self):
        return DiscreteDP(self.R, self.P, self.gamma)

    def optimal_values(self):
        """U* of each state, by QuantEcon."""
        return self.quantecon().solve(method="policy_iteration").v

    def table(self, rewards=None):
        """The same as a table of transitions; `rewards` of shape (S, A, S) replace R."""
        s, a, n = np.nonzero(self.P * self.feasible[:, :, None])
        return pd.DataFrame(
            {
                "season": self.states["season"].to_numpy()[s],
                "level": self.states["level"].to_numpy()[s],
                "action": np.char.add("do ", a.astype(str)),
                "next_season": self.states["season"].to_numpy()[n],
                "next_level": self.states["level"].to_numpy()[n],
                "p": self.P[s, a, n],
                "reward": self.R[s, a] if rewards is None else rewards[s, a, n],
            }
        )


def shared_chain(slow, fast, actions, seed=0):
    """An exogenous chain and a fast state that actions move: pairs with the same x and y′ share a
    row of `slow` next states, so there are slow·fast different rows."""
    rng = np.random.default_rng(seed)
    steps = np.arange(actions) - actions // 2
    return from_markov_chain(
        rng.dirichlet(np.ones(slow), slow),
        np.clip(np.arange(fast)[:, None] + steps, 0, fast - 1),
        rng.normal(size=(slow, fast, actions)),
        gamma=0.9,
    )


SEASONS = ("dry", "mild", "wet")


def random_arrays(seed, seasons=3, levels=4, actions=3, gamma=0.9, product=True):
    """Sparse random transitions, some infeasible actions, and states in a random order.

    If `product` is false, some combinations of season and level are not states.
    """
    rng = np.random.default_rng(seed)
    season, level = np.indices((seasons, levels)).reshape(2, -1)
    keep = np.ones(len(season), bool)
    if not product:
        keep = rng.random(len(season)) < 0.7
        keep[level == 0] = True
    order = rng.permutation(np.flatnonzero(keep))
    S = len(order)
    P = rng.dirichlet(np.full(S, 0.3), size=(S, actions))
    P = np.where(P > 0.02, P, 0)
    P[:, :, 0] += 1e-3
    P /= P.sum(axis=2, keepdims=True)
    R = rng.normal(size=(S, actions)).round(3)
    forbidden = rng.random((S, actions)) < 0.3
    forbidden[:, 0] = False
    R[forbidden] = -np.inf
    states = pd.DataFrame({"season": np.array(SEASONS)[season[order]], "level": level[order] * 10})
    return Arrays(P, R, states, gamma)


def values_by_state(model, U_XY, states):
    """U at each row of a frame of states, found by the values of the model's variables."""
    found = {}
    names = (*model.slow.names, *model.fast.names)
    for x, y in np.argwhere(model.real_XY):
        own = []
        for axis, i in ((model.slow, x), (model.fast, y)):
            for name, value in zip(axis.names, axis.values[i].tolist(), strict=True):
                words = axis.coordinates[name].words if name in axis.coordinates else {}
                own.append(words.get(value, value))
        found[tuple(own)] = U_XY[x, y]
    columns = [name for name in names if name in states]
    places = [names.index(name) for name in columns]
    by_columns = {tuple(key[i] for i in places): value for key, value in found.items()}
    return np.array([by_columns[row] for row in states[columns].itertuples(index=False, name=None)])


class Walk:
    """An environment with a transition table like Gymnasium's: a walk on a line with two goals.

    The state is 6·goal + cell; the walk ends in the cell of its goal, 0 or 5. The goal changes with
    probability 0.02. Steps slip with probability 0.2.
    """

    cells = 6

    def __init__(self):
        self.P = {
            self.encode(goal, cell): {a: self._outcomes(goal, cell, a) for a in (0, 1)}
            for goal in (0, 1)
            for cell in range(self.cells)
        }
        self.initial_state_distrib = np.zeros(2 * self.cells)
        self.initial_state_distrib[[2, 8]] = 0.5

    @property
    def unwrapped(self):
        return self

    def encode(self, goal, cell):
        return self.cells * goal + cell

    def decode(self, state):
        return divmod(state, self.cells)

    def _outcomes(self, goal, cell, action):
        found = []
        for step, p in ((2 * action - 1, 0.8), (1 - 2 * action, 0.2)):
            to = min(max(cell + step, 0), self.cells - 1)
            for new, q in ((goal, 0.98), (1 - goal, 0.02)):
                done = to == (self.cells - 1) * goal
                found.append((p * q, self.encode(new, to), 1.0 if done else -0.01, done))
        return found
