"""The left side of the Run lab: choose a plan, or compose one, and start it.

The widgets of a parameter are built from its declaration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.plans import (
    BUDGET_UNITS,
    CUSTOM,
    DEFAULT_ALGORITHM,
    DEFAULT_ALGORITHMS,
    DEFAULT_DOMAINS,
    DEFAULT_FIXED_T,
    DEFAULT_REPLICATIONS,
    DEFAULT_SWEEPS,
    DEFAULT_T,
    PLANS,
    SWEEP,
    CustomPlan,
    RunPlan,
    SweepPlan,
    default_name,
    name_without_number,
    plan_notes,
    repeated_name,
    suggested_values,
    sweepable,
    unused_name,
)
from fsdash.dashboard.run_lab.url import MAX_BROWSER_INTEGER, SAVED_GAMMA, lab_url
from fsdash.dashboard.service import Service, domain_labels
from fsdash.dashboard.visitors import network_address
from fsdash.dashboard.widgets.picture import draw_svg
from fsdash.domains import DOMAINS, domain_label, is_saved_name, make
from fsdash.errors import InputError
from fsdash.fields import MAX_TEXT, Field, Value
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.formatting import as_sentence, escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.estimate import wall_seconds, worker_seconds
from fsdash.runs.spec import MAX_REPLICATIONS, RunSpec
from fsdash.runs.store.queries import MAX_NAME

REPLICATIONS_KEY = "lab-replications"
MAX_DOMAIN_BUTTONS = 6


def read_domain_name(service: Service) -> str:
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
        # Unlike a list, a button renders Markdown.
        format_func=lambda name: escape_markdown(labels[name]),
        key=key,
    )


def read_domain_names(service: Service) -> list[str]:
    url = lab_url()
    known = url.get("domains")
    labels = domain_labels(service.store)
    labels |= {name: domain_label(name) for name in known if name not in labels}
    return st.multiselect(
        "Domains",
        list(labels),
        list(DEFAULT_DOMAINS),
        labels.get,
        key=url.key("domains"),
        placeholder="Choose at least one",
        on_change=_put_suggested_values,
    )


def read_swept(domains: Sequence[str]) -> dict:
    """The algorithm, what varies and its values, and T where something else varies."""
    url = lab_url()
    algorithm = st.selectbox(
        "Algorithm",
        list(ALGORITHMS),
        list(ALGORITHMS).index(DEFAULT_ALGORITHM),
        lambda name: ALGORITHMS[name].title,
        key=url.key("algorithm"),
        help=text.algorithms_help(),
        on_change=_put_suggested_values,
    )
    options = sweepable(domains, algorithm)
    if url.get("vary") not in options:
        url.put("vary", next(iter(options)))
        _put_suggested_values()
    left, right = st.columns(2, gap="small")
    vary = left.selectbox(
        "Vary",
        list(options),
        format_func=options.get,
        key=url.key("vary"),
        on_change=_put_suggested_values,
    )
    values = right.text_input(
        "Values",
        DEFAULT_T,
        key=url.key("values"),
        help="A list such as 3, 6, 12, or a range of whole numbers such as 2:6.",
    )
    T = ""
    if vary != "T" and ALGORITHMS[algorithm].freezes:
        T = st.text_input(
            text.PERIODS,
            DEFAULT_FIXED_T,
            key=url.key("fixed_T"),
            placeholder=text.PERIODS_PLACEHOLDER,
            help="One value, because another parameter varies.",
        )
    return {"algorithm": algorithm, "vary": vary, "values": values or "", "T": T or ""}


def _put_suggested_values() -> None:
    """Values that suit what varies now."""
    url = lab_url()
    domains, algorithm, vary = (url.get(name) for name in ("domains", "algorithm", "vary"))
    if vary in sweepable(domains, algorithm):
        url.put("values", suggested_values(domains, algorithm, vary))


def read_choice(domain: str) -> dict:
    """Algorithms, T and the budget of a custom plan."""
    url = lab_url()
    algorithms = st.multiselect(
        "Algorithms",
        list(ALGORITHMS),
        list(DEFAULT_ALGORITHMS),
        lambda name: ALGORITHMS[name].title,
        key=url.key("algorithms"),
        placeholder="Choose at least one",
        help=text.algorithms_help(),
    )
    T = ""
    if any(ALGORITHMS[name].freezes for name in algorithms):
        T = st.text_input(
            text.PERIODS,
            DEFAULT_T,
            key=url.key("T"),
            placeholder=text.PERIODS_PLACEHOLDER,
            help="Every algorithm that freezes the slow state runs once for each T. Write 6, a "
            "list such as 3, 6, 12, or a range such as 2:6.",
        )
    return {"algorithms": algorithms, "T": T or "", **read_budget(domain)}


def read_budget(domain: str) -> dict:
    """The unit and the size of the budget."""
    url = lab_url()
    left, right = st.columns([2, 3], gap="small", vertical_alignment="bottom")
    size = left.number_input(
        "Budget",
        0.0,
        None,
        DEFAULT_SWEEPS,
        1.0,
        "%.6g",
        key=url.key("budget"),
        help=text.budget_help(sweep_size(make(domain))),
    )
    unit = right.selectbox(
        "Unit of the budget",
        BUDGET_UNITS,
        format_func=text.UNIT_LABELS.get,
        key=url.key("unit"),
        label_visibility="collapsed",
    )
    return {"size": size or 0.0, "unit": unit}


def read_replications_and_seed(default: int) -> tuple[int, int]:
    """The default number of replications belongs to the plan, so the URL holds only others."""
    left, right = st.columns(2, gap="small")
    st.session_state[REPLICATIONS_KEY] = lab_url().get("replications") or default
    replications = left.number_input(
        "Replications",
        1,
        MAX_REPLICATIONS,
        step=1,
        key=REPLICATIONS_KEY,
        on_change=_put_replications,
        args=(default,),
        help="Independent repetitions with different random numbers, for the mean and its "
        "95% band. Exact algorithms need only one.",
    )
    seed = right.number_input(
        "Seed",
        0,
        MAX_BROWSER_INTEGER,
        0,
        1,
        key=lab_url().key("seed"),
        help="The same seed and the same versions of the software give the same numbers.",
    )
    return replications, seed or 0


def _put_replications(default: int) -> None:
    chosen = st.session_state[REPLICATIONS_KEY]
    lab_url().put("replications", None if chosen == default else chosen)


# -------------------------------------------------------------------------------------- parameters


def read_domain_parameters(name: str) -> dict[str, Value]:
    """The domain's parameters that differ from their defaults."""
    if is_saved_name(name):
        return _read_saved_gamma(name)
    domain = DOMAINS[name]
    with st.expander(text.DOMAIN_PARAMETERS, key=f"lab-domain-{name}"):
        if len(domain.presets) > 1:
            st.caption("Presets")
            with st.container(horizontal=True, gap="small"):
                for preset in domain.presets:
                    st.button(
                        preset.replace("-", " "),
                        key=f"lab-{name}-{preset}",
                        on_click=_put_domain_preset,
                        args=(name, preset),
                    )
        parameters = domain.parameters()
        values = _read_parameters(name, parameters)
    return {key: value for key, value in values.items() if value != parameters[key].default}


