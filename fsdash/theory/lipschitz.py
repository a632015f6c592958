"""The Lipschitz constant of a map on (x, y, a), over all pairs or until a deadline.

    L = max  distance(image of (x, y, a), image of (x', y', a')) / ‖(x, y, a) − (x', y', a')‖

There are (|S||A|)² pairs, 10¹¹ for the pricing domain, so the search for a maximum prunes. Write a
pair as three pairs (x, x'), (y, y'), (a, a'). By the triangle inequality the image moves by at most
m_X(x, x') + m_Y(y, y') + m_A(a, a'), where m_X is the largest distance when only x changes, and so
on. These are computed first, m_Y in blocks of rows. A pair is skipped if this bound cannot exceed
the largest ratio found so far; all other pairs are evaluated. The result is the exact maximum.

The way from (x, y, a) over (x', y, a) and (x', y', a) to (x', y', a') may pass an infeasible pair.
Its image can be chosen freely, as long as it is always the same: it counts in m, not in the result.

If the deadline comes first, the largest ratio found is a lower value. With L_X the largest m_X/d_X,
and so on, the Cauchy-Schwarz inequality gives an upper value,

    m_X + m_Y + m_A <= L_X d_X + L_Y d_Y + L_A d_A <= √(L_X² + L_Y² + L_A²) · d.

On an axis with one coordinate, neighbours alone determine L_X. Otherwise L_X is at most the
diameter of all images divided by the smallest distance of two points, if it is not yet computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from fsdash.core.kernels import inlined, jit
from fsdash.theory.transport import (
    Images,
    distance,
    distance_above,
    distance_bounds,
    largest_above,
)

BLOCK = 2_000_000
"""Pairs of points of the longest axis in memory at a time (16 MB per table)."""
LONGEST_TABLE = 4096
"""The two other axes are searched up to this length; their tables have its square of entries."""
MOST_REMEMBERED = 2048
"""Distances between up to this many different distributions are remembered (34 MB)."""
WORK = 2e7
"""Operations between two checks of the clock, about a tenth of a second."""
PROVEN, POSSIBLE, DONE = 0, 1, 2
"""Entries of `found`: the largest ratio proven, the largest one possible, and the work done."""


class Interval(NamedTuple):
    """A proven lower and upper value, equal if the number is known exactly."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Grid:
    """The points (x, y, a): coordinates of each axis, shape (n, d), and which actions are feasible.

    A map that does not depend on the action has an action axis of length 1.
    """

    values: tuple[np.ndarray, np.ndarray, np.ndarray]
    feasible_XYA: np.ndarray


# Numba's cache of compiled kernels refers to this class by its name: recompile after renaming it.
class ShortAxes(NamedTuple):
    """Distances and m of the slow states and of the actions, and action slopes of each state."""

    dX: np.ndarray
    mX: np.ndarray
    dA: np.ndarray
    mA: np.ndarray
    slopes_XY: np.ndarray


def lipschitz(
    grid: Grid, images: Images, at_least: float = 0.0, deadline: float = math.inf
) -> Interval:
    """The Lipschitz constant of a map from the grid to its images.

    The result is at least `at_least`: a smaller constant is not searched for. `deadline` is a time
    of `perf_counter`. The images of infeasible actions are not compared, but they must exist.
    """
    if len(grid.values[0]) > max(LONGEST_TABLE, len(grid.values[1])):  # tables of the shorter axis
        slow, fast, actions = grid.values
        grid = Grid((fast, slow, actions), np.swapaxes(grid.feasible_XYA, 0, 1))
        images = images._replace(number_XYA=np.swapaxes(images.number_XYA, 0, 1))
    search = _Search(grid, images, at_least, deadline)
    finished = search.run()
    lower, possible, _ = search.found.tolist()
    if finished and possible <= lower:
        return Interval(lower, lower)
    limit = search.upper_value()
    return Interval(lower, max(lower, min(possible, limit) if finished else limit))


