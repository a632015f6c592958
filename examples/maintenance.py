"""Writes the table `maintenance.csv`: when to service or replace a machine, a problem of pure cost.

    python examples/maintenance.py

Slow variable  climate: mild, damp, salty; it changes once in 50 weeks
Fast variable  wear, 0 (new) to 9 (broken)
Actions        run, service (wear −3), replace (wear 0); a broken machine can only be replaced
Cost           of lost output (grows with the wear), of a service 6, of a replacement 25
"""

from itertools import product
from pathlib import Path

import pandas as pd

TARGET = Path(__file__).parents[1] / "fsdash" / "models" / "examples" / "maintenance.csv"
BROKEN = 9
CLIMATES = {
    "mild": {"mild": 0.98, "damp": 0.02},
    "damp": {"mild": 0.01, "damp": 0.98, "salty": 0.01},
    "salty": {"damp": 0.02, "salty": 0.98},
}
WEAR = {
    "mild": {0: 0.7, 1: 0.3},
    "damp": {0: 0.4, 1: 0.5, 2: 0.1},
    "salty": {0: 0.2, 1: 0.5, 2: 0.3},
}
COSTS = {"run": 0, "service": 6, "replace": 25}


def rows():
    for climate, wear, action in product(CLIMATES, range(BROKEN + 1), COSTS):
        if wear == BROKEN and action != "replace":
            continue
        after = {"run": wear, "service": max(wear - 3, 0), "replace": 0}[action]
        cost = COSTS[action] + round(0.15 * wear**2, 2)
        outcomes = {}
        for (more, p), (next_climate, q) in product(
            WEAR[climate].items(), CLIMATES[climate].items()
        ):
            key = next_climate, min(after + more, BROKEN)
            outcomes[key] = outcomes.get(key, 0) + p * q
        for (next_climate, next_wear), p in outcomes.items():
            yield climate, wear, action, next_climate, next_wear, round(p, 6), cost


def table() -> pd.DataFrame:
    columns = ["climate", "wear", "action", "next_climate", "next_wear", "p", "cost"]
    return pd.DataFrame(rows(), columns=columns)


if __name__ == "__main__":
    table().to_csv(TARGET, index=False, lineterminator="\n")
