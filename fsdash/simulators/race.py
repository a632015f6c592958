"""Choosing between policies by simulation on common random numbers.

All candidates start in the same states with the same noise, so their differences are much less
noisy than their returns. *Successive halving*: every round simulates new paths for the candidates
that are left and drops the worse half by the mean of all their paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsdash.simulators.simulator import Driver, stratified

HORIZON = 1.5
"""Periods of a path in a race, in units of 1/(1 − γ)."""
MIN_PATHS = 8
"""New paths of each candidate in a round."""
FIRST_PARAMETERS, NEAR_PARAMETERS = 32, 12
"""Parameters of a rule in the first round of tuning, and near the best ones in the next rounds."""

Act = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(eq=False)
class Entrant:
    """A policy in a race: `n` is the horizon of rolling freeze, `cost` the calls per period."""

    name: str
    act: Act
    policy: Any = None
    n: int | None = None
    cost: int = 1
    returns: np.ndarray = field(default_factory=lambda: np.empty(0))


def discounted_returns(
    driver: Driver,
    acts: Sequence[Act],
    rng: np.random.Generator,
    paths: int,
    periods: int | None = None,
) -> np.ndarray:
    """Discounted rewards of policies on common paths, shape (policies, paths).

    Without `periods` there is no truncation error: rewards are discounted for H₀ = 2/(1 − γ)
    periods, and then a path ends with probability 1 − γ in each period instead.
    """
    gamma, C = driver.spec.gamma, len(acts)
    H0 = math.ceil(2 / (1 - gamma)) if periods is None else periods
    H = H0 + (rng.geometric(1 - gamma, paths) if periods is None else np.zeros(paths, int))
    x, y = (np.tile(rows, (C, 1)) for rows in driver.initial(rng, paths))
    total = np.zeros((C, paths))
    for t in range(int(H.max())):
        a = [
            act(*states) for act, *states in zip(acts, np.split(x, C), np.split(y, C), strict=True)
        ]
        u = np.tile(driver.noise(rng, paths), (C, 1))
        x, y, r = driver.step(x, y, np.concatenate(a), u)
        total += np.where(t < H, gamma ** min(t, H0), 0.0) * r.reshape(C, paths)
    return total


def race(
    driver: Driver, candidates: Sequence[Entrant], calls: float, seed: Sequence[int]
) -> list[Entrant]:
    """Successive halving with about this many calls; the winner is first, the losers follow."""
    periods = math.ceil(HORIZON / (1 - driver.spec.gamma))
    left, ranking = list(candidates), list[Entrant]()
    rounds = math.ceil(math.log2(len(left)))
    for number in range(rounds):
        cost = sum(candidate.cost for candidate in left)
        paths = max(MIN_PATHS, int(calls / (rounds * cost * periods)))
        rng = np.random.default_rng([*seed, number])
        new = discounted_returns(driver, [c.act for c in left], rng, paths, periods)
        for candidate, returns in zip(left, new, strict=True):
            candidate.returns = np.concatenate([candidate.returns, returns])
        left.sort(key=lambda c: -c.returns.mean())
        kept = max(1, (len(left) + 1) // 2)
        ranking[:0] = left[kept:]
        left = left[:kept]
    return left + ranking


def rule_candidate(driver: Driver, theta: np.ndarray) -> Entrant:
    return Entrant("rule", lambda x, y: driver.rule(theta, x, y), theta)


def tuned_rule(driver: Driver, calls: float, seed: Sequence[int]) -> Entrant:
    """The user's rule with the best parameters of three races: in the ranges, then nearer twice."""
    bounds = np.array(list(driver.spec.theta.values()), float).reshape(-1, 2)
    low, width = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
    rng = np.random.default_rng([*seed, 99])
    thetas = low + width * stratified(rng, FIRST_PARAMETERS, len(low))
    thetas[0] = low + width / 2
    for number, scale in enumerate((0.15, 0.05, 0.0)):
        ranking = race(
            driver, [rule_candidate(driver, t) for t in thetas], calls / 3, [*seed, number]
        )
        best = ranking[0].policy
        near = best + scale * width * rng.standard_normal((NEAR_PARAMETERS, len(low)))
        thetas = np.clip(np.concatenate([best[None], near]), low, low + width)
    return rule_candidate(driver, best)


def myopic(driver: Driver, rng: np.random.Generator, draws: int = 16) -> Entrant:
    """The policy with the largest mean reward of one period; `play` is called to decide."""
    u, A = stratified(rng, draws, driver.spec.noise), driver.spec.A

    def act(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        n, M = len(x), len(u)
        row, a, m = np.unravel_index(np.arange(n * A * M), (n, A, M))
        _, r = driver.play(x[row], x[row], y[row], a, u[m])
        mean_NA = r.reshape(n, A, M).mean(axis=2)
        return np.where(driver.feasible(y), mean_NA, -np.inf).argmax(axis=1)

    return Entrant("myopic", act, cost=1 + A * draws)
