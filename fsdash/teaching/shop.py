"""The shop of the story, the running example of the lecture.

It is the inventory domain with three seasons (demands), thirteen stock levels and five order sizes:
39 states, few enough to draw them all.
"""

from __future__ import annotations

from functools import cache

from fsdash.algorithms.optimum import Optimum
from fsdash.choice.solved import SolvedModel
from fsdash.core.model import FastSlowMDP
from fsdash.domains.inventory import Inventory

SHOP = Inventory(
    y_max=12,
    d_min=1,
    d_max=5,
    d_step=2,
    order_step=3,
    order_max=12,
    move=0.05,
    p=10.0,
    c=1.0,
    K=30.0,
    h=2.0,
    gamma=0.98,
)


@cache
def shop(gamma: float = SHOP.gamma, move: float = SHOP.move) -> FastSlowMDP:
    """The model of the shop, with another discount or another probability of a move."""
    fields = {name: getattr(SHOP, name) for name in SHOP.parameters()}
    return Inventory(**fields | {"gamma": gamma, "move": move}).build()


def best(gamma: float = SHOP.gamma, move: float = SHOP.move) -> Optimum:
    """U* of the shop and an optimal policy."""
    return solved_shop(gamma, move).best


@cache
def solved_shop(gamma: float = SHOP.gamma, move: float = SHOP.move) -> SolvedModel:
    """The shop with its optimum and the verdict on freezing."""
    return SolvedModel(shop(gamma, move))
