"""The fast-slow Markov decision process as a few small tables.

A state s = (x, y) has a slow part x and a fast part y (Assumption "Separability and the Fast-Slow
Property"). Both are indices, and the pair is never flattened. An array has an axis for each of

    X  slow states     Y  fast states     A  actions     W  outcomes of the noise w

that it depends on, and its name ends with their letters (`reward_XYA`, `U_XY`). A transition array
may have length 1 on any axis, which means "does not depend on this": an exogenous slow state is
(X, 1, 1, W), a noise-free fast state (X, Y, A, 1). An axis along which nothing changes is reduced
to length 1 when the model is built, so the shapes show the structure however the arrays were given.
The operators use these shapes to save work, and no array with |S|·|S| entries is ever made.

The model has two dynamics. `true` is f = (f_X, f_Y). `frozen` keeps x where it is and moves y by
`frozen_next_fast`: these are the dynamics of the lower-level problem. By default that is f_Y
itself. A domain whose y' depends on x' (inventory: on tomorrow's demand) gives its own.

Index tables share one noise among all states. A law in which the probabilities depend on the state,
as in any Markov chain, is given as sparse rows instead (`fsdash.core.rows`). Both are used through
one protocol, `fsdash.core.law.TransitionLaw`.

An action that is infeasible in a state has the reward −∞ there, as in QuantEcon, so no maximum
takes it. A state space need not be a product of slow and fast states. A pair (x, y) that is not a
state is *padding*: it mirrors a real state with the same x, so its values and its regret repeat
those of that state and change no maximum, and the initial distribution is 0 there.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np

from fsdash.core.axis import Axis as Axis
from fsdash.core.axis import read_only
from fsdash.core.checks import (
    check_targets,
    checked_axis,
    checked_discount,
    checked_distribution,
    checked_feasible,
    checked_indices,
    checked_noise,
    checked_rewards,
)
from fsdash.core.display import Lines, Summary
from fsdash.core.factored import Factored
from fsdash.core.law import TransitionLaw
from fsdash.core.rows import INDEX, Rows
from fsdash.core.tables import Tables
from fsdash.errors import InputError

SENSES = ("max", "min")


@dataclass(frozen=True, eq=False, repr=False)
class FastSlowMDP(Summary):
    """The model ⟨S = X × Y, A, W, f = (f_X, f_Y), r, γ⟩.

    Arrays are copied, checked and made read-only. Index arrays are stored as uint32. The transition
    law is given by `noise_W`, `next_slow` and `next_fast`, or by `rows`.

    Parameters
    ----------
    reward_XYA : np.ndarray
        r(x, y, a), the expected reward, shape (X, Y, A); −∞ where the action is infeasible.
    noise_W : np.ndarray
        Probabilities of the noise outcomes, shape (W,). Their sum must be 1 within 1e-9 and is then
        made exactly 1.
    next_slow : np.ndarray
        f_X as indices of slow states, shape (X, Y, A, W) with each axis of full length or 1.
    next_fast : np.ndarray
        f_Y as indices of fast states, shaped like `next_slow`.
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    frozen_next_fast : np.ndarray, optional
        f_Y while x is frozen; `next_fast` by default.
    rows : Rows or Factored
        The transition law as sparse rows (`Rows.from_entries`), or as an exogenous chain and rows
        for the rest (`fsdash.from_markov_chain`), instead of the four arrays above.
    frozen_rows : Rows, optional
        The law while x is frozen; by default x' = x and y' as in `rows`.
    feasible_XYA : np.ndarray, optional
        Whether an action can be taken in a state, shape (X, Y, A). By default all those with a
        finite reward, and with a row if the law is given as rows.
    slow, fast, actions : Axis, optional
        Coordinates and labels of the states and actions; the index by default.
    initial_XY : np.ndarray, optional
        Initial distribution, shape (X, Y); uniform over the states by default.
    sense : {"max", "min"}
        "min" if the rewards are negated costs: displays then show costs.
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

    The same slow state as a Markov chain, with its own probabilities in each state:

    >>> from fsdash.core.rows import Rows
    >>> x, y, a, new_x = np.indices((2, 2, 2, 2)).reshape(4, -1)
    >>> rows = Rows.from_entries(
    ...     (2, 2, 2), (x * 2 + y) * 2 + a, new_x * 2 + a, np.where(x == new_x, 0.9, 0.1)
    ... )
    >>> chain = fsdash.FastSlowMDP(reward_XYA=model.reward_XYA, rows=rows, gamma=0.9)
    >>> bool(np.allclose(fsdash.optimum(chain).U_XY, fsdash.optimum(model).U_XY))
    True
    """

    reward_XYA: np.ndarray
    # The law in one of its two forms; the other one stays None.
    noise_W: np.ndarray = None  # type: ignore[assignment]
    next_slow: np.ndarray = None  # type: ignore[assignment]
    next_fast: np.ndarray = None  # type: ignore[assignment]
    gamma: float = None  # type: ignore[assignment]  # required, like the law
    _: KW_ONLY
    frozen_next_fast: np.ndarray = None  # type: ignore[assignment]
    rows: Rows | Factored | None = None
    frozen_rows: Rows | None = None
    # The next five are filled in by __post_init__ if they are None.
    feasible_XYA: np.ndarray = None  # type: ignore[assignment]
    slow: Axis = None  # type: ignore[assignment]
    fast: Axis = None  # type: ignore[assignment]
    actions: Axis = None  # type: ignore[assignment]
    initial_XY: np.ndarray = None  # type: ignore[assignment]
    sense: str = "max"
    name: str = "model"

    def __post_init__(self) -> None:
        self._put("gamma", checked_discount(self.gamma))
        reward_XYA = checked_rewards(self.reward_XYA)
        if self.sense not in SENSES:
            raise InputError(f"sense = {self.sense!r}: choose from {', '.join(SENSES)}")
        tables = (self.noise_W, self.next_slow, self.next_fast)
        if all(table is None for table in tables) == (self.rows is None):
            raise InputError(
                "transitions: give noise_W, next_slow and next_fast, or rows instead of all three"
            )
        self._put("feasible_XYA", checked_feasible(self.feasible_XYA, reward_XYA, self.rows))
        reward_XYA = self.mirror(np.where(self.feasible_XYA, reward_XYA, -np.inf))
        self._put("reward_XYA", read_only(reward_XYA))
        if self.rows is None:
            self._put_tables()
        else:
            self._put_rows(self.rows)
        for axis, size in zip(("slow", "fast", "actions"), reward_XYA.shape, strict=True):
            self._put(axis, checked_axis(axis, getattr(self, axis), size))
        initial_XY = self.real_XY / self.n_real if self.initial_XY is None else self.initial_XY
        initial_XY = checked_distribution("initial_XY", initial_XY, 2, self.real_XY.shape)
        if initial_XY[~self.real_XY].any():
            x, y = np.argwhere((initial_XY > 0) & ~self.real_XY)[0].tolist()
            raise InputError(f"initial_XY[{x}, {y}] > 0, but (x, y) = ({x}, {y}) is not a state")
        self._put("initial_XY", initial_XY)

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _put_tables(self) -> None:
        """Check and copy the index tables."""
        self._put("noise_W", checked_noise(self.noise_W))
        full = (*self.reward_XYA.shape, len(self.noise_W))
        sizes = {"next_slow": self.n_slow, "next_fast": self.n_fast}
        if self.frozen_next_fast is not None:
            sizes["frozen_next_fast"] = self.n_fast
        for name, size in sizes.items():
            kind = "slow" if name == "next_slow" else "fast"
            self._put(name, checked_indices(name, getattr(self, name), full, size, kind))
        if self.frozen_next_fast is None:
            self._put("frozen_next_fast", self.next_fast)

    def _put_rows(self, rows: Rows | Factored) -> None:
        """Check the rows, and let padding mirror a real state."""
        check_targets(rows, self.feasible_XYA)
        rows = rows.with_rows(np.where(self.feasible_XYA, rows.row_XYA, INDEX(0)))
        self._put("rows", self._mirrored(rows))
        if self.frozen_rows is not None:
            self._put("frozen_rows", self._mirrored(self.frozen_rows))

    def _mirrored(self, law: Rows | Factored) -> Rows | Factored:
        return law.with_rows(read_only(self.mirror(law.row_XYA)))

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
    def real_XY(self) -> np.ndarray:
        """Whether (x, y) is a state: it has a feasible action. The other pairs are padding."""
        return read_only(np.asarray(self.feasible_XYA.any(axis=2)))

    @cached_property
    def n_real(self) -> int:
        """The number of states without padding."""
        return int(np.count_nonzero(self.real_XY))

    @cached_property
    def n_pairs(self) -> int:
        """The number of feasible state-action pairs: |S||A| if every action is feasible."""
        return int(np.count_nonzero(self.feasible_XYA))

    @cached_property
    def pairs_up_to_S(self) -> np.ndarray:
        """The number of feasible pairs in the first 0, 1, …, |S| flattened states."""
        pairs_S = self.feasible_XYA.sum(axis=2).reshape(-1)
        return read_only(np.concatenate([[0], np.cumsum(pairs_S)]))

    def mirror(self, values: np.ndarray) -> np.ndarray:
        """Return values, shape (X, Y, …), in which padding repeats a real state of the same x."""
        if self.real_XY.all():
            return values
        rows, first_X = np.arange(self.n_slow), self.real_XY.argmax(axis=1)
        real = self.real_XY.reshape(*self.real_XY.shape, *(1,) * (values.ndim - 2))
        return np.where(real, values, values[rows, first_X][:, None])

    @cached_property
    def true(self) -> TransitionLaw:
        """f = (f_X, f_Y), the dynamics of the base model."""
        shape = self.reward_XYA.shape
        return self.rows or Tables(self.next_slow, self.next_fast, self.noise_W, shape)

    @cached_property
    def frozen(self) -> TransitionLaw:
        """x' = x and y' = f_Y with x frozen, the dynamics of the lower level."""
        if self.rows is not None:
            return self.frozen_rows or self._mirrored(self.rows.frozen(self.real_XY))
        stay = np.arange(self.n_slow, dtype=INDEX)[:, None, None, None]
        shape = self.reward_XYA.shape
        return Tables(read_only(stay), self.frozen_next_fast, self.noise_W, shape)

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a feasible action."""
        possible = self.reward_XYA[self.feasible_XYA]
        return float(possible.min()), float(possible.max())

    @cached_property
    def largest_reward(self) -> float:
        """max |r(x, y, a)| over the feasible actions."""
        return max(abs(reward) for reward in self.reward_range)

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes; shared arrays count once."""
        tables = [
            self.reward_XYA,
            self.initial_XY,
            self.slow.values,
            self.fast.values,
            self.actions.values,
        ]
        if self.rows is None:
            tables += [self.noise_W, self.next_slow, self.next_fast, self.frozen_next_fast]
        shared = sum({id(table): table.nbytes for table in tables}.values())
        return shared if self.rows is None else shared + self.true.nbytes + self.frozen.nbytes

    def mean(self, U_XY: np.ndarray) -> float:
        """Return the mean of U over the initial distribution."""
        return float(np.vdot(self.initial_XY, U_XY))

    def _summary(self) -> tuple[str, Lines]:
        axes = {"slow states": self.slow, "fast states": self.fast, "actions": self.actions}
        low, high = self.reward_range
        if self.sense == "min":
            low, high = 0.0 - high, 0.0 - low
        return f"FastSlowMDP {self.name!r}", [
            *((label, f"{len(axis):,} ({', '.join(axis.names)})") for label, axis in axes.items()),
            ("noise", self.true.description),
            ("slow state", "exogenous" if self.true.exogenous_slow else "endogenous"),
            ("fast state", "noise-free" if self.true.noise_free_fast else "noisy"),
            ("discount γ", self.gamma),
            ("costs" if self.sense == "min" else "rewards", f"{low:.6g} to {high:.6g}"),
            ("memory", f"{self.nbytes:,} bytes"),
        ]
