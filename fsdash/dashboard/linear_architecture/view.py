"""The Linear architecture page: what a bound on regret becomes when values are fitted by features.

The theorem of Appendix "Value Function Approximation with a Linear Architecture", as the paper
states it and as its proof supports it.
"""

from functools import partial

import numpy as np
import streamlit as st

from fsdash.dashboard.shell import is_dark, open_page, workbench
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.dashboard.widgets.export import export
from fsdash.dashboard.widgets.lesson import exercises, glossary, what_to_notice
from fsdash.dashboard.widgets.reading import (
    CONDITION,
    number,
    read_amplification,
    read_correction,
    read_regret,
)
from fsdash.dashboard.widgets.url_state import Parameter, UrlState, whole_number
from fsdash.dashboard.widgets.views import fsavi_frame, fsavi_snippet, terms_frame, terms_snippet
from fsdash.errors import InputError
from fsdash.figures.linear_architecture import fsavi_figure, fsavi_terms_figure
from fsdash.theory import Constants, fsavi_regret, trivial_bound
from fsdash.theory.presets import PRESETS

LARGEST_T = 40
T_VALUES = np.arange(1, LARGEST_T + 1)
MISFITS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
START = PRESETS["three-regimes"].constants
START_FIT = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
FOLDED = ("dY", "Lr", "Lf", "LU", "rmax")
URL = UrlState(
    "linear-architecture",
    {
        "T": Parameter(6, whole_number(1, LARGEST_T)),
        "kappa": controls.slider_parameter("kappa", START_FIT["kappa"]),
        "elow": controls.value_parameter(START_FIT["eps_low"], MISFITS),
        "eup": controls.value_parameter(START_FIT["eps_up"], MISFITS),
        "gamma": controls.slider_parameter("gamma", START.gamma),
        "k": controls.value_parameter(20, controls.ITERATIONS),
        "alpha": controls.value_parameter(START.alpha, controls.ALPHAS),
        **controls.field_parameters(FOLDED, START),
    },
)
EXAMPLES = {
    "Good": START_FIT,
    "Perfect": {"kappa": 1.0, "eps_low": 0.0, "eps_up": 0.0},
    "Poor": {"kappa": 1.08, "eps_low": 0.5, "eps_up": 2.0},
}
SYMBOLS = ("T", "kappa", "elow", "eup", "k", "gamma", "alpha", "dY", "Lr", "Lf", "LU", "rmax")

EXERCISES = [
    (
        "Load the *Perfect* features. Why does the corrected bound still lie a little above that "
        "of FSVI on exact tables for small $T$?",
        "With $\\kappa = 1$ and no misfit only the iteration term differs: the theorem counts one "
        "power of $\\kappa\\gamma$ more than needed and charges $(1-\\gamma^{T+1})/(1-\\gamma^T)$ "
        "times as much. The factor is largest at small $T$ and the whole term dies out with $k$.",
    ),
    (
        "Raise $\\kappa$ slowly at $\\gamma = 0.9$. What happens at $\\kappa = 1/0.9$, and what "
        "would a practitioner do?",
        "At $\\kappa\\gamma = 1$ the theorem ends: every backup may enlarge the error of the fit "
        "as much as discounting shrinks it, and fitted iteration can diverge. One would choose "
        "other features or other representative states (a smaller $\\kappa$), or a smaller "
        "$\\gamma$.",
    ),
    (
        "Load *Good*, then set both misfits to 0.1. For which $T$ does that of the upper level "
        "cost more?",
        "Only at $T = 1$, where it costs 44 and the other 18. From $T = 2$ on (9.9 against 15) the "
        "lower level's costs more: the factor of the upper one shrinks with $\\gamma^T$, while the "
        "lower level makes $T-1$ fits in a row and keeps all of their errors.",
    ),
]


def choose_T(event: Event) -> None:
    """Take T from a click in the figure or from the line that was dragged."""
    URL.put("T", int(min(max(round(float(event.x)), 1), LARGEST_T)))


def load_example(name: str) -> None:
    fit = EXAMPLES[name]
    for key, value in zip(("kappa", "elow", "eup"), fit.values(), strict=True):
        URL.put(key, value)


