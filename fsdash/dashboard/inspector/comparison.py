"""The second policy of the Policy inspector: "Compare with"."""

import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.inspection import ComparedPolicy
from fsdash.dashboard.inspector.source import (
    MAX_LISTED,
    PolicyChoice,
    history_of,
    optimal_policy,
    policy_at,
)
from fsdash.dashboard.inspector.state import Origin, PolicyHistory
from fsdash.dashboard.inspector.url import LARGEST_T, URL, choose
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy
from fsdash.runs.records import Run
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store

DEFAULT_T = 12


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
    URL.put("other", asked if asked in range(1, LARGEST_T + 1) else DEFAULT_T)
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
