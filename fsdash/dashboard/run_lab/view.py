"""The Run lab: choose a domain and algorithms, start, and watch the policies get better."""

import time

import streamlit as st

from fsdash.dashboard.curves.paper_figure import paper_figure
from fsdash.dashboard.run_lab.address import LAB
from fsdash.dashboard.run_lab.form import draw_form, escape_markdown
from fsdash.dashboard.run_lab.live import draw_experiment
from fsdash.dashboard.run_lab.text import BADGES, EXERCISES
from fsdash.dashboard.service import Service, open_service, visitor_id
from fsdash.dashboard.shell import add_style, is_dark, open_page
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.lesson import exercises, glossary
from fsdash.formatting import time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment

# On a narrow screen what runs comes before the form that started it. Streamlit's own sign of
# activity, with a button "Stop" of another meaning, would come and go with every look at a run.
STYLE = """<style>
[data-testid="stStatusWidget"] {display: none;}
@media (max-width: 640px) {
  .st-key-lab:has(.st-key-lab-actions, .st-key-close)
    > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    {flex-direction: column-reverse;}
}
</style>"""
RECENT = 4
EXAMPLES = {"inventory": "inventory", "gridworld": "gridworld", "pricing": "pricing-linear"}
"""By domain: a figure of what is to come, which also has Plotly ready for the first point."""


def draw_nothing_yet(service: Service, me: str) -> None:
    """What the place of the curves holds before the first start."""
    st.subheader("What you will see", anchor=False)
    st.markdown(
        "Every method starts from nothing and improves its policy with each sweep over the states. "
        "After every part of a sweep the policy is **evaluated exactly** under the true model, and "
        "the curves show its worth against the work it took: the mean over replications in its 95% "
        "band, beside the optimum.\n\n"
        "Press **Start**. You can pause, stop, leave and come back: the address holds the "
        "experiment, and what was recorded stays."
    )
    domain = LAB.get("domain") if LAB.get("domain") in EXAMPLES else "inventory"
    figure = paper_figure(domain, EXAMPLES[domain], is_dark())
    alt_text = f"Learning curves of the paper's {domain} experiment."
    chart(figure, "example", alt_text=alt_text, height=360)
    st.caption(f"For example: the paper's {domain} experiment, as it was kept for *Reproduction*.")
    try:
        recent = service.store.experiments(owner=me, limit=RECENT)
    except StoreError:
        return
    if recent:
        st.markdown("**Your latest**")
        for experiment in recent:
            draw_link(experiment)


def draw_link(experiment: Experiment) -> None:
    word, _, sign = BADGES[experiment.status]
    st.button(
        f"{escape_markdown(experiment.name)} · {word}, {time_ago(experiment.created, time.time())}",
        icon=sign,
        type="tertiary",
        key=f"open-{experiment.id}",
        on_click=LAB.put,
        args=("experiment", experiment.id),
    )


def draw_page() -> None:
    service, me = open_service(), visitor_id()
    LAB.read()
    # One key for both: with another, the browser would build the whole form anew at a start.
    with st.container(key="lab"):
        left, right = st.columns([1, 2], gap="large")
    with left:
        draw_form(service, me)
    # Before the experiment is drawn: its looks then come from a browser that has this address.
    LAB.write()
    with right:
        if LAB.get("experiment") is not None:
            draw_experiment(service, me)
        else:
            draw_nothing_yet(service, me)


def show() -> None:
    """Draw the page."""
    open_page("Run lab", parameters=LAB.readers)
    add_style(STYLE)
    st.title("Watch them learn", anchor=False)
    st.markdown(
        "Compare frozen-state value iteration (E‑FSVI) with methods that do not freeze the slow "
        "state: start a run and watch how good each policy gets for how much work."
    )
    draw_page()
    exercises(EXERCISES)
    glossary(("T", "gamma", "k"))
