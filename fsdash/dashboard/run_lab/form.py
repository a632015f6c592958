"""The left side of the Run lab: choose a plan, or compose one, and start it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.fill import customize
from fsdash.dashboard.run_lab.inputs import (
    read_algorithm_parameters,
    read_budget,
    read_choice,
    read_domain_name,
    read_domain_names,
    read_domain_parameters,
    read_replications_and_seed,
    read_swept,
)
from fsdash.dashboard.run_lab.state import (
    CUSTOM,
    DEFAULT_REPLICATIONS,
    PLANS,
    CustomPlan,
    RunPlan,
    default_name,
    name_without_number,
    plan_notes,
    repeated_name,
    unused_name,
)
from fsdash.dashboard.run_lab.sweep import (
    DEFAULT_DOMAINS,
    SWEEP,
    SweepPlan,
)
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.service import Service, as_sentence, network_address
from fsdash.dashboard.widgets.picture import draw_svg
from fsdash.domains import domain_label, make
from fsdash.errors import InputError
from fsdash.fields import Value
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.formatting import escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.estimate import wall_seconds, worker_seconds
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.queries import MAX_NAME

START_ERROR, STARTED_ID = "lab-start-error", "lab-started-id"
LONG_SECONDS = 600
"""A plan that takes longer gets a warning."""
PLAN_TITLES = text.PLAN_TITLES | {SWEEP: text.SWEEP_TITLE, CUSTOM: text.CUSTOM_TITLE}


def draw_form(service: Service, visitor: str) -> None:
    """The whole form. The Start button stands above the parameters."""
    top, start_area, rest = st.container(), st.container(), st.container(key="lab-settings")
    try:
        if lab_url().get("from"):
            name, specs = _read_repeat(service, top)
        else:
            name, specs = _read_plan(service, top, rest)
        notes = plan_notes(specs)
    except (InputError, StoreError) as problem:
        with start_area:
            _show_error(str(problem))
            st.button(text.START, type="primary", key="start", width="stretch", disabled=True)
        return
    with rest, st.expander(text.plan_heading(specs), key="lab-plan"):
        st.markdown(text.plan_lines(tuple(specs)))
        st.button(
            text.CUSTOMIZE,
            icon=":material/tune:",
            type="tertiary",
            key="customize",
            on_click=customize,
            args=(specs,),
            help=text.CUSTOMIZE_HELP,
        )
    with start_area:
        st.button(
            text.START,
            icon=":material/play_arrow:",
            type="primary",
            key="start",
            width="stretch",
            on_click=start,
            args=(service, visitor, name, specs),
        )
        if problem := st.session_state.pop(START_ERROR, None):
            shown_above = problem == service.manager.problem
            _show_error(text.NOT_STARTED if shown_above else problem)
        _draw_duration(service, specs)
        if notes:
            st.caption(text.note_lines(notes))


def start(service: Service, visitor: str, name: str, specs: Sequence[RunSpec]) -> None:
    """Queue the experiment and show it, or keep the error for the next run of the page.

    An experiment gets a name that none of the visitor's other experiments has.
    """
    try:
        own = unused_name(name, _similar_names(service, name, owner=visitor))
        st.session_state[STARTED_ID] = id = service.manager.submit(
            visitor, own, specs, address=network_address()
        )
        lab_url().put("experiment", id)
        lab_url().put("from", None)
    except (InputError, StoreError) as problem:
        st.session_state[START_ERROR] = str(problem)


def _similar_names(service: Service, name: str, owner: str | None = None) -> list[str]:
    """The names of experiments that begin like this one, with or without a number."""
    beginning = name_without_number(name)[: MAX_NAME - len("… (99999)")]
    return [other.name for other in service.store.experiments(owner=owner, text=beginning)]


def _show_error(problem: str) -> None:
    st.error(as_sentence(problem), icon=":material/block:")


def _draw_duration(service: Service, specs: Sequence[RunSpec]) -> None:
    """The estimated duration, as a warning where it is long."""
    manager = service.manager
    seconds, longest, longest_seconds = _estimate(tuple(specs), manager.workers)
    sentence, limit = text.duration_text(seconds, manager.workers), manager.limits.seconds
    if longest_seconds > limit:
        st.warning(f"{sentence} {text.over_limit(limit, longest.label, longest_seconds)}")
    elif seconds > LONG_SECONDS:
        st.warning(f"{sentence} {text.LEAVE_ANY_TIME}")
    else:
        st.caption(sentence)


@lru_cache(maxsize=256)
def _estimate(specs: tuple[RunSpec, ...], workers: int) -> tuple[float, RunSpec, float]:
    """Seconds for all runs, the longest run, and the worker's seconds for it."""
    longest = max(specs, key=worker_seconds)
    return wall_seconds(specs, workers), longest, worker_seconds(longest)


