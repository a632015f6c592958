"""Writes the table `savings.csv`: how much of an uncertain income to save.

    python examples/savings.py

Slow variable  income, five levels; a Markov chain that mostly stays where it is
Fast variable  assets, 0 to 14
Action         saving, the assets of the next year; consumption must be positive
Reward         the logarithm of consumption, income + 1.03 · assets − saving
"""

from itertools import product
from math import log
from pathlib import Path

import pandas as pd

TARGET = Path(__file__).parents[1] / "fsdash" / "models" / "examples" / "savings.csv"
INCOMES = (1.0, 1.5, 2.0, 2.5, 3.0)
ASSETS = range(15)
INTEREST = 1.03


def next_incomes(i: int) -> dict[float, float]:
    """Income rises or falls by one level with probability 0.05 each."""
    moves = {j: 0.05 for j in (i - 1, i + 1) if 0 <= j < len(INCOMES)}
    moves[i] = 1 - sum(moves.values())
    return {INCOMES[j]: moves[j] for j in sorted(moves)}


def rows():
    for (i, income), assets, saving in product(enumerate(INCOMES), ASSETS, ASSETS):
        consumption = income + INTEREST * assets - saving
        if consumption > 0:
            for next_income, p in next_incomes(i).items():
                yield income, assets, saving, next_income, saving, p, round(log(consumption), 6)


def table() -> pd.DataFrame:
    columns = ["income", "assets", "saving", "next_income", "next_assets", "p", "reward"]
    return pd.DataFrame(rows(), columns=columns)


if __name__ == "__main__":
    table().to_csv(TARGET, index=False, lineterminator="\n")
