"""What the Policy inspector shows: the policies of one replication, and facts about a state.

A `PolicyHistory` holds the policies of one replication, step by step. They come from the store or
from an exact algorithm that is solved on the spot. Pure, no Streamlit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.snapshot import MAX_ITERATIONS
from fsdash.core.compare import FIRST_BETTER, SECOND_BETTER, TIE
from fsdash.core.evaluation import TOLERANCE
from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.inspector import text
from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy, PolicyFigure, Versus
from fsdash.figures.policies.generic import agreement
from fsdash.figures.policies.inspected import inspect_run
from fsdash.figures.policies.labels import (
    action_labels,
    coordinate_label,
    value_label,
    value_sign,
)
from fsdash.figures.policies.microscope import path_losses, simulated_blocks
from fsdash.runs.engine import Record, execute
from fsdash.runs.frames import tidy
from fsdash.runs.records import ACTIVE, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.arrays import pack_policy, pack_values, unpack
from fsdash.runs.store.experiments import Store

MAX_ENTRIES = 2_000_000
"""Entries of a model's largest table: the page builds and solves it in the server's process."""
MAX_DECISIONS = 8_000_000
"""Decisions of a policy: its phases times the states."""
ITERATIONS = 40
"""Of an algorithm solved on the spot. Its policy stops changing well before."""
ROUNDING = 1e-12
"""Sums of rewards up to this size, relative to the largest reward, are rounding errors."""
SUBOPTIMAL = 2
"""The code of a worse action in `agreement`."""


@dataclass(frozen=True, eq=False)
class PolicyHistory:
    """The policies of one replication.

    `rows` is indexed by step; `steps` lists the steps whose policy is available; `read(step)`
    returns its policy_PXY and the algorithm's own values_XY. `name` identifies the history in
    caches.
    """

    spec: RunSpec
    replication: int
    rows: pd.DataFrame
    steps: tuple[int, ...]
    read: Callable[[int], tuple[np.ndarray, np.ndarray]]
    name: str

    @property
    def label(self) -> str:
        return self.spec.label

    def nearest(self, step: int) -> int:
        """The available step closest to this one."""
        return min(self.steps, key=lambda available: (abs(available - step), available))

    def row(self, step: int) -> pd.Series:
        return self.rows.loc[step]


def recorded_history(store: Store, run: Run, replication: int) -> PolicyHistory:
    """The stored policies of a replication; an `InputError` if there are none."""
    spec, steps = run.spec, store.policy_steps(run.id, replication)
    status = run.replications[replication].status
    if not steps:
        raise InputError(text.no_policy(spec.label, replication, status, status in ACTIVE))
    # The store returns rows beyond those already seen: skip the other replications, which may
    # have many.
    others = {(run.id, r.index): r.rows for r in run.replications if r.index != replication}
    frame = store.rows([run.id], others)
    rows = frame[frame["replication"] == replication].set_index("step")
    return PolicyHistory(
        spec,
        replication,
        rows,
        tuple(step for step in steps if step in rows.index),
        lambda step: store.policy(run.id, replication, step),
        f"{run.experiment}/{run.id}/{replication}",
    )


def solved_spec(domain: str, preset: str, algorithm: str, T: int | None) -> RunSpec:
    """An exact algorithm on a preset of a domain, for `ITERATIONS` iterations."""
    parameters = DOMAINS[domain].presets[preset]
    return RunSpec(domain, algorithm, T=T, domain_parameters=parameters, iterations=ITERATIONS)


def solved_history(spec: RunSpec) -> PolicyHistory:
    """Run an exact algorithm and return its policies, held as compact bytes."""
    check_size(spec)
    rows, packed = [], []

    def add(record: Record) -> None:
        rows.append(record.row)
        packed.append((pack_policy(record.policy_PXY), pack_values(record.values_XY)))

    execute(spec, 0, add)
    return PolicyHistory(
        spec,
        0,
        tidy(rows).set_index("step"),
        tuple(range(len(rows))),
        lambda step: tuple(unpack(data) for data in packed[step]),
        spec.hash,
    )


def policy_at(history: PolicyHistory, step: int) -> tuple[InspectedPolicy, np.ndarray]:
    """The policy at a step, and the algorithm's own values_XY."""
    check_size(history.spec)
    policy_PXY, values_XY = history.read(step)
    return inspect_run(history.spec, history.row(step), policy_PXY), values_XY


