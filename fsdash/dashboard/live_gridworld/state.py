"""A race of three exact algorithms on one gridworld, on one clock of work. Pure.

Every algorithm gets the same work, counted in value-function evaluations. It shows its last
snapshot that the clock has paid for. When the visitor changes the map, every algorithm continues on
the new map from the values that it has. Until it recovers, its old policy is evaluated on the new
map.

    race = Race.start(T=6)
    race.advance(2.0)                             # two sweeps of Base VI for everyone
    race.change(toggle_wall(race.edits, (3, 4)), "wall")
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd

from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.optimum import Optimum, optimum
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import Snapshot
from fsdash.algorithms.vi import vi
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, q_values
from fsdash.dashboard.live_gridworld.edits import DOMAIN, Edits
from fsdash.domains.gridworld import GridMap
from fsdash.runs.measures import share_of_optimum
from fsdash.runs.summary import lasting_crossing

METHODS = ("fsvi", "rolling", "vi")
LONGEST_HORIZON = 100_000
"""Frozen sweeps of the rolling method before it ends, more than any visitor will watch."""
SETTLED_SWEEPS = 25.0
"""The race pauses when no share has changed for this many sweeps of Base VI."""
SAME_SHARE = 1e-4
LOSS = 1e-3
"""An action is wrong if it loses more than this share of the largest optimal value."""
MAX_WORLDS = 32
"""Solved maps in memory, about 4 MB each; visitors share them."""


@dataclass(frozen=True, eq=False)
class World:
    """A map, its model and the exact optimum."""

    grid: GridMap
    model: FastSlowMDP
    best: Optimum
    loss_XYA: np.ndarray
    """U* − Q*: what one action loses if everything after it is optimal."""

    def share(self, policy_PXY: np.ndarray) -> float:
        """Share of the optimum that a policy earns, by its exact evaluation."""
        value = self.model.mean(policy_values(self.model, policy_PXY).U_XY)
        return share_of_optimum(value, self.model.mean(self.best.U_XY), self.best.error)

    def wrong_XY(self, policy_XY: np.ndarray) -> np.ndarray:
        """Where an action of a policy loses value."""
        lost_XY = np.take_along_axis(self.loss_XYA, policy_XY[..., None], axis=2)[..., 0]
        return lost_XY > LOSS * np.abs(self.best.U_XY).max()


@lru_cache(maxsize=MAX_WORLDS)
def world_of(edits: Edits) -> World:
    """The map with these changes, solved."""
    model = DOMAIN.build_on(edits.grid)
    best = optimum(model)
    loss_XYA = best.U_XY[..., None] - q_values(model, model.true, best.U_XY)
    return World(edits.grid, model, best, loss_XYA)


# --------------------------------------------------------------------------------------------- race


@dataclass
class Racer:
    """One algorithm: what it shows now, and the next snapshot, for which the clock has to pay."""

    method: str
    shown: Snapshot
    coming: Iterator[Snapshot]
    next: Snapshot | None
    began: float = 0.0
    """The clock, in evaluations, when it started on the present map."""
    values_XY: np.ndarray | None = None
    """The values from which it continues after a change: of FSVI those of the upper level."""
    points: list[tuple[float, float]] = field(default_factory=list)
    """Its curve: work in sweeps of Base VI and share of the optimum, one point per snapshot."""

    @property
    def share(self) -> float:
        """Share of the optimum that its policy earns on the present map."""
        return self.points[-1][1]

    @property
    def policy_XY(self) -> np.ndarray:
        """Its actions in the first period of a block."""
        return self.shown.policy_PXY[0]

    def take_next(self) -> None:
        """Show the next snapshot."""
        assert self.next is not None
        self.shown, self.next = self.next, next(self.coming, None)
        if self.shown.phase != "lower":
            self.values_XY = self.shown.values_XY


@dataclass(frozen=True)
class Change:
    """When the map changed, in sweeps, and how."""

    sweeps: float
    name: str


@dataclass
class Race:
    """The algorithms, the map and the clock."""

    T: int
    edits: Edits
    world: World
    racers: dict[str, Racer]
    clock: float = 0.0
    """Evaluations that every algorithm has been given."""
    changes: list[Change] = field(default_factory=list)
    moved: float = 0.0
    """The clock when a share last changed."""

    @classmethod
    def start(cls, T: int, edits: Edits | None = None) -> Race:
        """All algorithms begin with the policy that maximises the immediate reward."""
        edits = edits or Edits()
        race = cls(T, edits, world_of(edits), {})
        model = race.world.model
        zero_XY = np.zeros((model.n_slow, model.n_fast))
        policy_XY = bellman(model, model.true, zero_XY)[1]
        first = Snapshot("base", 0, 0, policy_XY[None], zero_XY, np.nan, 0, "stationary")
        for method in METHODS:
            coming = _snapshots(method, model, T, None)
            race.racers[method] = Racer(method, first, coming, next(coming, None))
            race._add_point(race.racers[method], 0.0)
        return race

    @property
    def sweep(self) -> float:
        """Evaluations in one sweep of Base VI."""
        return float(self.world.model.n_pairs * self.world.model.true.outcomes)

    @property
    def sweeps(self) -> float:
        """The clock in sweeps of Base VI."""
        return self.clock / self.sweep

    @property
    def settled(self) -> bool:
        """Whether no share has changed for a while."""
        return self.clock - self.moved > SETTLED_SWEEPS * self.sweep

    def resume(self) -> None:
        """Go on although no share has changed for a while."""
        self.moved = self.clock

    def advance(self, sweeps: float) -> None:
        """Give every algorithm the work of some sweeps of Base VI."""
        self.clock += sweeps * self.sweep
        for racer in self.racers.values():
            while racer.next is not None and racer.began + racer.next.evaluations <= self.clock:
                racer.take_next()
                self._add_point(racer, racer.began + racer.shown.evaluations)

    def change(self, edits: Edits, name: str) -> None:
        """Continue on another map: each algorithm from its values, with its present policy."""
        self.edits, self.world = edits, world_of(edits)
        self.changes.append(Change(self.sweeps, name))
        for racer in self.racers.values():
            racer.coming = _snapshots(racer.method, self.world.model, self.T, racer.values_XY)
            racer.next, racer.began = next(racer.coming, None), self.clock
            self._add_point(racer, self.clock)
        self.resume()

    def _add_point(self, racer: Racer, work: float) -> None:
        """Evaluate the policy that a racer shows from this work on."""
        share = self.world.share(racer.shown.policy_PXY)
        if not racer.points or abs(share - racer.share) > SAME_SHARE:
            self.moved = work
        racer.points.append((work / self.sweep, share))


def _snapshots(
    method: str, model: FastSlowMDP, T: int, values_XY: np.ndarray | None
) -> Iterator[Snapshot]:
    """The snapshots of an algorithm that starts from given values, or from zero."""
    if method == "vi":
        return vi(model, U0_XY=values_XY)
    if method == "rolling":
        return rolling(model, LONGEST_HORIZON, J0_XY=values_XY)
    # While the lower level is solved, FSVI plays what it knows of its block.
    return (s for s in fsvi(model, T, V0_XY=values_XY) if s.policy_kind != "rolling")


# ------------------------------------------------------------------------------------ what is shown


@lru_cache(maxsize=1)
def idle_cells() -> np.ndarray:
    """The fast states of an idle agent, by row and column."""
    cells_RC = np.arange(DOMAIN.shape[1]).reshape(DOMAIN.size, DOMAIN.size, 9, 2)[..., 0, 0]
    return cells_RC.T  # fast states count columns first


def first_to_reach(race: Race, level: float) -> dict[str, float]:
    """By method: the work since the last change of the map until its share stays at a level.

    In sweeps of Base VI; methods that are below the level now are left out.
    """
    since = race.changes[-1].sweeps if race.changes else 0.0
    found = {}
    for method, racer in race.racers.items():
        x, share = np.array([point for point in racer.points if point[0] >= since]).T
        at = lasting_crossing(x, share, level)
        if at < np.inf:
            found[method] = at - since
    return found


def race_table(race: Race) -> pd.DataFrame:
    """The points of all curves."""
    return pd.DataFrame(
        [(method, *point) for method, racer in race.racers.items() for point in racer.points],
        columns=["method", "sweeps", "share"],
    )


_CODE = """\
import pandas as pd

