"""The policies that the inspector shows: a saved run or an exact solution, and policy B."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

import numpy as np
import streamlit as st
from cachetools import LRUCache, cached
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import get_algorithm
from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.state import ComparedPolicy, Origin, PolicyHistory
from fsdash.dashboard.inspector.url import LARGEST_T, PREFIX, URL, choose
from fsdash.dashboard.service import domain_labels
from fsdash.domains import DOMAINS, is_saved_name
from fsdash.errors import InputError
from fsdash.figures import policies
from fsdash.figures.policies import InspectedPolicy
from fsdash.runs.records import ACTIVE, Experiment, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store

MAX_LISTED = 200
"""Experiments offered in a list, newest first."""
DEFAULT_T = 6
_SOURCE = f"{PREFIX}source"
_NAMES = ("experiment", "run", "replication", "domain", "preset", "method", "T")
KEYS = (_SOURCE, *map(URL.key, _NAMES))
"""Of the widgets that choose a policy."""
MAX_POLICIES = 48
MAX_TOTAL = 10_000_000
"""Entries of all models and policies in a cache, about 45 bytes each at most."""


@dataclass(frozen=True)
class PolicyChoice:
    """A replication of a saved run, or, without a run, an exact algorithm to solve."""

    spec: RunSpec
    experiment: str | None = None
    run: int | None = None
    replication: int = 0
    preset: str | None = None

    @property
    def url_values(self) -> dict[str, object]:
        """The values of the URL's parameters that find this policy again."""
        saved, spec = self.run is not None, self.spec
        return {
            "experiment": self.experiment,
            "run": self.run,
            "replication": self.replication if saved else None,
            "domain": None if saved else spec.domain,
            "preset": self.preset,
            "method": None if saved else spec.algorithm,
            "T": None if saved else spec.T,
        }


# ----------------------------------------------------------------------------------------- widgets


def choose_policy(store: Store, notices: DeltaGenerator, drawn: bool) -> PolicyChoice:
    """Where the policy comes from, then which one. An `InputError` if there is none.

    The widgets are `drawn` while their popover is open. `notices` is a place for warnings outside.
    """
    experiments = store.experiments(limit=MAX_LISTED)
    if _SOURCE not in st.session_state:
        saved = experiments or URL.get("experiment") is not None
        solve = URL.get("domain") is not None or not saved
        st.session_state[_SOURCE] = text.SOLVE_NOW if solve else text.SAVED_RUN
    if drawn:
        st.segmented_control(
            "Policy from",
            (text.SAVED_RUN, text.SOLVE_NOW),
            key=_SOURCE,
            required=True,
            help=text.SOURCE_HELP,
        )
    if st.session_state[_SOURCE] == text.SOLVE_NOW:
        return _choose_exact(store, notices, drawn)
    return _choose_saved(store, experiments, notices, drawn)


def _choose_saved(
    store: Store, experiments: list[Experiment], notices: DeltaGenerator, drawn: bool
) -> PolicyChoice:
    listed = st.selectbox if drawn else None
    asked = URL.get("experiment")
    if asked is not None and asked not in [e.id for e in experiments]:
        try:
            experiments = [*experiments, store.experiment(asked)]
        except InputError as problem:
            notices.warning(text.broken_link(problem))
            URL.put("experiment", None)
    if not experiments:
        raise InputError(text.NO_RUNS)
    by_id, now = {e.id: e for e in experiments}, time.time()
    id = choose(
        listed,
        "Experiment",
        "experiment",
        list(by_id),
        experiments[0].id,
        lambda id: text.experiment_label(by_id[id], now),
        notices,
    )
    runs = {run.id: run for run in by_id[id].runs}
    run_id = choose(
        listed,
        "Run",
        "run",
        list(runs),
        next(iter(runs)),
        lambda id: text.run_label(runs[id]),
        notices,
    )
    run = runs[run_id]
    replication = choose(
        listed,
        "Replication",
        "replication",
        [r.index for r in run.replications],
        0,
        notices=notices,
        help=text.REPLICATION_HELP,
    )
    return PolicyChoice(run.spec, id, run.id, replication)


