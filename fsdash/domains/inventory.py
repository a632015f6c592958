"""Inventory control with fixed order costs (the paper's first domain).

Slow state   d, the current demand, d_min, d_min + d_step, …, d_max.
Fast state   y, units in stock, 0..y_max.
Action       a, units ordered, 0, order_step, …, order_max.
Noise        ε ∈ {0, +1, −1} with probabilities (1 − 2·move, move, move).
Dynamics     d' = clip(d + d_step·ε, d_min, d_max)       exogenous: (X, 1, 1, W)
             y' = min(y + a − min(y, d'), y_max)         depends on d': (X, Y, A, W)
Frozen       d' = d, hence y' = min(y + a − min(y, d), y_max): deterministic, (X, Y, A, 1)
Reward       p·E[min(y, d')] − c·a − K·1{a > 0} − h·E[y'], the expectation under the true noise
Sizes        51·11 = 561 states and 11 actions by default

The paper gives no values for p, c, K and h. Its text clips demand to [0, 50], but its count of 561
states implies 11 demands: 0, 1, …, 10 (the default) or 0, 5, …, 50 (preset `coarse-demand`, where
demand moves by 5 units at a time). The defaults and the other presets are this project's choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter
from fsdash.fields import require

DEMAND = Coordinate("demand d", "d", "units per period")
STOCK = Coordinate("stock y", "y", "units")


@dataclass(frozen=True)
class Inventory(Domain):
    title: ClassVar[str] = "Inventory control with fixed order costs"
    noisy_fast: ClassVar[bool] = True
    figures: ClassVar[str | None] = "fsdash.figures.domains.inventory"
    presets: ClassVar[dict[str, dict[str, float]]] = {
        "default": {},
        "wide-demand": {"d_max": 50},
        "coarse-demand": {"d_max": 50, "d_step": 5},
        "thin-margin": {"c": 6.0, "K": 100.0, "h": 0.3},
        "large": {"y_max": 500, "d_max": 100, "order_step": 50, "order_max": 500},
    }

    y_max: int = parameter(
        50,
        label="Largest stock",
        help="The most units that the store holds.",
        low=1,
        remedy="the store must hold at least one unit",
    )
    d_min: int = parameter(0, label="Smallest demand", help="The smallest demand in a period.")
    d_max: int = parameter(
        10,
        label="Largest demand",
        help="The largest demand in a period. The paper's text says 50; its number of states "
        "implies 11 demands.",
    )
    d_step: int = parameter(
        1,
        label="Demand step",
        help="The difference between neighbouring demands. Demand moves by one step at a time. "
        "With 5 and a largest demand of 50, the demands are 0, 5, …, 50.",
        low=1,
        remedy="use steps of at least 1 unit",
    )
    order_step: int = parameter(
        5,
        label="Order step",
        help="Orders are multiples of this number of units.",
        low=1,
        remedy="use steps of at least 1 unit",
    )
    order_max: int = parameter(50, label="Largest order", help="Most units in one order.", low=0)
    move: float = parameter(
        0.1,
        label="Demand moves",
        help="Probability that demand rises by one step in a period; it falls with the same "
        "probability.",
        low=0,
        high=0.5,
        remedy="use a probability of at most 1/2 in each direction",
    )
    p: float = parameter(10.0, label="Price p", help="Revenue for each unit sold.", low=0)
    c: float = parameter(1.0, label="Unit cost c", help="Cost of each unit ordered.", low=0)
    K: float = parameter(120.0, label="Fixed cost K", help="Cost of placing an order.", low=0)
    h: float = parameter(
        1.0, label="Holding cost h", help="Cost of holding one unit for one period.", low=0
    )
    gamma: float = discount()

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.d_min <= self.d_max, "d_min", self.d_min, "use 0 ≤ d_min ≤ d_max")
        width = self.d_max - self.d_min
        require(
            width % self.d_step == 0,
            "d_step",
            self.d_step,
            f"use a divisor of d_max − d_min = {width}, so that d_max is one of the demands",
        )
        self.check_size()

    @property
    def shape(self) -> tuple[int, int, int, int]:
        orders = self.order_max // self.order_step + 1
        demands = (self.d_max - self.d_min) // self.d_step + 1
        return demands, self.y_max + 1, orders, 3

    def build(self) -> FastSlowMDP:
        y = np.arange(self.y_max + 1)
        demand = np.arange(self.d_min, self.d_max + 1, self.d_step)
        order = np.arange(0, self.order_max + 1, self.order_step)
        noise = self.d_step * np.array([0, 1, -1])
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
            next_slow=(next_demand - self.d_min) // self.d_step,
            next_fast=next_stock,
            frozen_next_fast=np.minimum(y_ + a - np.minimum(y_, d), self.y_max),
            gamma=self.gamma,
            slow=Axis(("demand",), demand, {"demand": DEMAND}),
            fast=Axis(("stock",), y, {"stock": STOCK}),
            actions=Axis(("order",), order, {"order": Coordinate(unit="units")}),
        )
