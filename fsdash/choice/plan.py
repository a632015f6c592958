"""Plan: the best policy for a budget, with a certified gap that shrinks.

As in a solver, there is an incumbent policy, a lower bound of its mean value, an upper bound of the
optimal one, and the gap between them. Everything counts: sweeps, evaluations and certificates. U*
is never computed on the side. A known model is planned for in three stages:

    rolling  frozen sweeps J ← H̃ J; each gives a rolling policy (`fsdash.algorithms.rolling`)
    thawed   a true sweep Q = r + γ E[U] and its certificate, then frozen sweeps corrected by it,
                 V ← max_a Q + γ w F_a (V − U),     w(s, a) = Pr(x' = x),   F the frozen law,
             and sweeps of their policy, until the change is small; then U = V and again
    mpi      modified policy iteration, started from these values

The correction is a splitting: w F is the part of the law that freezing describes, and the rest is
taken from the last true sweep. Where F is what y does while x stays, w F is at most the true law,
so that V − U contracts, and U* is the fixed point. Freezing is used if a frozen sweep costs less
than a true one, in the unit of the budget. Modified policy iteration takes over if it does not, or
once a true sweep has not improved the certificate enough. All ends at the gap, at the budget, or
where rounding prevents more.

The certificate of a true sweep is that of `fsdash.core.certificate`: U* and the value of the greedy
policy are within `error` of the corrected values. A policy of corrected frozen sweeps takes one
sweep of itself to be certified.

With `sampled` only draws are used: the race of `fsdash.choice.race`. It has no certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from math import inf, isnan, nan
from time import perf_counter

import numpy as np
import pandas as pd

from fsdash.algorithms.optimum import solving
from fsdash.algorithms.registry import get_algorithm
from fsdash.choice.certify import below
from fsdash.choice.race import SAMPLES, Candidate, RaceOutcome, race
from fsdash.choice.simulation import Simulation, simulate_paths
from fsdash.core.certificate import MAX_SLOW, certificate, slow_kernel
from fsdash.core.display import Lines, Summary
from fsdash.core.kernels import widest_change
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_policy, bellman, expect, follow, q_values
from fsdash.core.rows import to_rows
from fsdash.errors import InputError
from fsdash.formatting import number
from fsdash.models.policy import Policy
from fsdash.simulators.plan import SimulatorPlan, plan_simulator
from fsdash.simulators.simulator import Simulator

SECONDS, GAP = 10.0, 1e-6
"""The budget and the gap if none is given."""
PAYS, FEW_SWEEPS = 0.9, 16
"""Freezing is tried if a frozen sweep costs at most this share of a true one. With a budget in
seconds, only if it pays for about this many sweeps or fewer."""
FIRST_SWEEPS, FIRST_ENDOGENOUS = 8, 4
"""Frozen sweeps before the first true one; more if they cost less than it and x is exogenous."""
MOST_SWEEPS, MOST_ENDOGENOUS = 1_000, 6
"""Frozen sweeps if the budget pays for no true one. With an endogenous slow state a long frozen
horizon is misleading."""
TIGHT = 0.1
"""A policy whose gap is at most this is only replaced by one with a larger certified value. While
certificates are looser they say little, and the newest policy is usually better."""
CORRECTED = 3
"""Corrected sweeps that must be affordable after a true sweep, so that it is worth its cost."""
SETTLED = 0.3
"""Corrected sweeps end once their change is this share of the true sweep's."""
IMPROVES = 0.5
"""The error of a true sweep relative to the one before, above which corrected sweeps end."""
MOST_EVALUATION = 400
"""Largest number of sweeps of one policy."""
EXACT_SWEEPS, RESIDUALS, RESIDUAL = 2_000, 30, 1e-8
"""Sweeps of one policy, and residuals of twice the precision, that must be affordable before it is
evaluated exactly, and the seconds of a residual for each evaluation of a sweep."""
MAX_CORRECTED = 20_000_000
"""State-action pairs up to which Q-values are kept for corrected sweeps (160 MB)."""
INVERSE = 2e-10
"""Seconds for the inverse in a certificate, divided by |X|³."""
SCAN = 2e-8
"""Seconds per probability of rows for the test whether the slow state is exogenous."""
EVALUATION = 5e-10
"""Seconds of one evaluation before any was timed: less than it takes."""
TITLES = {"myopic": "The policy with the best immediate reward", "thawed": "Thawed correction"}
"""Methods of a plan that are no algorithms of the registry."""


