"""Checks of the arrays that define a model.

Each returns what the model stores, or raises an error that names the array, the place in it and
the remedy.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.axis import Axis, Coordinate, numbers, read_only
from fsdash.core.factored import Factored
from fsdash.core.rows import INDEX, PROBABILITY_TOLERANCE, Rows
from fsdash.errors import InputError

LARGEST_REWARD = 1e100


def checked_discount(gamma: float) -> float:
    """Return γ as a float."""
    gamma = float(numbers("gamma", gamma))
    if not 0 <= gamma < 1:
        raise InputError(f"gamma = {gamma}: give a discount factor with 0 ≤ γ < 1, such as 0.995")
    return gamma


def checked_rewards(reward_XYA: np.ndarray) -> np.ndarray:
    """Return the rewards as floats; −∞ marks an infeasible action."""
    reward_XYA = numbers("reward_XYA", reward_XYA)
    if reward_XYA.ndim != 3 or reward_XYA.size == 0:
        raise InputError(
            f"reward_XYA: shape {reward_XYA.shape} is not (X, Y, A) with at least one slow state, "
            "one fast state and one action"
        )
    if (bad := np.isnan(reward_XYA) | (reward_XYA == np.inf)).any():
        index = np.argwhere(bad)[0].tolist()
        raise InputError(
            f"reward_XYA{index} = {reward_XYA[tuple(index)]}: give a finite reward, or -inf if the "
            "action is infeasible"
        )
    if np.abs(reward_XYA[np.isfinite(reward_XYA)]).max(initial=0) > LARGEST_REWARD:
        raise InputError(f"reward_XYA: rewards above {LARGEST_REWARD:g} overflow; use larger units")
    return reward_XYA


def checked_indices(
    name: str, values: np.ndarray, full: tuple[int, ...], size: int, kind: str
) -> np.ndarray:
    """Return a transition table as indices of slow or fast states; `full` is (X, Y, A, W).

    An axis along which the table does not change becomes an axis of length 1.
    """
    values = np.asarray(values)
    if values.ndim != 4 or any(n not in (1, full[i]) for i, n in enumerate(values.shape)):
        raise InputError(
            f"{name}: shape {values.shape} does not broadcast to (X, Y, A, W) = {full}; "
            "give four axes, each of full length or 1"
        )
    if not np.issubdtype(values.dtype, np.integer):
        raise InputError(f"{name}: holds {values.dtype}; give integers, {kind} state indices")
    if outside := np.argwhere((values < 0) | (values >= size)).tolist():
        index = tuple(outside[0])
        raise InputError(
            f"{name}{list(index)} = {values[index]} is not a {kind} state; "
            f"indices run from 0 to {size - 1}: clip or extend the {kind} states"
        )
    return read_only(np.array(_without_equal_axes(values), dtype=INDEX, order="C"))


def _without_equal_axes(table: np.ndarray) -> np.ndarray:
    """Return the first entry of each axis along which all entries are equal, all entries of others.

    The first and the last entry differ along most other axes, so few axes are compared in full.
    """
    for axis in range(table.ndim):
        ends = np.take(table, [0, -1], axis)
        first = np.take(ends, [0], axis)
        if (ends == first).all() and (table == first).all():
            table = first
    return table


def checked_feasible(
    given_XYA: np.ndarray | None, reward_XYA: np.ndarray, rows: Rows | Factored | None
) -> np.ndarray:
    """Return which actions are feasible: those with a finite reward and, given rows, with a row."""
    shape, possible_XYA = reward_XYA.shape, np.isfinite(reward_XYA)
    if rows is not None:
        if rows.row_XYA.shape != shape:
            raise InputError(
                f"rows: are for (X, Y, A) = {rows.row_XYA.shape}, but reward_XYA has {shape}"
            )
        possible_XYA &= rows.row_XYA > 0
    feasible_XYA = possible_XYA if given_XYA is None else np.array(given_XYA, bool)
    if feasible_XYA.shape != shape:
        raise InputError(
            f"feasible_XYA: shape {feasible_XYA.shape}; give one value for each (x, y, a), {shape}"
        )
    if (feasible_XYA & ~possible_XYA).any():
        index = np.argwhere(feasible_XYA & ~possible_XYA)[0].tolist()
        raise InputError(
            f"feasible_XYA{index} is true, but the pair has no finite reward or no transitions; "
            "give both or make it infeasible"
        )
    real_XY = np.any(feasible_XYA, axis=2)
    # Padding is possible with rows only, and mirrors a state with the same slow state.
    if not real_XY.all() and (rows is None or not real_XY.any(axis=1).all()):
        x, y = np.argwhere(~real_XY)[0].tolist()
        raise InputError(
            f"(x, y) = ({x}, {y}) has no feasible action; allow one, such as staying there"
        )
    return read_only(feasible_XYA)


def check_targets(rows: Rows | Factored, feasible_XYA: np.ndarray) -> None:
    """Raise an error if a feasible action leads to a state without feasible actions."""
    real_S, n_fast = feasible_XYA.any(axis=2).reshape(-1), feasible_XYA.shape[1]
    if real_S.all():
        return
    if isinstance(rows, Factored):
        raise InputError(
            "a chain and its rows: every state needs a feasible action, such as staying"
        )
    used_R = np.zeros(rows.n_rows, bool)
    used_R[rows.row_XYA[feasible_XYA]] = True
    outside_N = np.repeat(used_R, np.diff(rows.start_R)) & ~real_S[rows.target_N]
    if outside_N.any():
        x, y = divmod(int(rows.target_N[outside_N.argmax()]), n_fast)
        raise InputError(
            f"rows: lead to (x, y) = ({x}, {y}), which has no feasible action; give it one, such "
            "as staying there with reward 0 if it is terminal"
        )


def checked_distribution(
    name: str, values: np.ndarray, ndim: int, shape: tuple | None = None
) -> np.ndarray:
    """Return probabilities, which must sum to 1 within 1e-9."""
    values = numbers(name, values)
    if values.ndim != ndim or values.size == 0 or (shape is not None and values.shape != shape):
        raise InputError(f"{name}: shape {values.shape}; expected {shape or '(W,) with W ≥ 1'}")
    bad = ~(values >= 0) | ~np.isfinite(values)
    if bad.any():
        index = np.argwhere(bad)[0].tolist()
        raise InputError(f"{name}{index} = {values[tuple(index)]}: probabilities are at least 0")
    if abs(values.sum() - 1) > PROBABILITY_TOLERANCE:
        raise InputError(f"{name}: sums to {values.sum():.12g}, not 1; divide it by its sum")
    return read_only(values)


def checked_noise(noise_W: np.ndarray) -> np.ndarray:
    """Return the probabilities of the noise with the sum 1, which certificates rely on.

    A sum that is 1 up to rounding is left alone, so that a model can be built again unchanged.
    """
    noise_W = checked_distribution("noise_W", noise_W, ndim=1)
    total = noise_W.sum()
    if abs(total - 1) <= (len(noise_W) + 1) * np.finfo(float).eps:
        return noise_W
    return read_only(noise_W / total)


def checked_axis(name: str, axis: Axis | None, size: int) -> Axis:
    """Return the axis; by default its coordinates are the indices."""
    if axis is None:
        title = "action" if name == "actions" else f"{name} state"
        axis = Axis((name,), np.arange(size), {name: Coordinate(title)})
    if not isinstance(axis, Axis):
        raise InputError(f"{name}: is not an Axis; give Axis(names, values)")
    if len(axis) != size:
        raise InputError(f"{name}: has {len(axis)} points, but reward_XYA has {size} on that axis")
    return axis
