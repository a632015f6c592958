"""A maze whose prize is far away: the model in which freezing fails, for the last section.

Slow state   w ∈ {0, 1}, the end of the corridor with the prize.
Fast state   the cell; the corridor winds through a grid of COLUMNS × ROWS cells.
Action       up, right, down or left; a wall or the edge stops the walker.
Noise        the prize moves to the other end with probability SWITCH.
Reward       1 for reaching the prize, which sends the walker back to the middle of the corridor.
"""

from functools import cache

import numpy as np

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP

COLUMNS, ROWS = 9, 7
CELLS = COLUMNS * ROWS
SWITCH, GAMMA = 0.01, 0.98
MOVES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
NAMES = ("up", "right", "down", "left")


def corridor() -> np.ndarray:
    """The cells (column, row) from one end of the corridor to the other, shape (CELLS, 2)."""
    rows = np.repeat(np.arange(ROWS), COLUMNS)
    there = np.tile(np.arange(COLUMNS), ROWS)
    return np.column_stack([np.where(rows % 2 == 0, there, COLUMNS - 1 - there), rows])


@cache
def maze() -> FastSlowMDP:
    """The model; a fast state is a place in the corridor, 0 to CELLS − 1."""
    cells, place_Y1 = corridor(), np.arange(CELLS)[:, None]
    ahead_YA = (np.diff(cells, axis=0)[:, None] == MOVES).all(axis=2)
    back_YA = (-np.diff(cells, axis=0)[:, None] == MOVES).all(axis=2)
    wall = np.zeros((1, len(MOVES)), bool)
    next_YA = place_Y1 + np.vstack([ahead_YA, wall]) - np.vstack([wall, back_YA])
    prize_X11 = np.array([CELLS - 1, 0])[:, None, None]
    found_XYA = (next_YA == prize_X11) & (place_Y1 != prize_X11)
    return FastSlowMDP(
        name="maze",
        reward_XYA=found_XYA / 1.0,
        noise_W=np.array([1 - SWITCH, SWITCH]),
        next_slow=np.array([[0, 1], [1, 0]])[:, None, None, :],
        next_fast=np.where(found_XYA, CELLS // 2, next_YA)[..., None],
        gamma=GAMMA,
        slow=Axis(("prize",), np.arange(2)),
        fast=Axis(("column", "row"), cells),
        actions=Axis(("move",), np.arange(len(MOVES)), labels=NAMES),
    )