def _read_saved_gamma(name: str) -> dict[str, Value]:
    """γ, the only parameter of a saved model, if it is not the model's own."""
    [own] = DOMAINS[name].parameters().values()
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


def _put_domain_preset(name: str, preset: str) -> None:
    for key, value in asdict(make(name, preset)).items():
        lab_url().put(f"{name}.{key}", value)


def read_algorithm_parameters(names: list[str]) -> dict[str, dict[str, Value]]:
    """The parameters of each chosen algorithm."""
    if not names:
        return {}
    with st.expander("Parameters of the algorithms", key="lab-algorithms"):
        tabs = st.tabs([ALGORITHMS[name].title for name in names])
        values = {}
        for tab, name in zip(tabs, names, strict=True):
            with tab:
                values[name] = _read_parameters(name, ALGORITHMS[name].all_parameters)
    return values


def _read_parameters(owner: str, parameters: Mapping[str, Field]) -> dict[str, Value]:
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
        values[name] = _read_parameter(place, key, parameters[name])
    return {name: values[name] for name in parameters}


def _read_parameter(place: DeltaGenerator, key: str, parameter: Field) -> Value:
    label, help, default = parameter.title, parameter.description, parameter.default
    if parameter.kind == "bool":
        return place.checkbox(label, default, key=key, help=help)
    if parameter.kind == "choice":
        index = parameter.choices.index(default)
        return place.selectbox(label, parameter.choices, index, key=key, help=help)
    if parameter.kind == "str":
        return place.text_input(label, default, MAX_TEXT, key=key, help=help)
    number = int if parameter.kind == "int" else float
    # A value outside the parameter's range is reported with its remedy when the plan is made.
    value = place.number_input(
        label,
        number(-MAX_BROWSER_INTEGER),
        number(MAX_BROWSER_INTEGER),
        default,
        1 if number is int else None,
        None if number is int else "%.6g",
        key=key,
        help=help,
        placeholder="automatic" if parameter.optional else None,
    )
    return value if value is not None or parameter.optional else default


