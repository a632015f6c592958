"""The Reward error page: how far the plan's T-period reward can be off, and why."""

from functools import partial

import numpy as np
import streamlit as st

from fsdash.dashboard.reward_error.formula import reward_error_filled, reward_error_tex
from fsdash.dashboard.shell import is_dark, open_page, workbench
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.dashboard.widgets.export import export
from fsdash.dashboard.widgets.lesson import exercises, glossary, what_to_notice
from fsdash.dashboard.widgets.reading import (
    number,
    read_crossing,
    read_growth,
    read_peak,
    read_reward_error,
)
from fsdash.dashboard.widgets.url_state import Parameter, UrlState, whole_number
from fsdash.dashboard.widgets.views import (
    ceiling_frame,
    ceiling_snippet,
    panel_figure,
    reward_error_frame,
    reward_error_snippet,
)
from fsdash.errors import InputError
from fsdash.figures.reward_error import L_F_VALUES, ceiling_figure, reward_error_figure
from fsdash.theory import Constants, reward_error
from fsdash.theory.presets import PRESETS

LARGEST_T = 150
RANGES = (10, 20, 50, 100, 150, 300, 500)
START = PRESETS["reward-error-small"].constants
# The two panels of the paper's figure.
PANELS = {
    "reward-error-small": "A forgiving world: $L_f = 0.99$",
    "reward-error-large": "An unforgiving one: $L_f = 1.05$",
}
FOLDED = ("dY", "Lr", "LU", "rmax")
URL = UrlState(
    "reward-error",
    {
        "T": Parameter(12, whole_number(1, LARGEST_T)),
        "range": controls.value_parameter(LARGEST_T, RANGES),
        "gamma": controls.slider_parameter("gamma", START.gamma),
        "alpha": controls.value_parameter(START.alpha, controls.ALPHAS),
        "Lf": controls.slider_parameter("Lf", START.l_f),
        **controls.field_parameters(FOLDED, START),
    },
)
SYMBOLS = ("T", "er", "gamma", "alpha", "dY", "Lr", "Lf", "LU", "rmax")

EXERCISES = [
    (
        "Make the slow state stand perfectly still ($\\alpha = 0$). Which error is left, and why?",
        "The freeze error is 0: trusting an old $x$ costs nothing if $x$ never changes. The "
        "end-of-horizon error stays, because the lower level still plans as if nothing came after "
        "its block; only the part that comes from the drift of $x$ is gone from it.",
    ),
    (
        "Keep the first panel's constants. For which $T$ above 1 is the bound on the total at its "
        "smallest within $T \\le 150$?",
        "At $T = 2$ it is 1.84, at the far end, $T = 150$, it is 2.01, and in between it is far "
        "larger. At the far end the end-of-horizon error has died out, and what is left is close "
        "to the freeze error's ceiling, $\\alpha d_Y L_r \\gamma / ((1-\\gamma)(1-\\gamma "
        "L_f)) \\approx 1.8$.",
    ),
    (
        "The second panel has $L_f = 1.05$ and $\\gamma = 0.953$. Lower the discount to 0.95: does "
        "the freeze error still grow without bound?",
        "No. $\\gamma L_f$ falls from 1.0007 to 0.9975, below 1, so there is a ceiling. It is so "
        "high, and reached so late, that on 150 periods nobody would notice: what matters is "
        "$\\gamma L_f$, not $L_f$ alone.",
    ),
]


def choose_T(event: Event) -> None:
    """Take T from a click in the figure or from the line that was dragged."""
    URL.put("T", int(min(max(round(float(event.x)), 1), LARGEST_T)))


def load_panel(name: str) -> None:
    controls.put_constants(URL, PRESETS[name].constants)
    URL.put("range", LARGEST_T)
    st.toast("These constants are now in the figure at the top of the page.", icon="⬆️")


def read_controls() -> tuple[Constants, int, int]:
    """The few constants that matter first, the rest folded."""
    T = controls.whole_slider(URL, "T", 1, LARGEST_T)
    values = {
        "gamma": controls.slider(URL, "gamma"),
        "alpha": controls.value_slider(URL, "alpha", controls.ALPHAS),
        "Lf": controls.slider(URL, "Lf"),
    }
    with st.expander("More constants", key="more"):
        for name in FOLDED:
            values[name] = controls.number_field(URL, name)
        last = controls.value_slider(URL, "range", RANGES, "Longest T shown")
    return controls.constants_from(values), T, last


