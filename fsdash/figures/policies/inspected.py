"""A policy under inspection, and the declaration of a figure of it.

An `InspectedPolicy` is a model with a policy. It computes values, visits and paths when a figure
first needs them. A `PolicyFigure` declares one figure with its selectors: a page builds widgets
from the selectors and passes the chosen values back, so it needs to know nothing about domains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.optimum import Optimum, optimum
from fsdash.choice.solved import solved_domain
from fsdash.core.evaluation import Values, policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_policy, check_policy
from fsdash.core.simulate import Path, Visits, simulate, visits
from fsdash.domains import Domain
from fsdash.errors import InputError
from fsdash.figures.svg import subscript
from fsdash.runs.engine import Record, execute
from fsdash.runs.spec import RunSpec

SEEDS = tuple(range(1, 21))
STEPS = (30, 60, 120, 240, 480)
AXES = "axes"
"""The selector of the two axes of a plane; its options are `across|up`."""


def phase_names(P: int, first: int = 0) -> tuple[str, ...]:
    """The names μ, π₁, … of P phases, from phase `first` on; a stationary policy has one phase.

    The cyclic policy (π_t, …, π_{T−1}) of an unfinished lower level has P = T − t and first = t.
    """
    if P == 1 and first == 0:
        return ("policy",)
    return tuple("μ" if t == 0 else f"π{subscript(t)}" for t in range(first, first + P))


@dataclass(frozen=True, eq=False)
class InspectedPolicy:
    """A policy of a model.

    `domain` provides the domain's own figures. `best` is the optimum if it is known already;
    otherwise it is computed when needed. `phases` names the phases of the policy.
    """

    model: FastSlowMDP
    policy_PXY: np.ndarray
    domain: Domain | None = None
    best: Optimum | None = None
    phases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        policy = np.asarray(self.policy_PXY)
        policy_PXY = check_policy(self.model, policy[None] if policy.ndim == 2 else policy)
        phases = self.phases or phase_names(len(policy_PXY))
        if len(phases) != len(policy_PXY):
            raise InputError(f"phases: {len(phases)} names for {len(policy_PXY)} phases")
        object.__setattr__(self, "policy_PXY", policy_PXY.astype(np.int32))
        object.__setattr__(self, "phases", tuple(phases))

    @cached_property
    def optimum(self) -> Optimum:
        return optimum(self.model) if self.best is None else self.best

    @cached_property
    def evaluated(self) -> Values:
        """The exact value from phase 0 on, with its certified error."""
        return policy_values(self.model, self.policy_PXY)

    @cached_property
    def values_PXY(self) -> np.ndarray:
        """The exact value from each phase on. The paper's regret uses phase 0.

        The other phases are backed up from phase 0, so their error is no larger.
        """
        U_PXY = np.empty(self.policy_PXY.shape)
        U_PXY[0] = self.evaluated.U_XY
        for p in range(len(U_PXY) - 1, 0, -1):
            after_XY = U_PXY[(p + 1) % len(U_PXY)]
            U_PXY[p] = H_policy(self.model, self.policy_PXY[p], after_XY)
        return U_PXY

    def values_from(self, phase: int) -> Values:
        """The exact value from a phase on; phases are counted on and on, so P is 0 again."""
        return Values(self.values_PXY[phase % len(self.phases)], self.evaluated.error)

    def regret_XY(self, phase: int = 0) -> np.ndarray:
        """U* − U^π from a phase on, cut off at 0: below it lie only the certified errors."""
        return np.maximum(self.optimum.U_XY - self.values_PXY[phase], 0)

    def loss_XY(self, phase: int = 0) -> np.ndarray:
        """U*(s) − Q*(s, π(s)): what this action alone loses if all later actions are optimal.

        It is 0 within the certified errors of the two values.
        """
        best = self.optimum
        loss_XY = best.U_XY - H_policy(self.model, self.policy_PXY[phase], best.U_XY)
        return np.where(loss_XY <= 2 * best.error, 0.0, loss_XY)

    @cached_property
    def visits(self) -> Visits:
        return visits(self.model, self.policy_PXY)

    def path(self, seed: int, steps: int, start: tuple[int, int] | None = None) -> Path:
        rng = np.random.default_rng(seed)
        return simulate(self.model, self.policy_PXY, rng=rng, steps=steps, start=start)


def inspect_run(spec: RunSpec, row: Mapping, policy_PXY: np.ndarray) -> InspectedPolicy:
    """The policy of a row of a run.

    The cyclic policy of an unfinished lower level, of P phases, begins at π_{T−P}.
    """
    domain, P = spec.build_domain(), len(policy_PXY)
    solved = solved_domain(domain)
    phases = phase_names(P, spec.T - P if row["policy_kind"] == "cyclic" and spec.T else 0)
    return InspectedPolicy(solved.model, policy_PXY, domain, solved.best, phases)


def recompute(spec: RunSpec, step: int, replication: int = 0) -> InspectedPolicy:
    """Run a replication again until a step and return its policy there."""
    records: list[Record] = []
    execute(spec, replication, records.append, cancelled=lambda: len(records) > step)
    return inspect_run(spec, records[step].row, records[step].policy_PXY)


def optimal_policy(spec: RunSpec) -> InspectedPolicy:
    """The optimal policy of the specification's domain."""
    domain = spec.build_domain()
    solved, name = solved_domain(domain), "optimal policy"
    return InspectedPolicy(solved.model, solved.best.policy_PXY, domain, solved.best, (name,))