COLUMNS = ("seconds", "evaluations", "sweeps", "method", "T", "value", "bound", "gap")
"""The columns of the log."""


@dataclass(frozen=True, eq=False)
class PlanStep:
    """A step of a plan: its policy and what is known about it.

    `value` is a lower bound of the policy's mean value, `bound` an upper bound of the optimal one,
    and `gap` their difference ÷ the larger of their sizes; NaN where it is unknown. `T` is the
    horizon of rolling freeze. `sweeps` are those of Base VI, or of Base E-VI with samples. `why`
    has the reasons of a choice from samples.
    """

    seconds: float
    evaluations: int
    sweeps: float
    method: str
    T: int | None
    value: float
    bound: float
    gap: float
    policy_PXY: np.ndarray = field(repr=False)
    why: str = ""

    @property
    def row(self) -> tuple:
        """The row of the log."""
        spent = (self.seconds, self.evaluations, self.sweeps)
        return (*spent, self.method, self.T, self.value, self.bound, self.gap)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Summary):
    """A policy for a budget.

    Attributes
    ----------
    policy_PXY : np.ndarray
        The policy as action indices; `policy` has the names of states and actions.
    value, bound : float
        A lower bound of the policy's mean value and an upper bound of the optimal one, over the
        initial distribution; NaN if the budget was too small for them, or with samples.
    gap : float
        (bound − value) ÷ the larger of their sizes.
    method : str
        "myopic", "rolling", "thawed" or "mpi"; from samples "e-thaw", "rolling" or "e-vi".
    T : int or None
        Horizon of rolling freeze.
    log : pandas.DataFrame
        One row per improvement: seconds, evaluations, sweeps, method, T, value, bound and gap.
    why : str
        The result in a few sentences.

    Examples
    --------
    >>> import fsdash
    >>> plan = fsdash.plan(fsdash.make("inventory").build(), sweeps=100, gap=1e-4)
    >>> plan.method, plan.gap <= 1e-4, plan.policy({"demand": 5, "stock": 0})
    ('mpi', True, 35)
    """

    model: FastSlowMDP
    policy_PXY: np.ndarray
    value: float
    bound: float
    gap: float
    method: str
    T: int | None
    why: str
    rows: Sequence[tuple]

    @cached_property
    def policy(self) -> Policy:
        """The policy with the names of states and actions."""
        return Policy(self.model, self.policy_PXY)

    def simulate(
        self, *, periods: int = 1_000, warm_up: int = 0, paths: int = 100, seed: int = 0
    ) -> Simulation:
        """Simulate many paths of the policy (`fsdash.choice.simulation`)."""
        options = {"periods": periods, "warm_up": warm_up, "paths": paths, "seed": seed}
        return simulate_paths(self.model, self.policy_PXY, **options)

    @cached_property
    def log(self) -> pd.DataFrame:
        """One row per improvement."""
        return pd.DataFrame(self.rows, columns=list(COLUMNS)).astype({"T": "Int64"})

    def _summary(self) -> tuple[str, Lines]:
        last = dict(zip(COLUMNS, self.rows[-1], strict=True))
        return f"Plan: {describe(self.method, self.T)}", [
            ("value", self.value),
            ("bound", self.bound),
            ("gap", self.gap),
            ("seconds", last["seconds"]),
            ("sweeps", last["sweeps"]),
            ("why", self.why),
        ]


