"""Choose T: which algorithm, T and k have the smallest bound on a budget, and how sure that is."""

from functools import partial

import streamlit as st

from fsdash.dashboard.choose_t import state as choose
from fsdash.dashboard.choose_t.notices import notices
from fsdash.dashboard.choose_t.state import DEFAULT_SWEEPS, START, ChooseTState
from fsdash.dashboard.shell import is_dark, open_page, workbench
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.dashboard.widgets.controls import (
    FIELD_RANGES,
    FIELDS,
    field_parameter,
    field_parameters,
    number_field,
    put_constants,
    segments,
)
from fsdash.dashboard.widgets.export import export
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.lesson import exercises, glossary, what_to_notice
from fsdash.dashboard.widgets.reading import CONDITION
from fsdash.dashboard.widgets.url_state import (
    Parameter,
    UrlState,
    comma_separated,
    labelled,
    list_of,
    number_in,
    one_of,
    whole_number,
)
from fsdash.dashboard.widgets.views import truth_frame, truth_snippet
from fsdash.errors import InputError
from fsdash.figures.budget import above
from fsdash.figures.budget_detail import truth_figure
from fsdash.formatting import number, round_significant
from fsdash.theory import Constants, Sizes, fsvi_regret, trivial_bound
from fsdash.theory.measured_domains import measured_domains

MOST_SWEEPS = 1e9
LARGEST_SIZE = 10**9
MOST_PLOTTED = 8
LARGEST_GAMMA = 0.9999
"""The largest discount that a click in the heat map chooses."""
SIZES = {"nx": "n_slow", "ny": "n_fast", "na": "n_actions"}
CUSTOM, DERIVED = "custom", "derived"
L_U_SOURCES = {CUSTOM: "Custom", DERIVED: "L_r/(1 − γL_f)"}
PLOTTED, EVERY = "plotted", "every"
COMPETITORS = {PLOTTED: "the plotted T", EVERY: f"every T up to {choose.LONGEST}"}
STATED, REPAIRED = "stated", "repaired"
BOUNDS = {STATED: "as stated", REPAIRED: "repaired"}
TABS = {
    "terms": "What the bound is made of",
    "sensitivity": "How sensitive the choice is",
    "trust": "How far to trust it",
}
DOMAINS = measured_domains()
# What can be varied: its name in the URL and its symbol.
VARY = {
    "Lf": "L_f",
    "gamma": "γ",
    "alpha": "α",
    "LU": "L_U",
    "Lr": "L_r",
    "dY": "d_Y",
    "rmax": "r_max",
}
HORIZONS = range(2, choose.LONGEST + 1)

URL = UrlState(
    "choose-t",
    {
        "budget": Parameter(DEFAULT_SWEEPS, number_in(0, MOST_SWEEPS)),
        "gamma": Parameter(START.constants.gamma, number_in(0, 1, hint=" (below 1)")),
        **field_parameters(("alpha", "dY", "Lr", "Lf", "LU", "rmax"), START.constants),
        **{
            name: Parameter(getattr(START.sizes, size), whole_number(1, LARGEST_SIZE))
            for name, size in SIZES.items()
        },
        "T": Parameter(
            list(START.T),
            list_of(whole_number(2, choose.LONGEST), MOST_PLOTTED),
            comma_separated,
        ),
        "LUby": Parameter(CUSTOM, one_of(L_U_SOURCES)),
        "over": Parameter(PLOTTED, one_of(COMPETITORS)),
        "bound": Parameter(STATED, one_of(BOUNDS)),
        "Lfrozen": Parameter(None, field_parameter("Lf", 1).read),
        "vary": Parameter("Lf", one_of(VARY)),
        "tab": labelled("terms", TABS),
        "domain": Parameter(next(iter(DOMAINS)), one_of(DOMAINS)),
    },
)