@dataclass(frozen=True)
class Selector:
    """One choice that a figure needs: a value from `options`, or with `many` a tuple of them.

    `ordered` options can be a slider. `coordinate` names the coordinate of the state it chooses.
    """

    name: str
    title: str
    options: tuple
    labels: tuple[str, ...]
    default: object
    many: bool = False
    ordered: bool = True
    coordinate: str | None = None

    def check(self, value: object) -> None:
        if self.many and not isinstance(value, tuple | list):
            raise InputError(f"{self.name} = {value}: give a list of values")
        for one in value if self.many else (value,):
            if one not in self.options:
                known = ", ".join(map(str, self.options))
                raise InputError(f"{self.name} = {one}: choose from {known}")


@dataclass(frozen=True)
class PolicyFigure:
    """One figure of a policy.

    `caption` says in a sentence or two what is drawn. With `clickable`, the first two entries of
    each point's customdata are (x, y), the indices of its state; two more may be the name and the
    value of a selector that the click sets. `animated` figures have frames. `tabulate` returns the
    numbers of the figure, if they are not the policy itself.
    """

    name: str
    title: str
    caption: str
    draw: Callable[..., go.Figure]
    selectors: tuple[Selector, ...] = ()
    clickable: bool = False
    animated: bool = False
    tabulate: Callable[..., pd.DataFrame] | None = None

    def figure(self, **chosen) -> go.Figure:
        """The figure for the chosen values, by selector name; the others keep their default."""
        return self.draw(**self._complete(chosen))

    def table(self, **chosen) -> pd.DataFrame:
        """The numbers of the figure for the chosen values."""
        if self.tabulate is None:
            raise InputError(f"{self.title} has no table of its own; use policy_table")
        return self.tabulate(**self._complete(chosen))

    def needed(self, chosen: Mapping[str, object]) -> tuple[Selector, ...]:
        """The selectors that matter for the chosen axes: an axis needs no selector of its value."""
        axes = str(chosen.get(AXES, "")).split("|")
        return tuple(s for s in self.selectors if s.many or s.coordinate not in axes)

    def _complete(self, chosen: Mapping[str, object]) -> dict[str, object]:
        known = {selector.name: selector for selector in self.selectors}
        for name, value in chosen.items():
            if name not in known:
                has = ", ".join(known) or "none"
                raise InputError(f"{self.title} has no selector {name!r}; it has {has}")
            known[name].check(value)
        return {name: selector.default for name, selector in known.items()} | dict(chosen)


def phase_selector(inspected: InspectedPolicy) -> tuple[Selector, ...]:
    """The choice among μ, π₁, …, π_{T−1}; none for a stationary policy."""
    P = len(inspected.phases)
    if P == 1:
        return ()
    return (Selector("phase", "phase of the policy", tuple(range(P)), inspected.phases, 0),)


def path_selectors(default_steps: int = 120) -> tuple[Selector, ...]:
    """The length and the random seed of a simulated path."""
    return (
        Selector("steps", "periods", STEPS, tuple(map(str, STEPS)), default_steps),
        Selector("seed", "random seed", SEEDS, tuple(map(str, SEEDS)), SEEDS[0]),
    )
