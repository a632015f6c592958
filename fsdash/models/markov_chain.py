"""A model whose slow state is an exogenous Markov chain and whose fast state moves for certain.

    x′ ~ P(x, ·)        y′ = fast_next(x, y, a)

Savings with a random income, stock with a random price: the action decides the fast state, and the
chain goes its own way. All (y, a) with the same x and y′ share a row, so the law has |X|·|Y| rows
however many actions there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fsdash.core.axis import Axis, numbers
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import INDEX, PROBABILITY_TOLERANCE, Rows
from fsdash.errors import InputError
from fsdash.models.arrays import to_csr
from fsdash.models.faults import Faults
from fsdash.models.marked import named_actions, state_variables
from fsdash.models.reading import check_settings
from fsdash.models.size import Size
from fsdash.models.table import axis_of


def from_markov_chain(
    P_XX: Any,
    fast_next: Any,
    reward: Any,
    *,
    gamma: float,
    slow_values: Any = None,
    fast_values: Any = None,
    actions: Sequence[Any] | None = None,
    initial_XY: Any = None,
    sense: str = "max",
    name: str = "model",
) -> FastSlowMDP:
    """Build a model with an exogenous slow chain and a deterministic fast state.

    Parameters
    ----------
    P_XX : array or sparse matrix
        Transition matrix of the slow state, shape (X, X).
    fast_next : array of int
        Next fast state, shape (X, Y, A), or (Y, A) if it does not depend on x; −1 if the action is
        infeasible.
    reward : array
        Expected rewards, shape (X, Y, A) or broadcastable to it; minus infinity if the action is
        infeasible. Costs if `sense` is "min".
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    slow_values, fast_values : sequence or pd.DataFrame, optional
        Values of the slow and fast states: numbers, words, or a frame with one column per
        variable; their numbers by default.
    actions : sequence, optional
        Names or values of the actions; their numbers by default.
    initial_XY : array, optional
        Initial distribution, shape (X, Y); uniform by default.
    sense : {"max", "min"}
        "min" if the rewards are costs.
    name : str
        Name for displays.

    Returns
    -------
    FastSlowMDP
        The model.

    Examples
    --------
    Savings: income is low or high, assets are 0 to 3, the action is tomorrow's assets.

    >>> import numpy as np
    >>> import fsdash
    >>> income, assets = np.array([1.0, 2.0]), np.arange(4)
    >>> consumption = income[:, None, None] + assets[:, None] - assets
    >>> with np.errstate(divide="ignore", invalid="ignore"):
    ...     utility = np.where(consumption > 0, np.log(consumption), -np.inf)
    >>> P_XX = [[0.9, 0.1], [0.2, 0.8]]
    >>> next_assets = np.tile(assets, (4, 1))
    >>> model = fsdash.from_markov_chain(
    ...     P_XX, next_assets, utility, gamma=0.95, slow_values=income
    ... )
    >>> model.n_pairs, model.true.exogenous_slow
    (23, True)
    """
    faults = Faults()
    check_settings(faults, gamma, sense)
    P = _chain(faults, P_XX)
    next_XYA = _next(fast_next, P.shape[0])
    X, Y, A = next_XYA.shape
    size = Size(X, Y, A, P.nnz * Y)
    size.check(faults)
    slow, fast = (
        _axis(faults, values, n, kind)
        for values, n, kind in ((slow_values, X, "slow"), (fast_values, Y, "fast"))
    )
    faults.raise_errors()
    reward_XYA = _rewards(reward, (X, Y, A), sense)
    feasible_XYA = (next_XYA >= 0) & (reward_XYA != -np.inf)
    return FastSlowMDP(
        reward_XYA=np.where(feasible_XYA, reward_XYA, -np.inf),
        rows=_rows(P, np.where(feasible_XYA, next_XYA, -1)),
        gamma=float(gamma),
        slow=slow,
        fast=fast,
        actions=named_actions(actions, A),
        initial_XY=initial_XY,
        sense=sense,
        name=name,
    )


def _rows(P: sparse.csr_array, next_XYA: np.ndarray) -> Rows:
    """Row 1 + x·|Y| + y′ leads to (x′, y′) with probability P(x, x′)."""
    X, Y, _ = next_XYA.shape
    row_XYA = np.where(next_XYA >= 0, 1 + np.arange(X)[:, None, None] * Y + next_XYA, 0)
    length_R = np.repeat(np.diff(P.indptr), Y)
    start_R = np.concatenate([[0, 0], np.cumsum(length_R)])
    # Row (x, y′) repeats the entries of P's row x, once for each y′.
    x_R = np.repeat(np.arange(X), Y)
    take_N = np.arange(start_R[-1]) + np.repeat(P.indptr[x_R] - start_R[1:-1], length_R)
    y_N = np.repeat(np.tile(np.arange(Y), X), length_R)
    target_N = P.indices[take_N].astype(np.int64) * Y + y_N
    return Rows(
        row_XYA.astype(INDEX),
        start_R.astype(np.int64),
        target_N.astype(INDEX),
        np.ascontiguousarray(P.data[take_N]),
    )


def _chain(faults: Faults, P_XX: Any) -> sparse.csr_array:
    matrix: Any = P_XX if sparse.issparse(P_XX) else numbers("P_XX", P_XX)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise InputError(f"P_XX: shape {matrix.shape}; give a square matrix (X, X)")
    P = to_csr(matrix, probabilities=True)
    P.sort_indices()
    if not (np.isfinite(P.data).all() and (P.data >= 0).all()):
        raise InputError("P_XX: holds negative or infinite numbers; give probabilities")
    sum_X = P.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sum_X - 1) > PROBABILITY_TOLERANCE)
    faults.add_places(
        [f"P_XX[{x}]" for x in wrong],
        len(wrong),
        lambda i: f"sums to {sum_X[wrong[i]]:.9g}, not 1",
        "divide the row by its sum",
    )
    if not len(wrong):
        P.data = P.data / np.repeat(sum_X, np.diff(P.indptr))
    return P


def _next(fast_next: Any, X: int) -> np.ndarray:
    values = np.asarray(fast_next)
    if values.ndim == 2:
        values = np.broadcast_to(values, (X, *values.shape))
    if values.ndim != 3 or 0 in values.shape or values.shape[0] not in (1, X):
        raise InputError(f"fast_next: shape {values.shape}; give (X, Y, A) or (Y, A) with X = {X}")
    if values.dtype.kind not in "iu":
        raise InputError(f"fast_next: holds {values.dtype}; give indices of fast states")
    values = np.broadcast_to(values, (X, *values.shape[1:])).astype(np.int64)
    if values.min() < -1 or values.max() >= values.shape[1]:
        raise InputError(
            f"fast_next: holds {values.min()} to {values.max()}; give indices from 0 to "
            f"{values.shape[1] - 1}, or −1 for an action that is infeasible"
        )
    return values


def _rewards(reward: Any, shape: tuple[int, int, int], sense: str) -> np.ndarray:
    try:
        values = np.broadcast_to(np.asarray(reward, dtype=float), shape)
    except (TypeError, ValueError):
        raise InputError(f"reward: give numbers that broadcast to (X, Y, A) = {shape}") from None
    return (-values if sense == "min" else values) + 0.0


def _axis(faults: Faults, values: Any, n: int, kind: str) -> Axis:
    if values is None:
        return Axis((kind,), np.arange(n))
    frame = values if isinstance(values, pd.DataFrame) else pd.DataFrame({kind: list(values)})
    variables, code_SV = state_variables(faults, frame, n)
    return axis_of(variables, code_SV) if not faults.has_errors else Axis((kind,), np.arange(n))
