"""The algorithm, T and k with the smallest bound for a budget.

This is Section "Regret versus Computational Cost ... Selecting T". With a budget B, every candidate
runs for k_max iterations, the largest k with cost ≤ B, because its bound falls with k. (The paper's
text says "less than B"; a run that costs exactly B is within the budget here.) The candidate with
the smallest bound wins. The candidates are Base VI and FSVI with each horizon T > 1; FSVI with
T = 1 is Base VI at a slightly higher cost.

A run needs k >= 1. With k = 0 nothing is iterated: the policy is greedy with respect to an initial
guess V^0, and the bound holds for the worst guess. So the cheapest run is one sweep of Base VI.

Ties go to Base VI, then to the candidate that was best on smaller budgets, then to the smaller T.

`regimes` divides the budget axis where the winner changes. As a function of B a bound is a falling
staircase with one step per sweep. Near γ = 1 there are millions of steps, but most of them change
nothing: if the best bound is ρ, no other candidate can win before its own bound is below ρ, since
the best bound only falls further. The search therefore jumps to the first such step, finds the
winner there, and repeats. It skips only steps that cannot change the winner, so the result is exact
in the floating-point values of the bounds and costs.

In the end Base VI wins, because its bound goes to 0 and FSVI's to its floor. There are two
exceptions. With a floor of 0 (α = L_U = 0, or T = 2 with L_U = 0) FSVI keeps winning, and the
search stops where its bound underflows. With r_max = 0 or γ = 0 the bound of Base VI is 0 from the
first sweep on.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from fsdash.core.display import Lines, Summary
from fsdash.errors import InputError
from fsdash.theory.bounds import FsviRegret, fsvi_bound, lemma_regret, trivial_bound
from fsdash.theory.parameters import (
    LARGEST_K,
    LARGEST_T,
    Constants,
    Sizes,
    Values,
    check_budget,
    largest_k,
    lower_level_cost,
    whole_numbers,
)

VI, FSVI = "VI", "FSVI"


BOUND_TERMS = ("reward", "transition", "iteration")
"""The terms of the bound of FSVI."""


class Bound(Protocol):
    """A bound to minimise. Its iteration term must be that of `fsvi_bound`."""

    def __call__(self, constants: Constants, T: ArrayLike, *, k: ArrayLike) -> FsviRegret: ...


# Below the smallest normal float, bounds underflow to 0 and can no longer be compared.
_TINY = sys.float_info.min
_FARTHEST_K = LARGEST_K // 4


@dataclass(frozen=True)
class BoundedRun:
    """A run with its bound and its cost: an algorithm ("VI" has T = 1) and its iterations."""

    algorithm: str
    T: int
    k: int
    regret: float
    cost: float


@dataclass(frozen=True)
class Regime:
    """The budgets start <= B < end on which one candidate has the smallest bound."""

    start: float
    end: float
    algorithm: str
    T: int

    def __contains__(self, budget: float) -> bool:
        return self.start <= budget < self.end


@dataclass(frozen=True, repr=False)
class Advice(Summary):
    """The best run for a budget, all affordable runs (best first) and the regimes of all budgets.

    If `choice.regret` is not below `trivial_bound` = r_max/(1-γ), the bound is vacuous: every
    policy satisfies it.
    """

    budget: float
    choice: BoundedRun
    candidates: tuple[BoundedRun, ...]
    regimes: tuple[Regime, ...]
    trivial_bound: float

    def _summary(self) -> tuple[str, Lines]:
        choice = self.choice
        vacuous = "vacuous" if choice.regret >= self.trivial_bound else "informative"
        return "Advice", [
            ("budget", self.budget),
            ("choice", f"{choice.algorithm}, T = {choice.T}, k = {choice.k:,}"),
            ("regret bound", f"{choice.regret:.6g} ({vacuous})"),
            ("trivial bound", self.trivial_bound),
            ("cost", choice.cost),
            ("candidates", len(self.candidates)),
            ("regimes", len(self.regimes)),
        ]


def advise(
    constants: Constants,
    sizes: Sizes,
    *,
    budget: float,
    T: ArrayLike,
    bound: Bound = fsvi_bound,
) -> Advice:
    """Find the run with the smallest bound among those with cost ≤ budget.

    Parameters
    ----------
    constants
        The constants of the model.
    sizes
        The sizes of the model.
    budget
        The most operations that a run may cost (cost ≤ budget); one sweep of Base VI is
        `sizes.sweep`.
    T
        The horizons of FSVI to compare with each other and with Base VI.
    bound
        The bound to minimise, by default the paper's `fsvi_bound`.

    Returns
    -------
    Advice
        The best `choice`, all affordable `candidates` and the `regimes` of all budgets.

    Examples
    --------
    >>> from fsdash.theory import advise, preset
    >>> p = preset("three-regimes")
    >>> advise(p.constants, p.sizes, budget=4 * p.sizes.sweep, T=p.T)
    Advice
      budget         2e+10
      choice         FSVI, T = 16, k = 3
      regret bound   9.37505 (informative)
      trivial bound  100
      cost           1.74e+10
      candidates     6
      regimes        7
    """
    candidates = Candidates(constants, sizes, T, bound)
    budget = check_budget(sizes, budget)
    if budget < sizes.sweep:
        raise InputError(
            f"budget = {budget:g} is too small for any run; the cheapest is one sweep of Base VI,"
            f" so give at least {sizes.sweep:.17g}."
        )
    all_regimes = _find_regimes(candidates)
    winner = next(regime for regime in all_regimes if budget in regime)

    def rank(choice: BoundedRun) -> tuple:
        wins = (choice.algorithm, choice.T) == (winner.algorithm, winner.T)
        return choice.regret, not wins, choice.algorithm != VI, choice.cost, choice.T

    choices = tuple(sorted(candidates.choices(budget), key=rank))
    return Advice(budget, choices[0], choices, all_regimes, trivial_bound(constants))


def regimes(
    constants: Constants, sizes: Sizes, *, T: ArrayLike, bound: Bound = fsvi_bound
) -> tuple[Regime, ...]:
    """Divide the budgets from the cheapest run to infinity where the winner changes.

    Budgets beyond 2**48 sweeps of Base VI are not searched; the last regime ends at inf.

    Examples
    --------
    >>> from fsdash.theory import preset, regimes
    >>> p = preset("three-regimes")
    >>> for regime in regimes(p.constants, p.sizes, T=[9, 16]):
    ...     print(regime.algorithm, regime.T, round(regime.start / p.sizes.sweep, 2))
    VI 1 1.0
    FSVI 9 1.27
    FSVI 16 1.48
    FSVI 9 5.27
    VI 1 53.0
    """
    return _find_regimes(Candidates(constants, sizes, T, bound))


class Candidates:
    """All candidates as arrays. The first is Base VI: FSVI with T = 1 and a free lower level."""

    def __init__(
        self, constants: Constants, sizes: Sizes, T: ArrayLike, bound: Bound = fsvi_bound
    ) -> None:
        horizons = np.unique(whole_numbers("T", T, 1, LARGEST_T))
        if not horizons.size:
            raise InputError("T is empty; give at least one horizon, such as 2.")
        horizons = horizons[horizons > 1]
        self.sweep = sizes.sweep
        self.T = np.concatenate(([1], horizons))
        self.lower = np.concatenate(([0.0], np.asarray(lower_level_cost(sizes, horizons))))
        self.gamma, self.largest_value = constants.gamma, trivial_bound(constants)
        self.floor = np.asarray(bound(constants, self.T, k=0).floor)
        self.weight = np.asarray(
            lemma_regret(
                constants.gamma, self.T, reward_error=0, l_u=0, distance=0, value_error=1
            ).value_term
        )

    def iterations(self, budget: Values) -> np.ndarray:
        """The largest k with cost ≤ `budget`; below 1 the candidate cannot run."""
        return largest_k(self.lower, self.sweep, budget)

    def regret(self, k: np.ndarray) -> np.ndarray:
        """The candidates' bounds after k iterations each; inf where k < 1.

        They equal `fsvi_bound` to the last bit; the parts that do not depend on k are computed
        once.
        """
        with np.errstate(under="ignore", over="ignore"):
            value_error = np.power(self.gamma, np.maximum(k, 1.0) * self.T) * self.largest_value
            return np.where(k >= 1, self.floor + self.weight * value_error, np.inf)

    def choices(self, budget: float) -> list[BoundedRun]:
        """The runs with cost ≤ `budget`."""
        k = self.iterations(budget)
        regret, cost = self.regret(k), self.lower + k * self.sweep
        return [
            BoundedRun(*self.name(i), int(k[i]), float(regret[i]), float(cost[i]))
            for i in np.flatnonzero(k >= 1).tolist()
        ]

    def name(self, i: int) -> tuple[str, int]:
        """The algorithm and T of candidate i."""
        return (FSVI if i else VI), int(self.T[i])

    def winner(self, regret: np.ndarray, previous: int) -> int:
        """The candidate with the smallest bound; ties as the module's docstring says."""
        tied = regret == regret.min()
        return next(i for i in (0, previous, int(np.argmax(tied))) if tied[i])

    def next_change(self, k: np.ndarray, winner: int, target: float) -> float:
        """The next budget at which another candidate's bound is below `target`; inf if none.

        `k` are the iterations of all candidates at the present budget. For Base VI a tie is
        enough. All staircases have steps of one sweep, so every candidate makes its m-th step from
        here before any of them makes the next one.
        """
        others = np.arange(self.T.size) != winner

        def beats_target(m: int) -> np.ndarray:
            regret = self.regret(k + m)
            regret[winner] = np.inf
            beats = regret < target
            beats[0] |= regret[0] == target
            return beats

        guess = self._guess(target, others & (self.floor < target)) - k
        m = _first(lambda m: bool(beats_target(m).any()), int(np.clip(guess.min(), 1, _FARTHEST_K)))
        if m is None:
            return math.inf
        return float((self.lower + (k + m) * self.sweep)[beats_target(m)].min())

    def _guess(self, target: float, possible: np.ndarray) -> np.ndarray:
        """Roughly the k >= 1 at which each bound is `target`; inf where there is none."""
        with np.errstate(all="ignore"):
            decay = np.log((target - self.floor) / (self.weight * self.largest_value))
            k = np.ceil(decay / (self.T * math.log(self.gamma)))
        return np.where(possible, np.fmax(k, 1), np.inf)


