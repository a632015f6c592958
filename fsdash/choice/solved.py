"""A model with its optimum, and one verdict on whether freezing suits it.

A `SolvedModel` is computed once and shared by everything that compares policies of one model with
its optimum. U*, the scale of regret and the verdict are computed when they are first asked for.

    relative regret    mean regret ÷ mean regret of the initial policy, which maximises the
                       immediate reward; it does not change if rewards are shifted or rescaled

The verdict. FSVI (after convergence) and rolling freeze are run with T = 2, 4, 8, 16 and 24, and
their policies are evaluated exactly. Freezing suits a model if something is frozen, and if at least
one of the two methods has a relative regret of at most 10% with its best T. A long T counts as much
as a short one: many models need blocks that are long enough to show a fixed cost or a goal. Where
freezing does not suit, the structure often says why:

    one slow state       nothing is frozen, so the lower level is a short horizon and nothing else
    a fast slow state    x leaves its value in most periods, so a frozen plan is soon out of date
    an endogenous one    the frozen plan does not see how an action moves x
    sparse rewards       with J_T = 0, a block ends before a distant goal pays

The alternative for short blocks is the *repeated terminal value*: solve by FSVI, give its values to
the next pass as J_T, and repeat. The horizon then grows with every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from math import inf, isnan, nan
from time import perf_counter

import numpy as np

from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.optimum import Optimum, Regret, optimum, regret
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import Snapshot
from fsdash.core.certificate import MAX_SLOW, certificate, slow_kernel, unit
from fsdash.core.display import Lines, Summary
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import expect
from fsdash.domains import Domain
from fsdash.errors import InputError

SECONDS = 60.0
"""Time limit of the verdict if none is given."""
PRECISION = 1e-5
"""Certified error of a policy's value, relative to the largest optimal value."""
CONVERGENCE = 1e-4
"""Precision of the values of FSVI after convergence, relative to the largest |U*|."""
MAX_ITERATIONS = 256
"""Iterations of a method that has not converged before."""
HORIZONS = (2, 4, 8, 16, 24)
"""T of FSVI and n of rolling freeze that the verdict rests on."""
REMAINING = 0.1
"""Freezing suits if the relative regret is at most this."""
NOTHING, HARDLY = 1e-6, 5e-4
"""Relative regrets below which the text says "nothing", and "less than 0.05%"."""
OFTEN = 0.5
"""A slow state that moves with a larger probability in a period moves fast."""
SPARSE = 0.9
"""Rewards are sparse if the best reward is the same in this share of the states."""
PASSES, BLOCK = 5, 4
"""Passes of the repeated terminal value, and their block length T."""
LOOKED_AT = 64
"""Slow states whose moves are looked at, if the slow state is endogenous."""