import fsdash
from fsdash.domains import GridMap, Gridworld

grid = Gridworld().map
tasks, wall = grid.tasks.copy(), grid.wall.copy()
{edits}grid = GridMap(grid.size, tasks, grid.delivery_reward{order}, wall)
model = Gridworld().build_on(grid)
best, sweep = fsdash.optimum(model), model.n_pairs * model.true.outcomes
methods = {{
    "fsvi": fsdash.fsvi(model, T={T}),
    "rolling": fsdash.rolling(model, T=1000),
    "vi": fsdash.vi(model),
}}
rows = []
for method, snapshots in methods.items():
    for s in snapshots:
        if s.evaluations > {sweeps!r} * sweep:
            break
        if method == "fsvi" and s.policy_kind == "rolling":
            continue
        r = fsdash.regret(model, s.policy_PXY, best=best)
        rows.append((method, s.evaluations / sweep, r.mean_value / r.optimal_mean_value))
frame = pd.DataFrame(rows, columns=["method", "sweeps", "share"])"""


def python_code(race: Race) -> str:
    """Python code that lets the methods race from the start on the present map."""
    moved = [f"tasks[{task - 1}, 1] = {cell}\n" for task, cell in race.edits.moved]
    walls = [f"wall[{column}, {row}] = True\n" for column, row in sorted(race.edits.walls)]
    return _CODE.format(
        edits="".join(moved + walls),
        order="[::-1]" if race.edits.flipped else "",
        T=race.T,
        sweeps=race.sweeps,
    )
