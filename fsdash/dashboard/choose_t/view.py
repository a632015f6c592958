"""The Choose T page: which method and T for a budget, measured on a model or by the theory.

This file has the theory; `measured_view` has the other half.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from fsdash.dashboard.choose_t import measured, measured_text, measured_view, text
from fsdash.dashboard.choose_t import state as choose
from fsdash.dashboard.choose_t.state import DEFAULT_SWEEPS, LONGEST_T, START, ChooseTState
from fsdash.dashboard.service import saved_models, store_if_available
from fsdash.dashboard.shell import (
    FROZEN_DYNAMICS_CONDITION,
    exercises,
    glossary,
    open_page,
    segments,
    two_columns,
    what_to_notice,
)
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.controls import FIELD_RANGES, number_field
from fsdash.dashboard.widgets.glossary import SYMBOLS
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
from fsdash.domains import DOMAINS, is_saved_name
from fsdash.errors import InputError
from fsdash.figures.budget import off_scale
from fsdash.figures.budget_detail import truth_figure
from fsdash.formatting import factor, number, round_significant
from fsdash.runs.errors import StoreError
from fsdash.theory import Sizes, fsvi_bound
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory.parameters import SHORT_NAMES, constants_from

LARGEST_BUDGET = 1e9
LARGEST_SIZE = 10**9
LARGEST_GAMMA = 0.9999
"""The largest discount that a click in the heat map sets."""
MOST_PLOTTED = 8
MOST_MODELS = 6
"""Saved models among the examples."""
SIZES = {"nx": "n_slow", "ny": "n_fast", "na": "n_actions"}
"""The field of `Sizes` for each name in the URL."""
GLOSSARY = (
    *("T", "k", "gamma", "alpha", "dY", "Lr", "Lf", "Lfrozen", "eta", "dYfrozen", "LU", "rmax"),
    *SIZES,
)
FROZEN = {"Lfrozen": "l_frozen", "eta": "eta", "dYfrozen": "d_y_frozen"}
"""The field of `Constants` for each constant of the frozen dynamics in the URL."""


def model_name(value: str) -> str:
    """Reads a domain or a saved model, maybe with a preset: inventory.wide-demand."""
    name, preset = measured.domain_and_preset(value)
    presets = DOMAINS[domain_name(name)].presets
    if preset not in presets:
        raise InputError(f"{name} has the presets {', '.join(presets)}")
    return value


URL = UrlState(
    "choose-t",
    {
        "by": UrlParameter("model", one_of(text.SOURCES)),
        "model": UrlParameter("inventory", model_name),
        "measure": UrlParameter("mean_regret", one_of(measured_text.MEASURE_LABELS)),
        "drawn": UrlParameter(
            list(measured.DRAWN_T),
            list_of(whole_number(measured.COMPARED_T[0], measured.COMPARED_T[-1])),
            comma_separated,
        ),
        "budget": UrlParameter(DEFAULT_SWEEPS, number_in(0, LARGEST_BUDGET)),
        "gamma": UrlParameter(START.constants.gamma, number_in(0, 1, hint=" (below 1)")),
        **controls.field_parameters(FIELD_RANGES, START.constants),
        **{
            name: UrlParameter(getattr(START.sizes, field), whole_number(1, LARGEST_SIZE))
            for name, field in SIZES.items()
        },
        "T": UrlParameter(
            list(START.T), list_of(whole_number(2, LONGEST_T), MOST_PLOTTED), comma_separated
        ),
        "LUby": UrlParameter("custom", one_of(text.L_U_SOURCES)),
        "over": UrlParameter("plotted", one_of(text.WINNERS)),
        "bound": UrlParameter("stated", one_of(text.BOUNDS)),
        **{name: controls.frozen_parameter() for name in FROZEN},
        "vary": UrlParameter("Lf", one_of(text.SYMBOLS)),
        "tab": labelled("terms", text.TABS),
        "domain": UrlParameter("inventory", domain_name),
    },
)


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, URL)
    st.title(text.TITLE, anchor=False)
    draw_interactive_part()
    exercises("choose_t", URL)
    glossary(GLOSSARY)


@st.fragment
def draw_interactive_part() -> None:
    """Everything that depends on the controls."""
    if segments(URL, "by", text.SOURCE, text.SOURCES, label_visibility="collapsed") == "model":
        measured_view.draw(URL, LARGEST_BUDGET)
    else:
        draw_theory()
    URL.write()


def draw_theory() -> None:
    """The bounds from given constants."""
    st.markdown(text.INTRODUCTION)
    draw_examples()
    left, right = two_columns(3, 9)
    try:
        with left:
            state = read_controls()
    except InputError as problem:
        # The library calls the discount by its name in Python.
        right.error(str(problem).replace("gamma", "γ"))
    else:
        with right:
            draw_recommendation(state)
            draw_curves(state)
        draw_tabs(state)


# --------------------------------------------------------------------------------------- controls


def draw_examples() -> None:
    """Buttons that load ready-made states."""
    with st.container(horizontal=True, key="examples", vertical_alignment="center"):
        st.caption(text.EXAMPLES_LABEL, width="content")
        for name in (*choose.example_names(), *own_models()):
            label = text.example_label(name)
            st.button(label, key=f"load-{name}", on_click=load_example, args=(name,))


def own_models() -> list[str]:
    """The visitor's saved models, the newest ones; none if the store cannot be read now."""
    store = store_if_available()
    try:
        return [] if store is None else [s.domain for s in saved_models(store)[:MOST_MODELS]]
    except StoreError:
        return []


