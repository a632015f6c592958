"""What a policy does from day to day: many simulated paths, summarised.

Each path starts in a state of the initial distribution. After the periods of the warm-up, rewards
r(x, y, a), states and actions are recorded. A reward is the mean over the noise of its period, as
in `fsdash.core.simulate`, so quantiles are those of the expected rewards of the states visited.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.display import Lines, Summary
from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import phases_of
from fsdash.errors import InputError
from fsdash.models.policy import Policy
from fsdash.sampling import NextStates

QUANTILES = (0.05, 0.5, 0.95)
MAX_REWARDS = 50_000_000
"""Rewards that are recorded at most (400 MB)."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Summary):
    """Rewards of each path and period, and how often states and actions occurred.

    For a model of costs, `kpis` shows costs.
    """

    model: FastSlowMDP = field(repr=False)
    reward_NT: np.ndarray
    share_XY: np.ndarray
    share_A: np.ndarray

    @property
    def kpis(self) -> pd.DataFrame:
        """Mean per period with its standard error over the paths, and quantiles of a period."""
        sign, name = (-1, "cost") if self.model.sense == "min" else (1, "reward")
        amount_NT = sign * self.reward_NT
        mean_N = amount_NT.mean(axis=1)
        error = mean_N.std(ddof=1) / len(mean_N) ** 0.5 if len(mean_N) > 1 else np.nan
        rows: list[tuple[str, float]] = [
            (f"mean {name} per period", float(mean_N.mean())),
            ("standard error of the mean", float(error)),
        ]
        sizes = np.quantile(amount_NT, QUANTILES)
        rows += [
            (f"{q:.0%} quantile of the {name} of a period", float(v))
            for q, v in zip(QUANTILES, sizes, strict=True)
        ]
        return pd.DataFrame(rows, columns=["kpi", "value"])

    @property
    def actions(self) -> pd.DataFrame:
        """The share of periods in which each action was taken, by its name."""
        policy = Policy(self.model, self.model.feasible_XYA.argmax(axis=2))
        return pd.DataFrame({policy.action: policy.actions, "share": self.share_A})

    @property
    def states(self) -> pd.DataFrame:
        """The share of periods in each state that was visited, most frequent first."""
        real_XY = self.model.real_XY
        frame = Policy(self.model, self.model.feasible_XYA.argmax(axis=2)).to_frame()
        frame = frame.iloc[:, :-1].assign(share=self.share_XY[real_XY])
        return frame[frame["share"] > 0].sort_values("share", ascending=False, ignore_index=True)

    def _summary(self) -> tuple[str, Lines]:
        paths, periods = self.reward_NT.shape
        kpis = [(str(kpi), value) for kpi, value in self.kpis.itertuples(index=False)]
        return f"Simulation of {paths:,} paths of {periods:,} periods", kpis


def simulate_paths(
    model: FastSlowMDP,
    policy: Any,
    *,
    periods: int = 1_000,
    warm_up: int = 0,
    paths: int = 100,
    seed: int = 0,
) -> Simulation:
    """Simulate many paths of a policy.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    policy : np.ndarray or a result with `policy_PXY`
        Action indices, shape (X, Y) or (P, X, Y).
    periods, warm_up : int
        Periods that are recorded, and periods before them that are not.
    paths : int, default 100
        Independent paths.
    seed : int, default 0
        Seed of the random numbers. The same seed gives the same paths.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> found = simulate_paths(model, fsdash.optimum(model), periods=200, warm_up=50, paths=20)
    >>> found.kpis["kpi"].tolist()[0], found.reward_NT.shape
    ('mean reward per period', (20, 200))
    """
    least = {"periods": 1, "warm_up": 0, "paths": 1, "seed": 0}
    for name, size in zip(least, (periods, warm_up, paths, seed), strict=True):
        if not isinstance(size, int | np.integer) or size < least[name]:
            raise InputError(f"{name} = {size}: give a whole number, {least[name]} or more")
    if periods * paths > MAX_REWARDS:
        raise InputError(
            f"periods × paths = {periods * paths:,}: use fewer, at most {MAX_REWARDS:,}"
        )
    policy_PXY = phases_of(model, getattr(policy, "policy_PXY", policy))
    action_PS = policy_PXY.reshape(len(policy_PXY), -1).astype(np.int64)
    reward_P = model.reward_XYA.reshape(-1)
    rng, sampler = np.random.default_rng(seed), NextStates(model)
    state_N = rng.choice(model.n_states, paths, p=model.initial_XY.reshape(-1))
    reward_TN = np.empty((periods, paths))
    visits_P = np.zeros(reward_P.size, np.int64)
    for t in range(warm_up + periods):
        pair_N = state_N * model.n_actions + action_PS[t % len(action_PS), state_N]
        if t >= warm_up:
            reward_TN[t - warm_up] = reward_P[pair_N]
            np.add.at(visits_P, pair_N, 1)
        state_N = sampler.draw(pair_N, rng.random(paths))
    share_XYA = (visits_P / visits_P.sum()).reshape(model.reward_XYA.shape)
    return Simulation(model, reward_TN.T, share_XYA.sum(axis=2), share_XYA.sum(axis=(0, 1)))