# ------------------------------------------------------------------------------------------- plans


def _read_repeat(service: Service, top: DeltaGenerator) -> tuple[str, Sequence[RunSpec]]:
    """The experiment that the URL asks to run again, under a name of its own."""
    with top, st.container(border=True, key="lab-repeat"):
        st.button(
            text.REPEAT_CLOSE,
            icon=":material/close:",
            type="tertiary",
            key="close-repeat",
            on_click=lab_url().put,
            args=("from", None),
        )
        experiment = service.store.experiment(lab_url().get("from"))
        name = repeated_name(experiment.name, _similar_names(service, experiment.name))
        st.markdown(text.repeat_title(escape_markdown(experiment.name), escape_markdown(name)))
        st.caption(text.REPEAT_CAPTION)
        specs = [run.spec for run in experiment.runs]
        _draw_domain(specs[0].domain, specs[0].domain_parameters)
    return name, specs


def _read_plan(
    service: Service, top: DeltaGenerator, rest: DeltaGenerator
) -> tuple[str, Sequence[RunSpec]]:
    """The name and the runs of the chosen plan, of a sweep, or of the custom form."""
    with top:
        chosen = st.selectbox(
            text.WHAT_TO_RUN,
            list(PLAN_TITLES),
            format_func=PLAN_TITLES.get,
            key=lab_url().key("preset"),
        )
    if chosen == SWEEP:
        return _read_sweep(service, top, rest)
    if chosen == CUSTOM:
        return _read_custom(service, top, rest)
    plan = PLANS[chosen]
    with top:
        st.caption(text.PLAN_DESCRIPTIONS[chosen])
        domain = plan.domain or read_domain_name(service)
    # Widgets first, refusals later: Streamlit forgets the value of a widget that is not drawn.
    with rest:
        drawing = st.container()
        parameters = {} if plan.domain else read_domain_parameters(domain)
        replications, seed = read_replications_and_seed(plan.replications)
    with drawing:
        _draw_domain(domain, tuple(parameters.items()))
    prefix = "" if plan.domain else f"{domain_label(domain)}: "
    given = tuple(parameters.items())
    return f"{prefix}{PLAN_TITLES[chosen]}", _build(plan, domain, given, replications, seed)


def _read_custom(
    service: Service, top: DeltaGenerator, rest: DeltaGenerator
) -> tuple[str, Sequence[RunSpec]]:
    with top:
        domain = read_domain_name(service)
        choice = read_choice(domain)
    with rest:
        drawing = st.container()
        given = read_domain_parameters(domain)
        choice["parameters"] = read_algorithm_parameters(choice["algorithms"])
        replications, seed = read_replications_and_seed(DEFAULT_REPLICATIONS)
    with drawing:
        _draw_domain(domain, tuple(given.items()))
    more = {"replications": replications, "seed": seed, "domain_parameters": given}
    specs = CustomPlan(domain, **choice, **more).specs()
    return default_name(specs), specs


def _read_sweep(
    service: Service, top: DeltaGenerator, rest: DeltaGenerator
) -> tuple[str, Sequence[RunSpec]]:
    with top:
        st.caption(text.SWEEP_DESCRIPTION)
        domains = read_domain_names(service)
        choice = read_swept(domains)
        choice |= read_budget(domains[0] if domains else DEFAULT_DOMAINS[0])
    with rest:
        drawing = st.container()
        given = read_domain_parameters(domains[0]) if len(domains) == 1 else {}
        own = read_algorithm_parameters([choice["algorithm"]])[choice["algorithm"]]
        replications, seed = read_replications_and_seed(DEFAULT_REPLICATIONS)
    if domains:
        with drawing:
            _draw_domain(domains[0], tuple(given.items()))
    more = {"replications": replications, "seed": seed, "domain_parameters": given}
    plan = SweepPlan(domains, **choice, **more, parameters=own)
    return plan.name(), plan.specs()


@lru_cache(maxsize=256)
def _build(
    plan: RunPlan,
    domain: str,
    parameters: tuple[tuple[str, Value], ...],
    replications: int,
    seed: int,
) -> tuple[RunSpec, ...]:
    return tuple(plan.build(domain, dict(parameters), replications, seed))


def _draw_domain(name: str, parameters: tuple[tuple[str, Value], ...]) -> None:
    drawing, description = _drawing(name, parameters)
    draw_svg(drawing, drawing, description)
    st.caption(description)


@lru_cache(maxsize=64)
def _drawing(name: str, parameters: tuple[tuple[str, Value], ...]) -> tuple[str, str]:
    """The domain's drawing, and its description."""
    domain = make(name, **dict(parameters))
    return domain_svg(domain), describe_domain(domain)
