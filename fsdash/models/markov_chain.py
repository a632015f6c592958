"""A model with an exogenous Markov chain and a fast state that the action and a noise move.

    z′ ~ P(z, ·)        y′ = fast_next(z, y, a, w),   w ~ noise(z, ·) independent of z′

Savings with a random income, stock with a random price, a battery: the chain goes its own way. Its
variables are slow, or only some of them (`slow="regime"`); the others then belong to the fast
state.
The law is stored in these two factors and never written out (`fsdash.core.factored`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fsdash.core.axis import Axis, numbers
from fsdash.core.factored import ExogenousChain, Factored
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import INDEX, PROBABILITY_TOLERANCE, Rows, added_up, made_exact
from fsdash.errors import InputError
from fsdash.models.arrays import to_csr
from fsdash.models.columns import named
from fsdash.models.faults import Faults
from fsdash.models.marked import named_actions, state_variables
from fsdash.models.reading import check_settings
from fsdash.models.size import MAX_TRANSITIONS, check_memory
from fsdash.models.table import axis_of

BYTES_PER_PAIR, BYTES_PER_PROBABILITY = 60, 60
"""Peak memory while the model is built, with copies."""


def from_markov_chain(
    P_XX: Any,
    fast_next: Any,
    reward: Any,
    *,
    gamma: float,
    slow_values: Any = None,
    fast_values: Any = None,
    slow: str | Sequence[str] | None = None,
    noise: Any = None,
    actions: Sequence[Any] | None = None,
    initial_XY: Any = None,
    sense: str = "max",
    name: str = "model",
) -> FastSlowMDP:
    """Build a model with an exogenous chain and a fast state that the action and a noise move.

    Parameters
    ----------
    P_XX : array or sparse matrix
        Transition matrix of the chain, shape (X, X).
    fast_next : array of int
        Next fast state, shape (X, Y, A), or (Y, A) if it does not depend on x; −1 if the action is
        infeasible. With `noise`, a last axis W is added.
    reward : array
        Expected rewards, shape (X, Y, A) or broadcastable to it; minus infinity if the action is
        infeasible. Costs if `sense` is "min".
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    slow_values, fast_values : sequence or pd.DataFrame, optional
        Values of the slow and fast states: numbers, words, or a frame with one column per
        variable; their numbers by default.
    slow : str or sequence of str, optional
        The slow variables of the chain, by their names in `slow_values`; all by default. The others
        become part of the fast state. `slow_values` must have every combination of both.
    noise : array, optional
        Probabilities of the outcomes w of the noise that moves the fast state, shape (W,), or
        (X, W) if they depend on x. It is independent of the chain. No noise by default.
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

    The season is slow and the price fast; a unit that is stored is lost with probability 0.1:

    >>> chain = [{"season": s, "price": p} for s in ("dry", "wet") for p in (1.0, 3.0)]
    >>> P = np.kron([[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]])
    >>> stays, sells = [[0, 0], [1, 0]], [[0, 0], [0, 0]]
    >>> model = fsdash.from_markov_chain(
    ...     P,
    ...     np.stack([stays, sells], axis=1),
    ...     [[[0, 0], [0, price["price"]]] for price in chain],
    ...     gamma=0.95,
    ...     slow_values=chain,
    ...     slow="season",
    ...     noise=[0.9, 0.1],
    ... )
    >>> model.slow.names, model.fast.names, model.n_fast
    (('season',), ('price', 'fast'), 4)
    """
    faults = Faults()
    check_settings(faults, gamma, sense)
    P = _chain(faults, P_XX)
    Z = P.shape[0]
    noise_ZW = None if noise is None else _noise(noise, Z)
    next_states = _next(fast_next, Z, noise_ZW)
    Y, A = next_states.shape[1:3]
    bytes_of_law = BYTES_PER_PROBABILITY * (
        P.nnz + (next_states.size if noise_ZW is not None else 0)
    )
    check_memory(faults, BYTES_PER_PAIR * Z * Y * A + bytes_of_law)
    faults.raise_errors()
    order_Z, slow_axis, fast_axis = _axes(faults, slow_values, fast_values, slow, Z, Y)
    faults.raise_errors()
    X = len(slow_axis)
    if order_Z is not None:
        P = sparse.csr_array(P[order_Z][:, order_Z])
        next_states = next_states[order_Z] if len(next_states) == Z else next_states
        noise_ZW = noise_ZW[order_Z] if noise_ZW is not None and len(noise_ZW) == Z else noise_ZW
    reward_ZYA = _rewards(reward, (Z, Y, A), sense)
    inner = _inner_rows(next_states, noise_ZW, Z)
    shape = (X, Z // X * Y, A)
    law: Rows | Factored = Factored(
        ExogenousChain.of(P), inner.with_rows(inner.row_XYA.reshape(shape))
    )
    reward_XYA = _ordered(reward_ZYA, order_Z).reshape(shape)
    feasible_XYA = np.isfinite(reward_XYA) & (law.row_XYA > 0)
    if not feasible_XYA.any(axis=2).all():  # padding, which only rows can have
        law = law.to_rows(feasible_XYA, MAX_TRANSITIONS)
    initial: Any = None
    if initial_XY is not None:
        initial = _ordered(np.asarray(initial_XY), order_Z).reshape(shape[:2])
    return FastSlowMDP(
        reward_XYA=reward_XYA,
        rows=law,
        gamma=float(gamma),
        slow=slow_axis,
        fast=fast_axis,
        actions=named_actions(actions, A),
        initial_XY=initial,
        sense=sense,
        name=name,
    )


def _ordered(values: np.ndarray, order_Z: np.ndarray | None) -> np.ndarray:
    return values if order_Z is None else values[order_Z]


def _axes(
    faults: Faults, slow_values: Any, fast_values: Any, slow: Any, Z: int, Y: int
) -> tuple[np.ndarray | None, Axis, Axis]:
    """The order in which the exogenous states are slow first, and the two axes of the model."""
    names = named(slow)
    if names is None:
        return None, _axis(faults, slow_values, Z, "slow"), _axis(faults, fast_values, Y, "fast")
    frame = pd.DataFrame() if slow_values is None else pd.DataFrame(slow_values).rename(columns=str)
    for variable in names:
        if variable not in frame.columns:
            raise InputError(
                f"slow: {variable!r} is not a column of slow_values; they are "
                f"{', '.join(frame.columns) or 'none: give a frame with one row per state of P'}"
            )
    others = [column for column in frame.columns if column not in names]
    if not others:
        return None, _axis(faults, frame, Z, "slow"), _axis(faults, fast_values, Y, "fast")
    x_Z, f_Z = (
        frame.groupby(part, sort=True).ngroup().to_numpy() for part in (list(names), others)
    )
    X, F = int(x_Z.max()) + 1, int(f_Z.max()) + 1
    order_Z = np.argsort(x_Z * F + f_Z, kind="stable")
    if X * F != Z or len(np.unique(x_Z * F + f_Z)) != Z or len(frame) != Z:
        raise InputError(
            f"slow_values: {len(frame):,} rows for {X:,} slow × {F:,} other values; give every "
            f"combination once, as P has {Z:,} states"
        )
    frame = frame.iloc[order_Z].reset_index(drop=True)
    if fast_values is None:
        fast_values = pd.DataFrame({"fast": np.arange(Y)})
    elif not isinstance(fast_values, pd.DataFrame):
        fast_values = pd.DataFrame({"fast": list(fast_values)})
    both = pd.concat(
        [
            frame.loc[:, others].iloc[np.repeat(np.arange(F), Y)].reset_index(drop=True),
            fast_values.iloc[np.tile(np.arange(Y), F)].reset_index(drop=True),
        ],
        axis=1,
    )
    slow_frame = frame.loc[::F, list(names)].reset_index(drop=True)
    return order_Z, _axis(faults, slow_frame, X, "slow"), _axis(faults, both, F * Y, "fast")


def _inner_rows(next_states: np.ndarray, noise_ZW: np.ndarray | None, Z: int) -> Rows:
    """The law of the fast state while the chain stands; its states are numbered z·|Y| + y."""
    _, Y, A = next_states.shape[:3]
    z_Z11 = np.arange(Z, dtype=INDEX)[:, None, None]
    if noise_ZW is None:
        # Row 1 + z·|Y| + y′ leads to (z, y′).
        row_ZYA = next_states.astype(INDEX) + (1 + z_Z11 * INDEX(Y))
        row_ZYA[np.broadcast_to(next_states < 0, row_ZYA.shape)] = 0
        n = Z * Y
        start_R = np.concatenate([[0], np.arange(n + 1)])
        return Rows(row_ZYA, start_R, np.arange(n, dtype=INDEX), np.ones(n))
    # The pairs with the same next states for every outcome share a row, within each z.
    L, W = len(next_states), next_states.shape[3]
    z_P = np.repeat(np.arange(L), Y * A)
    keys = np.concatenate([z_P[:, None], next_states.reshape(-1, W)], axis=1)
    key_K, number_P = np.unique(keys, axis=0, return_inverse=True)
    number_LYA, next_KW = number_P.reshape(L, Y, A), key_K[:, 1:]
    possible_K = next_KW[:, 0] >= 0
    if L == 1:  # the same for every z, but for its number
        K = len(key_K)
        number_LYA = number_LYA + K * z_Z11.astype(np.int64)
        z_K, next_KW = np.repeat(np.arange(Z), K), np.tile(next_KW, (Z, 1))
        possible_K = np.tile(possible_K, Z)
    else:
        z_K = key_K[:, 0]
    p_KW = np.broadcast_to(noise_ZW, (Z, W))[z_K][possible_K]
    target_KW = (z_K[:, None] * Y + next_KW)[possible_K]
    row_K = np.where(possible_K, np.cumsum(possible_K), 0).astype(INDEX)
    place_N = np.repeat(np.arange(len(target_KW)), W)
    shape = (len(target_KW), Z * Y)
    start_K, target_N, p_N = made_exact(added_up(shape, place_N, target_KW.ravel(), p_KW.ravel()))
    start_R = np.concatenate([[0], start_K])
    return Rows(row_K[number_LYA], start_R, target_N.astype(INDEX), p_N)


def _noise(noise: Any, Z: int) -> np.ndarray:
    noise_ZW = np.atleast_2d(numbers("noise", noise))
    if noise_ZW.ndim != 2 or noise_ZW.shape[0] not in (1, Z) or not noise_ZW.size:
        raise InputError(f"noise: shape {np.shape(noise)}; give probabilities (W,) or ({Z}, W)")
    sum_Z = noise_ZW.sum(axis=1)
    if not (noise_ZW >= 0).all() or (np.abs(sum_Z - 1) > PROBABILITY_TOLERANCE).any():
        raise InputError("noise: give probabilities of at least 0 whose sum is 1")
    return noise_ZW / sum_Z[:, None]


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


def _next(fast_next: Any, Z: int, noise_ZW: np.ndarray | None) -> np.ndarray:
    """The next fast states, (Z, Y, A) or (1, Y, A), with a last axis W if there is noise."""
    values, form = np.asarray(fast_next), "(X, Y, A) or (Y, A)"
    if noise_ZW is not None:
        form = f"(X, Y, A, {noise_ZW.shape[1]}) or (Y, A, {noise_ZW.shape[1]})"
    axes = 3 if noise_ZW is None else 4
    values = values[None] if values.ndim == axes - 1 else values
    wrong_noise = noise_ZW is not None and values.shape[-1:] != noise_ZW.shape[1:]
    if values.ndim != axes or 0 in values.shape or values.shape[0] not in (1, Z) or wrong_noise:
        shape = np.shape(fast_next)
        raise InputError(f"fast_next: shape {shape}; give {form} with X = {Z}")
    if values.dtype.kind not in "iu":
        raise InputError(f"fast_next: holds {values.dtype}; give indices of fast states")
    if values.min() < -1 or values.max() >= values.shape[1]:
        raise InputError(
            f"fast_next: holds {values.min()} to {values.max()}; give indices from 0 to "
            f"{values.shape[1] - 1}, or −1 for an action that is infeasible"
        )
    if noise_ZW is not None and ((values < 0).any(axis=3) != (values < 0).all(axis=3)).any():
        raise InputError(
            "fast_next: −1 for some outcomes of the noise only; give it for all or none"
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
