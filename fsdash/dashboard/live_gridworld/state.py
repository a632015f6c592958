"""A race of three exact algorithms on one gridworld, on one clock of work. Pure.

Every algorithm gets the same work, counted in value-function evaluations. It shows its last
snapshot that the clock has paid for. When the visitor changes the map, every algorithm continues on
the new map from the values that it has. Until it recovers, its old policy is evaluated on the new
map.

    race = Race.start(T=6)
    race.advance(2.0)                             # two sweeps of Base VI for everyone
    race.change(toggle_wall(race.edits, (3, 4)))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

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
from fsdash.domains.gridworld import GridMap, Gridworld
from fsdash.errors import InputError
from fsdash.runs.measures import share_of_optimum
from fsdash.runs.summary import lasting_crossing

METHODS = ("fsvi", "rolling", "vi")
DOMAIN = Gridworld()
LONGEST_HORIZON = 100_000
"""Frozen sweeps of the rolling method before it ends; nobody watches for so long."""
SETTLED_SWEEPS = 25.0
"""The race pauses when no share has changed for so many sweeps of Base VI."""
SAME_SHARE = 1e-4
LOSS = 1e-3
"""An action is wrong if it loses more than this share of the largest optimal value."""

Cell = tuple[int, int]


# -------------------------------------------------------------------------------------------- edits


@dataclass(frozen=True)
class Edits:
    """The visitor's changes of the map."""

    walls: frozenset[Cell] = frozenset()
    moved: tuple[tuple[int, Cell], ...] = ()
    """Tasks (1 to 8) and the cells to which they are delivered now."""
    flipped: bool = False
    """Whether the rings have exchanged their pay."""

    @property
    def grid(self) -> GridMap:
        """The changed map."""
        grid = DOMAIN.map
        tasks, pay, wall = grid.tasks.copy(), grid.delivery_reward, grid.wall.copy()
        for task, cell in self.moved:
            tasks[task - 1, 1] = cell
        for cell in self.walls:
            wall[cell] = True
        return GridMap(grid.size, tasks, pay[::-1] if self.flipped else pay, wall)


def toggle_wall(edits: Edits, cell: Cell) -> Edits:
    """Build a wall at a cell, or remove it."""
    _check_inside(cell)
    if cell in edits.walls:
        return replace(edits, walls=edits.walls - {cell})
    if cell in {tuple(place) for task in edits.grid.tasks.tolist() for place in task}:
        raise InputError(f"cell {cell}: a task starts or ends here; choose another cell")
    return replace(edits, walls=edits.walls | {cell})


def move_delivery(edits: Edits, task: int, cell: Cell) -> Edits:
    """Move the cell to which a task is delivered."""
    _check_inside(cell)
    start, home = (tuple(place) for place in DOMAIN.tasks[task - 1].tolist())
    if cell in edits.walls:
        raise InputError(f"cell {cell}: this is a wall; choose another cell")
    if cell == start:
        raise InputError(f"cell {cell}: task {task} starts here; choose another cell")
    others = tuple(entry for entry in edits.moved if entry[0] != task)
    return replace(edits, moved=others if cell == home else (*others, (task, cell)))


def flip_ring(edits: Edits) -> Edits:
    """Exchange the pay of the rings: the one that pays well now pays little."""
    return replace(edits, flipped=not edits.flipped)


def _check_inside(cell: Cell) -> None:
    if not all(0 <= place < DOMAIN.size for place in cell):
        raise InputError(f"cell {cell}: outside of the grid")


# --------------------------------------------------------------------------------------------- race