def _choose_exact(store: Store, notices: DeltaGenerator, drawn: bool) -> PolicyChoice:
    listed = st.selectbox if drawn else None
    labels = domain_labels(store, URL.get("domain"))
    domain = choose(
        listed,
        "Domain",
        "domain",
        list(labels),
        "inventory",
        lambda name: labels[name] if is_saved_name(name) else DOMAINS[name].title,
        notices,
    )
    preset, presets = "default", list(DOMAINS[domain].presets)
    if len(presets) > 1:
        preset = choose(
            listed,
            "Preset",
            "preset",
            presets,
            "default",
            lambda name: name.replace("-", " "),
            notices,
        )
    method = choose(
        listed,
        "Exact algorithm",
        "method",
        list(text.ALGORITHM_LABELS),
        "fsvi",
        text.ALGORITHM_LABELS.get,
        notices,
    )
    T = None
    if get_algorithm(method).freezes:
        if URL.get("T") is None:
            URL.put("T", DEFAULT_T)
        T = URL.get("T")
        if drawn:
            T = st.number_input("Periods frozen T", 1, LARGEST_T, key=URL.key("T"))
    return PolicyChoice(state.solved_spec(domain, preset, method, T), preset=preset)


# ------------------------------------------------------------------------- policies, cached by key


def is_running(store: Store, choice: PolicyChoice) -> bool:
    """Whether the replication is queued or running now."""
    if choice.run is None:
        return False
    return store.run(choice.run).replications[choice.replication].status in ACTIVE


def history_of(store: Store, choice: PolicyChoice) -> PolicyHistory:
    """The policies of a choice. Visitors share what can no longer change."""
    if choice.run is None:
        return _solved(choice.spec)
    run = store.run(choice.run)
    replication = run.replications[choice.replication]
    return _recorded(
        store.url,
        choice.experiment,
        run.id,
        replication.index,
        replication.rows,
        replication.status,
        store,
        run,
    )


@st.cache_resource(max_entries=16, show_spinner="Solving…")
def _solved(spec: RunSpec) -> PolicyHistory:
    return state.solved_history(spec)


@st.cache_resource(max_entries=16, show_spinner=False)
def _recorded(
    url, experiment, run, replication, rows, status, _store: Store, _run: Run
) -> PolicyHistory:
    return state.recorded_history(_store, _run, replication)


def _size(policy: InspectedPolicy) -> float:
    """The size of a policy in a cache; at most `MAX_POLICIES` of them fit."""
    return max(state.size_of(policy), MAX_TOTAL / MAX_POLICIES)


@cached(
    LRUCache(MAX_TOTAL, getsizeof=lambda inspected: _size(inspected[0])),
    key=lambda history, step: (history.name, step),
    lock=Lock(),
)
def policy_at(history: PolicyHistory, step: int) -> tuple[InspectedPolicy, np.ndarray]:
    """The policy at a step and the algorithm's own values; exact values are computed once."""
    return state.policy_at(history, step)


@cached(
    LRUCache(MAX_TOTAL, getsizeof=_size),
    key=lambda spec: (spec.domain, spec.domain_parameters),
    lock=Lock(),
)
def optimal_policy(spec: RunSpec) -> InspectedPolicy:
    """The optimal policy of the specification's domain."""
    state.check_size(spec)
    return policies.optimal_policy(spec)


OTHER_T = 12


