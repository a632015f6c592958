"""The left side of the Run lab: choose a plan, or compose one, and start it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import ALGORITHMS, Parameter, Value
from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.state import (
    BUDGET_UNITS,
    CUSTOM,
    DEFAULT_ALGORITHMS,
    DEFAULT_REPLICATIONS,
    DEFAULT_SWEEPS,
    DEFAULT_T,
    PLANS,
    CustomPlan,
    Plan,
    default_name,
)
from fsdash.dashboard.run_lab.url import MAX_BROWSER_INTEGER, SAVED_GAMMA, lab_url
from fsdash.dashboard.service import Service, as_sentence, domain_labels, network_address
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.picture import svg_html
from fsdash.domains import DOMAINS, Domain, domain_label, make
from fsdash.domains.base import MAX_TEXT
from fsdash.domains.saved import is_saved_name
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.formatting import escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.estimate import wall_seconds, worker_seconds
from fsdash.runs.spec import MAX_REPLICATIONS, RunSpec, run_notes

START_ERROR, STARTED_ID, REPLICATIONS_KEY = "lab-start-error", "lab-started-id", "lab-replications"
MAX_DOMAIN_BUTTONS = 6
LONG_SECONDS = 600
"""A plan that takes longer gets a warning."""
PLAN_TITLES = text.PLAN_TITLES | {CUSTOM: text.CUSTOM_TITLE}


def draw_form(service: Service, visitor: str) -> None:
    """The whole form. The Start button stands above the parameters."""
    top, start_area, rest = st.container(), st.container(), st.container()
    try:
        if lab_url().get("from"):
            name, specs = _read_repeat(service, top)
        else:
            name, specs = _read_plan(service, top, rest)
        notes = run_notes(specs)
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
    """Queue the experiment and show it, or keep the error for the next run of the page."""
    try:
        st.session_state[STARTED_ID] = id = service.manager.submit(
            visitor, name, specs, address=network_address()
        )
        lab_url().put("experiment", id)
    except (InputError, StoreError) as problem:
        st.session_state[START_ERROR] = str(problem)


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
    """The experiment that the URL asks to run again."""
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
        st.markdown(text.repeat_title(escape_markdown(experiment.name)))
        st.caption(text.REPEAT_CAPTION)
        specs = [run.spec for run in experiment.runs]
        _draw_domain(specs[0].domain, specs[0].domain_parameters)
    return experiment.name, specs


def _read_plan(
    service: Service, top: DeltaGenerator, rest: DeltaGenerator
) -> tuple[str, Sequence[RunSpec]]:
    """The name and the runs of the chosen plan, or of the custom form."""
    with top:
        chosen = st.selectbox(
            text.WHAT_TO_RUN,
            list(PLAN_TITLES),
            format_func=PLAN_TITLES.get,
            key=lab_url().key("preset"),
        )
        plan: Plan | None = PLANS.get(chosen)
        if plan is not None:
            st.caption(text.PLAN_DESCRIPTIONS[chosen])
        domain = plan.domain if plan and plan.domain else _read_domain_name(service)
        choice = {} if plan else _read_choice(domain)
    # Widgets first, refusals later: Streamlit forgets the value of a widget that is not drawn.
    with rest:
        drawing = st.container()
        parameters = {} if plan and plan.domain else _read_domain_parameters(domain)
        if plan is None:
            choice["parameters"] = _read_algorithm_parameters(choice["algorithms"])
        default = plan.replications if plan else DEFAULT_REPLICATIONS
        replications, seed = _read_replications_and_seed(default)
    with drawing:
        _draw_domain(domain, tuple(parameters.items()))
    if plan is not None:
        prefix = "" if plan.domain else f"{domain_label(domain)}: "
        given = tuple(parameters.items())
        return f"{prefix}{PLAN_TITLES[chosen]}", _build(plan, domain, given, replications, seed)
    custom = CustomPlan(
        domain, **choice, replications=replications, seed=seed, domain_parameters=parameters
    )
    specs = custom.specs()
    return default_name(specs), specs


@lru_cache(maxsize=256)
def _build(
    plan: Plan,
    domain: str,
    parameters: tuple[tuple[str, Value], ...],
    replications: int,
    seed: int,
) -> tuple[RunSpec, ...]:
    return tuple(plan.build(domain, dict(parameters), replications, seed))


def _read_domain_name(service: Service) -> str:
    """A registered domain or a saved model: as buttons if they are few, else as a list."""
    key = lab_url().key("domain")
    labels = domain_labels(service.store, lab_url().get("domain"))
    if len(labels) > MAX_DOMAIN_BUTTONS:
        return st.selectbox(text.DOMAIN, list(labels), format_func=labels.get, key=key)
    return st.segmented_control(
        text.DOMAIN,
        list(labels),
        default="inventory",
        required=True,
        wrap=True,
        format_func=lambda name: escape_markdown(labels[name]),
        key=key,
    )


def _draw_domain(name: str, parameters: tuple[tuple[str, Value], ...]) -> None:
    drawing, description = _drawing(name, parameters, is_dark())
    st.html(drawing)
    st.caption(description)


@lru_cache(maxsize=64)
def _drawing(name: str, parameters: tuple[tuple[str, Value], ...], dark: bool) -> tuple[str, str]:
    """HTML of the domain's drawing, and its description."""
    domain = make(name, **dict(parameters))
    svg, description = domain_svg(domain, dark), describe_domain(domain)
    return svg_html(svg, svg, description), description


