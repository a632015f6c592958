"""The widgets that choose a policy: from a saved run, or from an exact algorithm solved here."""

import time
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import get_algorithm
from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.cache import SizedCache
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.inspector.url import LARGEST_T, PREFIX, URL, choose
from fsdash.dashboard.service import domain_labels
from fsdash.domains import DOMAINS, is_saved_name
from fsdash.errors import InputError
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
_POLICIES: SizedCache[tuple[InspectedPolicy, np.ndarray]] = SizedCache()
_OPTIMAL_POLICIES: SizedCache[InspectedPolicy] = SizedCache()


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


def policy_at(history: PolicyHistory, step: int) -> tuple[InspectedPolicy, np.ndarray]:
    """The policy at a step and the algorithm's own values; exact values are computed once."""

    def read() -> tuple[tuple[InspectedPolicy, np.ndarray], int]:
        found = state.policy_at(history, step)
        return found, state.size_of(found[0])

    return _POLICIES.get((history.name, step), read)


def optimal_policy(spec: RunSpec) -> InspectedPolicy:
    """The optimal policy of the specification's domain."""

    def solve() -> tuple[InspectedPolicy, int]:
        found = state.optimal_policy(spec)
        return found, state.size_of(found)

    return _OPTIMAL_POLICIES.get((spec.domain, spec.domain_parameters), solve)
