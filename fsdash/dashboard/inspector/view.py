"""The Policy inspector: what a policy does, state by state, and how it differs from another one."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.inspector import details, numbers, selectors, text
from fsdash.dashboard.inspector.comparison import ComparedPolicy, choose_comparison
from fsdash.dashboard.inspector.drawing import draw_figure, draw_side_by_side, shown_state
from fsdash.dashboard.inspector.export import draw_export
from fsdash.dashboard.inspector.figures import selected_phase
from fsdash.dashboard.inspector.source import (
    PolicyChoice,
    choose_policy,
    history_of,
    is_running,
    policy_at,
)
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.inspector.style import STYLE, badge
from fsdash.dashboard.inspector.timeline import choose_step, is_playing, stop_at_end
from fsdash.dashboard.inspector.url import URL, start_from_url
from fsdash.dashboard.service import open_store, show_store_error
from fsdash.dashboard.shell import add_style, exercises, is_dark, open_page, what_to_notice
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.figures.domains import figure_function
from fsdash.figures.palette import FIRST_POLICY, SECOND_POLICY
from fsdash.figures.policies import (
    InspectedPolicy,
    PolicyFigure,
    Versus,
    comparison_figures,
    policy_figures,
)
from fsdash.figures.policies.slices import Slices
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store

PLAY_SECONDS = 1.0
"""Between two steps while playing."""
REFRESH_SECONDS = 2.0
"""Between two updates while the run is computed."""


def show() -> None:
    """Draw the page."""
    if open_page(text.PAGE, URL):
        start_from_url()
    add_style(STYLE)
    store = open_store()
    try:
        choice = _draw_head(store)
        running = is_running(store, choice)
        seconds = PLAY_SECONDS if is_playing() else REFRESH_SECONDS if running else None
        st.fragment(_draw_fragment, run_every=seconds)(store, choice, running)
    except InputError as problem:
        st.info(str(problem), icon=":material/info:")
    except StoreError as trouble:
        show_store_error(trouble)
    left, right = st.columns([5, 4], gap="large")
    with left:
        exercises(text.EXERCISES)
    with right:
        what_to_notice(text.NOTICE)
        with st.expander(text.READING_TITLE, icon=":material/menu_book:", key="reading"):
            st.markdown(text.READING)


def _draw_head(store: Store) -> PolicyChoice:
    """The title, and the policy A with a button that opens the widgets to change it."""
    with st.container(key="head"):
        title, policy = st.columns([4, 6], vertical_alignment="center", gap="small")
    with title:
        st.title(text.TITLE, anchor=False)
    notices = st.container()
    with policy, st.container(horizontal=True, vertical_alignment="center", key="policy-a"):
        name = st.container(width="content")
        with st.popover(text.CHANGE, help=text.CHANGE_HELP, icon=":material/tune:"):
            choice = choose_policy(store, notices)
    with name:
        label = f"**{choice.spec.label}** · {domain_label(choice.spec.domain)}"
        st.markdown(f"{badge('A', FIRST_POLICY, is_dark())} {label}", unsafe_allow_html=True)
    return choice


def _draw_fragment(store: Store, choice: PolicyChoice, running: bool) -> None:
    """Draw the policy; a policy that is not stored yet is tried again at the next refresh."""
    try:
        _draw_policy(store, choice)
        finished = running and not is_running(store, choice)
    except InputError as problem:
        st.info(str(problem), icon=":material/info:")
        return
    except StoreError as trouble:
        show_store_error(trouble)
        return
    if finished:  # only a full rerun stops the fragment's timer
        st.rerun()


def _draw_policy(store: Store, choice: PolicyChoice) -> None:
    """Everything below the head: the widgets first, because they choose what is drawn."""
    history = history_of(store, choice)
    views = st.container(key="views")
    place, below_figure, rail, aside = _bench()
    with below_figure:
        step = choose_step(history)
    inspected, estimate_XY = policy_at(history, step)
    with rail:
        compared = choose_comparison(store, choice, history, step, inspected)
    versus = None if compared is None else Versus(inspected, compared.inspected, compared.phase)
    comparisons = () if versus is None else comparison_figures(versus)
    with views:
        policy_figure = selectors.choose_figure((*comparisons, *policy_figures(inspected)))
    with rail:
        if compared is not None:
            b = badge("B", SECOND_POLICY, is_dark())
            st.markdown(f"{b} **{compared.title}**", unsafe_allow_html=True)
        selected = selectors.choose_selectors(policy_figure)
    phase, judge = selected_phase(inspected, selected), selected.get("judge", "optimal")
    figure = policy_figure.figure(is_dark(), **selected)
    state = shown_state(inspected, figure, phase, versus, judge)
    together = versus is None or policy_figure in comparisons
    with place:
        if versus is None or policy_figure in comparisons:
            draw_figure(figure, policy_figure, state)
        else:
            titles = text.policy_title(history.label, step), compared.title
            draw_side_by_side(figure, versus, policy_figure, selected, titles, state)
    with below_figure:
        hint = f" {text.CLICK_HINT}" if policy_figure.clickable else ""
        numbers.draw_numbers(_numbers(inspected, history, step, versus, policy_figure, selected))
        st.caption(policy_figure.caption + hint)
    with aside:
        columns = [st.container()] * 2 if together else st.columns(2, gap="large")
        with columns[0]:
            details.draw_facts(inspected, versus, state, phase, estimate_XY)
            if versus is not None:
                slices = _slices(inspected)
                details.draw_next_disagreement(versus, slices, policy_figure, state, phase, judge)
        with columns[1]:
            details.draw_q_values(inspected, versus, state, phase)
    if policy_figure.name == "blocks":
        details.draw_block(policy_figure, selected)
    details.draw_tables(inspected, versus, state, phase)
    other = compared if policy_figure in comparisons else None
    draw_export(history, step, inspected, other, policy_figure, selected, figure)
    stop_at_end()
    if not is_playing():
        _write_url(choice, history, step, policy_figure, selected, compared)


def _bench() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Places for the figure, what belongs below it, the rail of controls, and the state.

    They are in the order of a narrow screen; the style moves the rail to the left of a wide one.
    """
    with st.container(key="bench"):
        columns = st.columns(3)
    with columns[0], st.container(key="stage"):
        figure, below = st.container(), st.container(key="below-figure", gap="xsmall")
    with columns[1]:
        rail = st.container(key="rail", gap="xsmall")
    with columns[2]:
        aside = st.container(key="aside", gap="xsmall")
    return figure, below, rail, aside


def _numbers(
    inspected: InspectedPolicy,
    history: PolicyHistory,
    step: int,
    versus: Versus | None,
    policy_figure: PolicyFigure,
    selected: dict,
) -> numbers.Numbers:
    phase = selected_phase(inspected, selected)
    if policy_figure.name == "blocks":
        return numbers.block_numbers(inspected, selected)
    if versus is not None:
        return numbers.comparison_numbers(versus, phase, selected.get("judge", "optimal"))
    return numbers.policy_numbers(inspected, history.row(step), phase)


def _slices(inspected: InspectedPolicy) -> Slices:
    axes = figure_function(inspected.domain, "plane_axes")(inspected.model)
    return Slices(inspected.model, axes)


def _write_url(
    choice: PolicyChoice,
    history: PolicyHistory,
    step: int,
    policy_figure: PolicyFigure,
    selected: dict,
    compared: ComparedPolicy | None,
) -> None:
    no_comparison = dict.fromkeys(("compare", "other", "otherstep"))
    URL.write(
        **choice.url_values,
        step=step if step != history.steps[-1] else None,
        view=policy_figure.name,
        at=selectors.changed_selectors(policy_figure, selected),
        **(no_comparison | (compared.url_values if compared else {})),
    )
