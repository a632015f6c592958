"""What the Policy inspector shows: the policies of one replication, and facts about a state.

A `PolicyHistory` holds the policies of one replication, step by step. They come from the store or
from an exact algorithm that is solved on the spot. Pure, no Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fsdash.algorithms.snapshot import MAX_ITERATIONS
from fsdash.core.evaluation import TOLERANCE
from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.inspector import text
from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy, phase_names
from fsdash.figures.policies.generic import agreement
from fsdash.figures.policies.labels import (
    action_labels,
    coordinate_label,
    own_values,
    value_label,
)
from fsdash.runs.engine import Record, execute, problem
from fsdash.runs.frames import tidy
from fsdash.runs.records import ACTIVE, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.arrays import pack_policy, pack_values, unpack
from fsdash.runs.store.experiments import Store

ITERATIONS = 40
"""Of an algorithm solved on the spot. Its policy stops changing well before."""
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
    policy_PXY, values_XY = history.read(step)
    return _inspect(history.spec, history.row(step), policy_PXY), values_XY


def inspect_record(spec: RunSpec, record: Record) -> InspectedPolicy:
    """The policy of one record of `fsdash.runs.engine.execute`."""
    return _inspect(spec, pd.Series(record.row), record.policy_PXY)


def _inspect(spec: RunSpec, row: pd.Series, policy_PXY: np.ndarray) -> InspectedPolicy:
    domain = spec.build_domain()
    solved = problem(domain)
    phases = phase_labels(row, len(policy_PXY), spec.T)
    return InspectedPolicy(solved.model, policy_PXY, domain, solved.best, phases)


def optimal_policy(spec: RunSpec) -> InspectedPolicy:
    """The optimal policy of the specification's domain."""
    domain = spec.build_domain()
    solved = problem(domain)
    name = text.OPTIMAL_POLICY.lower()
    return InspectedPolicy(solved.model, solved.best.policy_PXY, domain, solved.best, (name,))


def phase_labels(row: pd.Series, P: int, T: int | None) -> tuple[str, ...]:
    """Names of the P phases. The cyclic policy of an unfinished lower level begins at π_{T−P}."""
    cyclic = row["policy_kind"] == "cyclic"
    return phase_names(P, T - P if cyclic and T else 0)


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


def different_share(model: FastSlowMDP, policy_XY: np.ndarray, other_XY: np.ndarray) -> float:
    """Share of states in which two policies choose different actions."""
    return float((policy_XY != other_XY)[model.real_XY].mean())


def value_sign(model: FastSlowMDP) -> int:
    """−1 if the model has costs, which tables show as positive numbers; otherwise 1."""
    return -1 if model.sense == "min" else 1


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


def policy_table(inspected: InspectedPolicy) -> pd.DataFrame:
    """The whole policy: one row per phase and state, with named coordinates, values and regret.

    Categories are words, and a model of costs has costs.
    """
    model, P, real_XY = inspected.model, len(inspected.phases), inspected.model.real_XY
    x_S, y_S = np.nonzero(real_XY)
    best_S = inspected.optimum.policy_PXY[0][real_XY]
    columns: dict[str, object] = {"phase": np.repeat(inspected.phases, len(x_S))}
    for axis, index_S in ((model.slow, x_S), (model.fast, y_S)):
        for name in axis.names:
            columns[name] = np.tile(own_values(axis, name)[index_S], P)
    action_PS = inspected.policy_PXY[:, real_XY]
    for name in model.actions.names:
        # The prefix is needed: a coordinate of the action may share its name with one of the state.
        values_A = own_values(model.actions, name)
        columns[f"action: {name}"] = values_A[action_PS.ravel()]
        columns[f"optimal action: {name}"] = np.tile(values_A[best_S], P)
    word, sign = text.VALUE_NAMES[model.sense], value_sign(model)
    columns[word] = sign * inspected.values_PXY[:, real_XY].ravel()
    columns[f"optimal {word}"] = np.tile(sign * inspected.optimum.U_XY[real_XY], P)
    columns["regret"] = np.concatenate([inspected.regret_XY(p)[real_XY] for p in range(P)])
    return pd.DataFrame(columns)


# ----------------------------------------------------------------------------------------- snippet

_SNIPPET = """\
from fsdash.dashboard.inspector.state import inspect_record, policy_table
from fsdash.figures.policies import policy_figures
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec

spec = {spec}
records = []
execute(spec, {replication}, records.append, cancelled=lambda: len(records) > {step})
inspected = inspect_record(spec, records[{step}])
figures = {{figure.name: figure for figure in policy_figures(inspected)}}
figure = figures[{figure!r}].figure({chosen})
frame = policy_table(inspected)
print(frame)"""


def without_time_limit(spec: RunSpec) -> RunSpec:
    """The specification with a budget in seconds replaced by iterations.

    After the same time another computer would be at another step; the snippet stops by step.
    """
    if spec.seconds is None:
        return spec
    return replace(spec, seconds=None, iterations=MAX_ITERATIONS)


def policy_snippet(history: PolicyHistory, step: int, figure: str, chosen: dict) -> str:
    """Python code that recomputes the policy as `inspected`, `figure` and `frame`."""
    arguments = f"**{chosen!r}" if chosen else ""
    return _SNIPPET.format(
        spec=without_time_limit(history.spec).to_python(),
        replication=history.replication,
        step=step,
        figure=figure,
        chosen=arguments,
    )
