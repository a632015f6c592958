"""What a frontier says about a budget: the best point, the runner-up, and the winner by budget.

A frontier is the table of `fsdash.choice.frontier`: one row per policy with its work in sweeps and
its true regret. Within a budget the point with the smallest regret wins, whatever work it takes.
The cheaper point wins only if two regrets are equal up to the numerical error of the evaluation,
which the frontier states as its precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import pandas as pd


@dataclass(frozen=True)
class Winner:
    """The budgets, in sweeps, for which one method has the smallest regret.

    T is that of FSVI. The horizon of rolling freeze grows with the budget, so it has none here.
    """

    method: str
    T: int | None
    start: float
    end: float


def pareto(frontier: pd.DataFrame, measure: str = "mean_regret") -> pd.DataFrame:
    """Return the rows that no cheaper row matches, by increasing work.

    Parameters
    ----------
    frontier : pandas.DataFrame
        The table of `frontier`.
    measure : str
        The column to minimise.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sweeps": [1.0, 2.0, 3.0], "mean_regret": [5.0, 6.0, 1.0]})
    >>> pareto(table)["sweeps"].tolist()
    [1.0, 3.0]
    """
    ordered = frontier.sort_values(["sweeps", measure], kind="stable")[measure]
    equal, best, kept = precision(frontier), inf, []
    for index, value in ordered.items():
        if value < best - equal or best == inf:
            kept.append(index)
            best = value
    return frontier.loc[kept]


def best_on_budget(
    frontier: pd.DataFrame, sweeps: float, measure: str = "mean_regret"
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


def without(frontier: pd.DataFrame, method: str, T: int | None) -> pd.DataFrame:
    """Return the rows of the others than this `competitor`."""
    same = frontier["method"] == method
    if T is not None:
        same &= frontier["T"] == T
    return frontier[~same.fillna(False)]


def winners(frontier: pd.DataFrame, measure: str = "mean_regret") -> tuple[Winner, ...]:
    """Return the competitor with the smallest regret at each budget, from the cheapest on."""
    found: list[Winner] = []
    front = pareto(frontier, measure)
    ends = [*front["sweeps"].iloc[1:], inf]
    for (_, row), end in zip(front.iterrows(), ends, strict=True):
        method, T = competitor(row)
        start = float(row["sweeps"])
        if found and (found[-1].method, found[-1].T) == (method, T):
            start = found.pop().start
        found.append(Winner(method, T, start, float(end)))
    return tuple(found)


def with_work(frontier: pd.DataFrame) -> pd.DataFrame:
    """Return the points that cost something, with no more `attrs` than `precision` needs.

    Without work there is only the policy with the best immediate reward. pandas copies `attrs`
    deeply with every selection, which takes longer than the selection itself.
    """
    rows = frontier[frontier["sweeps"] > 0]
    rows.attrs = {"precision": precision(frontier)}
    return rows


def precision(frontier: pd.DataFrame) -> float:
    """Return the difference of two regrets that may be numerical error; 0 if none is stated."""
    return float(frontier.attrs.get("precision", 0.0))
