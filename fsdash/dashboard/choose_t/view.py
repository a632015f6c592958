"""Choose T: which algorithm, T and k have the smallest bound on a budget, and how sure that is."""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from fsdash.dashboard.choose_t import state as choose
from fsdash.dashboard.choose_t.notices import notices
from fsdash.dashboard.choose_t.state import DEFAULT_SWEEPS, START, ChooseTState
from fsdash.dashboard.shell import is_dark, open_page, workbench
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.dashboard.widgets.controls import FIELDS, NUMBERS, field, field_reader, fill
from fsdash.dashboard.widgets.export import export
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.lesson import exercises, glossary, what_to_notice
from fsdash.dashboard.widgets.reading import CONDITION
from fsdash.dashboard.widgets.url_state import BIND, number_in, one_of, one_step
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
SIZES = {"nx": "n_slow", "ny": "n_fast", "na": "n_actions"}
BY_HAND, DERIVED = "by hand", "L_r/(1 − γL_f)"
PLOTTED, EVERY = "the plotted T", f"every T up to {choose.LONGEST}"
STATED, REPAIRED = "as stated", "repaired"
TABS = ("What the bound is made of", "How sensitive the choice is", "How far to trust it")
DOMAINS = {name.capitalize(): domain for name, domain in measured_domains().items()}
# What can be varied: its symbol, its field of `Constants` and its name in the link.
VARY = {
    "L_f": "l_f",
    "γ": "gamma",
    "α": "alpha",
    "L_U": "l_u",
    "L_r": "l_r",
    "d_Y": "d_y",
    "r_max": "r_max",
}
HORIZONS = range(2, choose.LONGEST + 1)

PARAMETERS = {
    "budget": number_in(0, MOST_SWEEPS),
    "gamma": number_in(0, 1, hint=" (below 1)"),
    **{key: field_reader(key) for key in ("alpha", "dY", "Lr", "Lf", "LU", "rmax")},
    **dict.fromkeys(SIZES, number_in(1, LARGEST_SIZE, whole=True)),
    "T": number_in(2, choose.LONGEST, whole=True).upto(MOST_PLOTTED),
    "LUby": one_of((BY_HAND, DERIVED)),
    "over": one_of((PLOTTED, EVERY)),
    "bound": one_of((STATED, REPAIRED)),
    "Lfrozen": field_reader("Lf"),
    "vary": one_of(VARY),
    "tab": one_of(TABS),
    "domain": one_of(DOMAINS),
}

WITHOUT_IT = """Without that it can fail: one small model has a true regret four times the bound.
The *repaired* bound, under *Which bound*, holds for every $\\tilde L$:"""
REPAIR = r"""\frac{\varepsilon_r + \gamma\,\varphi(\tilde L) + \gamma^T L_U\, d}{1-\gamma^T}
+ \frac{2\, r_{\max}\,\gamma^{(k+1)T}}{(1-\gamma)(1-\gamma^T)}"""
REPAIRED_WORTH = """Here $\\varphi(\\tilde L)$ is the freeze error with $\\tilde L$ in the place of
$L_f$. Where $\\tilde L \\le L_f$ it is also the smaller bound of the two, by a factor of up to
$2/(1-\\gamma^T)$ in the price of freezing."""


# --------------------------------------------------------------------------------------- controls


def one(label: str, key: str, options: Iterable[str], **rest) -> str:
    """One of the options side by side, the first by default; also if the link says none."""
    options = tuple(options)
    chosen = st.segmented_control(
        label, options, default=options[0], required=True, key=key, bind=BIND, **rest
    )
    return chosen or options[0]


def load(view: ChooseTState) -> None:
    """Put a ready-made view into the widgets, as one step of the browser's history."""
    with one_step():
        sizes = {key: getattr(view.sizes, name) for key, name in SIZES.items()}
        fill(view.constants, **sizes, T=list(view.T), budget=view.sweeps, LUby=BY_HAND)


def draw_examples() -> None:
    with st.container(horizontal=True, key="examples", vertical_alignment="center"):
        st.caption("Examples", width="content")
        for label, view in choose.examples().items():
            st.button(label, key=f"load-{label}", on_click=load, args=(view,))


def read_controls() -> ChooseTState:
    """The few that matter first; the rest folded."""
    start = START.constants
    sweeps = st.number_input(
        "Budget in sweeps of Base VI",
        0.0,
        MOST_SWEEPS,
        DEFAULT_SWEEPS,
        1.0,
        "%.8g",
        key="budget",
        bind=BIND,
        help="One sweep is |S|²|A| operations. Or click in the figure.",
    )
    told = st.empty()
    values = {"gamma": read_gamma(start.gamma)}
    values |= {key: field(key, getattr(start, FIELDS[key])) for key in ("alpha", "Lf")}
    with st.expander("More constants", key="more"):
        for key in ("Lr", "dY", "rmax"):
            values[key] = field(key, getattr(start, FIELDS[key]))
        values["LU"] = read_l_u(values)
    with st.expander("Sizes", key="sizes"):
        sizes = Sizes(**{name: read_size(key, name) for key, name in SIZES.items()})
    T, every = read_competitors()
    l_frozen = read_bound(values["Lf"])
    told.caption(f"= {number(sweeps * sizes.sweep)} operations")
    constants = Constants(**{FIELDS[key]: value for key, value in values.items()})
    return ChooseTState(constants, sizes, sweeps, T, every, l_frozen)


