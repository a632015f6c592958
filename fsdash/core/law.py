"""The law of the next state, in whichever form it is stored.

A model has two laws, the true one and the one with the slow state frozen. Everything outside this
package uses them through `TransitionLaw` and never asks for the form:

    Tables   the successor of (x, y, a, w) for one noise w that all states share
    Rows     a distribution of next states for each (x, y, a)
    Factored an exogenous Markov chain, and rows for the rest of the state while it stands

A form has its own kernels where that is faster: the tables share the noise of a state among its
actions, and the rows share an expectation among pairs with the same row.

A state is a pair of indices (x, y); as one number it is x·|Y| + y. Under a policy the action axis
of a law has length 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from fsdash.errors import InputError

Policies = Sequence[np.ndarray] | np.ndarray
"""Policies π₁, …, π_{T−1}, each (X, Y): a sequence of them or one array (T−1, X, Y)."""

if TYPE_CHECKING:
    from fsdash.core.factored import FactoredSamples
    from fsdash.core.policy_chain import Chain, RowChain
    from fsdash.core.row_samples import RowSamples
    from fsdash.core.rows import Rows
    from fsdash.core.table_samples import TableSamples


@dataclass(frozen=True, eq=False)
class NextStateLaw:
    """The law of the next state of one state-action pair: K states with their probabilities."""

    x_K: np.ndarray
    y_K: np.ndarray
    probability_K: np.ndarray

    def draw(self, rng: np.random.Generator) -> tuple[int, int]:
        """Draw a next state by the inverse of the distribution function."""
        k = int(np.searchsorted(np.cumsum(self.probability_K), rng.random(), side="right"))
        last = int(np.flatnonzero(self.probability_K)[-1])
        k = min(k, last)  # the sum may be below 1 by rounding
        return int(self.x_K[k]), int(self.y_K[k])


class TransitionLaw(ABC):
    """The distribution of (x', y') after each (x, y, a)."""

    # What the law is like.

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(X, Y, A), or (X, Y, 1) under a policy."""

    @property
    @abstractmethod
    def exogenous_slow(self) -> bool:
        """Whether the law of x' depends on x only, not on the fast state or the action."""

    @property
    def exogenous_gap(self) -> float:
        """By how much the laws of an exogenous x' differ through rounding, in L₁."""
        return 0.0

    @property
    @abstractmethod
    def noise_free_fast(self) -> bool:
        """Whether y' is certain, given the state and the action."""

    @property
    def separable(self) -> bool:
        """Whether E[U(x', y')] is an average over x' followed by one look-up of y'."""
        return self.exogenous_slow and self.noise_free_fast

    @property
    def common_noise_W(self) -> np.ndarray | None:
        """Probabilities of the outcomes of one noise that all states share, if there is one."""
        return None

    def successors(self, w: int) -> np.ndarray:
        """Return the next states for an outcome w of the common noise.

        It has the axes X, Y and A; those that it does not depend on have length 1.
        """
        raise InputError("this transition law has no noise that all states share")

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """The number of next states in an exact expectation, on average over the pairs."""

    @property
    @abstractmethod
    def terms(self) -> int:
        """The largest number of terms that are added in an expectation."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """The number of probabilities that are stored."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The size of the law in a few words, for displays."""

    # Expectations and maxima.

    @abstractmethod
    def follow(self, policy_XY: np.ndarray) -> Self:
        """Return the law under a policy, shape (X, Y, 1)."""

    @abstractmethod
    def expect(self, U_XY: np.ndarray) -> np.ndarray:
        """Return E[U(x', y')] for every (x, y, a).

        The action axis has length 1 under a policy, and for index tables without actions.
        """

    @abstractmethod
    def bellman(
        self, reward_XYA: np.ndarray, gamma: float, U_XY: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return max_a r + γ E[U] and the first action that attains it."""

    @abstractmethod
    def policy_sweeps(
        self,
        reward_XYA: np.ndarray,
        policy_XY: np.ndarray,
        gamma: float,
        m: int,
        goal: float,
        U_XY: np.ndarray,
    ) -> int:
        """Make up to m sweeps U ← r + γ E[U] of a policy, in place; return how many were made.

        The sweeps end early once max_x (max_y δ − min_y δ) ≤ goal for the change δ of a sweep.
        """

    @abstractmethod
    def chain(
        self, reward_XYA: np.ndarray, policy_PXY: np.ndarray, gamma: float
    ) -> Chain | RowChain:
        """Return the Markov chain of a policy with phases (`fsdash.core.policy_chain`)."""

    @abstractmethod
    def push_forward(self, m_XY: np.ndarray) -> np.ndarray:
        """Return the distribution one period later, for a law that follows a policy."""

    # Probabilities.

    @abstractmethod
    def slow_kernel(self) -> np.ndarray:
        """Return P(x, x') of an exogenous slow state, shape (X, X)."""

    def staying(self) -> np.ndarray:
        """Return Pr(x' = x), broadcastable to (X, Y, A)."""
        return np.diag(self.slow_kernel())[:, None, None]

    @abstractmethod
    def next_states(self, x: int, y: int, a: int) -> NextStateLaw:
        """Return the next states of one feasible pair with their probabilities."""

    @abstractmethod
    def stages(self) -> Iterator[Iterator[tuple[np.ndarray, np.ndarray]]]:
        """Yield the terms of E[U]: a probability, and the state whose value it multiplies.

        A law in two factors has two stages: the sums of the first are the values of the second.
        `per_pair` turns the sums of the last stage into (X, Y, A).
        """

    @abstractmethod
    def per_pair(self, values: np.ndarray) -> np.ndarray:
        """Return what belongs to each pair, broadcastable to (X, Y, A)."""

    @abstractmethod
    def supports(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield sets of next states: each pair's number n of shape (X, Y, A), start and target.

        The pair's set is target[start[n]] to target[start[n + 1] − 1]; its next states are in the
        union of the sets that are yielded.
        """

    @abstractmethod
    def stays(self) -> np.ndarray:
        """Return whether the next state of (x, y, a) is certainly (x, y), shape (X, Y, A)."""

    def to_rows_size(self) -> int:
        """The number of probabilities in `to_rows`, where it is known without computing them."""
        return self.entries

    @abstractmethod
    def to_rows(self, feasible_XYA: np.ndarray, most: int | None = None) -> Rows:
        """Return the law as rows with at most so many different transitions, or raise."""

    # Draws.

    @abstractmethod
    def draw_noise(self, rng: np.random.Generator, steps: int) -> np.ndarray:
        """Draw the noise of a path, which does not depend on the policy."""

    @property
    @abstractmethod
    def step(self) -> tuple:
        """The arrays with which `fsdash.core.simulate.successor` computes one step of a path."""

    @abstractmethod
    def fast_noise(
        self, noise_N: np.ndarray, x_N: np.ndarray, y_N: np.ndarray, action_N: np.ndarray
    ) -> np.ndarray:
        """Return the noise that moved the fast state in each period of a path.

        With it a frozen plan differs from the path only because the slow state moved.
        """

    @abstractmethod
    def at_quantiles(self, pair_N: np.ndarray, u_N: np.ndarray) -> np.ndarray:
        """Return the next state of each pair (x·|Y| + y)·|A| + a, by inverse CDF at uniforms u.

        Pairs with the same u have common random numbers.
        """

    @abstractmethod
    def samples(
        self, M: int, lower: Policies | None = None
    ) -> TableSamples | RowSamples | FactoredSamples:
        """Return samplers of M draws from each pair, and of paths that then follow `lower`."""
