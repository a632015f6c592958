"""What the Policy inspector shows of a run: its policies one by one, and facts about one state.

A `PolicyHistory` is one replication seen policy by policy: those that a store keeps, or those of an exact
algorithm that is carried out on the spot. Pure, no Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
import pandas as pd

from fsdash.algorithms.snapshot import MAX_ITERATIONS
from fsdash.core.evaluation import TOLERANCE
from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.run_lab.text import BADGES
from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy, phase_names
from fsdash.figures.policies.generic import agreement
from fsdash.figures.policies.labels import action_labels, point, title, without_unit
from fsdash.formatting import number, time_ago
from fsdash.runs.engine import Record, execute, problem
from fsdash.runs.frames import tidy
from fsdash.runs.records import ACTIVE, Experiment, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.arrays import pack_policy, pack_values, unpack
from fsdash.runs.store.experiments import Store

ITERATIONS = 40
"""Of an algorithm solved on the spot: its policy has long stopped changing by then."""
PHASES = {"lower": "lower level", "upper": "upper level"}
KINDS = {
    "stationary": "stationary policy, greedy for the frozen J",
    "cyclic": "lower policies alone",
}


@dataclass(frozen=True, eq=False)
class PolicyHistory:
    """The policies of one replication. `rows` has one line a step; `steps` those with a policy."""

    spec: RunSpec
    replication: int
    rows: pd.DataFrame
    steps: tuple[int, ...]
    read: Callable[[int], tuple[np.ndarray, np.ndarray]]
    name: str
    """Tells it from every other history: a key for caches."""
    active: bool = False

    @property
    def label(self) -> str:
        return self.spec.label

    def nearest(self, step: int) -> int:
        """The step with a policy that is closest to this one."""
        return min(self.steps, key=lambda kept: (abs(kept - step), kept))

    def row(self, step: int) -> pd.Series:
        return self.rows.loc[step]


def recorded_history(store: Store, run: Run, replication: int) -> PolicyHistory:
    """A replication of a kept run; an `InputError` if none of its policies is kept."""
    spec, steps = run.spec, store.policy_steps(run.id, replication)
    here = run.replications[replication]
    if not steps:
        wait = "its first policy is not there yet" if here.status in ACTIVE else "it kept no policy"
        raise InputError(f"{spec.label}, replication {replication}: {wait} (it is {here.status})")
    # Rows of the other replications, which may be many, are told to be known already.
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
        here.status in ACTIVE,
    )


def solved_spec(domain: str, preset: str, algorithm: str, T: int | None) -> RunSpec:
    """An exact algorithm on a domain's preset, for as long as a visitor can wait."""
    parameters = DOMAINS[domain].presets[preset]
    return RunSpec(domain, algorithm, T, parameters, iterations=ITERATIONS)


def solved_history(spec: RunSpec) -> PolicyHistory:
    """An exact algorithm carried out here and now; policies are held as compact bytes."""
    rows, packed = [], []

    def keep(record: Record) -> None:
        rows.append(record.row)
        packed.append((pack_policy(record.policy_PXY), pack_values(record.values_XY)))

    execute(spec, 0, keep)
    return PolicyHistory(
        spec,
        0,
        tidy(rows).set_index("step"),
        tuple(range(len(rows))),
        lambda step: tuple(unpack(data) for data in packed[step]),
        spec.hash,
    )


def inspected_policy(history: PolicyHistory, step: int) -> tuple[InspectedPolicy, np.ndarray]:
    """The policy at a step as a figure needs it, and the algorithm's own values."""
    policy_PXY, values_XY = history.read(step)
    domain = history.spec.build_domain()
    here = problem(domain)
    phases = phases_of(history.row(step), len(policy_PXY), history.spec.T)
    return InspectedPolicy(here.model, policy_PXY, domain, here.best, phases), values_XY


def optimum_subject(spec: RunSpec) -> InspectedPolicy:
    """The optimal policy of a specification's domain."""
    domain = spec.build_domain()
    here = problem(domain)
    return InspectedPolicy(here.model, here.best.policy_PXY, domain, here.best, ("optimal policy",))


def phases_of(row: pd.Series, P: int, T: int | None) -> tuple[str, ...]:
    """The names of the phases: the cyclic policy of an unfinished lower level begins at π_t."""
    cyclic = row["policy_kind"] == "cyclic"
    return phase_names(P, T - P if cyclic and T else 0)


# ------------------------------------------------------------------------------------------- words


def told_step(row: pd.Series, T: int | None = None) -> str:
    """Where in the run a policy stands: level, iteration, work, share of the optimum."""
    level, i = row["phase"], int(row["iteration"])
    if level == "lower" and T:
        where = f"lower level, {i} of {T - 1} periods back"
    else:
        where = f"{PHASES[level]}, iteration {i}" if level in PHASES else f"iteration {i}"
    if level == "lower":
        where += f" ({KINDS[row['policy_kind']]})"
    share = row["fraction_of_optimal"]
    worth = "" if isnan(share) else f" · **{share:.1%}** of the optimum"
    return f"{where[0].upper()}{where[1:]} · {number(row['evaluations'])} evaluations{worth}"