@dataclass(frozen=True, repr=False)
class Suitability(Summary):
    """Whether freezing suits a model, with the evidence.

    Attributes
    ----------
    suits : bool
        Whether it does.
    reasons : tuple of str
        What the structure of the model shows, where it does not.
    n_slow : int
        Number of slow states. With one, nothing is frozen.
    moves : float
        Probability that the slow state moves in a period, under uniform actions.
    fsvi, rolling : float
        Relative regret of FSVI and of rolling freeze with the best T; NaN if the initial policy is
        optimal.
    T, n : int
        The best T of FSVI and the best n of rolling freeze.
    repeated : float
        Relative regret of FSVI with T = 4 and a terminal value repeated over five passes; NaN if
        FSVI or rolling freeze need no alternative.
    notice : str
        A sentence if U* misses its tolerance, so that these regrets are imprecise, or if the time
        limit ended the comparison; else empty.
    """

    suits: bool
    reasons: tuple[str, ...]
    n_slow: int
    moves: float
    fsvi: float
    T: int
    rolling: float
    n: int
    repeated: float
    notice: str = ""

    @property
    def on_freezing(self) -> str:
        """The verdict on freezing as such, in one sentence."""
        if isnan(self.fsvi):
            return "The policy that maximises the immediate reward is optimal here."
        if self.n_slow == 1:
            return "This model has one slow state, so nothing is frozen."
        if self.suits:
            return "Freezing suits this model."
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"Freezing does not suit this model{why}."

    @property
    def on_fsvi(self) -> str:
        """What FSVI loses with the best T, in one sentence."""
        return f"FSVI loses {_share(self.fsvi)} here (T = {self.T})."

    @property
    def on_rolling(self) -> str:
        """What rolling freeze loses with the best n, in one sentence."""
        return f"Rolling freeze loses {_share(self.rolling)} (n = {self.n})."

    @property
    def text(self) -> str:
        """The verdict, a sentence for each method, their scale, the alternative, the notice."""
        if isnan(self.fsvi):
            return f"{self.on_freezing} {self.notice}".rstrip()
        scale = "The policy that maximises the immediate reward loses 100% on this scale."
        sentences = [self.on_freezing, self.on_fsvi, self.on_rolling, scale]
        if not isnan(self.repeated):
            sentences.append(
                f"FSVI with T = {BLOCK} and its values repeated as terminal value over {PASSES} "
                f"passes loses {_share(self.repeated)}."
            )
            if self.repeated > REMAINING:
                sentences.append("Use modified policy iteration.")
        return " ".join([*sentences, self.notice]).rstrip()

    def _summary(self) -> tuple[str, Lines]:
        return "Suitability", [
            ("suits", self.suits),
            ("moves", self.moves),
            ("fsvi", self.fsvi),
            ("rolling", self.rolling),
            ("repeated", self.repeated),
            ("text", self.text),
        ]


def _share(share: float) -> str:
    if share < NOTHING:
        return "nothing"
    if share < HARDLY:
        return f"less than {HARDLY:.2%}"
    return f"{share:.1%}" if share < REMAINING else f"{share:.0%}"


