"""The right side of the Run lab before the first start: example curves on the chosen domain.

The three domains of the paper have archived experiments. On any other model of moderate size exact
methods run within a second, in this process; a larger model is only drawn.
"""

from __future__ import annotations

import time

import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.curves.paper_figure import paper_figure
from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.state import PLANS
from fsdash.dashboard.run_lab.sweep import SWEEP
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.service import Service
from fsdash.dashboard.widgets.chart import chart
from fsdash.domains import domain_label, make
from fsdash.errors import InputError
from fsdash.figures.learning import learning_figure
from fsdash.formatting import escape_markdown, time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment
from fsdash.runs.runner import run_all
from fsdash.runs.spec import RunSpec

MAX_RECENT = 4
EXAMPLES = {"inventory": "inventory", "gridworld": "gridworld", "pricing": "pricing-linear"}
"""By domain: a figure of the paper. It also loads Plotly before the first point arrives."""
MAX_PAIRS, MAX_STATES = 100_000, 10_000
"""Size of a model on which exact methods run while the page opens."""
EXACT_ITERATIONS = 30


def draw_preview(service: Service, visitor: str) -> None:
    """What the curves will look like, and the visitor's latest experiments."""
    st.header(text.PREVIEW, anchor=False)
    _draw_example(previewed_domain())
    st.markdown(text.PREVIEW_BODY)
    try:
        recent = service.store.experiments(owner=visitor, limit=MAX_RECENT)
    except StoreError:
        return
    if recent:
        st.markdown(text.RECENT)
        for experiment in recent:
            _draw_open_button(experiment)


def previewed_domain() -> str:
    """The domain that the form has now: the plan's own, the first of a sweep, or the chosen one."""
    url = lab_url()
    plan = PLANS.get(url.get("preset"))
    if plan is not None and plan.domain is not None:
        return plan.domain
    if url.get("preset") == SWEEP and url.get("domains"):
        return url.get("domains")[0]
    return url.get("domain")


def _draw_example(domain: str) -> None:
    label = domain_label(domain)
    if domain in EXAMPLES:
        figure, caption = paper_figure(domain, EXAMPLES[domain]), text.paper_caption
    else:
        try:
            figure, caption = _exact_figure(domain), text.exact_caption
        except (InputError, StoreError):
            figure = None  # the form says what is wrong
    if figure is None:
        st.caption(text.no_example(escape_markdown(label)))
        return
    chart(figure, "example", alt_text=text.example_alt_text(label), height=360)
    st.caption(caption(escape_markdown(label)))


@st.cache_resource(max_entries=40, show_spinner=text.COMPUTING_EXAMPLE)
def _exact_figure(domain: str) -> go.Figure | None:
    """Curves of exact methods with the domain's default parameters; None if it is large."""
    n_slow, n_fast, n_actions, _ = make(domain).shape
    if n_slow * n_fast > MAX_STATES or n_slow * n_fast * n_actions > MAX_PAIRS:
        return None
    specs = PLANS["known-model"].build(domain, {}, 1, 0)
    brief = [
        RunSpec(spec.domain, spec.algorithm, T=spec.T, iterations=EXACT_ITERATIONS)
        for spec in specs
    ]
    frame, _ = run_all(brief)
    return learning_figure(frame, "evaluations")


def _draw_open_button(experiment: Experiment) -> None:
    badge = STATUS_BADGES[experiment.status]
    when = time_ago(experiment.created, time.time())
    st.button(
        f"{escape_markdown(experiment.name)} · {badge.word}, {when}",
        icon=badge.icon,
        type="tertiary",
        key=f"open-{experiment.id}",
        on_click=lab_url().put,
        args=("experiment", experiment.id),
    )
