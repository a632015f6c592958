"""The Run lab: choose what to run on the left, watch the learning curves on the right.

The right side refreshes while work goes on. Only new rows are read, and the figure is built once
per version of the rows and set of options, for all visitors. Streamlit fixes a fragment's interval
when the page runs. Where another interval is due (the first rows have arrived, more visitors came,
the experiment has ended) the whole page runs once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.curves import state as curves
from fsdash.dashboard.curves.observations import observations
from fsdash.dashboard.curves.paper_figure import paper_figure
from fsdash.dashboard.curves.state import CurveOptions
from fsdash.dashboard.curves.text import FINAL_NOTE, REGRET_SHOWN, STATUS_BADGES
from fsdash.dashboard.curves.view import read_curve_options, show_method_table
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.form import STARTED_ID, draw_form, use_base
from fsdash.dashboard.run_lab.plans import (
    PLANS,
    SWEEP,
    commands,
    is_similar_interval,
    plan_notes,
    python_code,
    refresh_interval,
)
from fsdash.dashboard.run_lab.stored import draw_stored
from fsdash.dashboard.run_lab.url import STORED, TABS, lab_url
from fsdash.dashboard.service import ExperimentRows, Service, open_service, show_store_error
from fsdash.dashboard.shell import (
    add_style,
    open_page,
    open_tab,
    tools,
    what_to_notice,
)
from fsdash.dashboard.visitors import may_change, network_address, visitor_id
from fsdash.dashboard.widgets.chart import chart, export
from fsdash.domains import domain_label, make
from fsdash.errors import InputError
from fsdash.figures.learning import learning_figure
from fsdash.formatting import as_sentence, escape_markdown, time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import ACTIVE, OVER, Experiment, Progress, Run, progress_of, run_labels
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
    st.header("What you will see", anchor=False)
    _draw_example(previewed_domain())
    st.markdown(
        "Every method starts from zero values and improves its policy with each sweep "
        "over the states. Several times per sweep the policy is **evaluated exactly** "
        "under the true model. The curves show its value against the work so far: the "
        "mean over replications with its 95% band, and the optimum for "
        "reference.\n\nPress **Start**. You can pause, stop, or leave and come back: the "
        "URL names the experiment, and its results are stored."
    )
    try:
        recent = service.store.experiments(owner=visitor, limit=MAX_RECENT)
    except StoreError:
        return
    if recent:
        st.markdown("**Your latest experiments**")
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


@st.cache_resource(max_entries=40, show_spinner="Computing an example …")
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


# On a narrow screen the picture stands between Start and the settings that few visitors change, and
# an experiment before the form, unless it is to be run again. Streamlit's own status widget, whose
# "Stop" button means something else, would come and go with every refresh.
_SIDES = '.st-key-lab > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]'
_FORM, _PICTURE = (f'{_SIDES} > [data-testid="stColumn"]:{end}-child' for end in ("first", "last"))
STYLE = f"""<style>
[data-testid="stStatusWidget"] {{display: none;}}
@media (max-width: 640px) {{
  [data-testid="stMainBlockContainer"] {{padding-top: 3.6rem;}}
  [data-testid="stMainBlockContainer"] h1 {{font-size: 1.5rem; padding: 0.3rem 0 0.7rem;}}
}}
.st-key-lab {{container: lab / inline-size;}}
@container lab (max-width: 660px) {{
  {_SIDES} {{flex-direction: column; gap: 1rem;}}
  {_FORM}, {_FORM} > [data-testid="stVerticalBlock"] {{display: contents;}}
  {_PICTURE} {{order: 1; width: 100%; flex: none;}}
  [data-testid="stLayoutWrapper"]:has(> .st-key-lab-settings) {{order: 2;}}
  .st-key-lab:has(.st-key-lab-actions, .st-key-close):not(:has(.st-key-lab-repeat))
    {_PICTURE.removeprefix(".st-key-lab ")} {{order: -1;}}
}}
</style>"""
INSPECTOR_PAGE = PAGES["inspector"].script
ACTION_ERROR = "lab-action-error"
SHOWN_ID = "lab-shown"
"""In the session: the experiment whose first numbers the visitor has seen."""


def show() -> None:
    """Draw the page."""
    url = lab_url()
    open_page(
        "Run lab",
        url,
        "Watch the algorithms learn",
        "Start a run and see how policies improve with the work spent, with the slow state frozen "
        "and without.",
    )
    service, visitor = open_service(), visitor_id()
    of_form = [name for name in url.parameters if name not in (*STORED, "tab")]
    tab, box = open_tab(url, TABS, {"new": of_form, "stored": STORED})
    with box:
        (_draw_new if tab == "new" else draw_stored)(service, visitor)
    tools("run_lab", url, ("T", "gamma", "k"))


def _draw_new(service: Service, visitor: str) -> None:
    """The form on the left, an example or the experiment in the URL on the right."""
    add_style(STYLE)
    # The same container before and after a start: otherwise the browser would rebuild the form.
    with st.container(key="lab"):
        left, right = st.columns([1, 2], gap="large")
    with left:
        if base := lab_url().get("base"):
            use_base(service, base)
        draw_form(service, visitor)
    # Before the experiment is drawn, so that its refreshes come from a browser with this URL.
    lab_url().write()
    with right:
        if lab_url().get("experiment") is None:
            draw_preview(service, visitor)
        else:
            _draw_experiment(service, visitor)


# --------------------------------------------------------------------------------- one experiment


@dataclass(frozen=True, eq=False)
class Results:
    """Everything about one domain that changes only when there are new rows."""

    runs: list[Run]
    figure: go.Figure
    dashes: dict[str, str]
    work: pd.DataFrame
    rows: pd.DataFrame
    finished: pd.DataFrame
    """The rows that the numbers are about."""
    labels: dict[int, str]
    alt_text: str
    x: str

    @cached_property
    def observations(self) -> list[str]:
        """What to notice once all runs have ended."""
        found = curves.table_curves(self.rows, self.work, self.x)
        samples = curves.samples_at_equal_work(self.finished, self.runs, self.labels, self.x)
        return observations(self.work, found, samples, self.x, curves.slow_states(self.runs))


def _draw_experiment(service: Service, visitor: str) -> None:
    """The experiment in the URL, refreshed while it can change."""
    id = lab_url().get("experiment")
    is_new = st.session_state.pop(STARTED_ID, None) == id
    try:
        experiment = service.wait_for_first_rows(id) if is_new else service.store.experiment(id)
    except InputError as problem:
        st.warning(as_sentence(problem))
        st.button("Close", on_click=lab_url().put, args=("experiment", None), key="close")
        return
    except StoreError as problem:
        show_store_error(problem)
        return
    interval = refresh_interval(experiment, time.time(), service.refresh_rate.interval())
    st.fragment(_refresh, run_every=interval)(service, visitor, interval)


def _refresh(service: Service, visitor: str, interval: float | None) -> None:
    id = lab_url().get("experiment")
    with service.refresh_rate.refresh((visitor, id), st.session_state.get(SHOWN_ID) != id):
        try:
            _draw_now(service, visitor, interval)
        except (InputError, StoreError) as problem:
            st.warning(as_sentence(problem))
        lab_url().write()


def _draw_now(service: Service, visitor: str, interval: float | None) -> None:
    experiment = service.store.experiment(lab_url().get("experiment"))
    due = refresh_interval(experiment, time.time(), service.refresh_rate.interval())
    if not is_similar_interval(due, interval):
        st.rerun()
    rows = service.rows(experiment)
    _draw_head(service, experiment, visitor)
    if experiment.status == "queued" and not rows.version:
        return  # a whole class may be waiting: this refresh must cost next to nothing
    if rows.version:
        st.session_state[SHOWN_ID] = experiment.id
    options = read_curve_options(lab_url(), rows.frame)
    results = _results(service, experiment, options, rows)
    progress = progress_of(experiment, curves.last_rows(rows.frame))
    for domain, own in results.items():
        if len(results) > 1:
            st.markdown(f"**{escape_markdown(domain_label(domain))}**")
        _draw_results(own, options, progress, domain if len(results) > 1 else "")
    if rows.version:
        st.caption(FINAL_NOTE)
    if not rows.version and not experiment.active:
        st.info("Nothing was recorded.")
    _draw_notes(experiment)
    _draw_failures(experiment, run_labels(experiment.runs), visitor)
    if not experiment.active and rows.version:
        _draw_conclusion(experiment, results)


def _draw_results(
    results: Results, options: CurveOptions, progress: list[Progress], domain: str
) -> None:
    """The chart and the table of methods of one domain, which is named if there are several."""
    share = curves.is_share(results.work)
    if not share:
        st.caption(REGRET_SHOWN)
    if len(results.rows) or any(run.status in ACTIVE for run in results.runs):
        key = f"curves-{domain}" if domain else "curves"
        chart(results.figure, key, alt_text=results.alt_text, height=440)
    table = curves.method_rows(results.runs, results.labels, results.work, progress, results.dashes)
    # Once all runs have finished, their numbers need the space.
    underway = any(run.status != "finished" for run in results.runs)
    budget = curves.common_work(results.work)
    show_method_table(table, options.x, underway, share, budget)


def _results(
    service: Service, experiment: Experiment, options: CurveOptions, rows: ExperimentRows
) -> dict[str, Results]:
    """Figure and numbers by domain, computed once per version of the rows and set of options."""

    def make() -> dict[str, Results]:
        found = curves.by_domain(experiment.runs)
        return {domain: _results_of(rows.frame, runs, options) for domain, runs in found.items()}

    ended = sum(r.status in OVER for run in experiment.runs for r in run.replications)
    return service.results.get((experiment.id, options), (rows.version, ended), make)


def _results_of(frame: pd.DataFrame, runs: list[Run], options: CurveOptions) -> Results:
    labels = run_labels(runs)
    rows = curves.curve_rows(frame[frame["run"].isin(labels)], runs, labels)
    finished = curves.finished_rows(rows, runs)
    work = curves.work_table(finished, options.x, options.lower_policies)
    figure = curves.curves_figure(rows, options)
    dashes = curves.line_dashes(figure)
    alt_text = text.curves_alt_text(work)
    return Results(runs, figure, dashes, work, rows, finished, labels, alt_text, options.x)


def _draw_head(service: Service, experiment: Experiment, visitor: str) -> None:
    badge = STATUS_BADGES[experiment.status]
    st.header(escape_markdown(experiment.name), anchor=False)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(badge.word, color=badge.colour, icon=badge.icon)
        when = time_ago(experiment.created, time.time())
        st.caption(text.started_by(when, experiment.owner == visitor), width="content")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lab-actions"):
        _draw_actions(service, experiment, visitor)
    if experiment.status == "queued":
        st.caption(text.queue_text(service.manager.queue(experiment.owner)))


def _draw_actions(service: Service, experiment: Experiment, visitor: str) -> None:
    """Buttons that are always there come first, so that nothing slides under the pointer.

    When an experiment ends or is stopped, *Pause* and *Stop* disappear.
    """
    manager, id = service.manager, experiment.id
    if st.button(
        "Run again",
        icon=":material/replay:",
        key="again",
        on_click=lab_url().put,
        args=("from", id),
        help="Copy this specification into the form.",
    ):
        st.rerun()  # the form is no part of the fragment
    st.page_link(
        INSPECTOR_PAGE,
        label="Policies",
        icon=":material/grid_view:",
        query_params={"experiment": id},
        disabled=not any(run.rows for run in experiment.runs),
    )
    if not may_change(experiment, visitor):
        return
    stopping = any(r.stopping for run in experiment.runs for r in run.replications)
    if experiment.active:
        _draw_action("Pause", "pause", manager.pause, id, stopping)
        _draw_action(text.STOP, "stop", manager.cancel, id, stopping)
    elif any(run.resumable for run in experiment.runs):
        label = "Resume" if experiment.status in ("paused", "cancelled") else text.CONTINUE
        address = network_address() if experiment.owner == visitor else ""
        _draw_action(label, "play_arrow", partial(manager.resume, address=address), id, False)
        if experiment.status == "paused":
            _draw_action(text.STOP, "stop", manager.cancel, id, False)


def _draw_action(
    label: str, icon: str, action: Callable[[str], object], id: str, disabled: bool
) -> None:
    def click() -> None:
        try:
            action(id)
        except (InputError, StoreError) as problem:
            st.session_state[ACTION_ERROR] = str(problem)

    st.button(
        label, icon=f":material/{icon}:", key=f"act-{icon}", on_click=click, disabled=disabled
    )
    if problem := st.session_state.pop(ACTION_ERROR, None):
        st.error(as_sentence(problem))


def _draw_notes(experiment: Experiment) -> None:
    try:
        notes = plan_notes([run.spec for run in curves.runs_with_notes(experiment.runs)])
    except InputError:
        return  # the run itself reports it
    if notes:
        st.caption(text.note_lines(notes))


def _draw_failures(experiment: Experiment, labels: dict[int, str], visitor: str) -> None:
    failures = curves.failures(experiment.runs, labels)
    if not failures:
        return
    resumable = any(run.resumable for run in experiment.runs) and may_change(experiment, visitor)
    lines = "\n".join(
        f"- **{escape_markdown(title)}**. {escape_markdown(as_sentence(reason))}"
        for title, reason in failures
    )
    st.warning(f"{text.failure_notice(experiment.active, resumable)}\n\n{lines}")


def _draw_conclusion(experiment: Experiment, results: dict[str, Results]) -> None:
    """What to notice, exports and the specification of an experiment that has ended."""
    several = len(results) > 1
    if all(r.status in OVER for run in experiment.runs for r in run.replications):
        for domain, own in results.items():
            named = (f"notice-{domain}", domain_label(domain)) if several else ()
            what_to_notice(own.observations, *named)
    else:
        st.info(
            "Some replications have not finished, so no conclusions are drawn here. The "
            "table counts finished replications; for a method without any, it shows the "
            "values so far."
        )
    with st.container(horizontal=True, gap="small"):
        for domain, own in results.items():
            specs = tuple(run.spec for run in curves.readable_runs(own.runs))
            name = f"learning-curves-{domain}" if several else "learning-curves"
            label = domain_label(domain) if several else ""
            export(name, own.figure, own.rows, python_code(specs), label)
        specs = tuple(run.spec for run in curves.readable_runs(experiment.runs))
        with st.popover("Specification", icon=":material/description:", key="lab-spec"):
            st.markdown(text.plan_lines(specs))
            st.markdown("**On the command line**")
            st.code(commands(specs), language="bash", wrap_lines=True)
