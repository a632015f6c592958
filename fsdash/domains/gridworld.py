"""Gridworld with spatial tasks (the paper's second domain).

Slow state   w ∈ {0, 1}, the ring with the high rewards: 0 the outer ring, 1 the inner ring.
Fast state   (column, row, task i, carried o): the cell, the accepted task (0 = none), and whether
             its object has been picked up.
Action       (task i', direction): which of the eight tasks to accept and where to step.
Noise        w flips with probability `switch`.
Dynamics     in one step: accept i' if i = 0; step (walls stop the agent); then, at the new cell,
             pick the object up if it is the start of the task (o becomes 1), or deliver it if
             o = 1 and it is the end (i and o become 0).
             w' exogenous: (X, 1, 1, W); y' depends on neither w nor the noise: (1, Y, A, 1)
Frozen       the same fast dynamics.
Reward       `pickup` for picking up, r(i, w) with the current w for delivering.
Sizes        2·(11·11·9·2) = 4,356 states and 8·4 = 32 actions by default

The paper writes "i_t = 1" where it means o_t = 1, and does not fix the order of events within a
step. Other grid sizes stretch the paper's 11×11 map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter

# (start column, start row) → (end column, end row) of tasks 1..8 on the 11×11 map.
TASKS = np.array(
    [
        [(1, 7), (4, 10)],
        [(7, 9), (10, 6)],
        [(9, 3), (6, 0)],
        [(3, 1), (0, 4)],
        [(4, 9), (4, 7)],
        [(6, 1), (6, 3)],
        [(4, 6), (6, 6)],
        [(6, 4), (4, 4)],
    ]
)
OUTER, SHORT, INNER = (1, 2, 3, 4), (5, 6), (7, 8)
DIRECTIONS = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0)}
ARROWS = {(0, 1): "↑", (1, 0): "→", (0, -1): "↓", (-1, 0): "←"}
SIGNAL = Coordinate("reward signal w", words={0: "outer ring pays", 1: "inner ring pays"})
TASK = Coordinate("task i", words={0: "idle"})
OBJECT = Coordinate("object", words={0: "not picked up", 1: "carried"})


@dataclass(frozen=True, eq=False)
class GridMap:
    """Where the tasks of a grid start and end, what they pay, and which cells are walls."""

    size: int
    tasks: np.ndarray
    """Start and end cell of each task, shape (8, 2, 2)."""
    delivery_reward: np.ndarray
    """r(i, w), indexed by reward signal w and task i, shape (2, 9); task 0 (none) pays 0."""
    wall: np.ndarray
    """Whether a cell, by column and row, is a wall.

    A step into a wall leaves the agent in place, as at the edge of the grid. An agent on a cell
    that becomes a wall can leave it. No episode starts there, so means over states leave it out.
    """


@dataclass(frozen=True)
class Gridworld(Domain):
    title: ClassVar[str] = "Gridworld with spatial tasks"
    figures: ClassVar[str | None] = "fsdash.figures.domains.gridworld"
    presets: ClassVar[dict[str, dict[str, float]]] = {"default": {}, "large": {"size": 33}}

    size: int = parameter(
        11,
        label="Grid size",
        help="Number of cells along one side of the grid.",
        low=6,
        remedy="use at least 6; on a smaller grid the tasks collide",
    )
    switch: float = parameter(
        0.02,
        label="Switch probability",
        help="Probability that the ring with the high rewards changes in a period.",
        low=0,
        high=1,
        remedy="use a probability from 0 to 1",
    )
    pickup: float = parameter(2.0, label="Pick-up reward", help="Reward for picking up an object.")
    outer_high: float = parameter(
        80.0, label="Outer, high", help="Reward of an outer task while the outer ring pays well."
    )
    outer_low: float = parameter(
        6.0, label="Outer, low", help="Reward of an outer task while the inner ring pays well."
    )
    short: float = parameter(1.0, label="Short tasks", help="Reward of each short task.")
    inner_low: float = parameter(
        2.0, label="Inner, low", help="Reward of an inner task while the outer ring pays well."
    )
    inner_high: float = parameter(
        30.0, label="Inner, high", help="Reward of an inner task while the inner ring pays well."
    )
    gamma: float = discount()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_size()

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return 2, self.size**2 * 9 * 2, 8 * len(DIRECTIONS), 2

    @property
    def tasks(self) -> np.ndarray:
        """The start and end cell of each task on this grid, shape (8, 2, 2)."""
        return np.floor(TASKS * (self.size - 1) / 10 + 0.5).astype(int)

    @property
    def delivery_reward(self) -> np.ndarray:
        """r(i, w), indexed by reward signal w and task i, shape (2, 9); task 0 (none) pays 0."""
        reward = np.zeros((2, 9))
        reward[0, OUTER], reward[1, OUTER] = self.outer_high, self.outer_low
        reward[:, SHORT] = self.short
        reward[0, INNER], reward[1, INNER] = self.inner_low, self.inner_high
        return reward

    @property
    def map(self) -> GridMap:
        """The paper's map, stretched to this size, without walls."""
        wall = np.zeros((self.size, self.size), bool)
        return GridMap(self.size, self.tasks, self.delivery_reward, wall)

    def build(self) -> FastSlowMDP:
        return self.build_on(self.map)

    def build_on(self, grid: GridMap) -> FastSlowMDP:
        """The model on another map of this size."""
        n, steps = self.size, np.array(list(DIRECTIONS.values()))
        column, row, task, carried = (
            part.reshape(-1, 1, 1) for part in np.indices((n, n, 9, 2)).reshape(4, -1)
        )
        choice = np.arange(1, 9)[None, :, None]

        accepted = np.where(task == 0, choice, task)
        column_ = np.clip(column + steps[:, 0], 0, n - 1)
        row_ = np.clip(row + steps[:, 1], 0, n - 1)
        blocked = grid.wall[column_, row_]
        column_, row_ = np.where(blocked, column, column_), np.where(blocked, row, row_)
        (start_column, start_row), (end_column, end_row) = grid.tasks[accepted - 1].transpose(
            3, 4, 0, 1, 2
        )
        picks = (carried == 0) & (column_ == start_column) & (row_ == start_row)
        delivers = (carried == 1) & (column_ == end_column) & (row_ == end_row)
        task_ = np.where(delivers, 0, accepted)
        carried_ = np.where(delivers, 0, np.where(picks, 1, carried))
        next_fast = np.ravel_multi_index(
            np.broadcast_arrays(column_, row_, task_, carried_), (n, n, 9, 2)
        ).reshape(1, -1, 32, 1)

        paid = grid.delivery_reward[:, accepted]  # (2, Y, 8, 1): depends on the task
        reward_XYA = (self.pickup * picks + paid * delivers).reshape(2, -1, 32)
        open_Y = ~grid.wall[column, row].ravel()
        fast = np.concatenate([column, row, task, carried], axis=-1).reshape(-1, 4)
        moves = np.array([(i, *step) for i in range(1, 9) for step in steps])
        return FastSlowMDP(
            name=self.name,
            reward_XYA=reward_XYA,
            noise_W=np.array([1 - self.switch, self.switch]),
            next_slow=np.array([[0, 1], [1, 0]])[:, None, None, :],
            next_fast=next_fast,
            gamma=self.gamma,
            initial_XY=np.tile(open_Y / (2 * open_Y.sum()), (2, 1)),
            slow=Axis(("inner ring pays",), np.arange(2), {"inner ring pays": SIGNAL}),
            fast=Axis(
                ("column", "row", "task", "carried"), fast, {"task": TASK, "carried": OBJECT}
            ),
            actions=Axis(
                ("task", "right", "up"),
                moves,
                {"task": TASK},
                labels=tuple(f"{i:g} {ARROWS[right, up]}" for i, right, up in moves.tolist()),
                title="action: task and move",
            ),
        )
