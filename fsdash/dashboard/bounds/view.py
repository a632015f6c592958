"""The Bounds page: what the paper's bounds say about the error of freezing, and about its regret.

Three tabs share one form for the constants: the error of a plan's reward over T periods, the regret
that a budget allows, and the regret when values are fitted by features. The theorems of the last
two do not hold as stated in the arXiv text; the page also shows bounds that hold (docs/proofs.md).
"""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.bounds import state as bounds
from fsdash.dashboard.bounds import text
from fsdash.dashboard.bounds.state import (
    DEFAULT_SWEEPS,
    FEATURES,
    LONGEST_BLOCK,
    LONGEST_T,
    MISFITS,
    PANELS,
    RANGES,
    START,
    START_T,
    LinearState,
    RegretState,
)
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.service import saved_models, store_if_available
from fsdash.dashboard.shell import (
    open_page,
    open_tab,
    segments,
    tools,
    two_columns,
    what_to_notice,
)
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.controls import FIELD_RANGES, number_field
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.reward_error_formula import reward_error_filled, reward_error_tex
from fsdash.dashboard.widgets.symbols import symbol_line
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    domain_name,
    labelled,
    list_of,
    number_in,
    one_of,
    whole_number,
)
from fsdash.domains import is_saved_name
from fsdash.errors import InputError
from fsdash.figures.budget import off_scale
from fsdash.figures.budget_detail import truth_figure
from fsdash.figures.linear_architecture import fsavi_figure, fsavi_terms_figure
from fsdash.figures.reward_error import L_F_VALUES, ceiling_figure, reward_error_figure
from fsdash.formatting import factor, number, round_significant
from fsdash.runs.errors import StoreError
from fsdash.theory import Constants, Sizes, fsvi_bound, reward_error, trivial_bound
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory.parameters import SHORT_NAMES, constants_from

LARGEST_BUDGET, LARGEST_SIZE, MOST_PLOTTED, MOST_MODELS = 1e9, 10**9, 8, 6
LARGEST_GAMMA = 0.9999
"""The largest discount that a click in the heat map sets."""
TABS = {
    "reward": "Reward error",
    "regret": "Regret and budget",
    "linear": "Linear architecture",
}
DETAILS = {
    "terms": "Terms of the bound",
    "sensitivity": "Sensitivity to the constants",
    "trust": "Can I trust it?",
}
WINNERS = {"plotted": "the plotted T", "every": f"every T up to {LONGEST_T}"}
VARIED = {
    **{"Lf": "L_f", "gamma": "γ", "alpha": "α", "LU": "L_U", "Lr": "L_r", "dY": "d_Y"},
    "rmax": "r_max",
}
L_U_SOURCES = {"custom": "Custom", "derived": "L_r/(1 − γL_f)"}
SIZES = {"nx": "n_slow", "ny": "n_fast", "na": "n_actions"}
"""The field of `Sizes` for each name in the URL."""
FROZEN = {"Lfrozen": "l_frozen", "eta": "eta", "dYfrozen": "d_y_frozen"}
"""The field of `Constants` for each constant of the frozen dynamics in the URL."""
FIT = {"kappa": "kappa", "elow": "eps_low", "eup": "eps_up"}
WIDGETS = {
    "reward": ("T", "range"),
    "regret": ("budget", "drawn", "over", "bound", "vary", "detail", "domain", *SIZES, *FROZEN),
    "linear": ("T", "k", *FIT, *FROZEN),
}
"""The parameters of each tab that not every tab has."""
GLOSSARY = {
    "reward": ("T", "er", *SHORT_NAMES),
    "regret": ("T", "k", *SHORT_NAMES, *FROZEN, *SIZES),
    "linear": ("T", "kappa", "elow", "eup", "k", *SHORT_NAMES, *FROZEN),
}
URL = UrlState(
    "bounds",
    {
        "tab": labelled("reward", TABS),
        "T": UrlParameter(START_T, whole_number(1, LONGEST_BLOCK["reward"])),
        "range": controls.value_parameter(50, RANGES),
        "budget": UrlParameter(DEFAULT_SWEEPS, number_in(0, LARGEST_BUDGET)),
        "drawn": UrlParameter(
            list(START.T), list_of(whole_number(2, LONGEST_T), MOST_PLOTTED), comma_separated
        ),
        "over": UrlParameter("plotted", one_of(WINNERS)),
        "bound": UrlParameter("stated", one_of(("stated", "repaired"))),
        "vary": UrlParameter("Lf", one_of(VARIED)),
        "detail": UrlParameter("terms", one_of(DETAILS)),
        "domain": UrlParameter("inventory", domain_name),
        "k": controls.value_parameter(20, controls.ITERATIONS),
        "kappa": controls.slider_parameter("kappa", FEATURES["good"]["kappa"]),
        **{
            name: controls.value_parameter(FEATURES["good"][FIT[name]], MISFITS)
            for name in ("elow", "eup")
        },
        "gamma": UrlParameter(START.constants.gamma, number_in(0, 1, hint=" (below 1)")),
        **controls.field_parameters(START.constants),
        "LUby": UrlParameter("custom", one_of(L_U_SOURCES)),
        **{name: controls.frozen_parameter() for name in FROZEN},
        **{
            name: UrlParameter(getattr(START.sizes, field), whole_number(1, LARGEST_SIZE))
            for name, field in SIZES.items()
        },
    },
)


