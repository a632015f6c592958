"""A small model with names for the tests: a shop whose season changes slowly."""

import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.models.transitions import from_transitions

SEASONS = ("calm", "busy")
SHELF = 3


def shop_frame(cost: bool = False) -> pd.DataFrame:
    """The transitions of the shop.

    Orders beyond the shelf are infeasible. A calm season sells at most one unit, a busy one two.
    """
    rows = []
    for season, sold in zip(SEASONS, (1, 2), strict=True):
        for stock in range(SHELF + 1):
            for order in range(SHELF - stock + 1):
                sales = min(stock, sold)
                reward = 3 * sales - order - 0.5 * (order > 0)
                for next_season in SEASONS:
                    p = 0.9 if next_season == season else 0.1
                    after = (next_season, stock - sales + order)
                    rows.append((season, stock, f"order {order}", *after, p, reward))
    names = ["season", "stock", "action", "next_season", "next_stock", "p", "reward"]
    frame = pd.DataFrame(rows, columns=names)
    if cost:
        frame["cost"] = 10 - frame.pop("reward")
    return frame


def shop_model(gamma: float = 0.9, cost: bool = False, slow: str = "season") -> FastSlowMDP:
    """The model of the shop; with `cost`, of its costs, which are to be minimised."""
    options = {"reward": "cost", "sense": "min"} if cost else {}
    return from_transitions(shop_frame(cost), slow=slow, gamma=gamma, name="shop", **options)
