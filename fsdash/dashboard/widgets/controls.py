"""The widgets of the constants, the same on every page; each is a parameter of the page's URL.

    slider_parameter(...), field_parameters(...)  what the URL may hold, for the page's `UrlState`
    slider(...), number_field(...)                one constant as a slider or as a number field
    whole_slider(...), value_slider(...)          a whole number; one of a list of values
    frozen_field(...)                             L̃, η or d̃_Y, which may be empty
    put_constants(...)                            set the widgets to given constants (in a callback)

A page's defaults are those of its `UrlState`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, number_in, one_of
from fsdash.theory import Constants
from fsdash.theory.parameters import SHORT_NAMES

LARGEST_VALUE = 1e6
ITERATIONS = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class WidgetRange:
    """The limits, the step and the number format of a slider or a number field."""

    low: float
    high: float
    step: float
    format: str = "%.8g"


SLIDER_RANGES = {"kappa": WidgetRange(1.0, 1.3, 0.005, "%.3f")}
FIELD_RANGES = {
    "alpha": WidgetRange(0.0, LARGEST_VALUE, 0.01),
    "dY": WidgetRange(0.0, LARGEST_VALUE, 0.5),
    "Lr": WidgetRange(0.0, LARGEST_VALUE, 0.05),
    "Lf": WidgetRange(0.0, LARGEST_VALUE, 0.05),
    "LU": WidgetRange(0.0, LARGEST_VALUE, 0.05),
    "rmax": WidgetRange(0.0, LARGEST_VALUE, 1.0),
}


DEFAULT_L_FROZEN = "√(1 + L_f²)"
"""L̃ where only L_f is known and there are two or more slow states."""

# ------------------------------------------------------------------------------- URL declarations


def slider_parameter(name: str, default: float) -> UrlParameter:
    """The URL parameter of a constant that is a slider."""
    limits = SLIDER_RANGES[name]
    return UrlParameter(float(default), number_in(limits.low, limits.high))


def field_parameters(defaults: Constants) -> dict[str, UrlParameter]:
    """The URL parameters of the constants that are number fields."""
    return {
        name: UrlParameter(
            float(getattr(defaults, SHORT_NAMES[name])), number_in(limits.low, limits.high)
        )
        for name, limits in FIELD_RANGES.items()
    }


def frozen_parameter() -> UrlParameter:
    """The URL parameter of `frozen_field`."""
    return UrlParameter(None, number_in(0, FIELD_RANGES["Lf"].high))


def value_parameter(default: Any, values: Iterable) -> UrlParameter:
    """The URL parameter of a widget that offers a list of values."""
    return UrlParameter(default, one_of(values))


# ---------------------------------------------------------------------------------------- widgets


def slider(url: UrlState, name: str) -> float:
    """A constant as a slider: for those that are moved to see what happens."""
    limits, symbol = SLIDER_RANGES[name], SYMBOLS[name]
    return st.slider(
        symbol.label,
        limits.low,
        limits.high,
        url.parameters[name].default,
        limits.step,
        limits.format,
        key=url.key(name),
        help=symbol.meaning,
    )


def number_field(url: UrlState, name: str, disabled: bool = False) -> float:
    """A constant as a number field: for those that are known and typed in."""
    limits, symbol = FIELD_RANGES[name], SYMBOLS[name]
    return st.number_input(
        symbol.label,
        limits.low,
        limits.high,
        url.parameters[name].default,
        limits.step,
        limits.format,
        key=url.key(name),
        help=symbol.meaning,
        disabled=disabled,
    )


def frozen_field(url: UrlState, name: str, placeholder: str) -> float | None:
    """A constant of the frozen dynamics as a number field; None if it is empty."""
    limits, symbol = FIELD_RANGES["Lf"], SYMBOLS[name]
    return st.number_input(
        symbol.label,
        limits.low,
        limits.high,
        None,
        limits.step,
        limits.format,
        key=url.key(name),
        placeholder=placeholder,
        help=f"{symbol.meaning} If empty: {placeholder}.",
    )


def whole_slider(url: UrlState, name: str, low: int, high: int, symbol: str = "T") -> int:
    """A whole number as a slider, with the label and the help of a symbol."""
    start, about = url.parameters[name].default, SYMBOLS[symbol]
    return st.slider(about.label, low, high, start, key=url.key(name), help=about.meaning)


def value_slider(url: UrlState, name: str, values: Iterable, label: str | None = None) -> Any:
    """One of a list of values, as a slider with unequal steps."""
    symbol = SYMBOLS.get(name)
    return st.select_slider(
        label or SYMBOLS[name].label,
        tuple(values),
        url.parameters[name].default,
        key=url.key(name),
        help=symbol.meaning if symbol else None,
    )


# -------------------------------------------------------------------------------------- constants


def put_constants(url: UrlState, constants: Constants) -> None:
    """Set the widgets to these constants; only before they are drawn, as in a callback."""
    for name, field in SHORT_NAMES.items():
        url.put(name, float(getattr(constants, field)))