def read_gamma(start: float) -> float:
    """Up to and with 1, so that who types 1 gets a sentence instead of a red field."""
    symbol = SYMBOLS["gamma"]
    return st.number_input(
        symbol.label, 0.0, 1.0, start, 0.001, "%.10g", key="gamma", bind=BIND, help=symbol.meaning
    )


def read_l_u(values: dict[str, float]) -> float:
    """By hand, or by the appendix's formula where that exists."""
    way = one("L_U is given", "LUby", (BY_HAND, DERIVED))
    by_hand = field("LU", START.constants.l_u, disabled=way == DERIVED)
    if way == BY_HAND or values["gamma"] == 1:  # who types 1 is told elsewhere
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
        symbol.label, 1, LARGEST_SIZE, start, 1, key=key, bind=BIND, help=symbol.meaning
    )


def read_competitors() -> tuple[tuple[int, ...], bool]:
    with st.expander("Competitors", key="competitors"):
        T = st.multiselect(
            "Plotted T",
            HORIZONS,
            START.T,
            key="T",
            bind=BIND,
            max_selections=MOST_PLOTTED,
            help=SYMBOLS["T"].meaning,
        )
        over = one("The winner is one of", "over", (PLOTTED, EVERY))
        if not T:
            st.info(f"No T is chosen: {', '.join(map(str, START.T))} are shown.")
    return tuple(sorted(T)) or START.T, over == EVERY


def read_bound(l_f: float) -> float | None:
    """None for the theorem as stated, else L̃."""
    with st.expander("Which bound", key="which"):
        bound = one(
            "Regret bound of FSVI",
            "bound",
            (STATED, REPAIRED),
            help="The tab *How far to trust it* has the difference.",
        )
        l_frozen = st.number_input(
            "Sensitivity of the frozen dynamics L̃",
            0.0,
            1e6,
            None,
            0.05,
            "%.8g",
            key="Lfrozen",
            bind=BIND,
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
    st.session_state["budget"] = min(choose.clicked_sweeps(x, sizes), MOST_SWEEPS)


def set_cell(event: Event, name: str) -> None:
    """A click in the heat map sets both of its coordinates."""
    key = next(key for key, field_name in FIELDS.items() if field_name == name)
    with one_step():
        st.session_state["budget"] = min(round_significant(event.x, 3), MOST_SWEEPS)
        st.session_state[key] = min(round_significant(event.y, 4), NUMBERS[key].high)


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
        with left, one_step():
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
    symbol = one("Vary", "vary", VARY)
    name = VARY[symbol]
    figure, table = choose.heat_map(view, name, is_dark())
    chart(
        figure,
        "best-T",
        height=440,
        clickable=True,
        on_event=lambda event: set_cell(event, name),
        alt_text=f"The best T over budgets and values of {symbol}.",
    )
    export("best-T", figure, table, choose.heat_snippet(view, name))


def draw_trust(view: ChooseTState) -> None:
    st.markdown(
        "The bound is a **worst case** over all problems with these constants. It tells which way "
        "T should move, not how much regret your problem has. Measured on real domains it is far "
        "above anything that can happen:"
    )
    draw_truth(one("Measured on a domain", "domain", DOMAINS, label_visibility="collapsed"))
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
    key = name.lower()
    export(f"truth-{key}", figure, partial(truth_frame, key), truth_snippet(key))
    st.markdown(
        f"**{name}, T = {T}:** the bound is {number(floor)}, no policy can lose more "
        f"than {number(trivial)}, and FSVI really loses **{number(true)}** (exact evaluation under "
        f"the true model). The bound is {number(floor / true)} times the truth: measured over all "
        "pairs of states, the Lipschitz constants take the steepest spot of the model for all of "
        "it. `fsdash solve` gives the true regret of any T."
    )


def draw_tabs(view: ChooseTState) -> None:
    # Only the open tab is computed, so that a changed control costs no more than what is seen.
    tabs = st.tabs(TABS, key="tab", bind=BIND)
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


def show() -> None:
    """Draw the page."""
    open_page("Choose T", parameters=PARAMETERS)
    st.title("Which T for your budget?", anchor=False)
    st.markdown(
        "Freezing for T periods makes a plan cheaper and a little wrong. For a budget of work, this "
        "page compares the regret **bounds** of FSVI with each T and of Base VI, which freezes nothing."
    )
    draw_page()
    exercises(choose.EXERCISES)
    glossary(("T", "k", "gamma", "alpha", "dY", "Lr", "Lf", "LU", "rmax", "nx", "ny", "na"))