def show() -> None:
    """Draw the page."""
    open_page(
        "Bounds",
        URL,
        "What does freezing cost at most?",
        "Bounds from the paper that need only a few constants of a model; *Choose T* measures the "
        "true cost.",
    )
    draw_tabs()


@st.fragment
def draw_tabs() -> None:
    """The open tab."""
    name, tab = open_tab(URL, TABS, WIDGETS)
    with tab:
        draw_examples(name)
        left, right = two_columns(3, 9)
        try:
            {"reward": draw_reward, "regret": draw_regret, "linear": draw_linear}[name](left, right)
        except InputError as problem:
            # The library calls the discount by its name in Python.
            right.error(str(problem).replace("gamma", "γ"))
            tools("bounds", URL, GLOSSARY[name])
    URL.write()


# ----------------------------------------------------------------------------- examples, constants


def draw_examples(tab: str) -> None:
    """Buttons that load ready-made constants."""
    with st.container(horizontal=True, key="examples", vertical_alignment="center"):
        st.caption("Examples", width="content")
        for name in (*bounds.example_names(), *visitors_models()):
            if tab == "reward" or name not in PANELS:
                label = text.example_label(name)
                st.button(label, key=f"load-{name}", on_click=load_example, args=(name,))


def visitors_models() -> list[str]:
    """The visitor's saved models, the newest ones; none if the store cannot be read now."""
    store = store_if_available()
    try:
        return [] if store is None else [s.domain for s in saved_models(store)[:MOST_MODELS]]
    except StoreError:
        return []


def load_example(name: str) -> None:
    """Set the widgets to ready-made constants."""
    try:
        constants, sizes, T = bounds.example(name)
    except InputError as problem:  # the constants of a user's domain can be infinite
        st.toast(f"{text.example_label(name)}: {problem}", icon=":material/error:")
        return
    controls.put_constants(URL, constants)
    for parameter, field in FROZEN.items():
        URL.put(parameter, getattr(constants, field))
    for parameter, field in SIZES.items():
        URL.put(parameter, getattr(sizes, field))
    URL.put("drawn", list(T))
    URL.put("budget", DEFAULT_SWEEPS)
    URL.put("LUby", "custom")
    URL.put("range", LONGEST_BLOCK["reward"] if name in PANELS else URL.parameters["range"].default)
    if is_saved_name(name):
        URL.put("domain", name)


def read_constants() -> tuple[dict[str, float], DeltaGenerator]:
    """The constants of the theory, the same in every tab; and the box with those moved rarely.

    `constants_from` checks them after all widgets are drawn: Streamlit forgets the others.
    """
    gamma, values = SYMBOLS["gamma"], {}
    # The field accepts 1, which then gets an explanation instead of a red field.
    values["gamma"] = st.number_input(
        gamma.label,
        0.0,
        1.0,
        START.constants.gamma,
        0.001,
        "%.10g",
        key=URL.key("gamma"),
        help=gamma.meaning,
    )
    values |= {name: number_field(URL, name) for name in ("alpha", "Lf")}
    more = st.expander("More constants", key="more")
    with more:
        values |= {name: number_field(URL, name) for name in ("Lr", "dY", "rmax")}
        values["LU"] = read_l_u(values)
    return values, more


