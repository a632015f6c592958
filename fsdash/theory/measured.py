"""The constants of the theory, measured on a model exactly, over all pairs of states and actions.

The metric is Euclidean, as in the paper, on the coordinates of the model's axes (`slow`, `fast`,
`actions`); (s, a) has the coordinates of x, y and a together. The constants depend on the units of
the coordinates: a domain with prices in cents has other constants than one with prices in dollars.

    d_Y   = max ‖y − f_Y(s, a, w)‖                 α = max ‖x − f_X(s, a, w)‖ / d_Y
    L_r   = max |r(s, a) − r(s', a')| / ‖(s, a) − (s', a')‖
    L_f   = max ‖f(s, a, w) − f(s', a', w)‖ / ‖(s, a) − (s', a')‖      over every w
    L̃     = the same for the frozen map (x, f_Y), which `repaired_regret` needs
    L_U   = max |U*(s) − U*(s')| / ‖s − s'‖        U* within a certified 1e-6
    r_max = max r + shift, where shift = max(0, −min r) makes all rewards non-negative

Outcomes w of probability 0 are ignored. For a finite model all constants are finite, but they can
be so large that the bounds computed from them are vacuous, and usually they are.

There are (|S||A|)² pairs, 10¹¹ for the pricing domain, so the search for a maximum prunes. Write a
pair as three pairs (x, x'), (y, y'), (a, a'). By the triangle inequality g changes by at most
m_X(x, x') + m_Y(y, y') + m_A(a, a'), where m_X is the largest change when only x changes, and so
on. These are computed first, m_Y in blocks of rows. A pair is skipped if this bound cannot exceed
the largest ratio found so far; all other pairs are evaluated. The result is the exact maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.algorithms.optimum import optimum
from fsdash.core.kernels import jit
from fsdash.core.model import FastSlowMDP, Tables
from fsdash.theory.parameters import Constants

BLOCK = 2_000_000
"""Pairs of fast states in memory at a time (16 MB per table)."""


@dataclass(frozen=True)
class MeasuredConstants:
    """The constants of a model as `measure` finds them, without the discount factor.

    `reward_shift` was added to all rewards to make them non-negative; `r_max` includes it.
    """

    alpha: float
    d_y: float
    l_r: float
    l_f: float
    l_u: float
    r_max: float
    reward_shift: float
    l_frozen: float

    def constants(self, gamma: float) -> Constants:
        """The constants with a discount factor, as the bounds need them."""
        return Constants(
            gamma=gamma,
            alpha=self.alpha,
            d_y=self.d_y,
            l_r=self.l_r,
            l_f=self.l_f,
            l_u=self.l_u,
            r_max=self.r_max,
        )


def measure(model: FastSlowMDP, U_XY: np.ndarray | None = None) -> MeasuredConstants:
    """Measure the constants of a model.

    Parameters
    ----------
    model
        The model. Its axes must have coordinates.
    U_XY
        The optimal values U*, shape (X, Y), if they are already known; else they are computed.

    Returns
    -------
    MeasuredConstants
        The constants; `.constants(model.gamma)` makes them usable for the bounds.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> measured = fsdash.measure(model)
    >>> measured.alpha, measured.d_y
    (0.02, 50.0)
    >>> fsdash.fsvi_regret(measured.constants(model.gamma), 6, k=100).total > 1e6
    True
    """
    U_XY = optimum(model).U_XY if U_XY is None else U_XY
    d_y = _largest_step(model, model.next_fast, model.fast.values, axis=1)
    slow_step = _largest_step(model, model.next_slow, model.slow.values, axis=0)
    shift = max(0.0, -float(model.reward_XYA.min()))
    return MeasuredConstants(
        alpha=0.0 if slow_step == 0 else slow_step / d_y if d_y > 0 else np.inf,
        d_y=d_y,
        l_r=lipschitz(model, model.reward_XYA[..., None]),
        l_f=_transition_lipschitz(model),
        l_u=lipschitz(model, U_XY[:, :, None, None]),
        r_max=float(model.reward_XYA.max()) + shift,
        reward_shift=shift,
        l_frozen=_frozen_lipschitz(model),
    )


def _transition_lipschitz(model: FastSlowMDP) -> float:
    """L_f. The maximum so far prunes the search over the next outcome of the noise."""
    best = 0.0
    for w in _outcomes(model):
        best = lipschitz(model, _successors(model, model.tables, w), best)
    return best


def _frozen_lipschitz(model: FastSlowMDP) -> float:
    """L̃. If the frozen fast state is noise-free, one outcome stands for all."""
    frozen = model.frozen
    assert isinstance(frozen, Tables)  # `measure` has looked at the true dynamics
    best = 0.0
    for w in [0] if frozen.noise_free_fast else np.flatnonzero(model.noise_W):
        best = lipschitz(model, _successors(model, frozen, int(w)), best)
    return best


def _outcomes(model: FastSlowMDP) -> list[int]:
    """The outcomes w that can determine L_f.

    If the dynamics are separable, w only determines the distances between x'(x, w) and x'(x̃, w).
    An outcome is left out if another one separates every pair of slow states at least as far.
    """
    possible = np.flatnonzero(model.noise_W).tolist()
    if not model.tables.separable or model.next_slow.shape[3] == 1:
        return possible
    apart = {w: _distances(model.slow.values[model.next_slow[:, 0, 0, w]]) for w in possible}
    needed: list[int] = []
    for w in sorted(possible, key=lambda w: -apart[w].sum()):
        if not any((apart[w] <= apart[v]).all() for v in needed):
            needed.append(w)
    return needed


def lipschitz(model: FastSlowMDP, g_XYAC: np.ndarray, at_least: float = 0.0) -> float:
    """The Lipschitz constant of a vector-valued g on (x, y, a), or on (x, y) if A has length 1.

    The result is at least `at_least`: a smaller constant is not searched for.
    """
    g_XYAC = np.ascontiguousarray(g_XYAC, float)
    action_values = model.actions.values if g_XYAC.shape[2] > 1 else np.zeros((1, 1))
    dX, dA = _distances(model.slow.values), _distances(action_values)
    mX = _largest_change(g_XYAC)
    mA = _largest_change(np.ascontiguousarray(np.moveaxis(g_XYAC, 2, 0)))
    slopes_XY = _action_slopes(g_XYAC, dA)
    widest = float(np.sqrt((np.ptp(g_XYAC.reshape(-1, g_XYAC.shape[3]), axis=0) ** 2).sum()))
    best = max(at_least, _slope(mX, dX), _slope(mA, dA))
    g_YXAC = np.ascontiguousarray(np.moveaxis(g_XYAC, 1, 0))
    rows = max(1, BLOCK // model.n_fast)
    for start in range(0, model.n_fast, rows):
        ys = np.arange(start, min(start + rows, model.n_fast))
        dY_block = _distances(model.fast.values[ys], model.fast.values)
        mY_block, best = _fast_changes(g_YXAC, ys, dY_block, widest, best)
        best = _best_ratio(g_XYAC, ys, dX, dY_block, dA, mX, mY_block, mA, slopes_XY, best)
    return float(best)


def _successors(model: FastSlowMDP, dynamics: Tables, w: int) -> np.ndarray:
    """The coordinates of f(x, y, a, w), shape (X, Y, A, d); A is 1 if no action matters."""
    slow = dynamics.next_slow[..., min(w, dynamics.next_slow.shape[3] - 1)]
    fast = dynamics.next_fast[..., min(w, dynamics.next_fast.shape[3] - 1)]
    shape = (model.n_slow, model.n_fast, max(slow.shape[2], fast.shape[2]))
    parts = (model.slow.values[slow], model.fast.values[fast])
    return np.concatenate([np.broadcast_to(p, (*shape, p.shape[-1])) for p in parts], axis=-1)


def _largest_step(model: FastSlowMDP, table: np.ndarray, values: np.ndarray, axis: int) -> float:
    """The largest ‖value − next value‖ over outcomes of positive probability, in blocks of x."""
    possible = model.noise_W > 0 if table.shape[3] > 1 else slice(None)
    largest = 0.0
    for x in range(model.n_slow):
        block = values[table[min(x, len(table) - 1)][..., possible]]
        here = values[x] if axis == 0 else values[:, None, None, :]
        largest = max(largest, float(((block - here) ** 2).sum(axis=-1).max()))
    return float(np.sqrt(largest))


def _distances(points: np.ndarray, others: np.ndarray | None = None) -> np.ndarray:
    """Euclidean distances from each point to each of the others, by default the same points."""
    others = points if others is None else others
    squares = np.zeros((len(points), len(others)))
    for column, other in zip(points.T, others.T, strict=True):
        squares += (column[:, None] - other) ** 2
    return np.sqrt(squares)


@jit
def _norm(u, v):
    square = 0.0
    for c in range(u.size):
        square += (u[c] - v[c]) ** 2
    return np.sqrt(square)


@jit
def _change(g_nABC, i, j):
    """The largest ‖g(i, ·) − g(j, ·)‖, where the axis of i and j comes first."""
    largest = 0.0
    for a in range(g_nABC.shape[1]):
        for b in range(g_nABC.shape[2]):
            largest = max(largest, _norm(g_nABC[i, a, b], g_nABC[j, a, b]))
    return largest


@jit
def _largest_change(g_nABC):
    """m(i, j) for all pairs of points on a short axis."""
    n = len(g_nABC)
    m = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            m[i, j] = m[j, i] = _change(g_nABC, i, j)
    return m


@jit
def _fast_changes(g_YXAC, ys, dY_block, widest, best):
    """m_Y(y, y') for a block of y and every y' ≤ y, and the largest ratio so far.

    g changes by at most `widest` overall, so a pair of fast states with widest ≤ best·d_Y cannot
    have a larger ratio for any x and a. Such a pair is marked by −1.
    """
    m_block = np.full(dY_block.shape, -1.0)
    for i in range(len(ys)):
        for y2 in range(ys[i] + 1):
            d = dY_block[i, y2]
            if widest > best * d:
                m = _change(g_YXAC, ys[i], y2)
                m_block[i, y2] = m
                if m > best * d:
                    best = m / d if d > 0 else np.inf
    return m_block, best


@jit
def _slope(m, d):
    """The largest m/d, which is the Lipschitz constant along one axis."""
    slope = 0.0
    for i in range(len(m)):
        for j in range(i):
            if m[i, j] > slope * d[i, j]:
                slope = m[i, j] / d[i, j] if d[i, j] > 0 else np.inf
    return slope


@jit
def _action_slopes(g, dA):
    """The Lipschitz constant of g(x, y, ·) in the action for each state, shape (X, Y)."""
    X, Y, A, _ = g.shape
    slopes = np.zeros((X, Y))
    for x in range(X):
        for y in range(Y):
            for a in range(A):
                for a2 in range(a):
                    if dA[a, a2] > 0:
                        change = _norm(g[x, y, a], g[x, y, a2])
                        slopes[x, y] = max(slopes[x, y], change / dA[a, a2])
    return slopes


@jit
def _best_ratio(g, ys, dX, dY_block, dA, mX, mY_block, mA, slopes_XY, best):
    """The largest ratio over the pairs with y in the block and y' ≤ y, or `best` if larger.

    If g changes by at most m between two states at distance d, and by at most `slope` per unit of
    distance between actions, the ratio is at most sqrt((m/d)² + slope²) by the Cauchy-Schwarz
    inequality. A pair of states is skipped if this does not exceed the largest ratio so far: first
    with m = m_X + m_Y, then with m the largest change at the same action.
    """
    X, _, A, _ = g.shape
    for i in range(len(ys)):
        y = ys[i]
        for y2 in range(y + 1):
            mY = mY_block[i, y2]
            if mY < 0 or best == np.inf:
                continue
            for x in range(X):
                for x2 in range(X):
                    d2 = dX[x, x2] ** 2 + dY_block[i, y2] ** 2
                    slope2 = min(slopes_XY[x, y], slopes_XY[x2, y2]) ** 2
                    m = mX[x, x2] + mY
                    if d2 == 0 or m * m <= (best**2 - slope2) * d2:
                        continue
                    m = 0.0
                    for a in range(A):
                        m = max(m, _norm(g[x, y, a], g[x2, y2, a]))
                    best = max(best, m / np.sqrt(d2))
                    if m * m <= (best**2 - slope2) * d2:
                        continue
                    for a in range(A):
                        for a2 in range(A):
                            distance = np.sqrt(d2 + dA[a, a2] ** 2)
                            if m + mA[a, a2] > best * distance:
                                ratio = _norm(g[x, y, a], g[x2, y2, a2]) / distance
                                best = max(best, ratio)
    return best
