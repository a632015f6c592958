"""The widgets of the Run lab's form: domains, algorithms, T, budget, seed, and all parameters.

The widgets of a parameter are built from its declaration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.state import (
    BUDGET_UNITS,
    DEFAULT_ALGORITHMS,
    DEFAULT_SWEEPS,
    DEFAULT_T,
)
from fsdash.dashboard.run_lab.sweep import (
    DEFAULT_ALGORITHM,
    DEFAULT_DOMAINS,
    DEFAULT_FIXED_T,
    suggested_values,
    sweepable,
)
from fsdash.dashboard.run_lab.url import MAX_BROWSER_INTEGER, SAVED_GAMMA, lab_url
from fsdash.dashboard.service import Service, domain_labels
from fsdash.domains import DOMAINS, domain_label, is_saved_name, make
from fsdash.fields import MAX_TEXT, Field, Value
from fsdash.formatting import escape_markdown
from fsdash.runs.spec import MAX_REPLICATIONS

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
        text.DOMAINS,
        list(labels),
        list(DEFAULT_DOMAINS),
        labels.get,
        key=url.key("domains"),
        placeholder=text.CHOOSE_DOMAINS,
        on_change=_put_suggested_values,
    )


def read_swept(domains: Sequence[str]) -> dict:
    """The algorithm, what varies and its values, and T where something else varies."""
    url = lab_url()
    algorithm = st.selectbox(
        text.ALGORITHM,
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
        text.VARY,
        list(options),
        format_func=options.get,
        key=url.key("vary"),
        on_change=_put_suggested_values,
    )
    values = right.text_input(text.VALUES, DEFAULT_T, key=url.key("values"), help=text.VALUES_HELP)
    T = ""
    if vary != "T" and ALGORITHMS[algorithm].freezes:
        T = st.text_input(
            text.PERIODS,
            DEFAULT_FIXED_T,
            key=url.key("fixed_T"),
            placeholder=text.PERIODS_PLACEHOLDER,
            help=text.FIXED_PERIODS_HELP,
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
    return {"algorithms": algorithms, "T": T or "", **read_budget(domain)}


def read_budget(domain: str) -> dict:
    """The unit and the size of the budget."""
    url = lab_url()
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
    return {"size": size or 0.0, "unit": unit}


def read_replications_and_seed(default: int) -> tuple[int, int]:
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


# -------------------------------------------------------------------------------------- parameters


def read_domain_parameters(name: str) -> dict[str, Value]:
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
    with st.expander(text.ALGORITHM_PARAMETERS, key="lab-algorithms"):
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
        placeholder=text.AUTOMATIC if parameter.optional else None,
    )
    return value if value is not None or parameter.optional else default