@dataclass(frozen=True, eq=False, repr=False)
class SolvedModel(Summary):
    """A model with its optimum, the scale of regret and the verdict on freezing.

    Each part is computed once, when it is first asked for. `frontier` and `suits` take a solved
    model in place of a model, so that it is not solved again.

    Examples
    --------
    >>> import fsdash
    >>> solved = fsdash.SolvedModel(fsdash.make("inventory").build())
    >>> round(solved.optimal_return), round(solved.initial_regret)
    (2177, 2111)
    >>> print(solved.freezing.on_fsvi, solved.freezing.on_rolling)
    FSVI loses 5.4% here (T = 2). Rolling freeze loses 1.1% (n = 24).
    """

    model: FastSlowMDP
    seconds: float = SECONDS
    """Time limit of the verdict, after U*."""
    progress: Callable[[float], object] = lambda share: None
    """Called with the share of the verdict that is done. An exception in it ends the verdict."""
    _fsvi_regrets: dict[int, Regret] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, model: FastSlowMDP | SolvedModel) -> SolvedModel:
        """The model itself if it is a solved one."""
        return model if isinstance(model, SolvedModel) else cls(model)

    @cached_property
    def best(self) -> Optimum:
        """U* with its certified error, and an optimal policy."""
        return optimum(self.model)

    @cached_property
    def optimal_return(self) -> float:
        """Mean return of the optimal policy."""
        return self.model.mean(self.best.U_XY)

    @cached_property
    def largest_value(self) -> float:
        """The largest |U*|, in which tolerances count; a little more than 0 if all values are 0.

        It is at most the range of rewards ÷ (1 − γ): a constant in all rewards must not make
        tolerances coarse.
        """
        low, high = self.model.reward_range
        most = (high - low) / (1 - self.model.gamma)
        return max(min(float(np.abs(self.best.U_XY).max()), most), 1e-9 * unit(self.model))

    @cached_property
    def tolerance(self) -> float:
        """Allowed error of a policy's value."""
        return PRECISION * max(unit(self.model), self.largest_value)

    def check_precision(self) -> None:
        """Raise an error if the optimum is less precise than the values of policies will be."""
        if self.best.error > self.tolerance:
            raise InputError(f"{self.best.notice} Use a smaller model or a smaller γ.")

    @cached_property
    def initial_regret(self) -> float:
        """Mean regret of the policy that maximises the immediate reward: the scale of regret."""
        policy_XY = self.model.reward_XYA.argmax(axis=2)
        U_XY = policy_values(self.model, policy_XY, tolerance=self.tolerance).U_XY
        return self.model.mean(np.maximum(self.best.U_XY - U_XY, 0))

    def relative_regret(self, mean_regret: float) -> float:
        """Mean regret ÷ that of the initial policy, or NaN if the latter is optimal."""
        return mean_regret / self.initial_regret if self.initial_regret > self.tolerance else nan

    def regret(self, policy_PXY: np.ndarray) -> Regret:
        """The regret of a policy."""
        return regret(self.model, policy_PXY, best=self.best)

    def fsvi(
        self, T: int, terminal_XY: np.ndarray | None = None, deadline: float = inf
    ) -> Snapshot:
        """FSVI after convergence, or at the deadline, a time of `perf_counter`."""
        snapshots = fsvi(self.model, T, terminal_XY=terminal_XY)
        goal = CONVERGENCE * self.largest_value
        for snapshot, _ in until_settled(self.model, T, snapshots, goal):  # noqa: B007
            if perf_counter() > deadline:
                break
        return snapshot

    def fsvi_regret(self, T: int) -> Regret:
        """The regret of FSVI after convergence, computed once for each T."""
        if T not in self._fsvi_regrets:
            self._fsvi_regrets[T] = self.regret(self.fsvi(T).policy_PXY)
        return self._fsvi_regrets[T]

    @cached_property
    def freezing(self) -> Suitability:
        """Whether freezing suits the model: the verdict, by the rule at the top of this file."""
        best, deadline = self.best, perf_counter() + self.seconds
        fsvi_T, rolling_n = dict[int, float](), dict[int, float]()
        for snapshot in rolling(self.model, HORIZONS[-1]):
            n = snapshot.iteration
            if n in HORIZONS:
                self.progress(len(rolling_n) / len(HORIZONS) / 2)
                loss = self.regret(snapshot.policy_PXY)
                rolling_n[n] = self.relative_regret(loss.mean_regret)
            if perf_counter() > deadline and rolling_n:
                break
        for T in HORIZONS:
            self.progress((len(fsvi_T) / len(HORIZONS) + 1) / 2)
            if (known := self._fsvi_regrets.get(T)) is None:
                known = self.regret(self.fsvi(T, deadline=deadline).policy_PXY)
                if perf_counter() < deadline:
                    self._fsvi_regrets[T] = known
            fsvi_T[T] = self.relative_regret(known.mean_regret)
            if perf_counter() > deadline:
                break
        late = len(fsvi_T) + len(rolling_n) < 2 * len(HORIZONS)
        T, n = (min(shares, key=lambda t: shares[t]) for shares in (fsvi_T, rolling_n))
        moves, enough = _moves(self.model), not min(fsvi_T[T], rolling_n[n]) > REMAINING
        suits = enough and self.model.n_slow > 1
        return Suitability(
            suits,
            () if suits else tuple(_reasons(self.model, moves)),
            self.model.n_slow,
            moves,
            fsvi_T[T],
            T,
            rolling_n[n],
            n,
            nan if enough or late else self._repeated(),
            " ".join(filter(None, [best.notice, self._late_notice(fsvi_T) if late else ""])),
        )

    def _late_notice(self, compared: Iterable[int]) -> str:
        T = ", ".join(map(str, compared))
        return f"The time limit of {self.seconds:g} s ended the comparison after T = {T}."

    def _repeated(self) -> float:
        """The relative regret of FSVI after passes that repeat its values as terminal value."""
        V_XY = np.zeros(self.model.real_XY.shape)
        for _ in range(PASSES):
            last = self.fsvi(BLOCK, V_XY)
            V_XY = last.values_XY
        return self.relative_regret(self.regret(last.policy_PXY).mean_regret)

    def _summary(self) -> tuple[str, Lines]:
        return "SolvedModel", [("model", self.model.name)]


