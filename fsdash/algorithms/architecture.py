"""Linear architectures of FSAVI: features and pre-selected (anchor) states, also by name.

κ is the amplification factor of the features: φ(s) = Σ_m θ_m(s) φ(s_m) with θ(s) = φ(s)ᵀ L⁻¹ and L
the feature vectors of the anchors; κ = max_s Σ_m |θ_m(s)|, the smallest that the assumption on
basis functions allows. κ ≥ 1 because the anchors are states. FSAVI needs κγ < 1.

Two architectures can be chosen by name. The paper does not give features; these are common ones:

    aggregation  Every coordinate of x is cut into `slow_cells` ranges of neighbouring values, every
                 coordinate of y into `fast_cells`. A feature is the indicator of one cell; its
                 anchor is the state nearest to the cell's centre. κ = 1.
    polynomial   All products of powers 0, …, `degree` of the coordinates, with anchors on a grid of
                 degree + 1 values of each coordinate. Degree 1 interpolates between the corners,
                 κ = 1. From degree 2 on κ > 1: about 1.25 for each coordinate with degree 2, so γ
                 must be small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from typing import Protocol

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.errors import InputError

FEATURES = ("aggregation", "polynomial")
MAX_ENTRIES = 20_000_000
"""Largest number of entries |S|·M of a feature table: 160 MB."""


class Architecture(Protocol):
    """What FSAVI needs: anchors, κ, and how the anchors' values extend to all states."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def anchors_M2(self) -> np.ndarray: ...

    @property
    def kappa(self) -> float: ...

    def through_anchors(self, values_XY: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class LinearArchitecture:
    """Features and anchor states of a linear architecture.

    Parameters
    ----------
    Phi_XYM : np.ndarray
        Feature vectors φ(s), shape (X, Y, M).
    anchors_M2 : np.ndarray
        The anchor states, one row (x, y) per feature, shape (M, 2).

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> fsdash.algorithms.LinearArchitecture.tabular(model).kappa
    1.0
    """

    Phi_XYM: np.ndarray
    anchors_M2: np.ndarray
    theta_XYM: np.ndarray = field(init=False, repr=False)
    """θ(s) = φ(s)ᵀ L⁻¹, the weights of the anchors' values in a state's value."""

    def __post_init__(self) -> None:
        Phi_XYM = np.asarray(self.Phi_XYM, float)
        anchors_M2 = np.asarray(self.anchors_M2, int)
        if Phi_XYM.ndim != 3 or anchors_M2.shape != (Phi_XYM.shape[2], 2):
            raise InputError(
                f"Phi_XYM {Phi_XYM.shape} and anchors_M2 {anchors_M2.shape}: give (X, Y, M) "
                "features and one (x, y) row for each of the M features"
            )
        if not np.isfinite(Phi_XYM).all():
            raise InputError("Phi_XYM: has a value that is not finite; give finite features")
        if (anchors_M2 < 0).any() or (anchors_M2 >= Phi_XYM.shape[:2]).any():
            raise InputError(
                f"anchors_M2: an anchor is outside the states {Phi_XYM.shape[:2]}; give indices "
                "of states"
            )
        L_MM = Phi_XYM[anchors_M2[:, 0], anchors_M2[:, 1]]
        if np.linalg.matrix_rank(L_MM) < len(L_MM):
            raise InputError(
                "anchors_M2: the feature vectors of the anchors are linearly dependent; "
                "choose other anchors or drop a feature"
            )
        object.__setattr__(self, "Phi_XYM", Phi_XYM)
        object.__setattr__(self, "anchors_M2", anchors_M2)
        theta_MS = np.linalg.solve(L_MM.T, Phi_XYM.reshape(-1, len(L_MM)).T)
        object.__setattr__(self, "theta_XYM", theta_MS.T.reshape(Phi_XYM.shape))

    @classmethod
    def tabular(cls, model: FastSlowMDP) -> LinearArchitecture:
        """Return the identity: one indicator feature and one anchor for each state."""
        n = model.n_states
        Phi_XYM = np.eye(n).reshape(model.n_slow, model.n_fast, n)
        return cls(Phi_XYM, np.indices((model.n_slow, model.n_fast)).reshape(2, -1).T)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of slow and fast states."""
        n_slow, n_fast, _ = self.Phi_XYM.shape
        return n_slow, n_fast

    @property
    def kappa(self) -> float:
        """The amplification factor κ ≥ 1, rounded to 12 digits."""
        return max(1.0, round(float(np.abs(self.theta_XYM).sum(axis=2).max()), 12))

    def through_anchors(self, values_XY: np.ndarray) -> np.ndarray:
        """Return Φ Φ† values: the anchors' values, extended to all states by the features."""
        x, y = self.anchors_M2.T
        return self.theta_XYM @ values_XY[x, y]


@dataclass(frozen=True, eq=False)
class Aggregation:
    """State aggregation: every state has the value of its cell's anchor, so κ = 1.

    Parameters
    ----------
    cell_XY : np.ndarray
        The number of each state's cell, 0 to M − 1, shape (X, Y).
    anchors_M2 : np.ndarray
        A state (x, y) of each cell, shape (M, 2).
    """

    cell_XY: np.ndarray
    anchors_M2: np.ndarray

    def __post_init__(self) -> None:
        x, y = self.anchors_M2.T
        if not np.array_equal(self.cell_XY[x, y], np.arange(len(self.anchors_M2))):
            raise InputError("anchors_M2: give one state of each cell, in the order of the cells")

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of slow and fast states."""
        n_slow, n_fast = self.cell_XY.shape
        return n_slow, n_fast

    @property
    def kappa(self) -> float:
        """The amplification factor κ."""
        return 1.0

    def through_anchors(self, values_XY: np.ndarray) -> np.ndarray:
        """Return Φ Φ† values: each state gets the value of its cell's anchor."""
        x, y = self.anchors_M2.T
        return values_XY[x, y][self.cell_XY]


def named_architecture(
    model: FastSlowMDP, features: str, slow_cells: int, fast_cells: int, degree: int
) -> Architecture:
    """Return the architecture with features of this name for a model."""
    if features not in FEATURES:
        raise InputError(f"features = {features!r}: choose from {', '.join(FEATURES)}")
    if features == "aggregation":
        return aggregation(model, slow_cells, fast_cells)
    return polynomial(model, degree)


def describe_architecture(architecture: Architecture, gamma: float) -> str:
    """Return the number of features, κ and κγ as a short text."""
    M, kappa = len(architecture.anchors_M2), architecture.kappa
    n = architecture.shape[0] * architecture.shape[1]
    return f"{M:,} features for {n:,} states, κ = {kappa:.4g}, κγ = {kappa * gamma:.4g}"


# ------------------------------------------------------------------------------------- aggregation


def aggregation(model: FastSlowMDP, slow_cells: int = 4, fast_cells: int = 10) -> Aggregation:
    """Aggregate neighbouring states into cells.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    slow_cells, fast_cells : int
        Cells for each coordinate of the slow and of the fast state. A coordinate with fewer values
        has one cell for each value.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> cells = aggregation(model, slow_cells=3, fast_cells=10)
    >>> len(cells.anchors_M2), cells.kappa
    (30, 1.0)
    """
    (slow_X, x_G), (fast_Y, y_G) = (
        _cells(name, axis, cells)
        for name, axis, cells in (
            ("slow_cells", model.slow, slow_cells),
            ("fast_cells", model.fast, fast_cells),
        )
    )
    cell_XY = slow_X[:, None] * len(y_G) + fast_Y[None, :]
    return Aggregation(cell_XY, np.array(list(product(x_G.tolist(), y_G.tolist()))))


def _cells(name: str, axis: Axis, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of each point of an axis, and the point nearest to each cell's centre."""
    if not (isinstance(cells, int | np.integer) and cells >= 1):
        raise InputError(f"{name} = {cells}: use a whole number, at least 1")
    cell_N = np.zeros(len(axis), np.int64)
    for values_N in axis.values.T:
        levels, place_N = np.unique(values_N, return_inverse=True)
        part_N = place_N * min(cells, len(levels)) // len(levels)
        # Numbering anew after each coordinate keeps the numbers below |X| or |Y|.
        cell_N = np.unique(cell_N * len(levels) + part_N, return_inverse=True)[1]
    size_G = np.bincount(cell_N)
    span = np.ptp(axis.values, axis=0)
    scaled_N = axis.values / np.where(span > 0, span, 1)
    centre = np.stack([np.bincount(cell_N, weights=c) / size_G for c in scaled_N.T], axis=1)
    distance_N = np.square(scaled_N - centre[cell_N]).sum(axis=1).round(12)
    order_N = np.lexsort((distance_N, cell_N))
    return cell_N, order_N[np.cumsum(size_G) - size_G]


# -------------------------------------------------------------------------------------- polynomials


def polynomial(model: FastSlowMDP, degree: int = 1) -> LinearArchitecture:
    """Products of powers of the coordinates, with anchors on a grid.

    Parameters
    ----------
    model : FastSlowMDP
        The model. The points of each axis must be a full grid of its coordinates.
    degree : int
        Largest power of each coordinate; at most the number of its values minus one.

    Examples
    --------
    >>> import fsdash
    >>> corners = polynomial(fsdash.make("inventory").build(), degree=1)
    >>> corners.anchors_M2.tolist(), corners.kappa
    ([[0, 0], [0, 50], [10, 0], [10, 50]], 1.0)
    """
    if not (isinstance(degree, int | np.integer) and degree >= 0):
        raise InputError(f"degree = {degree}: use a whole number, at least 0")
    slow_XF, x_F = _powers("slow", model.slow, degree)
    fast_YG, y_G = _powers("fast", model.fast, degree)
    M = len(x_F) * len(y_G)
    if M * model.n_states > MAX_ENTRIES:
        raise InputError(
            f"degree = {degree}: {M:,} features for {model.n_states:,} states do not fit into "
            "memory; use a smaller degree"
        )
    Phi_XYM = np.einsum("xf,yg->xyfg", slow_XF, fast_YG).reshape(*model.reward_XYA.shape[:2], M)
    return LinearArchitecture(Phi_XYM, np.array(list(product(x_F.tolist(), y_G.tolist()))))


def _powers(name: str, axis: Axis, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the products of powers at each point of an axis, and the anchors among the points."""
    tables, chosen, shape = [], [], []
    for values_N in axis.values.T:
        levels, place_N = np.unique(values_N, return_inverse=True)
        power = min(degree, len(levels) - 1)
        z = 2 * (levels - levels[0]) / max(np.ptp(levels), 1e-300) - 1
        # Chebyshev polynomials span the same functions as powers and are better conditioned.
        table_LP = np.polynomial.chebyshev.chebvander(z, power)
        tables.append(table_LP[place_N])
        chosen.append(_well_spread(table_LP))
        shape.append(len(levels))
    grid = np.stack([np.unique(c, return_inverse=True)[1] for c in axis.values.T])
    flat_N = np.ravel_multi_index(tuple(grid), shape)
    if len(axis) != np.prod(shape) or len(np.unique(flat_N)) != len(axis):
        raise InputError(
            f"features = 'polynomial': the {name} states are not a full grid of their coordinates; "
            "use features = 'aggregation'"
        )
    point_of = np.argsort(flat_N)
    anchors = [point_of[np.ravel_multi_index(levels, shape)] for levels in product(*chosen)]
    features_NF = reduce(lambda a, b: np.einsum("nf,ng->nfg", a, b).reshape(len(axis), -1), tables)
    return features_NF, np.array(anchors)


def _well_spread(table_LP: np.ndarray) -> list[int]:
    """Return as many rows as columns such that no weight |θ| of another row exceeds 1.

    Starting from evenly spaced rows, a row with |θ| > 1 takes the place of the anchor it
    overweights, which increases the determinant of the anchors (a maximum-volume submatrix).
    """
    n, m = table_LP.shape
    rows = np.linspace(0, n - 1, m).round().astype(int) if m > 1 else np.array([n // 2])
    while True:
        weights = np.linalg.solve(table_LP[rows].T, table_LP.T).T
        i, j = np.unravel_index(np.abs(weights).argmax(), weights.shape)
        if abs(weights[i, j]) <= 1 + 1e-9:
            return sorted(rows.tolist())
        rows[j] = i