def load_example(name: str) -> None:
    """Set the widgets to a ready-made state."""
    try:
        state = choose.example(name)
    except InputError as problem:  # the constants of a user's domain can be infinite
        st.toast(f"{text.example_label(name)}: {problem}", icon=":material/error:")
        return
    controls.put_constants(URL, state.constants)
    for name, field in FROZEN.items():
        URL.put(name, getattr(state.constants, field))
    for size, field in SIZES.items():
        URL.put(size, getattr(state.sizes, field))
    URL.put("T", list(state.T))
    URL.put("budget", state.sweeps)
    URL.put("LUby", "custom")
    if is_saved_name(name):
        URL.put("domain", name)


def read_controls() -> ChooseTState:
    """The state from the widgets: the most important ones first, the others folded."""
    sweeps = st.number_input(
        text.BUDGET,
        0.0,
        LARGEST_BUDGET,
        DEFAULT_SWEEPS,
        1.0,
        "%.8g",
        key=URL.key("budget"),
        help=text.BUDGET_HELP,
    )
    operations = st.empty()
    values = {"gamma": read_gamma()}
    values |= {name: number_field(URL, name) for name in ("alpha", "Lf")}
    with st.expander(text.MORE_CONSTANTS, key="more"):
        values |= {name: number_field(URL, name) for name in ("Lr", "dY", "rmax")}
        values["LU"] = read_l_u(values)
    with st.expander(text.SIZES, key="sizes"):
        sizes = Sizes(**{field: read_size(name, field) for name, field in SIZES.items()})
    T, every = read_competitors()
    repaired, frozen = read_bound(sizes.n_slow)
    operations.caption(text.OPERATIONS.format(operations=number(sweeps * sizes.sweep)))
    constants = replace(constants_from(values), **frozen)
    return ChooseTState(constants, sizes, sweeps, T, every, repaired)


def read_gamma() -> float:
    """The discount. The field accepts 1, which then gets an explanation instead of a red field."""
    symbol, start = SYMBOLS["gamma"], START.constants.gamma
    format, key = "%.10g", URL.key("gamma")
    return st.number_input(
        symbol.label, 0.0, 1.0, start, 0.001, format, key=key, help=symbol.meaning
    )


def read_l_u(values: dict[str, float]) -> float:
    """L_U: the custom value, or the appendix's formula where it exists."""
    source = segments(URL, "LUby", text.L_U_SOURCE, text.L_U_SOURCES)
    custom = number_field(URL, "LU", disabled=source == "derived")
    if source == "custom" or values["gamma"] == 1:  # the page reports γ = 1 elsewhere
        return custom
    derived = choose.derived_l_u(values["gamma"], values["Lr"], values["Lf"])
    if derived is None:
        product = factor(values["gamma"] * values["Lf"])
        st.warning(text.NO_L_U.format(product=product, value=number(custom)))
        return custom
    st.caption(text.L_U_VALUE.format(value=number(derived)))
    return derived


def read_size(name: str, field: str) -> int:
    """A number of states or actions."""
    symbol, start, key = SYMBOLS[name], getattr(START.sizes, field), URL.key(name)
    return st.number_input(symbol.label, 1, LARGEST_SIZE, start, 1, key=key, help=symbol.meaning)


def read_competitors() -> tuple[tuple[int, ...], bool]:
    """The plotted T, and whether every T competes."""
    with st.expander(text.COMPETITORS, key="competitors"):
        T = st.multiselect(
            text.PLOTTED_T,
            range(2, LONGEST_T + 1),
            START.T,
            key=URL.key("T"),
            max_selections=MOST_PLOTTED,
            help=SYMBOLS["T"].meaning,
        )
        among = segments(URL, "over", text.WINNER_AMONG, text.WINNERS)
        if not T:
            st.info(text.NO_T.format(T=", ".join(map(str, START.T))))
    return tuple(sorted(T)) or START.T, among == "every"


def read_bound(n_slow: int) -> tuple[bool, dict[str, float | None]]:
    """Whether the repaired bound is chosen, and the constants of the frozen dynamics."""
    with st.expander(text.WHICH_BOUND, key="which"):
        bound = segments(URL, "bound", text.BOUND, text.BOUNDS, help=text.BOUND_HELP)
        default = controls.DEFAULT_L_FROZEN if n_slow > 1 else text.ONE_SLOW_STATE
        empty = {"Lfrozen": default, "eta": "α·d_Y", "dYfrozen": "d_Y"}
        frozen = {f: controls.frozen_field(URL, empty[n], name=n) for n, f in FROZEN.items()}
    l_frozen = frozen["l_frozen"]
    if l_frozen is not None and l_frozen < 1 and n_slow > 1:
        raise InputError(text.L_FROZEN_TOO_SMALL.format(value=number(l_frozen)))
    if l_frozen is None and any(value is not None for value in frozen.values()):
        raise InputError(text.L_FROZEN_MISSING)
    return bound == "repaired", frozen