def read_l_u(values: dict[str, float]) -> float:
    """L_U: the custom value, or the appendix's formula where it exists."""
    source = segments(URL, "LUby", "L_U is given as", L_U_SOURCES)
    custom = number_field(URL, "LU", disabled=source == "derived")
    if source == "custom" or values["gamma"] == 1:  # the page reports γ = 1 elsewhere
        return custom
    derived = bounds.derived_l_u(values["gamma"], values["Lr"], values["Lf"])
    if derived is None:
        st.warning(
            f"γL_f = {factor(values['gamma'] * values['Lf'])} is not below 1, so L_r/(1 − γL_f) "
            f"does not exist. The custom value, {number(custom)}, is used instead. Lower γ or L_f."
        )
        return custom
    st.caption(f"L_U = {number(derived)}")
    return derived


def read_frozen(n_slow: int) -> dict[str, float | None]:
    """The constants of the frozen dynamics."""
    default = controls.DEFAULT_L_FROZEN if n_slow > 1 else "L_f"
    empty = {"Lfrozen": default, "eta": "α·d_Y", "dYfrozen": "d_Y"}
    frozen = {f: controls.frozen_field(URL, n, empty[n]) for n, f in FROZEN.items()}
    l_frozen = frozen["l_frozen"]
    if l_frozen is not None and l_frozen < 1 and n_slow > 1:
        raise InputError(
            f"L̃ = {number(l_frozen)} is below 1. The frozen dynamics keep x, so with two or more "
            "slow states L̃ is at least 1. Raise L̃, or leave its field empty."
        )
    if l_frozen is None and any(value is not None for value in frozen.values()):
        raise InputError(
            "η or d̃_Y is given, so freezing x may change how y moves, and L̃ does not follow from "
            "L_f. Give L̃ too, or leave all three fields empty."
        )
    return frozen


def choose_T(event: Event, largest: int) -> None:
    """Set T from a click in the figure or from the dragged line."""
    URL.put("T", int(min(max(round(float(event.x)), 1), largest)))


# ------------------------------------------------------------------------------------ reward error


def draw_reward(left: DeltaGenerator, right: DeltaGenerator) -> None:
    """A bound on the error of the plan's T-period reward, and its two causes."""
    largest = LONGEST_BLOCK["reward"]
    with left:
        T = controls.whole_slider(URL, "T", 1, largest)
        values, more = read_constants()
        with more:
            last = controls.value_slider(URL, "range", RANGES, "Largest T shown")
    constants, T_values = constants_from(values), np.arange(1, last + 1)
    figure, course = reward_error_figure(constants, T_values, T), text.describe_course
    with right:
        chart(
            figure,
            "error",
            alt_text=f"Freeze error, end-of-horizon error and their sum for T from 1 to {last}. "
            f"{course(constants, T_values)}",
            height=400,
            clickable=True,
            draggable=True,
            on_event=lambda event: choose_T(event, largest),
        )
        error = reward_error(constants, T)
        for column, label, value in zip(
            st.columns(3),
            ("Freeze error", "End-of-horizon error", "Reward error"),
            (error.freeze, error.end_of_horizon, error.total),
            strict=True,
        ):
            column.metric(label, number(float(value)))
        points = [text.describe_reward_error(constants, T), course(constants, T_values)]
        if last < T:
            points.append(f"T = {T} is outside the range shown. Increase *Largest T shown*.")
        if last > largest:
            points.append(f"You can choose T up to {largest}; the figure also shows larger values.")
        what_to_notice(points)
    draw_formula(constants, T)
    ceiling = draw_limit(constants, T)
    longest = max(last, T)
    with tools("bounds", URL, GLOSSARY["reward"]):
        table = partial(bounds.reward_error_frame, constants, longest)
        snippet = bounds.reward_error_snippet(constants, longest, T)
        export("reward-error", figure, table, snippet, "errors")
        table = partial(bounds.ceiling_frame, constants, T)
        export("ceiling", ceiling, table, bounds.ceiling_snippet(constants, T), "limit")


def draw_formula(constants: Constants, T: int) -> None:
    """The bound, term by term in the colours of the curves, then with the numbers for this T."""
    st.header("Where the numbers come from", anchor=False)
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
    symbol_line(("T", "er", "gamma", "alpha", "dY", "Lr", "Lf", "LU"))


