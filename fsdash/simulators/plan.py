"""Planning with a simulator: candidates, a race, a value, a gap, within a budget.

    1. test the simulator (`check_simulator`) and find its structure
    2. tune the user's rule; it and the myopic policy are the first candidates
    3. on a coarse lattice, then on finer ones: rolling freeze for n = 1, 2, 4, … from one frozen
       chain, and the thawed policy if the slow state has a model and is exogenous; race them
       against the best so far
    4. value and lead over the rule on new common paths; then the certificate

Every certificate uses new noise. The k-th one has the confidence 1 − .05/2ᵏ, so all of them hold
together with 95%, and the one that is reported holds however the work was stopped.
With `calls` the result depends on the seed alone; with `seconds`, also on the computer's speed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from fsdash.core.display import Lines, Summary
from fsdash.errors import InputError
from fsdash.simulators.dual import (
    MIN_PATHS,
    StatisticalCertificate,
    certified_paths,
    half_interval,
    no_certificate,
)
from fsdash.simulators.lattice import Lattice, Layout, draws_per_node
from fsdash.simulators.policy import Features, LatticePolicy
from fsdash.simulators.race import Entrant, discounted_returns, myopic, race, tuned_rule
from fsdash.simulators.simulator import (
    Driver,
    Simulator,
    SimulatorFaults,
    check_simulator,
    source_hash,
)

SECONDS = 60.0
CALLS = 200_000
"""Calls of one race or evaluation, if the budget allows them."""
SHARE = 0.15
"""Share of a budget of calls that a race may use."""
LEVEL = 0.95
CONVERGED = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class SimulatorPlan(Summary):
    """A policy for a simulator with what is known about it; also a record of progress.

    Values are in the simulator's sense (costs if `sense` is "min").

    Attributes
    ----------
    policy : LatticePolicy or None
        The policy; None if the rule or the myopic policy won (`act` and `theta` have it).
    value, value_error : float
        The mean discounted reward from the initial states, and half its 95% interval.
    bound : float or None
        No policy is better than this, with the stated confidence; None without a certificate.
    gap, gap_share : float or None
        The 95% limit of the distance from the best policy, and as a share of the value's size.
    lead, lead_error : float or None
        How much better than the tuned rule on common paths, and half its 95% interval.
    method, T : str, int or None
        "rolling", "thawed", "rule" or "myopic", and the horizon n of rolling freeze.
    why : str
        The reasons in words: who won, the gap or why there is none, what more budget would bring.
    calls, seconds : dict
        What each part used.
    log : tuple of SimulatorPlan
        The records of progress before this one.
    """

    method: str
    value: float
    value_error: float
    act: Any
    policy: LatticePolicy | None = None
    theta: tuple[float, ...] | None = None
    T: int | None = None
    bound: float | None = None
    gap: float | None = None
    gap_share: float | None = None
    certificate: StatisticalCertificate | None = None
    lead: float | None = None
    lead_error: float | None = None
    why: str = ""
    calls: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    log: tuple[SimulatorPlan, ...] = ()

    def save(self, path: Any) -> None:
        """Write the policy to a file with the ending .npz (`fsdash.load_policy` reads it)."""
        if self.policy is None:
            raise InputError(
                f"the {self.method} policy is code of the simulator: deploy the simulator's "
                f"function with theta = {self.theta}"
            )
        self.policy.save(path)

    def _summary(self) -> tuple[str, Lines]:
        horizon = "" if self.T is None else f", n = {self.T}"
        gap = "none"
        if self.gap is not None and self.gap_share is not None:
            gap = f"at most {self.gap:.4g} ({100 * self.gap_share:.3g}%)"
        lead = "no rule" if self.lead is None else f"{self.lead:.4g} ± {self.lead_error:.2g}"
        return f"Plan: {self.method}{horizon}", [
            ("value", f"{self.value:.6g} ± {self.value_error:.2g}"),
            ("gap to the best", gap),
            ("lead over the rule", lead),
            ("calls", sum(self.calls.values())),
            ("seconds", round(sum(self.seconds.values()), 1)),
            ("why", self.why),
        ]


def plan_simulator(
    sim: Simulator,
    *,
    seconds: float | None = None,
    calls: float | None = None,
    gap: float | None = None,
    seed: int = 0,
) -> SimulatorPlan:
    """Find a policy for a simulator within a budget, with its value and its gap to the best.

    Parameters
    ----------
    sim : Simulator
        The simulator.
    seconds, calls : float, optional
        The budget: seconds (60 by default), or rows passed to the simulator, or both.
    gap : float, optional
        Stop when the gap is at most this share of the value, for example 0.01.
    seed : int
        Seed of all random numbers.

    Returns
    -------
    SimulatorPlan
        Policy, value, bound, gap, lead over the rule, and the reasons in words. If the simulator
        fails on the way, what was planned before is returned, and `why` has the error.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.simulators.tabular import TabularSimulator
    >>> model = fsdash.make("inventory", y_max=10, gamma=0.9).build()
    >>> plan = fsdash.plan(TabularSimulator(model), calls=200_000)
    >>> plan.policy.variables
    ('x', 'y')
    """
    log: list[SimulatorPlan] = []
    steps = plan_simulator_steps(sim, seconds=seconds, calls=calls, gap=gap, seed=seed)
    try:
        for record in steps:
            log.append(record)
    except SimulatorFaults as error:
        if not log:
            raise
        log.append(replace(log[-1], why=f"{log[-1].why} Planning stopped early: {error}."))
    return replace(log[-1], log=tuple(log[:-1]))


def plan_simulator_steps(
    sim: Simulator,
    *,
    seconds: float | None = None,
    calls: float | None = None,
    gap: float | None = None,
    seed: int = 0,
) -> Iterator[SimulatorPlan]:
    """Yield the best plan so far after each step; `plan_simulator` has the parameters."""
    for name, number in (("seconds", seconds), ("calls", calls), ("gap", gap)):
        if number is not None and not (isinstance(number, int | float) and number > 0):
            raise InputError(f"{name} = {number!r}: give a positive number")
    if seconds is None and calls is None:
        seconds = SECONDS
    planner = _Planner(sim, seconds or math.inf, calls or math.inf, gap, seed)
    yield from planner.run()


class _Planner:
    def __init__(
        self, sim: Simulator, seconds: float, calls: float, gap: float | None, seed: int
    ) -> None:
        self.start, self.limit, self.budget = perf_counter(), seconds, calls
        self.sim, self.target, self.seed = sim, gap, seed
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self.mark = (self.start, 0)
        self.attempts = 0
        self.notes: list[str] = []
        self.last_certified: SimulatorPlan | None = None

    # ------------------------------------------------------------------------------- the budget

    def spent(self, part: str) -> None:
        """Add the time and calls since the last mark to a part."""
        now, before = (perf_counter(), self.driver.calls), self.mark
        self.seconds[part] = self.seconds.get(part, 0.0) + now[0] - before[0]
        self.calls[part] = self.calls.get(part, 0) + now[1] - before[1]
        self.mark = now

    @property
    def seconds_left(self) -> float:
        return self.limit - (perf_counter() - self.start)

    @property
    def calls_left(self) -> float:
        return self.budget - self.driver.calls

    def race_calls(self) -> float:
        return max(1.0, min(CALLS, SHARE * self.budget, self.calls_left / 2))

    # -------------------------------------------------------------------------------- the steps

    def run(self) -> Iterator[SimulatorPlan]:
        self.driver = driver = Driver(self.sim)
        self.dependence = check_simulator(self.sim, seed=self.seed)
        driver.calls += self.dependence.calls
        self.rng = np.random.default_rng([self.seed, 0])
        self.spent("check")
        self.rule = None
        incumbents = []
        if self.sim.rule is not None:
            self.rule = tuned_rule(driver, self.race_calls(), [self.seed, 1])
            incumbents.append(self.rule)
            self.spent("rule")
        obstacle = self.obstacle(self.coarsest())
        if obstacle:
            incumbents.append(myopic(driver, self.rng))
            self.notes.append(f"No lattice: {obstacle}.")
        if incumbents:
            incumbents = race(driver, incumbents, self.race_calls(), [self.seed, 2])[:1]
            self.spent("race")
            yield self.record(incumbents[0])
        level, took, used = self.coarsest(), 0.0, 0
        while not self.obstacle(level):
            before = perf_counter(), driver.calls
            lattice, V_NL, candidates = self.candidates(level)
            self.spent("lattice")
            rivals = [*candidates, *incumbents, *([self.rule] if self.rule else [])]
            rivals = list({id(c): c for c in rivals}.values())
            for candidate in rivals:
                candidate.returns = np.empty(0)
            winner = race(driver, rivals, self.race_calls(), [self.seed, 3, level])[0]
            self.spent("race")
            incumbents = [winner]
            plan = self.record(winner)
            yield plan
            plan = self.certified(plan, winner, lattice, V_NL)
            yield plan
            if plan.gap_share is not None and plan.gap_share <= (self.target or 0):
                return
            took, used = perf_counter() - before[0], driver.calls - before[1]
            if level == 1 or 3 * took > self.seconds_left or 3 * used > self.calls_left:
                return
            level //= 2

    def coarsest(self) -> int:
        """Start with a quarter of the intervals if y has continuous coordinates."""
        return 1 if all(p.exact for p in self.driver.spec.points) else 4

    def obstacle(self, level: int) -> str:
        """Why there can be no lattice of this level; empty if there can."""
        spec = self.driver.spec
        points = [p.coarsened(level) for p in spec.points]
        try:
            layout = Layout(spec, self.dependence, points, range(len(points)))
        except InputError as error:
            return str(error)
        features = Features.of(spec.slow)
        nodes = len(features) if features.powers_FD is None else max(40, 2 * len(features))
        draws = draws_per_node(spec, self.dependence)
        rows = sum(
            len(own) * (draws if self.dependence.noisy[j] else 1)
            for group in layout.groups
            for j, own in zip(group.outputs, group.own, strict=True)
        )
        if rows * nodes > self.calls_left:
            return f"it needs about {rows * nodes:,} calls, and {self.calls_left:,.0f} are left"
        return ""

    def candidates(self, level: int) -> tuple[Lattice, np.ndarray, list[Entrant]]:
        """The lattice, its last values, and the policies from it."""
        lattice = Lattice(self.driver, self.dependence, self.rng, coarse=level)
        most = 1.3 / (1 - lattice.gamma)
        candidates, before = list[Entrant](), None
        for n, V_NL in lattice.chain():
            if n & (n - 1) == 0:
                policy = lattice.policy(V_NL, False, f"rolling freeze, n = {n}")
                candidates.append(Entrant("rolling", policy.act, policy, n))
            settled = before is not None and np.ptp(V_NL - before) < CONVERGED * np.ptp(V_NL)
            if n >= most or settled or self.seconds_left < 0.4 * self.limit:
                break
            before = V_NL
        if self.driver.moves:
            for _, V_NL in lattice.solve(V_NL):  # noqa: B007, B020
                if self.seconds_left < 0.3 * self.limit:
                    break
            policy = lattice.policy(V_NL, True, "thawed")
            candidates.append(Entrant("thawed", policy.act, policy))
        return lattice, V_NL, candidates

    # ------------------------------------------------------------------------------ the results

    def record(self, winner: Entrant) -> SimulatorPlan:
        """Value and lead of a policy on new common paths."""
        policies = [winner] if self.rule is None else [winner, self.rule]
        acts, cost = [c.act for c in policies], sum(c.cost for c in policies)
        paths = int(self.race_calls() * (1 - self.driver.spec.gamma) / (3 * cost))
        rng = np.random.default_rng([self.seed, 4])
        returns = discounted_returns(self.driver, acts, rng, max(paths, MIN_PATHS))
        self.spent("value")
        lead = None if self.rule is None else returns[0] - returns[1]
        is_policy = isinstance(winner.policy, LatticePolicy)
        theta = None if is_policy or winner.policy is None else tuple(map(float, winner.policy))
        plan = SimulatorPlan(
            winner.name,
            self.driver.spec.sign * float(returns[0].mean()),
            half_interval(returns[0]),
            winner.act,
            winner.policy if is_policy else None,
            theta,
            winner.n,
            lead=None if lead is None else float(lead.mean()),
            lead_error=None if lead is None else half_interval(lead),
        )
        return self.explained(plan, "it was not computed yet")

    def certified(
        self, plan: SimulatorPlan, winner: Entrant, lattice: Lattice, V_NL: np.ndarray
    ) -> SimulatorPlan:
        """The plan with its certificate, or with the reason why there is none."""
        if reason := no_certificate(self.driver):
            return self.explained(plan, reason)
        self.attempts += 1
        level = 1 - (1 - LEVEL) / 2**self.attempts
        seed = 1_000_003 * (self.seed + 1) + self.attempts
        before, first = np.array([perf_counter(), self.driver.calls]), None
        certificate, needed = None, np.zeros(2)
        paths = certified_paths(lattice, V_NL, winner.act, seed=seed, most=MIN_PATHS, level=level)
        for p, certificate in enumerate(paths, 1):
            used = np.array([perf_counter(), self.driver.calls]) - before
            if first is None:  # the first path also pays for what all paths share
                first = used
            needed = first + (used - first) / max(p - 1, 1) * (MIN_PATHS - 1)
            # Nothing else needs the rest of the time, and a busy computer makes estimates too high.
            left = np.array([2 * self.seconds_left, self.calls_left])
            if certificate is None and ((needed - used > left).any() or self.seconds_left < 0):
                break
        self.spent("certificate")
        if certificate is None:
            reason = (
                f"{MIN_PATHS} paths need about {needed[1]:,.0f} calls and {needed[0]:,.0f} "
                "seconds, more than the budget leaves"
            )
            if self.last_certified is None:
                return self.explained(plan, reason)
            self.notes.append(f"A plan on a finer lattice has no certificate: {reason}.")
            return self.explained(self.last_certified, "")
        sign, limit = self.driver.spec.sign, certificate.limit
        plan = replace(
            plan,
            value=sign * certificate.value,
            value_error=certificate.value_error,
            bound=sign * (certificate.value + limit),
            gap=limit,
            gap_share=certificate.limit_share,
            certificate=certificate,
        )
        self.last_certified = self.explained(plan, "")
        return self.last_certified

    def explained(self, plan: SimulatorPlan, reason: str) -> SimulatorPlan:
        """The plan with its reasons, costs, and facts for the policy's file."""
        words = [*self.notes]
        if plan.method == "rule":
            words.append("The tuned rule won: no other candidate is better.")
        elif plan.lead is not None and plan.lead_error is not None:
            certain = abs(plan.lead) > plan.lead_error
            side = "better" if plan.lead > 0 else "worse"
            words.append(
                f"{'Measurably' if certain else 'Not measurably'} {side} than the tuned rule."
            )
        if plan.method == "rolling":
            words.append("It uses no model of the slow state.")
        if plan.certificate is None:
            words.append(f"No certificate: {reason}.")
        else:
            c = plan.certificate
            if not c.exact:
                words.append(
                    f"The gap refers to the lattice model of continuous y; its mean is "
                    f"{c.gaps.mean():.3g}, and {c.finer_gaps.mean():.3g} on a finer lattice."
                    if c.finer_gaps is not None
                    else "The gap refers to the lattice model of continuous y."
                )
            if c.warning:
                words.append(f"{c.warning}.")
            words.append(
                f"More paths can lower the limit by at most {c.limit - c.gap:.3g}; the rest, "
                f"{c.gap:.3g}, is regret or needs a finer lattice."
            )
        if plan.policy is not None:
            plan.policy.about |= {
                "value": plan.value,
                "gap": plan.gap,
                "hash": source_hash(self.sim),
            }
        return replace(
            plan, why=" ".join(words), calls=dict(self.calls), seconds=dict(self.seconds)
        )
