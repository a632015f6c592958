"""The measured half of Choose T: run every method on a model and compare what it really loses."""

from functools import partial

import streamlit as st

from fsdash.dashboard.choose_t import measured
from fsdash.dashboard.choose_t import measured_text as text
from fsdash.dashboard.choose_t.measured import MeasuredModel, MeasuredState
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.service import domain_labels, store_if_available
from fsdash.dashboard.shell import segments, two_columns, what_to_notice
from fsdash.dashboard.widgets.chart import Event, chart, export
from fsdash.dashboard.widgets.url_state import UrlState
from fsdash.dashboard.widgets.waiting import wait_for
from fsdash.domains import Domain

WANTED = "choose-t-wanted"
"""Models that the visitor started (True) or stopped (False)."""
OPENED = "choose-t-inspect"


def draw(url: UrlState, largest_budget: float) -> None:
    """Everything that depends on the controls."""
    st.markdown(text.INTRODUCTION)
    open_inspector()
    left, right = two_columns(3, 9)
    with left:
        model = choose_model(url)
        sweeps = st.number_input(
            text.BUDGET,
            0.0,
            largest_budget,
            url.parameters["budget"].default,
            1.0,
            key=url.key("budget"),
            format="%.8g",
            help=text.BUDGET_HELP,
        )
        measure = segments(
            url, "measure", text.MEASURE, text.MEASURE_LABELS, help=text.MEASURE_HELP
        )
        T = choose_T(url)
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
            draw_recommendation(state)
            draw_figure(url, state)
    if found is not None:
        with below.container():
            draw_choices_of_T(state)
    draw_samples(model)


def choose_model(url: UrlState) -> str:
    """The model from the list, as the URL names it."""
    chosen = url.get("model").partition(".")[0]
    labels = domain_labels(store_if_available(), chosen)
    return st.selectbox(
        text.MODEL,
        measured.model_keys(tuple(labels)),
        key=url.key("model"),
        format_func=partial(text.model_label, labels=labels),
    )


def choose_T(url: UrlState) -> tuple[int, ...]:
    """The T of FSVI whose curves are drawn."""
    first, last = measured.COMPARED_T[0], measured.COMPARED_T[-1]
    chosen = st.multiselect(
        text.DRAWN_T,
        measured.COMPARED_T,
        measured.DRAWN_T,
        key=url.key("drawn"),
        help=text.DRAWN_T_HELP.format(first=first, last=last),
    )
    if not chosen:
        st.info(text.NO_T.format(T=", ".join(map(str, measured.DRAWN_T))))
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
            text.MEASURING.format(title=domain.title),
            on_stop=partial(want, domain, False),
        )
        if found is None:
            return None
        for oldest in list(known)[: max(0, len(known) + 1 - MOST_MODELS)]:
            known.pop(oldest, None)
        known[domain] = found
    return found


MOST_MODELS = 32


@st.cache_resource(show_spinner=False)
def _measured_models() -> dict[Domain, MeasuredModel]:
    return {}


def may_start(domain: Domain) -> bool:
    """Whether to measure: a small model unless the visitor stopped it, a large one on request."""
    wanted, pairs = st.session_state.get(WANTED, {}), measured.pairs(domain)
    if wanted.get(domain, pairs <= measured.SLOW_PAIRS):
        return True
    st.info(text.STOPPED if domain in wanted else text.LARGE.format(pairs=pairs))
    st.button(text.START, type="primary", on_click=want, args=(domain, True))
    return False


def want(domain: Domain, wanted: bool) -> None:
    """Remember whether the visitor wants the measurement of this model."""
    st.session_state[WANTED] = st.session_state.get(WANTED, {}) | {domain: wanted}


# ----------------------------------------------------------------------------------------- results


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
                    label=text.INSPECT,
                    icon=PAGES["inspector"].icon,
                    query_params=measured.inspector_query(state, state.best),
                    width="content",
                )
        if state.best is not None:
            with st.container(horizontal=True, gap="medium"):
                for label, value in text.numbers(state).items():
                    help = text.CERTIFICATE_HELP if label == text.CERTIFICATE else None
                    st.metric(label, value, help=help, width="content")
        st.markdown(text.reasons(state))


def draw_figure(url: UrlState, state: MeasuredState) -> None:
    """The frontier, a note on the bound, and export."""
    figure = measured.figure(state)
    chart(
        figure,
        "frontier",
        height=450,
        clickable=True,
        draggable=True,
        alt_text=text.ALT_TEXT.format(
            title=measured.model_of(state.model).title, headline=text.headline(state)
        ),
        on_event=lambda event: take_event(url, state, event),
    )
    st.caption(text.CLICK)
    note = text.bound_note(state.measured.bound_factor, measured.bound_is_drawn(figure))
    what_to_notice([note], key="measured-notice")
    export("frontier", figure, state.measured.frontier, measured.snippet(state))


def take_event(url: UrlState, state: MeasuredState, event: Event) -> None:
    """A click on a point opens its policy; any other click or drag sets the budget."""
    if event.trace == "regimes":
        url.put("budget", measured.clicked_sweeps(event.customdata[0]))
    elif event.customdata:
        row = state.measured.frontier.loc[int(event.customdata[0])]
        st.session_state[OPENED] = measured.inspector_query(state, row)
    elif event.x is not None:
        url.put("budget", measured.clicked_sweeps(event.x))


def open_inspector() -> None:
    """Go to the policy of a point that was clicked."""
    query = st.session_state.pop(OPENED, None)
    if query is not None:
        st.switch_page(PAGES["inspector"].script, query_params=query)


def draw_choices_of_T(state: MeasuredState) -> None:
    """T by the bound, by the certificate and in hindsight, with their regrets."""
    st.markdown(text.CHOICES_OF_T)
    table = measured.choices_of_T(state)
    if table.empty:
        st.info(text.NO_FSVI)
        return
    st.dataframe(text.choices_table(table), hide_index=True, width="content")


# ---------------------------------------------------------------------------------------- samples


@st.fragment
def draw_samples(model: str) -> None:
    """A plan from samples alone, computed on request."""
    with st.expander(text.SAMPLES, icon=":material/casino:"):
        st.markdown(text.SAMPLES_INTRODUCTION)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            sweeps = st.number_input(text.SAMPLED_BUDGET, 0.05, MOST_SAMPLED, 1.0, 0.25, width=260)
            seed = st.number_input(text.SEED, 0, 10**9, 0, width=140)
            started = st.button(text.CHOOSE_FROM_SAMPLES, type="primary")
        key = (model, sweeps, seed)
        if started:
            st.session_state[CHOSEN] = key, None
        asked, result = st.session_state.get(CHOSEN, (None, None))
        if asked == key and result is None:
            result = wait_for(
                ("samples", *key),
                partial(measured.plan_from_samples, measured.model_of(model), sweeps, seed),
                text.CHOOSING,
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


CHOSEN = "choose-t-sampled"
MOST_SAMPLED = 100.0
