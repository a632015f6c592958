"""Writes the table `company_inventory.csv`: a company's stock under calm and busy demand.

    python examples/company_inventory.py

Slow variable  regime, how busy the market is: calm, normal, busy; it changes once in 25 weeks
Fast variable  stock, 0 to 12 units
Actions        wait, order 4, order 8, as far as the shelf has room
Cost           3 per order, 2 per unit ordered, 0.2 per unit left, 9 per unit of demand not met
"""

from itertools import product
from pathlib import Path

import pandas as pd

TARGET = Path(__file__).parents[1] / "fsdash" / "models" / "examples" / "company_inventory.csv"
SHELF = 12
ORDERS = {"wait": 0, "order 4": 4, "order 8": 8}
REGIMES = {
    "calm": {"calm": 0.96, "normal": 0.04},
    "normal": {"calm": 0.02, "normal": 0.96, "busy": 0.02},
    "busy": {"normal": 0.04, "busy": 0.96},
}
DEMAND = {
    "calm": {0: 0.4, 1: 0.4, 2: 0.2},
    "normal": {1: 0.2, 2: 0.4, 3: 0.3, 4: 0.1},
    "busy": {3: 0.2, 4: 0.3, 5: 0.3, 6: 0.2},
}


def rows():
    for regime, stock, (action, units) in product(REGIMES, range(SHELF + 1), ORDERS.items()):
        if stock + units > SHELF:
            continue
        outcomes = {}
        for (demand, p), (next_regime, q) in product(
            DEMAND[regime].items(), REGIMES[regime].items()
        ):
            left = max(stock + units - demand, 0)
            missed = max(demand - stock - units, 0)
            cost = 3 * (units > 0) + 2 * units + 0.2 * left + 9 * missed
            probability, total = outcomes.get((next_regime, left), (0.0, 0.0))
            outcomes[next_regime, left] = probability + p * q, total + p * q * cost
        for (next_regime, left), (p, total) in outcomes.items():
            yield regime, stock, action, next_regime, left, round(p, 6), round(total / p, 6)


def table() -> pd.DataFrame:
    columns = ["regime", "stock", "action", "next_regime", "next_stock", "p", "cost"]
    return pd.DataFrame(rows(), columns=columns)


if __name__ == "__main__":
    table().to_csv(TARGET, index=False, lineterminator="\n")