WITHOUT_IT = """Without that it can fail: one small model has a true regret four times the bound.
The *repaired* bound, under *Which bound*, holds for every $\\tilde L$:"""
REPAIR = r"""\frac{\varepsilon_r + \gamma\,\varphi(\tilde L) + \gamma^T L_U\, d}{1-\gamma^T}
+ \frac{2\, r_{\max}\,\gamma^{(k+1)T}}{(1-\gamma)(1-\gamma^T)}"""
REPAIRED_WORTH = """Here $\\varphi(\\tilde L)$ is the freeze error with $\\tilde L$ in the place of
$L_f$. Where $\\tilde L \\le L_f$ it is also the smaller bound of the two, by a factor of up to
$2/(1-\\gamma^T)$ in the price of freezing."""


# --------------------------------------------------------------------------------------- controls


def load(view: ChooseTState) -> None:
    """Set the widgets to a ready-made view."""
    put_constants(URL, view.constants)
    for name, size in SIZES.items():
        URL.put(name, getattr(view.sizes, size))
    URL.put("T", list(view.T))
    URL.put("budget", view.sweeps)
    URL.put("LUby", CUSTOM)


def draw_examples() -> None:
    with st.container(horizontal=True, key="examples", vertical_alignment="center"):
        st.caption("Examples", width="content")
        for label, view in choose.examples().items():
            st.button(label, key=f"load-{label}", on_click=load, args=(view,))


def read_controls() -> ChooseTState:
    """The few that matter first; the rest folded."""
    sweeps = st.number_input(
        "Budget in sweeps of Base VI",
        0.0,
        MOST_SWEEPS,
        DEFAULT_SWEEPS,
        1.0,
        "%.8g",
        key=URL.key("budget"),
        help="One sweep is |S|²|A| operations. Or click in the figure.",
    )
    told = st.empty()
    values = {"gamma": read_gamma()}
    values |= {key: number_field(URL, key) for key in ("alpha", "Lf")}
    with st.expander("More constants", key="more"):
        for key in ("Lr", "dY", "rmax"):
            values[key] = number_field(URL, key)
        values["LU"] = read_l_u(values)
    with st.expander("Sizes", key="sizes"):
        sizes = Sizes(**{name: read_size(key, name) for key, name in SIZES.items()})
    T, every = read_competitors()
    l_frozen = read_bound(values["Lf"])
    told.caption(f"= {number(sweeps * sizes.sweep)} operations")
    constants = Constants(**{FIELDS[key]: value for key, value in values.items()})
    return ChooseTState(constants, sizes, sweeps, T, every, l_frozen)


def read_gamma() -> float:
    """Up to and with 1, so that who types 1 gets a sentence instead of a red field."""
    symbol = SYMBOLS["gamma"]
    return st.number_input(
        symbol.label,
        0.0,
        1.0,
        URL.parameters["gamma"].default,
        0.001,
        "%.10g",
        key=URL.key("gamma"),
        help=symbol.meaning,
    )


def read_l_u(values: dict[str, float]) -> float:
    """By hand, or by the appendix's formula where that exists."""
    source = segments(URL, "LUby", "L_U is given", L_U_SOURCES)
    by_hand = number_field(URL, "LU", disabled=source == DERIVED)
    if source == CUSTOM or values["gamma"] == 1:  # who types 1 is told elsewhere
        return by_hand
    derived = choose.derived_l_u(values["gamma"], values["Lr"], values["Lf"])
    product = values["gamma"] * values["Lf"]
    if derived is None:
        st.warning(
            f"γL_f = {product:.4g} is not below 1, so L_r/(1 − γL_f) does not exist: the value by "
            f"hand, {number(by_hand)}, is used. Lower γ or L_f."
        )
        return by_hand
    st.caption(f"L_U = {number(derived)}")
    return derived


def read_size(key: str, name: str) -> int:
    symbol, start = SYMBOLS[key], getattr(START.sizes, name)
    return st.number_input(
        symbol.label, 1, LARGEST_SIZE, start, 1, key=URL.key(key), help=symbol.meaning
    )