# ------------------------------------------------------------------------ recommendation and curves


def draw_recommendation(state: ChooseTState) -> None:
    """The recommendation with its numbers and its reasons."""
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
            st.button(text.GO_TO_MEASURED, icon=":material/target:", on_click=go_to_measured)


def go_to_measured() -> None:
    """Switch to the other half of the page."""
    URL.put("by", "model")


def draw_curves(state: ChooseTState) -> None:
    """The bounds against cost, notices and export."""
    figure = choose.main_figure(state)
    chart(
        figure,
        "regret-cost",
        height=510,
        clickable=True,
        draggable=True,
        alt_text=text.ALT_TEXT.format(headline=text.headline(state)),
        on_event=lambda event: set_budget(event, state.sizes),
    )
    hidden = off_scale(figure)
    st.caption(f"{text.off_scale(hidden)} {text.SET_BUDGET}" if hidden else text.SET_BUDGET)
    what_to_notice(text.notices(state))
    table = partial(choose.curves_frame, state)
    export("regret-cost", figure, table, choose.curves_snippet(state))


def set_budget(event: Event, sizes: Sizes) -> None:
    """Set the budget from a click or a drag; a click on the strip sets the middle of its regime."""
    x = event.customdata[0] if event.trace == "regimes" else event.x
    URL.put("budget", min(choose.clicked_sweeps(x, sizes), LARGEST_BUDGET))


# ------------------------------------------------------------------------------------------- tabs


def draw_tabs(state: ChooseTState) -> None:
    """The three tabs; only the open one is computed."""
    tabs = st.tabs(list(text.TABS.values()), key=URL.key("tab"), on_change="rerun")
    for tab, draw in zip(tabs, (draw_terms, draw_sensitivity, draw_trust), strict=True):
        if tab.open:
            with tab:
                draw(state)


def draw_terms(state: ChooseTState) -> None:
    """The terms of each candidate's bound."""
    if state.advice is None:
        st.info(text.TERMS_NEED_BUDGET)
        return
    st.markdown(text.TERMS)
    figure = choose.terms_figure(state)
    chart(figure, "terms", height=400, alt_text=text.TERMS_ALT_TEXT)
    export("terms", figure, partial(choose.terms_frame, state), choose.terms_snippet(state))


def draw_sensitivity(state: ChooseTState) -> None:
    """The best T over budgets and values of one constant."""
    st.markdown(text.SENSITIVITY)
    name = segments(URL, "vary", text.VARY, text.SYMBOLS)
    figure, table = choose.heat_map(state, SHORT_NAMES[name])
    chart(
        figure,
        "best-T",
        height=440,
        clickable=True,
        on_event=lambda event: set_cell(event, name),
        alt_text=text.SENSITIVITY_ALT_TEXT.format(symbol=text.SYMBOLS[name]),
    )
    export("best-T", figure, table, choose.heat_snippet(state, SHORT_NAMES[name]))


def set_cell(event: Event, name: str) -> None:
    """Set the budget and the varied constant from a click in the heat map."""
    largest = LARGEST_GAMMA if name == "gamma" else FIELD_RANGES[name].high
    URL.put("budget", min(round_significant(event.x, 3), LARGEST_BUDGET))
    URL.put(name, min(round_significant(event.y, 4), largest))


def draw_trust(state: ChooseTState) -> None:
    """The bound against the true regret on measured domains, and the bound's hidden condition."""
    st.markdown(text.TRUST)
    names = dict.fromkeys([*measured_domains(), *own_models(), URL.get("domain")])
    titles = {name: text.example_label(name) for name in names}
    name = segments(URL, "domain", text.MEASURED_ON, titles, label_visibility="collapsed")
    domain = measured_domains()[name]
    figure = truth_figure(domain.constants, domain.regret)
    chart(figure, "truth", height=360, alt_text=text.TRUTH_ALT_TEXT.format(name=name))
    table = partial(choose.truth_frame, name)
    export(f"truth-{name}", figure, table, choose.truth_snippet(name))
    bound = float(fsvi_bound(domain.constants, choose.TRUSTED_T, k=0).floor)
    st.markdown(text.truth(name, domain, bound))
    if state.constants.alpha > 1:
        st.markdown(text.NOT_SLOW.format(alpha=number(state.constants.alpha)))
    st.markdown(f"{FROZEN_DYNAMICS_CONDITION} {text.WITHOUT_CONDITION}")
    st.latex(text.REPAIRED_FORMULA)
    symbol_line(("er", "gamma", "Lfrozen", "T", "LU", "d", "rmax", "k"))
    st.markdown(text.REPAIRED_NOTE)
