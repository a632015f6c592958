"""Decisions from a frontier: the front, the best point on a budget, the runner-up, the winners."""

from math import inf

import pandas as pd
import pytest

from fsdash.choice.frontier import Frontier
from fsdash.choice.pareto import Winner, best_on_budget, pareto, winners


def table(*rows):
    frame = pd.DataFrame(rows, columns=["method", "T", "sweeps", "mean_regret"])
    return Frontier(frame.astype({"T": "Int64"}), precision=1e-8)


FRONTIER = table(
    ("fsvi", 2, 1.0, 50.0),
    ("fsvi", 2, 2.0, 20.0),
    ("fsvi", 6, 2.0, 30.0),
    ("rolling", 6, 3.0, 10.0),
    ("rolling", 7, 4.0, 5.0),
    ("vi", None, 5.0, 6.0),
    ("mpi", None, 8.0, 1e-9),
    ("vi", None, 9.0, 0.0),
)


def test_the_front_has_the_points_that_no_cheaper_point_matches():
    assert pareto(FRONTIER)["sweeps"].tolist() == [1, 2, 3, 4, 8]  # 1e-9 may be numerical error


def test_with_budget_left_the_smallest_regret_wins_however_small_the_difference():
    close = table(("mpi", None, 8.0, 1e-6), ("vi", None, 9.0, 0.0))
    assert best_on_budget(close, 8.5)["method"] == "mpi"
    assert best_on_budget(close, 9.0)["method"] == "vi"
    close.points.loc[0, "mean_regret"] = 1e-12
    assert best_on_budget(close, 9.0)["method"] == "mpi"
    assert best_on_budget(Frontier(close.points), 9.0)["method"] == "vi"


@pytest.mark.parametrize(
    "sweeps, expected",
    [(0.5, None), (1, ("fsvi", 2)), (2.5, ("fsvi", 2)), (4, ("rolling", 7)), (100, ("mpi", None))],
)
def test_the_best_on_a_budget(sweeps, expected):
    best = best_on_budget(FRONTIER, sweeps)
    if expected is None:
        assert best is None
    else:
        assert (best["method"], None if pd.isna(best["T"]) else best["T"]) == expected


def test_winners_cover_every_budget_from_the_cheapest_on():
    """The horizon of rolling freeze grows with the budget, so its points are one winner."""
    assert winners(FRONTIER) == (
        Winner("fsvi", 2, 1.0, 3.0),
        Winner("rolling", None, 3.0, 8.0),
        Winner("mpi", None, 8.0, inf),
    )