def read_competitors() -> tuple[tuple[int, ...], bool]:
    with st.expander("Competitors", key="competitors"):
        T = st.multiselect(
            "Plotted T",
            HORIZONS,
            START.T,
            key=URL.key("T"),
            max_selections=MOST_PLOTTED,
            help=SYMBOLS["T"].meaning,
        )
        over = segments(URL, "over", "The winner is one of", COMPETITORS)
        if not T:
            st.info(f"No T is chosen: {', '.join(map(str, START.T))} are shown.")
    return tuple(sorted(T)) or START.T, over == EVERY


def read_bound(l_f: float) -> float | None:
    """None for the theorem as stated, else L̃."""
    with st.expander("Which bound", key="which"):
        bound = segments(
            URL,
            "bound",
            "Regret bound of FSVI",
            BOUNDS,
            help="The tab *How far to trust it* has the difference.",
        )
        l_frozen = st.number_input(
            "Sensitivity of the frozen dynamics L̃",
            0.0,
            1e6,
            None,
            0.05,
            "%.8g",
            key=URL.key("Lfrozen"),
            disabled=bound == STATED,
            placeholder="as L_f",
            help="The Lipschitz constant of the frozen map (x, f_Y). Empty: the same as L_f.",
        )
    if bound == STATED:
        return None
    return l_f if l_frozen is None else l_frozen


# ------------------------------------------------------------------------------------------ parts


def set_budget(event: Event, sizes: Sizes) -> None:
    """A click or the end of a drag; a click on the strip goes to the middle of that regime."""
    x = event.customdata[0] if event.trace == "regimes" else event.x
    URL.put("budget", min(choose.clicked_sweeps(x, sizes), MOST_SWEEPS))


def set_cell(event: Event, name: str) -> None:
    """A click in the heat map sets both of its coordinates."""
    highest = LARGEST_GAMMA if name == "gamma" else FIELD_RANGES[name].high
    URL.put("budget", min(round_significant(event.x, 3), MOST_SWEEPS))
    URL.put(name, min(round_significant(event.y, 4), highest))


def draw_recommendation(view: ChooseTState) -> None:
    # A line may break between the parts of the advice, not inside of "k = 3".
    headline = choose.headline(view).replace(" = ", "\u00a0=\u00a0")
    with st.container(border=True, key="recommendation"):
        if view.advice is None:
            st.header(headline, anchor=False)
            st.error(choose.reasons(view))
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.header(headline, anchor=False)
            with st.container(horizontal=True, gap="medium", width="content"):
                for label, value in choose.figures_of(view.advice).items():
                    st.metric(label, value, width="content")
        st.markdown(choose.reasons(view))


def draw_workbench() -> ChooseTState | None:
    """Controls on the left; on the right the recommendation and its figure, or what is wrong."""
    left, right = workbench(3, 9)
    try:
        with left:
            view = read_controls()
    except InputError as problem:
        # The library calls the discount by its name in Python.
        right.error(str(problem).replace("gamma", "γ"))
        return None
    with right:
        draw_recommendation(view)
        figure = choose.main_figure(view, is_dark())
        chart(
            figure,
            "regret-cost",
            height=510,
            clickable=True,
            draggable=True,
            alt_text=f"Regret bounds against cost. {choose.headline(view)}.",
            on_event=lambda event: set_budget(event, view.sizes),
        )
        higher = f" Above the figure: {', '.join(hidden)}." if (hidden := above(figure)) else ""
        st.caption(f"Click in the figure or drag the thick line to set the budget.{higher}")
        what_to_notice(notices(view))
        snippet = choose.curves_snippet(view)
        export("regret-cost", figure, lambda: choose.curves_frame(view), snippet)
    return view


