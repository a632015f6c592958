"""The home page: what freezing slow states is, and one live bound on what it costs."""

import numpy as np
import streamlit as st

from fsdash.errors import InputError
from fsdash.figures.theory import reward_error_figure
from fsdash.figures.timescales import timescales_svg, timescales_told
from fsdash.theory import Constants, fsvi_regret, reward_error, trivial_bound
from fsdash.theory.presets import PRESETS
from fsdash.ui.frame import is_dark, open_page
from fsdash.ui.picture import draw_svg
from fsdash.ui.reading import number, read_growth, read_regret, read_reward_error

LONGEST = 150
ALPHAS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# A whole-number input would fail on an infinite number in the link; a choice cannot.
ITERATIONS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
IN_URL = "query-params"

# The widget of each constant, by the key that is also its name in the URL.
KEYS = {
    "gamma": "gamma",
    "alpha": "alpha",
    "d_y": "dY",
    "l_r": "Lr",
    "l_f": "Lf",
    "l_u": "LU",
    "r_max": "rmax",
}
START = PRESETS["reward-error-small"].constants
EXAMPLES = {
    "Small $L_f$": "reward-error-small",
    "Large $L_f$": "reward-error-large",
    "A useful bound": "three-regimes",
}

STORY = {
    "The problem": """Your stock changes **every day**; the season behind demand changes **over
months**. A *fast-slow* decision problem has both: a fast state $y$ that jumps, a slow state $x$
that drifts. Looking far ahead in small steps, with both in motion, is expensive.""",
    "The trick": """Only **while planning**, pretend that $x$ stands still for $T$ periods. Each
block becomes a short, simple problem, solved once. A second plan on top, which sees the true
motion, then steps from block to block: $T$ periods at a time.""",
    "The price": """The world itself is never frozen, so the plan is a little wrong: it trusts an
old $x$, and it does not look past the end of its block. How wrong depends on $T$. **Move it below**
and watch both errors trade places.""",
}

COMMANDS = """\
fsdash bounds --preset reward-error-small     # the bounds, for these or any constants
fsdash advise --sweeps 4                      # which T to choose for a budget of work
fsdash constants inventory                    # measure alpha and the Lipschitz constants
fsdash solve inventory --method fsvi -T 6     # solve a model by freezing: its true regret
fsdash --help                                 # what else there is"""


def tell_story() -> None:
    """The idea in three short paragraphs, side by side."""
    for column, (title, text) in zip(st.columns(3, gap="medium"), STORY.items(), strict=True):
        column.subheader(title, anchor=False)
        column.markdown(text)


def load_example(name: str) -> None:
    """Put the constants of a preset into the widgets."""
    constants = PRESETS[name].constants
    for field, key in KEYS.items():
        st.session_state[key] = getattr(constants, field)


def read_controls() -> tuple[Constants, int, int]:
    """The sliders, and the constants that most visitors leave alone."""
    st.subheader("Your problem", anchor=False)
    T = st.slider("Periods frozen, $T$", 1, LONGEST, 12, key="T", bind=IN_URL)
    gamma = st.slider(
        "Discount, $\\gamma$", 0.5, 0.999, START.gamma, 0.001, "%.3f", key="gamma", bind=IN_URL,
        help="How much tomorrow counts. Close to 1 means a long look ahead.",
    )
    alpha = st.select_slider(
        "Slowness, $\\alpha$", ALPHAS, START.alpha, key="alpha", bind=IN_URL,
        help="The largest step of the slow state, as a share of that of the fast state.",
    )
    l_f = st.slider(
        "Sensitivity of the dynamics, $L_f$", 0.5, 1.5, START.l_f, 0.01, key="Lf", bind=IN_URL,
        help="How much a small difference in the state can grow in one step.",
    )
    with st.expander("More constants", key="more"):
        d_y = _constant("Largest fast step, $d_Y$", "d_y")
        l_r = _constant("Sensitivity of the reward, $L_r$", "l_r")
        l_u = _constant("Sensitivity of the value, $L_U$", "l_u")
        r_max = _constant("Largest reward, $r_{\\max}$", "r_max")
        k = st.select_slider("Upper iterations, $k$", ITERATIONS, 50, key="k", bind=IN_URL)
    st.caption("Examples")
    with st.container(horizontal=True, key="examples"):
        for label, name in EXAMPLES.items():
            st.button(label, key=name, on_click=load_example, args=(name,))
    return Constants(gamma, alpha, d_y, l_r, l_f, l_u, r_max), T, k


def _constant(label: str, field: str) -> float:
    value = float(getattr(START, field))
    return st.number_input(label, 0.0, 1e6, value, 0.05, "%.4g", key=KEYS[field], bind=IN_URL)


def draw_timeline(constants: Constants, T: int, dark: bool) -> None:
    """The blocks of T periods, with how far the slow state can get inside one."""
    st.subheader("What the plan pretends", anchor=False)
    wide, narrow = timescales_svg(T, dark=dark), timescales_svg(T, 360, 12, dark)
    draw_svg(wide, narrow, timescales_told(T))
    drift = (T - 1) * constants.alpha * constants.d_y
    st.caption(
        "Solid: where the slow state really is. Dashed: where the plan believes it to be. "
        f"Inside a block it drifts by at most $(T-1)\\,\\alpha\\,d_Y$ = {number(drift)}; the fast "
        f"state moves up to {number(constants.d_y)} in one step. Schematic, each on its own scale."
    )


def draw_numbers(constants: Constants, T: int, k: int) -> None:
    """The chosen T in numbers and in words."""
    error, trivial = reward_error(constants, T), float(trivial_bound(constants))
    regret = float(fsvi_regret(constants, T, k).total)
    verdict = "vacuous" if regret >= trivial else "informative"
    columns = st.columns(5)
    columns[0].metric("Freeze", number(float(error.freeze)))
    columns[1].metric("End of horizon", number(float(error.end_of_horizon)))
    columns[2].metric("Reward error", number(float(error.total)))
    columns[3].metric("Regret bound", number(regret), verdict, "off", delta_arrow="off")
    columns[4].metric("Trivial bound", number(trivial))
    st.markdown(
        f"{read_reward_error(constants, T)} {read_growth(constants)}\n\n"
        f"{read_regret(regret, trivial)}"
    )


def draw_workbench() -> None:
    """Controls on the left; the picture, the bound and its numbers on the right."""
    left, right = st.columns([3, 8], gap="large")
    with left:
        constants, T, k = read_controls()
    with right:
        dark = is_dark()
        st.subheader("What it can cost: the bound on the reward error", anchor=False)
        figure = reward_error_figure(constants, np.arange(1, LONGEST + 1), T, dark)
        st.plotly_chart(figure.update_layout(height=340), theme=None, key="bound")
        draw_numbers(constants, T, k)
        draw_timeline(constants, T, dark)


open_page("Home", "❄️")
st.title("When does freezing slow states pay?", anchor=False)
tell_story()
try:
    draw_workbench()
except InputError as problem:
    st.error(str(problem))
st.subheader("The same from the command line", anchor=False)
st.code(COMMANDS, language="bash")