def check_size(spec: RunSpec) -> None:
    """Raise an `InputError` if a model or its policies are too large for the server's process."""
    domain = spec.build_domain()
    X, Y, *_ = domain.shape
    decisions = (spec.T or 1) * X * Y
    if domain.entries > MAX_ENTRIES or decisions > MAX_DECISIONS:
        raise InputError(text.too_large(spec.label, domain.entries, decisions))


def size_of(inspected: InspectedPolicy) -> int:
    """Entries of the model's largest table and of the policy."""
    assert inspected.domain is not None
    return inspected.domain.entries + inspected.policy_PXY.size


# ------------------------------------------------------------------------------- facts and tables


def state_coordinates(model: FastSlowMDP, x: int, y: int) -> list[tuple[str, str]]:
    """Label and value of each coordinate of a state, slow ones first."""
    return [
        (coordinate_label(axis, name), value_label(axis, name, value))
        for axis, i in ((model.slow, x), (model.fast, y))
        for name, value in zip(axis.names, axis.values[i].tolist(), strict=True)
    ]


def suboptimal_share(inspected: InspectedPolicy, phase: int = 0) -> float:
    """Share of states whose action is worse than the best, if later actions are optimal."""
    codes_XY = agreement(inspected.model, inspected.policy_PXY[phase], inspected.optimum)
    return float((codes_XY == SUBOPTIMAL)[inspected.model.real_XY].mean())


def state_table(inspected: InspectedPolicy, x: int, y: int) -> pd.DataFrame:
    """One state: the action, exact value (or cost) and regret in each phase."""
    labels, best = action_labels(inspected.model), float(inspected.optimum.U_XY[x, y])
    value_P = inspected.values_PXY[:, x, y]
    return pd.DataFrame(
        {
            "phase": inspected.phases,
            "action": [labels[a] for a in inspected.policy_PXY[:, x, y]],
            "value": value_sign(inspected.model) * _rounded_to_zero(value_P),
            "regret": _rounded_to_zero(np.maximum(best - value_P, 0)),
        }
    )


def _rounded_to_zero(value_P: np.ndarray) -> np.ndarray:
    """0 for values within two certified errors of 0."""
    return np.where(np.abs(value_P) <= 2 * TOLERANCE, 0.0, value_P)


# --------------------------------------------------------------------------- comparisons and blocks


@dataclass(frozen=True)
class ComparisonFacts:
    """How often A and B act differently, as shares of the states, and what it matters.

    `time` is the share of A's time in states with a real disagreement, `gain` the mean of U^B − U^A
    over the initial distribution.
    """

    ties: float
    real: float
    time: float
    gain: float


def comparison_facts(versus: Versus, phase: int, judge: str) -> ComparisonFacts:
    """The facts of a comparison in one phase, with ties judged by `judge`."""
    found = versus.disagreement(phase, judge)
    better = (FIRST_BETTER, SECOND_BETTER)
    return ComparisonFacts(
        ties=found.share(TIE),
        real=found.share(*better),
        time=found.time_share(*better),
        gain=versus.model.mean(versus.gain_XY()),
    )


@dataclass(frozen=True)
class BlockFacts:
    """Planned minus earned rewards of a block, its expectation, and what its actions lose.

    `mean` is the mean gap of all blocks of the path. All are discounted within a block.
    """

    gap: float
    expected: float
    loss: float
    mean: float


def block_facts(inspected: InspectedPolicy, selected: dict) -> BlockFacts:
    """The facts of the selected block, numbered from 1."""
    T, block = selected.get("T", len(inspected.phases)), selected["block"] - 1
    blocks = simulated_blocks(inspected, T, selected["seed"])
    loss_N = path_losses(inspected, blocks)[blocks.periods(block)]
    found = (
        blocks.gap_K[block],
        blocks.expected_gap_K[block],
        loss_N @ inspected.model.gamma ** np.arange(T),
        blocks.gap_K.mean(),
    )
    noise = ROUNDING * inspected.model.largest_reward * T
    return BlockFacts(*(0.0 if abs(value) <= noise else float(value) for value in found))


# ----------------------------------------------------------------------------------------- snippet