@dataclass
class Racer:
    """One algorithm: what it shows now, and the next snapshot, for which the clock has to pay."""

    method: str
    shown: Snapshot
    coming: Iterator[Snapshot]
    next: Snapshot | None
    began: float
    """The clock, in evaluations, when it started on the present map."""
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
    model: FastSlowMDP
    best: Optimum
    loss_XYA: np.ndarray
    """U* − Q*: what one action loses if everything after it is optimal."""
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
        model = DOMAIN.build_on(edits.grid)
        race = cls(T, edits, model, *_solved(model), {})
        zero_XY = np.zeros((model.n_slow, model.n_fast))
        policy_XY = bellman(model, model.true, zero_XY)[1]
        first = Snapshot("base", 0, 0, policy_XY[None], zero_XY, np.nan, 0, "stationary")
        for method in METHODS:
            coming = _snapshots(method, model, T, None)
            race.racers[method] = Racer(method, first, coming, next(coming, None), 0.0)
            race._add_point(race.racers[method], 0.0)
        return race

    @property
    def sweep(self) -> float:
        """Evaluations in one sweep of Base VI."""
        return float(self.model.n_pairs * self.model.true.outcomes)

    @property
    def sweeps(self) -> float:
        """The clock in sweeps of Base VI."""
        return self.clock / self.sweep

    @property
    def settled(self) -> bool:
        """Whether no share has changed for a while."""
        return self.clock - self.moved > SETTLED_SWEEPS * self.sweep

    def advance(self, sweeps: float) -> None:
        """Give every algorithm the work of so many sweeps of Base VI."""
        self.clock += sweeps * self.sweep
        for racer in self.racers.values():
            while racer.next is not None and racer.began + racer.next.evaluations <= self.clock:
                racer.shown, racer.next = racer.next, next(racer.coming, None)
                self._add_point(racer, racer.began + racer.shown.evaluations)

    def change(self, edits: Edits, name: str = "") -> None:
        """Continue on another map: each algorithm from its values, with its present policy."""
        self.edits, self.model = edits, DOMAIN.build_on(edits.grid)
        self.best, self.loss_XYA = _solved(self.model)
        self.changes.append(Change(self.sweeps, name))
        for racer in self.racers.values():
            values = None if racer.shown.phase == "lower" else racer.shown.values_XY
            racer.coming = _snapshots(racer.method, self.model, self.T, values)
            racer.next, racer.began = next(racer.coming, None), self.clock
            self._add_point(racer, self.clock)

    def _add_point(self, racer: Racer, work: float) -> None:
        """Evaluate the policy that a racer shows from this work on."""
        value = self.model.mean(policy_values(self.model, racer.shown.policy_PXY).U_XY)
        share = share_of_optimum(value, self.model.mean(self.best.U_XY), self.best.error)
        if not racer.points or not abs(share - racer.share) <= SAME_SHARE:
            self.moved = self.clock
        racer.points.append((work / self.sweep, share))

    def wrong_XY(self, racer: Racer) -> np.ndarray:
        """Where the first action of a racer's policy loses value."""
        lost_XY = np.take_along_axis(self.loss_XYA, racer.policy_XY[..., None], axis=2)[..., 0]
        return lost_XY > LOSS * np.abs(self.best.U_XY).max()


def _solved(model: FastSlowMDP) -> tuple[Optimum, np.ndarray]:
    best = optimum(model)
    return best, best.U_XY[..., None] - q_values(model, model.true, best.U_XY)


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


def idle_cells(model: FastSlowMDP) -> np.ndarray:
    """The fast states of an idle agent, by row and column."""
    column, row, task, carried = (
        model.fast.values[:, model.fast.names.index(name)].astype(int)
        for name in ("column", "row", "task", "carried")
    )
    idle = np.flatnonzero((task == 0) & (carried == 0))
    cells_RC = np.empty((DOMAIN.size, DOMAIN.size), int)
    cells_RC[row[idle], column[idle]] = idle
    return cells_RC


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


def python_code(race: Race) -> str:
    """Python code that lets the methods race from the start on the present map."""
    moved = [f"tasks[{task - 1}, 1] = {cell}" for task, cell in race.edits.moved]
    walls = [f"wall[{column}, {row}] = True" for column, row in sorted(race.edits.walls)]
    pay = "grid.delivery_reward" + ("[::-1]" if race.edits.flipped else "")
    return "\n".join(
        [
            "import pandas as pd",
            "",
            "import fsdash",
            "from fsdash.domains.gridworld import GridMap, Gridworld",
            "",
            "grid = Gridworld().map",
            "tasks, wall = grid.tasks.copy(), grid.wall.copy()",
            *moved,
            *walls,
            f"grid = GridMap(grid.size, tasks, {pay}, wall)",
            "model = Gridworld().build_on(grid)",
            "best, sweep = fsdash.optimum(model), model.n_pairs * model.true.outcomes",
            "methods = {",
            f'    "fsvi": fsdash.fsvi(model, T={race.T}),',
            '    "rolling": fsdash.rolling(model, T=1000),',
            '    "vi": fsdash.vi(model),',
            "}",
            "rows = []",
            "for method, snapshots in methods.items():",
            "    for s in snapshots:",
            f"        if s.evaluations > {race.sweeps:.6g} * sweep:",
            "            break",
            '        if method == "fsvi" and s.policy_kind == "rolling":',
            "            continue",
            "        r = fsdash.regret(model, s.policy_PXY, best=best)",
            "        share = r.mean_value / r.optimal_mean_value",
            "        rows.append((method, s.evaluations / sweep, share))",
            'frame = pd.DataFrame(rows, columns=["method", "sweeps", "share"])',
        ]
    )
