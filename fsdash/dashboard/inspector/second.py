"""The second policy of the Policy inspector, to stand beside the first."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import streamlit as st

from fsdash.dashboard.inspector import state as inspector
from fsdash.dashboard.inspector.address import BESIDE, LONGEST_T
from fsdash.dashboard.inspector.pick import (
    LISTED,
    Pick,
    choose,
    history_of,
    optimal_subject,
    subject_at,
)
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy
from fsdash.runs.records import Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store

START_T = 12


@dataclass(frozen=True, eq=False)
class Second:
    """Another policy for the same model, and how it is found again."""

    title: str
    subject: InspectedPolicy
    address: dict[str, object]
    chosen: dict = field(default_factory=dict)
    """Selectors that differ from those of the first policy."""


def pick_second(
    store: Store,
    picked: Pick,
    history: PolicyHistory,
    step: int,
    subject: InspectedPolicy,
    slots: Iterator,
) -> Second | None:
    """What stands beside the policy, or None."""
    kinds = [kind for kind in BESIDE if _offered(kind, history, subject)]
    with next(slots):
        kind = choose(
            st.selectbox,
            "Beside it",
            "beside",
            kinds,
            "",
            BESIDE.get,
            help="A second policy for the same problem, drawn with the same scales.",
            on_change=_forget,
        )
    if kind == "":
        return None
    if kind == "optimum":
        return Second("Optimal policy", optimal_subject(history.spec), {"beside": kind})
    with next(slots):
        if kind == "phase":
            return _phase(history, step, subject)
        if kind == "step":
            return _step(history, {"beside": kind})
        other = _fsvi(history.spec) if kind == "fsvi" else _run(store, picked)
    if other is None:
        return None
    address = {"beside": kind, "other": other.run if kind == "run" else other.spec.T}
    with next(slots):
        try:
            return _step(history_of(store, other), address, kind)
        except InputError as problem:
            st.warning(str(problem))
            return None


def _forget() -> None:
    """Another kind of second policy begins anew: a step of one run means nothing in another."""
    for name in ("other", "otherstep"):
        st.session_state.pop(name, None)


def _offered(kind: str, history: PolicyHistory, subject: InspectedPolicy) -> bool:
    return (
        kind not in ("phase", "step")
        or (kind == "phase" and len(subject.phases) > 1)
        or (kind == "step" and len(history.steps) > 1)
    )


def _phase(history: PolicyHistory, step: int, subject: InspectedPolicy) -> Second:
    """Upper against lower policies: the same policy in another phase of its cycle."""
    phases = list(range(len(subject.phases)))
    phase = choose(
        st.select_slider, "The other phase", "other", phases, 1, lambda p: subject.phases[p]
    )
    title = f"{history.label}, step {step}"
    return Second(title, subject, {"beside": "phase", "other": phase}, {"phase": phase})


def _step(history: PolicyHistory, address: dict, kind: str = "step") -> Second:
    first, last = history.steps[0], history.steps[-1]
    start = first if kind == "step" else last
    if len(history.steps) == 1:
        step = last
    else:
        asked = st.session_state.get("otherstep", start)
        st.session_state["otherstep"] = history.nearest(asked)
        step = st.select_slider("The other step", history.steps, key="otherstep")
    st.caption(inspector.told_step(history.row(step), history.spec.T))
    subject, _ = subject_at(history, step)
    return Second(f"{history.label}, step {step}", subject, address | {"otherstep": step})


def _fsvi(spec: RunSpec) -> Pick:
    """Exact FSVI on the same problem, solved here."""
    asked = st.session_state.get("other")
    st.session_state["other"] = asked if asked in range(1, LONGEST_T + 1) else START_T
    T = st.number_input("T of the exact FSVI", 1, LONGEST_T, key="other")
    return Pick(
        RunSpec(spec.domain, "fsvi", T, spec.domain_parameters, iterations=inspector.ITERATIONS)
    )


def _run(store: Store, picked: Pick) -> Pick | None:
    """Another kept run of the same problem: its last policy, or an earlier one."""
    same = dict(picked.spec.domain_parameters)
    found: dict[int, tuple[str, Run]] = {
        run.id: (experiment.name or experiment.id, run)
        for experiment in store.experiments(domain=picked.spec.domain, limit=LISTED)
        for run in experiment.runs
        if run.id != picked.run and run.spec_data.get("domain_parameters") == same
    }
    if not found:
        st.info("No other run of the same problem is kept.")
        return None
    id = choose(
        st.selectbox,
        "The other run",
        "other",
        list(found),
        next(iter(found)),
        lambda id: f"{found[id][0]} · {inspector.run_label(found[id][1])}",
    )
    run = found[id][1]
    try:
        return Pick(run.spec, run.experiment, run.id)
    except InputError as problem:
        st.warning(f"That run cannot be shown: {problem}")
        return None