def plan(
    model: FastSlowMDP | Simulator,
    *,
    seconds: float | None = None,
    sweeps: float | None = None,
    evaluations: float | None = None,
    calls: float | None = None,
    gap: float = GAP,
    sampled: bool = False,
    seed: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Plan | SimulatorPlan:
    """Find the best policy for a budget, and how far it can be from the optimum.

    Parameters
    ----------
    model : FastSlowMDP or Simulator
        The model, or a simulator (`fsdash.simulators.plan_simulator` has the details).
    calls : float
        The budget of a simulator in calls, instead of or besides seconds.
    seconds, sweeps, evaluations : float
        The budget; give at most one, by default 10 seconds. A sweep is one of Base VI, or with
        `sampled` one of Base E-VI with 50 samples for each state and action. Loading the compiled
        kernels, once per process, does not count as seconds.
    gap : float, default 1e-6
        Stop once (bound − value) ÷ the larger of their sizes is at most this.
    sampled : bool
        Use draws only, all of which count against the budget. There is no certificate then.
    seed : int, default 0
        Seed of the random numbers, with `sampled`. A budget in sweeps or evaluations gives the same
        plan each time.
    progress : callable
        Called with the share of the budget that is spent. An exception in it ends the plan.

    Returns
    -------
    Plan
        The policy, the bounds on its value and on the optimum, the gap and the log.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> fsdash.plan(model, sweeps=1).method
    'rolling'
    >>> print(fsdash.plan(model, sweeps=100, gap=1e-3).why)  # doctest: +ELLIPSIS
    Solved in ... s (... sweeps): no policy is better by more than ...
    >>> fsdash.plan(model, sweeps=0.5, sampled=True).method
    'e-thaw'
    """
    if isinstance(model, Simulator):
        if sweeps is not None or evaluations is not None or sampled:
            raise InputError("a simulator has no sweeps: give its budget as seconds or calls")
        wanted = None if gap == GAP else gap
        return plan_simulator(model, seconds=seconds, calls=calls, gap=wanted, seed=seed)
    if calls is not None:
        raise InputError("calls: a model has no calls; give its budget as seconds or sweeps")
    steps = plan_steps(
        model,
        seconds=seconds,
        sweeps=sweeps,
        evaluations=evaluations,
        gap=gap,
        sampled=sampled,
        seed=seed,
        progress=progress,
    )
    return plan_of(model, list(steps), gap=gap)


def plan_of(model: FastSlowMDP, steps: Sequence[PlanStep], *, gap: float = GAP) -> Plan:
    """The plan that the steps of `plan_steps` so far have led to."""
    last = steps[-1]
    why = last.why or _why(steps, gap)
    known = (last.value, last.bound, last.gap, last.method, last.T)
    return Plan(model, last.policy_PXY, *known, why, [step.row for step in steps])


def plan_steps(
    model: FastSlowMDP,
    *,
    seconds: float | None = None,
    sweeps: float | None = None,
    evaluations: float | None = None,
    gap: float = GAP,
    sampled: bool = False,
    seed: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Iterator[PlanStep]:
    """Plan step by step: whoever stops early has the best policy so far.

    Parameters
    ----------
    model, seconds, sweeps, evaluations, gap, sampled, seed, progress
        As in `plan`.

    Returns
    -------
    iterator of PlanStep
        One step whenever policy, bound or gap improve. The last one has the plan's policy.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> [step.T for step in fsdash.plan_steps(model, sweeps=1)]
    [None, 1, 2, 3]
    """
    if not isinstance(model, FastSlowMDP):
        raise InputError(
            f"model: {type(model).__name__} is not a FastSlowMDP; a domain has .build()"
        )
    if not isinstance(gap, int | float | np.number) or not 0 < gap < inf:
        raise InputError(
            f"gap = {gap}: give a positive number such as 0.01; a gap of 0 cannot be certified in "
            "double precision"
        )
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed = {seed}: give a whole number, 0 or more")
    budget = {"seconds": seconds, "sweeps": sweeps, "evaluations": evaluations}
    chosen = {name: size for name, size in budget.items() if size is not None}
    if len(chosen) > 1:
        raise InputError("budget: give one of seconds, sweeps and evaluations")
    [(unit, size)] = chosen.items() or [("seconds", SECONDS)]
    if not isinstance(size, int | float | np.number) or not 0 < size < inf:
        raise InputError(f"{unit} = {size}: give a positive number")
    if unit == "seconds":
        _load_kernels(model.true.common_noise_W is None, sampled)
    meter = _Meter(model, unit, float(size), sampled, progress)
    return _sampled_steps(meter, seed) if sampled else _known_steps(meter, gap)


@lru_cache
def _load_kernels(rows: bool, sampled: bool) -> None:
    """Load the compiled kernels before the clock starts, once per process: by a tiny plan."""
    reward_XYA, next_fast = np.arange(8.0).reshape(2, 2, 2) % 5, np.arange(2).reshape(1, 1, 2, 1)
    next_slow = np.array([[0, 1], [1, 0]]).reshape(2, 1, 1, 2)
    model = FastSlowMDP(reward_XYA, np.array([0.9, 0.1]), next_slow, next_fast, 0.9)
    if rows:
        model = FastSlowMDP(reward_XYA, rows=to_rows(model), gamma=0.9)
    for _ in plan_steps(model, sweeps=40, sampled=sampled):
        pass
    for _ in islice(solving(model, lambda: 0.0), 4):
        pass


class _Meter:
    """The budget: what steps cost, and what is left, in evaluations or in seconds.

    A step is a "true", "frozen", "policy" or "frozen_policy" sweep. Seconds are those of the last
    step of its kind.
    """

    def __init__(
        self,
        model: FastSlowMDP,
        unit: str,
        size: float,
        sampled: bool,
        report: Callable[[float], object],
    ) -> None:
        self.started = self.last = perf_counter()
        self.report = report
        self.model, self.in_seconds = model, unit == "seconds"
        true, pairs, states = model.true.outcomes, model.n_pairs, model.n_real
        self.sweep = pairs * (SAMPLES if sampled else true)
        self.limit = size * self.sweep if unit == "sweeps" else size
        self.spent, self.seconds = 0, dict[str, float]()
        self.each = {"true": pairs * true, "policy": states * true}
        # Without a common noise the frozen law is built on first use, which takes time.
        if not (self.in_seconds and model.true.common_noise_W is None):
            frozen = model.frozen.outcomes
            self.each |= {"frozen": pairs * frozen, "frozen_policy": states * frozen}

    @property
    def elapsed(self) -> float:
        return perf_counter() - self.started

    @property
    def left(self) -> float:
        return self.limit - (self.elapsed if self.in_seconds else self.spent)

    def cost(self, kind: str) -> float:
        """The cost of a step; for a kind that was not timed, a policy's sweep as a whole one."""
        if not self.in_seconds:
            return self.each[kind]
        whole = self.seconds.get("true", EVALUATION * self.each[kind])
        return self.seconds.get(kind, whole)

    def pays(self, *kinds: str) -> bool:
        """Whether the budget pays for these steps."""
        return sum(map(self.cost, kinds)) <= self.left * (1 + 1e-9)

    def pay(self, kind: str, n: int = 1, after: str = "") -> None:
        """Count n steps, and one step of the kind `after` that followed, and time them."""
        now = perf_counter()
        elapsed, self.last = now - self.last, now
        self.spent += n * self.each[kind] + (self.each[after] if after else 0)
        if n:
            self.seconds[kind] = max(elapsed - self.seconds.get(after, 0.0), elapsed / 10) / n
        elif after:
            self.seconds[after] = elapsed
        self.check_time()

    def add(self, evaluations: int) -> None:
        """Count evaluations that are not timed."""
        self.spent, self.last = self.spent + evaluations, perf_counter()
        self.check_time()

    def check_time(self, share: float = 0.0) -> None:
        """Report the share of the budget that is spent, in a race `share` itself."""
        spent = share if share and not self.in_seconds else 1 - self.left / self.limit
        self.report(min(spent, 1.0))
        if share and self.spent and self.left < 0:
            raise _OutOfTime

    def progress(
        self,
        method: str,
        T: int | None,
        policy_PXY: np.ndarray,
        value: float = nan,
        bound: float = nan,
        why: str = "",
    ) -> PlanStep:
        """A step with what was spent so far."""
        spent, gap = self.spent, relative_gap(value, bound)
        steps = (self.elapsed, spent, spent / self.sweep, method, T, value, bound, gap)
        return PlanStep(*steps, policy_PXY, why)


def relative_gap(value: float, bound: float) -> float:
    """(bound − value) ÷ the larger of their sizes."""
    return (bound - value) / (max(abs(value), abs(bound)) or 1.0)


# ------------------------------------------------------------------------------------- known model


def _known_steps(meter: _Meter, gap: float) -> Iterator[PlanStep]:
    """The three stages, until the gap or the budget is reached."""
    model = meter.model
    U_XY, certified = np.zeros(model.real_XY.shape), _Certified(meter, gap)
    few = not meter.in_seconds or meter.limit < FEW_SWEEPS * meter.cost("true")
    if few or not certified.possible:
        policy_XY = model.reward_XYA.argmax(axis=2).astype(np.int32)
        yield meter.progress("myopic", None, policy_XY[None])
    if _freezing_pays(meter):
        if not meter.pays("frozen"):
            return
        # H̃ 0 = H 0 = max_a r, so the first frozen sweep is a true one, with its certificate.
        J_XY, policy_XY = bellman(model, model.frozen, U_XY)
        meter.pay("frozen")
        yield certified.greedy("rolling", 1, policy_XY, U_XY, J_XY.copy())
        frozen = _Frozen(certified, J_XY)
        yield from frozen.steps()
        thawed = _Thawed(certified, frozen.J_XY)
        yield from thawed.steps()
        U_XY = thawed.V_XY
    if not certified.done:
        yield from _iterated_steps(certified, U_XY)


class _Certified:
    """The bounds so far: the least upper one counts, and the lower one of the last policy."""

    def __init__(self, meter: _Meter, gap: float) -> None:
        self.meter, self.gap, self.bound, self.error = meter, gap, inf, inf
        self.done, self.possible = False, True
        self.best: PlanStep | None = None
        law, X = meter.model.true, meter.model.n_slow
        if meter.in_seconds:
            scanned = law.entries if law.common_noise_W is None else 0
            inverse = X**3 if X <= MAX_SLOW else 0
            self.possible = meter.left >= INVERSE * inverse + SCAN * scanned

    def greedy(
        self, method: str, T: int | None, policy_XY: np.ndarray, U_XY: np.ndarray, HU_XY: np.ndarray
    ) -> PlanStep:
        """A policy that is greedy for U. U becomes U + c, and H U becomes H (U + c)."""
        if not self.possible:
            return self.meter.progress(method, T, policy_XY[None])
        self.error, _ = certificate(self.meter.model).correct(U_XY, HU_XY)
        return self.known(method, T, policy_XY[None], U_XY, self.error)

    def known(
        self, method: str, T: int | None, policy_PXY: np.ndarray, U_XY: np.ndarray, error: float
    ) -> PlanStep:
        """A policy whose values are at least U − error, if U* is at most U + error."""
        mean = self.meter.model.mean(U_XY)
        self.bound = min(self.bound, mean + error)
        return self.step(method, T, policy_PXY, min(mean - error, self.bound))

    def step(self, method: str, T: int | None, policy_PXY: np.ndarray, value: float) -> PlanStep:
        bound = self.bound if self.bound < inf else nan
        best = self.best
        if best is not None and relative_gap(best.value, bound) <= TIGHT and not value > best.value:
            method, T, policy_PXY, value = best.method, best.T, best.policy_PXY, best.value
        self.best = progress = self.meter.progress(method, T, policy_PXY, value, bound)
        self.done = progress.gap <= self.gap
        return progress

    def evaluated(
        self, method: str, T: int | None, policy_XY: np.ndarray, V_XY: np.ndarray
    ) -> PlanStep:
        """A policy that takes one sweep of itself to be certified, if the budget pays for it."""
        meter, value = self.meter, nan
        if meter.pays("policy") and self.possible:
            image_XY = H_policy(meter.model, policy_XY, V_XY)
            meter.pay("policy")
            value = min(meter.model.mean(below(meter.model, 1, V_XY, image_XY)), self.bound)
        return self.step(method, T, policy_XY[None], value)


def _freezing_pays(meter: _Meter) -> bool:
    """Whether frozen sweeps are so much cheaper than true ones that they are tried.

    A kernel averages over x' once for all actions if it can, and modified policy iteration reaches
    a small gap as soon, so seconds are saved only if there are few.
    """
    model = meter.model
    if "frozen" not in meter.each or model.reward_XYA.size > MAX_CORRECTED:
        return False
    if meter.in_seconds:
        separable = model.true.common_noise_W is not None and model.true.separable
        few = meter.limit < FEW_SWEEPS * meter.cost("true")
        return few and not separable and meter.each["frozen"] <= meter.each["true"] / 2
    return meter.each["frozen"] <= PAYS * meter.each["true"]


class _Frozen:
    """Frozen sweeps before the first true one, or as many as the budget pays for without one."""

    def __init__(self, certified: _Certified, J_XY: np.ndarray) -> None:
        self.certified, self.J_XY = certified, J_XY

    def steps(self) -> Iterator[PlanStep]:
        certified, meter, model = self.certified, self.certified.meter, self.certified.meter.model
        frozen, true, n = meter.cost("frozen"), meter.cost("true"), 1
        exogenous = model.true.exogenous_slow
        most = max(FIRST_SWEEPS, int(true / frozen)) if exogenous else FIRST_ENDOGENOUS
        if meter.left < (most - 1 + CORRECTED) * frozen + true:
            most = MOST_SWEEPS if exogenous else MOST_ENDOGENOUS
        first = change = np.ptp(self.J_XY)
        while n < most and change > 1e-3 * first and meter.pays("frozen"):
            last_XY, n = self.J_XY, n + 1
            self.J_XY, policy_XY = bellman(model, model.frozen, last_XY)
            meter.pay("frozen")
            change = widest_change(last_XY, self.J_XY)
            yield certified.step("rolling", n, policy_XY[None], nan)
        if n > 1 and meter.pays("policy") and not meter.pays("true"):
            yield certified.evaluated("rolling", n, policy_XY, self.J_XY)


class _Thawed:
    """True sweeps, each followed by frozen sweeps that are corrected by it."""

    def __init__(self, certified: _Certified, V_XY: np.ndarray) -> None:
        self.certified, self.meter, self.V_XY = certified, certified.meter, V_XY
        self.model = certified.meter.model
        self.policy_XY = np.zeros(V_XY.shape, np.int32)
        self.stay_XYA = _staying(self.model) if self.meter.pays("true") else np.ones((1, 1, 1))

    def steps(self) -> Iterator[PlanStep]:
        meter, model, certified, before = self.meter, self.model, self.certified, inf
        while meter.pays("true"):
            U_XY = self.V_XY.copy()
            Q_XYA = q_values(model, model.true, U_XY)
            HU_XY, self.policy_XY = _maximise(Q_XYA)
            change, highest_XY = widest_change(U_XY, HU_XY), HU_XY.copy()
            meter.pay("true")
            yield certified.greedy("thawed", None, self.policy_XY, U_XY, HU_XY)
            self.V_XY = HU_XY
            if certified.done or certified.error > IMPROVES * before:
                return
            before = certified.error
            # The correction of U by c(x) adds the same to all Q-values of a state.
            Q_XYA += (HU_XY - highest_XY)[..., None]
            Q_XYA -= model.gamma * self.stay_XYA * expect(model, model.frozen, U_XY)
            last = not meter.pays("true", "frozen", "frozen", "true")
            if self._corrected_sweeps(Q_XYA, change, "policy" if last else "true") and last:
                yield certified.evaluated("thawed", None, self.policy_XY, self.V_XY)
                return

    def _corrected_sweeps(self, rest_XYA: np.ndarray, change: float, reserve: str) -> bool:
        """Solve V = max_a rest + γ w F V by modified policy iteration; whether a sweep was made."""
        meter, model, made = self.meter, self.model, False
        goal = SETTLED * change
        while meter.pays("frozen", reserve) and change > goal:
            V_XY, last_XY = self.V_XY, self.policy_XY
            self.V_XY, self.policy_XY = _maximise(
                rest_XYA + model.gamma * self.stay_XYA * expect(model, model.frozen, V_XY)
            )
            meter.pay("frozen")
            made, change = True, widest_change(V_XY, self.V_XY)
            if change > goal:
                worth = _sweeps_worth(model, last_XY, self.policy_XY, 0.5)
                self._policy_sweeps(rest_XYA, worth, change, reserve)
        return made

    def _policy_sweeps(self, rest_XYA: np.ndarray, most: int, change: float, reserve: str) -> None:
        """Up to so many corrected sweeps of the policy, until their change is a tenth."""
        meter, model = self.meter, self.model
        choice_XYA = self.policy_XY[..., None]
        followed = follow(model.frozen, self.policy_XY)
        rest_XY = np.take_along_axis(rest_XYA, choice_XYA, axis=2)[..., 0]
        stay_XYA = np.broadcast_to(self.stay_XYA, rest_XYA.shape)
        weight_XY = model.gamma * np.take_along_axis(stay_XYA, choice_XYA, axis=2)[..., 0]
        for _ in range(most):
            if not meter.pays("frozen_policy", "frozen", reserve):
                return
            V_XY = self.V_XY
            self.V_XY = rest_XY + weight_XY * expect(model, followed, V_XY)[:, :, 0]
            meter.pay("frozen_policy")
            if widest_change(V_XY, self.V_XY) <= 0.1 * change:
                return


def _maximise(Q_XYA: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    policy_XY = Q_XYA.argmax(axis=2).astype(np.int32)
    return np.take_along_axis(Q_XYA, policy_XY[..., None], axis=2)[..., 0], policy_XY


def _sweeps_worth(
    model: FastSlowMDP, last_XY: np.ndarray, policy_XY: np.ndarray, share: float
) -> int:
    """Sweeps of a policy that are worth their cost: the more, the less it has changed."""
    changed = max(float(np.mean(last_XY != policy_XY)), 1e-3)
    return int(min(MOST_EVALUATION, share * model.n_pairs / model.n_real * (1 / changed - 1)))


def _staying(model: FastSlowMDP) -> np.ndarray:
    """Pr(x' = x), in a shape that broadcasts to (X, Y, A)."""
    if model.true.exogenous_slow and model.n_slow <= MAX_SLOW:
        return np.diag(slow_kernel(model))[:, None, None]
    return model.true.staying()


def _iterated_steps(certified: _Certified, U_XY: np.ndarray) -> Iterator[PlanStep]:
    """Modified policy iteration from these values."""
    meter, model = certified.meter, certified.meter.model
    backups, worth, last_XY = 0, 0, np.empty(0, np.int32)

    def affordable() -> int:
        return int(min(worth, max(0.0, meter.left - meter.cost("true")) / meter.cost("policy")))

    def goal() -> float:
        return certified.gap * abs(certified.bound) / 2

    def exact() -> bool:
        residuals = RESIDUALS * (RESIDUAL if meter.in_seconds else 1) * meter.each["true"]
        return meter.left >= EXACT_SWEEPS * meter.cost("policy") + residuals

    if not certified.possible or not meter.pays("true"):
        return
    for snapshot in solving(model, goal, U0_XY=U_XY, m=affordable, exact=exact):
        made, backups = snapshot.backups - backups, snapshot.backups
        if snapshot.phase == "exact":
            meter.add(made * model.true.outcomes)
        else:
            meter.pay("policy", max(0, made - model.n_pairs) // model.n_real, after="true")
        policy_XY = snapshot.policy_PXY[0]
        yield certified.known("mpi", None, snapshot.policy_PXY, snapshot.values_XY, snapshot.error)
        if certified.done or not meter.pays("true"):
            return
        worth = MOST_EVALUATION
        if not meter.in_seconds:
            few = model.n_pairs // model.n_real
            worth = _sweeps_worth(model, last_XY, policy_XY, 1.0) if last_XY.size else few
            last_XY = policy_XY


# ----------------------------------------------------------------------------------------- samples


def _sampled_steps(meter: _Meter, seed: int) -> Iterator[PlanStep]:
    """The winner of the race; within seconds, of races that grow as long as time is left."""
    model, evaluations = meter.model, int(meter.limit)
    if meter.in_seconds:
        evaluations = 4 * model.n_pairs
    while True:
        before = meter.elapsed
        try:
            outcome = race(model, evaluations, np.random.default_rng(seed), meter.check_time)
        except _OutOfTime:
            return
        meter.add(outcome.spent)
        best = outcome.candidates[0]
        why = f"{_why_thawed(outcome)} {_why_race(outcome.candidates, model.sense)}"
        yield meter.progress(best.method, best.T, best.policy_PXY, why=why)
        took = max(meter.elapsed - before, 1e-6)
        if not meter.in_seconds or meter.left < 2 * took:
            return
        evaluations = int(evaluations * min(4.0, 0.8 * meter.left / took))


class _OutOfTime(Exception):
    """The time for samples is over."""


# -------------------------------------------------------------------------------------------- text


def describe(method: str, T: int | None, k: int | None = None) -> str:
    """A policy's method in words, such as "Rolling freeze with n = 7"."""
    if method in TITLES:
        return TITLES[method]
    entry = get_algorithm(method)
    numbers = ((entry.horizon, T), ("k", k))
    parts = [f"{name} = {value}" for name, value in numbers if value is not None]
    return entry.title + (f" with {' and '.join(parts)}" if parts else "")


def _why(steps: Sequence[PlanStep], gap: float) -> str:
    """What was reached, and what more budget is expected to bring."""
    last = steps[-1]
    spent = f"{number(last.seconds)} s ({number(last.sweeps)} sweeps)"
    name = describe(last.method, last.T)
    if isnan(last.gap):
        more = "one more sweep" if isnan(last.bound) else "one more sweep of the policy"
        return f"{name} after {spent}. The budget ended before a certificate, which takes {more}."
    better = f"no policy is better by more than {number(last.bound - last.value)}"
    if last.gap <= gap:
        return f"Solved in {spent}: {better}, a gap of {_percent(last.gap)}."
    text = f"{name} after {spent}: {better}, a gap of {_percent(last.gap)}."
    earlier = [s.gap for s in steps if s.sweeps <= last.sweeps / 2 and not isnan(s.gap)]
    if earlier and min(earlier) > last.gap:
        twice = _percent(last.gap**2 / min(earlier))
        text += f" Twice the budget is expected to bring it to about {twice}."
    return text


def _percent(gap: float) -> str:
    return f"{number(100 * gap)}%"


def _why_thawed(outcome: RaceOutcome) -> str:
    """Whether thawed defect correction took part in the race, and why."""
    if outcome.no_thawed:
        return f"No thawed sweeps: {outcome.no_thawed}."
    tested = outcome.structure
    nearly = "nearly " if tested.slow_changes or tested.frozen_changes else ""
    return (
        f"The slow state is {nearly}exogenous and the fast state has {nearly}no noise while x is "
        f"frozen, as {tested.tested} pairs of draws each show, so thawed defect correction applies."
    )


def _why_race(candidates: Sequence[Candidate], sense: str) -> str:
    """What the roll-outs show about the winner and the best candidate of another method."""
    best, others = candidates[0], candidates[1:]
    name = describe(best.method, best.T, best.k)
    if not best.paths:
        return f"{name} is the favourite; no budget was left to compare."
    rival = next((c for c in others if c.method != best.method), others[0])
    rounds = len(rival.paths)
    sign, earned = (-1, "cost") if sense == "min" else (1, "earned")
    mine, theirs = (number(sign * c.mean_return(rounds)) for c in (best, rival))
    other = describe(rival.method, rival.T, rival.k)
    said = f"{name} {earned} {mine} and {other} {theirs}"
    if mine == theirs:
        said = f"{name} and {other} {earned} the same, {mine}"
    paths = sum(rival.paths)
    said += f", on average in the same {paths} roll-out{'s' * (paths > 1)}"
    if best.mean_return(rounds) < rival.mean_return(rounds):
        said += "; that is not enough to prefer the second"
    return f"{said}."
