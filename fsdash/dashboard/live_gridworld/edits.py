"""The visitor's changes of the map of the live gridworld, and their text in the page's URL. Pure.

edits = toggle_wall(Edits(), (3, 4))
write_edits(edits)                            # "wall.3.4"
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fsdash.domains.gridworld import GridMap, Gridworld
from fsdash.errors import InputError

DOMAIN = Gridworld()
REMEDY = "give parts such as flip, wall.3.4 (column, row) or move.7.3.4 (task, column, row)"

Cell = tuple[int, int]
"""Column and row."""


@dataclass(frozen=True)
class Edits:
    """The visitor's changes of the map."""

    walls: frozenset[Cell] = frozenset()
    moved: tuple[tuple[int, Cell], ...] = ()
    """Tasks (1 to 8, ascending) and the cells to which they are delivered now."""
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
    if not 1 <= task <= len(DOMAIN.tasks):
        raise InputError(f"task {task}: choose a task from 1 to {len(DOMAIN.tasks)}")
    start, home = (tuple(place) for place in DOMAIN.tasks[task - 1].tolist())
    if cell in edits.walls:
        raise InputError(f"cell {cell}: this is a wall; choose another cell")
    if cell == start:
        raise InputError(f"cell {cell}: task {task} starts here; choose another cell")
    moved = dict(edits.moved) | {task: cell}
    if cell == home:
        del moved[task]
    return replace(edits, moved=tuple(sorted(moved.items())))


def flip_ring(edits: Edits) -> Edits:
    """Exchange the pay of the rings under both signals: what w = 0 paid, w = 1 pays now."""
    return replace(edits, flipped=not edits.flipped)


def task_delivered_at(edits: Edits, cell: Cell) -> int | None:
    """The first task that ends at this cell, or None."""
    ends = [tuple(end) for end in edits.grid.tasks[:, 1].tolist()]
    return ends.index(cell) + 1 if cell in ends else None


def _check_inside(cell: Cell) -> None:
    if not all(0 <= place < DOMAIN.size for place in cell):
        raise InputError(f"cell {cell}: outside of the grid; choose a cell of the map")


# ---------------------------------------------------------------------------------------------- URL


def write_edits(edits: Edits) -> str:
    """The text that `read_edits` reads; a moved task comes before the walls at its former end."""
    parts = ["flip"] if edits.flipped else []
    parts += [f"move.{task}.{column}.{row}" for task, (column, row) in edits.moved]
    parts += [f"wall.{column}.{row}" for column, row in sorted(edits.walls)]
    return ",".join(parts)


def read_edits(text: str) -> Edits:
    """The changes from their text in the URL.

    Examples
    --------
    >>> read_edits("flip,wall.3.4").walls
    frozenset({(3, 4)})
    """
    edits = Edits()
    for part in filter(None, text.split(",")):
        kind, *numbers = part.split(".")
        try:
            values = tuple(int(number) for number in numbers)
        except ValueError:
            raise InputError(REMEDY) from None
        if kind == "flip" and not values:
            edits = replace(edits, flipped=True)
        elif kind == "move" and len(values) == 3:
            edits = move_delivery(edits, values[0], values[1:])
        elif kind == "wall" and len(values) == 2:
            edits = edits if values in edits.walls else toggle_wall(edits, values)
        else:
            raise InputError(REMEDY)
    return edits