def _first(test: Callable[[int], bool], guess: int) -> int | None:
    """The smallest m >= 1 that passes a monotone test; None if it is beyond `_FARTHEST_K`.

    This is a bisection, which starts from a narrow bracket around the guess.
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


def _find_regimes(candidates: Candidates) -> tuple[Regime, ...]:
    """Start from one sweep of Base VI, the cheapest run, and jump from change to change."""
    budget, winner = candidates.sweep, 0
    changes: list[tuple[float, int]] = []
    while budget < math.inf:
        k = candidates.iterations(budget)
        regret = candidates.regret(k)
        winner = candidates.winner(regret, winner)
        if not changes or winner != changes[-1][1]:
            changes.append((budget, winner))
        if regret[winner] < _TINY:  # beyond this point only rounding errors would decide
            break
        budget = candidates.next_change(k, winner, regret[winner])
    ends = [start for start, _ in changes[1:]] + [math.inf]
    return tuple(
        Regime(start, end, *candidates.name(i))
        for (start, i), end in zip(changes, ends, strict=True)
    )


def decomposition(
    constants: Constants, candidates: Sequence[BoundedRun], bound: Bound = fsvi_bound
) -> dict[str, list]:
    """The three terms of each candidate's bound as columns, in order of T (1 is Base VI)."""
    runs = sorted(candidates, key=lambda choice: choice.T)
    T, k = [run.T for run in runs], [run.k for run in runs]
    found = bound(constants, T, k=k)
    terms = {name: np.ravel(getattr(found, f"{name}_term")).tolist() for name in BOUND_TERMS}
    return {"T": T, "k": k, **terms, "total": np.ravel(found.total).tolist()}