def draw_limit(constants: Constants, T: int):
    """The limit of the freeze error against L_f, with the point where γL_f = 1: its figure."""
    with st.container(key="wide-figure"):
        left, right = st.columns([5, 4], gap="large")
    with left:
        st.header("How the limit of the freeze error depends on L_f", anchor=False)
        figure = ceiling_figure(constants, T)
        alt_text = f"The freeze error at T = {T}, and its limit over all T, against L_f."
        chart(figure, "ceiling", alt_text=alt_text, height=340)
    with right:
        what_to_notice(text.describe_limit(constants, float(L_F_VALUES[-1])), key="notice-ceiling")
    return figure


# ------------------------------------------------------------------------------- regret and budget


def draw_regret(left: DeltaGenerator, right: DeltaGenerator) -> None:
    """The regret bounds of FSVI and of Base VI for a budget, and the smallest one."""
    with left:
        state = read_regret()
    with right:
        draw_recommendation(state)
        figure = bounds.main_figure(state)
        chart(
            figure,
            "regret-cost",
            height=510,
            clickable=True,
            draggable=True,
            alt_text=f"Regret bounds against cost. {text.headline(state)}.",
            on_event=lambda event: set_budget(event, state.sizes),
        )
        hidden = off_scale(figure)
        st.caption(
            (f"{text.off_scale(hidden)} " if hidden else "")
            + "Click in the figure or drag the thick line to set the budget. The top axis counts "
            "operations."
        )
        what_to_notice(text.notices(state))
    detail = segments(URL, "detail", "Details", DETAILS, label_visibility="collapsed")
    draw = {"terms": draw_terms, "sensitivity": draw_sensitivity, "trust": draw_trust}
    more = draw[detail](state)
    with tools("bounds", URL, GLOSSARY["regret"]):
        table = partial(bounds.curves_frame, state)
        export("regret-cost", figure, table, bounds.curves_snippet(state), "bounds")
        if more is not None:
            export(*more, detail)


def read_regret() -> RegretState:
    """The state from the widgets: the most important ones first, the others folded."""
    sweeps = st.number_input(
        "Budget in sweeps of Base VI",
        0.0,
        LARGEST_BUDGET,
        DEFAULT_SWEEPS,
        1.0,
        "%.8g",
        key=URL.key("budget"),
        help="The largest cost of a run: all runs with cost ≤ B are compared. One sweep is |S|²|A| "
        "operations. You can also click in the figure to set it.",
    )
    operations = st.empty()
    values, more = read_constants()
    with more:
        sizes = Sizes(**{field: read_size(name, field) for name, field in SIZES.items()})
    with st.expander("Competitors", key="competitors"):
        T = st.multiselect(
            "Plotted T",
            range(2, LONGEST_T + 1),
            START.T,
            key=URL.key("drawn"),
            max_selections=MOST_PLOTTED,
            help=SYMBOLS["T"].meaning,
        )
        every = segments(URL, "over", "Choose the best of", WINNERS) == "every"
        if not T:
            defaults = ", ".join(map(str, START.T))
            st.info(f"No T is selected, so the defaults are shown: {defaults}.")
        which = {"stated": "as stated", "repaired": "repaired"}
        explained = "*Can I trust it?* below explains the difference."
        bound = segments(URL, "bound", "Regret bound of FSVI", which, help=explained)
        frozen = read_frozen(sizes.n_slow)
    operations.caption(f"= {number(sweeps * sizes.sweep)} operations")
    chosen = tuple(sorted(T)) or START.T
    constants = replace(constants_from(values), **frozen)
    return RegretState(constants, sizes, sweeps, chosen, every, bound == "repaired")


def read_size(name: str, field: str) -> int:
    """A number of states or actions."""
    symbol, start, key = SYMBOLS[name], getattr(START.sizes, field), URL.key(name)
    return st.number_input(symbol.label, 1, LARGEST_SIZE, start, 1, key=key, help=symbol.meaning)


def draw_recommendation(state: RegretState) -> None:
    """The smallest bound with its numbers and its reasons."""
    # A line may not break inside "k = 3".
    headline = text.headline(state).replace(" = ", "\u00a0=\u00a0")
    with st.container(border=True, key="recommendation"):
        if state.advice is None:
            st.header(headline, anchor=False)
            st.error(text.reasons(state))
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.header(headline, anchor=False)
            with st.container(horizontal=True, gap="medium", width="content"):
                for label, value in text.recommendation_numbers(state.advice).items():
                    st.metric(label, value, width="content")
        st.markdown(text.reasons(state))
        if text.is_vacuous(state.advice):
            page = PAGES["choose_t"]
            st.page_link(page.script, label="Measure it on a model", icon=page.icon)