def customize(specs: Sequence[RunSpec]) -> None:
    """Fill the custom form with a plan, and with the first run's budget where they differ."""
    T_values = sorted({spec.T for spec in specs if spec.T is not None})
    _put_values(specs)
    for name, value in {
        "preset": CUSTOM,
        "domain": specs[0].domain,
        "algorithms": list(dict.fromkeys(spec.algorithm for spec in specs)),
        "T": ", ".join(map(str, T_values)),
    }.items():
        lab_url().put(name, value)


def sweep_from(spec: RunSpec) -> None:
    """Fill the form of a sweep with a run: it varies T, or else the first parameter."""
    _put_values([spec])
    vary = next(iter(sweepable([spec.domain], spec.algorithm)))
    now = {"T": spec.T, **dict(spec.parameters)}
    for name, value in {
        "preset": SWEEP,
        "domains": [spec.domain],
        "algorithm": spec.algorithm,
        "vary": vary,
        "values": suggested_values([spec.domain], spec.algorithm, vary, now),
        "fixed_T": str(spec.T or DEFAULT_FIXED_T),
    }.items():
        lab_url().put(name, value)


def _put_values(specs: Sequence[RunSpec]) -> None:
    """The budget, the replications and all parameters of runs on one domain."""
    first = specs[0]
    unit, size = first.budget
    if unit == "evaluations":
        unit, size = "sweeps", round(size / sweep_size(first.build_domain()), 3)
    values = {
        "from": None,
        "base": None,
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
        lab_url().put(name, value)


def use_base(service: Service, base: str) -> None:
    """Fill the form with a sweep based on the run that the URL names."""
    id, _, place = base.partition(".")
    lab_url().put("base", None)
    try:
        runs = service.store.experiment(id).runs
        sweep_from(runs[int(place or 0)].spec)
    except (InputError, StoreError, IndexError):
        st.warning("The run whose settings this link uses is no longer stored.")


START_ERROR, STARTED_ID = "lab-start-error", "lab-started-id"
LONG_SECONDS = 600
"""A plan that takes longer gets a warning."""
PLAN_TITLES = text.PLAN_TITLES | {SWEEP: "Sweep over T or another parameter", CUSTOM: "Custom"}


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
    with rest, st.popover(text.plan_heading(specs), key="lab-plan"):
        st.markdown(text.plan_lines(tuple(specs)))
        st.button(
            "Customise",
            icon=":material/tune:",
            type="tertiary",
            key="customize",
            on_click=customize,
            args=(specs,),
            help="Copy this plan into the custom form, where everything can be changed.",
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
            _show_error("nothing was started; try again in a moment" if shown_above else problem)
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
        st.warning(f"{sentence} You can leave, pause or stop it at any time.")
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
            "Choose something else",
            icon=":material/close:",
            type="tertiary",
            key="close-repeat",
            on_click=lab_url().put,
            args=("from", None),
        )
        experiment = service.store.experiment(lab_url().get("from"))
        name = repeated_name(experiment.name, _similar_names(service, experiment.name))
        st.markdown(text.repeat_title(escape_markdown(experiment.name), escape_markdown(name)))
        st.caption("The same specifications and seeds, so the results will be the same.")
        specs = [run.spec for run in experiment.runs]
        _draw_domain(specs[0].domain, specs[0].domain_parameters)
    return name, specs


def _read_plan(
    service: Service, top: DeltaGenerator, rest: DeltaGenerator
) -> tuple[str, Sequence[RunSpec]]:
    """The name and the runs of the chosen plan, of a sweep, or of the custom form."""
    with top:
        chosen = st.selectbox(
            "What to run",
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
        st.caption("One run for each value of a parameter, on one domain or several.")
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
