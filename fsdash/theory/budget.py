"""Which algorithm, which T and which k: Section "Regret versus Computational Cost ... Selecting T".

With a budget B, every competitor runs for as many iterations as B pays for (k_max), since its bound
falls with k; the one with the smallest bound wins. The competitors are Base VI and FSVI with each
of the horizons T > 1: FSVI with T = 1 is Base VI itself and would only make ties flicker.

A run needs k >= 1. With k = 0 nothing has been iterated: the policy is greedy to an initial guess
V^0, the bound is that of the worst guess, and Base VI's costs nothing, so no budget could ever be
too small. Hence the cheapest run is always one sweep of Base VI.

Ties go to Base VI, then to whoever led before (the cheaper run, as it reached that bound on a
smaller budget), then to the smaller T.

`regimes` cuts the whole budget axis at the points where the winner changes. A bound is a falling
staircase in B, with one step per sweep; near γ = 1 there are millions of them, most without
consequence. While the leader's bound is ρ, nobody can take the lead before their own staircase is
below ρ, because the leader's only falls further. So the sweep leaps to the first such step, looks
who leads there, and repeats. It skips only steps that cannot change the leader: the result is
exact, in the floats of `bounds` and `costs`.

In the end Base VI wins, as its bound goes to 0 and FSVI's stops at a floor. The exceptions: with a
floor of 0 (α = L_U = 0, or T = 2 with L_U = 0) FSVI keeps the lead, and the sweep stops where its
bound leaves the range of floats; with r_max = 0 or γ = 0 Base VI is at 0 from the first sweep.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.theory.bounds import FsviRegret, fsvi_regret, lemma_regret, trivial_bound
from fsdash.theory.costs import check_budget, largest_k, lower_level_cost
from fsdash.theory.parameters import LARGEST_K, LARGEST_T, Constants, Sizes, whole_numbers

VI, FSVI = "VI", "FSVI"
# Which bound is minimised: of (constants, T, k). All have the iteration term of `fsvi_regret`.
Bound = Callable[[Constants, ArrayLike, ArrayLike], FsviRegret]

# Below the smallest normal float all bounds run into 0 and no longer tell who is ahead.
_TINY = sys.float_info.min
_FARTHEST_K = LARGEST_K // 4


@dataclass(frozen=True)
class Choice:
    """One run: an algorithm ("VI" has T = 1), its iterations, its bound and its cost."""

    algorithm: str
    T: int
    k: int
    regret: float
    cost: float


@dataclass(frozen=True)
class Regime:
    """Budgets start <= B < end on which one competitor has the smallest bound."""

    start: float
    end: float
    algorithm: str
    T: int

    def __contains__(self, budget: float) -> bool:
        return self.start <= budget < self.end


@dataclass(frozen=True)
class Advice:
    """The best run for a budget, all affordable ones (best first) and the whole budget axis.

    A choice whose regret is above `trivial_bound` = r_max/(1-γ) wins on paper only: that much holds
    for every policy.
    """

    budget: float
    choice: Choice
    candidates: tuple[Choice, ...]
    regimes: tuple[Regime, ...]
    trivial_bound: float


def advise(
    constants: Constants, sizes: Sizes, budget: float, T: ArrayLike, bound: Bound = fsvi_regret
) -> Advice:
    """The best run that `budget` pays for, among Base VI and FSVI with the horizons `T`."""
    contest = Contest(constants, sizes, T, bound)
    budget = check_budget(sizes, budget)
    if budget < sizes.sweep:
        raise InputError(
            f"budget = {budget:g} pays for no run; the cheapest is one sweep of Base VI,"
            f" give at least its cost {sizes.sweep:.17g}."
        )
    all_regimes = _sweep(contest)
    leader = next(regime for regime in all_regimes if budget in regime)

    def rank(choice: Choice):
        leads = (choice.algorithm, choice.T) == (leader.algorithm, leader.T)
        return choice.regret, not leads, choice.algorithm != VI, choice.cost, choice.T

    candidates = tuple(sorted(contest.choices(budget), key=rank))
    return Advice(budget, candidates[0], candidates, all_regimes, trivial_bound(constants))


def regimes(
    constants: Constants, sizes: Sizes, T: ArrayLike, bound: Bound = fsvi_regret
) -> tuple[Regime, ...]:
    """The budget axis from the cheapest run to infinity, cut where the winner changes.

    Budgets beyond 2**48 sweeps of Base VI are not looked at; the last regime ends at inf.
    """
    return _sweep(Contest(constants, sizes, T, bound))


class Contest:
    """All competitors as arrays. The first is Base VI: FSVI with T = 1 and a free lower level."""

    def __init__(
        self, constants: Constants, sizes: Sizes, T: ArrayLike, bound: Bound = fsvi_regret
    ) -> None:
        horizons = np.unique(whole_numbers("T", T, 1, LARGEST_T))
        if not horizons.size:
            raise InputError("T is empty; give at least one horizon, such as 2.")
        horizons = horizons[horizons > 1]
        self.sweep = sizes.sweep
        self.T = np.concatenate(([1], horizons))
        self.lower = np.concatenate(([0.0], lower_level_cost(sizes, horizons)))
        self.gamma, self.worst = constants.gamma, trivial_bound(constants)
        self.floor = bound(constants, self.T, 0).floor
        self.weight = lemma_regret(constants.gamma, self.T, 0, 0, 0, 1).value_term

    def iterations(self, budget: float) -> np.ndarray:
        """The most iterations that `budget` pays for; below 1 there is no run."""
        return largest_k(self.lower, self.sweep, budget)

    def regret(self, k: np.ndarray) -> np.ndarray:
        """The bounds after k iterations each, inf without a run.

        To the last bit `fsvi_regret`, with its parts that do not depend on k computed once.
        """
        with np.errstate(under="ignore", over="ignore"):
            value_error = np.power(self.gamma, np.maximum(k, 1.0) * self.T) * self.worst
            return np.where(k >= 1, self.floor + self.weight * value_error, np.inf)

    def choices(self, budget: float) -> list[Choice]:
        k = self.iterations(budget)
        regret, cost = self.regret(k), self.lower + k * self.sweep
        return [
            Choice(*self.name(i), int(k[i]), float(regret[i]), float(cost[i]))
            for i in np.flatnonzero(k >= 1)
        ]

    def name(self, i: int) -> tuple[str, int]:
        return (FSVI if i else VI), int(self.T[i])

    def leader(self, regret: np.ndarray, before: int) -> int:
        """Who has the smallest bound; ties as the module says."""
        tied = regret == regret.min()
        return next(i for i in (0, before, int(np.argmax(tied))) if tied[i])

    def next_threat(self, k: np.ndarray, leader: int, target: float) -> float:
        """The first budget, after all have made k iterations, where another bound is below target.

        For Base VI a tie is enough. inf if there is no such budget. All staircases have steps of
        one sweep, so everyone makes their m-th step from here before anyone makes the next one.
        """
        others = np.arange(self.T.size) != leader

        def threats(m: int) -> np.ndarray:
            regret = self.regret(k + m)
            regret[leader] = np.inf
            beats = regret < target
            beats[0] |= regret[0] == target
            return beats

        guess = self._guess(target, others & (self.floor < target)) - k
        m = _first(lambda m: threats(m).any(), int(np.clip(guess.min(), 1, _FARTHEST_K)))
        if m is None:
            return math.inf
        return float((self.lower + (k + m) * self.sweep)[threats(m)].min())

    def _guess(self, target: float, possible: np.ndarray) -> np.ndarray:
        """About the k >= 1 whose bound is `target`; inf where no k has it."""
        with np.errstate(all="ignore"):
            decay = np.log((target - self.floor) / (self.weight * self.worst))
            k = np.ceil(decay / (self.T * math.log(self.gamma)))
        return np.where(possible, np.fmax(k, 1), np.inf)


def _first(test: Callable[[int], bool], guess: int) -> int | None:
    """The smallest m >= 1 that passes a test which, once passed, stays passed; None if too far.

    Bisection, from a narrow bracket if the guess is good.
    """
    low, high = max(guess - 2, 0), guess
    if low and test(low):
        low, high = 0, low
    while not test(high):
        low, high = high, 2 * high
        if high > _FARTHEST_K:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if test(middle) else (middle, high)
    return high


def _sweep(contest: Contest) -> tuple[Regime, ...]:
    """From threat to threat, starting with one sweep of Base VI, the cheapest run."""
    budget, leader = contest.sweep, 0
    changes = []
    while budget < math.inf:
        k = contest.iterations(budget)
        regret = contest.regret(k)
        leader = contest.leader(regret, leader)
        if not changes or leader != changes[-1][1]:
            changes.append((budget, leader))
        if regret[leader] < _TINY:  # whoever is in front now has won: the rest are roundings
            break
        budget = contest.next_threat(k, leader, regret[leader])
    ends = [start for start, _ in changes[1:]] + [math.inf]
    return tuple(
        Regime(start, end, *contest.name(i)) for (start, i), end in zip(changes, ends, strict=True)
    )
