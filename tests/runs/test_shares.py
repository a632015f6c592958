"""The share of the optimum that a policy attains, for optima of any size."""

import pytest

from fsdash.choice.solved import solved_domain
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec

SMALL = {"y_max": 10, "d_max": 3, "order_max": 10, "K": 0.0, "c": 0.0, "h": 0.0, "gamma": 0.9}


def price_for(mean_return: float) -> float:
    """The price at which the optimal mean return is this; revenue is proportional to it."""
    parameters = SMALL | {"p": 1.0}
    unit = solved_domain(
        RunSpec("inventory", "vi", domain_parameters=parameters, iterations=1).build_domain()
    )
    return mean_return / unit.optimal_return


def shares(best: float) -> tuple[list[float], list[float]]:
    """The recorded shares of VI's policies, and those computed from the mean returns."""
    parameters = SMALL | {"p": price_for(best)}
    spec = RunSpec("inventory", "vi", domain_parameters=parameters, iterations=3)
    optimal_return = solved_domain(spec.build_domain()).optimal_return
    assert optimal_return == pytest.approx(best, rel=1e-9)
    rows = []
    execute(spec, 0, lambda record: rows.append(record.row))
    returns = [row["mean_return"] / optimal_return for row in rows]
    return [row["fraction_of_optimal"] for row in rows], returns


@pytest.mark.parametrize("best", [0.01, 0.3, 1.0, 1.7])
def test_the_share_does_not_depend_on_the_size_of_the_optimum(best):
    recorded, expected = shares(best)
    assert recorded == pytest.approx(expected, rel=1e-12)
    assert recorded == pytest.approx(shares(400.0)[0], abs=1e-3)
    assert recorded[0] < 0.9 and recorded[-1] == pytest.approx(1, abs=1e-3)
