"""The URL of the inspector: the policy, the view, and the selectors of the figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.inspector import text
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    domain_name,
    experiment_id,
    one_of,
    short_text,
    whole_number,
)
from fsdash.figures.policies import PolicyFigure, Selector
from fsdash.figures.policies.inspected import AXES
from fsdash.figures.policies.slices import Slices

LARGEST_T = 100
MAX_SELECTORS = 600
"""Characters of the parameter `at`."""
PREFIX = "inspector-"
"""Of session keys that are not in the URL; they are forgotten when a URL is opened."""

SelectorTexts = dict[str, tuple[str, ...]]
"""By the name of a selector: the selected options as texts."""


def parse_state(value: str) -> tuple[int, int]:
    """The indices of the slow and the fast state, such as 3,17."""
    x, y = (whole_number(0)(part) for part in value.split(","))
    return x, y


def format_state(state: tuple[int, int]) -> str:
    return f"{state[0]},{state[1]}"


def parse_selectors(value: str) -> SelectorTexts:
    """Such as phase:2;demand:0,5,10."""
    if len(value) > MAX_SELECTORS:
        raise ValueError(value)
    parts = [part.split(":", 1) for part in value.split(";")]
    return {unquote(name): tuple(map(unquote, texts.split(","))) for name, texts in parts}


def format_selectors(selected: SelectorTexts) -> str:
    return ";".join(
        f"{_escape(name)}:{','.join(map(_escape, texts))}" for name, texts in selected.items()
    )


def _escape(name: str) -> str:
    """The name without the separators, which a variable of a user's model may contain."""
    return "".join(f"%{ord(c):02X}" if c in "%:;," else c for c in name)


URL = UrlState(
    "inspector",
    {
        "experiment": UrlParameter(None, experiment_id),
        "run": UrlParameter(None, whole_number(0)),
        "replication": UrlParameter(None, whole_number(0)),
        "domain": UrlParameter(None, domain_name),
        "preset": UrlParameter(None, short_text),
        "method": UrlParameter(None, one_of(text.ALGORITHM_LABELS)),
        "T": UrlParameter(None, whole_number(1, LARGEST_T)),
        "step": UrlParameter(None, whole_number(0)),
        "view": UrlParameter(None, short_text),
        "at": UrlParameter(None, parse_selectors, format_selectors),
        "state": UrlParameter(None, parse_state, format_state),
        "compare": UrlParameter(None, one_of(text.COMPARISONS)),
        "other": UrlParameter(None, whole_number(0)),
        "otherstep": UrlParameter(None, whole_number(0)),
    },
)


def start_from_url() -> None:
    """After a URL was opened: forget the session keys that it does not hold."""
    for key in [key for key in st.session_state if str(key).startswith(PREFIX)]:
        del st.session_state[key]


def choose(
    widget: Callable | None,
    label: str,
    name: str,
    options: Sequence,
    default: object,
    describe: Callable[[object], str] = str,
    notices: DeltaGenerator | None = None,
    **arguments,
) -> object:
    """A widget for one of the options. A value that is not among them becomes the default.

    `name` is the parameter of the URL. Without a widget the value stays as it is. A notice is shown
    if the value came from the link that was just opened: in `notices` if the widget itself is in a
    popover.
    """
    asked = URL.get(name)
    if asked not in options:
        URL.put(name, default)
        if asked is not None and URL.just_read:
            (notices or st).warning(text.unavailable(label, asked, describe(default)))
    if widget is None:
        return URL.get(name)
    return widget(label, options, key=URL.key(name), format_func=describe, **arguments)


RAIL, BUTTON, LETTER = 190, 32, 7.2
"""Pixels of the rail, of a button without its label, and of a letter. Options that do not fit side
by side become a slider or a list."""


def choose_figure(figures: Sequence[PolicyFigure]) -> PolicyFigure:
    """The figure to draw, the first one by default."""
    by_name = {figure.name: figure for figure in figures}
    name = choose(
        st.pills,
        "Figure",
        "view",
        list(by_name),
        figures[0].name,
        lambda n: by_name[n].title,
        required=True,
        label_visibility="collapsed",
        wrap=True,
    )
    return by_name[name]


def choose_selectors(figure: PolicyFigure) -> dict:
    """A widget for each selector of a figure; returns the selected values by name."""
    selected: dict = {}
    for selector in figure.selectors:
        if selector.name == AXES:
            selected[AXES] = _choose(selector)
    for selector in figure.needed(selected):
        if selector.name != AXES:
            selected[selector.name] = _choose(selector)
    return selected


def changed_selectors(figure: PolicyFigure, selected: Mapping) -> SelectorTexts:
    """The selectors of a figure that are not at their default."""
    return {
        s.name: _texts(s, selected[s.name])
        for s in figure.selectors
        if s.name in selected and _texts(s, selected[s.name]) != _texts(s, s.default)
    }


def put_selector(figure: PolicyFigure, name: str, value: object) -> None:
    """Set a selector, if the figure has it; only in a callback."""
    for selector in figure.selectors:
        if selector.name == name and value in selector.options:
            st.session_state[_key(selector)] = value


def show_slice_of(figure: PolicyFigure, model: FastSlowMDP, state: tuple[int, int]) -> None:
    """Set the slices of a figure to those that contain a state; only in a callback."""
    at = Slices(model, None).at_state(*state)
    for selector in figure.selectors:
        if selector.coordinate in at and not selector.many:
            put_selector(figure, selector.name, at[selector.coordinate])


def _choose(selector: Selector) -> object:
    key, texts = _key(selector), dict(URL.get("at") or {})
    if key not in st.session_state or not _is_option(selector, st.session_state[key]):
        st.session_state[key] = _initial_value(selector, texts.get(selector.name, ()))
    labels = dict(zip(selector.options, selector.labels, strict=True))
    common = {"key": key, "format_func": labels.get}
    title = selector.title[0].upper() + selector.title[1:]
    kind = _kind(selector)
    if kind == "many":
        found = st.pills(title, selector.options, selection_mode="multi", wrap=True, **common)
        value = tuple(sorted(found)) or selector.default
    elif kind == "few":
        value = st.segmented_control(title, selector.options, required=True, wrap=True, **common)
    elif kind == "list":
        value = st.selectbox(title, selector.options, **common)
    else:
        value = st.select_slider(title, selector.options, **common)
    URL.put("at", texts | {selector.name: _texts(selector, value)})
    return value


def _kind(selector: Selector) -> str:
    if selector.many:
        return "many"
    if sum(BUTTON + LETTER * len(label) for label in selector.labels) <= RAIL:
        return "few"
    return "one" if selector.ordered else "list"


def _key(selector: Selector) -> str:
    # Each kind of widget has its own key: with a key of another kind it would lose its value.
    return f"{PREFIX}{selector.name}-{_kind(selector)}"


def _texts(selector: Selector, value: object) -> tuple[str, ...]:
    return tuple(map(str, value if selector.many else (value,)))  # type: ignore[arg-type]


def _is_option(selector: Selector, value: object) -> bool:
    values = value if isinstance(value, tuple | list) else (value,)
    return all(one in selector.options for one in values)


def _initial_value(selector: Selector, texts: Sequence[str]) -> object:
    """The options that the URL names, or else the default."""
    found = tuple(option for option in selector.options if str(option) in texts)
    if not found:
        return selector.default
    return found if selector.many else found[0]