def draw_terms(view: ChooseTState) -> None:
    if view.advice is None:
        st.info("Raise the budget to one sweep or more to see the terms.")
        return
    st.markdown(
        "On this budget, each bound is the sum of three terms. The **reward** and **transition** "
        "terms are the price of freezing and stay; the **iteration** term is what a larger budget "
        "would remove."
    )
    figure = choose.terms_figure(view, is_dark())
    chart(figure, "terms", height=400, alt_text="The terms of the bound for each T on this budget.")
    export("terms", figure, lambda: choose.terms_frame(view), choose.terms_snippet(view))


def draw_sensitivity(view: ChooseTState) -> None:
    st.markdown(
        "Constants are rarely known well. Vary one of them, the others as they stand: where the "
        "colour around the cross is even, the choice does not hang on it. Click a cell to go there."
    )
    name = segments(URL, "vary", "Vary", VARY)
    figure, table = choose.heat_map(view, FIELDS[name], is_dark())
    chart(
        figure,
        "best-T",
        height=440,
        clickable=True,
        on_event=lambda event: set_cell(event, name),
        alt_text=f"The best T over budgets and values of {VARY[name]}.",
    )
    export("best-T", figure, table, choose.heat_snippet(view, FIELDS[name]))


def draw_trust(view: ChooseTState) -> None:
    st.markdown(
        "The bound is a **worst case** over all problems with these constants. It tells which way "
        "T should move, not how much regret your problem has. Measured on real domains it is far "
        "above anything that can happen:"
    )
    titles = {name: name.capitalize() for name in DOMAINS}
    hidden = {"label_visibility": "collapsed"}
    draw_truth(segments(URL, "domain", "Measured on a domain", titles, **hidden))
    if view.constants.alpha > 1:
        st.markdown(
            f"The paper assumes α ≤ 1; here it is {number(view.constants.alpha)}: the slow state "
            "is not slow. The formulas still hold."
        )
    st.markdown(f"{CONDITION} {WITHOUT_IT}")
    st.latex(REPAIR)
    st.markdown(REPAIRED_WORTH)


def draw_truth(name: str) -> None:
    domain, T = DOMAINS[name], 12
    floor = float(fsvi_regret(domain.constants, T, 0).floor)
    trivial, true = trivial_bound(domain.constants), domain.regret[T][0]
    figure = truth_figure(domain.constants, domain.regret, is_dark())
    chart(figure, "truth", height=360, alt_text=f"Bound and true regret of FSVI on {name}.")
    export(f"truth-{name}", figure, partial(truth_frame, name), truth_snippet(name))
    st.markdown(
        f"**{name.capitalize()}, T = {T}:** the bound is {number(floor)}, no policy can lose more "
        f"than {number(trivial)}, and FSVI really loses **{number(true)}** (exact evaluation under "
        f"the true model). The bound is {number(floor / true)} times the truth: measured over all "
        "pairs of states, the Lipschitz constants take the steepest spot of the model for all of "
        "it. `fsdash solve` gives the true regret of any T."
    )


def draw_tabs(view: ChooseTState) -> None:
    # Only the open tab is computed, so that a changed control costs no more than what is seen.
    tabs = st.tabs(list(TABS.values()), key=URL.key("tab"), on_change="rerun")
    for tab, draw in zip(tabs, (draw_terms, draw_sensitivity, draw_trust), strict=True):
        if tab.open:
            with tab:
                draw(view)


@st.fragment
def draw_page() -> None:
    """Everything that moves with the controls."""
    draw_examples()
    view = draw_workbench()
    if view is not None:
        draw_tabs(view)
    URL.write()


def show() -> None:
    """Draw the page."""
    open_page("Choose T", URL)
    st.title("Which T for your budget?", anchor=False)
    st.markdown(
        "Freezing for T periods makes a plan cheaper and a little wrong. For a budget of work, this "
        "page compares the regret **bounds** of FSVI with each T and of Base VI, which freezes nothing."
    )
    draw_page()
    exercises(choose.EXERCISES)
    glossary(("T", "k", "gamma", "alpha", "dY", "Lr", "Lf", "LU", "rmax", "nx", "ny", "na"))
