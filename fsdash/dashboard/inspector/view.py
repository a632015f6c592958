"""The Policy inspector: what a policy does, state by state, and how it differs from another one."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.inspector import details, text
from fsdash.dashboard.inspector.comparison import choose_comparison
from fsdash.dashboard.inspector.drawing import draw_figure, shown_state
from fsdash.dashboard.inspector.export import draw_export
from fsdash.dashboard.inspector.inspection import Inspection
from fsdash.dashboard.inspector.numbers import draw_numbers
from fsdash.dashboard.inspector.selectors import (
    changed_selectors,
    choose_figure,
    choose_selectors,
)
from fsdash.dashboard.inspector.source import (
    KEYS,
    PolicyChoice,
    choose_policy,
    history_of,
    is_running,
    policy_at,
)
from fsdash.dashboard.inspector.style import STYLE, badge
from fsdash.dashboard.inspector.timeline import choose_step, is_playing, stop_at_end
from fsdash.dashboard.inspector.url import URL, start_from_url
from fsdash.dashboard.service import open_store, show_store_error
from fsdash.dashboard.shell import add_style, open_page, popover, tools, what_to_notice
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.figures.palette import FIRST_POLICY, SECOND_POLICY
from fsdash.figures.policies import Versus, comparison_figures, policy_figures
from fsdash.formatting import escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store

PLAY_SECONDS = 1.0
"""Between two steps while playing."""
REFRESH_SECONDS = 2.0
"""Between two updates while the run is computed."""


def show() -> None:
    """Draw the page."""
    if open_page("Policy inspector", URL):
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
    with tools("inspector", URL), st.popover("How to read this page", icon=":material/menu_book:"):
        st.markdown(text.READING)


def _draw_head(store: Store) -> PolicyChoice:
    """The title, and the policy A with a button that opens the widgets to change it."""
    with st.container(key="head"):
        title, policy = st.columns([4, 6], vertical_alignment="center", gap="small")
    with title:
        st.title("What does the policy do?", anchor=False)
    notices = st.container()
    with policy, st.container(horizontal=True, vertical_alignment="center", key="policy-a"):
        name = st.container(width="content")
        change = popover(KEYS, "Change", help=text.CHANGE_HELP, icon=":material/tune:")
        with change:
            choice = choose_policy(store, notices, drawn=change.open)
    with name:
        label = f"**{choice.spec.label}** · {escape_markdown(domain_label(choice.spec.domain))}"
        st.markdown(f"{badge('A', FIRST_POLICY)} {label}", unsafe_allow_html=True)
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
    views = st.container(key="views")
    stage, below, rail, aside = _bench()
    now = _inspect(store, choice, views, below, rail)
    state = shown_state(now)
    with stage:
        draw_figure(now, state)
    with below:
        if notice := now.inspected.optimum.notice:
            st.warning(notice)
        draw_numbers(now)
        hint = " Click a state to see its details." if now.policy_figure.clickable else ""
        st.caption(now.policy_figure.caption + hint)
    with aside:
        left, right = [st.container()] * 2 if now.together else st.columns(2, gap="large")
        with left:
            details.draw_facts(now, state)
            details.draw_next_disagreement(now, state)
        with right:
            details.draw_q_values(now, state)
    details.draw_tables(now, state)
    draw_export(now)
    what_to_notice(text.notices(*now.most_phases))
    stop_at_end()
    if not is_playing():
        _write_url(choice, now)


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


def _inspect(
    store: Store,
    choice: PolicyChoice,
    views: DeltaGenerator,
    below: DeltaGenerator,
    rail: DeltaGenerator,
) -> Inspection:
    """Draw the widgets in their places; return what they choose."""
    history = history_of(store, choice)
    with below:
        step = choose_step(history)
    inspected, estimate_XY = policy_at(history, step)
    with rail:
        compared = choose_comparison(store, choice, history, step, inspected)
    versus = None if compared is None else Versus(inspected, compared.inspected, compared.phase)
    comparisons = () if versus is None else comparison_figures(versus)
    with views:
        policy_figure = choose_figure((*comparisons, *policy_figures(inspected)))
    with rail:
        if compared is not None:
            mark = badge("B", SECOND_POLICY)
            st.markdown(f"{mark} **{escape_markdown(compared.title)}**", unsafe_allow_html=True)
        selected = choose_selectors(policy_figure)
    return Inspection(
        history,
        step,
        inspected,
        estimate_XY,
        compared,
        versus,
        policy_figure,
        versus is None or policy_figure in comparisons,
        selected,
        policy_figure.figure(**selected),
    )


def _write_url(choice: PolicyChoice, now: Inspection) -> None:
    no_comparison = dict.fromkeys(("compare", "other", "otherstep"))
    URL.write(
        **choice.url_values,
        step=now.step if now.step != now.history.steps[-1] else None,
        view=now.policy_figure.name,
        at=changed_selectors(now.policy_figure, now.selected),
        **(no_comparison | (now.compared.url_values if now.compared else {})),
    )
