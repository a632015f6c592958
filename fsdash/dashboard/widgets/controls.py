"""The widgets of the constants, the same on every page and bound to its address.

    readers(...)            what a link may hold, for `open_page`
    slider(...), field(...) one constant as a slider or as a number field
    choice(...)             one of a list of values
    fill(...)               put the constants of a preset into the widgets (for a callback)
    constants_of(...)       the constants from the values of the widgets

A widget's key is its name in the address. Defaults are the page's own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import streamlit as st

from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.url_state import BIND, Reader, number_in, one_of
from fsdash.theory import Constants

LARGEST = 1e6
ALPHAS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
# A whole-number field would fail on an infinite number in the link; a choice cannot.
ITERATIONS = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

# For who gives a discount of 1 in a link.
NO_DISCOUNT = "; at 1, without discounting, every bound would be infinite"

# The field of `Constants` behind each name in the address.
FIELDS = {
    "gamma": "gamma",
    "alpha": "alpha",
    "dY": "d_y",
    "Lr": "l_r",
    "Lf": "l_f",
    "LU": "l_u",
    "rmax": "r_max",
}


@dataclass(frozen=True)
class Scale:
    """What a slider or a number field of a constant can be set to."""

    low: float
    high: float
    step: float
    format: str = "%.8g"


SLIDERS = {
    "gamma": Scale(0.5, 0.999, 0.001, "%.3f"),
    "Lf": Scale(0.5, 1.5, 0.01, "%.2f"),
    "kappa": Scale(1.0, 1.3, 0.005, "%.3f"),
}
NUMBERS = {
    "gamma": Scale(0.0, 0.9999, 0.001, "%.4f"),
    "alpha": Scale(0.0, LARGEST, 0.01),
    "dY": Scale(0.0, LARGEST, 0.5),
    "Lr": Scale(0.0, LARGEST, 0.05),
    "Lf": Scale(0.0, LARGEST, 0.05),
    "LU": Scale(0.0, LARGEST, 0.05),
    "rmax": Scale(0.0, LARGEST, 1.0),
}


def slider_reader(key: str) -> Reader:
    """What a link may hold for a constant that is a slider."""
    scale = SLIDERS[key]
    return number_in(scale.low, scale.high, hint=NO_DISCOUNT if key == "gamma" else "")


def field_reader(key: str) -> Reader:
    """What a link may hold for a constant that is a number field."""
    return number_in(NUMBERS[key].low, NUMBERS[key].high)


def slider(key: str, start: float) -> float:
    """A constant as a slider: for those that are moved to see what happens."""
    scale, symbol = SLIDERS[key], SYMBOLS[key]
    return st.slider(
        symbol.label,
        scale.low,
        scale.high,
        float(start),
        scale.step,
        scale.format,
        key=key,
        bind=BIND,
        help=symbol.meaning,
    )


def field(key: str, start: float, disabled: bool = False) -> float:
    """A constant as a number field: for those that are known and typed in."""
    scale, symbol = NUMBERS[key], SYMBOLS[key]
    return st.number_input(
        symbol.label,
        scale.low,
        scale.high,
        float(start),
        scale.step,
        scale.format,
        key=key,
        bind=BIND,
        help=symbol.meaning,
        disabled=disabled,
    )


def whole(name: str, low: int, high: int, start: int, key: str | None = None) -> int:
    """A whole number as a slider, under its symbol's name in the address or under another."""
    symbol = SYMBOLS[name]
    key = key or name
    return st.slider(symbol.label, low, high, start, key=key, bind=BIND, help=symbol.meaning)


def choice(key: str, options: Iterable, start: object, label: str | None = None) -> object:
    """One of a list of values, as a slider with unequal steps."""
    symbol = SYMBOLS.get(key)
    return st.select_slider(
        label or symbol.label,
        tuple(options),
        start,
        key=key,
        bind=BIND,
        help=symbol.meaning if symbol else None,
    )


def alpha_slider(start: float) -> float:
    """α, which matters by its order of magnitude."""
    return choice("alpha", ALPHAS, start)


def alpha_reader() -> Reader:
    """What a link may hold for the slider of α."""
    return one_of(ALPHAS)


def constants_of(values: Mapping[str, float]) -> Constants:
    """The constants, from values under their names in the address."""
    return Constants(**{FIELDS[key]: value for key, value in values.items()})


def fill(constants: Constants, **others: object) -> None:
    """Put constants and other values into the widgets; only before they are drawn (a callback)."""
    for key, name in FIELDS.items():
        st.session_state[key] = float(getattr(constants, name))
    for key, value in others.items():
        st.session_state[key] = value
