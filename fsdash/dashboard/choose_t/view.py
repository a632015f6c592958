"""The Choose T page: run every method on a model and compare what it really loses."""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.choose_t import state as measured
from fsdash.dashboard.choose_t import text
from fsdash.dashboard.choose_t.state import MeasuredModel, MeasuredState
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.service import domain_labels, store_if_available
from fsdash.dashboard.shell import open_page, segments, tools, two_columns
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.planning import draw_planning
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    domain_name,
    list_of,
    number_in,
    one_of,
    whole_number,
)
from fsdash.dashboard.widgets.waiting import wait_for
from fsdash.domains import DOMAINS, Domain
from fsdash.errors import InputError

WANTED = "choose-t-wanted"
"""Models that the visitor started (True) or stopped (False)."""
OPENED, CHOSEN = "choose-t-inspect", "choose-t-sampled"
"""Session keys: the policy of a clicked point; the choice from samples with its settings."""
MOST_MODELS = 32
"""Measured models that are kept."""
LARGEST_BUDGET = 1e9
MEASURES = {"mean_regret": "Mean", "max_regret": "Largest"}


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
        "model": UrlParameter("inventory", model_name),
        "budget": UrlParameter(4.0, number_in(0, LARGEST_BUDGET)),
        "measure": UrlParameter("mean_regret", one_of(MEASURES)),
        "drawn": UrlParameter(
            list(measured.DRAWN_T),
            list_of(whole_number(measured.COMPARED_T[0], measured.COMPARED_T[-1])),
            comma_separated,
        ),
    },
)


def show() -> None:
    """Draw the page."""
    open_page(
        "Choose T",
        URL,
        "Which T for your budget?",
        "In hindsight: every method was run on the model and its policies were evaluated exactly, "
        "so the regrets below are **true values**, not bounds.",
    )
    draw()


@st.fragment
def draw() -> None:
    """Everything that depends on the controls."""
    open_inspector()
    left, right = two_columns(3, 9)
    with left:
        model = choose_model()
        sweeps = st.number_input(
            "Budget in sweeps of Base VI",
            0.0,
            LARGEST_BUDGET,
            URL.parameters["budget"].default,
            1.0,
            key=URL.key("budget"),
            format="%.8g",
            help="The work that a method may spend. One sweep is one evaluation for each state, "
            "action and noise outcome. You can also click in the figure to set it.",
        )
        measure = segments(
            URL,
            "measure",
            "Regret",
            MEASURES,
            help="Mean: over the initial distribution. Largest: over all states, as the paper "
            "defines regret.",
        )
        T = choose_T()
    results, below = right.empty(), st.empty()
    domain = measured.model_of(model)
    if domain not in _measured_models():
        # The results of another model must not stand there while this one is measured.
        results.empty()
        below.empty()
    with results.container():
        found = measured_model(domain)
        if found is not None:
            state = MeasuredState(model, found, sweeps, T, measure)
            if not found.suits.suits:
                st.warning(found.suits.text, icon=":material/ac_unit:")
            elif found.suits.notice:
                st.warning(found.suits.notice)
            st.caption(text.exact_solution(found.frontier))
            draw_recommendation(state)
            figure = draw_figure(state)
    if found is not None:
        with below.container():
            draw_choices_of_T(state)
    draw_samples(model)
    with st.expander("Plan: the best policy in a given time", icon=":material/timer:"):
        draw_planning(model, domain.build, model.replace(".", "-"))
    exports = tools("choose_t", URL, ("T", "k", "gamma"))
    if found is not None:
        with exports:
            export("frontier", figure, found.frontier.points, measured.snippet(state))
    URL.write()


def choose_model() -> str:
    """The model from the list, as the URL names it."""
    chosen = measured.domain_and_preset(URL.get("model"))[0]
    labels = domain_labels(store_if_available(), chosen)
    return st.selectbox(
        "Model",
        measured.model_keys(tuple(labels)),
        key=URL.key("model"),
        format_func=partial(text.model_label, labels=labels),
    )


def choose_T() -> tuple[int, ...]:
    """The T of FSVI whose curves are drawn."""
    first, last = measured.COMPARED_T[0], measured.COMPARED_T[-1]
    chosen = st.multiselect(
        "Curves of FSVI for T",
        measured.COMPARED_T,
        measured.DRAWN_T,
        key=URL.key("drawn"),
        help=f"All T from {first} to {last} are compared; curves are drawn for these.",
    )
    if not chosen:
        defaults = ", ".join(map(str, measured.DRAWN_T))
        st.info(f"No T is selected, so the defaults are drawn: {defaults}.")
    return tuple(sorted(chosen)) or measured.DRAWN_T


# ------------------------------------------------------------------------------------ measurement


def measured_model(domain: Domain) -> MeasuredModel | None:
    """A model with its frontier, measured once for all visitors; None until it is started."""
    known = _measured_models()
    found = known.get(domain)  # another visitor's measurement may drop it at any moment
    if found is None:
        if not may_start(domain):
            return None
        found = wait_for(
            ("frontier", domain),
            partial(measured.measure_model, domain),
            f"Measuring {domain.title} …",
            on_stop=partial(want, domain, False),
        )
        if found is None:
            return None
        for oldest in list(known)[: max(0, len(known) + 1 - MOST_MODELS)]:
            known.pop(oldest, None)
        known[domain] = found
    return found


