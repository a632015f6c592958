"""The widgets that say which policy: of a kept run, or of one that is solved on the spot."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st

from fsdash.dashboard.inspector import state as inspector
from fsdash.dashboard.inspector.address import LONGEST_T
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.service import PAGE_LOCK_TIMEOUT, show_recovery
from fsdash.dashboard.widgets.address import trail
from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy
from fsdash.runs.records import ACTIVE, Experiment, Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import default_url
from fsdash.runs.store.experiments import Store

KEPT, SOLVE = "A kept run", "Solve it now"
LISTED = 200
START_T = 6


@dataclass(frozen=True)
class Pick:
    """Which replication of which run, or which exact algorithm to carry out."""

    spec: RunSpec
    experiment: str = ""
    run: int | None = None
    replication: int = 0

    @property
    def address(self) -> dict[str, object]:
        if self.run is None:
            chosen = {name: st.session_state.get(name) for name in ("domain", "preset", "method")}
            return {**chosen, "T": self.spec.T}
        return {"experiment": self.experiment, "run": self.run, "replication": self.replication}


def choose(
    widget: Callable,
    label: str,
    key: str,
    options: Sequence,
    default: object,
    told: Callable[[object], str] = str,
    **more,
) -> object:
    """One of the options; a value from a link or an earlier list that is none is replaced."""
    asked = st.session_state.get(key)
    if asked not in options:
        st.session_state[key] = default
        if asked is not None and trail().fresh:  # it came by the link that was just opened
            st.warning(f"{label}: the link's {asked} is not there; {told(default)} is shown.")
    return widget(label, options, key=key, format_func=told, **more)


def in_rows(width: int = 3) -> Iterator:
    """Places for widgets, so many in a row; a row is made when it is needed."""
    while True:
        yield from st.columns(width, gap="medium")


# -------------------------------------------------------------------------------------- the source


def open_store() -> Store:
    """The server's store, to read from: looking at policies needs no workers."""
    store = _store(default_url())
    show_recovery()
    return store


@st.cache_resource(show_spinner=False)
def _store(url: str) -> Store:
    return Store(url, PAGE_LOCK_TIMEOUT)


def pick(store: Store) -> Pick:
    """Where the policy comes from, and then which one; an `InputError` if there is none."""
    experiments = store.experiments(limit=LISTED)
    if "source" not in st.session_state:
        solve = "domain" in st.session_state or not (
            experiments or "experiment" in st.session_state
        )
        st.session_state["source"] = SOLVE if solve else KEPT
    source = st.segmented_control(
        "Policy of",
        (KEPT, SOLVE),
        key="source",
        required=True,
        help="Runs come from the Run lab. Exact algorithms need seconds and can be solved here.",
    )
    return _pick_solved() if source == SOLVE else _pick_kept(store, experiments)


def _pick_kept(store: Store, experiments: list[Experiment]) -> Pick:
    asked = st.session_state.get("experiment")
    if asked and asked not in [e.id for e in experiments]:
        try:
            experiments = [*experiments, store.experiment(asked)]
        except InputError as problem:
            st.warning(f"The link does not lead to a run any more: {problem}.")
    if not experiments:
        raise InputError(
            "Nothing is kept here yet. Start a run in the Run lab, or choose “Solve it now”."
        )
    columns = st.columns([5, 5, 2], vertical_alignment="bottom")
    known, now = {e.id: e for e in experiments}, time.time()
    with columns[0]:
        id = choose(
            st.selectbox,
            "Experiment",
            "experiment",
            list(known),
            experiments[0].id,
            lambda id: inspector.experiment_label(known[id], now),
        )
    with columns[1]:
        run = _pick_run(known[id])
    with columns[2]:
        replication = choose(
            st.selectbox,
            "Replication",
            "replication",
            [r.index for r in run.replications],
            0,
            help="Of replication 0 many policies are kept, of the others the last one.",
        )
    return Pick(run.spec, id, run.id, replication)


def _pick_run(experiment: Experiment) -> Run:
    runs = {run.id: run for run in experiment.runs}
    asked = st.session_state.get("run")
    if asked is not None and asked not in runs and "run" in st.query_params:
        st.warning(f"Run {asked} is not part of this experiment; its first run is shown.")
    id = choose(
        st.selectbox,
        "Run",
        "run",
        list(runs),
        next(iter(runs)),
        lambda id: inspector.run_label(runs[id]),
    )
    return runs[id]


def _pick_solved() -> Pick:
    columns = st.columns([5, 2.6, 4, 2.6], vertical_alignment="bottom")
    with columns[0]:
        domain = choose(
            st.selectbox,
            "Domain",
            "domain",
            list(DOMAINS),
            "inventory",
            lambda name: DOMAINS[name].title,
        )
    with columns[1]:
        preset = choose(
            st.selectbox,
            "Preset",
            "preset",
            list(DOMAINS[domain].presets),
            "default",
            lambda name: name.replace("-", " "),
        )
    names = {"fsvi": "FSVI: freeze for T periods", "mpi": "MPI: the true optimum"}
    with columns[2]:
        method = choose(st.selectbox, "Exact algorithm", "method", list(names), "fsvi", names.get)
    T = None
    if method == "fsvi":
        with columns[3]:
            st.session_state.setdefault("T", START_T)
            T = st.number_input("Periods frozen T", 1, LONGEST_T, key="T")
    return Pick(inspector.solved_spec(domain, preset, method, T))


# ---------------------------------------------------------------------------------- their policies


def is_live(store: Store, chosen: Pick) -> bool:
    """Whether the replication is waited for or computed just now."""
    if chosen.run is None:
        return False
    return store.run(chosen.run).replications[chosen.replication].status in ACTIVE


def history_of(store: Store, chosen: Pick) -> PolicyHistory:
    """The policies of a pick; what can no longer change is read once for all visitors."""
    if chosen.run is None:
        return _solved(chosen.spec)
    run = store.run(chosen.run)
    here = run.replications[chosen.replication]
    return _kept(
        store.database.url,
        chosen.experiment,
        run.id,
        here.index,
        here.rows,
        here.status,
        store,
        run,
    )


@st.cache_resource(max_entries=16, show_spinner="Solving…")
def _solved(spec: RunSpec) -> PolicyHistory:
    return inspector.solved_history(spec)


@st.cache_resource(max_entries=16, show_spinner=False)
def _kept(
    url, experiment, run, replication, rows, status, _store: Store, _run: Run
) -> PolicyHistory:
    return inspector.recorded_history(_store, _run, replication)


def subject_at(history: PolicyHistory, step: int) -> tuple[InspectedPolicy, object]:
    """The policy at a step; its values and visits are computed once."""
    return _subject(history.name, step, history)


@st.cache_resource(max_entries=48, show_spinner=False)
def _subject(name: str, step: int, _trail: PolicyHistory):
    return inspector.inspected_policy(_trail, step)


@st.cache_resource(max_entries=8, show_spinner=False)
def optimal_subject(spec: RunSpec) -> InspectedPolicy:
    return inspector.optimum_subject(spec)
