"""The fast-slow Markov decision process as a few small tables.

A state s = (x, y) has a slow part x and a fast part y (Assumption "Separability and the Fast-Slow
Property"). Both are indices, and the pair is never flattened. An array has an axis for each of

    X  slow states     Y  fast states     A  actions     W  outcomes of the noise w

that it depends on, and its name ends with their letters (`reward_XYA`, `U_XY`). A transition array
may have length 1 on any axis, which means "does not depend on this": an exogenous slow state is
(X, 1, 1, W), a noise-free fast state (X, Y, A, 1). The operators use these shapes to save work, and
no array with |S|·|S| entries is ever made.

The model has two dynamics. `true` is f = (f_X, f_Y). `frozen` keeps x where it is and moves y by
`frozen_next_fast`: these are the dynamics of the lower-level problem. By default that is f_Y
itself. A domain whose y' depends on x' (inventory: on tomorrow's demand) gives its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsdash.core.axis import Axis as Axis
from fsdash.core.axis import numbers, read_only
from fsdash.core.display import Rows, Summary
from fsdash.errors import InputError

PROBABILITY_TOLERANCE = 1e-9
LARGEST_REWARD = 1e100
INDEX = np.uint32
"""Type of transition tables. It takes half the memory of a 64-bit index, and because it is
unsigned, compiled loops need not check for negative indices."""


@dataclass(frozen=True, eq=False)
class Dynamics:
    """One transition law: the successor of (x, y, a, w) and the probability of each w.

    `next_slow` and `next_fast` are integer arrays with four axes (X, Y, A, W), each of full length
    or 1. If neither depends on the noise, `noise_W` becomes [1.0].
    """

    next_slow: np.ndarray
    next_fast: np.ndarray
    noise_W: np.ndarray

    def __post_init__(self) -> None:
        if self.next_slow.shape[3] == self.next_fast.shape[3] == 1:
            object.__setattr__(self, "noise_W", read_only(np.ones(1)))

    @property
    def exogenous_slow(self) -> bool:
        """Whether x' depends on (x, w) only, not on the fast state or the action."""
        return self.next_slow.shape[1] == self.next_slow.shape[2] == 1

    @property
    def noise_free_fast(self) -> bool:
        """Whether y' does not depend on the noise."""
        return self.next_fast.shape[3] == 1

    @property
    def separable(self) -> bool:
        """Whether E[U(x', y')] is an average over x' followed by one look-up of y'."""
        return self.exogenous_slow and self.noise_free_fast


@dataclass(frozen=True, eq=False, repr=False)
class FastSlowMDP(Summary):
    """The model ⟨S = X × Y, A, W, f = (f_X, f_Y), r, γ⟩.

    Arrays are copied, checked and made read-only. Index arrays are stored as uint32.

    Parameters
    ----------
    reward_XYA : np.ndarray
        r(x, y, a), the expected reward, shape (X, Y, A).
    noise_W : np.ndarray
        Probabilities of the noise outcomes, shape (W,).
    next_slow : np.ndarray
        f_X as indices of slow states, shape (X, Y, A, W) with each axis of full length or 1.
    next_fast : np.ndarray
        f_Y as indices of fast states, shaped like `next_slow`.
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    frozen_next_fast : np.ndarray, optional
        f_Y while x is frozen; `next_fast` by default.
    slow, fast, actions : Axis, optional
        Coordinates and labels of the states and actions; the index by default.
    initial_XY : np.ndarray, optional
        Initial distribution, shape (X, Y); uniform by default.
    name : str
        Name for displays.

    Examples
    --------
    A slow state that flips with probability 0.1, and a fast state that the action sets:

    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.FastSlowMDP(
    ...     reward_XYA=[[[1, 0], [0, 0]], [[0, 0], [0, 1]]],
    ...     noise_W=[0.9, 0.1],
    ...     next_slow=np.array([[0, 1], [1, 0]])[:, None, None, :],
    ...     next_fast=np.array([0, 1])[None, None, :, None],
    ...     gamma=0.9,
    ... )
    >>> model
    FastSlowMDP 'model'
      slow states  2 (slow)
      fast states  2 (fast)
      actions      2 (actions)
      noise        2 outcomes
      slow state   exogenous
      fast state   noise-free
      discount γ   0.9
      rewards      0 to 1
      memory       184 bytes
    >>> fsdash.optimum(model).policy_PXY[0].tolist()
    [[0, 0], [1, 1]]
    """

    reward_XYA: np.ndarray
    noise_W: np.ndarray
    next_slow: np.ndarray
    next_fast: np.ndarray
    gamma: float
    # The next five are filled in by __post_init__ if they are None.
    frozen_next_fast: np.ndarray = None  # type: ignore[assignment]
    slow: Axis = None  # type: ignore[assignment]
    fast: Axis = None  # type: ignore[assignment]
    actions: Axis = None  # type: ignore[assignment]
    initial_XY: np.ndarray = None  # type: ignore[assignment]
    name: str = "model"

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
        """Return a checked copy of a transition array."""
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
        return read_only(np.array(values, dtype=INDEX, order="C"))

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
        """f = (f_X, f_Y), the dynamics of the base model."""
        return Dynamics(self.next_slow, self.next_fast, self.noise_W)

    @cached_property
    def frozen(self) -> Dynamics:
        """x' = x and y' = f_Y with x frozen, the dynamics of the lower level."""
        stay = np.arange(self.n_slow, dtype=INDEX)[:, None, None, None]
        return Dynamics(read_only(stay), self.frozen_next_fast, self.noise_W)

    @cached_property
    def largest_reward(self) -> float:
        """max |r(x, y, a)|."""
        return float(np.abs(self.reward_XYA).max())

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes; arrays that are shared count once."""
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
        """Return the mean of U over the initial distribution."""
        return float(np.vdot(self.initial_XY, U_XY))

    def _summary(self) -> tuple[str, Rows]:
        axes = {"slow states": self.slow, "fast states": self.fast, "actions": self.actions}
        low, high = self.reward_XYA.min(), self.reward_XYA.max()
        return f"FastSlowMDP {self.name!r}", [
            *((label, f"{len(axis):,} ({', '.join(axis.names)})") for label, axis in axes.items()),
            ("noise", f"{len(self.noise_W):,} outcomes"),
            ("slow state", "exogenous" if self.true.exogenous_slow else "endogenous"),
            ("fast state", "noise-free" if self.true.noise_free_fast else "noisy"),
            ("discount γ", self.gamma),
            ("rewards", f"{low:.6g} to {high:.6g}"),
            ("memory", f"{self.nbytes:,} bytes"),
        ]


def _discount(gamma: float) -> float:
    gamma = float(numbers("gamma", gamma))
    if not 0 <= gamma < 1:
        raise InputError(f"gamma = {gamma}: give a discount factor with 0 ≤ γ < 1, such as 0.995")
    return gamma


def _rewards(reward_XYA: np.ndarray) -> np.ndarray:
    reward_XYA = numbers("reward_XYA", reward_XYA)
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
    return read_only(reward_XYA)


def _distribution(name: str, values: np.ndarray, ndim: int, shape=None) -> np.ndarray:
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


def _axis(name: str, axis: Axis | None, size: int) -> Axis:
    axis = Axis((name,), np.arange(size)) if axis is None else axis
    if not isinstance(axis, Axis):
        raise InputError(f"{name}: is not an Axis; give Axis(names, values)")
    if len(axis) != size:
        raise InputError(f"{name}: has {len(axis)} points, but reward_XYA has {size} on that axis")
    return axis