def draw_numbers(constants: Constants, T: int) -> None:
    """The chosen T in numbers."""
    error = reward_error(constants, T)
    columns = st.columns(3)
    columns[0].metric("Freeze", number(float(error.freeze)))
    columns[1].metric("End of horizon", number(float(error.end_of_horizon)))
    columns[2].metric("Reward error", number(float(error.total)))


def draw_formula(constants: Constants, T: int, dark: bool) -> None:
    """The bound, term by term in the colours of the curves, and filled in for this T."""
    st.subheader("Where the numbers come from", anchor=False)
    freeze, end = reward_error_tex(dark)
    freeze_now, end_now, total = reward_error_filled(constants, T, dark)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.latex(freeze)
        st.latex(freeze_now)
    with right:
        st.latex(end)
        st.latex(end_now)
    st.latex(total)


def draw_crossing(constants: Constants, T: int, dark: bool) -> None:
    """Where γL_f crosses 1, on the axis of L_f."""
    left, right = st.columns([5, 4], gap="large")
    with left:
        st.subheader("Where the ceiling goes", anchor=False)
        figure = ceiling_figure(constants, T, dark)
        alt_text = f"The freeze error at T = {T} and its ceiling over all T, against L_f."
        chart(figure, "ceiling", alt_text=alt_text, height=340)
        snippet = ceiling_snippet(constants, T)
        export("ceiling", figure, partial(ceiling_frame, constants, T), snippet)
    with right:
        what_to_notice(
            (
                read_growth(constants),
                read_crossing(constants, float(L_F_VALUES[-1])),
                "The paper draws the line at $L_f = 1$. The sums say $\\gamma L_f = 1$: for "
                "$1 < L_f < 1/\\gamma$ the freeze error climbs for long, yet it has a ceiling.",
            ),
            key="notice-ceiling",
        )


def draw_panels(dark: bool) -> None:
    """The two panels of the paper's figure, each of which can be loaded."""
    st.subheader("The paper's two panels", anchor=False)
    T_values = np.arange(1, LARGEST_T + 1)
    for column, (name, title) in zip(st.columns(2, gap="large"), PANELS.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            constants = PRESETS[name].constants
            figure = panel_figure(name, LARGEST_T, dark)
            chart(figure, name, alt_text=f"{title}. {read_peak(constants, T_values)}", height=300)
            st.button(
                "Explore these constants", key=f"load-{name}", on_click=load_panel, args=(name,)
            )
            table = partial(reward_error_frame, constants, LARGEST_T)
            export(name, figure, table, reward_error_snippet(constants, LARGEST_T, LARGEST_T))


def draw_workbench(dark: bool) -> None:
    """Controls on the left; the figure, its numbers and its export on the right; more below."""
    left, right = workbench(3, 8)
    with left:
        constants, T, last = read_controls()
    T_values = np.arange(1, last + 1)
    figure = reward_error_figure(constants, T_values, T, dark)
    with right:
        said = read_peak(constants, T_values)
        alt_text = (
            f"Freeze error, end-of-horizon error and their sum for T from 1 to {last}. {said}"
        )
        chart(
            figure,
            "error",
            alt_text=alt_text,
            height=400,
            clickable=True,
            draggable=True,
            on_event=choose_T,
        )
        draw_numbers(constants, T)
        points = [read_reward_error(constants, T), said]
        if last < T:
            points.append(f"T = {T} lies beyond the range shown: raise *Longest T shown*.")
        if last > LARGEST_T:
            points.append(f"T can be chosen up to {LARGEST_T}; what lies beyond is only shown.")
        what_to_notice(points)
        longest = max(last, T)
        snippet = reward_error_snippet(constants, longest, T)
        export("reward-error", figure, partial(reward_error_frame, constants, longest), snippet)
    draw_formula(constants, T, dark)
    draw_crossing(constants, T, dark)


@st.fragment
def draw_what_moves() -> None:
    """Everything that moves with the controls, drawn anew without the rest of the page."""
    try:
        draw_workbench(is_dark())
    except InputError as problem:
        st.error(str(problem))
    URL.write()


def show() -> None:
    """Draw the page."""
    open_page("Reward error", URL)
    st.title("How wrong can a frozen plan be?", anchor=False)
    st.markdown(
        "For $T$ periods the plan trusts a slow state that has moved on (**freeze error**), and it "
        "does not look past the end of its block (**end-of-horizon error**). This page bounds both. "
        "Drag the dotted line, or click, to choose $T$."
    )
    draw_what_moves()
    draw_panels(is_dark())
    exercises(EXERCISES)
    glossary(SYMBOLS)