def set_budget(event: Event, sizes: Sizes) -> None:
    """Set the budget from a click or a drag; a click on the strip sets the middle of its regime."""
    x = event.customdata[0] if event.trace == "regimes" else event.x
    URL.put("budget", min(bounds.clicked_sweeps(x, sizes), LARGEST_BUDGET))


def draw_terms(state: RegretState) -> tuple | None:
    """The terms of each candidate's bound; returns what the export needs."""
    if state.advice is None:
        st.info("Raise the budget to one sweep or more to see the terms.")
        return None
    st.markdown(
        "For this budget, each bound is the sum of three terms. The **reward** and **transition** "
        "terms are the cost of freezing and do not depend on the budget. A larger budget reduces "
        "the **iteration** term."
    )
    figure = bounds.terms_figure(state)
    alt_text = "The terms of the bound for each T at this budget."
    chart(figure, "terms", height=400, alt_text=alt_text)
    return "terms", figure, partial(bounds.terms_frame, state), bounds.terms_snippet(state)


def draw_sensitivity(state: RegretState) -> tuple:
    """The best T over budgets and values of one constant."""
    st.markdown(
        "The constants are rarely known exactly. This figure varies one of them and keeps the "
        "others fixed: if the colour around the cross is uniform, the choice of T does not depend "
        "on it. Click a cell to use its budget and constant."
    )
    name = segments(URL, "vary", "Vary", VARIED)
    figure, table = bounds.heat_map(state, SHORT_NAMES[name])
    chart(
        figure,
        "best-T",
        height=440,
        clickable=True,
        on_event=lambda event: set_cell(event, name),
        alt_text=f"The best T over budgets and values of {VARIED[name]}.",
    )
    return "best-T", figure, table, bounds.heat_snippet(state, SHORT_NAMES[name])


def set_cell(event: Event, name: str) -> None:
    """Set the budget and the varied constant from a click in the heat map."""
    largest = LARGEST_GAMMA if name == "gamma" else FIELD_RANGES[name].high
    URL.put("budget", min(round_significant(event.x, 3), LARGEST_BUDGET))
    URL.put(name, min(round_significant(event.y, 4), largest))


def draw_trust(state: RegretState) -> tuple:
    """The bound against the true regret on measured domains, and the bound's hidden condition."""
    st.markdown(
        "The bound is a **worst case** over all problems with these constants. On given constants "
        "it orders the values of T; on real models it is vacuous: it allows more than any policy "
        "can lose. On the three domains it is far above the true regret:"
    )
    names = dict.fromkeys([*measured_domains(), *visitors_models(), URL.get("domain")])
    titles = {name: text.example_label(name) for name in names}
    name = segments(URL, "domain", "Domain", titles, label_visibility="collapsed")
    domain = measured_domains()[name]
    with st.container(key="wide-figure"):
        left, right = st.columns([5, 4], gap="large")
    with left:
        figure = truth_figure(domain.constants, domain.regret)
        alt_text = f"Bound and true regret of FSVI on {name}, against T."
        chart(figure, "truth", height=360, alt_text=alt_text)
    with right:
        bound = float(fsvi_bound(domain.constants, bounds.TRUSTED_T, k=0).floor)
        st.markdown(text.truth(name, domain, bound))
        if state.constants.alpha > 1:
            st.markdown(
                f"The paper assumes α ≤ 1. Here α is {number(state.constants.alpha)}, so the slow "
                "state is not slow. The formulas still hold."
            )
    st.markdown(text.CONDITION)
    st.latex(
        r"\frac{\varepsilon_r + \gamma\,\varphi(\tilde L) + \gamma^T L_U\, d}{1-\gamma^T}"
        r"+ \frac{2\, r_{\max}\,\gamma^{(k+1)T}}{(1-\gamma)(1-\gamma^T)}"
    )
    symbol_line(("er", "gamma", "Lfrozen", "T", "LU", "d", "rmax", "k"))
    st.markdown(
        "Here $\\varphi(\\tilde L)$ is the freeze error with $\\tilde L$ instead of $L_f$. If "
        "$\\tilde L \\le L_f$, the repaired bound is also the smaller one: the cost of freezing is "
        "lower by a factor of up to $2/(1-\\gamma^T)$. With two or more slow states $\\tilde L$ is "
        "at least 1. If freezing $x$ does not change how $y$ moves, it is at most "
        "$\\sqrt{1 + L_f^2}$, the value used if none is given. The proof is in docs/proofs.md."
    )
    table = partial(bounds.truth_frame, name)
    return f"truth-{name}", figure, table, bounds.truth_snippet(name)


