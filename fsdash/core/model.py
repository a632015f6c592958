"""The fast-slow Markov decision process as a handful of small tables.

A state s = (x, y) has a slow part x and a fast part y (Assumption "Separability and the Fast-Slow
Property"). Both are indices, and the pair is never flattened: every array has one axis for each of

    X  slow states     Y  fast states     A  actions     W  outcomes of the noise w

and its name ends with the axes it has (`reward_XYA`, `U_XY`). A transition array may have length 1
on any axis, which says "does not depend on this": an exogenous slow state is (X, 1, 1, W), a
noise-free fast state (X, Y, A, 1). The operators read these shapes and take the short cut they
allow, so no array with |S|·|S| entries is ever made.

The model has two dynamics. `true` is f = (f_X, f_Y). `frozen` keeps x where it is and moves y by
`frozen_next_fast`: what the lower-level problem of the frozen-state approximation sees. By default
that is f_Y itself; a domain whose y' depends on x' (inventory: on tomorrow's demand) gives its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fsdash.errors import InputError

PROBABILITY_TOLERANCE = 1e-9
LARGEST_REWARD = 1e100
INDEX = np.uint32
"""Of transition tables: half the memory of a pointer, and compiled loops need not ask whether an
index counts from the end."""


@dataclass(frozen=True, eq=False)
class Axis:
    """Coordinates of the points of one axis: `values` is (n, d), `names` has d entries.

    Euclidean distances between rows are the metric of the measured constants; `label(i)` is what a
    table or a tooltip shows for point i.
    """

    names: tuple[str, ...]
    values: np.ndarray

    def __post_init__(self) -> None:
        values = _numbers(f"axis {self.names}", self.values)
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise InputError(
                f"axis {self.names}: values have shape {values.shape}; give one row per point and "
                f"one column per name, (n, {len(self.names)})"
            )
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0][0])
            raise InputError(f"axis {self.names}: point {row} is not finite; give real coordinates")
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "values", _read_only(values))

    def __len__(self) -> int:
        return len(self.values)

    def label(self, i: int) -> str:
        return ", ".join(
            f"{name}={value:g}" for name, value in zip(self.names, self.values[i], strict=True)
        )


@dataclass(frozen=True, eq=False)
class Dynamics:
    """One transition law: where (x, y, a, w) leads, and how likely each w is.

    `next_slow` and `next_fast` are integer arrays with four axes (X, Y, A, W), each of full length
    or 1. If neither depends on the noise, `noise_W` becomes [1.0].
    """

    next_slow: np.ndarray
    next_fast: np.ndarray
    noise_W: np.ndarray

    def __post_init__(self) -> None:
        if self.next_slow.shape[3] == self.next_fast.shape[3] == 1:
            object.__setattr__(self, "noise_W", _read_only(np.ones(1)))

    @property
    def exogenous_slow(self) -> bool:
        """x' depends on (x, w) alone: not on the fast state, not on the action."""
        return self.next_slow.shape[1] == self.next_slow.shape[2] == 1

    @property
    def noise_free_fast(self) -> bool:
        return self.next_fast.shape[3] == 1

    @property
    def separable(self) -> bool:
        """E[U(x', y')] is a mixture over x' first and one look-up of y' after."""
        return self.exogenous_slow and self.noise_free_fast