def customize(specs: Sequence[RunSpec]) -> None:
    """Fill the custom form with a plan, and with the first run's budget where they differ."""
    url, first = lab_url(), specs[0]
    unit, size = first.budget
    if unit == "evaluations":
        unit, size = "sweeps", round(size / sweep_size(first.build_domain()), 3)
    T_values = sorted({spec.T for spec in specs if spec.T is not None})
    values = {
        "preset": CUSTOM,
        "from": None,
        "domain": first.domain,
        "algorithms": list(dict.fromkeys(spec.algorithm for spec in specs)),
        "T": ", ".join(map(str, T_values)),
        "unit": unit,
        "budget": float(size),
        "replications": max(spec.replications for spec in specs),
        "seed": first.seed,
    }
    if is_saved_name(first.domain):
        values[SAVED_GAMMA] = dict(first.domain_parameters)["gamma"]
    else:
        values |= {f"{first.domain}.{name}": value for name, value in first.domain_parameters}
    for spec in reversed(specs):
        values |= {f"{spec.algorithm}.{name}": value for name, value in spec.parameters}
    for name, value in values.items():
        url.put(name, value)


# ----------------------------------------------------------------------------------------- widgets


def _read_choice(domain: str) -> dict:
    """Algorithms, T and the budget of a custom plan."""
    url = lab_url()
    algorithms = st.multiselect(
        text.ALGORITHM_NAMES,
        list(ALGORITHMS),
        list(DEFAULT_ALGORITHMS),
        lambda name: ALGORITHMS[name].title,
        key=url.key("algorithms"),
        placeholder=text.CHOOSE_ALGORITHMS,
        help=text.algorithms_help(),
    )
    T = ""
    if any(ALGORITHMS[name].freezes for name in algorithms):
        T = st.text_input(
            text.PERIODS,
            DEFAULT_T,
            key=url.key("T"),
            placeholder=text.PERIODS_PLACEHOLDER,
            help=text.PERIODS_HELP,
        )
    left, right = st.columns([2, 3], gap="small", vertical_alignment="bottom")
    size = left.number_input(
        text.BUDGET,
        0.0,
        None,
        DEFAULT_SWEEPS,
        1.0,
        "%.6g",
        key=url.key("budget"),
        help=text.budget_help(sweep_size(make(domain))),
    )
    unit = right.selectbox(
        text.UNIT,
        BUDGET_UNITS,
        format_func=text.UNIT_LABELS.get,
        key=url.key("unit"),
        label_visibility="collapsed",
    )
    return {"algorithms": algorithms, "T": T or "", "size": size or 0.0, "unit": unit}


def _read_replications_and_seed(default: int) -> tuple[int, int]:
    """The default number of replications belongs to the plan, so the URL holds only others."""
    left, right = st.columns(2, gap="small")
    st.session_state[REPLICATIONS_KEY] = lab_url().get("replications") or default
    replications = left.number_input(
        text.REPLICATIONS,
        1,
        MAX_REPLICATIONS,
        step=1,
        key=REPLICATIONS_KEY,
        on_change=_put_replications,
        args=(default,),
        help=text.REPLICATIONS_HELP,
    )
    seed = right.number_input(
        text.SEED, 0, MAX_BROWSER_INTEGER, 0, 1, key=lab_url().key("seed"), help=text.SEED_HELP
    )
    return replications, seed or 0


