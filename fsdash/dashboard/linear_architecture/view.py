"""The Linear architecture page: the bound on regret when values are fitted by features.

The theorem of Appendix "Value Function Approximation with a Linear Architecture" does not hold as
stated in the arXiv text. The page shows a proven bound (docs/proofs.md) and, for comparison, the
stated one.
"""

from functools import partial

import streamlit as st

from fsdash.dashboard.linear_architecture import state as linear
from fsdash.dashboard.linear_architecture import text
from fsdash.dashboard.linear_architecture.state import (
    LARGEST_T,
    MISFITS,
    START,
    START_FIT,
    T_VALUES,
    LinearState,
)
from fsdash.dashboard.shell import (
    exercises,
    glossary,
    open_page,
    two_columns,
    what_to_notice,
)
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, whole_number
from fsdash.errors import InputError
from fsdash.figures.linear_architecture import fsavi_figure, fsavi_terms_figure
from fsdash.formatting import number
from fsdash.theory import trivial_bound
from fsdash.theory.parameters import constants_from

FOLDED = ("dY", "Lr", "Lf", "LU", "rmax")
SYMBOLS = (
    *("T", "kappa", "elow", "eup", "k", "gamma"),
    *("alpha", "dY", "Lr", "Lf", "Lfrozen", "LU", "rmax"),
)
SMALLEST_L_FROZEN = 1.0
"""L̃ of a model with two or more slow states is at least 1."""
URL = UrlState(
    "linear-architecture",
    {
        "T": UrlParameter(linear.START_T, whole_number(1, LARGEST_T)),
        "kappa": controls.slider_parameter("kappa", START_FIT["kappa"]),
        "elow": controls.value_parameter(START_FIT["eps_low"], MISFITS),
        "eup": controls.value_parameter(START_FIT["eps_up"], MISFITS),
        "gamma": controls.slider_parameter("gamma", START.gamma),
        "k": controls.value_parameter(linear.START_K, controls.ITERATIONS),
        "alpha": controls.value_parameter(START.alpha, controls.ALPHAS),
        **controls.field_parameters(FOLDED, START),
        "Lfrozen": controls.frozen_parameter(SMALLEST_L_FROZEN),
    },
)


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, URL)
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    draw_interactive_part()
    exercises("linear_architecture", URL)
    glossary(SYMBOLS)


@st.fragment
def draw_interactive_part() -> None:
    """Everything that depends on the controls."""
    left, right = two_columns(3, 8)
    with left:
        state = read_controls()
    URL.write()
    try:
        state.regret(state.T)  # raises where the theorem does not apply
    except InputError:
        right.warning(text.describe_amplification(state.constants.gamma, state.fit["kappa"]))
        return
    with right:
        draw_bound(state)
    draw_terms(state)


def read_controls() -> LinearState:
    """The features, T, and the constants of the problem."""
    st.caption(text.EXAMPLES_LABEL)
    with st.container(horizontal=True, gap="small", key="examples"):
        for name, label in text.EXAMPLES.items():
            st.button(label, key=f"load-{name}", on_click=load_example, args=(name,))
    fit = {
        "kappa": controls.slider(URL, "kappa"),
        "eps_low": controls.value_slider(URL, "elow", MISFITS),
        "eps_up": controls.value_slider(URL, "eup", MISFITS),
    }
    T = controls.whole_slider(URL, "T", 1, LARGEST_T)
    with st.expander(text.PROBLEM_CONSTANTS, key="more"):
        values = {
            "gamma": controls.slider(URL, "gamma"),
            "alpha": controls.value_slider(URL, "alpha", controls.ALPHAS),
        }
        k = controls.value_slider(URL, "k", controls.ITERATIONS)
        for name in FOLDED:
            values[name] = controls.number_field(URL, name)
        l_frozen = controls.frozen_field(URL, controls.DEFAULT_L_FROZEN, SMALLEST_L_FROZEN)
    return LinearState(constants_from(values), T, k, fit, l_frozen)


def load_example(name: str) -> None:
    """Set the widgets to the features of an example."""
    fit = linear.EXAMPLES[name]
    for parameter, field in {"kappa": "kappa", "elow": "eps_low", "eup": "eps_up"}.items():
        URL.put(parameter, fit[field])


def choose_T(event: Event) -> None:
    """Set T from a click in the figure or from the dragged line."""
    URL.put("T", int(min(max(round(float(event.x)), 1), LARGEST_T)))


def draw_bound(state: LinearState) -> None:
    """The bound against T, its numbers at the chosen T, and the export."""
    figure = fsavi_figure(state.constants, T_VALUES, state.T, state.k, state.fit, state.l_frozen)
    chart(
        figure,
        "bound",
        alt_text=text.alt_text(LARGEST_T),
        height=400,
        clickable=True,
        draggable=True,
        on_event=choose_T,
    )
    draw_numbers(state)
    table = partial(linear.bound_frame, state)
    export("linear-architecture", figure, table, linear.bound_snippet(state))


def draw_numbers(state: LinearState) -> None:
    """Both bounds and the trivial one."""
    proven = float(state.regret(state.T).total)
    stated = float(state.regret(state.T, bound="stated").total)
    trivial = trivial_bound(state.constants)
    verdict = None
    if trivial > 0:
        verdict = text.VACUOUS if proven >= trivial else text.INFORMATIVE
    columns = st.columns(3)
    columns[0].metric(text.PROVEN, number(proven), verdict, "off", delta_arrow="off")
    columns[1].metric(text.STATED, number(stated))
    columns[2].metric(text.TRIVIAL, number(trivial))
    what_to_notice(
        (
            text.describe_regret(proven, trivial),
            text.describe_stated(state.T, stated, proven),
        )
    )


def draw_terms(state: LinearState) -> None:
    """The terms of the bound at the chosen T."""
    left, right = st.columns([5, 4], gap="large")
    with left:
        st.header(text.TERMS_TITLE, anchor=False)
        figure = fsavi_terms_figure(state.constants, state.T, state.k, state.fit, state.l_frozen)
        chart(figure, "terms", alt_text=text.terms_alt_text(state.T), height=300)
        table = partial(linear.terms_frame, state)
        export("linear-terms", figure, table, linear.terms_snippet(state))
    with right:
        amplification = text.describe_amplification(state.constants.gamma, state.fit["kappa"])
        points = (amplification, text.TERMS_NOTE, text.GAPS)
        what_to_notice(points, key="notice-terms")