@dataclass(frozen=True, eq=False)
class FastSlowMDP:
    """⟨S = X × Y, A, W, f = (f_X, f_Y), r, γ⟩ with the frozen dynamics and initial distribution.

    | field              | shape                 | meaning                                        |
    |--------------------|-----------------------|------------------------------------------------|
    | `reward_XYA`       | (X, Y, A)             | r(x, y, a), the expected reward                |
    | `noise_W`          | (W,)                  | probabilities of the noise                     |
    | `next_slow`        | each axis full or 1   | f_X, an index into the slow states             |
    | `next_fast`        | each axis full or 1   | f_Y, an index into the fast states             |
    | `frozen_next_fast` | each axis full or 1   | f_Y with x frozen; default `next_fast`         |
    | `gamma`            |                       | discount factor, 0 ≤ γ < 1                     |
    | `slow`, `fast`, `actions` | `Axis`         | coordinates and labels; default the index      |
    | `initial_XY`       | (X, Y)                | initial distribution; default uniform          |

    Arrays are copied, checked and made read-only. Index arrays are stored as uint32.
    """

    reward_XYA: np.ndarray
    noise_W: np.ndarray
    next_slow: np.ndarray
    next_fast: np.ndarray
    gamma: float
    frozen_next_fast: np.ndarray | None = None
    slow: Axis | None = None
    fast: Axis | None = None
    actions: Axis | None = None
    initial_XY: np.ndarray | None = None
    name: str = field(default="model")

    def __post_init__(self) -> None:
        put = lambda key, value: object.__setattr__(self, key, value)  # noqa: E731
        put("gamma", _discount(self.gamma))
        put("reward_XYA", _rewards(self.reward_XYA))
        put("noise_W", _distribution("noise_W", self.noise_W, ndim=1))
        put("next_slow", self._indices("next_slow", self.next_slow, self.n_slow, "slow"))
        put("next_fast", self._indices("next_fast", self.next_fast, self.n_fast, "fast"))
        frozen = self.next_fast
        if self.frozen_next_fast is not None:
            frozen = self._indices("frozen_next_fast", self.frozen_next_fast, self.n_fast, "fast")
        put("frozen_next_fast", frozen)
        for axis, size in zip(("slow", "fast", "actions"), self.reward_XYA.shape, strict=True):
            put(axis, _axis(axis, getattr(self, axis), size))
        shape = (self.n_slow, self.n_fast)
        initial = np.full(shape, 1 / self.n_states) if self.initial_XY is None else self.initial_XY
        put("initial_XY", _distribution("initial_XY", initial, ndim=2, shape=shape))

    def _indices(self, name: str, values: np.ndarray, size: int, kind: str) -> np.ndarray:
        """A checked copy of a transition array."""
        values = np.asarray(values)
        full = (*self.reward_XYA.shape, len(self.noise_W))
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
        return _read_only(np.array(values, dtype=INDEX, order="C"))

    @property
    def n_slow(self) -> int:
        return self.reward_XYA.shape[0]

    @property
    def n_fast(self) -> int:
        return self.reward_XYA.shape[1]

    @property
    def n_actions(self) -> int:
        return self.reward_XYA.shape[2]

    @property
    def n_states(self) -> int:
        return self.n_slow * self.n_fast

    @cached_property
    def true(self) -> Dynamics:
        """f = (f_X, f_Y), what the world does."""
        return Dynamics(self.next_slow, self.next_fast, self.noise_W)

    @cached_property
    def frozen(self) -> Dynamics:
        """x' = x and y' = f_Y with x frozen, what the lower level believes."""
        stay = np.arange(self.n_slow, dtype=INDEX)[:, None, None, None]
        return Dynamics(_read_only(stay), self.frozen_next_fast, self.noise_W)

    @cached_property
    def largest_reward(self) -> float:
        """max |r|."""
        return float(np.abs(self.reward_XYA).max())

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes (arrays that are shared count once)."""
        tables = (
            self.reward_XYA,
            self.noise_W,
            self.next_slow,
            self.next_fast,
            self.frozen_next_fast,
            self.initial_XY,
            self.slow.values,
            self.fast.values,
            self.actions.values,
        )
        return sum({id(table): table.nbytes for table in tables}.values())

    def mean(self, U_XY: np.ndarray) -> float:
        """The mean of U over the initial distribution."""
        return float(np.vdot(self.initial_XY, U_XY))


def _read_only(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


def _numbers(name: str, values: object) -> np.ndarray:
    """A float copy of what can be one."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError
    except (TypeError, ValueError):
        raise InputError(f"{name}: is not an array of real numbers; give numbers") from None
    return np.array(array, dtype=float, order="C")


def _discount(gamma: float) -> float:
    gamma = float(_numbers("gamma", gamma))
    if not 0 <= gamma < 1:
        raise InputError(f"gamma = {gamma}: give a discount factor with 0 ≤ γ < 1, such as 0.995")
    return gamma


def _rewards(reward_XYA: np.ndarray) -> np.ndarray:
    reward_XYA = _numbers("reward_XYA", reward_XYA)
    if reward_XYA.ndim != 3 or reward_XYA.size == 0:
        raise InputError(
            f"reward_XYA: shape {reward_XYA.shape} is not (X, Y, A) with at least one slow state, "
            "one fast state and one action"
        )
    if not np.isfinite(reward_XYA).all():
        index = np.argwhere(~np.isfinite(reward_XYA))[0].tolist()
        raise InputError(
            f"reward_XYA{index} = {reward_XYA[tuple(index)]}: rewards must be finite; "
            "forbid an action by a large penalty instead of -inf"
        )
    if np.abs(reward_XYA).max() > LARGEST_REWARD:
        raise InputError(f"reward_XYA: rewards above {LARGEST_REWARD:g} overflow; use larger units")
    return _read_only(reward_XYA)


def _distribution(name: str, values: np.ndarray, ndim: int, shape=None) -> np.ndarray:
    values = _numbers(name, values)
    if values.ndim != ndim or values.size == 0 or (shape is not None and values.shape != shape):
        raise InputError(f"{name}: shape {values.shape}; expected {shape or '(W,) with W ≥ 1'}")
    bad = ~(values >= 0) | ~np.isfinite(values)
    if bad.any():
        index = np.argwhere(bad)[0].tolist()
        raise InputError(f"{name}{index} = {values[tuple(index)]}: probabilities are at least 0")
    if abs(values.sum() - 1) > PROBABILITY_TOLERANCE:
        raise InputError(f"{name}: sums to {values.sum():.12g}, not 1; divide it by its sum")
    return _read_only(values)


def _axis(name: str, axis: Axis | None, size: int) -> Axis:
    axis = Axis((name,), np.arange(size)) if axis is None else axis
    if not isinstance(axis, Axis):
        raise InputError(f"{name}: is not an Axis; give Axis(names, values)")
    if len(axis) != size:
        raise InputError(f"{name}: has {len(axis)} points, but reward_XYA has {size} on that axis")
    return axis