@dataclass(frozen=True)
class Origin:
    """Where the second policy of a comparison comes from: how Python code recomputes it.

    Without a specification it is the optimal policy, or with a phase the first policy itself.
    """

    spec: RunSpec | None = None
    replication: int = 0
    step: int = 0
    phase: int | None = None


_ONE = """\
from fsdash import RunSpec
from fsdash.figures import policy_figures, policy_table, recompute

spec = {spec}
inspected = recompute(spec, step={step}, replication={replication})
figures = {{figure.name: figure for figure in policy_figures(inspected)}}
figure = figures[{name!r}].figure({chosen})
frame = {frame}
print(frame)"""

_TWO = """\
from fsdash import RunSpec
from fsdash.figures import Versus, comparison_figures, optimal_policy, recompute

spec = {spec}
first = recompute(spec, step={step}, replication={replication})
second = {second}
figures = {{figure.name: figure for figure in comparison_figures(Versus(first, second{phase}))}}
figure = figures[{name!r}].figure({chosen})
frame = figures[{name!r}].table({chosen})
print(frame)"""


def without_time_limit(spec: RunSpec) -> RunSpec:
    """The specification with a budget in seconds replaced by iterations.

    After the same time another computer would be at another step; the snippet stops by step.
    """
    if spec.seconds is None:
        return spec
    return replace(spec, seconds=None, iterations=MAX_ITERATIONS)


def policy_snippet(
    history: PolicyHistory,
    step: int,
    policy_figure: PolicyFigure,
    chosen: dict,
    other: Origin | None = None,
) -> str:
    """Python code that recomputes the figure as `figure` and its numbers as `frame`.

    `other` is the second policy, if the figure compares two.
    """
    name, arguments = policy_figure.name, f"**{chosen!r}" if chosen else ""
    first = {
        "spec": without_time_limit(history.spec).to_python(),
        "step": step,
        "replication": history.replication,
        "name": name,
        "chosen": arguments,
    }
    if other is None:
        own_table = policy_figure.tabulate is not None
        frame = f"figures[{name!r}].table({arguments})" if own_table else "policy_table(inspected)"
        return _ONE.format(frame=frame, **first)
    if other.spec is not None:
        again = without_time_limit(other.spec).to_python()
        second = f"recompute({again}, step={other.step}, replication={other.replication})"
    else:
        second = "optimal_policy(spec)" if other.phase is None else "first"
    phase = f", {other.phase}" if other.phase is not None else ""
    return _TWO.format(second=second, phase=phase, **first)


@dataclass(frozen=True, eq=False)
class ComparedPolicy:
    """The second policy B, for the same model as A, with its values in the URL.

    `phase` fixes its phase; otherwise it is in the phase that it has at the same time as A.
    """

    title: str
    inspected: InspectedPolicy
    url_values: dict[str, object]
    origin: Origin
    phase: int | None = None


@dataclass(frozen=True)
class ShownState:
    """The state whose details are shown, and why it was chosen."""

    x: int
    y: int
    heading: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """Policy A at a step of its history, maybe a policy B, and a figure of one or both.

    `estimate_XY` are the algorithm's own values. `together` is whether one figure shows all that
    is compared; otherwise the figure is drawn for A and for B.
    """

    history: PolicyHistory
    step: int
    inspected: InspectedPolicy
    estimate_XY: np.ndarray
    compared: ComparedPolicy | None
    versus: Versus | None
    policy_figure: PolicyFigure
    together: bool
    selected: dict
    figure: go.Figure

    @property
    def phase(self) -> int:
        """The selected phase of A."""
        return int(self.selected.get("phase", 0))

    @property
    def judge(self) -> str:
        """Whose values decide which action is better."""
        return self.selected.get("judge", "optimal")

    @property
    def policies(self) -> dict[str, tuple[InspectedPolicy, int]]:
        """The policies and their phases by name: A and B, or just one."""
        if self.versus is None:
            return {"policy": (self.inspected, self.phase)}
        p, q = self.versus.phases(self.phase)
        return {"A": (self.versus.first, p), "B": (self.versus.second, q)}

    @property
    def most_phases(self) -> tuple[str, tuple[str, ...]]:
        """The policy with the most phases: its name, and theirs."""
        phases = {who: policy.phases for who, (policy, _) in self.policies.items()}
        return max(phases.items(), key=lambda item: len(item[1]))