def experiment_label(experiment: Experiment, now: float) -> str:
    """An experiment as a list names it: others may have the same name."""
    word = BADGES[experiment.status][0]
    return f"{experiment.name or experiment.id} · {word}, {time_ago(experiment.created, now)}"


def run_label(run: Run) -> str:
    """A run as a list names it; a specification of another version still has its name."""
    T = f", T={run.T}" if run.T is not None else ""
    try:
        name = run.spec.label
    except InputError:
        name = f"{run.algorithm}{T}"
    return f"{run.domain} · {name} · {BADGES[run.status][0]}"


def coordinates_told(model: FastSlowMDP, x: int, y: int) -> list[tuple[str, str]]:
    """Each coordinate of a state with its value in words, slow ones first."""
    return [
        (without_unit(title(name)), point(name, value))
        for axis, i in ((model.slow, x), (model.fast, y))
        for name, value in zip(axis.names, axis.values[i].tolist(), strict=True)
    ]


def worse_share(subject: InspectedPolicy, phase: int = 0) -> float:
    """The share of states in which the action itself loses against the optimal one."""
    worse_XY = agreement(subject.model, subject.policy_PXY[phase], subject.optimum) == 2
    return float(worse_XY.mean())


def differ_share(policy_XY: np.ndarray, other_XY: np.ndarray) -> float:
    """The share of states in which two policies act differently."""
    return float((policy_XY != other_XY).mean())


# ------------------------------------------------------------------------------------------ tables


def state_frame(subject: InspectedPolicy, x: int, y: int) -> pd.DataFrame:
    """One state: for each phase its action, the exact value from there on, and the regret."""
    labels, best = action_labels(subject.model), float(subject.optimum.U_XY[x, y])
    value_P = subject.values_PXY[:, x, y]
    return pd.DataFrame(
        {
            "phase": subject.phases,
            "action": [labels[a] for a in subject.policy_PXY[:, x, y]],
            "value": _known(value_P),
            "regret": _known(np.maximum(best - value_P, 0)),
        }
    )


def _known(value_P: np.ndarray) -> np.ndarray:
    """Values, 0 where they are no larger than what two certified errors leave open."""
    return np.where(np.abs(value_P) <= 2 * TOLERANCE, 0.0, value_P)


def policy_frame(subject: InspectedPolicy) -> pd.DataFrame:
    """The whole policy as a table: a line for each phase and state, with names for everything."""
    model, P = subject.model, len(subject.phases)
    X, Y = model.n_slow, model.n_fast
    x_S, y_S = (index.ravel() for index in np.indices((X, Y)))
    best_S = subject.optimum.policy_PXY[0].ravel()
    columns = {"phase": np.repeat(subject.phases, X * Y)}
    for axis, index_S in ((model.slow, x_S), (model.fast, y_S)):
        for i, name in enumerate(axis.names):
            columns[name] = np.tile(axis.values[index_S, i], P)
    action_PS = subject.policy_PXY.reshape(P, -1)
    for i, name in enumerate(model.actions.names):
        # A coordinate of the action may have the name of one of the state.
        columns[f"action: {name}"] = model.actions.values[action_PS.ravel(), i]
        columns[f"optimal action: {name}"] = np.tile(model.actions.values[best_S, i], P)
    columns["value"] = subject.values_PXY.ravel()
    columns["optimal value"] = np.tile(subject.optimum.U_XY.ravel(), P)
    columns["regret"] = np.concatenate([subject.regret_XY(p).ravel() for p in range(P)])
    return pd.DataFrame(columns)


# ---------------------------------------------------------------------------------------- snippets

_SNIPPET = """\
from fsdash.figures.policies import views
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec
from fsdash.dashboard.inspector.state import policy_frame, recorded_subject

spec = {spec}
records = []
execute(spec, {replication}, records.append, cancelled=lambda: len(records) > {step})
subject = recorded_subject(spec, records[{step}])
figure = {{view.name: view for view in views(subject)}}[{view!r}].figure({chosen})
frame = policy_frame(subject)
print(frame)"""


def recorded_subject(spec: RunSpec, record: Record) -> InspectedPolicy:
    """The policy of one of the engine's records."""
    domain = spec.build_domain()
    here = problem(domain)
    phases = phases_of(pd.Series(record.row), len(record.policy_PXY), spec.T)
    return InspectedPolicy(here.model, record.policy_PXY, domain, here.best, phases)


def without_clock(spec: RunSpec) -> RunSpec:
    """The specification with a budget in seconds replaced by iterations.

    Another computer would stop elsewhere after so many seconds; the snippet stops at a step.
    """
    if spec.seconds is None:
        return spec
    return replace(spec, seconds=None, iterations=MAX_ITERATIONS)


def policy_snippet(history: PolicyHistory, step: int, view: str, chosen: dict) -> str:
    """The lines that compute a policy again; they leave `subject`, `figure` and `frame`."""
    arguments = f"**{chosen!r}" if chosen else ""
    return _SNIPPET.format(
        spec=without_clock(history.spec).to_python(),
        replication=history.replication,
        step=step,
        view=view,
        chosen=arguments,
    )