# ------------------------------------------------------------------------------ linear architecture


def draw_linear(left: DeltaGenerator, right: DeltaGenerator) -> None:
    """The bound on regret when values are fitted by features."""
    largest = LONGEST_BLOCK["linear"]
    with left:
        state = read_linear(largest)
    amplification = text.describe_amplification(state.constants.gamma, state.fit["kappa"])
    try:
        proven = float(state.regret(state.T).total)  # raises where the theorem does not apply
    except InputError:
        right.warning(amplification)
        tools("bounds", URL, GLOSSARY["linear"])
        return
    stated, trivial = float(state.regret(state.T, "stated").total), trivial_bound(state.constants)
    values = state.constants, state.T, state.k, state.fit
    figure = fsavi_figure(values[0], np.arange(1, largest + 1), *values[1:])
    terms = fsavi_terms_figure(*values)
    with right:
        chart(
            figure,
            "bound",
            alt_text=f"The regret bound of FSAVI for T from 1 to {largest}: proven, and as stated "
            "in the arXiv text. The bound of FSVI with exact tables is drawn too.",
            height=400,
            clickable=True,
            draggable=True,
            on_event=lambda event: choose_T(event, largest),
        )
        columns, verdict = st.columns(3), None
        if trivial > 0:
            verdict = "vacuous" if proven >= trivial else "informative"
        columns[0].metric("Proven bound", number(proven), verdict, "off", delta_arrow="off")
        columns[1].metric("Bound as stated (arXiv text)", number(stated))
        columns[2].metric("Trivial bound", number(trivial))
        comparison = text.describe_stated(state.T, stated, proven)
        what_to_notice((text.describe_regret(proven, trivial), comparison))
    with st.container(key="wide-figure"):
        left, right = st.columns([5, 4], gap="large")
    with left:
        st.header("The terms of the bound", anchor=False)
        alt_text = f"The five terms of the bound at T = {state.T}, as stated and proven."
        chart(terms, "terms", alt_text=alt_text, height=300)
    with right:
        what_to_notice(
            (
                amplification,
                "*Reward error* and *transitions* are the cost of freezing, as with exact tables. "
                "The two *misfits* are the cost of the features. More iterations reduce only the "
                "*iteration* term.",
                "**What the proof in the arXiv text leaves out:** the lower level is optimal under "
                "the frozen dynamics, not under the true ones, and it is greedy for fitted values, "
                "not for exact ones. The proven bound counts both: the first in *reward error*, "
                "with the sensitivity $\\tilde L$ of the frozen dynamics, and the second in "
                "*misfit of the lower level*.",
            ),
            key="notice-terms",
        )
    with tools("bounds", URL, GLOSSARY["linear"]):
        export("linear-architecture", figure, state.frame, state.snippet(), "bounds")
        export("linear-terms", terms, state.terms_frame, state.snippet(terms=True), "terms")


def read_linear(largest: int) -> LinearState:
    """The features, T, and the constants."""
    with st.container(horizontal=True, gap="small", key="features", vertical_alignment="center"):
        st.caption("Features", width="content")
        for name in FEATURES:
            st.button(name.capitalize(), key=f"load-{name}", on_click=load_features, args=(name,))
    fit = {
        "kappa": controls.slider(URL, "kappa"),
        "eps_low": controls.value_slider(URL, "elow", MISFITS),
        "eps_up": controls.value_slider(URL, "eup", MISFITS),
    }
    if URL.get("T") > largest:  # chosen in another tab
        URL.put("T", largest)
    T = controls.whole_slider(URL, "T", 1, largest)
    values, more = read_constants()
    with more:
        k = controls.value_slider(URL, "k", controls.ITERATIONS)
        frozen = read_frozen(n_slow=2)
    return LinearState(replace(constants_from(values), **frozen), T, k, fit)


def load_features(name: str) -> None:
    """Set the widgets to example features."""
    for parameter, field in FIT.items():
        URL.put(parameter, FEATURES[name][field])
