"""Dynamic pricing with reference effects and stochastic consumers (the paper's third domain).

Slow state   (α, η⁺, η⁻): memory of the market, effect of a gain, effect of a loss.
Fast state   the reference price, 0..price_max on a grid of `n_reference` points.
Action       the price, 0..price_max on a grid of `n_prices` points.
Noise        each slow component moves one step down or up with probability `move`, independently:
             27 outcomes.
Dynamics     slow components clipped to their ranges, exogenous: (X, 1, 1, W)
             reference' = α·reference + (1 − α)·price, rounded half up to the grid in integer
             arithmetic; depends on x through the current α only, no noise: (X, Y, A, 1)
Frozen       the same fast dynamics.
Reward       price · demand, demand = b − a·price + η⁺·max(reference − price, 0)
                                                   + η⁻·min(reference − price, 0)
Sizes        6·5·5 = 150 slow, 101 fast states (15,150) and 21 actions by default

The paper's text lists four values of α and clips at 0.9; its 15,150 states imply the six values
0.4, …, 0.9 used here. It gives no values for a and b. Demand can be negative unless `clip_demand`
is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter
from fsdash.fields import require

CONSUMERS = {
    "alpha": Coordinate("memory α", "α"),
    "eta+": Coordinate("effect of a gain η⁺", "η⁺"),
    "eta-": Coordinate("effect of a loss η⁻", "η⁻"),
}


@dataclass(frozen=True)
class Pricing(Domain):
    title: ClassVar[str] = "Dynamic pricing with reference effects"
    figures: ClassVar[str | None] = "fsdash.figures.domains.pricing"
    presets: ClassVar[dict[str, dict[str, float]]] = {
        "default": {},
        "clipped-demand": {"clip_demand": True},
        "large": {"n_reference": 501},
    }

    n_reference: int = parameter(
        101, label="Reference prices", help="Number of reference prices on the grid."
    )
    n_prices: int = parameter(
        21,
        label="Prices",
        help="Number of prices to choose from.",
        low=2,
        remedy="use at least two prices",
    )
    price_max: float = parameter(10.0, label="Highest price", help="The highest price.", low=0)
    a: float = parameter(
        5.0, label="Slope a", help="How much demand falls when the price rises by 1."
    )
    b: float = parameter(
        100.0, label="Intercept b", help="Demand at price 0 without the reference effect."
    )
    alpha_min: float = parameter(
        0.4, label="Smallest α", help="Smallest memory α of the market, a multiple of 0.1."
    )
    alpha_max: float = parameter(
        0.9, label="Largest α", help="Largest memory α of the market, a multiple of 0.1."
    )
    eta_plus_min: int = parameter(
        3,
        label="Smallest η⁺",
        help="Smallest gain in demand when the price is 1 below the reference price.",
    )
    eta_plus_max: int = parameter(
        7,
        label="Largest η⁺",
        help="Largest gain in demand when the price is 1 below the reference price.",
    )
    eta_minus_min: int = parameter(
        8,
        label="Smallest η⁻",
        help="Smallest loss of demand when the price is 1 above the reference price.",
    )
    eta_minus_max: int = parameter(
        12,
        label="Largest η⁻",
        help="Largest loss of demand when the price is 1 above the reference price.",
    )
    move: float = parameter(
        0.05,
        label="Consumers move",
        help="Probability that each of α, η⁺ and η⁻ rises by one step in a period; each falls "
        "with the same probability.",
        low=0,
        high=0.5,
        remedy="use a probability of at most 1/2 in each direction",
    )
    clip_demand: bool = parameter(
        False,
        label="Clip demand at 0",
        help="Whether demand is 0 where the formula makes it negative.",
    )
    gamma: float = discount()

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.n_reference > 1 and (self.n_reference - 1) % (self.n_prices - 1) == 0,
            "n_reference",
            self.n_reference,
            f"use a multiple of {self.n_prices - 1} plus 1, so that every price is on the grid",
        )
        require(self.price_max > 0, "price_max", self.price_max, "use a positive price")
        require(
            0 <= self.alpha_min <= self.alpha_max <= 1,
            "alpha_min",
            self.alpha_min,
            "use 0 ≤ alpha_min ≤ alpha_max ≤ 1",
        )
        for name in ("alpha_min", "alpha_max"):
            alpha = getattr(self, name)
            require(abs(10 * alpha - round(10 * alpha)) < 1e-9, name, alpha, "use whole tenths")
        for name in ("eta_plus", "eta_minus"):
            low, high = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            require(0 <= low <= high, f"{name}_min", low, f"use 0 ≤ {name}_min ≤ {name}_max")
        require(0 <= self.move <= 0.5, "move", self.move, "a probability of at most 1/2 each way")
        self.check_size()

    @property
    def slow_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest values of α (in tenths), η⁺ and η⁻, as whole numbers."""
        tenths = round(10 * self.alpha_min), round(10 * self.alpha_max)
        lows = np.array([tenths[0], self.eta_plus_min, self.eta_minus_min])
        return lows, np.array([tenths[1], self.eta_plus_max, self.eta_minus_max])

    @property
    def shape(self) -> tuple[int, int, int, int]:
        lows, highs = self.slow_ranges
        return int(np.prod(highs - lows + 1)), self.n_reference, self.n_prices, 27

    def build(self) -> FastSlowMDP:
        lows, highs = self.slow_ranges
        sizes = tuple(highs - lows + 1)
        index_X = np.indices(sizes).reshape(3, -1).T
        steps_W = np.array(list(product((0, -1, 1), repeat=3)))
        noise_W = np.prod(np.where(steps_W == 0, 1 - 2 * self.move, self.move), axis=1)
        moved = np.clip(index_X[:, None] + steps_W, 0, np.array(sizes) - 1)
        next_slow = np.ravel_multi_index(np.moveaxis(moved, -1, 0), sizes)

        tenths, eta_plus, eta_minus = (lows + index_X).T.reshape(3, -1, 1, 1)
        reference = np.arange(self.n_reference)[None, :, None]  # in steps of the reference grid
        price = np.linspace(0, self.n_reference - 1, self.n_prices).round().astype(int)
        next_fast = (tenths * reference + (10 - tenths) * price + 5) // 10

        step = self.price_max / (self.n_reference - 1)
        gap = (reference - price) * step
        demand = self.b - self.a * price * step
        demand = demand + eta_plus * np.maximum(gap, 0) + eta_minus * np.minimum(gap, 0)
        if self.clip_demand:
            demand = np.maximum(demand, 0)
        return FastSlowMDP(
            name=self.name,
            reward_XYA=price * step * demand,
            noise_W=noise_W,
            next_slow=next_slow[:, None, None, :],
            next_fast=next_fast[..., None],
            gamma=self.gamma,
            slow=Axis(
                tuple(CONSUMERS), (lows + index_X) / np.array([10, 1, 1]), coordinates=CONSUMERS
            ),
            fast=Axis(("reference price",), np.arange(self.n_reference) * step),
            actions=Axis(("price",), price * step),
        )
