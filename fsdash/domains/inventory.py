"""Inventory control with fixed order costs (the paper's first domain).

Slow state   d, the current demand, d_min..d_max.
Fast state   y, units in stock, 0..y_max.
Action       a, units ordered, 0, order_step, …, order_max.
Noise        ε ∈ {0, +1, −1} with probabilities (1 − 2·move, move, move).
Dynamics     d' = clip(d + ε, d_min, d_max)              exogenous: (X, 1, 1, W)
             y' = min(y + a − min(y, d'), y_max)         depends on d': (X, Y, A, W)
Frozen       d' = d, hence y' = min(y + a − min(y, d), y_max): deterministic, (X, Y, A, 1)
Reward       p·E[min(y, d')] − c·a − K·1{a > 0} − h·E[y'], the expectation under the true noise
Sizes        51·11 = 561 states and 11 actions by default

The paper names p, c, K, h without values and clips demand to [0, 50] in the text, yet counts 561
states; the defaults and the other presets are this project's choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.domains.base import Domain, require


@dataclass(frozen=True)
class Inventory(Domain):
    title: ClassVar[str] = "Inventory control with fixed order costs"
    noisy_fast: ClassVar[bool] = True
    presets: ClassVar[dict[str, dict]] = {
        "default": {},
        "wide-demand": {"d_max": 50},
        "thin-margin": {"c": 6.0, "K": 100.0, "h": 0.3},
        "large": {"y_max": 500, "d_max": 100, "order_step": 50, "order_max": 500},
    }

    y_max: int = 50
    d_min: int = 0
    d_max: int = 10
    order_step: int = 5
    order_max: int = 50
    move: float = 0.1
    p: float = 10.0
    c: float = 1.0
    K: float = 120.0
    h: float = 1.0
    gamma: float = 0.995

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.y_max >= 1, "y_max", self.y_max, "hold at least one unit")
        require(0 <= self.d_min <= self.d_max, "d_min", self.d_min, "use 0 ≤ d_min ≤ d_max")
        require(self.order_step >= 1, "order_step", self.order_step, "order in steps of at least 1")
        require(self.order_max >= 0, "order_max", self.order_max, "use 0 or more")
        for name in ("p", "c", "K", "h"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "use 0 or more")
        require(0 <= self.move <= 0.5, "move", self.move, "a probability of at most 1/2 each way")
        self.check_size()

    @property
    def shape(self) -> tuple[int, int, int, int]:
        orders = self.order_max // self.order_step + 1
        return self.d_max - self.d_min + 1, self.y_max + 1, orders, 3

    def build(self) -> FastSlowMDP:
        y = np.arange(self.y_max + 1)
        demand = np.arange(self.d_min, self.d_max + 1)
        order = np.arange(0, self.order_max + 1, self.order_step)
        noise = np.array([0, 1, -1])
        noise_W = np.array([1 - 2 * self.move, self.move, self.move])

        d, y_, a, w = np.ix_(demand, y, order, noise)
        next_demand = np.clip(d + w, self.d_min, self.d_max)
        sales = np.minimum(y_, next_demand)
        next_stock = np.minimum(y_ + a - sales, self.y_max)
        cost = self.c * order + self.K * (order > 0)
        reward_XYA = (self.p * sales - self.h * next_stock) @ noise_W - cost
        return FastSlowMDP(
            name=self.name,
            reward_XYA=reward_XYA,
            noise_W=noise_W,
            next_slow=next_demand - self.d_min,
            next_fast=next_stock,
            frozen_next_fast=np.minimum(y_ + a - np.minimum(y_, d), self.y_max),
            gamma=self.gamma,
            slow=Axis(("demand",), demand),
            fast=Axis(("stock",), y),
            actions=Axis(("order",), order),
        )