def choose_comparison(
    store: Store,
    choice: PolicyChoice,
    history: PolicyHistory,
    step: int,
    inspected: InspectedPolicy,
) -> ComparedPolicy | None:
    """The widgets of "Compare with"; None if there is no second policy."""
    kinds = [kind for kind in text.COMPARISONS if _is_offered(kind, history, inspected)]
    kind = choose(
        st.selectbox,
        "Compare with",
        "compare",
        kinds,
        "",
        text.COMPARISONS.get,
        help=text.COMPARE_HELP,
        on_change=_reset,
    )
    if kind == "":
        return None
    if kind == "optimum":
        best = optimal_policy(history.spec)
        return ComparedPolicy(text.OPTIMAL_POLICY, best, {"compare": kind}, Origin())
    if kind == "phase":
        return _other_phase(history, step, inspected)
    if kind == "step":
        return _other_step(history, {"compare": kind}, history.steps[0])
    other = _exact_fsvi(history.spec) if kind == "fsvi" else _other_run(store, choice)
    if other is None:
        return None
    url_values = {"compare": kind, "other": other.run if kind == "run" else other.spec.T}
    try:
        found = history_of(store, other)
        return _other_step(found, url_values, found.steps[-1])
    except InputError as problem:
        st.warning(str(problem))
        return None


def _reset() -> None:
    """Forget the second policy's choices: a step of one run has no meaning in another."""
    for name in ("other", "otherstep"):
        URL.put(name, None)


def _is_offered(kind: str, history: PolicyHistory, inspected: InspectedPolicy) -> bool:
    if kind == "phase":
        return len(inspected.phases) > 1
    return kind != "step" or len(history.steps) > 1


def _other_phase(history: PolicyHistory, step: int, inspected: InspectedPolicy) -> ComparedPolicy:
    phase = choose(
        st.select_slider,
        "Second phase",
        "other",
        list(range(len(inspected.phases))),
        1,
        lambda p: inspected.phases[p],
    )
    title = text.policy_title(history.label, step)
    url_values = {"compare": "phase", "other": phase}
    return ComparedPolicy(title, inspected, url_values, Origin(phase=phase), phase)


def _other_step(history: PolicyHistory, url_values: dict, default: int) -> ComparedPolicy:
    step = history.steps[-1]
    if len(history.steps) > 1:
        asked = URL.get("otherstep")
        URL.put("otherstep", default if asked is None else history.nearest(asked))
        step = st.select_slider("Second step", history.steps, key=URL.key("otherstep"))
    inspected, _ = policy_at(history, step)
    title = text.policy_title(history.label, step)
    origin = Origin(history.spec, history.replication, step)
    return ComparedPolicy(title, inspected, url_values | {"otherstep": step}, origin)


def _exact_fsvi(spec: RunSpec) -> PolicyChoice:
    """Exact FSVI on the same problem, solved on this page."""
    asked = URL.get("other")
    URL.put("other", asked if asked in range(1, LARGEST_T + 1) else OTHER_T)
    T = st.number_input("T of exact FSVI", 1, LARGEST_T, key=URL.key("other"))
    return PolicyChoice(
        RunSpec(
            spec.domain,
            "fsvi",
            T=T,
            domain_parameters=spec.domain_parameters,
            iterations=state.ITERATIONS,
        )
    )


def _other_run(store: Store, choice: PolicyChoice) -> PolicyChoice | None:
    """Another saved run of the same problem."""
    same = choice.spec.to_dict()["domain_parameters"]
    found: dict[int, tuple[str, Run]] = {
        run.id: (experiment.name or experiment.id, run)
        for experiment in store.experiments(domain=choice.spec.domain, limit=MAX_LISTED)
        for run in experiment.runs
        if run.id != choice.run and run.spec_data.get("domain_parameters") == same
    }
    if not found:
        st.info(text.NO_OTHER_RUN)
        return None
    id = choose(
        st.selectbox,
        "Second run",
        "other",
        list(found),
        next(iter(found)),
        lambda id: f"{found[id][0]} · {text.run_label(found[id][1])}",
    )
    run = found[id][1]
    try:
        return PolicyChoice(run.spec, run.experiment, run.id)
    except InputError as problem:
        st.warning(text.unreadable_run(problem))
        return None
