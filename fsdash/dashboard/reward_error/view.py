"""The Reward error page: a bound on the error of the plan's T-period reward, and its two causes."""

from functools import partial

import numpy as np
import streamlit as st

from fsdash.dashboard.reward_error import state, text
from fsdash.dashboard.reward_error.state import LARGEST_T, RANGES, START
from fsdash.dashboard.shell import (
    add_style,
    exercises,
    glossary,
    open_page,
    two_columns,
    what_to_notice,
)
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.reward_error_formula import reward_error_filled, reward_error_tex
from fsdash.dashboard.widgets.symbols import symbol_line
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, whole_number
from fsdash.errors import InputError
from fsdash.figures.reward_error import L_F_VALUES, ceiling_figure, reward_error_figure
from fsdash.formatting import number
from fsdash.theory import PRESETS, Constants, reward_error
from fsdash.theory.parameters import constants_from

FOLDED = ("dY", "Lr", "LU", "rmax")
FORMULA_SYMBOLS = ("T", "er", "gamma", "alpha", "dY", "Lr", "Lf", "LU")
SYMBOLS = (*FORMULA_SYMBOLS, "rmax")
URL = UrlState(
    "reward-error",
    {
        "T": UrlParameter(state.START_T, whole_number(1, LARGEST_T)),
        "range": controls.value_parameter(LARGEST_T, RANGES),
        "gamma": controls.slider_parameter("gamma", START.gamma),
        "alpha": controls.value_parameter(START.alpha, controls.ALPHAS),
        "Lf": controls.slider_parameter("Lf", START.l_f),
        **controls.field_parameters(FOLDED, START),
    },
)
# Beside its notes the second figure would be too narrow for its labels on a tablet.
STYLE = """<style>
@media (max-width: 900px) {
  .st-key-ceiling-row [data-testid="stColumn"]:has(.fs-chart) {min-width: 100%;}
}
</style>"""


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, URL)
    add_style(STYLE)
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    draw_interactive_part()
    draw_panels()
    exercises("reward_error", URL)
    glossary(SYMBOLS)


@st.fragment
def draw_interactive_part() -> None:
    """Everything that depends on the controls; the rest of the page is not drawn again."""
    left, right = two_columns(3, 8)
    try:
        with left:
            constants, T, last = read_controls()
        with right:
            draw_errors(constants, T, last)
        draw_formula(constants, T)
        draw_ceiling(constants, T)
    except InputError as problem:
        st.error(str(problem))
    URL.write()


def read_controls() -> tuple[Constants, int, int]:
    """The constants, T and the longest T shown."""
    T = controls.whole_slider(URL, "T", 1, LARGEST_T)
    values = {
        "gamma": controls.slider(URL, "gamma"),
        "alpha": controls.value_slider(URL, "alpha", controls.ALPHAS),
        "Lf": controls.slider(URL, "Lf"),
    }
    with st.expander(text.MORE_CONSTANTS, key="more"):
        for name in FOLDED:
            values[name] = controls.number_field(URL, name)
        last = controls.value_slider(URL, "range", RANGES, text.LONGEST_T_SHOWN)
    return constants_from(values), T, last


def choose_T(event: Event) -> None:
    """Set T from a click in the figure or from the dragged line."""
    URL.put("T", int(min(max(round(float(event.x)), 1), LARGEST_T)))


def draw_errors(constants: Constants, T: int, last: int) -> None:
    """The errors against T, their numbers at the chosen T, notices and export."""
    T_values = np.arange(1, last + 1)
    figure = reward_error_figure(constants, T_values, T)
    chart(
        figure,
        "error",
        alt_text=text.alt_text(constants, T_values),
        height=400,
        clickable=True,
        draggable=True,
        on_event=choose_T,
    )
    draw_numbers(constants, T)
    points = [text.describe_reward_error(constants, T), text.describe_course(constants, T_values)]
    if last < T:
        points.append(text.T_NOT_SHOWN.format(T=T))
    if last > LARGEST_T:
        points.append(text.LARGEST_T.format(largest=LARGEST_T))
    what_to_notice(points)
    longest = max(last, T)
    table = partial(state.reward_error_frame, constants, longest)
    export("reward-error", figure, table, state.reward_error_snippet(constants, longest, T))


def draw_numbers(constants: Constants, T: int) -> None:
    """Both errors and their sum at the chosen T."""
    error = reward_error(constants, T)
    columns = st.columns(3)
    columns[0].metric(text.FREEZE, number(float(error.freeze)))
    columns[1].metric(text.END_OF_HORIZON, number(float(error.end_of_horizon)))
    columns[2].metric(text.TOTAL, number(float(error.total)))


def draw_formula(constants: Constants, T: int) -> None:
    """The bound, term by term in the colours of the curves, then with the numbers for this T."""
    st.header(text.FORMULA_TITLE, anchor=False)
    freeze, end = reward_error_tex()
    freeze_now, end_now, total = reward_error_filled(constants, T)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.latex(freeze)
        st.latex(freeze_now)
    with right:
        st.latex(end)
        st.latex(end_now)
    st.latex(total)
    symbol_line(FORMULA_SYMBOLS)


def draw_ceiling(constants: Constants, T: int) -> None:
    """The limit of the freeze error against L_f, with the point where γL_f = 1."""
    with st.container(key="ceiling-row"):
        left, right = st.columns([5, 4], gap="large")
    with left:
        st.header(text.CEILING_TITLE, anchor=False)
        figure = ceiling_figure(constants, T)
        chart(figure, "ceiling", alt_text=text.ceiling_alt_text(T), height=340)
        table = partial(state.ceiling_frame, constants, T)
        export("ceiling", figure, table, state.ceiling_snippet(constants, T))
    with right:
        points = (
            text.describe_growth(constants),
            text.describe_critical_l_f(constants, float(L_F_VALUES[-1])),
            text.CEILING_NOTE,
        )
        what_to_notice(points, key="notice-ceiling")


def draw_panels() -> None:
    """The two panels of the paper's figure, each with a button that loads its constants."""
    st.header(text.PANELS_TITLE, anchor=False)
    T_values = np.arange(1, LARGEST_T + 1)
    for column, (name, title) in zip(st.columns(2, gap="large"), text.PANELS.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            constants = PRESETS[name].constants
            figure = state.panel_figure(name)
            chart(figure, name, alt_text=text.alt_text(constants, T_values), height=300)
            st.button(text.LOAD_PANEL, key=f"load-{name}", on_click=load_panel, args=(name,))
            table = partial(state.reward_error_frame, constants, LARGEST_T)
            snippet = state.reward_error_snippet(constants, LARGEST_T, LARGEST_T)
            export(name, figure, table, snippet)


def load_panel(name: str) -> None:
    """Set the widgets to the constants of a panel."""
    controls.put_constants(URL, PRESETS[name].constants)
    URL.put("range", LARGEST_T)
    st.toast(text.PANEL_LOADED, icon="⬆️")
