"""Single draws of the next state, one for each state and action that is asked for.

A draw is a function of a uniform number u, by the inverse CDF of the noise or of the pair's next
state (`TransitionLaw.at_quantiles`). Pairs with the same u have common random numbers.

Draws also test the structure of a model (`Structure`), where nothing but samples may be used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.core.law import TransitionLaw
from fsdash.core.model import FastSlowMDP

TESTED = 125
"""Pairs of draws in each of the two tests of a model's structure."""
NEARLY = 0.01
"""Share of the pairs of draws that may differ in a model that nearly has the structure."""


class NextStates:
    """Draws of (x', y') under the true dynamics, or under others such as the frozen ones."""

    def __init__(self, model: FastSlowMDP, dynamics: TransitionLaw | None = None) -> None:
        self.model, self.dynamics = model, model.true if dynamics is None else dynamics
        self.pairs_N = np.flatnonzero(model.feasible_XYA)

    def draw(self, pair_N: np.ndarray, u_N: np.ndarray) -> np.ndarray:
        """Draw the next state x'·|Y| + y' of each pair (x·|Y| + y)·|A| + a at uniform numbers u."""
        return self.dynamics.at_quantiles(pair_N, u_N)

    def random_pairs(self, slow_N: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a feasible pair of each of these slow states, all with the same probability."""
        cells = self.model.n_fast * self.model.n_actions
        start_X = np.searchsorted(self.pairs_N, cells * np.arange(self.model.n_slow + 1))
        return self.pairs_N[rng.integers(start_X[slow_N], start_X[slow_N + 1])]


@dataclass(frozen=True)
class Structure:
    """What samples say about a model: how often two draws that should agree did not.

    Attributes
    ----------
    slow_changes : int
        Pairs of draws from one x at common random numbers, but with another y and action, that led
        to different x'. None if x is exogenous.
    frozen_changes : int
        Pairs of draws from one (x, y, a) with x frozen that led to different y'. None if y has no
        noise while x is frozen.
    tested : int
        Pairs of draws for each of the two.
    misses : int
        How many of as many pairs of draws from one (x, y, a), a true and a frozen one, led to
        different y'. They are among the draws of the other two tests.
    """

    slow_changes: int
    frozen_changes: int
    tested: int
    misses: int

    @property
    def exogenous_slow(self) -> bool:
        """Whether x is exogenous, or nearly so."""
        return self.tested > 0 and self.slow_changes <= NEARLY * self.tested

    @property
    def noise_free_fast(self) -> bool:
        """Whether y has no noise while x is frozen, or nearly none."""
        return self.tested > 0 and self.frozen_changes <= NEARLY * self.tested

    @property
    def mostly_misses(self) -> bool:
        """Whether the frozen map is wrong about y' in most periods, beyond what noise explains."""
        return self.misses - self.frozen_changes > self.tested / 2

    @property
    def evaluations(self) -> int:
        """The draws that were made."""
        return 4 * self.tested


def structure_from_samples(
    model: FastSlowMDP, rng: np.random.Generator, tested: int = TESTED
) -> Structure:
    """Test from samples whether x is exogenous and y noise-free while x is frozen."""
    true, frozen, Y = NextStates(model), NextStates(model, model.frozen), model.n_fast
    pair_N = rng.choice(true.pairs_N, tested)
    other_N = true.random_pairs(pair_N // (Y * model.n_actions), rng)
    u_N = rng.random(tested)
    next_N, other_next_N = (true.draw(p_N, u_N) for p_N in (pair_N, other_N))
    fast_N, other_fast_N = (frozen.draw(pair_N, rng.random(tested)) for _ in range(2))
    return Structure(
        int(np.count_nonzero(next_N // Y != other_next_N // Y)),
        int(np.count_nonzero(fast_N != other_fast_N)),
        tested,
        int(np.count_nonzero(next_N % Y != fast_N % Y)),
    )