def _put_replications(default: int) -> None:
    chosen = st.session_state[REPLICATIONS_KEY]
    lab_url().put("replications", None if chosen == default else chosen)


def _read_domain_parameters(name: str) -> dict[str, Value]:
    """The domain's parameters that differ from their defaults."""
    if is_saved_name(name):
        return _read_saved_gamma(name)
    domain = DOMAINS[name]
    with st.expander(text.DOMAIN_PARAMETERS, key=f"lab-domain-{name}"):
        if len(domain.presets) > 1:
            st.caption(text.DOMAIN_PRESETS)
            with st.container(horizontal=True, gap="small"):
                for preset in domain.presets:
                    st.button(
                        preset.replace("-", " "),
                        key=f"lab-{name}-{preset}",
                        on_click=_put_domain_preset,
                        args=(name, preset),
                    )
        parameters = _parameters_of(domain)
        values = _read_parameters(name, parameters)
    return {key: value for key, value in values.items() if value != parameters[key].default}


def _read_saved_gamma(name: str) -> dict[str, Value]:
    """γ, the only parameter of a saved model, if it is not the model's own."""
    [own] = DOMAINS[name].parameters()
    with st.expander(text.DOMAIN_PARAMETERS, key="lab-domain-model"):
        gamma = st.number_input(
            own.title,
            0.0,
            1.0,
            None,
            0.01,
            "%.6g",
            key=lab_url().key(SAVED_GAMMA),
            placeholder=f"{own.default:g}",
            help=f"{own.help} {text.SAVED_GAMMA_HELP}",
        )
    return {} if gamma is None or gamma == own.default else {own.name: gamma}


@lru_cache(maxsize=64)
def _parameters_of(domain: type[Domain]) -> dict[str, Parameter]:
    """The domain's parameters as a form shows them, without limits.

    The domain's own error says what to do about a value out of range.
    """
    low, high = -MAX_BROWSER_INTEGER, MAX_BROWSER_INTEGER
    return {
        p.name: Parameter(p.default, p.description, low, high, label=p.title)
        for p in domain.parameters()
    }


def _put_domain_preset(name: str, preset: str) -> None:
    for key, value in asdict(make(name, preset)).items():
        lab_url().put(f"{name}.{key}", value)


def _read_algorithm_parameters(names: list[str]) -> dict[str, dict[str, Value]]:
    """The parameters of each chosen algorithm."""
    if not names:
        return {}
    with st.expander(text.ALGORITHM_PARAMETERS, key="lab-algorithms"):
        tabs = st.tabs([ALGORITHMS[name].title for name in names])
        values = {}
        for tab, name in zip(tabs, names, strict=True):
            with tab:
                values[name] = _read_parameters(name, ALGORITHMS[name].all_parameters)
    return values


def _read_parameters(owner: str, parameters: Mapping[str, Parameter]) -> dict[str, Value]:
    """Two widgets in a row, each built from its parameter's declaration; switches come last."""
    is_switch = lambda name: parameters[name].kind == "bool"  # noqa: E731
    names = sorted(parameters, key=is_switch)
    values = {}
    for i, name in enumerate(names):
        if is_switch(name):
            place = st.container()
        elif i % 2 == 0:
            place, second = st.columns(2, gap="small", vertical_alignment="bottom")
        else:
            place = second
        key = lab_url().key(f"{owner}.{name}")
        values[name] = _read_parameter(place, key, name, parameters[name])
    return {name: values[name] for name in parameters}


def _read_parameter(place: DeltaGenerator, key: str, name: str, parameter: Parameter) -> Value:
    label, help, default = parameter.label or name, parameter.help, parameter.default
    if parameter.kind == "bool":
        return place.checkbox(label, default, key=key, help=help)
    if parameter.kind == "choice":
        index = parameter.choices.index(default)
        return place.selectbox(label, parameter.choices, index, key=key, help=help)
    if parameter.kind == "str":
        return place.text_input(label, default, MAX_TEXT, key=key, help=help)
    number = int if parameter.kind == "int" else float
    limits = (parameter.low, parameter.high)
    low, high = (number(min(max(end, -MAX_BROWSER_INTEGER), MAX_BROWSER_INTEGER)) for end in limits)
    value = place.number_input(
        label,
        low,
        high,
        default,
        1 if number is int else None,
        None if number is int else "%.6g",
        key=key,
        help=help,
        placeholder=text.AUTOMATIC if parameter.optional else None,
    )
    return value if value is not None or parameter.optional else default