def largest_distance(
    points_NC: np.ndarray,
    number_K: np.ndarray,
    other_K: np.ndarray,
    deadline: float,
    *law: np.ndarray,
) -> Interval:
    """The largest distance between the images at the same places of two lists.

    An image is a point, or a distribution if a law is given (see `Images`).
    """
    no_pairs = np.zeros((0, 0, 0), np.uint32)
    images = Images(*map(one_type, Images(no_pairs, points_NC, *law)))
    images = images._replace(known_RR=np.zeros((0, 0)))  # nothing is compared twice
    lists = [one_type(numbers.astype(np.int64)) for numbers in (number_K, other_K)]
    found, position = np.zeros(3), 0
    while position < len(number_K) and perf_counter() < deadline:
        found[DONE] = 0
        position = _distances(images, *lists, found, position)
    lower, possible, _ = found.tolist()
    if position == len(number_K):
        return Interval(lower, max(lower, possible))
    return Interval(lower, max(lower, largest_above(images, *lists)))


class _Search:
    """One search: what was found so far, and the slopes along the axes."""

    def __init__(self, grid: Grid, images: Images, at_least: float, deadline: float) -> None:
        self.grid = Grid(grid.values, one_type(grid.feasible_XYA))
        n = len(images.start_R) - 1
        known_RR = np.full((n, n) if 0 < n <= MOST_REMEMBERED else (0, 0), -1.0)
        self.images = Images(*map(one_type, images))._replace(known_RR=known_RR)
        self.deadline = deadline
        self.found = np.array([at_least, 0.0, 0.0])
        extent = np.ptp(images.points_NC, axis=0)
        self.widest = float(np.sqrt((extent**2).sum()))
        self.slopes = [self.slope_of_neighbours(axis) for axis in range(3)]

    def upper_value(self) -> float:
        """An upper value that needs no search over pairs."""
        limits = [_ratio(self.widest, nearest_distance(values)) for values in self.grid.values]
        pairs = zip(self.slopes, limits, strict=True)
        slopes = [limit if slope is None else slope for slope, limit in pairs]
        return min(math.hypot(*slopes), max(limits))

    def run(self) -> bool:
        """Search all pairs; return False if the deadline came first."""
        X, Y, A = self.images.number_XYA.shape
        if max(X, A) > LONGEST_TABLE:
            return False
        dX, dA = distances(self.grid.values[0]), distances(self.grid.values[2])
        short = ShortAxes(dX, np.zeros((X, X)), dA, np.zeros((A, A)), np.zeros((X, Y)))
        for axis, d, m in ((0, dX, short.mX), (2, dA, short.mA)):
            if not self.search_axis(axis, 0, d, m):
                return False
            m += m.T
            if self.slopes[axis] is None:
                self.slopes[axis] = _largest_ratio(m, d)
        if not self.repeat(_action_slopes, X * Y, self.images, short):
            return False
        rows = max(1, BLOCK // Y)
        return all(self.search_block(short, start, rows) for start in range(0, Y, rows))

    def search_block(self, short: ShortAxes, start: int, rows: int) -> bool:
        """Search the pairs with y in a block of rows and y' <= y."""
        y_values = self.grid.values[1]
        d_block = distances(y_values[start : start + rows], y_values)
        m_block = np.zeros_like(d_block)
        block = (start, d_block, m_block, self.widest)
        total = d_block.size * self.images.number_XYA.shape[0]
        return self.search_axis(1, start, d_block, m_block) and self.repeat(
            _best_ratio, total, self.images, self.grid.feasible_XYA, short, *block
        )

    def slope_of_neighbours(self, axis: int) -> float | None:
        """Compare neighbours on an axis; return the slope along it if it has one coordinate."""
        values = self.grid.values[axis]
        on_a_line = values.shape[1] == 1
        order = np.argsort(values[:, 0], kind="stable") if on_a_line else np.arange(len(values))
        steps = np.sqrt(((values[order[1:]] - values[order[:-1]]) ** 2).sum(axis=1))
        slope = _neighbours(*self.along(axis), order, steps, self.found)
        return slope if on_a_line else None

    def search_axis(self, axis: int, start: int, d_block: np.ndarray, m_block: np.ndarray) -> bool:
        """Compute m(i, j) for the points i of an axis from `start` on, and every j < i."""
        arrays = (start, d_block, m_block, self.widest)
        return self.repeat(_changes, m_block.size, *self.along(axis), *arrays)

    def along(self, axis: int) -> tuple[Images, np.ndarray, np.ndarray]:
        """The images, and their numbers and feasibility with one row per point of an axis."""
        n = len(self.grid.values[axis])
        number_nK, feasible_nK = (
            one_type(np.moveaxis(array, axis, 0).reshape(n, -1))
            for array in (self.images.number_XYA, self.grid.feasible_XYA)
        )
        return self.images, number_nK, feasible_nK

    def repeat(self, kernel: Callable[..., int], total: int, *arguments: object) -> bool:
        """Call a kernel until it has done all its positions; False if the deadline comes first."""
        position = 0
        while position < total:
            if perf_counter() >= self.deadline:
                return False
            self.found[DONE] = 0
            position = kernel(*arguments, self.found, position)
        return True


def one_type(array: np.ndarray) -> np.ndarray:
    """The array, contiguous and read-only: kernels are compiled for this one type."""
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array


def distances(points: np.ndarray, others: np.ndarray | None = None) -> np.ndarray:
    """Euclidean distances from each point to each of the others, by default the same points."""
    others = points if others is None else others
    squares = np.zeros((len(points), len(others)))
    for column, other in zip(points.T, others.T, strict=True):
        squares += (column[:, None] - other) ** 2
    return np.sqrt(squares)


def nearest_distance(points: np.ndarray) -> float:
    """The smallest distance between two of the points; ∞ if there is one."""
    nearest, _ = KDTree(points).query(points, k=[2])
    return float(np.min(nearest))


def _ratio(change: float, distance: float) -> float:
    """change/distance, with 0/0 = 0."""
    return 0.0 if change == 0 else change / distance if distance > 0 else math.inf


def _largest_ratio(m: np.ndarray, d: np.ndarray) -> float:
    """The largest m/d, with 0/0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(m > 0, m / d, 0.0).max())


@jit
def _improve(images, r, q, d, found):
    """Compare the images of two pairs at distance d, and remember a larger ratio."""
    if distance_above(images, r, q) > found[PROVEN] * d:
        below, above, work = distance_bounds(images, r, q)
        found[DONE] += work
        found[PROVEN] = max(found[PROVEN], below / d if d > 0 else np.inf if below > 0 else 0.0)
        found[POSSIBLE] = max(found[POSSIBLE], above / d if d > 0 else np.inf)


@jit
def _distances(images, number_K, other_K, found, position):
    """Compare the images at the same places of two lists, from a position on."""
    for k in range(position, len(number_K)):
        if found[DONE] > WORK:
            return k
        found[DONE] += _entries(images)
        _improve(images, number_K[k], other_K[k], 1.0, found)
    return len(number_K)


@jit
def _change(images, number_K, feasible_K, other_K, other_feasible_K, d, found):
    """The largest distance of images at the same places of two lists, or an upper value of it.

    The places that are feasible in both lists are compared with what was found so far.
    """
    largest = largest_above(images, number_K, other_K)
    found[DONE] += len(number_K) * _entries(images)
    if largest > found[PROVEN] * d:
        for k in range(len(number_K)):
            if feasible_K[k] and other_feasible_K[k]:
                _improve(images, number_K[k], other_K[k], d, found)
    return largest


@jit
def _entries(images):
    """Operations of one comparison: the mean length of two rows, or one for points."""
    return 1 if images.start_R.size == 0 else 2 * images.target_N.size // images.start_R.size + 1


@jit
def _neighbours(images, number_nK, feasible_nK, order, steps, found):
    """The largest slope between points that follow each other in an order."""
    slope = 0.0
    for k in range(len(steps)):
        i, j, d = order[k], order[k + 1], steps[k]
        m = _change(images, number_nK[i], feasible_nK[i], number_nK[j], feasible_nK[j], d, found)
        if m > slope * d:
            slope = m / d if d > 0 else np.inf
    return slope


@jit
def _changes(images, number_nK, feasible_nK, start, d_block, m_block, widest, found, position):
    """m(i, j) for the points i from `start` on and every j < i, from a position on.

    If i and j are so far apart that no ratio can be larger than the one found, m is `widest`.
    """
    n = d_block.shape[1]
    for p in range(position, d_block.size):
        row, j = p // n, p % n
        i, d = start + row, d_block[row, j]
        if j >= i:
            continue
        if found[DONE] > WORK:
            return p
        m_block[row, j] = widest
        if widest > found[PROVEN] * d:
            m_block[row, j] = _change(
                images, number_nK[i], feasible_nK[i], number_nK[j], feasible_nK[j], d, found
            )
    return d_block.size


@jit
def _action_slopes(images, short, found, position):
    """The largest slope along the action for each state."""
    X, Y, A = images.number_XYA.shape
    points = images.start_R.size == 0
    for s in range(position, X * Y):
        if found[DONE] > WORK:
            return s
        x, y = s // Y, s % Y
        for a in range(A):
            for b in range(a):
                r, q, d = images.number_XYA[x, y, a], images.number_XYA[x, y, b], short.dA[a, b]
                change = (
                    distance(images.points_NC, r, q) if points else distance_above(images, r, q)
                )
                if change > short.slopes_XY[x, y] * d:
                    short.slopes_XY[x, y] = change / d if d > 0 else np.inf
        found[DONE] += A * A / 2 * _entries(images)
    return X * Y


@jit
def _best_ratio(images, feasible_XYA, short, start, d_block, m_block, widest, found, position):
    """Compare the pairs with y in the block and y' <= y, from a position (y, y', x) on.

    If the image moves by at most m between two states at distance d, and by at most `slope` per
    unit of distance between actions, the ratio is at most sqrt((m/d)² + slope²) by the
    Cauchy-Schwarz inequality. A pair of states is skipped if this does not exceed the largest ratio
    so far: first with m = m_X + m_Y, then with m the largest change at the same action.
    """
    X, Y = images.number_XYA.shape[:2]
    i, y2, x = position // X // Y, position // X % Y, position % X
    while i < len(d_block):
        y, dY = start + i, d_block[i, y2]
        if found[DONE] > WORK:
            return (i * Y + y2) * X + x
        if widest > found[PROVEN] * dY:
            for x2 in range(X):
                d2 = short.dX[x, x2] ** 2 + dY**2
                slope = min(short.slopes_XY[x, y], short.slopes_XY[x2, y2])
                m = short.mX[x, x2] + m_block[i, y2]
                if not _excluded(m, slope, d2, found):
                    _compare_states(images, feasible_XYA, short, x, y, x2, y2, d2, slope, found)
            found[DONE] += X
            x += 1
        else:
            x = X
        if x == X:
            x, y2 = 0, y2 + 1
        if y2 > y:
            y2, i = 0, i + 1
    return d_block.size * X


@jit
def _compare_states(images, feasible_XYA, short, x, y, x2, y2, d2, slope, found):
    """Compare all pairs of actions in two states."""
    number_A, feasible_A = images.number_XYA[x, y], feasible_XYA[x, y]
    other_A, other_feasible_A = images.number_XYA[x2, y2], feasible_XYA[x2, y2]
    m = _change(images, number_A, feasible_A, other_A, other_feasible_A, np.sqrt(d2), found)
    if _excluded(m, slope, d2, found):
        return
    points = images.start_R.size == 0
    for a in range(len(number_A)):
        for b in range(len(number_A)):
            d = np.sqrt(d2 + short.dA[a, b] ** 2)
            possible = m + short.mA[a, b] > found[PROVEN] * d
            if not (possible and feasible_A[a] and other_feasible_A[b]):
                continue
            r, q = number_A[a], other_A[b]
            if not points or distance(images.points_NC, r, q) > found[PROVEN] * d:
                _improve(images, r, q, d, found)
                found[DONE] += _entries(images)
    found[DONE] += number_A.size**2


@inlined
def _excluded(m, slope, d2, found):
    """Whether no pair of actions in two states can have a ratio above the largest one found."""
    return m * m <= (found[PROVEN] ** 2 - slope**2) * d2 and d2 > 0
