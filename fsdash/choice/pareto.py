"""What a frontier says about a budget: the best point, and the winner by budget.

The points of a frontier (`fsdash.choice.frontier`) have their work in sweeps and their true regret.
Within a budget the point with the smallest regret wins, whatever work it takes.
The cheaper point wins only if two regrets are equal up to the numerical error of the evaluation,
which the frontier states as its precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import pandas as pd

from fsdash.choice.frontier import Frontier


@dataclass(frozen=True)
class Winner:
    """The budgets, in sweeps, for which one method has the smallest regret.

    T is that of FSVI. The horizon of rolling freeze grows with the budget, so it has none here.
    """

    method: str
    T: int | None
    start: float
    end: float


def pareto(frontier: Frontier, measure: str = "mean_regret") -> pd.DataFrame:
    """Return the rows that no cheaper row matches, by increasing work.

    Parameters
    ----------
    frontier : Frontier
        Its points.
    measure : str
        The column to minimise.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sweeps": [1.0, 2.0, 3.0], "mean_regret": [5.0, 6.0, 1.0]})
    >>> pareto(Frontier(table))["sweeps"].tolist()
    [1.0, 3.0]
    """
    ordered = frontier.points.sort_values(["sweeps", measure], kind="stable")[measure]
    best, kept = inf, []
    for index, value in ordered.items():
        if value < best - frontier.precision or best == inf:
            kept.append(index)
            best = value
    return frontier.points.loc[kept]


def best_on_budget(
    frontier: Frontier, sweeps: float, measure: str = "mean_regret"
) -> pd.Series | None:
    """Return the best row that costs at most `sweeps`; None if there is none."""
    return last_on_budget(pareto(frontier, measure), sweeps)


def last_on_budget(front: pd.DataFrame, sweeps: float) -> pd.Series | None:
    """Return the best row within a budget from a known `pareto` front: the last affordable one."""
    paid = int(front["sweeps"].searchsorted(sweeps, side="right"))
    return front.iloc[paid - 1] if paid else None


def competitor(row: pd.Series) -> tuple[str, int | None]:
    """Return the competitor that a row belongs to: its method, and T if that is FSVI."""
    return row["method"], int(row["T"]) if row["method"] == "fsvi" else None


def without(frontier: Frontier, method: str, T: int | None) -> Frontier:
    """Return the points of the others than this `competitor`."""
    same = frontier.points["method"] == method
    if T is not None:
        same &= frontier.points["T"] == T
    return frontier.where(~same.fillna(False))


def winners(frontier: Frontier, measure: str = "mean_regret") -> tuple[Winner, ...]:
    """Return the competitor with the smallest regret at each budget, from the cheapest on."""
    won: list[Winner] = []
    front = pareto(frontier, measure)
    ends = [*front["sweeps"].iloc[1:], inf]
    for (_, row), end in zip(front.iterrows(), ends, strict=True):
        method, T = competitor(row)
        start = float(row["sweeps"])
        if won and (won[-1].method, won[-1].T) == (method, T):
            start = won.pop().start
        won.append(Winner(method, T, start, float(end)))
    return tuple(won)