@st.cache_resource(show_spinner=False)
def _measured_models() -> dict[Domain, MeasuredModel]:
    return {}


def may_start(domain: Domain) -> bool:
    """Whether to measure: a small model unless the visitor stopped it, a large one on request."""
    wanted, pairs = st.session_state.get(WANTED, {}), measured.pairs(domain)
    if wanted.get(domain, pairs <= measured.SLOW_PAIRS):
        return True
    st.info(
        "The measurement was stopped. Start it again with the button."
        if domain in wanted
        else f"This model has {pairs:,} state-action pairs. Measuring it takes a while; you can "
        "stop it at any time."
    )
    st.button("Measure this model", type="primary", on_click=want, args=(domain, True))
    return False


def want(domain: Domain, wanted: bool) -> None:
    """Remember whether the visitor wants the measurement of this model."""
    st.session_state[WANTED] = st.session_state.get(WANTED, {}) | {domain: wanted}


# ----------------------------------------------------------------------------------------- results


HELP = {"Certificate": "An upper bound on the largest regret, computed without solving the model."}


def draw_recommendation(state: MeasuredState) -> None:
    """The best point within the budget with its numbers and its reasons."""
    with st.container(border=True, key="recommendation"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
        ):
            # A line may not break inside "T = 6".
            title = text.headline(state).replace(" = ", "\u00a0=\u00a0")
            st.header(title, anchor=False, width="content")
            if state.best is not None:
                st.page_link(
                    PAGES["inspector"].script,
                    label="Inspect this policy",
                    icon=PAGES["inspector"].icon,
                    query_params=measured.inspector_query(state, state.best),
                    width="content",
                )
        if state.best is not None:
            with st.container(horizontal=True, gap="medium"):
                for label, value in text.numbers(state).items():
                    st.metric(label, value, help=HELP.get(label), width="content")
        st.markdown(text.reasons(state))


def draw_figure(state: MeasuredState) -> go.Figure:
    """The frontier, with a note on the bound."""
    figure = measured.figure(state)
    chart(
        figure,
        "frontier",
        height=450,
        clickable=True,
        draggable=True,
        alt_text=f"True regret against work on {measured.model_of(state.model).title}. "
        f"{text.headline(state)}.",
        on_event=lambda event: take_event(state, event),
    )
    note = text.bound_note(state.measured.bound_factor, measured.bound_is_drawn(figure))
    st.caption(
        "All points to the left of the thick line are within the budget. Click a point to open its "
        f"policy in the inspector. Click elsewhere or drag the line to set the budget. {note}"
    )
    return figure


def take_event(state: MeasuredState, event: Event) -> None:
    """A click on a point opens its policy; any other click or drag sets the budget."""
    if event.trace == "regimes":
        URL.put("budget", measured.clicked_sweeps(event.customdata[0]))
    elif event.customdata:
        row = state.measured.frontier.points.loc[int(event.customdata[0])]
        st.session_state[OPENED] = measured.inspector_query(state, row)
    elif event.x is not None:
        URL.put("budget", measured.clicked_sweeps(event.x))


def open_inspector() -> None:
    """Go to the policy of a point that was clicked."""
    query = st.session_state.pop(OPENED, None)
    if query is not None:
        st.switch_page(PAGES["inspector"].script, query_params=query)


def draw_choices_of_T(state: MeasuredState) -> None:
    """T by the bound, by the certificate and in hindsight, with their regrets."""
    st.markdown(
        "**T of FSVI for this budget, chosen by three rules.** Only *hindsight* uses the true "
        "regret."
    )
    table = measured.choices_of_T(state)
    if table.empty:
        st.info("This budget is too small for FSVI.")
        return
    st.dataframe(text.choices_table(table), hide_index=True, width="content")


# ---------------------------------------------------------------------------------------- samples


@st.fragment
def draw_samples(model: str) -> None:
    """A plan from samples alone, computed on request."""
    with st.expander("If you can only sample", icon=":material/casino:"):
        st.markdown(
            "The figure needs the model's probabilities. If you only have a simulator, samples "
            "must do. Draws test whether the model has the structure that thawed defect correction "
            "needs; policies of the methods that suit it are then compared by roll-outs, as far as "
            "the budget allows. Every sample counts against the budget. Here one sweep is a sweep "
            "of Base E-VI with 50 samples for each state and action."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            budget = "Budget in sweeps of Base E-VI"
            sweeps = st.number_input(budget, 0.05, 100.0, 1.0, 0.25, width=260)
            seed = st.number_input("Seed", 0, 10**9, 0, width=140)
            started = st.button("Plan from samples", type="primary")
        key = (model, sweeps, seed)
        if started:
            st.session_state[CHOSEN] = key, None
        asked, result = st.session_state.get(CHOSEN, (None, None))
        if asked == key and result is None:
            result = wait_for(
                ("samples", *key),
                partial(measured.plan_from_samples, measured.model_of(model), sweeps, seed),
                "Working with samples …",
                on_stop=partial(st.session_state.pop, CHOSEN),
            )
            st.session_state[CHOSEN] = key, result
        if asked == key and result is not None:
            chosen, loss = result
            st.subheader(text.sampled_headline(chosen), anchor=False)
            with st.container(horizontal=True, gap="medium"):
                for label, value in text.sampled_numbers(chosen, loss).items():
                    st.metric(label, value, width="content")
            st.markdown(chosen.why)