def read_controls() -> tuple[Constants, int, int, dict[str, float]]:
    """The features first; the problem's own constants folded."""
    st.caption("Features to begin with")
    with st.container(horizontal=True, gap="small", key="examples"):
        for name in EXAMPLES:
            st.button(name, key=f"load-{name}", on_click=load_example, args=(name,))
    fit = {
        "kappa": controls.slider(URL, "kappa"),
        "eps_low": controls.value_slider(URL, "elow", MISFITS),
        "eps_up": controls.value_slider(URL, "eup", MISFITS),
    }
    T = controls.whole_slider(URL, "T", 1, LARGEST_T)
    with st.expander("The problem's constants", key="more"):
        values = {
            "gamma": controls.slider(URL, "gamma"),
            "alpha": controls.value_slider(URL, "alpha", controls.ALPHAS),
        }
        k = controls.value_slider(URL, "k", controls.ITERATIONS)
        for name in FOLDED:
            values[name] = controls.number_field(URL, name)
    return controls.constants_from(values), T, k, fit


def draw_numbers(constants: Constants, T: int, k: int, fit: dict[str, float]) -> None:
    """Both versions of the bound and the yardstick, in numbers."""
    corrected = float(fsavi_regret(constants, T, k, **fit).total)
    stated = float(fsavi_regret(constants, T, k, **fit, corrected=False).total)
    trivial = trivial_bound(constants)
    columns = st.columns(3)
    verdict = "vacuous" if corrected >= trivial else "informative"
    shown = verdict if trivial > 0 else None
    columns[0].metric("Corrected bound", number(corrected), shown, "off", delta_arrow="off")
    columns[1].metric("As stated", number(stated))
    columns[2].metric("Trivial bound", number(trivial))
    which = read_correction(constants.gamma, T, stated, corrected)
    what_to_notice((read_regret(corrected, trivial), f"**Stated or corrected?** {which}"))


def draw_bound(constants: Constants, T: int, k: int, fit: dict[str, float], dark: bool) -> None:
    """The bound against T, its numbers, and what it is made of."""
    figure = fsavi_figure(constants, T_VALUES, T, k, fit, dark)
    alt_text = f"The regret bound of FSAVI for T from 1 to {LARGEST_T}, corrected and as stated."
    chart(
        figure,
        "bound",
        alt_text=alt_text,
        height=400,
        clickable=True,
        draggable=True,
        on_event=choose_T,
    )
    draw_numbers(constants, T, k, fit)
    snippet = fsavi_snippet(constants, LARGEST_T, k, fit, T)
    table = partial(fsavi_frame, constants, LARGEST_T, k, fit)
    export("linear-architecture", figure, table, snippet)


def draw_terms(constants: Constants, T: int, k: int, fit: dict[str, float], dark: bool) -> None:
    """The decomposition at the chosen T, and what to see in it."""
    left, right = st.columns([5, 4], gap="large")
    with left:
        st.subheader("What the bound is made of", anchor=False)
        figure = fsavi_terms_figure(constants, T, k, fit, dark)
        alt_text = f"The five terms of the bound at T = {T}, as stated and corrected."
        chart(figure, "terms", alt_text=alt_text, height=300)
        table = partial(terms_frame, constants, T, k, fit)
        export("linear-terms", figure, table, terms_snippet(constants, T, k, fit))
    with right:
        what_to_notice(
            (
                read_amplification(constants.gamma, fit["kappa"]),
                "*Reward error* and *transitions* are the price of freezing, as on exact tables; "
                "the two *misfits* are that of the features. More iterations remove the term of "
                "*iteration* alone.",
                CONDITION,
            ),
            key="notice-terms",
        )


@st.fragment
def draw_workbench() -> None:
    """Everything that moves with the controls."""
    dark = is_dark()
    left, right = workbench(3, 8)
    with left:
        constants, T, k, fit = read_controls()
    URL.write()
    try:
        # The theorem's own condition is checked where the bound is computed.
        fsavi_regret(constants, T, k, **fit)
    except InputError:
        right.warning(read_amplification(constants.gamma, fit["kappa"]))
        return
    with right:
        draw_bound(constants, T, k, fit, dark)
    draw_terms(constants, T, k, fit, dark)


def show() -> None:
    """Draw the page."""
    open_page("Linear architecture", URL)
    st.title("What do features add to the bill?", anchor=False)
    st.markdown(
        "Large problems have no tables: values are fitted by a weighted sum of **features**. The fit "
        "misses a little, by $\\varepsilon_{\\mathrm{low}}$ and $\\varepsilon_{\\mathrm{up}}$, "
        "and can enlarge what it misses, by $\\kappa$. This page adds that to the bound on regret."
    )
    draw_workbench()
    exercises(EXERCISES)
    glossary(SYMBOLS)
