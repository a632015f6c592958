"""The Policy inspector: what a policy does, state by state, and where it differs from the best."""

from collections.abc import Iterator

import streamlit as st

from fsdash.dashboard.inspector import panels, text
from fsdash.dashboard.inspector.comparison import ComparedPolicy, choose_comparison
from fsdash.dashboard.inspector.figures import selected_phase
from fsdash.dashboard.inspector.source import (
    PolicyChoice,
    choose_policy,
    history_of,
    is_running,
    policy_at,
)
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.inspector.timeline import choose_step, is_playing, stop_at_end
from fsdash.dashboard.inspector.url import URL, start_from_url
from fsdash.dashboard.service import open_store, show_store_error
from fsdash.dashboard.shell import add_style, exercises, open_page, what_to_notice
from fsdash.errors import InputError
from fsdash.figures.policies import PolicyFigure
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store

PLAY_SECONDS = 1.0
"""Between two steps while playing."""
REFRESH_SECONDS = 2.0
"""Between two updates while the run is computed."""
# On a narrow screen a column without a widget takes no space.
STYLE = """<style>
@media (max-width: 640px) {
  .st-key-choices [data-testid="stColumn"]:not(:has([data-testid="stElementContainer"]))
    {display: none;}
}
</style>"""


def show() -> None:
    """Draw the page."""
    if open_page(text.PAGE, URL):
        start_from_url()
    add_style(STYLE)
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    store = open_store()
    try:
        choice = choose_policy(store)
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
    """Everything below the choice of the run."""
    history = history_of(store, choice)
    step = choose_step(history)
    inspected, estimate_XY = policy_at(history, step)
    metrics = st.container()
    policy_figure = panels.choose_figure(inspected)
    with st.container(border=True, key="choices"):
        slots = _slots()
        selected = panels.choose_selectors(policy_figure.selectors, slots)
        compared = choose_comparison(store, choice, history, step, inspected, slots)
    with metrics:
        panels.draw_metrics(inspected, history.row(step), selected_phase(inspected, selected))
    if compared is None:
        figure = panels.draw_one(inspected, policy_figure, selected, estimate_XY)
    else:
        title = text.policy_title(history.label, step)
        figure = panels.draw_two(inspected, compared, policy_figure, selected, title)
    panels.draw_export(history, step, inspected, policy_figure, selected, figure)
    stop_at_end()
    if not is_playing():
        _write_url(choice, history, step, policy_figure, compared)


def _slots(width: int = 3) -> Iterator:
    """Places for widgets, `width` in a row; a row is added when it is needed."""
    while True:
        yield from st.columns(width, gap="medium")


def _write_url(
    choice: PolicyChoice,
    history: PolicyHistory,
    step: int,
    policy_figure: PolicyFigure,
    compared: ComparedPolicy | None,
) -> None:
    no_comparison = dict.fromkeys(("compare", "other", "otherstep"))
    URL.write(
        **choice.url_values,
        step=step if step != history.steps[-1] else None,
        view=policy_figure.name,
        at=panels.changed_selectors(policy_figure),
        **(no_comparison | (compared.url_values if compared else {})),
    )
