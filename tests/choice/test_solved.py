"""Whether freezing suits a model, with the evidence and the alternative."""

from dataclasses import replace

import numpy as np
import pytest

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.frontier import frontier
from fsdash.choice.solved import suits
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.domains import make
from tests.models import random_model

pytestmark = pytest.mark.slow  # together they take several seconds

LAKE = [
    "SFFFFFFF",
    "FFFFFFFF",
    "FFFHFFFF",
    "FFFFFHFF",
    "FFFHFFFF",
    "FHHFFFHF",
    "FHFFHFHF",
    "FFFHFFFG",
]
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))


def frozen_lake():
    """Gymnasium's FrozenLake 8×8 with γ = 0.99; the last fast state is the end of an episode."""
    over, entries, reward_XYA = 64, [], np.zeros((1, 65, 4))
    for s in range(65):
        for a in range(4):
            for move in ((a - 1) % 4, a, (a + 1) % 4):
                row, column = s // 8 + MOVES[move][0], s % 8 + MOVES[move][1]
                to = min(max(row, 0), 7) * 8 + min(max(column, 0), 7)
                if s == over or LAKE[s // 8][s % 8] in "HG":
                    to = over
                elif LAKE[to // 8][to % 8] == "G":
                    reward_XYA[0, s, a] += 1 / 3
                entries.append((s * 4 + a, to, 1 / 3))
    rows = Rows.from_entries((1, 65, 4), *map(np.array, zip(*entries, strict=True)))
    return FastSlowMDP(reward_XYA=reward_XYA, rows=rows, gamma=0.99)


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_freezing_suits_the_domains(name):
    found = suits(make(name).build())
    assert found.suits and not found.reasons and found.rolling < 0.02 < found.fsvi < 0.15
    assert "Freezing suits this model" in found.text and np.isnan(found.repeated)


def test_a_goal_without_a_slow_state_needs_another_terminal_value():
    model = frozen_lake()
    found = suits(model)
    assert not found.suits and found.moves == 0
    assert "one slow state" in found.reasons[0] and "97% of the states" in found.reasons[1]
    assert found.fsvi > 0.5 and found.repeated < 0.01
    assert "FSVI leaves 63%" in found.text and "5 passes leaves 0%." in found.text
    # The same by hand: solve, pass V on as the terminal value, and solve again.
    V_XY, best = np.zeros((1, 65)), optimum(model)
    for _ in range(5):
        last = run_until(fsvi(model, 4, terminal_XY=V_XY), tolerance=1e-6)
        V_XY = last.values_XY
    assert regret(model, last.policy_PXY, best=best).mean_regret < 1e-3


def test_a_slow_state_that_moves_often_is_named():
    """The reward is for being at the place of tomorrow's x, which moves in every period."""
    X, x = 6, np.arange(6)
    model = FastSlowMDP(
        reward_XYA=np.where(x[:, None, None] == x[None, :, None], 1.0, 0.0) * np.ones((1, 1, 6)),
        noise_W=[0.5, 0.5],
        next_slow=np.stack([(x + 1) % X, (x + 3) % X], axis=1)[:, None, None, :],
        next_fast=x[None, None, :, None],
        gamma=0.9,
    )
    found = suits(model)
    assert not found.suits and found.moves == 1
    assert "moves with probability 1.00" in found.text


def test_an_endogenous_slow_state_is_named_and_a_known_frontier_is_used():
    move = np.array([[[0, 1]], [[0, 1]]])[..., None]  # action 1 leads to x = 1
    model = FastSlowMDP(
        reward_XYA=[[[0.5, 0.0]], [[1.0, 2.0]]],
        noise_W=[1.0],
        next_slow=move,
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
    )
    found = suits(model, frontier(model, [4], methods=["rolling"], bounds=False))
    assert not found.suits and np.isnan(found.fsvi) and found.moves == 0.5
    assert "move its slow state" in found.text
    # The repeated terminal value finds the optimum: action 1 in x = 0 and in x = 1.
    assert found.repeated < 0.01 and found.text.endswith("leaves 0%.")
    without = replace(found, repeated=0.5)
    assert without.text.endswith("leaves 50%. Use modified policy iteration.")


def test_an_initial_policy_that_is_optimal_is_said_to_be():
    model = random_model(1, gamma=0.0)
    assert suits(model).text == "The policy that maximises the immediate reward is optimal here."


def test_a_slow_state_that_moves_with_y_alone_is_measured():
    model = random_model(0, (3, 4, 2, 3), ("XY.W", "...."))
    assert 0 < suits(model).moves < 1