def suits(
    model: FastSlowMDP | SolvedModel,
    *,
    seconds: float = SECONDS,
    progress: Callable[[float], object] = lambda share: None,
) -> Suitability:
    """Find out whether freezing suits a model.

    Parameters
    ----------
    model : FastSlowMDP or SolvedModel
        The model. A solved one has its own time limit.
    seconds : float, default 60
        Time limit after U* is known. The verdict then rests on the T and n until then, and its
        notice says so.
    progress : callable
        Called with the share that is done, 0 to 1. An exception in it ends the comparison.

    Returns
    -------
    Suitability
        The verdict with its reasons and the regrets behind it.

    Examples
    --------
    >>> import fsdash
    >>> verdict = fsdash.suits(fsdash.make("inventory").build())
    >>> verdict.suits, round(verdict.fsvi, 2), round(verdict.rolling, 2)
    (True, 0.05, 0.01)
    """
    if not isinstance(model, SolvedModel):
        model = SolvedModel(model, seconds, progress)
    return model.freezing


@lru_cache(maxsize=4)
def solved_domain(domain: Domain) -> SolvedModel:
    """The solved model of a domain with its parameters, shared by all pages."""
    return SolvedModel(domain.build())


def until_settled(
    model: FastSlowMDP, T: int, snapshots: Iterator[Snapshot], goal: float
) -> Iterator[tuple[Snapshot, bool]]:
    """The snapshots of the main level, each with whether it is the last one.

    The last one is the first whose values have converged up to a function of x.
    """
    bounds, main = certificate(model, T), (s for s in snapshots if s.phase != "lower")
    for snapshot, following in pairwise(main):
        width = bounds.shift(following.values_XY - snapshot.values_XY)[1]
        last = width <= max(goal, 2 * bounds.rounding) or snapshot.iteration == MAX_ITERATIONS
        yield snapshot, last
        if last:
            return


# ----------------------------------------------------------------------------------------- reasons


def _reasons(model: FastSlowMDP, moves: float) -> Iterator[str]:
    """What the structure of a model shows where freezing does not suit it."""
    if model.n_slow == 1:
        yield "it has one slow state, so nothing is frozen"
    if moves > OFTEN:
        yield f"its slow state moves with probability {moves:.2f} in a period"
    if not model.true.exogenous_slow:
        yield "actions or the fast state move its slow state"
    if (share := _most_common_reward(model)) >= SPARSE:
        yield f"its best reward is the same in {share:.0%} of the states"


def _moves(model: FastSlowMDP) -> float:
    """The mean probability that x' ≠ x, over the feasible pairs of up to 64 slow states."""
    if model.true.exogenous_slow and model.n_slow <= MAX_SLOW:
        return float(1 - np.diag(slow_kernel(model)).mean())
    stay: list[np.ndarray] = []
    for x in np.unique(np.linspace(0, model.n_slow - 1, LOOKED_AT).astype(int)):
        here_XY = np.zeros(model.real_XY.shape)
        here_XY[x] = 1.0
        stay_YA = np.broadcast_to(
            expect(model, model.true, here_XY)[x], model.feasible_XYA[x].shape
        )
        stay.append(stay_YA[model.feasible_XYA[x]])
    return float(1 - np.concatenate(stay).mean())


def _most_common_reward(model: FastSlowMDP) -> float:
    """The share of states whose best reward is the most common one."""
    best_S = model.reward_XYA.max(axis=2)[model.real_XY]
    return float(np.unique(best_S, return_counts=True)[1].max() / len(best_S))
