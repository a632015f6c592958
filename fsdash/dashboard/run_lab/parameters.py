"""The widgets of parameters in the Run lab's form, built from the parameters' declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.algorithms.registry import ALGORITHMS, Parameter, Value
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.url import MAX_BROWSER_INTEGER, SAVED_GAMMA, lab_url
from fsdash.domains import DOMAINS, Domain, make
from fsdash.domains.base import MAX_TEXT
from fsdash.domains.saved import is_saved_name


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
